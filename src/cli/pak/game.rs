//! The game that a map is for: options that several commands share.

use std::path::PathBuf;

use anyhow::{Context as _, Result};
use bspkit::face::game::Game;
use bspkit::op::needs::{Needs, Reference, Referrer};

use crate::cli::context::Context;
use crate::cli::save::bad_argument;
use crate::cli::show::shown;

// The options. (A doc comment would become the help of the command.)
#[derive(clap::Args)]
#[command(next_help_heading = "Game")]
pub(super) struct GameArgs {
    /// The folder of the game, which has gameinfo.txt: its search paths, loose files and archives; can be repeated
    #[arg(long, value_name = "DIR")]
    game: Vec<PathBuf>,
    /// Files of the game: an archive such as pak01_dir.vpk; can be repeated
    #[arg(long, value_name = "FILE")]
    vpk: Vec<PathBuf>,
    /// Names of files that the game has, one in each line; can be repeated
    #[arg(long, value_name = "FILE")]
    stock: Vec<PathBuf>,
}

impl GameArgs {
    /// Opens the game; `None` if none is named.
    pub(super) fn open(&self, cx: &Context) -> Result<Option<Game>> {
        let mut game = Game::default();
        for folder in &self.game {
            game.add_game(folder).with_context(|| format!("cannot read the game in {}", shown(folder)))?;
        }
        for archive in &self.vpk {
            game.add(archive).with_context(|| format!("cannot read the archive {}", shown(archive)))?;
        }
        for list in &self.stock {
            game.add_names(list).with_context(|| format!("cannot read the list {}", shown(list)))?;
        }
        game.faults().iter().for_each(|fault| cx.talk.stderr(cx.talk.warning(fault).as_bytes()));
        Ok((!game.is_empty()).then_some(game))
    }

    /// Opens the game, of which some part has to be named.
    pub(super) fn required(&self, cx: &Context) -> Result<Game> {
        let no_game = || {
            let message = "which files the game has is not known".to_owned();
            bad_argument(
                message,
                "name the game with --game DIR, its archives with --vpk, or a list of names with --stock",
            )
        };
        self.open(cx)?.ok_or_else(no_game)
    }
}

/// The places that lead from a reference to the map: the place itself, then what refers to its file, and so on.
pub(super) fn chain(needs: &Needs, reference: &Reference) -> Vec<String> {
    let mut chain = vec![needs.referrer(reference)];
    let mut next = reference;
    // What refers to a file first was found before it.
    let mut last = usize::MAX;
    while let Referrer::File { index, .. } = next.referrer {
        let Some(first) = needs.files.get(index).and_then(|need| need.references.first()).filter(|_| index < last)
        else {
            break;
        };
        chain.push(needs.referrer(first));
        (last, next) = (index, first);
    }
    chain
}
