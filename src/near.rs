//! Known names that are close to an unknown one, for messages.

use crate::bytes::escaped;
use crate::error::{Error, ErrorKind, Result};

/// A longer name is compared only by its beginning and its last part.
const LONGEST: usize = 64;
/// The most names that are suggested.
const MOST: usize = 3;

/// The known names that `name` may be a slip for: the closest ones, at most three; none if no name is close.
///
/// Case does not matter. A known name is close if it differs in `_`, `-`, `.` and spaces only; or in few letters (one
/// up to 5 bytes, two up to 8, three in longer names; two neighbours that changed places count as one); or if it begins
/// with `name`, or ends with it after a slash, and `name` has at least 3 bytes.
///
/// ```
/// let classes = ["worldspawn", "light", "light_spot", "info_player_start"];
/// assert_eq!(bspkit::near("lihgt", classes), ["light"]);
/// assert_eq!(bspkit::near("info_play", classes), ["info_player_start"]);
/// assert!(bspkit::near("repack", ["check", "compress"]).is_empty());
/// ```
pub fn near<N: AsRef<[u8]>>(name: impl AsRef<[u8]>, known: impl IntoIterator<Item = N>) -> Vec<N> {
    let name = lower(name.as_ref());
    let ranked = known.into_iter().filter_map(|known| Some((rank(&name, &lower(known.as_ref()))?, known)));
    let mut close: Vec<(usize, N)> = ranked.collect();
    close.sort_by_key(|(rank, _)| *rank);
    let best = close.first().map_or(0, |(rank, _)| *rank);
    let mut found: Vec<N> = Vec::new();
    for (_, known) in close.into_iter().take_while(|(rank, _)| *rank == best) {
        if found.len() < MOST && !found.iter().any(|other| other.as_ref() == known.as_ref()) {
            found.push(known);
        }
    }
    found
}

/// Adds to an error about an unknown name which known names are close, if any is.
pub fn or_none<N: AsRef<[u8]>>(error: Error, name: &[u8], known: impl IntoIterator<Item = N>) -> Error {
    let close: Vec<_> = near(name, known).iter().map(|known| escaped(known.as_ref()).to_string()).collect();
    if close.is_empty() { error } else { error.with_hint(question(&close)) }
}

/// The value of a name, whose case does not matter: of `all` with their names.
///
/// ```
/// use bspkit::near;
/// let sizes = [("small", 1), ("large", 9)];
/// assert_eq!(near::one_of("LARGE", sizes, "a size", "the sizes are")?, 9);
/// let error = near::one_of("smal", sizes, "a size", "the sizes are").unwrap_err();
/// assert_eq!(error.to_string(), "`smal` is not a size");
/// assert_eq!(error.hint().unwrap().to_string(), "did you mean small?");
/// # Ok::<(), bspkit::Error>(())
/// ```
///
/// # Errors
/// [`ErrorKind::Argument`]: the name is not `what`; the hint has close names, or `lead` and all of them.
pub fn one_of<'n, T>(name: &str, all: impl IntoIterator<Item = (&'n str, T)>, what: &str, lead: &str) -> Result<T> {
    let mut names = Vec::new();
    for (known, value) in all {
        if known.eq_ignore_ascii_case(name) {
            return Ok(value);
        }
        names.push(known);
    }
    Err(Error::new(ErrorKind::Argument, format!("`{name}` is not {what}")).with_hint(or_all(name, &names, lead)))
}

/// The question after a message about an unknown name: "did you mean light?" If no known name is close: `lead` and all
/// of them.
pub fn or_all<N: AsRef<str>>(name: &str, known: &[N], lead: &str) -> String {
    let known: Vec<String> = known.iter().map(|known| known.as_ref().to_owned()).collect();
    match &near(name, &known)[..] {
        [] => format!("{lead} {}", known.join(", ")),
        close => question(close),
    }
}

fn question(close: &[impl AsRef<str>]) -> String {
    let close: Vec<_> = close.iter().map(AsRef::as_ref).collect();
    format!("did you mean {}?", close.join(" or "))
}

fn lower(name: &[u8]) -> Vec<u8> {
    name.iter().map(|byte| if *byte == b'\\' { b'/' } else { byte.to_ascii_lowercase() }).collect()
}

