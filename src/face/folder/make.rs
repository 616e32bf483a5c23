//! Builds the bytes of a map from a manifest.

use std::collections::HashSet;
use std::io::BufReader;
use std::path::Path;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;

use super::manifest::{Manifest, Part, resolve, wrong};
use crate::bytes::{ByteOrder, unescape};
use crate::dialect::{self, Dialect, Role};
use crate::face::records::{Format, Lump, RecordName};
use crate::face::{input, shown};
use crate::file::directory::{DirectoryShape, EntryFields, EntryShape};
use crate::near;
use crate::record::FlagNames;
use crate::{Bsp, Builder, Result, SlotId};

/// The slot that a part of a manifest describes.
enum Target {
    Lump(usize),
    Extra(usize),
    Member([u8; 4]),
    Bspx(String),
}

/// The properties of the whole manifest that its parts need.
struct Whole<'m> {
    dialect: &'static Dialect,
    version: i32,
    shape: DirectoryShape,
    names: FlagNames,
    folder: &'m Path,
}

/// A map that was built.
///
/// ```
/// use bspkit::face::folder::Manifest;
/// let built = Manifest::read("docs/box/manifest.json".as_ref())?.build()?;
/// assert!(built.warnings.is_empty());
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Built {
    /// The dialect that the manifest names.
    pub dialect: &'static Dialect,
    /// The whole file.
    pub bytes: Vec<u8>,
    /// Parts of the map that may be wrong: a sentence each.
    pub warnings: Vec<String>,
}

impl Manifest {
    /// Builds the map from its files.
    ///
    /// # Errors
    /// The manifest contradicts itself or the dialect, or a file cannot be read: the message says where and why.
    pub fn build(&self) -> Result<Built> {
        let dialect = dialect::by_name(&self.dialect)?;
        let whole = self.whole(dialect)?;
        let mut warnings = Vec::new();
        let mut builder = Builder::new(dialect).version(whole.version).shape(whole.shape);
        if let Some(revision) = self.revision {
            if dialect.revision_at.is_none() {
                return Err(wrong("revision", format!("maps of {} have none", dialect.title)));
            }
            builder = builder.revision(revision);
        }
        if let Some(checksum) = self.checksum {
            if dialect.stored_checksum_at().is_none() {
                return Err(wrong("checksum", format!("maps of {} hold none", dialect.title)));
            }
            builder = builder.checksum(checksum);
        }
        if self.align_game_lumps.is_some() && dialect.rules.game_lump.is_none() {
            return Err(wrong("align_game_lumps", format!("maps of {} have no game lump", dialect.title)));
        }
        builder = builder.align_game_lumps(alignment("align_game_lumps", self.align_game_lumps)?.unwrap_or(1));
        for alignment in dialect.rules.alignments.iter().filter(|alignment| !alignment.only_if_it_stood_so) {
            builder = builder.align(alignment.lump, alignment.bytes);
        }
        let mut seen = HashSet::new();
        let (mut has_members, mut has_game_lump) = (false, false);
        let mut filled = HashSet::new();
        for (index, part) in self.lumps.iter().enumerate() {
            let place = part.place(index);
            let target = whole.target(part).map_err(|why| wrong(&place, why))?;
            let slot = match &target {
                Target::Lump(index) => Some(SlotId::Lump(*index)),
                Target::Extra(index) => Some(SlotId::Extra(*index)),
                // Real maps have several with the same name.
                Target::Member(_) | Target::Bspx(_) => None,
            };
            if slot.is_some_and(|slot| !seen.insert(slot)) {
                return Err(wrong(&place, "it is given twice"));
            }
            has_members |= matches!(target, Target::Member(_));
            let lump = if let Target::Lump(index) = target { Some(index) } else { None };
            let bytes = whole.bytes(part, &place, &target)?;
            filled.extend(lump.filter(|_| !bytes.is_empty()));
            // An empty list of members contains no offsets.
            if lump.is_some() && lump == dialect.rules.game_lump && bytes.len() > 4 {
                has_game_lump = true;
                if !dialect.rules.relative_members {
                    warnings.push(format!("{place}: offsets inside these bytes are not updated"));
                }
            }
            builder = whole.add(builder, part, target, bytes, &place)?;
        }
        // Write a plausible offset, so that readers detect the longer directory.
        for index in (dialect.shapes[0].count..whole.shape.count).filter(|index| !filled.contains(index)) {
            let offset = i32::try_from(whole.shape.header_size()).unwrap_or(0);
            builder = builder.entry(index, EntryFields { offset, length: 0, version: None, unpacked: None });
        }
        if has_game_lump && has_members {
            return Err(wrong("lumps", "both the game lump and its members have files: leave one out"));
        }
        let lump = |(index, name): (usize, &String)| {
            let no_lump = || wrong(&format!("order[{index}]"), format!("`{name}` is not a lump of the directory"));
            whole.lump(name).ok_or_else(no_lump)
        };
        let order = self.order.iter().enumerate().map(lump).collect::<Result<Vec<usize>>>()?;
        if order.iter().collect::<HashSet<_>>().len() < order.len() {
            return Err(wrong("order", "a lump is given twice"));
        }
        builder = builder.order(&order);
        if self.trailer {
            if dialect.rules.trailer_lump.is_none() {
                return Err(wrong("trailer", format!("maps of {} have none", dialect.title)));
            }
            builder = builder.trailer();
        }
        if let Some(tail) = &self.tail {
            builder = builder.tail(whole.read("tail", tail)?);
        }
        builder = if self.unpadded { builder.unpadded() } else { builder };
        Ok(Built { dialect, bytes: builder.build()?, warnings })
    }

