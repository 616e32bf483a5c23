//! The `tex` commands for WAL files, which are not maps and have no palette.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, anyhow, bail};
use bspkit::content::palette::Palette;
use bspkit::content::wal::{Wal, WalHeader};
use bspkit::dialect;
use bspkit::face::images::textures::{self, file_name};
use bspkit::face::input;
use bspkit::face::put::{self, put};
use bspkit::file::SideFile;
use bspkit::record::{FieldInfo, FlagNames, Record, parse, print};
use serde::Serialize;

use super::finding;
use crate::cli::context::Context;
use crate::cli::maps::Maps;
use crate::cli::save::Save;
use crate::cli::show::{shown, text_and_raw};
use crate::cli::talk::{Code, Job};

/// The default game for the names of flags.
pub(super) const GAME: &str = "quake2";

#[derive(clap::Args)]
#[command(next_help_heading = "WAL files")]
pub(crate) struct Fields {
    /// The palette of WAL files and Quake maps: a PCX picture such as pics/colormap.pcx, or a file of 768 bytes
    #[arg(long, value_name = "FILE")]
    palette: Option<PathBuf>,
    /// The name: the path below textures/, without extension [default for a new file: from the path of -o]
    #[arg(long)]
    name: Option<String>,
    /// The next frame of an animation; empty for none
    #[arg(long, value_name = "NAME")]
    next: Option<String>,
    /// The surface flags
    #[arg(long)]
    flags: Option<String>,
    /// The contents of brushes
    #[arg(long)]
    contents: Option<String>,
    /// The amount of light that it emits
    #[arg(long, allow_hyphen_values = true)]
    value: Option<String>,
    /// Use the flag names of this game [default: quake2]
    #[arg(long, value_name = "NAME")]
    game: Option<String>,
}

#[derive(Clone, Copy)]
pub(super) struct How {
    pub(super) quantizes: bool,
    pub(super) resizes: bool,
}

impl Fields {
    /// The palette of `--palette`, if it was given.
    pub(super) fn given_palette(&self) -> Result<Option<Palette>> {
        self.palette.as_deref().map(read_palette).transpose()
    }

    /// Whether an option was given that only WAL files have.
    pub(super) fn any(&self) -> bool {
        self.game.is_some() || self.values().any(|(_, value)| value.is_some())
    }

    fn values(&self) -> impl Iterator<Item = (&'static str, Option<&str>)> {
        let fields = [
            ("name", &self.name),
            ("next_name", &self.next),
            ("flags", &self.flags),
            ("contents", &self.contents),
            ("value", &self.value),
        ];
        fields.into_iter().map(|(field, value)| (field, value.as_deref()))
    }

    /// The header with the given values.
    fn apply(&self, header: &WalHeader) -> Result<WalHeader> {
        let names = flag_names(self.game.as_deref().unwrap_or(GAME))?;
        let mut bytes = header.encode();
        for (name, value) in self.values() {
            let Some(value) = value else { continue };
            let field = field(name)?;
            let cannot = |why| anyhow!("cannot set {name}: {why}");
            let to = &mut bytes[field.offset..field.offset + field.shape.size()];
            let most = to.len() - 1;
            if name.ends_with("name") {
                let text = bspkit::bytes::unescape(value);
                if text.len() > most || text.contains(&0) {
                    return Err(cannot(format!("a name has at most {most} bytes and no NUL")));
                }
            }
            let old = to.to_vec();
            parse(field.shape, field.meaning, value, to, names).map_err(|error| cannot(error.to_string()))?;
            // An unchanged name keeps the bytes after its NUL.
            let text = |bytes: &[u8]| bytes.split(|byte| *byte == 0).next().map(<[u8]>::to_vec);
            if name.ends_with("name") && text(&old) == text(to) {
                to.copy_from_slice(&old);
            }
        }
        WalHeader::decode(&bytes).context("a header of WAL files is 100 bytes")
    }

    pub(super) fn palette_file(&self) -> Option<&PathBuf> {
        self.palette.as_ref()
    }

    fn palette(&self) -> Result<Palette> {
        asked_palette(self.palette.as_deref())
    }
}

fn field(name: &str) -> Result<&'static FieldInfo> {
    WalHeader::INFO.field(name).with_context(|| format!("WAL files have no {name}"))
}

fn flag_names(game: &str) -> Result<FlagNames> {
    Ok(dialect::by_name(GAME)?.game_by_name(game)?.flags)
}

fn asked_palette(path: Option<&Path>) -> Result<Palette> {
    let Some(path) = path else {
        let error = bspkit::Error::new(bspkit::ErrorKind::Argument, "a WAL file has no palette");
        let hint = "name it with --palette: pics/colormap.pcx of the game, or another file of 768 bytes";
        return Err(error.with_hint(hint).into());
    };
    read_palette(path)
}

