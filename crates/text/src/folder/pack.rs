//! Makes the map again from which a folder was unpacked: the original bytes first, then the files that were edited, as
//! an edit of that map.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::{BufRead, BufReader};

use base64::Engine;
use base64::prelude::BASE64_STANDARD;

use super::manifest::{Embedded, Manifest, Original, Part, Picture, Stored, crc, damaged, wrong};
#[cfg(feature = "images")]
use super::pictures::take;
use super::{Packed, Survey, sentence};
use crate::ci::Baseline;
use crate::folder;
use crate::records::{Format, List, Lump, NewLump, Numbers, RecordName, take as take_records};
use bspkit::bytes::{ByteOrder, escaped};
use bspkit::content::pak::{is_of_system, lookup_name};
use bspkit::dialect::{Dialect, Role, Row};
use bspkit::disk::input;
use bspkit::file::directory::DirectoryShape;
use bspkit::record::FlagNames;
use bspkit::{Bsp, Compression, Data, Draft, Error, Followed, Result, SlotId};

/// A map on its way back from a folder.
pub(super) struct Packing<'f> {
    pub(super) survey: &'f Survey,
    pub(super) manifest: &'f Manifest,
    pub(super) original: &'f Original,
    pub(super) kind: &'f Kind,
    pub(super) shape: DirectoryShape,
    /// The map; files that were edited are not in it.
    map: Vec<u8>,
    /// The new content of slots.
    edits: Vec<(Key, Content)>,
    embedded: EmbeddedEdits,
    /// The images that were edited, by their folders.
    images: BTreeMap<String, Vec<String>>,
    problems: Vec<Error>,
}

#[derive(Default)]
struct EmbeddedEdits {
    replaced: Vec<(usize, String, Vec<u8>)>,
    removed: Vec<(usize, String)>,
    added: Vec<(Vec<u8>, String, Vec<u8>)>,
    /// The name that the manifest gives each file of the map, and those whose name is another one in the map.
    named: Vec<(usize, String, Vec<u8>)>,
    renamed: Vec<(usize, String, Vec<u8>)>,
    /// New files that file managers create.
    left_out: Vec<String>,
}

impl EmbeddedEdits {
    fn names(&self) -> impl Iterator<Item = String> {
        let removed = self.removed.iter().map(|(_, file)| format!("{file} (removed)"));
        let renamed = self.renamed.iter().map(|(_, file, name)| format!("{file} (renamed to {})", escaped(name)));
        let added = self.added.iter().map(|(name, file, _)| match file.as_bytes().ends_with(name) {
            true => format!("{file} (added)"),
            false => format!("{file} (added as {})", escaped(name)),
        });
        let left_out = self.left_out.iter().map(|file| format!("{file} (left out: file managers create it)"));
        let replaced = self.replaced.iter().map(|(_, file, _)| file.clone());
        replaced.chain(renamed).chain(added).chain(removed).chain(left_out)
    }
}

impl<'f> Packing<'f> {
    pub(super) fn new(
        survey: &'f Survey,
        manifest: &'f Manifest,
        original: &'f Original,
        kind: &'f Kind,
        shape: DirectoryShape,
    ) -> Self {
        let (edits, embedded, problems) = (Vec::new(), EmbeddedEdits::default(), Vec::new());
        let images = BTreeMap::new();
        Packing { survey, manifest, original, kind, shape, map: Vec::new(), edits, embedded, images, problems }
    }

    pub(super) fn pack(mut self, numbers: Numbers) -> Result<Packed, Vec<Error>> {
        match self.original.frame(self.survey) {
            Ok(map) => self.map = map,
            Err(problems) => self.problems.extend(problems),
        }
        self.refuse_layout();
        let parts = self.parts();
        self.slots(&parts);
        let known = folder::known(self.survey).unwrap_or_else(|problem| {
            self.problems.push(problem);
            Baseline::default()
        });
        self.problems.extend(self.survey.unused());
        if !self.problems.is_empty() {
            return Err(self.problems);
        }
        let is_edited = !self.edits.is_empty() || !self.images.is_empty() || self.embedded.names().next().is_some();
        if !is_edited && crc(&self.map) != self.original.crc {
            return Err(vec![damaged("its files are not those of the map that was unpacked")]);
        }
        self.finish(&parts, &known, numbers)
    }

