//! `res`: the `.res` file of a GoldSrc or Source map.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use bspkit::SaveOptions;
use bspkit::disk::names;
use bspkit::file::SideFile;
use bspkit_game::Game;
use bspkit_game::assets::Files;
use bspkit_game::res::{self, List, Listed, Options};

use super::context::{Context, is_stdin};
use super::help;
use super::maps::{MapArgs, MapFile, above_maps};
use super::output::{spare, unforced};
use super::talk::{Code, Job, count, shown, text_and_raw};

/// The extension of the files.
const EXTENSION: &str = "res";

/// The most lines that are named, without -v.
const MOST_LINES: usize = 10;

/// Write the .res file of a map: the files that servers send to players
///
/// For a GoldSrc map these are models, sprites and sounds that keys of entities name, WAD files of the key `wad`, the
/// six sides of the sky, and, if they are in the folder of the map's author, the overview, the text about the map and
/// its detail textures. For a Source map these are all files that the map refers to, itself or by way of other files,
/// without embedded files, files that servers do not send, and the map, its areas and its nodes, which the engine adds.
/// The author's folder is the one that has the folder `maps` with the map. Files that every player has are left out if
/// --game or --stock names them; --game reads the gameinfo.txt of a Source game, and the archives of others.
///
/// A .res file that is there keeps its lines, and gets the names that it lacks; a name in a comment counts as listed.
/// Lines that name a file that every player has are reported. --overwrite makes the file anew. A value that is not a
/// path below the game's folder is reported and left out.
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit res goldsrc.bsp --stock stock.txt
  bspkit res goldsrc.bsp --game valve -o goldsrc.res
  bspkit res goldsrc.bsp -o -
  bspkit res goldsrcs -o lists
  bspkit res goldsrc.bsp --json"
))]
pub(crate) struct Args {
    #[command(flatten)]
    maps: MapArgs,
    /// The file to write; `-` is stdout; for several maps: a folder, with MAP.res for each [default: beside the map]
    #[arg(short, long, value_name = "FILE|DIR", conflicts_with = "json")]
    output: Option<PathBuf>,
    /// A folder with files that every player has, such as valve; can be repeated
    #[arg(long, value_name = "DIR")]
    game: Vec<PathBuf>,
    /// A list of names of such files, one in each line; can be repeated
    #[arg(long, value_name = "FILE")]
    stock: Vec<PathBuf>,
    /// The folder of the map's author, which has the folders maps, overviews and gfx
    #[arg(long, value_name = "DIR")]
    own: Option<PathBuf>,
    /// Replace an existing file, and keep none of its lines
    #[arg(long)]
    overwrite: bool,
    /// Print what the file would list, with everything that names it, and write nothing
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(cx: &Context, args: &Args) -> Result<Code> {
    let mut stock = Game::default();
    for folder in &args.game {
        stock.add_game(folder).with_context(|| format!("cannot read the game in {}", shown(folder)))?;
    }
    stock.faults().iter().for_each(|fault| cx.talk.stderr(cx.talk.warning(fault).as_bytes()));
    args.stock.iter().try_for_each(|list| stock.add_names(list))?;
    let maps = args.maps.find().json(args.json);
    args.output.iter().filter(|_| maps.many).try_for_each(|output| maps.check_folder(output))?;
    maps.each(cx, |map, job| {
        let cannot = || format!("cannot list the files of {}", shown(&map.path));
        let bsp = cx.open_said(&map.path, job)?;
        let own = own_folder(&map.path, args.own.as_deref())?;
        let stem = names::of_map(&map.path).as_encoded_bytes();
        let options = Options::new(stem).own(own.as_ref().map(|own| own as &dyn Files)).stock(&stock);
        let list = res::find(&bsp, &options).with_context(cannot)?;
        list.faults.iter().for_each(|fault| job.warn_here(&format!("left out: {fault}")));
        if own.is_none() && !args.json {
            job.say(&format!("{}: no folder `maps` is around it; --own names the one with its overview", job.path));
        }
        if args.json {
            job.document(&list)?;
            return Ok(Code::Done);
        }
        if list.is_of_source() && stock.is_empty() {
            job.say(&format!("{}: files of the game are listed too; --game or --stock leaves them out", job.path));
        }
        write(map, &list, &stock, args, job)
    })
}

/// The folder of the map's author: the one that is named, or the one above `maps`.
fn own_folder(map: &Path, named: Option<&Path>) -> Result<Option<Game>> {
    let Some(folder) = named.map(Path::to_path_buf).or_else(|| above_maps(map)) else { return Ok(None) };
    let mut game = Game::default();
    game.add(&folder)?;
    Ok(Some(game))
}

fn write(map: &MapFile, list: &List, stock: &Game, args: &Args, job: &mut Job<'_>) -> Result<Code> {
    if args.output.as_deref().is_some_and(is_stdin) {
        job.write(&list.text())?;
        return Ok(Code::Done);
    }
    let path = match &args.output {
        Some(output) => map.file_in(output, EXTENSION)?,
        None if is_stdin(&map.path) => bail!("stdin has no file name: use -o FILE"),
        None => names::in_game(&map.path).with_extension(EXTENSION),
    };
    spare(&path, args.stock.iter().map(PathBuf::as_path).chain([&*map.path]))?;
    let file = SideFile::read(&path)?;
    let old = file.bytes().filter(|_| !args.overwrite).unwrap_or_default();
    let cannot = || format!("cannot add to {}", shown(&path));
    let new =
        list.text_after(old).map_err(|error| error.with_hint("--overwrite makes it anew")).with_context(cannot)?;
    warn_of_stock(&path, &list.listed(&new).with_context(cannot)?, stock, job);
    let files = count(list.files.len(), "file", "files");
    let left = if list.stock.is_empty() { String::new() } else { format!(", {} left out", list.stock.len()) };
    if new.is_empty() {
        return Ok(job.nothing("players need no files"));
    }
    let what = if new == old { ": nothing changes" } else { "" };
    if new != old {
        file.save(&new, &SaveOptions::default()).map_err(unforced)?;
    }
    job.say(&format!("{}: {files}{left}{what}", shown(&path)));
    Ok(Code::Done)
}

/// Names the lines of a list that name files that every player has.
fn warn_of_stock(path: &Path, listed: &[Listed], stock: &Game, job: &mut Job<'_>) {
    let there: Vec<&Listed> = listed.iter().filter(|one| stock.has(&one.name)).collect();
    let most = if job.talk.verbose { there.len() } else { MOST_LINES };
    for one in there.iter().take(most) {
        let name = text_and_raw(&one.name).0;
        job.warn(&format!("{}:{}: every player has {name}", shown(path), one.line));
    }
    if there.len() > most {
        job.warn(&format!("{}: and {} more; -v lists them", shown(path), there.len() - most));
    }
    if !there.is_empty() {
        let lines = count(there.len(), "line that needs not be there stays", "lines that need not be there stay");
        job.warn(&format!("{}: {lines}; --overwrite makes the file anew", shown(path)));
    }
}
