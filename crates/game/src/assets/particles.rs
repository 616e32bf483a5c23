//! Particle files (`.pcf`): the systems in them and what these name. A particle file is a list of elements with
//! attributes (DMX), binary in the versions 1 to 5, or text (`keyvalues2`).
//!
//! ```
//! use bspkit_game::assets::particles::Particles;
//! let text = "<!-- dmx encoding keyvalues2 1 format pcf 1 -->\n\"DmeParticleSystemDefinition\"\n{\n\
//!     \"name\" \"string\" \"own_fire\"\n\"material\" \"string\" \"own/fire.vmt\"\n}\n";
//! let fire = &Particles::parse(text)?.systems[0];
//! assert_eq!((&fire.name[..], fire.material.as_deref()), (&b"own_fire"[..], Some(&b"own/fire.vmt"[..])));
//! # Ok::<(), bspkit::Error>(())
//! ```

use std::collections::HashMap;

use bspkit::bytes::{ByteOrder, Data, word};
use bspkit::{Error, ErrorKind, Place, Result};

/// A file with more elements is not read.
const MOST_ELEMENTS: usize = 1 << 20;

/// The systems of a file name at most this many elements; more are not read.
const MOST_NAMES: usize = 1 << 18;

/// The systems of a particle file.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Particles {
    /// The systems, in the order of the file.
    pub systems: Vec<System>,
}

/// A particle system.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct System {
    /// Its name, which entities ask for.
    pub name: Vec<u8>,
    /// Its material, below `materials`.
    pub material: Option<Vec<u8>>,
    /// The names of the systems that it creates.
    pub children: Vec<Vec<u8>>,
    /// Models that it draws, by their paths.
    pub models: Vec<Vec<u8>>,
}

/// An element of the file: its kind, its name, and the attributes that matter here.
#[derive(Clone, Debug, Default)]
struct Element {
    kind: Vec<u8>,
    name: Vec<u8>,
    strings: Vec<(Vec<u8>, Vec<u8>)>,
    /// Attributes that are elements, by their indices.
    elements: Vec<(Vec<u8>, Vec<usize>)>,
}

impl Element {
    fn string(&self, name: &str) -> Option<&Vec<u8>> {
        self.strings.iter().find(|(own, _)| own.eq_ignore_ascii_case(name.as_bytes())).map(|(_, value)| value)
    }

    fn is(&self, kind: &str) -> bool {
        self.kind.eq_ignore_ascii_case(kind.as_bytes())
    }
}

impl Particles {
    /// Reads the systems of a file.
    ///
    /// # Errors
    /// [`ErrorKind::Malformed`] if it is not a particle file or is cut off, [`ErrorKind::Unsupported`] for an encoding
    /// that is not known, [`ErrorKind::TooLarge`] for more than 1,048,576 elements.
    pub fn parse<'a>(bytes: impl Into<Data<'a>>) -> Result<Particles> {
        let bytes = &*bytes.into();
        let wrong = || Error::new(ErrorKind::Malformed, "it does not begin as a particle file does, with <!-- dmx");
        let end = memchr::memmem::find(&bytes[..bytes.len().min(256)], b"-->").ok_or_else(wrong)? + 3;
        let mut words = bytes[..end].split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
        if words.next() != Some(b"<!--") || words.next() != Some(b"dmx") || words.next() != Some(b"encoding") {
            return Err(wrong());
        }
        let (encoding, version) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let version = std::str::from_utf8(version).ok().and_then(|version| version.parse::<u32>().ok());
        let body = &bytes[end..];
        let elements = match (encoding, version) {
            (b"binary", Some(version @ 1..=5)) => binary_elements(body, version)?,
            (b"keyvalues2" | b"keyvalues2_flat", _) => text_elements(body)?,
            _ => {
                let encoding = bspkit::bytes::escaped(encoding);
                let message = format!("its encoding {encoding} {} is not known", version.unwrap_or(0));
                return Err(Error::new(ErrorKind::Unsupported, message).with_hint("binary 1 to 5 and keyvalues2 are"));
            }
        };
        Ok(systems(&elements))
    }
}

fn too_many() -> Error {
    Error::new(ErrorKind::TooLarge, format!("it has more than {MOST_ELEMENTS} elements"))
}