    /// Members of the manifest that only lay out a new map.
    fn refuse_layout(&mut self) {
        let Manifest { order, align_game_lumps, trailer, tail, unpadded, .. } = self.manifest;
        let given = [
            ("order", !order.is_empty()),
            ("align_game_lumps", align_game_lumps.is_some()),
            ("trailer", *trailer),
            ("tail", tail.is_some()),
            ("unpadded", *unpadded),
        ];
        const WHY: &str = "the folder `original` says how the map is laid out: remove one of them";
        self.problems
            .extend(given.iter().filter(|(_, is_given)| *is_given).map(|(name, _)| self.manifest.wrong(name, WHY)));
        for part in &self.manifest.lumps {
            let given = [("align", part.align.is_some()), ("gap_before", part.gap_before.is_some())];
            self.problems.extend(given.iter().filter(|(_, is_given)| *is_given).map(|(name, _)| part.wrong(name, WHY)));
        }
    }

    fn parts(&mut self) -> HashMap<Key, &'f Part> {
        let mut keys = Keys::default();
        self.manifest.lumps.iter().map(|part| (keys.next(&self.kind.name(part)), part)).collect()
    }

    /// Reads all files, and puts those that were not edited into the map.
    fn slots(&mut self, parts: &HashMap<Key, &'f Part>) {
        let (original, mut keys) = (self.original, Keys::default());
        let stored: HashMap<Key, &Stored> = original.keyed().into_iter().collect();
        let mut all: Vec<(Key, &Part)> =
            self.manifest.lumps.iter().map(|part| (keys.next(&self.kind.name(part)), part)).collect();
        // Lumps of damaged maps may have bytes of embedded files, which come first.
        all.sort_by_key(|(_, part)| part.folder.is_none());
        for (key, part) in all {
            if part.folder.is_some() {
                self.embedded_files(part, stored.contains_key(&key));
                continue;
            }
            if let Some(folder) = part.images.as_deref() {
                let is_kept = stored.get(&key).is_some_and(|stored| stored.kept.is_some());
                self.pictures(part, folder, is_kept);
                continue;
            }
            let content = match self.kind.content(part, self.survey) {
                Ok(content) => content,
                Err(error) => {
                    self.problems.push(error);
                    continue;
                }
            };
            match stored.get(&key) {
                Some(stored) => self.slot(key, stored, part, content),
                None if content.bytes.is_empty() => {}
                None => self.edits.push((key, Content { records: None, ..content })),
            }
        }
        let is_gone = |(key, _): &(Key, &Stored)| !parts.contains_key(key);
        self.edits.extend(
            original
                .keyed()
                .into_iter()
                .filter(is_gone)
                .map(|(key, _)| (key, Content { bytes: Vec::new(), records: None })),
        );
    }

    fn slot(&mut self, key: Key, stored: &Stored, part: &Part, mut content: Content) {
        if part.is_text() {
            content.bytes = stored.lines.restore(without_mark(content.bytes, &stored.crc));
        }
        let (range, bytes) = (stored.range(), &content.bytes);
        let is_whole = stored.kept.is_some() || range.len() == bytes.len();
        // The old bytes say which record a line is.
        let kept = stored.kept.as_ref().filter(|_| !part.compressed && self.problems.is_empty());
        if let Some(kept) = kept.filter(|_| self.map.get(range.clone()).is_some_and(|old| crc(old) != stored.crc)) {
            self.problems.push(damaged(&format!("{kept} is not what was unpacked")));
        }
        match is_whole && crc(bytes) == stored.crc {
            false => {
                let text = if part.is_text() { refuse_utf16(part, bytes) } else { Ok(()) };
                self.problems.extend(text.err());
                // Without the old records it is not known which one a line is.
                content.records = content.records.filter(|_| stored.kept.is_some());
                self.edits.push((key, content));
            }
            true if !part.compressed => self.put(range, &content.bytes),
            true => {}
        }
    }

    /// Compares images with those that were unpacked.
    fn pictures(&mut self, part: &Part, folder: &str, is_kept: bool) {
        let start = format!("{folder}/");
        let images = self.original.images.iter().filter(|image| image.file.starts_with(&start));
        let images: Vec<&Picture> = images.collect();
        if !is_kept || images.is_empty() || part.file.is_some() || part.rest.is_some() || part.nuls.is_some() {
            let why = "images only show a lump of the original map, and the lump has no `file`, `rest` or `nuls`";
            self.problems.push(part.wrong("images", why));
        }
        if self.images.contains_key(folder) {
            return;
        }
        let mut edited = Vec::new();
        for image in images {
            match self.survey.read(&image.file) {
                Ok(bytes) if Picture::new(&image.file, &bytes).crc == image.crc => {}
                Ok(_) => edited.push(image.file[start.len()..].to_owned()),
                Err(why) => self.problems.push(part.wrong("images", why)),
            }
        }
        if !edited.is_empty() {
            self.images.insert(folder.to_owned(), edited);
        }
    }

    fn put(&mut self, range: std::ops::Range<usize>, bytes: &[u8]) {
        if let Some(to) = self.map.get_mut(range).filter(|to| to.len() == bytes.len()) {
            to.copy_from_slice(bytes);
        }
    }

    fn embedded_files(&mut self, part: &Part, is_there: bool) {
        let Some(folder) = part.folder.as_deref() else { return };
        let old = if is_there { &self.original.embedded[..] } else { &[] };
        if let Err(error) = folder::check(part, self.kind, self.survey, old) {
            self.survey.take_all(folder);
            self.problems.push(error);
            return;
        }
        let mut left: BTreeMap<String, &str> =
            self.survey.below(folder).map(|path| (path.to_lowercase(), path)).collect();
        if !old.is_empty() && !self.survey.has_folder(folder) {
            let why = format!(
                "there is no folder {folder}, which has the {} embedded files: an empty folder would remove them",
                old.len()
            );
            self.problems.push(part.wrong("folder", why));
            return;
        }
        let (names, mut taken) = (folder::Names::of(part), folder::InPak::default());
        for file in old {
            match left.remove(&file.file.to_lowercase()) {
                Some(_) => {
                    let (path, name) = (format!("{folder}/{}", file.file), names.name(&file.file));
                    taken.keep(&name, &path);
                    self.embedded.named.push((file.entry, path, name));
                    self.embedded_file(folder, file);
                }
                None => self.embedded.removed.push((file.entry, format!("{folder}/{}", file.file))),
            }
        }
        for path in left.into_values() {
            let file = format!("{folder}/{path}");
            // As for `pak add`: in the form in which engines look names up, unless the manifest says another name.
            let name = names.listed(path).unwrap_or_else(|| lookup_name(path.as_bytes()));
            if is_of_system(path.as_bytes()) && self.survey.file(&file).is_ok() {
                self.embedded.left_out.push(file);
                continue;
            }
            if let Err(why) = taken.take(&name, &file) {
                self.problems.push(part.wrong("folder", why));
                continue;
            }
            match self.survey.read(&file) {
                Ok(bytes) => self.embedded.added.push((name, file, bytes)),
                Err(why) => self.problems.push(part.wrong("folder", why)),
            }
        }
    }

    fn embedded_file(&mut self, folder: &str, file: &Embedded) {
        let path = format!("{folder}/{}", file.file);
        match self.survey.read(&path) {
            Err(why) => self.problems.push(wrong(path, why)),
            Ok(bytes) if crc(&bytes) == file.crc && file.range().is_none_or(|range| range.len() == bytes.len()) => {
                file.range().into_iter().for_each(|range| self.put(range, &bytes));
            }
            Ok(bytes) => {
                // So that the new bytes always differ from those in their place.
                if let (Some(to), Some(first)) = (file.range().and_then(|range| self.map.get_mut(range)), bytes.first())
                {
                    to.fill(!first);
                }
                self.embedded.replaced.push((file.entry, path, bytes));
            }
        }
    }

    /// The original map with the edits.
    fn finish(
        mut self,
        parts: &HashMap<Key, &'f Part>,
        known: &Baseline,
        numbers: Numbers,
    ) -> Result<Packed, Vec<Error>> {
        let mut edited: Vec<String> = self.header()?;
        let map = Data::from(std::mem::take(&mut self.map));
        let bsp =
            Bsp::with_shape(map, self.kind.dialect, self.kind.version, self.shape).map_err(|error| vec![error])?;
        let ids = ids(&bsp);
        let is_in_place = |(key, stored): &(Key, &Stored)| {
            ids.get(key).and_then(|id| bsp.container().slot(*id)).is_some_and(|slot| slot.stored == stored.range())
        };
        if !self.original.keyed().iter().all(is_in_place) {
            return Err(vec![damaged("its index is not that of the map that was unpacked")]);
        }
        let mut draft = bsp.draft();
        let kept = self.original.keyed().into_iter().filter(|(_, stored)| stored.kept.is_some());
        let has_kept: HashSet<Key> = kept.map(|(key, _)| key).collect();
        let (mut problems, mut lumps) = (Vec::new(), Vec::new());
        for (key, content) in std::mem::take(&mut self.edits) {
            let place = parts.get(&key).map_or_else(|| key.0.clone(), |part| part.place());
            let done = match (content.records, ids.get(&key)) {
                (Some(records), Some(id)) => {
                    let file = parts.get(&key).and_then(|part| part.file.as_deref()).unwrap_or_default();
                    self.new_lump(&bsp, *id, records, content.bytes, file).map(|lump| lumps.push(lump))
                }
                (None, Some(id)) if parts.get(&key).is_some_and(|part| has_kept.contains(&key) && !part.compressed) => {
                    let file = parts.get(&key).and_then(|part| part.file.as_deref()).unwrap_or_default();
                    let lump = bsp.container().slot(*id).map(|slot| Lump::read(&bsp, slot)).transpose();
                    lump.and_then(|lump| match lump.filter(|lump| !lump.records().is_empty()) {
                        Some(lump) => {
                            lumps.push(lump.raw_lump(&bsp, numbers, content.bytes, &format!("{file}: "))?);
                            Ok(())
                        }
                        None => set(&mut draft, &ids, &key, true, content.bytes),
                    })
                }
                _ => set(&mut draft, &ids, &key, parts.contains_key(&key), content.bytes),
            };
            match done {
                Ok(()) => edited.push(name_of(parts, &key)),
                Err(error) => problems.push(with_hint_of(&error, wrong(place, sentence(&error)))),
            }
        }
        for (key, part) in parts {
            match ids.get(key).map(|id| properties(&mut draft, *id, part)) {
                None if part.file.is_none() && part.folder.is_none() && part.images.is_none() => {
                    problems.push(wrong(part.place(), NO_SLOT))
                }
                None => {}
                Some(Ok(is_edit)) => edited.extend(is_edit.then(|| format!("{} (properties)", part.lump))),
                Some(Err(error)) => problems.push(error),
            }
        }
        let mut warnings = Vec::new();
        for (folder, files) in &self.images {
            let count = |draft: &Draft<'_>| draft.changes().map_or(0, |changes| changes.len());
            let before = count(&draft);
            let taken = take(&mut draft, folder, &self.survey.folder(folder), files);
            let is_same = taken.is_ok() && count(&draft) == before;
            problems.extend(taken.err().into_iter().flatten().map(|why| wrong(folder, why)));
            match is_same {
                true => {
                    warnings.push(format!("{folder}/{}: no pixel that the map has is another one", files.join(", ")))
                }
                false => edited.extend(files.iter().map(|file| format!("{folder}/{file}"))),
            }
        }
        if let Err(error) = self.embedded.find_renamed(&mut draft) {
            problems.push(wrong(folder::FOLDER, sentence(&error)));
        }
        edited.extend(self.embedded.names());
        if !self.embedded.removed.is_empty() && self.embedded.removed.len() == self.original.embedded.len() {
            warnings.push(format!("all embedded files are removed: {}", self.embedded.removed.len()));
        }
        if let Err(error) = self.embedded.make(&mut draft) {
            problems.push(wrong(folder::FOLDER, sentence(&error)));
        }
        // Last, so that what refers to records follows in all other content.
        let mut followed = Followed::default();
        if problems.is_empty() {
            match take_records(&mut draft, lumps, numbers) {
                Ok(done) => followed = done,
                Err(refused) => problems.extend(refused),
            }
        }
        if problems.is_empty() {
            edited.sort();
            let findings = folder::new_ones(&draft, known).map_err(|error| vec![error])?;
            warnings.extend(followed.warnings.iter().cloned());
            Ok(Packed { draft, edited, warnings, followed, findings, is_new: false })
        } else {
            problems.sort_by_key(ToString::to_string);
            Err(problems)
        }
    }

    /// The records of a text beside those of the original map.
    fn new_lump(
        &self,
        bsp: &Bsp<'static>,
        id: SlotId,
        Records { lists, row, rest }: Records,
        bytes: Vec<u8>,
        file: &str,
    ) -> Result<NewLump> {
        let mut old = bsp.bytes(id)?.to_vec();
        if self.kind.dialect.byte_order() == ByteOrder::Big {
            row.byte_swap(&mut old, ByteOrder::Big);
        }
        let name = bsp.container().slot(id).map_or("", |slot| &slot.name);
        let lump = Lump::with(row, id, name, old)?;
        // Other bytes after the records are an edit that nothing follows.
        let lists = if *lump.rest_bytes() == rest[..] { lists } else { Vec::new() };
        Ok(NewLump { slot: id, bytes, lists: lump.new_lists(lists, &format!("{file}: ")) })
    }

    /// Sets the words of the header that the manifest gives; the names of those that differ.
    fn header(&mut self) -> Result<Vec<String>, Vec<Error>> {
        let Manifest { revision, checksum: sum, .. } = self.manifest;
        let dialect = self.kind.dialect;
        let order = self.shape.order();
        if dialect.version_in(&self.map) != Some(self.kind.version) {
            let why = "the original map has another version: remove the folder `original` to build a new map";
            return Err(vec![self.manifest.wrong("version", why)]);
        }
        let words = [
            ("revision", dialect.revision_at, order.word_bytes(revision.unwrap_or(0)), revision.is_some()),
            ("checksum", dialect.stored_checksum_at(), sum.unwrap_or(0).to_le_bytes(), sum.is_some()),
        ];
        let mut edited = Vec::new();
        for (name, place, word, is_given) in words {
            match place.and_then(|at| self.map.get_mut(at..at + 4)) {
                None if is_given => return Err(vec![self.manifest.wrong(name, "maps of this dialect have none")]),
                Some(to) if *to != word => {
                    to.copy_from_slice(&word);
                    edited.push(name.to_owned());
                }
                _ => {}
            }
        }
        Ok(edited)
    }
}

