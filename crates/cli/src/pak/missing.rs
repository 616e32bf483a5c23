//! The `pak` commands for files that a map needs, or does not need, with the game that it is for.

use std::ffi::OsString;
use std::path::PathBuf;

use anyhow::{Context as _, Result};
use bspkit::bytes::escaped;
use bspkit::content::pattern::Pattern;
use bspkit_game::Game;
use bspkit_game::assets::Files;
use bspkit_game::needs::{self, Choice, Fault, Found, Kind, Need, Needs, Options, Reference, Referrer, Sure};
use serde::Serialize;

use super::Packed;
use super::refs::How;
use crate::context::{Context, Report};
use crate::help;
use crate::maps::{MapArgs, Reading};
use crate::save::{Edited, Save};
use crate::talk::{Code, Job, bad_argument, count, shown, text_and_raw};

// `pak missing`: files that a map needs and that neither it nor the game has.

/// List the files that a map refers to and that neither it nor the game has
///
/// Below each file is what refers to it, up to the map itself. The word `likely` marks files that the map may not need.
/// Files without which the engine goes on, such as the navigation mesh, are never missing. The exit status is 1 if a
/// file is missing.
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit pak missing map.bsp --game 'Team Fortress 2/tf'
  bspkit pak missing tf/maps --vpk pak01_dir.vpk --json
  bspkit pak missing map.bsp --stock stock.txt"
))]
pub(crate) struct Args {
    #[command(flatten)]
    reading: Reading,
    #[command(flatten)]
    game: GameArgs,
    #[command(flatten)]
    how: How,
}

/// The most references of a file that are kept, for JSON and `--verbose`.
const LISTED_IN_JSON: usize = 100;

#[derive(Serialize)]
struct Missing<'n> {
    ok: bool,
    file_count: usize,
    missing: Vec<MissingFile<'n>>,
    unresolved: Vec<Unknown>,
    /// With their names escaped.
    faults: Vec<Fault>,
    #[serde(skip)]
    needs: &'n Needs,
}

#[derive(Serialize)]
struct MissingFile<'n> {
    #[serde(flatten, serialize_with = "bspkit::json::name")]
    name: &'n [u8],
    kind: Kind,
    sure: Sure,
    /// For each reference the places that lead from it to the map.
    references: Vec<Vec<String>>,
    #[serde(skip_serializing_if = "is_zero")]
    more: usize,
}

#[derive(Serialize)]
struct Unknown {
    name: String,
    kind: Kind,
    sure: Sure,
    by: String,
}

#[allow(clippy::trivially_copy_pass_by_ref)] // serde gives a reference.
fn is_zero(number: &usize) -> bool {
    *number == 0
}

impl<'n> Missing<'n> {
    fn new(needs: &'n Needs) -> Self {
        let missing = needs.files.iter().filter(|need| need.found == Found::Nowhere).map(|need| {
            let references: Vec<Vec<String>> =
                need.references.iter().take(LISTED_IN_JSON).map(|reference| chain(needs, reference)).collect();
            let more = need.references.len() - references.len();
            MissingFile { name: &need.name, kind: need.kind, sure: need.sure, references, more }
        });
        let missing: Vec<MissingFile<'_>> = missing.collect();
        let unresolved = needs.unresolved.iter().map(|unknown| Unknown {
            name: escaped(&unknown.name).to_string(),
            kind: unknown.kind,
            sure: unknown.sure,
            by: needs.place(&unknown.referrer),
        });
        let mut faults = needs.faults.clone();
        faults.iter_mut().for_each(|fault| fault.name = escaped(&fault.name).to_string().into_bytes());
        let (ok, file_count) = (missing.is_empty() && !needs.is_partial, needs.files.len());
        Missing { ok, file_count, missing, unresolved: unresolved.collect(), faults, needs }
    }
}

impl Report for Missing<'_> {
    fn print(&self, job: &mut Job<'_>) -> Result<()> {
        let word = job.talk.verdict(self.ok, if self.ok { "pass" } else { "fail" });
        let (missing, files) = (self.missing.len(), count(self.file_count, "file", "files"));
        let rest = if self.needs.is_partial { "; the map is not whole, and may need others" } else { "" };
        job.line(format!("{word} {} ({missing} of {files} missing{rest})", job.path));
        for file in &self.missing {
            let likely = if file.sure == Sure::Certain { String::new() } else { format!(", {}", file.sure.name()) };
            job.line(format!("  {} ({}{likely})", text_and_raw(file.name).0, file.kind.name()));
            for chain in file.references.iter().take(job.most()) {
                for (depth, place) in chain.iter().enumerate() {
                    job.line(format!("    {}{place}", "  ".repeat(depth.min(32))));
                }
            }
            let kept = file.references.len().saturating_sub(job.most());
            if kept + file.more > 0 {
                let how = if kept > 0 { "; -v lists them" } else { "" };
                job.line(format!("    and {}{how}", count(kept + file.more, "other", "others")));
            }
        }
        for name in &self.unresolved {
            job.line(format!("  unknown: {} ({} of {})", name.name, name.kind.name(), name.by));
        }
        self.needs.faults.iter().for_each(|fault| job.warn_here(&fault.to_string()));
        Ok(())
    }

    fn code(&self) -> Code {
        if self.ok { Code::Done } else { Code::Found }
    }
}