    fn whole(&self, dialect: &'static Dialect) -> Result<Whole<'_>> {
        let version = self.version.unwrap_or(dialect.versions[0]);
        if !dialect.versions.contains(&version) {
            let known: Vec<_> = dialect.versions.iter().map(i32::to_string).collect();
            let why = format!("{} has no maps of version {version}, only {}", dialect.title, known.join(", "));
            return Err(wrong("version", why));
        }
        let entries = self.entries.unwrap_or(dialect.shapes[0].count);
        let shape = dialect.shapes.iter().find(|shape| shape.count == entries);
        let shape = *shape.ok_or_else(|| {
            let known: Vec<_> = dialect.shapes.iter().map(|shape| shape.count.to_string()).collect();
            wrong("entries", format!("a directory of {} has {}", dialect.title, known.join(" or ")))
        })?;
        let game = match &self.game {
            Some(name) => dialect.game_by_name(name)?,
            None => dialect.game(version),
        };
        Ok(Whole { dialect, version, shape, names: game.flags, folder: &self.folder })
    }
}

impl Whole<'_> {
    fn add(&self, builder: Builder, part: &Part, target: Target, bytes: Vec<u8>, place: &str) -> Result<Builder> {
        let (is_lump, is_member) = (matches!(target, Target::Lump(_)), matches!(target, Target::Member(_)));
        let is_source = self.shape.entry != EntryShape::Plain;
        let no = |field: &str| Err(wrong(&format!("{place}.{field}"), "this kind of lump has no such property"));
        match () {
            () if part.version.is_some() && !(is_lump && is_source || is_member) => return no("version"),
            () if part.compressed && !(is_lump && is_source || is_member) => return no("compressed"),
            () if part.flags != 0 && !is_member => return no("flags"),
            () if part.align.is_some() && !is_lump => return no("align"),
            () if part.gap_before.is_some() && !is_lump => return no("gap_before"),
            () => {}
        }
        Ok(match target {
            Target::Lump(index) => {
                let mut builder = match part.compressed {
                    true => builder.compressed_lump(index, &bytes)?,
                    false => builder.lump(index, bytes),
                };
                builder = builder.lump_version(index, part.version.unwrap_or(0));
                if let Some(alignment) = alignment(&format!("{place}.align"), part.align)? {
                    builder = builder.align(index, alignment);
                }
                match &part.gap_before {
                    Some(gap) => builder.gap_before(index, self.read(&format!("{place}.gap_before"), gap)?),
                    None => builder,
                }
            }
            Target::Extra(index) => builder.extra(index, bytes),
            Target::Bspx(name) => builder.bspx(&name, bytes),
            Target::Member([0, 0, 0, 0]) if bytes.is_empty() => builder.game_lump_end(),
            Target::Member(id) => {
                let version = u16::try_from(part.version.unwrap_or(0));
                let version = version.map_err(|_| wrong(&format!("{place}.version"), "it has 16 bits"))?;
                let builder = match part.compressed {
                    true => builder.compressed_game_lump(id, version, &bytes)?,
                    false => builder.game_lump(id, version, bytes),
                };
                builder.game_lump_flags(part.flags)
            }
        })
    }