/// What each system names, from one pass over all elements: a list may name one element many times.
fn systems(elements: &[Element]) -> Particles {
    let first = |element: &Element, name: &str| {
        let own = element.elements.iter().find(|(own, _)| own.eq_ignore_ascii_case(name.as_bytes()));
        own.and_then(|(_, indices)| elements.get(*indices.first()?))
    };
    // Old files have the name of the child alone.
    let child = |element: &Element| first(element, "child").map_or(&element.name, |system| &system.name).clone();
    let children: Vec<Option<Vec<u8>>> =
        elements.iter().map(|element| element.is("DmeParticleChild").then(|| child(element))).collect();
    let model = |element: &Element| {
        let is_model = |value: &&Vec<u8>| value.len() > 4 && value[value.len() - 4..].eq_ignore_ascii_case(b".mdl");
        element.strings.iter().map(|(_, value)| value).find(is_model).cloned()
    };
    let models: Vec<Option<Vec<u8>>> =
        elements.iter().map(|element| element.is("DmeParticleOperator").then(|| model(element))?).collect();
    let mut left = MOST_NAMES;
    let mut system = |element: &Element| {
        let mut system =
            System { name: element.name.clone(), material: element.string("material").cloned(), ..System::default() };
        for index in element.elements.iter().flat_map(|(_, indices)| indices.iter().copied()).take(left) {
            let name = |of: &[Option<Vec<u8>>]| of.get(index).cloned().flatten().filter(|name| !name.is_empty());
            system.children.extend(name(&children));
            system.models.extend(name(&models));
            left -= 1;
        }
        system
    };
    let all = elements.iter().filter(|element| element.is("DmeParticleSystemDefinition"));
    Particles { systems: all.map(&mut system).collect() }
}

// The binary encodings of DMX, versions 1 to 5. They differ in where strings are: in the text (1), names of kinds and
// attributes in a table (2, 3), all single strings in the table (4, 5), with wider counts and indices.

/// A GUID.
const GUID: usize = 16;

struct Reader<'b> {
    bytes: &'b [u8],
    at: usize,
    version: u32,
    table: Vec<&'b [u8]>,
}

fn binary_elements(bytes: &[u8], version: u32) -> Result<Vec<Element>> {
    // The header is a line that ends with a NUL.
    let start = memchr::memchr(0, bytes).map_or(bytes.len(), |at| at + 1);
    let mut reader = Reader { bytes, at: start, version, table: Vec::new() };
    if version >= 2 {
        let count = if version >= 4 { reader.count()? } else { reader.half()? };
        // Each string has at least its NUL.
        reader.table = (0..count).map(|_| reader.text()).collect::<Result<_>>()?;
    }
    let count = reader.count()?;
    if count > MOST_ELEMENTS {
        return Err(too_many());
    }
    let mut elements = Vec::new();
    for _ in 0..count {
        let kind = reader.named()?.to_vec();
        let name = if version >= 4 { reader.named()? } else { reader.text()? }.to_vec();
        reader.skip(GUID)?;
        elements.push(Element { kind, name, ..Element::default() });
    }
    for element in &mut elements {
        for _ in 0..reader.count()? {
            reader.attribute(element)?;
        }
    }
    Ok(elements)
}

impl<'b> Reader<'b> {
    fn cut(&self) -> Error {
        Error::new(ErrorKind::Malformed, "the particle file is cut off or damaged")
            .at(Place::default().offset(bspkit::bytes::wide(self.at)))
    }

    fn skip(&mut self, length: usize) -> Result<()> {
        let end = self.at.checked_add(length).filter(|end| *end <= self.bytes.len());
        self.at = end.ok_or_else(|| self.cut())?;
        Ok(())
    }

    fn word(&mut self) -> Result<i32> {
        let value = word(self.bytes, self.at).ok_or_else(|| self.cut())?;
        self.skip(4)?;
        Ok(value)
    }

    /// A number of things, each of which takes at least one byte.
    fn count(&mut self) -> Result<usize> {
        let count = usize::try_from(self.word()?).ok();
        count.filter(|count| *count <= self.bytes.len() - self.at).ok_or_else(|| self.cut())
    }

    fn half(&mut self) -> Result<usize> {
        let value = ByteOrder::Little.half(self.bytes, self.at).ok_or_else(|| self.cut())?;
        self.skip(2)?;
        Ok(usize::from(value))
    }

    fn text(&mut self) -> Result<&'b [u8]> {
        let rest = &self.bytes[self.at..];
        let length = memchr::memchr(0, rest).ok_or_else(|| self.cut())?;
        self.skip(length + 1)?;
        Ok(&rest[..length])
    }

    /// A string of the table; of the text where there is no table.
    fn named(&mut self) -> Result<&'b [u8]> {
        let index = match self.version {
            1 => return self.text(),
            2..=4 => self.half()?,
            _ => usize::try_from(self.word()?).map_err(|_| self.cut())?,
        };
        self.table.get(index).copied().ok_or_else(|| self.cut())
    }

    /// An element's index; `None` for one that is not in the file.
    fn element(&mut self) -> Result<Option<usize>> {
        let index = self.word()?;
        if index == -2 {
            self.text()?;
        }
        Ok(usize::try_from(index).ok())
    }

    fn attribute(&mut self, element: &mut Element) -> Result<()> {
        let name = self.named()?.to_vec();
        let kind = *self.bytes.get(self.at).ok_or_else(|| self.cut())?;
        self.skip(1)?;
        match kind {
            1 => {
                let index = self.element()?;
                element.elements.push((name, index.into_iter().collect()));
            }
            5 => {
                let value = if self.version >= 4 { self.named()? } else { self.text()? };
                element.strings.push((name, value.to_vec()));
            }
            6 => {
                let length = self.count()?;
                self.skip(length)?;
            }
            15 => {
                let count = self.count()?;
                let list = (0..count).map(|_| self.element()).collect::<Result<Vec<_>>>()?;
                element.elements.push((name, list.into_iter().flatten().collect()));
            }
            19 => {
                for _ in 0..self.count()? {
                    let value = self.text()?.to_vec();
                    element.strings.push((name.clone(), value));
                }
            }
            20 => {
                for _ in 0..self.count()? {
                    let length = self.count()?;
                    self.skip(length)?;
                }
            }
            2..=14 => self.skip(self.size(kind))?,
            16..=28 => {
                let count = self.count()?;
                self.skip(count.saturating_mul(self.size(kind - 14)))?;
            }
            _ => return Err(self.cut()),
        }
        Ok(())
    }

    /// The size of a value that always has the same: numbers, colours, vectors.
    fn size(&self, kind: u8) -> usize {
        match kind {
            4 => 1,
            // Before version 3 this is the number of an object, a GUID.
            7 if self.version < 3 => GUID,
            9 => 8,
            10 | 12 => 12,
            11 | 13 => 16,
            14 => 64,
            _ => 4,
        }
    }
}

