//! `tex`: textures and their names.

mod copies;
mod files;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;

use anyhow::{Context as _, Error, Result};
use bspkit::bytes::escaped;
use bspkit::content::pattern::Pattern;
use bspkit::content::texture_names::{Renaming, TextureName};
use bspkit::finding::{Code as FindingCode, Finding, Severity};
use bspkit::{Bsp, ErrorKind, Hint, Place};
use clap::ArgAction;
use serde::{Serialize, Serializer};

use super::context::Context;
use super::save::Edited;
use super::talk::{Code, Job};
use super::{commands, help};
use crate::context::{Choice, Report, unescaped};
use crate::maps::{Brief, MapArgs, Reading};
use crate::output::{self, spare};
use crate::save::Save;
use crate::talk::{count, shown};
use copies::{Shelf, has_extension, named, named_as, names_of};
use files::Keeper;

/// Show and change textures: pixels in Quake and GoldSrc maps, WAD and WAL files, and names in all maps
///
/// GLOB selects textures: `wall` (a name), `+*` (`*` matches any bytes except a slash, `?` one such byte), `e1u1/**`
/// (`**` matches any bytes), `=wall?` (a name, without wildcards), `#3` (an index, as `tex list` shows it), `\xff` (a
/// byte, as `tex list` prints it). Case does not matter. Textures that are not edited keep every byte.
///
/// Quake II, Quake III and Source maps have no pixels, only names: of WAL files (Kingpin: TGA files), shaders,
/// materials.
#[derive(clap::Args)]
#[command(disable_help_subcommand = true, after_help = help!(
    "  bspkit tex list c1a0.bsp
  bspkit tex export c1a0.bsp -o images
  bspkit tex import c1a0.bsp images -o out.bsp
  bspkit tex rename base1.bsp 'e1u1/*' 'e1u2/{1}' -o out.bsp
  bspkit tex embed c1a0.bsp halflife.wad -o out.bsp
  bspkit tex strip c1a0.bsp --wad c1a0.wad -o out.bsp"
))]
pub(crate) struct Args {
    #[command(subcommand)]
    command: crate::words::Called<Command>,
}

commands! {
    List(ListArgs, run_list),
    Export(copies::ExportArgs, copies::run_export),
    Import(copies::ImportArgs, copies::run_import),
    Rename(RenameArgs, run_rename),
    Embed(copies::EmbedArgs, copies::run_embed),
    Strip(StripArgs, run_strip),
}

/// Reports what is wrong with a texture or an image, on one line. This is a finding and not a failure of the command.
fn finding(job: &mut Job<'_>, what: &str, error: &Error) {
    if !job.takes("textures and images") {
        return;
    }
    let causes = error.chain().map(ToString::to_string).collect::<Vec<_>>().join(": ");
    let separator = if what.is_empty() { "" } else { ": " };
    job.err.extend_from_slice(format!("{what}{separator}{causes}\n").as_bytes());
}

/// The result if nothing is changed because images cannot be imported.
fn refused(bad: usize, what: &str) -> Edited {
    Edited::Nothing(format!("{bad} {what} cannot be imported, so nothing is changed"))
}

/// The result if nothing is changed because the only matching textures cannot be read.
fn nothing_else(bad: usize) -> Edited {
    Edited::Nothing(format!("{bad} of the textures cannot be read, and no others need a change"))
}

pub(crate) fn run(cx: &Context, args: &Args) -> Result<Code> {
    args.command.0.run(cx)
}

// `tex list`: lists textures.

/// List textures: their sizes in Quake and GoldSrc maps and WAD files; in other maps, how many records use each name
///
/// A texture that cannot be read is listed with the reason, and the exit status is 1. A texture that is missing in the
/// directory, or whose pixels are in a WAD file, is not an error.
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit tex list c1a0.bsp
  bspkit tex list maps --json
  bspkit tex list base1.bsp --only 'e1u1/*'
  bspkit tex list maps --only '*wall*' -l
  bspkit tex list halflife.wad
  bspkit tex list metal1_1.wal --json"
))]
pub(crate) struct ListArgs {
    #[command(flatten)]
    reading: Reading,
    /// The textures [default: all]
    #[arg(long, value_name = "GLOB", action = ArgAction::Append)]
    only: Vec<OsString>,
    #[command(flatten)]
    brief: Brief,
    /// For WAL files: use the flag names of this game
    #[arg(long, value_name = "GAME", default_value = files::GAME)]
    flag_names: String,
}

/// A texture of a Quake or GoldSrc map or a WAD file.
#[derive(Serialize)]
struct Texture<'a> {
    index: usize,
    #[serde(flatten, serialize_with = "optional_name")]
    name: Option<&'a [u8]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    width: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    height: Option<u32>,
    is: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<String>,
}

