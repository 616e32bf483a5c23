//! `light`: the baked light of faces.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use crate::output::PathJson;
use anyhow::{Context as _, Result, bail};
use bspkit::content::lightmap::{Adjustment, Block, Image, Light, LightSet, LightStat};
use bspkit::disk::names;
use bspkit::disk::put::{self, put, refuse};
use bspkit::finding::{Code as FindingCode, Finding, Severity};
use bspkit::threads::in_parallel;
use bspkit::{Bsp, Draft, Error, ErrorKind, Place};
use bspkit_text::images::light::{self, Export, INDEX, Index};
use clap::ValueEnum;
use serde::Serialize;

use super::context::Context;
use super::talk::{Code, Few, Job, count, shown};
use super::{commands, help};
use crate::context::Report;
use crate::maps::{MapArgs, MapFile, Reading};
use crate::save::{Edited, Save};

/// Show and change the baked light of faces
///
/// `export` writes light as images, and `import` reads them back; pixels that were not changed keep every byte. For
/// Quake II, GoldSrc and Quake III, the PNGs have the exact numbers of the map; for Quake, which has one number per
/// luxel, they are grey. Source light has no upper limit: it is in Radiance files (`.hdr`), each with a PNG that shows
/// light up to twice the level that leaves a texture unchanged. Either of the two can be edited.
#[derive(clap::Args)]
#[command(disable_help_subcommand = true, after_help = help!(
    "  bspkit light stat base1.bsp
  bspkit light export base1.bsp -o light1
  bspkit light import base1.bsp light1 -o out.bsp
  bspkit light adjust base1.bsp --gain 1.5 --tint 1,0.9,0.8 -o out.bsp"
))]
pub(crate) struct Args {
    #[command(subcommand)]
    command: crate::words::Called<Command>,
}

commands! {
    Export(ExportArgs, run_export),
    Import(ImportArgs, run_import),
    Stat(StatArgs, run_stat),
    Adjust(AdjustArgs, run_adjust),
}

pub(crate) fn run(cx: &Context, args: &Args) -> Result<Code> {
    args.command.0.run(cx)
}

/// Reports every face whose light cannot be read.
fn say_faults(light: &Light<'_>, job: &mut Job<'_>) {
    for set in light.sets() {
        let faults = set.faults().iter().map(|fault| format!("{}: {fault}", set.lump()));
        find_all(&format!("faces of {}", set.lump()), faults, job);
    }
}

/// Reports findings of one kind: ten of them, and how many there are.
fn find_all(kind: &str, texts: impl Iterator<Item = String>, job: &mut Job<'_>) {
    let mut few = Few::new(job.talk.verbose);
    for text in texts {
        job.code = job.code.max(Code::Found);
        if few.takes(kind) {
            job.warn_here(&text);
        }
    }
    few.rest().for_each(|rest| job.warn_here(&rest));
}

/// Reports a finding.
fn find(text: &str, job: &mut Job<'_>) {
    job.warn_here(text);
    job.code = job.code.max(Code::Found);
}

/// A light file outside of the map, and whether it exists.
#[derive(Serialize)]
struct LightFile {
    #[serde(flatten)]
    file: PathJson,
    found: bool,
}

/// The files outside of the map that hold its light.
fn light_files(bsp: &Bsp<'_>, map: &Path) -> Result<Vec<LightFile>> {
    let folder = names::in_game(map).with_extension("");
    let file = |(_, name): (usize, String)| {
        let path = folder.join(&name);
        LightFile { file: PathJson::new("file", Some(&path)), found: path.is_file() }
    };
    Ok(bsp.light_files()?.into_iter().map(file).collect())
}

/// What to say of light that is in a form that is not read.
fn unread(lump: &str) -> String {
    format!("no light that is read: it is in {lump}, which is not read")
}

