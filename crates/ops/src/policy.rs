//! The policy of a project: what its maps must have and may not have, beyond what engines require. [`run`] tests the
//! laws of [`verify`], finds the faults of [`check`], and compares the map with the policy.
//!
//! ```
//! use bspkit_ops::policy::{self, Policy};
//! let mut policy = Policy::default();
//! policy.entities.required.push("info_player_start".parse()?);
//! policy.entities.max_count = Some(10);
//! let map = bspkit::Bsp::open("../../tests/maps/q2/own_rooms.bsp")?;
//! let findings = policy::run(&map, "own_rooms", &policy, None)?;
//! assert_eq!(findings.len(), 1);
//! assert_eq!(findings[0].to_string(), "error[policy-count] ENTITIES: it has 20 entities, and at most 10 are allowed");
//! # Ok::<(), bspkit::Error>(())
//! ```

use std::collections::BTreeSet;

use crate::check::{self, At, Denied, Sink, Usage, usage};
use bspkit::bytes::escaped;
use bspkit::compress::{self, compress};
use bspkit::content::entities::{Entities, Entity};
use bspkit::content::pak::{Method, Pak};
use bspkit::content::pattern::Pattern;
use bspkit::content::select::Selector;
use bspkit::dialect::{Dialect, Engine, Role};
use bspkit::file::lzma::Level;
use bspkit::finding::{Code, Finding, Severity};
use bspkit::verify::{self, Verdict};
use bspkit::{Bsp, Error, Result, SegmentKind};

/// What the maps of a project must have and may not have. The default policy allows everything.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Policy {
    /// The file.
    pub map: MapRules,
    /// Lumps.
    pub lumps: LumpRules,
    /// Entities.
    pub entities: EntityPolicy,
    /// Embedded files.
    pub files: FileRules,
    /// Textures.
    pub textures: TextureRules,
    /// Engines.
    pub limits: LimitRules,
    /// The laws and the findings of `check`.
    pub check: CheckRules,
}

/// Rules for the file.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct MapRules {
    /// The file name without `.bsp` matches one of these.
    pub names: Vec<Glob>,
    /// The file name has no upper case letters.
    pub lower_case: bool,
    /// The dialects that are allowed; empty: all.
    pub dialects: Vec<&'static Dialect>,
    /// The size of the file in bytes.
    pub max_bytes: Option<usize>,
    /// No text is left in bytes that no lump has, as editors leave old entities there.
    pub no_stale_text: bool,
}

/// Rules for lumps, by their names or roles.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct LumpRules {
    /// Lumps that are not empty.
    pub required: Vec<String>,
    /// Lumps that are empty, or do not exist.
    pub forbidden: Vec<String>,
    /// Whether lumps are compressed.
    pub compression: Option<Compressed>,
}

/// Whether something is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Compressed {
    /// All that becomes smaller is compressed, as `compress` does it.
    Required,
    /// Nothing is.
    Forbidden,
}

/// Rules for entities.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct EntityPolicy {
    /// Each of these matches an entity.
    pub required: Vec<Selector>,
    /// None of these matches one.
    pub forbidden: Vec<Selector>,
    /// Entities that match have all of these keys.
    pub required_keys: Vec<(Selector, Vec<String>)>,
    /// Entities that match have none of these keys.
    pub forbidden_keys: Vec<(Selector, Vec<String>)>,
    /// The number of entities.
    pub max_count: Option<usize>,
    /// The size of the text in bytes.
    pub max_bytes: Option<usize>,
}

/// Rules for embedded files.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct FileRules {
    /// Each of these matches a file.
    pub required: Vec<Glob>,
    /// None of these matches one.
    pub forbidden: Vec<Glob>,
    /// Every file matches one of these; empty: all files are allowed.
    pub allowed: Vec<Glob>,
    /// Names have no upper case letters.
    pub lower_case: bool,
    /// Every reader can read every file: [`Pak::check`] finds no error.
    pub intact: bool,
    /// The number of files.
    pub max_count: Option<usize>,
    /// The size of the pakfile in bytes, as it is stored.
    pub max_bytes: Option<usize>,
    /// Whether files are compressed.
    pub compression: Option<Compressed>,
}

/// Rules for the names of textures.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct TextureRules {
    /// Every texture matches one of these; empty: all are allowed.
    pub allowed: Vec<Glob>,
    /// None of these matches a texture.
    pub forbidden: Vec<Glob>,
}

/// Rules for the limits of engines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct LimitRules {
    /// The engines whose limits apply: the first one that reads the map's dialect; the stock engine if none does.
    pub engines: Vec<String>,
    /// How much of each limit must be free, in percent.
    pub margin: Option<usize>,
}