#[cfg(not(feature = "images"))]
fn take(_: &mut Draft<'static>, _: &str, _: &std::path::Path, _: &[String]) -> Result<(), Vec<String>> {
    Err(vec!["this program cannot read images".to_owned()])
}

/// An error with the hint of another one.
fn with_hint_of(other: &Error, error: Error) -> Error {
    match other.hint() {
        Some(hint) => error.with_hint(hint.clone()),
        None => error,
    }
}

/// A text without the byte order mark that some editors add.
fn without_mark(text: Vec<u8>, old: &str) -> Vec<u8> {
    match input::has_mark(&text) && crc(&text) != old {
        true => input::without_mark(&text).to_vec(),
        false => text,
    }
}

const NO_SLOT: &str = "the original map has no such slot: remove the folder `original` to build a new map";

/// The slots of a map by their keys.
fn ids(bsp: &Bsp<'_>) -> HashMap<Key, SlotId> {
    let mut keys = Keys::default();
    bsp.slots().iter().map(|slot| (keys.next(&slot.name), slot.id)).collect()
}

fn name_of(parts: &HashMap<Key, &Part>, key: &Key) -> String {
    let file = parts.get(key).and_then(|part| part.file.clone());
    file.unwrap_or_else(|| format!("{} (removed)", key.0))
}