/// The message if the map has no light.
fn nothing(bsp: &Bsp<'_>, map: &Path) -> Result<String> {
    if let Some(lump) = bsp.unread_light().filter(|_| bsp.light().is_ok_and(|light| light.sets().is_empty())) {
        return Ok(unread(lump));
    }
    let files = light_files(bsp, map)?;
    let there = files.iter().filter(|file| file.found).count();
    Ok(match (&files[..], bsp.vertex_lit()?) {
        ([], 0) => "no light in the map".to_owned(),
        ([], lit) => {
            let surfaces = count(lit, "surface", "surfaces");
            format!("no light in lumps: {surfaces} on no page, whose light, if any, is in the colors of their vertexes")
        }
        ([first, ..], _) => {
            let files = count(files.len(), "file", "files");
            format!("no light in the map: it is in {files}, from {} on; {there} of them exist", first.file)
        }
    })
}

/// Warns of lumps that have the light again for some engines. They are not edited.
fn warn_of_copies(bsp: &Bsp<'_>, job: &mut Job<'_>) {
    if let Some(name) = bsp.unread_light() {
        job.warn_here(&format!(
            "{name} has the light again and is not edited: engines that read it show the old light"
        ));
    }
}

/// Warns of surfaces on no page: their light, if they have any, is in the colors of vertexes, which are not edited.
fn warn_of_vertexes(bsp: &Bsp<'_>, job: &mut Job<'_>) -> Result<()> {
    let lit = bsp.vertex_lit()?;
    if lit > 0 {
        let surfaces = count(lit, "surface stays as it is", "surfaces stay as they are");
        job.warn_here(&format!(
            "{surfaces}, on no page of light: what light they have is in the colors of their vertexes"
        ));
    }
    Ok(())
}

// Selects light: by lump, faces and styles.

#[derive(clap::Args)]
struct Choice {
    /// Only this kind of light, if the map has several: ldr and hdr; decoupled, scaled, rgb, decoupled_rgb and
    /// scaled_rgb, which entries of BSPX have; "" for the light that has no name
    #[arg(long, value_name = "NAME")]
    set: Option<String>,
    /// Only these faces or pages [default: all]
    #[arg(long, value_name = "N,N-N", value_parser = Ranges::parse)]
    faces: Option<Ranges>,
    /// Only these styles [default: all]
    #[arg(long, value_name = "N,N-N", value_parser = Ranges::parse)]
    styles: Option<Ranges>,
}

/// Numbers and ranges of numbers: `1,5-9`.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Ranges(Vec<(usize, usize)>);

impl Ranges {
    fn parse(text: &str) -> Result<Self, String> {
        let number = |text: &str| text.trim().parse().map_err(|_| format!("`{text}` is not a number"));
        let range = |part: &str| match part.split_once('-') {
            None => number(part).map(|number| (number, number)),
            Some((first, last)) => match (number(first)?, number(last)?) {
                (first, last) if first <= last => Ok((first, last)),
                _ => Err(format!("{part} ends before it begins")),
            },
        };
        text.split(',').map(range).collect::<Result<_, _>>().map(Ranges)
    }

    fn has(&self, number: usize) -> bool {
        self.0.iter().any(|(first, last)| (*first..=*last).contains(&number))
    }
}

impl Choice {
    /// Refuses a set that the map does not have. Reports selected faces without light.
    fn check(&self, light: &Light<'_>, job: &mut Job<'_>) -> Result<()> {
        if let Some(name) = &self.set
            && !light.sets().iter().any(|set| set.name() == name)
        {
            let names: Vec<_> = light.sets().iter().map(LightSet::name).filter(|name| !name.is_empty()).collect();
            let error = Error::new(ErrorKind::NotFound, format!("the map has no light called {name}"));
            return Err(match names.is_empty() {
                true => error.with_hint("its light has no name: leave out --set"),
                false => error.with_hint(format!("it has {}", names.join(", "))),
            }
            .into());
        }
        let lit: BTreeSet<usize> = light
            .sets()
            .iter()
            .filter(|set| self.has_set(set))
            .flat_map(|set| set.blocks())
            .map(Block::index)
            .collect();
        for (first, last) in self.faces.iter().flat_map(|ranges| &ranges.0) {
            // Only the ends of a range are named, since it may be longer than any map.
            if lit.range(first..=last).next().is_none() {
                let which =
                    if first == last { format!("face {first} has") } else { format!("faces {first} to {last} have") };
                find(&format!("{which} no light"), job);
            }
        }
        Ok(())
    }