fn optional_name<S: Serializer>(name: &Option<&[u8]>, serializer: S) -> Result<S::Ok, S::Error> {
    match name {
        Some(name) => bspkit::json::name(name, serializer),
        None => serializer.serialize_none(),
    }
}

#[derive(Serialize)]
struct Textures<'a> {
    textures: Vec<Texture<'a>>,
}

impl Report for Textures<'_> {
    fn print(&self, job: &mut Job<'_>) -> Result<()> {
        if !self.textures.is_empty() {
            job.line(format!("{:>6} {:>6} {:>6} {:10}  name", "#", "width", "height", "pixels"));
        }
        for Texture { index, name, width, height, is, problem } in &self.textures {
            let number = |size: &Option<u32>| size.map_or_else(|| "-".to_owned(), |size| size.to_string());
            let problem = problem.as_ref().map(|problem| format!("  ({problem})")).unwrap_or_default();
            let (width, height, name) = (number(width), number(height), escaped(name.unwrap_or_default()));
            job.line(format!("{index:>6} {width:>6} {height:>6} {is:10}  {name}{problem}").trim_end());
        }
        Ok(())
    }

    fn heading(&self, path: &str) -> Option<String> {
        (!self.textures.is_empty()).then(|| format!("{path}:"))
    }

    fn code(&self) -> Code {
        if self.textures.iter().any(|texture| texture.problem.is_some()) { Code::Found } else { Code::Done }
    }
}

/// A name, and the records of a lump that use it.
#[derive(Serialize)]
struct UsedName<'a> {
    #[serde(flatten, serialize_with = "bspkit::json::name")]
    name: &'a [u8],
    lump: &'a str,
    record_count: usize,
}

#[derive(Serialize)]
struct Names<'a> {
    textures: Vec<UsedName<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    findings: Vec<Finding>,
}

/// Without a name, the texture cannot be listed.
static TEXTURE_NAME: FindingCode =
    FindingCode::new("texture-name", Severity::Error, "the name of a texture cannot be read");

impl Report for Names<'_> {
    fn print(&self, job: &mut Job<'_>) -> Result<()> {
        if !self.is_empty() {
            job.line(format!("{:>8} {:20}  name", "records", "lump"));
        }
        for UsedName { name, lump, record_count } in &self.textures {
            job.line(format!("{record_count:>8} {lump:20}  {}", escaped(name)));
        }
        for Finding { place, message, .. } in &self.findings {
            let lump = place.lump.as_deref().unwrap_or_default();
            job.line(format!("{:>8} {lump:20}  {message}", "-"));
        }
        Ok(())
    }

    fn heading(&self, path: &str) -> Option<String> {
        (!self.is_empty()).then(|| format!("{path}:"))
    }

    fn code(&self) -> Code {
        if self.findings.is_empty() { Code::Done } else { Code::Found }
    }
}

impl Names<'_> {
    fn is_empty(&self) -> bool {
        self.textures.is_empty() && self.findings.is_empty()
    }
}

fn run_list(cx: &Context, args: &ListArgs) -> Result<Code> {
    files::flag_names(&args.flag_names)?;
    args.reading.maps().each(cx, |map, job| {
        let cannot = || format!("cannot list the textures in {}", shown(&map.path));
        let path = &map.path;
        if has_extension(path, "wal") {
            return files::list(path, &args.flag_names, job);
        }
        let bsp = if has_extension(path, "wad") { None } else { Some(cx.open_said(path, job)?) };
        match bsp {
            Some(bsp) if !bsp.has_textures() => names(&bsp, args, job).with_context(cannot),
            Some(bsp) => textures(&Shelf::Map(bsp.textures().with_context(cannot)?), args, job),
            None => textures(&Shelf::open(cx, path)?, args, job),
        }
    })
}

fn textures(shelf: &Shelf, args: &ListArgs, job: &mut Job<'_>) -> Result<Code> {
    let names = shelf.names();
    let chosen = names.chosen(&args.only, job);
    if let Some(code) = args.brief.print(|| chosen.len(), job) {
        return Ok(code);
    }
    let texture = |index: usize| {
        let (size, is, problem) = match shelf.get(index) {
            Ok(None) => (None, if matches!(shelf, Shelf::Map(_)) { "missing" } else { "no texture" }, None),
            Ok(Some(it)) => {
                (Some((it.width(), it.height())), if it.is_embedded() { "embedded" } else { "external" }, None)
            }
            Err(error) => (None, "damaged", Some(message(error))),
        };
        let (width, height) = size.unzip();
        Texture { index, name: shelf.name(index), width, height, is, problem }
    };
    let textures = Textures { textures: chosen.into_iter().map(texture).collect() };
    let code = job.report(&textures)?;
    let is_nothing = textures.textures.is_empty() && !args.only.is_empty();
    Ok(if is_nothing { job.nothing(&names.nothing(&args.only)) } else { code })
}