/// Rules for the laws and for the findings of [`check`].
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct CheckRules {
    /// Whether the laws of [`verify`] are tested.
    pub verify: bool,
    /// Codes of findings that are left out.
    pub allow: Vec<&'static Code>,
    /// Findings that count as failures, besides errors.
    pub deny: Vec<Denied>,
}

impl Default for CheckRules {
    fn default() -> Self {
        CheckRules { verify: true, allow: Vec::new(), deny: Vec::new() }
    }
}

/// A pattern with its text.
///
/// ```
/// use bspkit_ops::policy::Glob;
/// let glob = Glob::new("materials/**");
/// assert_eq!(glob.text, "materials/**");
/// assert!(glob.pattern.matches("materials/my/wall.vmt"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Glob {
    /// As it was written.
    pub text: String,
    /// What it matches.
    pub pattern: Pattern,
}

impl Glob {
    /// Reads a pattern; every text is one.
    pub fn new(text: impl Into<String>) -> Self {
        let text = text.into();
        Glob { pattern: Pattern::new(&text), text }
    }
}

impl Policy {
    /// Whether a finding counts as a failure.
    pub fn denies(&self, finding: &Finding) -> bool {
        finding.is_error() || self.check.deny.iter().any(|denied| denied.includes(finding.code))
    }

