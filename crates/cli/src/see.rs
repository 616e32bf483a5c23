//! `export` and `view`: what is drawn of a map, as a file for other programs and as a page.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use crate::output::PathJson;
use anyhow::{Context as _, Result, bail};
use bspkit::Bsp;
use bspkit::disk::names;
use bspkit::disk::put::{self, put, refuse};
use bspkit::finding::Finding;
use bspkit_game::Game;
use bspkit_game::assets::Files;
use bspkit_ops::check::{is_unreadable, unreadable};
use bspkit_packed::archive;
use bspkit_see::{File, Format, Only, Options, Scene, Summary, View, draw};
use serde::Serialize;

use super::context::{Context, is_stdin};
use super::help;
use super::talk::{Code, Few, Job, bad_argument, count, shown};
use crate::context::Report;
use crate::maps::{MapFile, Reading, above_maps};
use crate::output::spare;

/// Write what is drawn of a map as glTF or OBJ, for Blender and other programs
///
/// The file has the surfaces of the world and of every brush model, the curves of Quake III and the displacements of
/// Source; light as an image for each style, with coordinates of its own; textures that are in the map, or beside it;
/// entities and props as nodes with their keys and values. A texture that is not found is a plain color. One unit of
/// the map is an inch, 0.0254 metres; y is up.
///
/// The end of FILE says what is written: `.glb` is one file, `.gltf` is a text with a `.bin` and pictures beside it,
/// `.obj` has a `.mtl` and pictures, and neither light nor entities. `-o -` writes a `.glb` to stdout. Several maps go
/// to a folder, each as a `.glb` unless --format names another form.
///
/// Textures and palettes are looked for in the game's folder, which is the one above `maps`, and in those of --game,
/// loose and in their archives (PAK, PK3; of Source those of gameinfo.txt): WAL files and `pics/colormap.pcx` of
/// Quake II, images and shaders of Quake III, WAD files of Half-Life, `gfx/palette.lmp` of Quake, materials of Source.
/// Without such a file textures of Quake have the palette of that game, which is built in.
///
/// What of the map cannot be read is reported and left out; then the exit status is 1. Overlays of Source are counted
/// and left out.
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit export dm4.bsp -o dm4.glb
  bspkit export dm4.bsp -o door.obj --only '*1'
  bspkit export base1.bsp -o lights.gltf --only 'light,worldspawn'
  bspkit export maps -o meshes --no-light --json > meshes.jsonl"
))]
pub(crate) struct ExportArgs {
    #[command(flatten)]
    reading: Reading,
    /// The file to write; for several maps a folder
    #[arg(short, long, value_name = "FILE", required = true)]
    output: PathBuf,
    /// The form of the files [default: by the end of FILE]
    #[arg(long, value_name = "glb|gltf|obj")]
    format: Option<Format>,
    #[command(flatten)]
    shown: Shown,
    /// Take the light for high dynamic range if the map has it, and add images of its exact luxels (RGBE)
    #[arg(long, conflicts_with = "no_light")]
    hdr: bool,
    /// Make one mesh of all models, each in its place
    #[arg(long)]
    merge: bool,
    /// Replace existing files
    #[arg(long)]
    overwrite: bool,
}

// What of a map is shown: options that both commands have. (A doc comment would become the help of the command.)
#[derive(clap::Args)]
struct Shown {
    /// Only this brush model (`*1`; `*0` is the world), or the entities of a selector with their models
    #[arg(long, value_name = "MODEL|SEL")]
    only: Option<Only>,
    /// How many straight pieces a curve of Quake III becomes, 1 to 32
    #[arg(long, value_name = "N", default_value_t = Options::default().detail)]
    detail: usize,
    /// Leave out the light
    #[arg(long)]
    no_light: bool,
    /// A folder of the game, or an archive, with textures and palettes; can be repeated
    #[arg(long, value_name = "DIR")]
    game: Vec<PathBuf>,
}

/// A file that was written.
#[derive(Serialize)]
struct Written {
    #[serde(flatten)]
    file: PathJson,
    byte_count: usize,
}

#[derive(Serialize)]
struct Exported {
    format: &'static str,
    files: Vec<Written>,
    #[serde(flatten)]
    summary: Summary,
}

impl Report for Exported {
    fn print(&self, job: &mut Job<'_>) -> Result<()> {
        job.say(&self.sentence());
        Ok(())
    }