fn names(bsp: &Bsp<'_>, args: &ListArgs, job: &mut Job<'_>) -> Result<Code> {
    let patterns: Vec<_> = args.only.iter().map(|text| Pattern::new(unescaped(text))).collect();
    let lump = |name: &TextureName| bsp.slot(&name.lump).map_or("", |slot| slot.name.as_str());
    let found: Vec<TextureName> = bsp.texture_names()?.iter().collect();
    // In the order of the first use.
    let mut seen: BTreeMap<(&str, &[u8]), usize> = BTreeMap::new();
    let mut names = Names { textures: Vec::new(), findings: Vec::new() };
    for name in &found {
        if let Some(problem) = &name.problem {
            let start = if name.name.is_empty() { String::new() } else { format!("{}...  ", escaped(&name.name)) };
            let place = Place::default().lump(lump(name)).record(name.index);
            let message = format!("{start}(#{}: {problem})", name.index);
            names.findings.push(Finding::new(&TEXTURE_NAME, place, message));
            continue;
        }
        if !patterns.is_empty() && !patterns.iter().any(|pattern| pattern.matches(&name.name)) {
            continue;
        }
        let row = *seen.entry((&name.lump, &name.name)).or_insert(names.textures.len());
        match names.textures.get_mut(row) {
            Some(row) => row.record_count += 1,
            None => names.textures.push(UsedName { name: &name.name, lump: lump(name), record_count: 1 }),
        }
    }
    if let Some(code) = args.brief.print(|| names.textures.len(), job) {
        return Ok(code);
    }
    let code = job.report(&names)?;
    let names_in_map = named_as(found.iter().map(|name| Some(&name.name[..])));
    let is_nothing = names.textures.is_empty() && !args.only.is_empty();
    Ok(if is_nothing { job.nothing(&names_in_map.nothing(&args.only)) } else { code })
}

/// The error with its causes, on one line.
fn message(error: bspkit::Error) -> String {
    let error = anyhow::Error::new(error);
    error.chain().map(ToString::to_string).collect::<Vec<_>>().join(": ")
}

// `tex rename`: renames textures wherever a map names them.

/// Rename textures, in maps of every game
///
/// OLD is a pattern for whole names; case does not matter. `=*lava1` is the name `*lava1` itself: a liquid of Quake.
/// `#3` is the texture of this index in maps of Quake and GoldSrc. `{1}` in NEW is the text that the first wildcard of
/// OLD matched.
/// Records keep their textures. A name that is too long is refused and nothing is written: the limit is 31 bytes in
/// Quake II, 63 in Quake III, 15 in GoldSrc, 127 in Source. A warning says if different names become one name, and if
/// engines of Quake and GoldSrc draw the new name in another way: as the sky (`sky*`), a liquid (`*name`), a fence
/// (`{name`). An animation (`+0name`, `+1name`) that would get a gap is refused without --force. `\xff` is a byte and
/// `\\` a backslash, as `tex list` prints them.
///
/// A name that cannot be read is reported and stays as it is; the others change, and the exit status is 1.
///
/// Names that begin with `-`, as in GoldSrc, follow `--`: `tex rename map.bsp -o out.bsp -- -0wall wall`.
///
/// Files are not renamed; for embedded files of Source use `pak mv`. Names in entities, such as `detailmaterial` of
/// Source, do not change; use `ent set`. The next frame in an animation of Quake II does not change either.
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit tex rename base1.bsp 'e1u1/*' 'e1u2/{1}' -o out.bsp
  bspkit tex rename dm4.bsp 'textures/own/**' 'textures/mine/{1}' --in-place --backup
  bspkit tex rename c1a0.bsp aaatrigger clip --dry-run"
))]
pub(crate) struct RenameArgs {
    #[command(flatten)]
    maps: MapArgs,
    /// The old names; `*`, `**` and `?` are wildcards; or `#` and an index
    #[arg(value_name = "OLD")]
    old: OsString,
    /// The new name
    #[arg(value_name = "NEW")]
    new: OsString,
    #[command(flatten)]
    save: Save,
}

