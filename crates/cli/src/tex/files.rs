//! Files of textures: WAD files that textures are copied to, and WAL files, which are not maps and have no palette.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use anyhow::{Context as _, Result, anyhow, bail};
use bspkit::content::palette::Palette;
use bspkit::content::textures::{Miptex, Textures};
use bspkit::content::wad::Wad;
use bspkit::content::wal::{Wal, WalHeader};
use bspkit::disk::input;
use bspkit::disk::put::{self, put};
use bspkit::file::SideFile;
use bspkit::record::{FieldInfo, FlagNames, Record, parse, print};
use bspkit::{SaveOptions, dialect};
use bspkit_text::images::textures::{self, file_name};
use serde::Serialize;

use super::copies::{Shelf, named, open_wad};
use super::finding;
use crate::context::Context;
use crate::maps::Maps;
use crate::output::spare;
use crate::save::Save;
use crate::talk::{Code, Job, count, shown, text_and_raw};

// WAD files that textures are copied to.

/// Writes the textures of maps, or of WAD files, to a WAD file.
pub(super) fn export_wad(
    cx: &Context,
    maps: Maps,
    path: &Path,
    patterns: &[OsString],
    overwrite: bool,
) -> Result<Code> {
    let all: Mutex<Option<Wad<'static>>> = Mutex::new(None);
    let code = maps.one_by_one().each(cx, |map, job| {
        spare(path, [&*map.path])?;
        let shelf = Shelf::open(cx, &map.path).with_context(|| format!("cannot export from {}", shown(&map.path)))?;
        let names = shelf.names();
        let chosen = names.chosen(patterns, job);
        if chosen.is_empty() && !patterns.is_empty() {
            return Ok(job.nothing(&names.nothing(patterns)));
        }
        let mut wad = all.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut taken, mut code) = (0, Code::Done);
        for index in chosen {
            let Some(texture) = shelf.get(index).transpose() else { continue };
            let added = texture.and_then(|texture| match texture.is_embedded() {
                true => wad.get_or_insert_with(|| Wad::new(texture.has_palette())).add(&texture).map(|_| 1),
                false => Ok(0),
            });
            match added {
                Ok(number) => taken += number,
                Err(error) => {
                    finding(job, &named(index, shelf.name(index)), &error.into());
                    code = Code::Found;
                }
            }
        }
        job.say(&format!("{}: {}", job.path, count(taken, "texture", "textures")));
        Ok(code)
    })?;
    let Some(wad) = all.into_inner().unwrap_or_else(PoisonError::into_inner) else {
        if code == Code::Done && !cx.talk.quiet {
            cx.talk.stderr(format!("{}: no texture with pixels\n", shown(path)).as_bytes());
        }
        return Ok(code.max(Code::Found));
    };
    put(path, &wad.to_bytes(), overwrite)?;
    if !cx.talk.quiet {
        let text = format!("{}: {}\n", shown(path), count(wad.entries().len(), "texture", "textures"));
        cx.talk.stderr(text.as_bytes());
    }
    Ok(code)
}

/// Gives the textures of a map the pixels that a WAD file has for their names, all or none. Returns their number.
/// `from` has the WAD files that textures are from already.
pub(super) fn import_wad(
    textures: &mut Textures<'static>,
    path: &Path,
    resizes: bool,
    from: &mut BTreeMap<usize, PathBuf>,
    job: &mut Job<'_>,
) -> Result<usize> {
    let wad = open_wad(path)?;
    let (mut taken, mut used) = (0, BTreeMap::new());
    for index in 0..textures.len() {
        let Some((name, at)) = textures.name(index).and_then(|name| Some((name.to_vec(), wad.find(name)?))) else {
            continue;
        };
        let what = || format!("{}: {}", shown(path), named(index, Some(&name)));
        let new = wad.miptex(at).with_context(what)?;
        let old = textures.get(index).with_context(what)?;
        let sizes = old.map(|old| (old.width(), old.height())).filter(|size| *size != (new.width(), new.height()));
        if let Some((width, height)) = sizes.filter(|_| !resizes) {
            let own = format!("{} by {} pixels, but the texture {width} by {height}", new.width(), new.height());
            bail!("{} has {own}; --any-size accepts it", what());
        }
        if sizes.is_some() && !textures.has_palettes() {
            super::copies::warn_of_sky(&name, (new.width(), new.height()), &what(), job);
        }
        let before = given(from, textures, index);
        textures.embed(index, &new).with_context(what)?;
        refuse_other(before, textures, index, path)?;
        from.insert(index, path.to_path_buf());
        taken += 1;
        let first = *used.entry(at).or_insert(index);
        if first != index {
            job.warn_here(&format!("{} has the name of #{first}, and gets the same pixels", named(index, Some(&name))));
        }
    }
    let others = wad.entries().len() - used.len();
    if taken > 0 && others > 0 {
        job.warn(&format!(
            "{}: {} left out: the map does not have the name",
            shown(path),
            count(others, "entry", "entries")
        ));
    }
    Ok(taken)
}

/// The WAD file that a texture is from, and its bytes.
pub(super) type Given = Option<(PathBuf, Vec<u8>)>;

/// What a WAD file gave a texture.
pub(super) fn given(from: &BTreeMap<usize, PathBuf>, textures: &Textures<'_>, index: usize) -> Given {
    Some((from.get(&index)?.clone(), textures.get(index).ok()??.bytes().to_vec()))
}