pub(super) fn read_palette(path: &Path) -> Result<Palette> {
    let bytes = input::read(path)?;
    Palette::read(&bytes).with_context(|| format!("cannot read the palette in {}", shown(path)))
}

fn open(path: &Path) -> Result<Wal<'static>> {
    wal_of(input::read(path)?, path)
}

fn wal_of(bytes: Vec<u8>, path: &Path) -> Result<Wal<'static>> {
    Wal::parse(bytes).with_context(|| format!("cannot open {}", shown(path)))
}

#[derive(Serialize)]
struct Textures {
    textures: [serde_json::Map<String, serde_json::Value>; 1],
}

/// Lists the header of a file.
pub(super) fn list(path: &Path, game: &str, job: &mut Job<'_>) -> Result<Code> {
    let names = flag_names(game)?;
    let wal = open(path)?;
    let bytes = wal.header().encode();
    let mut row = serde_json::Map::new();
    let mut line = Vec::new();
    for name in ["name", "width", "height", "next_name", "flags", "contents", "value"] {
        let field = field(name)?;
        let value = &bytes[field.offset..field.offset + field.shape.size()];
        if name.ends_with("name") {
            let (text, raw) = text_and_raw(value.split(|byte| *byte == 0).next().unwrap_or(value));
            line.push(format!("{name}={text}"));
            raw.into_iter().for_each(|raw| drop(row.insert(format!("{name}_raw"), raw.into())));
            row.insert(name.to_owned(), text.into());
            continue;
        }
        let text = print(field.shape, field.meaning, value, names).to_string();
        line.push(format!("{name}={text}"));
        row.insert(name.to_owned(), text.parse::<i64>().map_or_else(|_| text.into(), Into::into));
    }
    if job.json {
        job.document(&Textures { textures: [row] })?;
    } else {
        job.line(format!("{}: {}", job.path, line.join(" ")));
    }
    Ok(Code::Done)
}

/// Writes the image of a file, and its mip levels.
pub(super) fn export(
    path: &Path,
    target: &Path,
    palette: Option<&Path>,
    levels: usize,
    force: bool,
    job: &mut Job<'_>,
) -> Result<Code> {
    let palette = asked_palette(palette)?;
    let wal = open(path)?;
    let is_file = super::shelf::has_extension(target, "png");
    let stem = if is_file { target } else { path }.file_stem().unwrap_or_default().as_encoded_bytes();
    let folder = if is_file { target.parent().unwrap_or(Path::new("")) } else { target };
    if !folder.as_os_str().is_empty() {
        put::folder(folder)?;
    }
    let stem = if is_file { std::str::from_utf8(stem)?.to_owned() } else { file_name::escape(stem) };
    for level in 0..levels {
        let (width, height) = (wal.header().width >> level, wal.header().height >> level);
        let pixels = wal.pixels(level).filter(|pixels| !pixels.is_empty());
        // A level of a small texture may be empty.
        let Some(pixels) = pixels else { continue };
        let bytes = textures::encode(width, height, pixels, &palette)?;
        let file = match (is_file, level) {
            (true, 0) => target.to_path_buf(),
            _ => folder.join(file_name::with_level(&stem, level)),
        };
        put(&file, &bytes, force)?;
        job.say(&format!("{}: {width} by {height}", shown(&file)));
    }
    Ok(Code::Done)
}

/// Changes a file, or makes a new one from an image.
pub(super) fn import(
    cx: &Context,
    path: &Path,
    images: &[PathBuf],
    fields: &Fields,
    how: How,
    save: &Save,
) -> Result<Code> {
    Maps::file(path).each(cx, |_, job| {
        let file = SideFile::read(path)?;
        let taken = if super::shelf::has_extension(path, "png") {
            create(path, images, fields, how, save, job)
        } else {
            let images = found(path, images, job)?;
            images.iter().try_for_each(|image| save.spare(image))?;
            let wal = match file.bytes() {
                Some(bytes) => wal_of(bytes.to_vec(), path)?,
                None => open(path)?,
            };
            change(wal, &images, fields, how, job)
        };
        match taken {
            Ok((old, wal)) => save.bytes(&file, &old, wal.bytes(), job),
            Err(Refused::Image(error)) => {
                finding(job, "", &error);
                Ok(job.nothing("1 image cannot be imported, so nothing is changed"))
            }
            Err(Refused::Other(error)) => Err(error),
        }
    })
}