    /// Warns of light that is the same as some that is changed, and stays; and of pages with several styles.
    fn warn(&self, light: &Light<'_>, job: &mut Job<'_>) {
        let sets = light.sets();
        for (at, set) in sets.iter().enumerate().filter(|(_, set)| !self.has_set(set)) {
            let repeats = |other: usize| set.copy_of() == Some(other) || sets[other].copy_of() == Some(at);
            if let Some(other) = (0..sets.len()).find(|other| self.has_set(&sets[*other]) && repeats(*other)) {
                let [name, other] =
                    [set, &sets[other]].map(|set| if set.name().is_empty() { set.lump() } else { set.name() });
                job.warn_here(&format!("{name} has the same light as {other} and stays as it is"));
            }
        }
        let pages = || sets.iter().flat_map(LightSet::blocks).filter(|block| block.has_several_styles());
        if let (Some(_), Some(page)) = (&self.styles, pages().next()) {
            let (number, style) = (page.index(), page.styles()[0]);
            let count = count(pages().count(), "page has", "pages have");
            job.warn_here(&format!("{count} light of several styles: page {number} counts for style {style}"));
        }
    }

    /// Warns of faces that are not chosen and show luxels of some that are.
    fn warn_of_shared(&self, light: &Light<'_>, job: &mut Job<'_>) {
        const MOST: usize = 5;
        let blocks = light.shown_with(|set, block, style| self.has(set, block, style));
        let mut faces: Vec<usize> =
            blocks.iter().map(|[set, block]| light.sets()[*set].blocks()[*block].index()).collect();
        faces.sort_unstable();
        faces.dedup();
        if !faces.is_empty() {
            let named: Vec<String> = faces.iter().take(MOST).map(usize::to_string).collect();
            let more = if faces.len() > MOST { ", ..." } else { "" };
            let faces = count(faces.len(), "face that is not selected", "faces that are not selected");
            job.warn_here(&format!("the same luxels are those of {faces}: {}{more}", named.join(", ")));
        }
    }

    fn has_set(&self, set: &LightSet) -> bool {
        self.set.as_ref().is_none_or(|name| set.name() == name)
    }

    fn has(&self, set: &LightSet, block: &Block, style: usize) -> bool {
        let number = usize::from(block.styles()[style]);
        self.has_set(set)
            && self.faces.as_ref().is_none_or(|faces| faces.has(block.index()))
            && self.styles.as_ref().is_none_or(|styles| styles.has(number))
    }
}

// `light stat`: prints statistics of the light.

/// Show how bright the light is, for each style
///
/// Ranges and means are in linear light, where 1 leaves a texture unchanged. The histogram counts luxels by how bright
/// they look on a screen, from black to the maximum. Faces with light outside the lump are reported; then the exit
/// status is 1.
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit light stat base1.bsp
  bspkit light stat maps --json > light.jsonl"
))]
struct StatArgs {
    #[command(flatten)]
    reading: Reading,
}

#[derive(Serialize)]
struct Stat<'a> {
    dialect: &'static str,
    sets: Vec<SetStat<'a>>,
    /// The files outside of the map that hold its light.
    files: Vec<LightFile>,
    /// A lump with light that is not read.
    #[serde(skip_serializing_if = "Option::is_none")]
    unread_lump: Option<&'static str>,
}