// The text of DMX (`keyvalues2`): `"Kind" { "attribute" "type" "value" }`, elements within elements, and lists in
// brackets.

#[derive(Clone, Copy, PartialEq)]
enum Token<'t> {
    Text(&'t [u8]),
    Open,
    Close,
    List,
    EndOfList,
}

/// What surrounds the next token.
enum Around<'t> {
    /// The attributes of an element.
    Element(usize),
    /// A list of this name, of an element; only lists of elements are kept.
    List(usize, &'t [u8], bool),
}

fn text_elements(bytes: &[u8]) -> Result<Vec<Element>> {
    let tokens = Tokens { text: bytes, at: 0 };
    let mut elements: Vec<Element> = Vec::new();
    let mut by_id: HashMap<&[u8], usize> = HashMap::new();
    // References by identity: the element, the attribute, the identity.
    let mut later: Vec<(usize, &[u8], &[u8])> = Vec::new();
    let mut around: Vec<Around<'_>> = Vec::new();
    let mut words: Vec<&[u8]> = Vec::new();
    for token in tokens {
        match (token, around.last()) {
            (Token::Open, place) => {
                let index = elements.len();
                if index == MOST_ELEMENTS {
                    return Err(too_many());
                }
                let kind = words.last().copied().unwrap_or_default().to_vec();
                let attribute = match place {
                    Some(Around::Element(owner)) if words.len() >= 2 => Some((*owner, words[words.len() - 2])),
                    Some(Around::List(owner, name, _)) => Some((*owner, *name)),
                    _ => None,
                };
                if let Some((owner, name)) = attribute {
                    elements[owner].elements.push((name.to_vec(), vec![index]));
                }
                elements.push(Element { kind, ..Element::default() });
                around.push(Around::Element(index));
                words.clear();
            }
            (Token::List, Some(Around::Element(owner))) => {
                let [.., name, kind] = words[..] else { continue };
                around.push(Around::List(*owner, name, kind == b"element_array"));
                words.clear();
            }
            (Token::Close | Token::EndOfList, _) => {
                around.pop();
                words.clear();
            }
            (Token::List, _) => {}
            (Token::Text(text), place) => {
                words.push(text);
                match (place, &words[..]) {
                    (Some(Around::Element(owner)), [name, kind, value]) => {
                        let element = &mut elements[*owner];
                        match *kind {
                            b"elementid" => drop(by_id.insert(value, *owner)),
                            b"string" if *name == b"name" => element.name = value.to_vec(),
                            b"string" => element.strings.push((name.to_vec(), value.to_vec())),
                            b"element" => later.push((*owner, name, value)),
                            _ => {}
                        }
                        words.clear();
                    }
                    (Some(Around::List(owner, name, true)), [b"element", id]) => {
                        later.push((*owner, name, id));
                        words.clear();
                    }
                    (Some(Around::List(_, _, false)), _) => words.clear(),
                    _ => {}
                }
            }
        }
    }
    for (owner, name, id) in later {
        if let Some(index) = by_id.get(id) {
            elements[owner].elements.push((name.to_vec(), vec![*index]));
        }
    }
    Ok(elements)
}

struct Tokens<'t> {
    text: &'t [u8],
    at: usize,
}

impl<'t> Iterator for Tokens<'t> {
    type Item = Token<'t>;

    fn next(&mut self) -> Option<Token<'t>> {
        loop {
            let rest = self.text.get(self.at..)?;
            let first = *rest.first()?;
            self.at += 1;
            match first {
                b'{' => return Some(Token::Open),
                b'}' => return Some(Token::Close),
                b'[' => return Some(Token::List),
                b']' => return Some(Token::EndOfList),
                b'"' => {
                    let length = memchr::memchr(b'"', &rest[1..])?;
                    self.at += length + 1;
                    return Some(Token::Text(&rest[1..=length]));
                }
                b'/' if rest.starts_with(b"//") => self.at += memchr::memchr(b'\n', rest).unwrap_or(rest.len()),
                _ => {}
            }
        }
    }
}
