//! What makes the pairs of one entity those of another: deletions, replacements and insertions, in this order.

use crate::bytes::escaped;

/// A key and a value.
pub(super) type Pair = (Vec<u8>, Vec<u8>);

/// What is done to an entity.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Plan {
    pub(super) is_removed: bool,
    /// The pairs to delete, and whether the case of the value matters.
    pub(super) delete: Vec<(Pair, bool)>,
    pub(super) replace: Vec<Pair>,
    pub(super) insert: Vec<Pair>,
    /// What no rule can do.
    pub(super) lost: Vec<String>,
}

impl Plan {
    /// The changes of an entity that stays.
    pub(super) fn between(old: &[Pair], new: &[Pair]) -> Plan {
        let mut plan = Plan::default();
        let mut keys: Vec<Vec<u8>> = Vec::new();
        for (key, _) in old.iter().chain(new) {
            let key = key.to_ascii_lowercase();
            if !keys.contains(&key) {
                keys.push(key);
            }
        }
        for key in keys {
            let of = |pairs: &[Pair]| -> Vec<Pair> {
                pairs.iter().filter(|(other, _)| other.eq_ignore_ascii_case(&key)).cloned().collect()
            };
            plan.change(&of(old), &of(new));
        }
        plan
    }

    pub(super) fn is_nothing(&self) -> bool {
        !self.is_removed && self.delete.is_empty() && self.replace.is_empty() && self.insert.is_empty()
    }

    /// The changes of the pairs of one key.
    fn change(&mut self, old: &[Pair], new: &[Pair]) {
        if old == new {
            return;
        }
        // Pairs without a value are not seen by rules, which cannot remove them.
        let (old, hidden): (Vec<&Pair>, Vec<&Pair>) = old.iter().partition(|pair| !is_hidden(pair));
        for (key, _) in hidden.iter().filter(|pair| !new.contains(pair)) {
            self.lost.push(format!("the removal or change of `{}`, which has no value", escaped(key)));
        }
        let mut left = hidden;
        let mut seen = |pair: &&Pair| match left.iter().position(|other| other == pair) {
            Some(at) => {
                left.remove(at);
                false
            }
            None => true,
        };
        let new: Vec<&Pair> = new.iter().filter(|pair| !is_hidden(pair) || seen(pair)).collect();
        if let ([(key, _)], [(same, value)]) = (&old[..], &new[..])
            && key == same
        {
            self.replace.push((key.clone(), value.clone()));
            return;
        }
        // Equal keys keep their order, if those that stay are the first ones.
        let kept = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
        let is_twice = |pair: &&&Pair| old[..kept].contains(*pair);
        let kept = if old[kept..].iter().any(|pair| is_twice(&pair)) { 0 } else { kept };
        for pair in &old[kept..] {
            let is_like = |other: &&Pair| other.1.eq_ignore_ascii_case(&pair.1);
            let is_exact = old[..kept].iter().any(is_like);
            if !self.delete.iter().any(|(other, _)| other == *pair) {
                self.delete.push(((*pair).clone(), is_exact));
            }
        }
        self.insert.extend(new[kept..].iter().map(|pair| (*pair).clone()));
    }
}

fn is_hidden((key, value): &&Pair) -> bool {
    key.is_empty() || value.is_empty()
}