fn set(
    draft: &mut Draft<'static>,
    ids: &HashMap<Key, SlotId>,
    key: &Key,
    is_named: bool,
    bytes: Vec<u8>,
) -> Result<()> {
    let Some(id) = ids.get(key) else { return Err(Error::new(bspkit::ErrorKind::NotFound, NO_SLOT)) };
    if !is_named && matches!(id, SlotId::Game(_) | SlotId::Bspx(_)) {
        let why = "the manifest does not name it: an entry of this kind cannot be removed, only left without a file";
        return Err(Error::new(bspkit::ErrorKind::Refused, why));
    }
    draft.set(*id, bytes)
}

/// Sets version and compression of a slot, and returns whether they differ.
fn properties(draft: &mut Draft<'static>, id: SlotId, part: &Part) -> Result<bool> {
    let bsp = draft.bsp().clone();
    let Some(slot) = bsp.container().slot(id) else { return Ok(false) };
    if part.flags != bsp.member_flags(id).map_or(0, |flags| flags & !1) {
        return Err(part.wrong("flags", "they cannot be changed in an original map"));
    }
    let version = slot.version.unwrap_or(0);
    let new = part.version.unwrap_or(0);
    if version != new {
        draft.set_version(id, new).map_err(|error| part.wrong("version", sentence(&error)))?;
    }
    let is_packed = draft.compression(id) == Compression::Lzma;
    let is_repacked = is_packed != part.compressed && !slot.stored.is_empty();
    if is_repacked {
        let compression = if part.compressed { Compression::Lzma } else { Compression::Raw };
        draft.set_compression(id, compression).map_err(|error| part.wrong("compressed", sentence(&error)))?;
    }
    Ok(version != new || is_repacked)
}

