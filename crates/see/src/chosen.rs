//! Which part of a map is shown.

use std::collections::BTreeSet;
use std::ops::Range;
use std::str::FromStr;

use bspkit::content::select::Selector;
use bspkit::{Error, ErrorKind, Result};

use crate::placed::{Placed, What};

/// A part of a map: a brush model, or the entities that a selector names with their models.
///
/// ```
/// use bspkit_see::{Only, Options, Scene};
/// let map = bspkit::Bsp::open("../../tests/maps/q2/own_rooms.bsp")?;
/// let only: Only = "func_door*".parse()?;
/// let scene = Scene::read(&map, &Options { only: Some(only), ..Options::default() })?;
/// assert!(scene.models[0].parts.is_empty() && scene.models[1].triangles() > 0);
/// assert!(matches!("*2".parse()?, Only::Model(2)));
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Only {
    /// A brush model by its number, `*1`; 0 is the world.
    Model(usize),
    /// Entities. `worldspawn` is the world.
    Entities(Selector),
}

impl FromStr for Only {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let digits = text.strip_prefix('*').filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()));
        match digits.and_then(|digits| digits.parse().ok()) {
            Some(model) => Ok(Only::Model(model)),
            None => Selector::parse(text).map(Only::Entities),
        }
    }
}

/// What is shown of a map.
#[derive(Debug)]
pub(crate) struct Chosen {
    /// The models and entities; `None` for all of them, and for props.
    only: Option<(BTreeSet<usize>, BTreeSet<usize>)>,
}

impl Chosen {
    /// The choice among entities of which `entities` says which are selected, and the models that they have.
    pub(crate) fn new(only: Option<&Only>, entities: Entities<'_>, models: usize) -> Result<Self> {
        let none = |what: String| Error::new(ErrorKind::NotFound, what);
        let only = match only {
            None => None,
            Some(Only::Model(model)) if *model >= models => {
                return Err(none(format!("the map has no model *{model}, but {models} models")));
            }
            Some(Only::Model(model)) => {
                let has = |placed: &&Placed| placed.model == Some(*model);
                let own = entities.placed.iter().filter(has).map(|placed| placed.index).collect();
                Some((BTreeSet::from([*model]), own))
            }
            Some(Only::Entities(selector)) => {
                let own: BTreeSet<usize> = (entities.select)(selector).into_iter().collect();
                if own.is_empty() {
                    return Err(none("no entity is selected".to_owned()));
                }
                let is_own = |placed: &&Placed| placed.what == What::Entity && own.contains(&placed.index);
                let models = entities.placed.iter().filter(is_own).filter_map(|placed| placed.model).collect();
                Some((models, own))
            }
        };
        Ok(Chosen { only })
    }

    pub(crate) fn has_model(&self, model: usize) -> bool {
        self.only.as_ref().is_none_or(|(models, _)| models.contains(&model))
    }

    pub(crate) fn has(&self, placed: &Placed) -> bool {
        self.only.as_ref().is_none_or(|(_, own)| placed.what == What::Entity && own.contains(&placed.index))
    }

    /// Whether a face is one of a model that is shown.
    pub(crate) fn faces(&self, models: &[Range<usize>]) -> impl Fn(usize) -> bool + use<> {
        let shown: Vec<Range<usize>> = models
            .iter()
            .enumerate()
            .filter(|(model, faces)| self.has_model(*model) && !faces.is_empty())
            .map(|(_, faces)| faces.clone())
            .collect();
        let mut shown = shown;
        shown.sort_unstable_by_key(|faces| (faces.start, faces.end));
        // The furthest end of those before each start.
        let mut end = 0;
        let ends: Vec<usize> = shown
            .iter()
            .map(|faces| {
                end = end.max(faces.end);
                end
            })
            .collect();
        move |face| {
            let before = shown.partition_point(|faces| faces.start <= face);
            before.checked_sub(1).is_some_and(|last| face < ends[last])
        }
    }
}

/// The entities of a map, and how one selects among them.
pub(crate) struct Entities<'e> {
    pub(crate) placed: &'e [Placed],
    pub(crate) select: &'e dyn Fn(&Selector) -> Vec<usize>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faces_of_models_that_overlap_are_found() {
        let chosen = Chosen { only: Some((BTreeSet::from([0, 1, 3]), BTreeSet::new())) };
        let is_face = chosen.faces(&[0..10, 2..4, 20..30, 12..13]);
        let found: Vec<usize> = (0..40).filter(|face| is_face(*face)).collect();
        assert_eq!(found, (0..10).chain([12]).collect::<Vec<_>>());
    }

    #[test]
    fn a_star_with_a_number_is_a_model() {
        assert!(matches!("*12".parse(), Ok(Only::Model(12))));
        assert!(matches!("*".parse(), Ok(Only::Entities(_))));
        assert!(matches!("func_*".parse(), Ok(Only::Entities(_))));
        assert!("[".parse::<Only>().is_err());
    }
}
