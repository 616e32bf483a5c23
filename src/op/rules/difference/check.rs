//! Whether rules say the whole difference: they are applied, and the result is compared.

use std::collections::{BTreeSet, HashMap};

use super::pairs;
use super::plan::Pair;
use crate::content::entities::Entities;
use crate::op::rules::{Format, Mode, Rules};

/// How many entities are named.
const NAMED: usize = 100;

/// Adds what the result of the rules does not have of `new`, unless it is named already.
pub(super) fn check(
    text: &[u8],
    old: &Entities<'_>,
    new: &Entities<'_>,
    pairing: &[Option<usize>],
    named: &BTreeSet<usize>,
    lost: &mut Vec<String>,
) {
    let mut result = old.clone();
    result.for_any_engine();
    let rules = Rules::read("the rules", text, Format::Stripper, Mode::Plugin);
    if let Err(error) = rules.apply(&mut result, "") {
        let why = std::error::Error::source(&error).map(|why| format!(": {why}")).unwrap_or_default();
        return lost.push(format!("{error}{why}"));
    }
    let list = |entities: &Entities<'_>| -> Vec<Vec<Pair>> { entities.iter().map(|entity| pairs(&entity)).collect() };
    let (result, new) = (list(&result), list(new));
    if result == new {
        return;
    }
    let sorted = |pairs: &Vec<Pair>| {
        let mut pairs = pairs.clone();
        pairs.sort();
        pairs
    };
    let mut left: HashMap<Vec<Pair>, Vec<usize>> = HashMap::new();
    for (index, pairs) in result.iter().enumerate().rev() {
        left.entry(sorted(pairs)).or_default().push(index);
    }
    let (mut missing, mut shuffled, mut places) = (Vec::new(), Vec::new(), Vec::new());
    for (index, pairs) in new.iter().enumerate() {
        match left.get_mut(&sorted(pairs)).and_then(Vec::pop) {
            Some(place) => {
                places.push(place);
                if result[place] != *pairs {
                    shuffled.push(index);
                }
            }
            None if pairing[index].is_some_and(|old| named.contains(&old)) => {}
            None => missing.push(index),
        }
    }
    // What a new entity lacks is named already.
    let is_unnamed = |index: &usize| lost.is_empty() || pairing[*index].is_some();
    if missing.iter().any(is_unnamed) {
        lost.push(format!("the pairs of {} of B", some(&missing)));
    }
    if !shuffled.is_empty() {
        lost.push(format!("the order of the pairs of {} of B", some(&shuffled)));
    }
    if !places.is_sorted() {
        lost.push("the order of the entities: rules add entities after the last one".to_owned());
    }
    if lost.is_empty() {
        lost.push(format!("the number of entities: {} instead of {}", result.len(), new.len()));
    }
}

fn some(indices: &[usize]) -> String {
    let listed: Vec<String> = indices.iter().take(NAMED).map(|index| format!("#{index}")).collect();
    let more = indices.len() - listed.len();
    if more > 0 { format!("{} and {more} more", listed.join(", ")) } else { listed.join(", ") }
}