    /// The slot that a name in a manifest means.
    fn target(&self, part: &Part) -> Result<Target, String> {
        let Dialect { rules, title, .. } = self.dialect;
        let name = &part.lump;
        if let Some(id) = name.strip_prefix("game:") {
            if rules.game_lump.is_none() {
                return Err(format!("maps of {title} have no game lump"));
            }
            let id = <[u8; 4]>::try_from(unescape(id));
            return id.map(Target::Member).map_err(|_| "the name of a member has four bytes".to_owned());
        }
        if let Some(name) = name.strip_prefix("bspx:") {
            return match unescape(name) {
                bytes if bytes.contains(&0) || bytes.is_empty() || bytes.len() > 23 => {
                    Err("the name of a BSPX entry has one to 23 bytes, none of them NUL".to_owned())
                }
                bytes => String::from_utf8(bytes).map(Target::Bspx).map_err(|_| "the name is not text".to_owned()),
            };
        }
        if name.starts_with("extra:") {
            return self.extra(name).map(Target::Extra).ok_or_else(|| format!("maps of {title} have no such lump"));
        }
        let index = self.lump(name).ok_or_else(|| {
            let names = self.dialect.lumps.iter().map(|lump| lump.name).chain(self.dialect.role_names());
            let names: Vec<_> = names.collect();
            format!("maps of {title} have no such lump; {}", near::or_all(name, &names, "they have"))
        })?;
        match index < self.shape.count {
            true => Ok(Target::Lump(index)),
            false => Err(format!("the directory has no entry {index}, only {}", self.shape.count)),
        }
    }

    fn lump(&self, name: &str) -> Option<usize> {
        let lumps = self.dialect.lumps;
        let by_number = || name.parse().ok().filter(|index| *index < lumps.len());
        let by_name = || lumps.iter().position(|lump| lump.name.eq_ignore_ascii_case(name));
        let role = || Role::ALL.iter().find(|role| role.name().eq_ignore_ascii_case(name));
        by_number().or_else(by_name).or_else(|| self.dialect.role(*role()?))
    }

    /// The number of a lump in the extra header of Xash3D. It is read from a map that is built with such a header.
    fn extra(&self, name: &str) -> Option<usize> {
        if !self.dialect.rules.extra_header {
            return None;
        }
        let bytes = Builder::new(self.dialect).extra(0, []).build().ok()?;
        let map = Bsp::from_data(bytes.into(), Some(self.dialect)).ok()?;
        map.slots().iter().find_map(|slot| match slot.id {
            SlotId::Extra(index) if slot.name.eq_ignore_ascii_case(name) => Some(index),
            _ => None,
        })
    }

    /// The bytes of a part, from its file.
    fn bytes(&self, part: &Part, place: &str, target: &Target) -> Result<Vec<u8>> {
        let name = match target {
            Target::Lump(index) => self.dialect.lump_name(*index),
            _ => part.lump.clone(),
        };
        let mut bytes = Vec::new();
        if let Some(file) = &part.file {
            let by_name = Path::new(file).extension().and_then(|extension| Format::of_extension(extension.to_str()?));
            bytes = match part.format.or(by_name).unwrap_or(Format::Raw) {
                Format::Raw => self.read(&format!("{place}.file"), file)?,
                format => self.records(part, &name, file, format).map_err(|error| error.within(place))?,
            };
        }
        if let Some(rest) = &part.rest {
            let rest = BASE64_STANDARD.decode(rest);
            bytes.extend(rest.map_err(|error| wrong(&format!("{place}.rest"), format!("it is not base64: {error}")))?);
        }
        if part.nul {
            bytes.push(0);
        }
        Ok(bytes)
    }

    fn records(&self, part: &Part, name: &str, file: &str, format: Format) -> Result<Vec<u8>> {
        let wanted = RecordName { name: part.record.as_deref(), size: part.record_size };
        let (lump, row) = Lump::blank(self.dialect, self.version, name, part.version, &wanted)?;
        let path = resolve(self.folder, file).map_err(|why| wrong("file", why))?;
        let parsed = lump.parse(format, self.names, true, BufReader::new(input::open(&path)?));
        let mut bytes = parsed.map_err(|error| error.within(format!("cannot read {}", shown(&path))))?;
        if self.dialect.byte_order() == ByteOrder::Big {
            row.byte_swap(&mut bytes, ByteOrder::Little);
        }
        Ok(bytes)
    }

    fn read(&self, place: &str, file: &str) -> Result<Vec<u8>> {
        let path = resolve(self.folder, file).map_err(|why| wrong(place, why))?;
        input::read(&path).map_err(|error| error.within(place))
    }
}

fn alignment(place: &str, bytes: Option<usize>) -> Result<Option<usize>> {
    /// The largest alignment; a larger one would only make the file larger.
    const COARSEST: usize = 1 << 16;
    match bytes {
        Some(bytes) if !bytes.is_power_of_two() || bytes > COARSEST => {
            Err(wrong(place, format!("{bytes} is not a power of two up to {COARSEST}")))
        }
        bytes => Ok(bytes),
    }
}