/// How close two names are: 0 is the closest, `None` is too far. Letters count before ends, and short ends before long.
fn rank(name: &[u8], known: &[u8]) -> Option<usize> {
    let is_letter = |byte: &&u8| !b"_-. ".contains(byte);
    if name.iter().filter(is_letter).eq(known.iter().filter(is_letter)) {
        return Some(0);
    }
    let most = match name.len().max(known.len()) {
        ..=2 => 0,
        3..=5 => 1,
        6..=8 => 2,
        _ => 3,
    };
    if let Some(letters) = distance(name, known, most) {
        return Some(letters);
    }
    let rest = known.len().checked_sub(name.len()).filter(|_| name.len() >= 3)?;
    let is_last_part = known.ends_with(name) && known.get(rest.wrapping_sub(1)) == Some(&b'/');
    (known.starts_with(name) || is_last_part).then_some(MOST + rest)
}

/// How many letters differ, if at most `most` do: replaced, left out, added, or swapped with their neighbour.
fn distance(one: &[u8], other: &[u8], most: usize) -> Option<usize> {
    if one.len().abs_diff(other.len()) > most || one.len().max(other.len()) > LONGEST {
        return None;
    }
    let mut before = Vec::new();
    let mut last: Vec<usize> = (0..=other.len()).collect();
    for (row, letter) in one.iter().enumerate() {
        let mut next = vec![row + 1];
        for (column, beside) in other.iter().enumerate() {
            let replaced = last[column] + usize::from(letter != beside);
            let mut least = replaced.min(last[column + 1] + 1).min(next[column] + 1);
            let is_swap = row > 0 && column > 0 && one[row - 1] == *beside && other[column - 1] == *letter;
            if is_swap {
                least = least.min(before[column - 1] + 1);
            }
            next.push(least);
        }
        if next.iter().min() > Some(&most) {
            return None;
        }
        before = std::mem::replace(&mut last, next);
    }
    last.last().copied().filter(|letters| *letters <= most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_are_counted() {
        let of = |one: &str, other: &str| distance(one.as_bytes(), other.as_bytes(), 9);
        assert_eq!(of("light", "light"), Some(0));
        assert_eq!(of("lihgt", "light"), Some(1));
        assert_eq!(of("ligt", "light"), Some(1));
        assert_eq!(of("llight", "light"), Some(1));
        assert_eq!(of("right", "light"), Some(1));
        assert_eq!(of("kitten", "sitting"), Some(3));
        assert_eq!(of("", "light"), Some(5));
        assert_eq!(distance(b"kitten", b"sitting", 2), None);
    }

    #[test]
    fn only_close_names_are_near() {
        let lumps = ["ENTITIES", "LEAFFACES", "LEAFS", "FACES", "NODES", "EDGES", "common/clip", "targetname"];
        let near = |name: &str| near(name, lumps);
        assert_eq!(near("entites"), ["ENTITIES"]);
        assert_eq!(near("leaf_faces"), ["LEAFFACES"]);
        assert_eq!(near("faecs"), ["FACES"]);
        assert_eq!(near("leaves"), ["LEAFS"]);
        assert_eq!(near("clip"), ["common/clip"]);
        assert_eq!(near("Common\\Clip"), ["common/clip"]);
        assert_eq!(near("target"), ["targetname"]);
        for far in ["", "x", "no", "no such lump", "lighting", &"x".repeat(100)] {
            assert!(near(far).is_empty(), "{far}");
        }
    }

    #[test]
    fn the_closest_come_first_and_once() {
        assert_eq!(near("light", ["lights", "Light", "LIGHT", "Light"]), ["Light", "LIGHT"]);
        assert_eq!(near("door_1", ["door_2", "door_3", "door_4", "door_5"]), ["door_2", "door_3", "door_4"]);
        assert_eq!(near("info", ["info_player_start", "info_null"]), ["info_null"]);
    }

    #[test]
    fn a_question_or_all_names() {
        assert_eq!(or_all("fases", &["faces", "nodes"], "it has"), "did you mean faces?");
        assert_eq!(or_all("noses", &["noces", "nodes"], "it has"), "did you mean noces or nodes?");
        assert_eq!(or_all("planes", &["faces", "nodes"], "it has"), "it has faces, nodes");
    }
}