impl EmbeddedEdits {
    /// Finds the files to which the manifest gives another name than the map does.
    fn find_renamed(&mut self, draft: &mut Draft<'static>) -> Result<()> {
        if self.named.is_empty() {
            return Ok(());
        }
        let pak = draft.pak()?;
        let is_other =
            |(entry, _, name): &(usize, String, Vec<u8>)| pak.get(*entry).is_some_and(|file| file.name() != &name[..]);
        self.renamed = std::mem::take(&mut self.named).into_iter().filter(is_other).collect();
        Ok(())
    }

    fn make(self, draft: &mut Draft<'static>) -> Result<()> {
        if self.names().next().is_none() {
            return Ok(());
        }
        let pak = draft.pak()?;
        for (entry, _, bytes) in self.replaced {
            pak.replace(entry, bytes)?;
        }
        let removed: Vec<usize> = self.removed.iter().map(|(entry, _)| *entry).collect();
        pak.remove(&removed)?;
        let place = |entry: usize| entry - removed.iter().filter(|removed| **removed < entry).count();
        let renamed: Vec<_> = self.renamed.into_iter().map(|(entry, _, name)| (place(entry), name)).collect();
        pak.rename_all(&renamed)?;
        for (name, _, bytes) in self.added {
            pak.add(name, bytes)?;
        }
        Ok(())
    }
}