pub(super) fn run(cx: &Context, args: &Args) -> Result<Code> {
    let (game, keys) = (args.game.required(cx)?, args.how.keys(cx)?);
    args.reading.maps().each(cx, |map, job| {
        let bsp = cx.open(&map.path)?;
        let (name, other) = args.how.names(map, &bsp, job);
        let options = Options::new(&name).also(other.as_deref()).keys(&keys).game(&game);
        let needs =
            needs::find(&bsp, &options).with_context(|| format!("cannot find what {} refers to", shown(&map.path)))?;
        job.report(&Missing::new(&needs))
    })
}

// `pak unused`: packed files to which nothing refers.

/// List embedded files that the map does not need, with how sure that is
///
/// `certain`: no engine reads the file. `likely`: nothing that may be loaded refers to it or has its name. `possible`:
/// it replaces a file of the game, code of games looks for such files, its name, or all words of it, are in the
/// entities or in packed texts, or a file refers to it that may be loaded itself. Without the files of the game
/// (--game, --vpk, --stock), with a packed script, which can put names together, and where a packed file cannot be read
/// all files are possible. Nothing is removed; `pak rm` does that. The exit status is 1 if a file is listed.
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit pak unused map.bsp
  bspkit pak unused map.bsp --game 'Team Fortress 2/tf' --json"
))]
pub(crate) struct UnusedArgs {
    #[command(flatten)]
    reading: Reading,
    #[command(flatten)]
    game: GameArgs,
    #[command(flatten)]
    how: How,
}

#[derive(Serialize)]
struct Unused<'p> {
    file_count: usize,
    unused: Vec<UnusedFile<'p>>,
}

#[derive(Serialize)]
struct UnusedFile<'p> {
    #[serde(flatten)]
    file: Packed<'p>,
    sure: &'static str,
    why: String,
}

impl Report for Unused<'_> {
    fn print(&self, job: &mut Job<'_>) -> Result<()> {
        for UnusedFile { file: Packed { index, name, bytes }, sure, why } in &self.unused {
            job.line(format!("{sure:9} #{index} {}, {bytes} bytes: {why}", text_and_raw(name).0));
        }
        let bytes: usize = self.unused.iter().map(|unused| unused.file.bytes).sum();
        let files = count(self.file_count, "file", "files");
        job.say(&format!("{}: {} of {files} unused, {bytes} bytes", job.path, self.unused.len()));
        Ok(())
    }

    fn heading(&self, path: &str) -> Option<String> {
        (!self.unused.is_empty()).then(|| format!("{path}:"))
    }

    fn code(&self) -> Code {
        if self.unused.is_empty() { Code::Done } else { Code::Found }
    }
}

pub(super) fn run_unused(cx: &Context, args: &UnusedArgs) -> Result<Code> {
    let (game, keys) = (args.game.open(cx)?, args.how.keys(cx)?);
    args.reading.maps().each(cx, |map, job| {
        let bsp = cx.open(&map.path)?;
        let cannot = || format!("cannot find what {} refers to", shown(&map.path));
        let (name, other) = args.how.names(map, &bsp, job);
        let game = game.as_ref().map(|game| -> &dyn Files { game });
        let options = Options::new(&name).also(other.as_deref()).keys(&keys);
        let options = game.map_or(options, |game| options.game(game));
        let pak = bsp.pak().with_context(cannot)?;
        let (needs, unused) = needs::unused(&bsp, &options).with_context(cannot)?;
        for fault in &needs.faults {
            job.warn_here(&fault.to_string());
        }
        let unused = unused.into_iter().filter_map(|unused| {
            Some(UnusedFile { file: Packed::get(&pak, unused.index)?, sure: unused.doubt.name(), why: unused.why })
        });
        job.report(&Unused { file_count: pak.len(), unused: unused.collect() })
    })
}

// `pak fill`: embeds files that a map needs and that neither it nor the game has.