    fn code(&self) -> Code {
        if self.summary.findings.iter().any(is_missing) { Code::Found } else { Code::Done }
    }
}

impl Exported {
    fn sentence(&self) -> String {
        let of = &self.summary;
        let file = self.files.first().map(|file| file.file.to_string()).unwrap_or_default();
        let light = match of.page_count {
            0 => "no light".to_owned(),
            pages => {
                format!("light of {} on {}", count(of.style_count, "style", "styles"), count(pages, "page", "pages"))
            }
        };
        format!(
            "{file}: {}, {}, {}, {} ({} with pixels), {light}, {}, {}",
            count(of.model_count, "model", "models"),
            count(of.face_count, "face", "faces"),
            count(of.triangle_count, "triangle", "triangles"),
            count(of.texture_count, "texture", "textures"),
            of.picture_count,
            count(of.entity_count, "entity", "entities"),
            count(of.prop_count, "prop", "props"),
        )
    }
}

pub(crate) fn run_export(cx: &Context, args: &ExportArgs) -> Result<Code> {
    let maps = args.reading.maps().one_by_one();
    if maps.many {
        maps.check_folder(&args.output)?;
    }
    let format = args.format(maps.many)?;
    let to_stdout = is_stdin(&args.output);
    if to_stdout && (maps.many || format != Format::Glb) {
        return Err(bad_argument("only one .glb can go to stdout".to_owned(), "use -o FILE"));
    }
    if to_stdout && args.reading.json {
        return Err(bad_argument("the file and the report cannot both go to stdout".to_owned(), "leave out --json"));
    }
    let games = Games::new(cx, &args.shown.game);
    maps.each(cx, |map, job| {
        let bsp = cx.open_said(&map.path, job)?;
        let target = map.file_in(&args.output, format.name())?;
        let cannot = || format!("cannot export {}", shown(&map.path));
        let (files, mut summary) = args.files(&games, &bsp, map, format, &target).with_context(cannot)?;
        add_unreadable(&bsp, &mut summary);
        say_findings(&summary.findings, job);
        if to_stdout {
            for file in &files {
                job.deliver(&file.bytes)?;
            }
            let written = written(&files);
            let exported = Exported { format: format.name(), files: written, summary };
            job.say(&exported.sentence());
            return Ok(exported.code());
        }
        files.iter().try_for_each(|file| spare(Path::new(&file.name), [&*map.path]))?;
        write(&files, args.overwrite).with_context(|| format!("cannot export to {}", shown(&target)))?;
        let files = written(&files);
        job.report(&Exported { format: format.name(), files, summary })
    })
}

fn written(files: &[File]) -> Vec<Written> {
    let written =
        |file: &File| Written { file: PathJson::new("file", Some(file.name.as_ref())), byte_count: file.bytes.len() };
    files.iter().map(written).collect()
}

/// Whether a finding says that something of the map is left out; notes of a scene do not.
fn is_missing(finding: &Finding) -> bool {
    finding.is_error() || is_unreadable(finding)
}

/// Adds the faults for which a part of the map cannot be read: what is not there, the scene does not miss.
fn add_unreadable(bsp: &Bsp<'_>, summary: &mut Summary) {
    let at = |finding: &Finding| (finding.place.lump.clone(), finding.place.record);
    let said: HashSet<_> = summary.findings.iter().map(at).filter(|(_, record)| record.is_some()).collect();
    let more: Vec<Finding> = unreadable(bsp).into_iter().filter(|finding| !said.contains(&at(finding))).collect();
    summary.findings.extend(more);
}

/// Reports what is not shown or written: ten of a kind, and how many there are.
pub(crate) fn say_findings(findings: &[Finding], job: &mut Job<'_>) {
    let mut few = Few::new(job.talk.verbose);
    for finding in findings {
        if few.takes(finding.code.name) {
            let place = match (&finding.place.lump, finding.place.record) {
                (Some(lump), Some(record)) => format!("{lump} {record}: "),
                (Some(lump), None) => format!("{lump}: "),
                _ => String::new(),
            };
            let more = match finding.count {
                1 => String::new(),
                more => format!(", and {} more of this kind", more - 1),
            };
            job.warn_here(&format!("{place}{}{more}", finding.message));
        }
    }
    few.rest().for_each(|rest| job.warn_here(&rest));
}

