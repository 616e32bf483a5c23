//! Entities as JSON, and back: a document has `entities`, each with its `index`, its `span` in the text, and its
//! `pairs`.
//!
//! A document may be edited by any program and read again. An entity is found by its index or by its span; one without
//! either is new, one that is left out is removed, and their order is the order of the list. Entities and pairs that
//! are not changed keep their bytes.
//!
//! ```
//! use bspkit_text::entities;
//! let map = bspkit::Bsp::open("../../tests/maps/q2/own_rooms.bsp")?;
//! let text = br#"{"version": 1, "selector": "light", "entities": [
//!     {"index": 6, "pairs": [{"key": "classname", "value": "light"}]}
//! ]}"#;
//! let list = &entities::read(text)?[0];
//! let entities = map.entities()?;
//! let patch = list.patch(&entities)?; // one light keeps its class alone, the others are removed
//! assert_eq!(patch.operations.len(), 3);
//! # Ok::<(), bspkit::Error>(())
//! ```

use std::borrow::Cow;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde::de::IgnoredAny;
use serde::ser::SerializeStruct;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::value::RawValue;

use bspkit::bytes::escaped;
use bspkit::content::entities::{Entities, Entity};
use bspkit::content::select::Selector;
use bspkit::json::{ValueJson, syntax, text_and_raw};
use bspkit::{Error, ErrorKind, Result};
use bspkit_ops::diff::{Content, Wanted, patch_to};
use bspkit_ops::patch::Patch;

/// An entity in JSON.
///
/// ```
/// use bspkit_text::entities::EntityJson;
/// let map = bspkit::Bsp::open("../../tests/maps/q2/own_rooms.bsp")?;
/// let json = serde_json::to_value(EntityJson(&map.entities()?.get(6).unwrap())).unwrap();
/// assert_eq!(json["pairs"][0]["value"], "light");
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
#[allow(clippy::exhaustive_structs)]
pub struct EntityJson<'e, 'a>(pub &'e Entity<'a>);

struct PairsJson<'e, 'a>(&'e Entity<'a>);

#[derive(Serialize)]
struct PairJson<'a> {
    key: Cow<'a, str>,
    #[serde(flatten)]
    value: ValueJson<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    key_raw: Option<String>,
}

impl Serialize for EntityJson<'_, '_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut entity = serializer.serialize_struct("Entity", 3)?;
        entity.serialize_field("index", &self.0.index())?;
        entity.serialize_field("span", &self.0.span().map(|span| [span.start, span.end]))?;
        entity.serialize_field("pairs", &PairsJson(self.0))?;
        entity.end()
    }
}

impl Serialize for PairsJson<'_, '_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.pairs().map(|pair| {
            let (key, key_raw) = text_and_raw(pair.key);
            PairJson { key, value: ValueJson(pair.value), key_raw }
        }))
    }
}

/// The entities of a document.
///
/// ```
/// use bspkit_text::entities::{List, read};
/// let list: &List = &read(br#"{"version": 1, "path": "dm4.bsp", "entities": []}"#)?[0];
/// assert_eq!(list.path.as_deref(), Some("dm4.bsp"));
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct List {
    /// The path of the map that was listed, if the document has it.
    pub path: Option<String>,
    /// Values whose `raw` says something else than their text: `raw` is taken.
    pub warnings: Vec<String>,
    /// The selector of the entities that were listed; `None` if all were.
    selector: Option<Selector>,
    /// The checksum of the entity text that was listed.
    checksum: Option<String>,
    entities: Vec<Listed>,
}

#[derive(Clone, Debug)]
struct Listed {
    /// `line 3, column 5`.
    place: String,
    index: Option<usize>,
    span: Option<[usize; 2]>,
    pairs: Vec<(Vec<u8>, Vec<u8>)>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DocumentText<'t> {
    version: u32,
    #[serde(default)]
    path: Option<String>,
    #[serde(default, rename = "path_raw")]
    _path_raw: IgnoredAny,
    #[serde(default)]
    selector: Option<String>,
    #[serde(default)]
    entities_crc32: Option<String>,
    #[serde(borrow)]
    entities: Vec<&'t RawValue>,
    #[serde(default, rename = "findings")]
    _findings: IgnoredAny,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct EntityText<'t> {
    #[serde(default)]
    index: Option<usize>,
    #[serde(default)]
    span: Option<[usize; 2]>,
    #[serde(borrow)]
    pairs: Vec<&'t RawValue>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PairText {
    #[serde(default)]
    key: Option<String>,
    #[serde(default)]
    value: Option<String>,
    #[serde(default)]
    raw: Option<String>,
    #[serde(default)]
    key_raw: Option<String>,
}