/// Embed the files that a map needs and that neither it nor the game has
///
/// What an embedded file refers to is embedded too: a material brings its textures, a model its parts and materials.
/// Files of the game and embedded files are never added or replaced. Names are stored in lower case. The exit status is
/// 1 if a file is still missing.
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit pak fill map.bsp --from content --game 'Team Fortress 2/tf' --dry-run
  bspkit pak fill map.bsp --from content --stock stock.txt --exclude '*.wav' -o out.bsp"
))]
pub(crate) struct FillArgs {
    #[command(flatten)]
    maps: MapArgs,
    /// Where files are: a folder of loose files, or an archive (.vpk); can be repeated
    #[arg(long, value_name = "DIR", required = true)]
    from: Vec<PathBuf>,
    /// Leave out these files and what only they refer to; can be repeated
    #[arg(long, value_name = "GLOB")]
    exclude: Vec<OsString>,
    /// Embed only these files; can be repeated
    #[arg(long, value_name = "GLOB")]
    only: Vec<OsString>,
    #[command(flatten)]
    game: GameArgs,
    #[command(flatten)]
    how: How,
    #[command(flatten)]
    save: Save,
}

#[derive(Serialize)]
struct Filled {
    name: String,
    bytes: usize,
    from: String,
    why: Vec<String>,
}

#[derive(Serialize)]
struct StillMissing {
    name: String,
    sure: Sure,
    why: Vec<String>,
}

pub(super) fn run_fill(cx: &Context, args: &FillArgs) -> Result<Code> {
    let (game, keys) = (args.game.open(cx)?, args.how.keys(cx)?);
    let mut from = Game::default();
    for place in &args.from {
        from.add(place).with_context(|| format!("cannot read {}", shown(place)))?;
    }
    let patterns = |texts: &[OsString]| -> Vec<Pattern> {
        texts.iter().map(|text| Pattern::new(text.as_encoded_bytes())).collect()
    };
    let choice = Choice { only: patterns(&args.only), exclude: patterns(&args.exclude) };
    args.save.each(cx, args.maps.find(), |draft, map, job| {
        let (name, other) = args.how.names(map, draft.bsp(), job);
        let options = Options::new(&name).also(other.as_deref()).keys(&keys);
        let options = game.as_ref().map_or(options, |game| options.game(game));
        let fill = needs::fill(draft.bsp(), &options, &from, &choice)?;
        for fault in &fill.needs.faults {
            job.warn_here(&fault.to_string());
        }
        let why = |need: &Need| need.references.first().map_or_else(Vec::new, |first| chain(&fill.needs, first));
        let embedded = fill.embed(draft.pak()?, &from)?;
        for need in embedded.iter().map(|(index, _)| &fill.needs.files[*index]) {
            // The place is an archive, or the folder that has the file.
            let Some(place) = from.place(&need.name) else { continue };
            let name = String::from_utf8_lossy(&need.name);
            args.save.spare(&if place.is_dir() { place.join(&*name) } else { place.to_owned() })?;
        }
        let total: usize = embedded.iter().map(|(_, bytes)| bytes).sum();
        let row = |(index, bytes): (usize, usize)| {
            let need = &fill.needs.files[index];
            let from = from.place(&need.name).map_or_else(String::new, shown);
            Filled { name: escaped(&need.name).to_string(), bytes, from, why: why(need) }
        };
        let packed: Vec<_> = embedded.into_iter().map(row).collect();
        let missing = fill.missing.iter().map(|index| &fill.needs.files[*index]);
        let still =
            |need: &Need| StillMissing { name: escaped(&need.name).to_string(), sure: need.sure, why: why(need) };
        let missing: Vec<StillMissing> = missing.map(still).collect();
        if args.save.dry_run && !args.save.json {
            for Filled { name, bytes, from, why } in &packed {
                job.line(format!("  {name}, {bytes} bytes, from {from}, for {}", why.join(", for ")));
            }
        }
        missing
            .iter()
            .for_each(|file| job.warn_here(&format!("{} is missing, for {}", file.name, file.why.join(", for "))));
        let is_same = packed.is_empty();
        let files = count(packed.len(), "file", "files");
        let what = format!("{files} embedded, {total} bytes; {} missing", missing.len());
        let is_whole = missing.is_empty() && !fill.needs.is_partial;
        job.extra.insert("packed".to_owned(), serde_json::to_value(packed)?);
        job.extra.insert("missing".to_owned(), serde_json::to_value(missing)?);
        Ok(Edited::with(is_same, what, is_whole))
    })
}

// The game that a map is for: options that several commands share.

// The options. (A doc comment would become the help of the command.)
#[derive(clap::Args)]
#[command(next_help_heading = "Game")]
pub(super) struct GameArgs {
    /// The folder of the game, which has gameinfo.txt: its search paths without `custom` and downloads, loose files and
    /// archives; can be repeated
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
            game.add_source_game(folder).with_context(|| format!("cannot read the game in {}", shown(folder)))?;
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