/// Writes all files, or none if one of them is there.
fn write(files: &[File], overwrite: bool) -> Result<()> {
    let mut folders: Vec<&Path> = files.iter().skip(1).filter_map(|file| Path::new(&file.name).parent()).collect();
    folders.sort_unstable();
    folders.dedup();
    files.iter().try_for_each(|file| refuse(Path::new(&file.name), overwrite))?;
    folders.into_iter().filter(|folder| !folder.as_os_str().is_empty()).try_for_each(put::folder)?;
    // The file that names the others comes last.
    files.iter().rev().try_for_each(|file| Ok(put(Path::new(&file.name), &file.bytes, overwrite)?))
}

impl ExportArgs {
    /// What is written.
    fn format(&self, many: bool) -> Result<Format> {
        if let Some(format) = self.format {
            return Ok(format);
        }
        if many || is_stdin(&self.output) {
            return Ok(Format::Glb);
        }
        let found = self.output.file_name().and_then(|name| Format::of_name(&name.to_string_lossy()));
        match found {
            Some(format) => Ok(format),
            None => {
                let message = format!("the name of {} does not say what to write", shown(&self.output));
                Err(bad_argument(message, "let it end in .glb, .gltf or .obj, or use --format"))
            }
        }
    }

    /// The files of a map.
    fn files(
        &self,
        games: &Games<'_>,
        bsp: &Bsp<'_>,
        map: &MapFile,
        format: Format,
        target: &Path,
    ) -> Result<(Vec<File>, Summary)> {
        let scene = self.shown.scene(games, bsp, map, |options| {
            (options.hdr, options.merge) = (self.hdr, self.merge);
            // An OBJ has no light.
            options.light &= format != Format::Obj;
        })?;
        let Some(name) = target.to_str() else { bail!("{} is not UTF-8", shown(target)) };
        let mut summary = Summary::of(&scene);
        if format == Format::Obj {
            (summary.entity_count, summary.prop_count) = (0, 0);
        }
        Ok((bspkit_see::export(&scene, format, name)?, summary))
    }
}

impl Shown {
    /// What is shown of a map, with more options.
    fn scene(
        &self,
        games: &Games<'_>,
        bsp: &Bsp<'_>,
        map: &MapFile,
        more: impl FnOnce(&mut Options<'_>),
    ) -> Result<Scene> {
        let game = games.of(&map.path)?;
        let mut options = Options {
            detail: self.detail,
            light: !self.no_light,
            only: self.only.clone(),
            name: names::of_map(&map.path).to_str(),
            files: (!game.is_empty()).then_some(&*game as &dyn Files),
            ..Options::default()
        };
        more(&mut options);
        Ok(Scene::read(bsp, &options)?)
    }
}

/// The games that maps are for.
struct Games<'a> {
    cx: &'a Context,
    /// The places that the command line names.
    named: &'a [PathBuf],
    /// The last game and its folder: maps come folder by folder.
    last: Mutex<Option<(Option<PathBuf>, Arc<Game>)>>,
}

impl<'a> Games<'a> {
    fn new(cx: &'a Context, named: &'a [PathBuf]) -> Self {
        Games { cx, named, last: Mutex::new(None) }
    }

    /// The files of the game that a map is for: of the places that are named, and of the folder above `maps` or the
    /// archive that the map is in.
    fn of(&self, map: &Path) -> Result<Arc<Game>> {
        // A map in an archive has the files of the archive.
        let folder = archive::part(map).map(|(archive, _)| archive).or_else(|| above_maps(map));
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, game)) = last.as_ref().filter(|(known, _)| *known == folder) {
            return Ok(Arc::clone(game));
        }
        let mut game = Game::of_this_machine();
        for place in self.named.iter().chain(&folder) {
            game.add_game(place).with_context(|| format!("cannot read the game in {}", shown(place)))?;
        }
        let warn = |fault: &String| self.cx.talk.stderr(self.cx.talk.warning(fault).as_bytes());
        game.faults().iter().for_each(warn);
        let game = Arc::new(game);
        *last = Some((folder, Arc::clone(&game)));
        Ok(game)
    }
}

// `view`: a page that shows a map.