// The bytes of lumps, from the files of a folder.

/// What the content of files depends on.
#[derive(Debug)]
pub(super) struct Kind {
    pub(super) dialect: &'static Dialect,
    pub(super) version: i32,
    pub(super) names: FlagNames,
}

/// The content of a part.
pub(super) struct Content {
    /// Decompressed, in the byte order of the map.
    pub(super) bytes: Vec<u8>,
    pub(super) records: Option<Records>,
}

/// The records of a text.
pub(super) struct Records {
    pub(super) lists: Vec<List>,
    pub(super) row: &'static Row,
    /// The bytes after the last record.
    pub(super) rest: Vec<u8>,
}

/// A slot in a folder: its name in lower case, and how many slots before it have the same name.
pub(super) type Key = (String, usize);

/// Counts equal names.
#[derive(Default)]
pub(super) struct Keys(HashMap<String, usize>);

impl Keys {
    /// The key of the next slot of this name.
    pub(super) fn next(&mut self, name: &str) -> Key {
        let name = name.to_lowercase();
        let count = self.0.entry(name.clone()).or_default();
        *count += 1;
        (name, *count - 1)
    }
}

impl Kind {
    /// The index of a lump: by its number, its name or its role.
    pub(super) fn lump(&self, name: &str) -> Option<usize> {
        let lumps = self.dialect.lumps;
        let by_number = || name.parse().ok().filter(|index| *index < lumps.len());
        let by_name = || lumps.iter().position(|lump| lump.name.eq_ignore_ascii_case(name));
        let role = || Role::ALL.iter().find(|role| role.name().eq_ignore_ascii_case(name));
        by_number().or_else(by_name).or_else(|| self.dialect.role(*role()?))
    }