/// The named images. For a folder, the images in it with the names that `tex export` gives them.
fn found(path: &Path, images: &[PathBuf], job: &mut Job<'_>) -> Result<Vec<PathBuf>> {
    let stem = file_name::escape(path.file_stem().unwrap_or_default().as_encoded_bytes());
    let mut found = Vec::new();
    for image in images {
        if !image.is_dir() {
            found.push(image.clone());
            continue;
        }
        let before = found.len();
        for file in super::import::files(image)? {
            match file_name::parse(&file) {
                Some((own, _)) if own.eq_ignore_ascii_case(&stem) => found.push(file),
                _ => job.warn(&format!("{}: left out: it does not have the name of the WAL file", shown(&file))),
            }
        }
        if found.len() == before {
            bail!("{} has no image for this WAL file: the name must be {stem}.png", shown(image));
        }
    }
    Ok(found)
}

fn warn_of_holes(picture: &textures::Picture, path: &Path, job: &mut Job<'_>) {
    if picture.loses_holes(false, true) {
        job.warn(&format!("{}: {}", shown(path), super::import::SOLID));
    }
}

/// The reason why nothing is saved.
enum Refused {
    /// An image cannot be imported, which is a finding.
    Image(anyhow::Error),
    Other(anyhow::Error),
}

impl From<anyhow::Error> for Refused {
    fn from(error: anyhow::Error) -> Self {
        Refused::Other(error)
    }
}

type Taken = Result<(Vec<u8>, Wal<'static>), Refused>;

fn create(path: &Path, images: &[PathBuf], fields: &Fields, how: How, save: &Save, job: &mut Job<'_>) -> Taken {
    if !images.is_empty() {
        return Err(anyhow!("a new WAL file is made from one image: leave out the others").into());
    }
    let palette = fields.palette()?;
    let target = save.file().filter(|file| super::shelf::has_extension(file, "wal"));
    let target = target.ok_or_else(|| anyhow!("a new WAL file needs a name: use -o NAME.wal"))?;
    let name = fields.name.as_deref().map_or_else(|| default_name(target), bspkit::bytes::unescape);
    let made = textures::read(path).and_then(|picture| {
        let image = textures::with_palette(&picture, &palette, how.quantizes)?;
        warn_of_holes(&picture, path, job);
        Wal::new(&name, &image, &palette)
    });
    let mut wal = made.map_err(|error| Refused::Image(anyhow!(error).context(shown(path))))?;
    let header = fields.apply(wal.header())?;
    wal.update(|own| *own = header);
    Ok((Vec::new(), wal))
}

/// The path below `textures/`, or the file name, without the extension.
fn default_name(target: &Path) -> Vec<u8> {
    let parts: Vec<_> = target.components().map(|part| part.as_os_str().as_encoded_bytes()).collect();
    let below = parts.iter().rposition(|part| part.eq_ignore_ascii_case(b"textures")).map(|at| at + 1);
    let name = parts[below.filter(|at| *at < parts.len()).unwrap_or(parts.len() - 1)..].join(&b'/');
    name[..name.len() - ".wal".len()].to_vec()
}

fn change(mut wal: Wal<'static>, images: &[PathBuf], fields: &Fields, how: How, job: &mut Job<'_>) -> Taken {
    let old = wal.bytes().to_vec();
    let header = fields.apply(wal.header())?;
    wal.update(|own| *own = header);
    if images.is_empty() && !fields.values().any(|(_, value)| value.is_some()) {
        return Err(anyhow!("nothing to change: name an image or a field").into());
    }
    let mut sorted: Vec<(usize, &PathBuf)> = Vec::new();
    for path in images {
        let level = file_name::parse(path).map_or(0, |(_, level)| level);
        sorted.push((level, path));
    }
    sorted.sort();
    if sorted.windows(2).any(|pair| pair[0].0 == pair[1].0) {
        return Err(anyhow!("several images are for the same mip level: name one image for each level").into());
    }
    for (level, path) in sorted {
        let palette = fields.palette()?;
        take_one(&mut wal, level, path, &palette, &how, job)
            .map_err(|error| Refused::Image(error.context(shown(path))))?;
    }
    Ok((old, wal))
}

fn take_one(
    wal: &mut Wal<'static>,
    level: usize,
    path: &Path,
    palette: &Palette,
    how: &How,
    job: &mut Job<'_>,
) -> Result<()> {
    let picture = textures::read(path)?;
    let (width, height) = (wal.header().width >> level, wal.header().height >> level);
    if (picture.width, picture.height) != (width, height) && (level > 0 || !how.resizes) {
        let hint = if level == 0 { "; --resize accepts it" } else { "" };
        bail!("it has {} by {} pixels, but the texture {width} by {height}{hint}", picture.width, picture.height);
    }
    let image = textures::with_palette(&picture, palette, how.quantizes)?;
    warn_of_holes(&picture, path, job);
    match level {
        0 => wal.set_image(&image, palette)?,
        _ => wal.set_level(level, &image.pixels)?,
    }
    Ok(())
}
