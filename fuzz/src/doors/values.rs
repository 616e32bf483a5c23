//! Values of entities that are calculated and replaced, and rows of visibility: each beside the same made plainly.

use bspkit::Layout;
use bspkit::content::assign::Assignment;
use bspkit::content::entities::Entities;
use bspkit::content::visibility::Visibility;

use super::all_maps;
use super::edits::{Choices, saved};

const OPERANDS: [&str; 12] =
    ["1", "-1", "0.5", "1.5", "3", "-0.125", "7e1", "0", "1000000", "0.000001", "99.99", "1 2 3"];

/// An assignment to one key of one entity: the number is what a float says, the text is what a plain search says.
pub fn values(bytes: &[u8]) {
    let mut choices = Choices::of(bytes);
    let mut draft = choices.map().draft();
    let Ok(all) = draft.entities() else { return };
    let index = choices.below(all.len());
    let Some((key, value)) = a_pair(all, index, &mut choices) else { return };
    let others = |all: &Entities<'_>| {
        let entity = all.get(index)?;
        Some(
            entity
                .pairs()
                .filter(|pair| pair.key != key.as_bytes())
                .map(|pair| pair.value.to_vec())
                .collect::<Vec<_>>(),
        )
    };
    let before = others(all);
    if choices.below(2) == 0 {
        replaced(all, index, (&key, &value), &mut choices);
    } else {
        calculated(all, index, (&key, &value), &mut choices);
    }
    assert_eq!(others(all), before, "another value has changed");
}

/// A key that is there once, of letters, and its value, which is text.
fn a_pair(all: &Entities<'_>, index: usize, choices: &mut Choices<'_>) -> Option<(String, String)> {
    let entity = all.get(index)?;
    let pair = entity.pairs().nth(choices.below(entity.pairs().len()))?;
    let key = std::str::from_utf8(pair.key).ok()?;
    let is_plain = key.bytes().all(|byte| byte.is_ascii_lowercase());
    let is_once = entity.pairs().filter(|other| other.key.eq_ignore_ascii_case(pair.key)).count() == 1;
    (is_plain && is_once).then_some((key.to_owned(), std::str::from_utf8(pair.value).ok()?.to_owned()))
}

fn value_now(all: &Entities<'_>, index: usize, key: &str) -> String {
    let value = all.get(index).and_then(|entity| entity.get(key).map(<[u8]>::to_vec)).unwrap_or_default();
    String::from_utf8_lossy(&value).into_owned()
}

fn replaced(all: &mut Entities<'_>, index: usize, (key, value): (&str, &str), choices: &mut Choices<'_>) {
    let letters: Vec<char> = value.chars().collect();
    let start = choices.below(letters.len());
    let old: String = letters.iter().skip(start).take(1 + choices.below(3)).collect();
    if old.is_empty() || !old.chars().all(|letter| letter.is_ascii_alphanumeric()) {
        return;
    }
    let (new, is_global) = (["", "x", "{0}{0}", "{1}"][choices.below(4)], choices.below(2) == 0);
    let flags = if is_global { "g" } else { "" };
    let Ok(assignment) = Assignment::parse(&format!("{key}~s/({old})/{new}/{flags}")) else { return };
    let plain = new.replace("{0}", &old).replace("{1}", &old);
    let expected = if is_global { value.replace(&old, &plain) } else { value.replacen(&old, &plain, 1) };
    if all.assign(&[index], &[assignment]).is_ok() {
        assert_eq!(value_now(all, index, key), expected, "{value:?} {old:?} {new:?} {flags}");
    }
}

fn calculated(all: &mut Entities<'_>, index: usize, (key, value): (&str, &str), choices: &mut Choices<'_>) {
    let (operator, operand) = (['+', '-', '*', '/'][choices.below(4)], OPERANDS[choices.below(OPERANDS.len())]);
    let Ok(assignment) = Assignment::parse(&format!("{key}{operator}={operand}")) else { return };
    let Ok(done) = all.assign(&[index], &[assignment]) else {
        assert!(operator == '/' && operand == "0", "{value:?} {operator}= {operand} is refused");
        return;
    };
    let now = value_now(all, index, key);
    let numbers = |text: &str| text.split_whitespace().map(|word| word.parse::<f64>().ok()).collect::<Option<Vec<_>>>();
    let (Some(old), Some(new), Some(by)) = (numbers(value), numbers(&now), numbers(operand)) else { return };
    if done.left_in_total > 0 {
        assert_eq!(now, value, "it stays, and has changed");
        return;
    }
    assert_eq!(old.len(), new.len(), "{value:?} {now:?}");
    for (at, (old, new)) in old.iter().zip(&new).enumerate() {
        let by = by.get(at).or(by.first()).copied().unwrap_or_default();
        let exact = match operator {
            '+' => old + by,
            '-' => old - by,
            '*' => old * by,
            _ => old / by,
        };
        let most = (exact.abs() * 1e-5).max(1e-5);
        assert!((exact - new).abs() <= most, "{value:?} {operator}= {operand} is {now:?}, not {exact}");
    }
}

/// Rows of visibility: what was set is what is seen, in a saved map too.
pub fn rows(bytes: &[u8]) {
    let mut choices = Choices::of(bytes);
    let all = all_maps();
    let map = &all[choices.below(all.len())];
    let mut draft = map.draft();
    let Ok(old) = map.visibility() else { return };
    let Ok(rows) = draft.visibility() else { return };
    if choices.below(3) == 0 {
        if rows.fill().is_err() {
            return;
        }
        // The leaf of what is outside of a map of Quake sees nothing.
        let places: Vec<usize> = rows.plain(true).iter().collect();
        for from in &places {
            let to = places[choices.below(places.len())];
            assert!(rows.sees(*from, to).unwrap_or(true), "{}: {from} does not see {to}", map.dialect().name);
        }
    }
    let mut set = Vec::new();
    for _ in 0..choices.below(8) {
        let (from, to, sees) = (choices.below(old.len()), choices.below(old.len()), choices.below(2) == 0);
        let sets = old.sets();
        let which = sets[choices.below(sets.len())];
        if rows.set(which, from, to, sees).is_ok() {
            set.retain(|(other, a, b, _)| (*other, *a, *b) != (which, from, to));
            set.push((which, from, to, sees));
        }
    }
    let is_as_set = |rows: &Visibility<'_>| {
        set.iter().all(|(which, from, to, sees)| {
            rows.row(*which, *from).is_ok_and(|row| row.is_none_or(|row| row.sees(*to)) == *sees)
        })
    };
    assert!(is_as_set(rows), "{set:?}");
    let Some(new) = saved(&draft, Layout::Keep) else { return };
    let rows = new.visibility().expect("saved rows can be read");
    assert!(is_as_set(&rows), "{set:?}");
    assert_eq!(rows.len(), old.len());
}