/// Reads documents that `ent list --json` printed: one for each map.
///
/// # Errors
/// [`ErrorKind::Argument`] with the line and the column, and what is expected there.
pub fn read(text: &[u8]) -> Result<Vec<List>> {
    let text = text.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(text);
    let text = std::str::from_utf8(text).map_err(|error| {
        let before = &text[..error.valid_up_to()];
        let start = memchr::memrchr(b'\n', before).map_or(0, |at| at + 1);
        let line = 1 + memchr::memchr_iter(b'\n', before).count();
        wrong(line, before.len() - start + 1, "it is not UTF-8; bytes that are not text are `raw`, in base64")
    })?;
    let text = Text { text, lines: memchr::memchr_iter(b'\n', text.as_bytes()).map(|at| at + 1).collect() };
    let documents = serde_json::Deserializer::from_str(text.text).into_iter::<&RawValue>();
    let lists = documents.map(|raw| {
        let raw = raw.map_err(|error| wrong(error.line(), error.column(), &syntax(&error)))?;
        text.document(raw)
    });
    let lists = lists.collect::<Result<Vec<_>>>()?;
    if lists.is_empty() {
        Err(wrong(1, 1, "a document is expected, as `ent list --json` prints it"))
    } else {
        Ok(lists)
    }
}

fn wrong(line: usize, column: usize, what: &str) -> Error {
    Error::new(ErrorKind::Argument, format!("line {line}, column {column}: {what}"))
}

/// The text of all documents.
struct Text<'t> {
    text: &'t str,
    /// Where each line but the first starts.
    lines: Vec<usize>,
}

impl<'t> Text<'t> {
    /// The line and column of a part of the text.
    fn position(&self, part: &RawValue) -> (usize, usize) {
        let offset = part.get().as_ptr().addr() - self.text.as_ptr().addr();
        let line = self.lines.partition_point(|start| *start <= offset);
        let start = line.checked_sub(1).map_or(0, |before| self.lines[before]);
        (line + 1, offset - start + 1)
    }

    /// The error at a part of the text.
    fn wrong(&self, part: &RawValue, what: &str) -> Error {
        let (line, column) = self.position(part);
        wrong(line, column, what)
    }

    /// Reads an object; an error has its place in the whole text.
    fn object<T: Deserialize<'t>>(&self, part: &'t RawValue, what: &str) -> Result<T> {
        // Serde reads lists as structs too.
        if !part.get().starts_with('{') {
            return Err(self.wrong(part, &format!("expected {what}")));
        }
        serde_json::from_str(part.get()).map_err(|error| {
            let (line, column) = self.position(part);
            match error.line() {
                0 | 1 => wrong(line, column + error.column().saturating_sub(1), &syntax(&error)),
                more => wrong(line + more - 1, error.column(), &syntax(&error)),
            }
        })
    }

    fn document(&self, raw: &'t RawValue) -> Result<List> {
        let document: DocumentText<'_> =
            self.object(raw, "an object with `entities`, as `ent list --json` prints it")?;
        if document.version != 1 {
            return Err(self.wrong(raw, &format!("version {} is not supported, only 1", document.version)));
        }
        let selector = document.selector.as_deref().map(Selector::parse).transpose();
        let selector = selector.map_err(|error| self.wrong(raw, &format!("the selector cannot be read: {error}")))?;
        let mut warnings = Vec::new();
        let entities =
            document.entities.into_iter().map(|raw| self.entity(raw, &mut warnings)).collect::<Result<_>>()?;
        Ok(List { path: document.path, warnings, selector, checksum: document.entities_crc32, entities })
    }

    fn entity(&self, raw: &'t RawValue, warnings: &mut Vec<String>) -> Result<Listed> {
        let entity: EntityText<'_> = self.object(raw, "an entity: an object with `pairs`")?;
        let (line, column) = self.position(raw);
        let pairs = entity.pairs.into_iter().map(|raw| {
            let pair: PairText = self.object(raw, "a pair: an object with `key` and `value`")?;
            let key = self.bytes(raw, ["key", "key_raw"], pair.key, pair.key_raw, warnings)?;
            Ok((key, self.bytes(raw, ["value", "raw"], pair.value, pair.raw, warnings)?))
        });
        let pairs = pairs.collect::<Result<_>>()?;
        Ok(Listed { place: format!("line {line}, column {column}"), index: entity.index, span: entity.span, pairs })
    }

    /// The bytes of a text, or in base64.
    fn bytes(
        &self,
        at: &RawValue,
        [name, raw_name]: [&str; 2],
        text: Option<String>,
        raw: Option<String>,
        warnings: &mut Vec<String>,
    ) -> Result<Vec<u8>> {
        let Some(raw) = raw else {
            let missing = || self.wrong(at, &format!("the pair has no `{name}`, and no `{raw_name}`"));
            let text = text.ok_or_else(missing)?;
            if let Some(escape) = escape_in(&text) {
                let (line, column) = self.position(at);
                let letters = format!("`{escape}` in `{name}` is four letters and not a byte");
                warnings.push(format!("line {line}, column {column}: {letters}: bytes need `{raw_name}`, in base64"));
            }
            return Ok(text.into_bytes());
        };
        let decoded = BASE64_STANDARD.decode(raw);
        let bytes = decoded.map_err(|error| self.wrong(at, &format!("`{raw_name}` is not base64: {error}")))?;
        if let Some(text) = text.filter(|text| *text != escaped(&bytes).to_string() && text.as_bytes() != bytes) {
            let (line, column) = self.position(at);
            let other = format!("`{name}` is `{text}`, but `{raw_name}` is `{}`", escaped(&bytes));
            let rule = "its bytes, in base64, are imported; a text alone is imported letter by letter, escapes too";
            warnings.push(format!("line {line}, column {column}: {other}: {rule}"));
        }
        Ok(bytes)
    }
}