impl Report for Stat<'_> {
    fn print(&self, job: &mut Job<'_>) -> Result<()> {
        self.sets.iter().try_for_each(|set| print(set.set, &set.stat, job))?;
        for LightFile { file, found } in &self.files {
            job.line(format!("{file}: {}", if *found { "exists" } else { "missing" }));
        }
        if self.sets.is_empty() && self.files.is_empty() {
            job.line(self.unread_lump.map_or_else(|| "no light".to_owned(), unread));
        }
        Ok(())
    }

    fn heading(&self, path: &str) -> Option<String> {
        Some(format!("{path}:"))
    }
}

#[derive(Serialize)]
struct SetStat<'a> {
    name: &'a str,
    lump: &'a str,
    luxel_form: &'static str,
    /// Lit faces, or pages.
    lit_count: usize,
    unlit_count: usize,
    #[serde(flatten)]
    stat: LightStat,
    findings: Vec<Finding>,
    #[serde(skip)]
    set: &'a LightSet,
}

impl<'a> SetStat<'a> {
    fn new(set: &'a LightSet, stat: LightStat) -> Self {
        SetStat {
            name: set.name(),
            lump: set.lump(),
            luxel_form: set.form().name(),
            lit_count: set.blocks().len(),
            unlit_count: set.unlit(),
            stat,
            findings: set.faults().iter().map(|fault| finding(set, fault)).collect(),
            set,
        }
    }
}

fn run_stat(cx: &Context, args: &StatArgs) -> Result<Code> {
    args.reading.each(cx, |bsp, job| {
        let file = job.file;
        let cannot = || format!("cannot read the light of {}", shown(file));
        let light = bsp.light().with_context(cannot)?;
        let sets = light.sets().iter().enumerate();
        let sets = sets.filter_map(|(at, set)| Some(SetStat::new(set, light.stat(at)?))).collect();
        let files = light_files(&bsp, file).with_context(cannot)?;
        say_faults(&light, job);
        job.report(&Stat { dialect: bsp.dialect().name, sets, files, unread_lump: bsp.unread_light() })
    })
}

static LIGHT: FindingCode = FindingCode::new("light", Severity::Error, "light cannot be read");

/// Light that cannot be read, in JSON.
fn finding(set: &LightSet, fault: &impl ToString) -> Finding {
    Finding::new(&LIGHT, Place::default().lump(set.lump()), fault.to_string())
}

fn print(set: &LightSet, stat: &LightStat, job: &mut Job<'_>) -> Result<()> {
    let (lit, unlit) = (set.blocks().len(), set.unlit());
    let lit = if set.is_pages() { count(lit, "page", "pages") } else { count(lit, "lit face", "lit faces") };
    let name = if set.name().is_empty() { String::new() } else { format!(" ({})", set.name()) };
    job.line(format!(
        "{}{name}: {}, {lit}, {} without light",
        set.lump(),
        set.form().name(),
        count(unlit, "face", "faces")
    ));
    let odd = [
        (stat.shared, "block shared", "blocks shared"),
        (stat.overlaps, "overlap", "overlaps"),
        (stat.single, "size in single precision", "sizes in single precision"),
        (stat.mixed, "page of several styles", "pages of several styles"),
        (stat.directions, "page of directions", "pages of directions"),
        (stat.unowned, "unused byte", "unused bytes"),
    ];
    let odd: Vec<_> = odd.iter().filter(|odd| odd.0 > 0).map(|(number, one, more)| count(*number, one, more)).collect();
    if !odd.is_empty() {
        job.line(format!("  {}", odd.join(", ")));
    }
    for (style, of) in &stat.styles {
        let mut line = format!(
            "  style {style}: {}",
            count(
                of.faces,
                if set.is_pages() { "page" } else { "face" },
                if set.is_pages() { "pages" } else { "faces" }
            )
        );
        if of.bumped > 0 {
            write!(line, " ({} bumped)", of.bumped)?;
        }
        write!(line, ", {}", count(of.luxels, "luxel", "luxels"))?;
        job.line(line);
        for (word, light) in [("least", of.least), ("most", of.most), ("mean", of.mean)] {
            let [red, green, blue] = light;
            job.line(format!("    {word:<5} {red:8.4} {green:8.4} {blue:8.4}"));
        }
        let bins: Vec<_> = of.histogram.iter().map(ToString::to_string).collect();
        job.line(format!("    from black to bright {}", bins.join(" ")));
    }
    Ok(())
}

