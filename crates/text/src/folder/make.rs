//! Makes a new map from a folder: the builder lays it out.

use std::collections::HashSet;

use super::manifest::{Manifest, Part};
use super::pack::{Kind, refuse_utf16};
use super::{Packed, Survey};
use crate::folder;
use bspkit::bytes::unescape;
use bspkit::content::pak::Pak;
use bspkit::dialect::Dialect;
use bspkit::file::directory::{DirectoryShape, EntryFields, EntryShape};
use bspkit::{Bsp, Builder, Data, Error, Followed, Result, SlotId, near};

/// The slot that a part of a manifest describes.
enum Target {
    Lump(usize),
    Extra(usize),
    Member([u8; 4]),
    Bspx(String),
}

/// A new map, and what is said of it so far.
pub(super) struct Making<'f> {
    pub(super) survey: &'f Survey,
    pub(super) manifest: &'f Manifest,
    pub(super) kind: &'f Kind,
    pub(super) shape: DirectoryShape,
}

impl Making<'_> {
    /// Builds the map.
    ///
    /// # Errors
    /// All problems: the manifest contradicts itself or the dialect, or files are wrong.
    pub(super) fn make(&self) -> Result<Packed, Vec<Error>> {
        let (mut problems, mut warnings) = (Vec::new(), Vec::new());
        let mut builder = self.header(&mut problems);
        let mut seen = HashSet::new();
        let (mut has_members, mut has_game_lump) = (false, false);
        let mut filled = HashSet::new();
        let rules = &self.kind.dialect.rules;
        for part in &self.manifest.lumps {
            if let Some(folder) = part.folder.as_deref().filter(|folder| !self.survey.has_folder(folder)) {
                warnings.push(format!("{}: there is no folder {folder}: no files are embedded", part.place()));
            }
            let (target, bytes) = match self.read(part, &mut seen) {
                Ok(read) => read,
                Err(error) => {
                    problems.push(error);
                    continue;
                }
            };
            has_members |= matches!(target, Target::Member(_));
            let lump = if let Target::Lump(index) = target { Some(index) } else { None };
            filled.extend(lump.filter(|_| !bytes.is_empty()));
            // An empty list of members contains no offsets.
            if lump.is_some() && lump == rules.game_lump && bytes.len() > 4 {
                has_game_lump = true;
                if !rules.relative_members {
                    warnings.push(format!("{}: offsets inside these bytes are not updated", part.place()));
                }
            }
            match self.add(builder.clone(), part, target, bytes) {
                Ok(added) => builder = added,
                Err(error) => problems.push(error),
            }
        }
        // Write a plausible offset, so that readers detect the longer directory.
        let entries = self.kind.dialect.shapes[0].count..self.shape.count;
        for index in entries.filter(|index| !filled.contains(index)) {
            let offset = i32::try_from(self.shape.header_size()).unwrap_or(0);
            builder = builder.entry(index, EntryFields { offset, length: 0, version: None, unpacked: None });
        }
        if has_game_lump && has_members {
            problems.push(self.manifest.wrong("lumps", "both the game lump and its members have files: leave one out"));
        }
        problems.extend(self.survey.unused());
        if !problems.is_empty() {
            return Err(problems);
        }
        let made = builder
            .build()
            .and_then(|bytes| Bsp::with_shape(Data::from(bytes), self.kind.dialect, self.kind.version, self.shape));
        let bsp = made.map_err(|error| vec![error])?;
        let (edited, findings, followed) = (Vec::new(), Vec::new(), Followed::default());
        Ok(Packed { draft: bsp.draft(), edited, warnings, followed, findings, is_new: true })
    }

    /// All that is not a lump.
    fn header(&self, problems: &mut Vec<Error>) -> Builder {
        let Manifest { revision, checksum, align_game_lumps, order, trailer, tail, unpadded, .. } = self.manifest;
        let dialect = self.kind.dialect;
        let mut refuse = |member: &str, why: String| problems.push(self.manifest.wrong(member, why));
        let none = |has: bool, what: &str| (!has).then(|| format!("maps of {} {what}", dialect.title));
        if !dialect.versions.contains(&self.kind.version) {
            let known: Vec<_> = dialect.versions.iter().map(i32::to_string).collect();
            let why = format!("{} has no maps of version {}", dialect.title, self.kind.version);
            refuse("version", format!("{why}, only {}", known.join(", ")));
        }
        let given = [
            ("revision", revision.and_then(|_| none(dialect.revision_at.is_some(), "have none"))),
            ("checksum", checksum.and_then(|_| none(dialect.stored_checksum_at().is_some(), "hold none"))),
            (
                "align_game_lumps",
                align_game_lumps.and_then(|_| none(dialect.rules.game_lump.is_some(), "have no game lump")),
            ),
            ("trailer", trailer.then(|| none(dialect.rules.trailer_lump.is_some(), "have none")).flatten()),
        ];
        for (member, why) in given {
            why.into_iter().for_each(|why| refuse(member, why));
        }
        let members_at = alignment(*align_game_lumps).unwrap_or_else(|why| {
            refuse("align_game_lumps", why);
            None
        });
        let indices: Vec<Option<usize>> =
            order.iter().map(|name| self.kind.lump(name).filter(|index| *index < self.shape.count)).collect();
        for (index, name) in order.iter().enumerate().filter(|(index, _)| indices[*index].is_none()) {
            refuse(&format!("order[{index}]"), format!("`{name}` is not a lump of the directory"));
        }
        let order: Vec<usize> = indices.into_iter().flatten().collect();
        if order.iter().collect::<HashSet<_>>().len() < order.len() {
            refuse("order", "a lump is given twice".to_owned());
        }
        let tail = tail.as_ref().map_or(Ok(Vec::new()), |tail| self.survey.read(tail)).unwrap_or_else(|why| {
            refuse("tail", why);
            Vec::new()
        });
        let mut builder = Builder::new(dialect).version(self.kind.version).shape(self.shape);
        builder = builder.revision(revision.unwrap_or(0)).checksum(checksum.unwrap_or(0)).order(&order).tail(tail);
        for alignment in dialect.rules.alignments.iter().filter(|alignment| !alignment.only_if_it_stood_so) {
            builder = builder.align(alignment.lump, alignment.bytes);
        }
        builder = builder.align_game_lumps(members_at.unwrap_or(1));
        builder = if *trailer { builder.trailer() } else { builder };
        if *unpadded { builder.unpadded() } else { builder }
    }

    fn read(&self, part: &Part, seen: &mut HashSet<SlotId>) -> Result<(Target, Vec<u8>)> {
        let target = self.target(part).map_err(|why| super::manifest::wrong(part.place(), why))?;
        let slot = match &target {
            Target::Lump(index) => Some(SlotId::Lump(*index)),
            Target::Extra(index) => Some(SlotId::Extra(*index)),
            // Real maps have several with the same name.
            Target::Member(_) | Target::Bspx(_) => None,
        };
        if slot.is_some_and(|slot| !seen.insert(slot)) {
            return Err(super::manifest::wrong(part.place(), "it is given twice"));
        }
        if part.images.is_some() {
            return Err(
                part.wrong("images", "they only show a lump of an original map, and there is no folder `original`")
            );
        }
        let bytes = match &part.folder {
            Some(folder) => self.pak(part, folder)?,
            None => self.kind.content(part, self.survey)?.bytes,
        };
        if part.is_text() {
            refuse_utf16(part, &bytes)?;
        }
        Ok((target, bytes))
    }

    /// The pakfile of a folder of embedded files, in the order of their paths.
    fn pak(&self, part: &Part, folder: &str) -> Result<Vec<u8>> {
        folder::check(part, self.kind, self.survey, &[])?;
        let mut pak = Pak::empty(self.kind.dialect, self.kind.version);
        let (names, mut taken) = (folder::Names::of(part), folder::InPak::default());
        for path in self.survey.below(folder) {
            let (name, path) = (names.name(path), format!("{folder}/{path}"));
            taken.take(&name, &path).map_err(|why| part.wrong("folder", why))?;
            let bytes = self.survey.read(&path).map_err(|why| part.wrong("folder", why))?;
            pak.add(name, bytes).map_err(|error| part.wrong("folder", error))?;
        }
        Ok(pak.to_rope()?.to_data().to_vec())
    }

    fn add(&self, builder: Builder, part: &Part, target: Target, bytes: Vec<u8>) -> Result<Builder> {
        let (is_lump, is_member) = (matches!(target, Target::Lump(_)), matches!(target, Target::Member(_)));
        let is_source = self.shape.entry != EntryShape::Plain;
        let no = |member: &str| Err(part.wrong(member, "this kind of lump has no such property"));
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
                if let Some(alignment) = alignment(part.align).map_err(|why| part.wrong("align", why))? {
                    builder = builder.align(index, alignment);
                }
                match &part.gap_before {
                    Some(gap) => {
                        builder.gap_before(index, self.survey.read(gap).map_err(|why| part.wrong("gap_before", why))?)
                    }
                    None => builder,
                }
            }
            Target::Extra(index) => builder.extra(index, bytes),
            Target::Bspx(name) => builder.bspx(&name, bytes),
            Target::Member([0, 0, 0, 0]) if bytes.is_empty() => builder.game_lump_end(),
            Target::Member(id) => {
                let version = u16::try_from(part.version.unwrap_or(0));
                let version = version.map_err(|_| part.wrong("version", "it has 16 bits"))?;
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
        let Dialect { rules, title, .. } = self.kind.dialect;
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
        let index = self.kind.lump(name).ok_or_else(|| {
            let names = self.kind.dialect.lumps.iter().map(|lump| lump.name).chain(self.kind.dialect.role_names());
            let names: Vec<_> = names.collect();
            format!("maps of {title} have no such lump; {}", near::or_all(name, &names, "they have"))
        })?;
        match index < self.shape.count {
            true => Ok(Target::Lump(index)),
            false => Err(format!("the directory has no entry {index}, only {}", self.shape.count)),
        }
    }

    /// The number of a lump in the extra header of Xash3D. It is read from a map that is built with such a header.
    fn extra(&self, name: &str) -> Option<usize> {
        let dialect = self.kind.dialect;
        if !dialect.rules.extra_header {
            return None;
        }
        let bytes = Builder::new(dialect).extra(0, []).build().ok()?;
        let map = Bsp::from_data(bytes.into(), Some(dialect)).ok()?;
        map.slots().iter().find_map(|slot| match slot.id {
            SlotId::Extra(index) if slot.name.eq_ignore_ascii_case(name) => Some(index),
            _ => None,
        })
    }
}

fn alignment(bytes: Option<usize>) -> Result<Option<usize>, String> {
    /// The largest alignment; a larger one would only make the file larger.
    const COARSEST: usize = 1 << 16;
    match bytes {
        Some(bytes) if !bytes.is_power_of_two() || bytes > COARSEST => {
            Err(format!("{bytes} is not a power of two up to {COARSEST}"))
        }
        bytes => Ok(bytes),
    }
}