    /// The engine whose limits apply to a map.
    fn engine(&self, bsp: &Bsp<'_>) -> Option<&'static Engine> {
        let mut named = self.limits.engines.iter().filter_map(|name| bsp.dialect().engine_by_name(name).ok());
        named.next().or_else(|| bsp.dialect().engine(bsp.version()))
    }
}

/// All findings about a map: laws that fail, faults, and everything that is not as the policy says. `name` is the name
/// of the file without its extension. Of findings with the same code in the same lump at most this many are listed, by
/// default ten; one more has the number of the others.
///
/// # Errors
/// As [`check::run`].
pub fn run(bsp: &Bsp<'_>, name: &str, policy: &Policy, most: Option<usize>) -> Result<Vec<Finding>> {
    let listed = most.unwrap_or(check::LISTED);
    let mut sink = Sink::new(&[], listed);
    if policy.check.verify {
        for (law, verdict) in verify::run(bsp).laws {
            if let Verdict::Fail(why) = verdict {
                sink.add(&LAW, check::At::default(), || format!("the law {law} fails: {why}"));
            }
        }
    }
    let mut findings = sink.into_findings();
    let engine = policy.engine(bsp).map(|engine| engine.name.to_owned());
    let mut options = check::Options { engine, allowed: policy.check.allow.clone(), most };
    // Most compilers leave some; who wants none of them denies them.
    if !policy.check.deny.iter().any(|denied| denied.includes(&check::UNUSED_RECORDS)) {
        options.allowed.push(&check::UNUSED_RECORDS);
    }
    findings.append(&mut check::run(bsp, &options)?);
    let mut sink = Sink::new(&[], listed);
    check_lumps(bsp, name, policy, &mut sink);
    check_entities(bsp, policy, &mut sink);
    check_files(bsp, policy, &mut sink);
    findings.append(&mut sink.into_findings());
    Ok(findings)
}

/// The finding about a file that is not a map, or cannot be read.
///
/// ```
/// let error = bspkit::Bsp::parse(b"text").unwrap_err();
/// assert_eq!(bspkit_ops::policy::unread(&error).code.name, "map-unread");
/// ```
pub fn unread(error: &Error) -> Finding {
    let message = match std::error::Error::source(error) {
        Some(source) => format!("{error}: {source}"),
        None => error.to_string(),
    };
    let place = error.place().cloned().unwrap_or_default();
    Finding::new(&UNREAD, place, message)
}

// The codes of findings that only a policy has.

macro_rules! codes {
    ($($name:ident = $text:literal, $meaning:literal;)*) => {
        $(static $name: Code =
            Code::new($text, Severity::Error, $meaning);)*

        /// The codes of the findings of [`run`](run) that [`check`] does not have. All are
        /// errors.
        pub static CODES: &[&Code] = &[$(&$name),*];
    };
}

codes! {
    UNREAD = "map-unread", "the file is not a map, or cannot be read";
    LAW = "law", "a round-trip law of `verify` fails";
    NAME = "policy-name", "the name of the map is not as the policy says";
    DIALECT = "policy-dialect", "the policy does not allow the dialect";
    SIZE = "policy-size", "the file, the entity text or the pakfile is larger than the policy allows";
    COUNT = "policy-count", "there are more entities or embedded files than the policy allows";
    STALE = "policy-stale-text", "text is left in bytes that no lump has";
    LUMP = "policy-lump", "a lump is empty that the policy requires, or has bytes though the policy forbids it";
    COMPRESSION = "policy-compression", "something is compressed or not compressed against the policy";
    LIMIT = "policy-limit", "a number is closer to the engine's limit than the policy allows";
    ENTITY = "policy-entity", "an entity that the policy requires is missing, or the policy forbids an entity";
    KEY = "policy-key", "an entity does not have a key that the policy requires, or has one that it forbids";
    DAMAGE = "policy-damage", "an embedded file, or the directory of the embedded files, is damaged";
    FILE = "policy-file", "an embedded file that the policy requires is missing, or the policy forbids a file";
    TEXTURE = "policy-texture", "the policy does not allow a texture";
    UNKNOWN = "policy-unread", "something that the policy has rules for cannot be read";
}

// Rules for entities.

fn check_entities(bsp: &Bsp<'_>, policy: &Policy, sink: &mut Sink) {
    let rules = &policy.entities;
    if *rules == EntityPolicy::default() {
        return;
    }
    let Some(slot) = bsp.role(Role::Entities) else { return };
    let at = At::lump(&slot.name);
    let bytes = match bsp.bytes(slot.id) {
        Ok(bytes) => bytes,
        Err(error) => return unknown("entities", at, &error, sink),
    };
    if let Some(most) = rules.max_bytes.filter(|most| bytes.len() > *most) {
        sink.add(&SIZE, at, || format!("it has {} bytes, and at most {most} are allowed", bytes.len()));
    }
    if *rules == (EntityPolicy { max_bytes: rules.max_bytes, ..Default::default() }) {
        return;
    }
    let entities = match Entities::parse(bytes, bsp.entity_rules()) {
        Ok(entities) => entities,
        Err(error) => return unknown("entities", at, &error, sink),
    };
    if let Some(most) = rules.max_count.filter(|most| entities.len() > *most) {
        sink.add(&COUNT, at, || format!("it has {} entities, and at most {most} are allowed", entities.len()));
    }
    for selector in rules.required.iter().filter(|selector| entities.matching(selector).is_empty()) {
        sink.add(&ENTITY, at, || format!("no entity matches {selector}, which is required"));
    }
    for selector in &rules.forbidden {
        for entity in entities.matching(selector).into_iter().filter_map(|index| entities.get(index)) {
            sink.add(&ENTITY, at.record(entity.index()), || {
                format!("{} matches {selector}, which is forbidden", class(&entity))
            });
        }
    }
    for (selector, keys) in &rules.required_keys {
        for entity in entities.matching(selector).into_iter().filter_map(|index| entities.get(index)) {
            for key in keys.iter().filter(|key| entity.get(key.as_bytes()).is_none()) {
                sink.add(&KEY, at.record(entity.index()), || {
                    format!("{} has no `{key}`, which is required", class(&entity))
                });
            }
        }
    }
    for (selector, keys) in &rules.forbidden_keys {
        for entity in entities.matching(selector).into_iter().filter_map(|index| entities.get(index)) {
            for key in keys.iter().filter(|key| entity.get(key.as_bytes()).is_some()) {
                sink.add(&KEY, at.record(entity.index()), || {
                    format!("{} has `{key}`, which is forbidden", class(&entity))
                });
            }
        }
    }
}

/// It is not known whether such a map is as the policy says.
fn unknown(rules: &str, at: At<'_>, error: &Error, sink: &mut Sink) {
    sink.add(&UNKNOWN, at, || format!("the policy has rules for {rules}, which cannot be read: {error}"));
}

fn class(entity: &Entity<'_>) -> String {
    match entity.class() {
        Some(class) => format!("`{}`", escaped(class)),
        None => "an entity without a class".to_owned(),
    }
}

// Rules for embedded files and textures.

fn check_files(bsp: &Bsp<'_>, policy: &Policy, sink: &mut Sink) {
    check_names(bsp, policy, sink);
    check_textures(bsp, policy, sink);
}

fn check_names(bsp: &Bsp<'_>, policy: &Policy, sink: &mut Sink) {
    let rules = &policy.files;
    // Only some dialects have embedded files.
    let Some(slot) = bsp.role(Role::Pak) else { return };
    let at = At::lump(&slot.name);
    if let Some(most) = rules.max_bytes.filter(|most| slot.stored.len() > *most) {
        sink.add(&SIZE, at, || format!("it has {} bytes, and at most {most} are allowed", slot.stored.len()));
    }
    if *rules == (FileRules { max_bytes: rules.max_bytes, ..Default::default() }) {
        return;
    }
    let pak = match bsp.pak() {
        Ok(pak) => pak,
        Err(error) => return unknown("embedded files", at, &error, sink),
    };
    if let Some(most) = rules.max_count.filter(|most| pak.len() > *most) {
        sink.add(&COUNT, at, || format!("it has {} files, and at most {most} are allowed", pak.len()));
    }
    for glob in rules.required.iter().filter(|glob| pak.select(&glob.pattern).is_empty()) {
        sink.add(&FILE, at, || format!("no file matches {}, which is required", glob.text));
    }
    for entry in pak.iter() {
        let (at, name) = (at.record(entry.index()), || escaped(entry.name()));
        if let Some(glob) = matching(&rules.forbidden, entry.name()) {
            sink.add(&FILE, at, || format!("`{}` matches {}, which is forbidden", name(), glob.text));
        }
        if !rules.allowed.is_empty() && matching(&rules.allowed, entry.name()).is_none() {
            sink.add(&FILE, at, || format!("`{}` is not allowed", name()));
        }
        if rules.lower_case && entry.name().iter().any(u8::is_ascii_uppercase) {
            sink.add(&FILE, at, || format!("the name `{}` has upper case letters", name()));
        }
    }
    check_compression_of_files(&pak, at, rules.compression, sink);
    if rules.intact {
        for Finding { place, message, .. } in pak.check(1).into_iter().filter(Finding::is_error) {
            let at = place.file.map_or(at, |index| at.record(index));
            sink.add(&DAMAGE, at, || message);
        }
    }
}

fn check_compression_of_files(pak: &Pak<'_>, at: At<'_>, wanted: Option<Compressed>, sink: &mut Sink) {
    let Some(wanted) = wanted else { return };
    let mut compressed = pak.clone();
    let all: Vec<usize> = (0..pak.len()).collect();
    // A pakfile of a console cannot be compressed.
    if wanted == Compressed::Required && compressed.compress(&all, 1, Level::default()).is_err() {
        return;
    }
    for (entry, after) in pak.iter().zip(compressed.iter()) {
        let (at, name) = (at.record(entry.index()), || escaped(entry.name()));
        match wanted {
            Compressed::Forbidden if entry.method() != Method::Stored => {
                sink.add(&COMPRESSION, at, || format!("`{}` is compressed, which is forbidden", name()));
            }
            Compressed::Required if entry.method() != after.method() => {
                sink.add(&COMPRESSION, at, || format!("`{}` is not compressed, which is required", name()));
            }
            _ => {}
        }
    }
}

fn check_textures(bsp: &Bsp<'_>, policy: &Policy, sink: &mut Sink) {
    let rules = &policy.textures;
    if *rules == Default::default() {
        return;
    }
    let names = match bsp.texture_names() {
        Ok(names) => names,
        Err(error) => return unknown("textures", At::default(), &error, sink),
    };
    let mut seen = BTreeSet::new();
    for texture in names.iter().filter(|texture| texture.problem.is_none()) {
        if !seen.insert(texture.name.to_ascii_lowercase()) {
            continue;
        }
        let (at, name) = (At::lump(&texture.lump).record(texture.index), || escaped(&texture.name).to_string());
        if let Some(glob) = matching(&rules.forbidden, &texture.name) {
            sink.add(&TEXTURE, at, || format!("`{}` matches {}, which is forbidden", name(), glob.text));
        }
        if !rules.allowed.is_empty() && matching(&rules.allowed, &texture.name).is_none() {
            sink.add(&TEXTURE, at, || format!("`{}` is not allowed", name()));
        }
    }
}

fn matching<'g>(globs: &'g [Glob], name: &[u8]) -> Option<&'g Glob> {
    globs.iter().find(|glob| glob.pattern.matches(name))
}

