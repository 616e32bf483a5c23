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

fn systems(elements: &[Element]) -> Particles {
    let of = |element: &Element, list: &str| -> Vec<usize> {
        let lists = element.elements.iter().filter(|(name, _)| name.eq_ignore_ascii_case(list.as_bytes()));
        lists.flat_map(|(_, indices)| indices.iter().copied()).collect()
    };
    let system = |element: &Element| {
        let children = of(element, "children").into_iter().filter_map(|child| elements.get(child));
        let named = |child: &Element| {
            let system = of(child, "child").first().and_then(|system| elements.get(*system));
            // Old files have the name of the child alone.
            system
                .map(|system| system.name.clone())
                .or_else(|| Some(child.name.clone()))
                .filter(|name| !name.is_empty())
        };
        let operators = element.elements.iter().flat_map(|(_, indices)| indices).filter_map(|at| elements.get(*at));
        let operators = operators.filter(|operator| operator.is("DmeParticleOperator"));
        let models = operators.flat_map(|operator| operator.strings.iter().map(|(_, value)| value));
        let models = models.filter(|value| value.to_ascii_lowercase().ends_with(b".mdl"));
        System {
            name: element.name.clone(),
            material: element.string("material").cloned(),
            children: children.filter_map(named).collect(),
            models: models.cloned().collect(),
        }
    };
    let all = elements.iter().filter(|element| element.is("DmeParticleSystemDefinition"));
    Particles { systems: all.map(system).collect() }
}