// `light export`: writes light as images.

/// Write the light as images
///
/// The folder gets `light.json`, which lists for each face, style and bump direction the file and the position in it.
/// The images are `page_000.png` and so on; with --by face they are `faces/00012_s0.png` (face 12, style 0), and
/// `faces/00012_s0_b1.png` to `_b3` for the directions of bumped faces. If a map has several kinds of light, each has a
/// folder: `ldr`, `hdr`, `decoupled`, `rgb`. Source light is in `.hdr` files; the `.png` with the same name is a
/// preview that can be edited too. Liquids of Quake II have light where it is apart from that of other faces. Faces
/// with light outside the lump are reported and left out; then the exit status is 1.
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit light export base1.bsp -o pages
  bspkit light export base1.bsp -o faces --by face --faces 12,20-25
  bspkit light export maps -o lights"
))]
struct ExportArgs {
    #[command(flatten)]
    maps: MapArgs,
    /// The folder to write to, created if it is missing; for several maps, it gets a folder for each
    #[arg(short, long, value_name = "DIR", required = true, value_parser = crate::output::on_disk())]
    output: PathBuf,
    /// The content of each file; Quake III light is always in pages
    #[arg(long, value_name = "WHAT", default_value = "page")]
    by: By,
    #[command(flatten)]
    choice: Choice,
    /// Replace existing files
    #[arg(long)]
    overwrite: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum By {
    /// The light of many faces
    Page,
    /// The light of one face
    Face,
}

fn run_export(cx: &Context, args: &ExportArgs) -> Result<Code> {
    let maps = args.maps.find().one_by_one();
    maps.check_folder(&args.output)?;
    maps.each(cx, |map, job| export(&cx.open_said(&map.path, job)?, map, cx.options.jobs(), args, job))
}

fn export(bsp: &Bsp<'_>, map: &MapFile, threads: usize, args: &ExportArgs, job: &mut Job<'_>) -> Result<Code> {
    let cannot = || format!("cannot export the light of {}", shown(&map.path));
    let light = bsp.light().with_context(cannot)?;
    say_faults(&light, job);
    args.choice.check(&light, job).with_context(cannot)?;
    let name = map.path.file_name().map(|name| shown(Path::new(name))).unwrap_or_default();
    let is_chosen = |set: &LightSet, block: &Block, style: usize| args.choice.has(set, block, style);
    let export = light::export(bsp, &light, &name, args.by == By::Face, is_chosen)?;
    if export.files().is_empty() {
        return Ok(job.nothing(&nothing(bsp, &map.path)?));
    }
    let folder = &map.place(&args.output, "");
    let cannot = || format!("cannot export to {}", shown(folder));
    make_folders(folder, &export).with_context(cannot)?;
    refuse_others(folder, args.overwrite, &export).with_context(cannot)?;
    let written = in_parallel(threads, export.files(), |file| {
        let mut files = export.encode(file)?.into_iter();
        files.try_for_each(|(name, bytes)| Ok(put(&folder.join(name), &bytes, args.overwrite)?))
    });
    written.into_iter().collect::<Result<Vec<()>>>().with_context(cannot)?;
    put(&folder.join(INDEX), export.index(), args.overwrite).with_context(cannot)?;
    let images: usize = export.files().iter().map(light::File::image_count).sum();
    let (images, files) = (count(images, "image", "images"), count(export.files().len(), "file", "files"));
    job.say(&format!("{}: {images} in {files}", shown(folder)));
    Ok(job.code)
}

fn make_folders(folder: &Path, export: &Export<'_, '_>) -> Result<()> {
    put::folder(folder)?;
    let mut below: Vec<PathBuf> =
        export.names().filter_map(|name| Some(Path::new(&name).parent()?.to_owned())).collect();
    below.sort_unstable();
    below.dedup();
    Ok(below.into_iter().try_for_each(|below| put::folder(&folder.join(below)))?)
}

/// Refuses existing files before anything is written.
fn refuse_others(folder: &Path, overwrite: bool, export: &Export<'_, '_>) -> Result<()> {
    let mut paths = export.names().chain([INDEX.to_owned()]).map(|name| folder.join(name));
    paths.try_for_each(|path| Ok(refuse(&path, overwrite)?))
}

// `light import`: reads light from images.

/// Replace the light with that in images, as `light export` writes them
///
/// Each image is compared with what `light export` would write now. A changed pixel changes only its luxel, and the
/// average color of the face if the map has it: by as much as the mean of the luxels. If there are a `.hdr` and a
/// `.png` with the same name, either can be changed, and one of them can be missing. If an image is missing or has
/// another size or depth, it is reported, nothing is written and the exit status is 1; with --force the other images
/// are imported. If a map has the same light in grey and in color, a change in one is applied to the other.
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit light import base1.bsp pages -o out.bsp
  bspkit light import base1.bsp pages --dry-run
  bspkit light import maps lights -o edited"
))]
struct ImportArgs {
    #[command(flatten)]
    maps: MapArgs,
    /// The folder with `light.json` and the images; for several maps: the folder that `light export` wrote
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    #[command(flatten)]
    save: Save,
}