// Rules for the file, its lumps and the limits of engines.

/// Shorter runs of letters between lumps are accidents.
const LEAST_TEXT: usize = 16;
/// How much of a text a message shows, in bytes.
const SHOWN: usize = 40;

fn check_lumps(bsp: &Bsp<'_>, name: &str, policy: &Policy, sink: &mut Sink) {
    check_map(bsp, name, policy, sink);
    if policy.map.no_stale_text {
        check_gaps(bsp, sink);
    }
    for wanted in &policy.lumps.required {
        if bsp.slot(wanted).map_or(true, |slot| slot.stored.is_empty()) {
            sink.add(&LUMP, At::default(), || format!("the lump {wanted} is required, and is empty or not there"));
        }
    }
    for unwanted in &policy.lumps.forbidden {
        if let Some(slot) = bsp.slot(unwanted).ok().filter(|slot| !slot.stored.is_empty()) {
            sink.add(&LUMP, At::lump(&slot.name), || format!("it is forbidden and has {} bytes", slot.stored.len()));
        }
    }
    check_compression_of_lumps(bsp, policy.lumps.compression, sink);
    if let (Some(margin), Some(engine)) = (policy.limits.margin, policy.engine(bsp)) {
        for usage in usage(bsp, engine) {
            let Usage { limit, count, .. } = usage;
            let free = limit.most.saturating_sub(count);
            if count > limit.most || free.saturating_mul(100) < limit.most.saturating_mul(margin) {
                sink.add(&LIMIT, At::lump(limit.lump), || {
                    let (has, title, most) = (usage.amount(), engine.title, limit.most);
                    format!("it has {has}; {title} accepts {most}, and {margin}% must be free")
                });
            }
        }
    }
}