/// Refuses a texture to which another file gave other pixels after a WAD file.
pub(super) fn refuse_other(before: Given, textures: &Textures<'_>, index: usize, path: &Path) -> Result<()> {
    let Some((wad, before)) = before else { return Ok(()) };
    match textures.get(index)? {
        Some(texture) if texture.bytes() != before => {
            let name = named(index, textures.name(index));
            bail!("{} and {} have other pixels for {name}: leave one out", shown(&wad), shown(path))
        }
        _ => Ok(()),
    }
}

/// A WAD file that keeps the pixels which are removed from maps. It is read with the first texture.
pub(super) struct Keeper {
    path: PathBuf,
    wad: Mutex<Option<Wad<'static>>>,
}

impl Keeper {
    pub(super) fn new(path: &Path) -> Self {
        Keeper { path: path.to_path_buf(), wad: Mutex::new(None) }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Opens the file, or begins a new one, for textures with or without palettes.
    pub(super) fn open(&self, has_palettes: bool) -> Result<()> {
        let mut wad = self.wad.lock().unwrap_or_else(PoisonError::into_inner);
        let wad = match &mut *wad {
            Some(wad) => wad,
            none => none
                .insert(read_or_new(SideFile::read(&self.path)?.bytes(), has_palettes).with_context(|| self.cannot())?),
        };
        if wad.has_palettes() != has_palettes {
            let (own, other) = if has_palettes { ("GoldSrc", "Quake") } else { ("Quake", "GoldSrc") };
            bail!("{} is a WAD file of {other}, and the map is of {own}: name another file", shown(&self.path));
        }
        Ok(())
    }

    /// Adds a texture, unless the same one is there.
    pub(super) fn add(&self, texture: &Miptex<'_>) -> Result<()> {
        let mut wad = self.wad.lock().unwrap_or_else(PoisonError::into_inner);
        let wad = wad.as_mut().context("the WAD file was not opened")?;
        wad.add(texture).map(drop).with_context(|| format!("cannot copy it to {}", shown(&self.path)))
    }

    /// Adds the new textures to the file as it is now: other programs may have added some meanwhile.
    pub(super) fn save(&self, job: &mut Job<'_>) -> Result<()> {
        let mut wad = self.wad.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(own) = wad.take_if(|wad| wad.is_edited()) else { return Ok(()) };
        let mut latest = None;
        SideFile::update(&self.path, &SaveOptions::default(), |old| {
            let mut wad = read_or_new(old, own.has_palettes())?;
            own.added().try_for_each(|texture| wad.add(&texture?).map(drop))?;
            let wad = &*latest.insert(wad);
            Ok(wad.is_edited().then(|| wad.to_bytes()))
        })
        .with_context(|| format!("cannot copy textures to {}", shown(&self.path)))?;
        if let Some(latest) = latest {
            job.say(&format!("{}: {}", shown(&self.path), count(latest.entries().len(), "texture", "textures")));
            *wad = Some(Wad::parse(latest.to_bytes())?);
        }
        Ok(())
    }

    fn cannot(&self) -> String {
        format!("cannot open {}", shown(&self.path))
    }
}

/// The WAD file with these bytes, or a new one.
fn read_or_new(old: Option<&[u8]>, has_palettes: bool) -> bspkit::Result<Wad<'static>> {
    old.map_or_else(|| Ok(Wad::new(has_palettes)), |bytes| Wad::parse(bytes.to_vec()))
}

// The `tex` commands for WAL files, which are not maps and have no palette.

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
    #[arg(long, value_name = "GAME")]
    flag_names: Option<String>,
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
        self.flag_names.is_some() || self.values().any(|(_, value)| value.is_some())
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
        let names = flag_names(self.flag_names.as_deref().unwrap_or(GAME))?;
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

/// The names of the flags that a game gives.
pub(super) fn flag_names(game: &str) -> Result<FlagNames> {
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
struct TexturesJson {
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
        job.document(&TexturesJson { textures: [row] })?;
    } else {
        job.line(format!("{}: {}", job.path, line.join(" ")));
    }
    Ok(Code::Done)
}

/// Writes the image of a file, and its mip levels.
pub(super) fn export_wal(
    path: &Path,
    target: &Path,
    palette: Option<&Path>,
    levels: usize,
    overwrite: bool,
    job: &mut Job<'_>,
) -> Result<Code> {
    let palette = asked_palette(palette)?;
    let wal = open(path)?;
    let is_file = super::copies::has_extension(target, "png");
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
        put(&file, &bytes, overwrite)?;
        job.say(&format!("{}: {width} by {height}", shown(&file)));
    }
    Ok(Code::Done)
}

/// Changes a file, or makes a new one from an image.
pub(super) fn import_wal(
    cx: &Context,
    path: &Path,
    images: &[PathBuf],
    fields: &Fields,
    how: How,
    save: &Save,
) -> Result<Code> {
    Maps::file(path).each(cx, |_, job| {
        let file = SideFile::read(path)?;
        let taken = if super::copies::has_extension(path, "png") {
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
        for file in super::copies::files(image)? {
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
        job.warn(&format!("{}: {}", shown(path), super::copies::SOLID));
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
    let target = save.file().filter(|file| super::copies::has_extension(file, "wal"));
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
        let hint = if level == 0 { "; --any-size accepts it" } else { "" };
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
