//! Particle files (`.pcf`): the systems in them and what these name. A particle file is a list of elements with
//! attributes (DMX), binary in the versions 1 to 5, or text (`keyvalues2`).
//!
//! ```
//! use bspkit::content::assets::particles::Particles;
//! let text = "<!-- dmx encoding keyvalues2 1 format pcf 1 -->\n\"DmeParticleSystemDefinition\"\n{\n\
//!     \"name\" \"string\" \"own_fire\"\n\"material\" \"string\" \"own/fire.vmt\"\n}\n";
//! let fire = &Particles::parse(text)?.systems[0];
//! assert_eq!((&fire.name[..], fire.material.as_deref()), (&b"own_fire"[..], Some(&b"own/fire.vmt"[..])));
//! # Ok::<(), bspkit::Error>(())
//! ```

mod binary;
mod text;

use crate::bytes::Data;
use crate::error::{Error, ErrorKind, Result};

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
            (b"binary", Some(version @ 1..=5)) => binary::elements(body, version)?,
            (b"keyvalues2" | b"keyvalues2_flat", _) => text::elements(body)?,
            _ => {
                let encoding = crate::bytes::escaped(encoding);
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
