//! Outputs of Source that rules change: a key with five parts as its value, such as `door,Open,,0.5,-1`.

use bspkit::bytes::short;
use bspkit::content::entities::Output;

use super::{Pair, PairCounts, Test};

/// What outputs get: a name and parts. They keep what is not given.
pub(super) type Given<'s> = (Option<&'s [u8]>, &'s [Option<Vec<u8>>; 5]);

/// Gives the outputs that pass one of the tests other parts, and puts them after the others, as the program does that
/// removes and adds them. Where that is the same they stay in their places. Returns what the pairs took that are gone,
/// and what the new ones take.
pub(super) fn change<'w>(
    pairs: &mut Vec<Pair<'w>>,
    tests: &[Test],
    (key, parts): Given<'w>,
    (number, hides_empty): (usize, bool),
    counts: &mut PairCounts,
) -> (usize, usize) {
    let is_hit =
        |pair: &Pair<'_>| pair.is_seen(hides_empty) && tests.iter().any(|test| test.passes(&pair.key, &pair.value));
    let hits: Vec<bool> = pairs.iter().map(is_hit).collect();
    let Some(first) = hits.iter().position(|is_hit| *is_hit) else { return (0, 0) };
    let mut rest = pairs.iter().zip(&hits).skip(first);
    let has_name = |pair: &Pair<'_>| key.is_none_or(|key| *pair.key == *key);
    let stays = rest.all(|(pair, is_hit)| if *is_hit { has_name(pair) } else { Output::parse(&pair.value).is_none() });
    let by = Some(short(number));
    let (mut gone, mut new) = (0, 0);
    let (mut others, mut changed) = (Vec::with_capacity(pairs.len()), Vec::new());
    for (mut pair, is_hit) in std::mem::take(pairs).into_iter().zip(hits) {
        if !is_hit {
            others.push(pair);
            continue;
        }
        let value = joined(&pair.value, parts);
        if stays && value == *pair.value {
            others.push(pair);
            continue;
        }
        gone += pair.size();
        match stays {
            true => {
                (pair.value, pair.by) = (value.into(), by);
                new += pair.size();
                counts.set += 1;
                others.push(pair);
            }
            false => {
                let name = key.map_or(pair.key, Into::into);
                let pair = Pair { key: name, value: value.into(), origin: None, by };
                new += pair.size();
                (counts.removed, counts.added) = (counts.removed + 1, counts.added + 1);
                changed.push(pair);
            }
        }
    }
    others.append(&mut changed);
    *pairs = others;
    (gone, new)
}

/// The value of an output with other parts.
fn joined(value: &[u8], parts: &[Option<Vec<u8>>; 5]) -> Vec<u8> {
    let separator = if value.contains(&Output::ESCAPE) { Output::ESCAPE } else { Output::COMMA };
    let old = value.split(|byte| *byte == separator);
    let new: Vec<&[u8]> = old.zip(parts).map(|(old, new)| new.as_deref().unwrap_or(old)).collect();
    new.join(&separator)
}