fn check_map(bsp: &Bsp<'_>, name: &str, policy: &Policy, sink: &mut Sink) {
    let rules = &policy.map;
    let at = At::default();
    if !rules.names.is_empty() && !rules.names.iter().any(|glob| glob.pattern.matches(name)) {
        let names: Vec<&str> = rules.names.iter().map(|glob| &*glob.text).collect();
        sink.add(&NAME, at, || format!("the name `{}` matches none of {}", escaped(name.as_bytes()), names.join(", ")));
    }
    if rules.lower_case && name.chars().any(char::is_uppercase) {
        sink.add(&NAME, at, || format!("the name `{}` has upper case letters", escaped(name.as_bytes())));
    }
    if !rules.dialects.is_empty() && !rules.dialects.contains(&bsp.dialect()) {
        let allowed: Vec<&str> = rules.dialects.iter().map(|dialect| dialect.name).collect();
        let message = || format!("the dialect is {}, and {} is allowed", bsp.dialect().name, allowed.join(" or "));
        sink.add(&DIALECT, at, message);
    }
    let size = bsp.container().bytes().len();
    if let Some(most) = rules.max_bytes.filter(|most| size > *most) {
        sink.add(&SIZE, at, || format!("the file has {size} bytes, and at most {most} are allowed"));
    }
}

/// Finds text with a quote in bytes that no lump has, between lumps or after the last one. What is directly after the
/// header is the mark of a compiler.
fn check_gaps(bsp: &Bsp<'_>, sink: &mut Sink) {
    let segments = bsp.container().segments();
    let is_gap = |kind| matches!(kind, SegmentKind::Gap | SegmentKind::BspxGap | SegmentKind::Tail);
    let after_header = segments.iter().position(|segment| segment.kind != SegmentKind::Header);
    let gaps =
        segments.iter().enumerate().filter(|(index, segment)| is_gap(segment.kind) && Some(*index) != after_header);
    for (_, gap) in gaps {
        let bytes = &bsp.container().bytes()[gap.range.clone()];
        let is_text = |byte: &u8| matches!(byte, b' '..=b'~' | b'\t' | b'\r' | b'\n');
        let mut at = 0;
        for run in bytes.split(|byte| !is_text(byte)) {
            let start = gap.range.start + at;
            at += run.len() + 1;
            if run.len() >= LEAST_TEXT && run.contains(&b'"') {
                let (begin, size) = (escaped(&run[..run.len().min(SHOWN)]), run.len());
                sink.add(&STALE, At::default().offset(start), || format!("{size} bytes of text in no lump: `{begin}`"));
            }
        }
    }
}

fn check_compression_of_lumps(bsp: &Bsp<'_>, wanted: Option<Compressed>, sink: &mut Sink) {
    match wanted {
        None => {}
        Some(Compressed::Forbidden) => {
            for slot in bsp.slots().iter().filter(|slot| bsp.decompressed_size(slot.id).is_some()) {
                sink.add(&COMPRESSION, At::lump(&slot.name), || "it is compressed, which is forbidden".to_owned());
            }
        }
        Some(Compressed::Required) => {
            let mut draft = bsp.draft();
            // Maps of dialects without compression have nothing to compress.
            let Ok(report) = compress(&mut draft, &compress::Options::default()) else { return };
            for piece in report.changed() {
                let (old, new) = piece.sizes;
                let message = || format!("it is not compressed, which is required: {old} bytes would be {new}");
                sink.add(&COMPRESSION, At::lump(&piece.name), message);
            }
        }
    }
}
