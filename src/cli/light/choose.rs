//! Selects light: by lump, faces and styles.

use std::collections::BTreeSet;

use anyhow::Result;
use bspkit::content::lightmap::{Block, Light, LightSet};
use bspkit::{Error, ErrorKind};

use super::find;
use crate::cli::talk::Job;

#[derive(clap::Args)]
pub(super) struct Choice {
    /// Only this kind of light, if the map has several: ldr, hdr, decoupled
    #[arg(long, value_name = "NAME")]
    set: Option<String>,
    /// Only these faces or pages [default: all]
    #[arg(long, value_name = "N,N-N", value_parser = Ranges::parse)]
    faces: Option<Ranges>,
    /// Only these styles [default: all]
    #[arg(long, value_name = "N,N-N", value_parser = Ranges::parse)]
    styles: Option<Ranges>,
}

/// Numbers and ranges of numbers: `1,5-9`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Ranges(Vec<(usize, usize)>);

impl Ranges {
    fn parse(text: &str) -> Result<Self, String> {
        let number = |text: &str| text.trim().parse().map_err(|_| format!("`{text}` is not a number"));
        let range = |part: &str| match part.split_once('-') {
            None => number(part).map(|number| (number, number)),
            Some((first, last)) => match (number(first)?, number(last)?) {
                (first, last) if first <= last => Ok((first, last)),
                _ => Err(format!("{part} ends before it begins")),
            },
        };
        text.split(',').map(range).collect::<Result<_, _>>().map(Ranges)
    }

    fn has(&self, number: usize) -> bool {
        self.0.iter().any(|(first, last)| (*first..=*last).contains(&number))
    }
}

impl Choice {
    /// Refuses a set that the map does not have. Reports selected faces without light.
    pub(super) fn check(&self, light: &Light<'_>, job: &mut Job<'_>) -> Result<()> {
        if let Some(name) = &self.set
            && !light.sets().iter().any(|set| set.name() == name)
        {
            let names: Vec<_> = light.sets().iter().map(LightSet::name).filter(|name| !name.is_empty()).collect();
            let error = Error::new(ErrorKind::NotFound, format!("the map has no light called {name}"));
            return Err(match names.is_empty() {
                true => error.with_hint("its light has no name: leave out --set"),
                false => error.with_hint(format!("it has {}", names.join(", "))),
            }
            .into());
        }
        let lit: BTreeSet<usize> = light
            .sets()
            .iter()
            .filter(|set| self.has_set(set))
            .flat_map(|set| set.blocks())
            .map(Block::index)
            .collect();
        for (first, last) in self.faces.iter().flat_map(|ranges| &ranges.0) {
            // Only the ends of a range are named, since it may be longer than any map.
            if lit.range(first..=last).next().is_none() {
                let which =
                    if first == last { format!("face {first} has") } else { format!("faces {first} to {last} have") };
                find(&format!("{which} no light"), job);
            }
        }
        Ok(())
    }

    pub(super) fn has_set(&self, set: &LightSet) -> bool {
        self.set.as_ref().is_none_or(|name| set.name() == name)
    }

    pub(super) fn has(&self, set: &LightSet, block: &Block, style: usize) -> bool {
        let number = usize::from(block.styles()[style]);
        self.has_set(set)
            && self.faces.as_ref().is_none_or(|faces| faces.has(block.index()))
            && self.styles.as_ref().is_none_or(|styles| styles.has(number))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn ranges_of_numbers() {
        let ranges = Ranges::parse("1, 5-9,12").unwrap();
        assert_eq!((0..20).filter(|number| ranges.has(*number)).collect::<Vec<_>>(), [1, 5, 6, 7, 8, 9, 12]);
        for bad in ["", "a", "3-1", "1,", "-1", "1-2-3"] {
            assert!(Ranges::parse(bad).is_err(), "{bad}");
        }
    }
}