fn run_import(cx: &Context, args: &ImportArgs) -> Result<Code> {
    let read = |folder: &Path| read(folder, &args.save);
    // For a single map, an unreadable folder is an error of the arguments and not of the map.
    let single = if args.maps.are_many() { None } else { Some(read(&args.folder)?) };
    args.save.each(cx, args.maps.find(), |draft, map, job| {
        let Some(folder) = map.read_from(&args.folder, "") else {
            return Ok(Edited::Nothing("no light to import".to_owned()));
        };
        let own = if single.is_none() { Some(read(&folder)?) } else { None };
        let Some(index) = single.as_ref().or(own.as_ref()) else { bail!("the folder has no {}", INDEX) };
        import(draft, index, args, job)
    })
}

/// Reads the index of the images.
fn read(folder: &Path, save: &Save) -> Result<Index> {
    save.spare(&folder.join(INDEX))?;
    let index = Index::read(folder)?;
    index.files().try_for_each(|path| save.spare(&path))?;
    Ok(index)
}

fn import(draft: &mut Draft<'static>, index: &Index, args: &ImportArgs, job: &mut Job<'_>) -> Result<Edited> {
    let taken = light::import(draft.light()?, index);
    find_all("images", taken.faults.iter().cloned(), job);
    if !taken.faults.is_empty() && !args.save.force {
        let images = count(taken.faults.len(), "image", "images");
        return Ok(Edited::Nothing(format!("{images} cannot be imported, so nothing is changed")));
    }
    if taken.changed > 0 {
        warn_of_copies(draft.bsp(), job);
    }
    if taken.carried > 0 {
        let luxels = count(taken.carried, "luxel", "luxels");
        job.say(&format!("{}: {luxels} of the same light in another lump changed too", job.path));
    }
    Ok(Edited::Done)
}

// `light adjust`: changes the brightness and color of light.