    /// The name of the slot that a part of a manifest means.
    pub(super) fn name(&self, part: &Part) -> String {
        self.lump(&part.lump).map_or_else(|| part.lump.clone(), |index| self.dialect.lump_name(index))
    }

    /// The content of a part from its file.
    ///
    /// # Errors
    /// The file is missing or cannot be read, or its content is wrong: the message says where.
    pub(super) fn content(&self, part: &Part, survey: &Survey) -> Result<Content> {
        let mut content = Content { bytes: Vec::new(), records: None };
        if let Some(file) = &part.file {
            let missing = |why: String| part.wrong("file", why);
            content = match part.file_format() {
                Format::Raw => Content { bytes: survey.read(file).map_err(missing)?, records: None },
                format => {
                    let path = survey.file(file).map_err(missing)?;
                    let mut read = BufReader::new(input::open(path).map_err(|error| missing(sentence(&error)))?);
                    let start = read.fill_buf().map_err(|error| missing(error.to_string()))?;
                    refuse_utf16(part, start)?;
                    let found = self.records(part, format, read);
                    found.map_err(|error| part.wrong("file", format!("{file}: {}", sentence(&error))))?
                }
            };
        }
        let rest = part.rest.as_ref().map_or_else(|| Ok(Vec::new()), |rest| BASE64_STANDARD.decode(rest));
        let rest = rest.map_err(|error| part.wrong("rest", format!("it is not base64: {error}")))?;
        content.bytes.extend_from_slice(&rest);
        content.bytes.resize(content.bytes.len() + part.nul_count(), 0);
        content.records.iter_mut().for_each(|records| records.rest.clone_from(&rest));
        Ok(content)
    }

    /// The records of a text.
    pub(super) fn records(&self, part: &Part, format: Format, file: impl BufRead) -> Result<Content> {
        let wanted = RecordName { name: part.record.as_deref(), size: part.record_size };
        let (lump, row) = Lump::blank(self.dialect, self.version, &self.name(part), part.version, &wanted)?;
        let lists = lump.lists(format, self.names, file)?;
        let mut bytes = lump.assemble(&lists)?;
        if self.dialect.byte_order() == ByteOrder::Big {
            row.byte_swap(&mut bytes, ByteOrder::Little);
        }
        Ok(Content { bytes, records: Some(Records { lists, row, rest: Vec::new() }) })
    }
}

/// Refuses the text of a part if it is UTF-16.
pub(super) fn refuse_utf16(part: &Part, text: &[u8]) -> Result<()> {
    let file = part.file.as_deref().unwrap_or_default();
    input::refuse_utf16(file.as_ref(), text).map_err(|error| {
        let hint = error.hint().map(ToString::to_string).unwrap_or_default();
        part.wrong("file", error).with_hint(hint)
    })
}