/// The first byte that is written as an escape, as in the text of a value that is not UTF-8.
fn escape_in(text: &str) -> Option<&str> {
    let is_hex = |digits: &str| digits.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte));
    text.match_indices("\\x").find_map(|(at, _)| text.get(at..at + 4).filter(|escape| is_hex(&escape[2..])))
}

impl List {
    /// The patch that makes a map's entities those of the document.
    ///
    /// # Errors
    /// [`ErrorKind::Refused`] if an entity of the document is not in the map: the map is not the one that was listed,
    /// or it has changed; as [`patch_to`].
    pub fn patch(&self, entities: &Entities<'_>) -> Result<Patch> {
        if self.checksum.as_ref().is_some_and(|listed| !listed.eq_ignore_ascii_case(&checksum(entities))) {
            let hint = format!("{OTHER}, or remove `entities_crc32` to import it nevertheless");
            let message = "the entities of the map are not those that were listed";
            return Err(Error::new(ErrorKind::Refused, message).with_hint(hint));
        }
        let among = self.selector.as_ref().map(|selector| entities.matching(selector));
        let spans: Vec<_> = entities.iter().map(|entity| entity.span().map(|span| [span.start, span.end])).collect();
        let mut wanted = Vec::with_capacity(self.entities.len());
        let mut places = vec![None; entities.len()];
        for listed in &self.entities {
            let from = find(listed, &spans)?;
            let place = from.and_then(|from| Some((from, places.get_mut(from)?)));
            if let Some((entity, Some(other))) = place.map(|(from, place)| (from, place.replace(&listed.place))) {
                let message = format!("{}: entity {entity} is at {other} already", listed.place);
                let hint = "to add a copy, remove its `index` and its `span`";
                return Err(Error::new(ErrorKind::Argument, message).with_hint(hint));
            }
            if let (Some(among), Some(from)) = (&among, from)
                && among.binary_search(&from).is_err()
            {
                let message =
                    format!("{}: entity {from} is not one that the selector of the document matches", listed.place);
                return Err(Error::new(ErrorKind::Refused, message));
            }
            wanted.push(Wanted { from, content: Content::Pairs(listed.pairs.clone()) });
        }
        patch_to(entities, &wanted, among.as_deref())
    }
}

/// What is said of a document that does not fit.
const OTHER: &str = "the document is of another map, or the map has changed since: list it again";

/// The checksum of an entity text, by which a document knows what was listed: a CRC-32 in eight digits.
pub fn checksum(entities: &Entities<'_>) -> String {
    format!("{:08x}", crc32fast::hash(&entities.to_bytes()))
}

/// The index of an entity of the document, by the spans of the map's entities.
fn find(listed: &Listed, spans: &[Option<[usize; 2]>]) -> Result<Option<usize>> {
    let refused =
        |what: String| Err(Error::new(ErrorKind::Refused, format!("{}: {what}", listed.place)).with_hint(OTHER));
    match (listed.index, listed.span) {
        (None, None) => Ok(None),
        (None, Some(span)) => match spans.binary_search(&Some(span)) {
            Ok(index) => Ok(Some(index)),
            Err(_) => refused(format!("the map has no entity at the bytes {} to {}", span[0], span[1])),
        },
        (Some(index), span) => match spans.get(index) {
            None => refused(format!("the map has no entity {index}, only {}", spans.len())),
            Some(Some(own)) if span.is_some_and(|span| span != *own) => {
                refused(format!("entity {index} of the map is at the bytes {} to {}", own[0], own[1]))
            }
            Some(_) => Ok(Some(index)),
        },
    }
}