fn run_rename(cx: &Context, args: &RenameArgs) -> Result<Code> {
    let [old, new] = [&args.old, &args.new].map(|text| unescaped(text));
    let by_name = Renaming::new(&old, &new)?;
    let by_index = match Choice::new(&old) {
        Choice::Index(index) => Some(Renaming::at(index, &new)?),
        Choice::Pattern(_) => None,
    };
    args.save.each(cx, args.maps.find(), |draft, _, job| {
        // Elsewhere textures have no indices, and `#3` is a name.
        let by_index = by_index.as_ref().filter(|_| draft.bsp().has_textures());
        let renamed = draft.texture_names()?.rename(by_index.unwrap_or(&by_name))?;
        let is_whole = renamed.left.is_empty();
        for error in renamed.left {
            finding(job, "not renamed", &error.into());
        }
        for (new, old) in renamed.merged {
            let old = old.iter().map(|name| format!("`{}`", escaped(name))).collect::<Vec<_>>().join(", ");
            job.warn_here(&format!("{old} become one name, `{}`", escaped(&new)));
        }
        renamed.drawn.iter().for_each(|sentence| job.warn_here(sentence));
        if let Some(none) = renamed.unmatched {
            let hint = none.hint().map(|hint| format!("; {hint}")).unwrap_or_default();
            return Ok(Edited::Nothing(format!("{none}{hint}")));
        }
        if renamed.changed == 0 {
            return Ok(Edited::Same { what: String::new(), is_whole });
        }
        Ok(Edited::With { what: format!("{} renamed", count(renamed.changed, "name", "names")), is_whole })
    })
}

// `tex strip`: removes the pixels of textures from a map.

/// Remove the pixels of textures from a GoldSrc map, and keep their names
///
/// The game then looks for the pixels in the WAD files of the key `wad` of worldspawn, which is not changed. Names,
/// order and sizes stay. Quake reads no WAD files, so a map of Quake needs --force. A texture that cannot be read is
/// reported and stays as it is; the others change, and the exit status is 1.
///
/// With --wad, the pixels are first copied to a WAD file, byte for byte, so that `tex embed` puts them back. A texture
/// that differs from one of the same name in the file is reported and stays in the map.
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit tex strip c1a0.bsp -o out.bsp
  bspkit tex strip c1a0.bsp '+*' '#3' -o out.bsp
  bspkit tex strip c1a0.bsp --wad c1a0.wad -o out.bsp
  bspkit tex strip goldsrcs --wad all.wad -o small"
))]
pub(crate) struct StripArgs {
    #[command(flatten)]
    maps: MapArgs,
    /// The textures [default: all]
    #[arg(value_name = "GLOB")]
    patterns: Vec<OsString>,
    /// The WAD file that keeps the pixels; a new one, or one that gets more textures
    #[arg(long, value_name = "FILE", value_parser = output::on_disk())]
    wad: Option<PathBuf>,
    #[command(flatten)]
    save: Save,
}

fn run_strip(cx: &Context, args: &StripArgs) -> Result<Code> {
    args.wad.iter().try_for_each(|path| args.save.spare(path).and_then(|()| args.save.spare_new(path)))?;
    let keeper = args.wad.as_deref().map(Keeper::new);
    // Each map may add textures to the WAD file.
    let maps = if keeper.is_some() { args.maps.find().one_by_one() } else { args.maps.find() };
    args.save.each(cx, maps, |draft, map, job| {
        let textures = draft.textures()?;
        if !textures.has_palettes() && !args.save.force() {
            let message = "Quake reads the pixels from the map alone, whatever it says about them: without them it \
                           shows other bytes of the file";
            let hint = Hint::OrForce("leave them in the map".to_owned());
            return Err(bspkit::Error::new(ErrorKind::Refused, message).with_hint(hint).into());
        }
        if let Some(keeper) = &keeper {
            spare(keeper.path(), [&*map.path])?;
            keeper.open(textures.has_palettes())?;
        }
        let names = names_of(textures);
        let chosen = names.chosen(&args.patterns, job);
        if chosen.is_empty() {
            return Ok(Edited::Nothing(names.nothing(&args.patterns)));
        }
        let (mut stripped, mut bad) = (0, 0);
        for index in chosen {
            let embedded = textures.get(index).map_err(Error::new);
            let embedded = embedded.map(|texture| texture.filter(|texture| texture.is_embedded()));
            let kept = embedded.and_then(|texture| match (&keeper, texture) {
                (Some(keeper), Some(texture)) => keeper.add(&texture).map(|()| true),
                (_, texture) => Ok(texture.is_some()),
            });
            match kept {
                Ok(true) => {
                    textures.strip(index)?;
                    stripped += 1;
                }
                Ok(false) => {}
                Err(error) => {
                    let name = named(index, names.names[index].as_deref());
                    finding(job, &name, &error);
                    bad += 1;
                }
            }
        }
        if stripped == 0 {
            return Ok(if bad > 0 { nothing_else(bad) } else { Edited::same() });
        }
        // The pixels are on disk before the map without them.
        if let Some(keeper) = keeper.as_ref().filter(|_| !args.save.dry_run) {
            keeper.save(job)?;
        }
        Ok(Edited::With { what: format!("{} stripped", count(stripped, "texture", "textures")), is_whole: bad == 0 })
    })
}