/// Make the light brighter or darker, or change its color
///
/// Each channel of a luxel (a pixel of light) is multiplied by the gain and the tint, then raised to the power 1/gamma.
/// This is done in linear light, where 1 leaves a texture unchanged. 8-bit light is converted to linear light with the
/// power 2.2, as engines use it. Light that gets too bright for the format is clamped. Average colors of faces, if the
/// map has them, change in the same way. Colors of vertexes, the light grid, light of props and lights of entities do
/// not change; surfaces of Quake III that are on no page of light are counted in a warning.
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit light adjust base1.bsp --gain 1.5 -o out.bsp
  bspkit light adjust base1.bsp --tint 1,0.8,0.6 --styles 0 --in-place --backup
  bspkit light adjust maps --gamma 1.2 -o brighter"
))]
struct AdjustArgs {
    #[command(flatten)]
    maps: MapArgs,
    #[command(flatten)]
    numbers: Numbers,
    #[command(flatten)]
    choice: Choice,
    #[command(flatten)]
    save: Save,
}

#[derive(clap::Args)]
#[group(required = true, multiple = true)]
struct Numbers {
    /// Multiply all light by this
    #[arg(long, value_name = "NUMBER", value_parser = factor)]
    gain: Option<f64>,
    /// Above 1, dark light gets brighter; below 1, darker
    #[arg(long, value_name = "NUMBER", value_parser = power)]
    gamma: Option<f64>,
    /// Multiply red, green and blue by these
    #[arg(long, value_name = "R,G,B", value_parser = tint)]
    tint: Option<[f64; 3]>,
}

fn factor(text: &str) -> Result<f64, String> {
    let number = text.trim().parse().map_err(|_| format!("`{text}` is not a number"))?;
    if (0.0..=1e6).contains(&number) { Ok(number) } else { Err(format!("{text} is not from 0 to 1000000")) }
}

fn power(text: &str) -> Result<f64, String> {
    factor(text).and_then(|number| match number {
        number if (0.01..=100.0).contains(&number) => Ok(number),
        _ => Err(format!("{text} is not from 0.01 to 100")),
    })
}

fn tint(text: &str) -> Result<[f64; 3], String> {
    let parts = text.split(',').map(factor).collect::<Result<Vec<_>, _>>()?;
    <[f64; 3]>::try_from(parts).map_err(|_| "three numbers are needed, for red, green and blue".to_owned())
}

fn run_adjust(cx: &Context, args: &AdjustArgs) -> Result<Code> {
    let Numbers { gain, gamma, tint } = &args.numbers;
    let adjustment =
        Adjustment { gain: gain.unwrap_or(1.0), gamma: gamma.unwrap_or(1.0), tint: tint.unwrap_or([1.0; 3]) };
    args.save.each(cx, args.maps.find(), |draft, map, job| {
        let bsp = draft.bsp().clone();
        let light = draft.light()?;
        if light.sets().is_empty() {
            return Ok(Edited::Nothing(nothing(&bsp, &map.path)?));
        }
        say_faults(light, job);
        args.choice.check(light, job)?;
        args.choice.warn(light, job);
        let is_meant = |image: Image| {
            let set = &light.sets()[image.set];
            args.choice.has(set, &set.blocks()[image.block], image.style)
        };
        if !light.images().any(is_meant) {
            return Ok(Edited::Nothing("no light matches --set, --faces and --styles".to_owned()));
        }
        let changed = light.adjust(&adjustment, |set, block, style| args.choice.has(set, block, style))?;
        if changed > 0 {
            args.choice.warn_of_shared(light, job);
            warn_of_copies(&bsp, job);
        }
        // Whoever names pages means these.
        if changed > 0 && args.choice.faces.is_none() {
            warn_of_vertexes(&bsp, job)?;
        }
        Ok(Edited::Done)
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn ranges_of_numbers() {
        let ranges = Ranges::parse("1, 5-9,12").unwrap();
        assert_eq!((0..20).filter(|number| ranges.has(*number)).collect::<Vec<_>>(), [1, 5, 6, 7, 8, 9, 12]);
        for bad in ["", "a", "3-1", "1,", "-1", "1-2-3"] {
            assert!(Ranges::parse(bad).is_err(), "{bad}");
        }
    }
}