/// Write a page that shows a map in a browser, or a picture of it
///
/// The page is one file, which opens without a server and loads nothing. One flies through the map with its light,
/// hides layers (world, models, entities class by class, sky, water, tool surfaces, clip brushes, leafs, portals),
/// searches for entities, and leaves out what is not visible from a place. A click on a face shows its texture, its
/// number and the command that reads it; on an entity its keys and values. `PAGE.html#x,y,z` opens it at a place of the
/// map; yaw and pitch may follow.
///
/// With --png it is a picture instead: from the first place where a player begins, from above, or from any place. It
/// shows the world and the brush models, and neither props nor other entities.
///
/// Textures are looked for as `export` does it. The page has three.js in it (MIT licence).
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit view dm4.bsp -o dm4.html
  bspkit view dm4.bsp -o dm4.png --png 1280x720
  bspkit view dm4.bsp -o plan.png --png 1024x1024 --from above
  bspkit view dm4.bsp -o door.html --only '*1'
  bspkit view maps -o pages"
))]
pub(crate) struct ViewArgs {
    #[command(flatten)]
    reading: Reading,
    /// The page or picture to write; for several maps a folder
    #[arg(short, long, value_name = "FILE", required = true)]
    output: PathBuf,
    #[command(flatten)]
    shown: Shown,
    /// Write a picture with this many columns and rows, as a PNG; at most 4,194,304 pixels
    #[arg(long, value_name = "WxH", value_parser = size)]
    png: Option<[u32; 2]>,
    /// Where the picture is taken from: start, above, or a place with degrees to the left of east and below the horizon
    #[arg(
        long,
        value_name = "start|above|X,Y,Z[,YAW[,PITCH]]",
        default_value = "start",
        hide_default_value = true,
        requires = "png",
        allow_hyphen_values = true
    )]
    from: View,
    /// Replace existing files
    #[arg(long)]
    overwrite: bool,
}

/// Columns and rows of a picture.
fn size(text: &str) -> Result<[u32; 2], String> {
    let sides = text.split_once('x').and_then(|(columns, rows)| Some([columns.parse().ok()?, rows.parse().ok()?]));
    sides.ok_or_else(|| "columns and rows are two numbers, as in 1280x720".to_owned())
}

pub(crate) fn run_view(cx: &Context, args: &ViewArgs) -> Result<Code> {
    let maps = args.reading.maps().one_by_one();
    if maps.many {
        maps.check_folder(&args.output)?;
    }
    let games = Games::new(cx, &args.shown.game);
    let to_stdout = is_stdin(&args.output);
    if to_stdout && (maps.many || args.reading.json) {
        return Err(bad_argument("only one page can go to stdout, and nothing else".to_owned(), "use -o FILE"));
    }
    let is_picture = args.output.extension().is_some_and(|end| end.eq_ignore_ascii_case("png"));
    if is_picture && args.png.is_none() {
        return Err(bad_argument("a picture needs columns and rows".to_owned(), "use --png 1280x720"));
    }
    if !is_picture && args.png.is_some() && !maps.many && !to_stdout {
        return Err(bad_argument("a picture is a PNG".to_owned(), "let the name of the file end in .png"));
    }
    let format = if args.png.is_some() { "png" } else { "html" };
    maps.each(cx, |map, job| {
        let bsp = cx.open_said(&map.path, job)?;
        let target = map.file_in(&args.output, format)?;
        if !to_stdout {
            spare(&target, [&*map.path])?;
        }
        let cannot = || format!("cannot show {}", shown(&map.path));
        let spaces = args.png.is_none();
        let scene = args.shown.scene(&games, &bsp, map, |options| options.spaces = spaces).with_context(cannot)?;
        let mut summary = Summary::of(&scene);
        add_unreadable(&bsp, &mut summary);
        say_findings(&summary.findings, job);
        let page = match args.png {
            Some(size) => {
                if args.from == View::Start && scene.start.is_none() {
                    job.warn_here("the map has no place where players begin: the picture is from above");
                }
                draw(&scene, args.from, size).with_context(cannot)?.png
            }
            None => {
                let file = if is_stdin(&map.path) { "MAP".to_owned() } else { shown(&map.path) };
                let title = if is_stdin(&map.path) { file.clone() } else { shown(Path::new(names::of_map(&map.path))) };
                bspkit_see::page(&scene, &title, &file).with_context(cannot)?
            }
        };
        let written = Written { file: PathJson::new("file", Some(&target)), byte_count: page.len() };
        let exported = Exported { format, files: vec![written], summary };
        if to_stdout {
            job.deliver(&page)?;
            job.say(&exported.sentence());
            return Ok(exported.code());
        }
        put(&target, &page, args.overwrite).with_context(|| format!("cannot write {}", shown(&target)))?;
        job.report(&exported)
    })
}
