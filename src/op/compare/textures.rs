//! Textures in a map, and lists of their names.

use std::collections::HashMap;

use super::change::{Change, TextureChange};
use super::{Found, Sides};
use crate::bytes::Data;
use crate::content::textures::Textures;
use crate::op::diff::longest_rise;

/// A texture's name, and its bytes after the name.
type Texture<'t> = (Option<Vec<u8>>, Option<&'t [u8]>);

pub(super) fn compare(sides: &Sides<'_>, _: &[Data<'_>; 2], found: &mut Found) {
    let (Ok(old), Ok(new)) = (sides.old.textures(), sides.new.textures()) else { return };
    let all = |textures| (0..Textures::len(textures)).map(|index| texture(textures, index)).collect::<Vec<_>>();
    differ(&all(&old), &all(&new), found);
}

fn texture<'t>(textures: &'t Textures<'_>, index: usize) -> Texture<'t> {
    /// How many bytes a name has.
    const NAME: usize = 16;
    let image = textures.get(index).ok().flatten().and_then(|texture| texture.bytes().get(NAME..));
    (textures.name(index).map(<[u8]>::to_vec), image)
}

/// Compares the names of a list.
pub(super) fn compare_strings(sides: &Sides<'_>, _: &[Data<'_>; 2], found: &mut Found) {
    let (Ok(old), Ok(new)) = (sides.old.texture_names(), sides.new.texture_names()) else { return };
    let [old, new] = [old, new].map(|names| names.iter().map(|name| (Some(name.name), None)).collect::<Vec<_>>());
    differ(&old, &new, found);
}

/// Compares textures by their names. What is left of both lists is the same texture under another name if it is at the
/// same place of lists of the same length, or has the same image.
fn differ(old: &[Texture<'_>], new: &[Texture<'_>], found: &mut Found) {
    let pairing = paired(old, new);
    let stays = longest_rise(&pairing);
    let mut is_kept = vec![false; old.len()];
    for (index, from) in pairing.iter().enumerate() {
        from.iter().for_each(|from| is_kept[*from] = true);
        let (before, after) = (from.and_then(|from| old.get(from)), &new[index]);
        if before == Some(after) && stays[index] {
            continue;
        }
        found.touched().textures += 1;
        found.add(|| {
            let (old, image) = before.map_or((None, None), |before| before.clone());
            let from = from.filter(|from| *from != index);
            Change::Texture(TextureChange { index, from, old, new: after.0.clone(), image: image != after.1 })
        });
    }
    for (index, (name, image)) in old.iter().enumerate().filter(|(index, _)| !is_kept[*index]) {
        found.touched().textures += 1;
        let (old, image) = (name.clone(), image.is_some());
        found.add(|| Change::Texture(TextureChange { index, from: None, old, new: None, image }));
    }
}

/// For each new texture the old one. Several of one name are paired in their order.
fn paired(old: &[Texture<'_>], new: &[Texture<'_>]) -> Vec<Option<usize>> {
    let mut known: HashMap<Option<&[u8]>, Vec<usize>> = HashMap::new();
    old.iter().enumerate().rev().for_each(|(at, (name, _))| known.entry(name.as_deref()).or_default().push(at));
    let mut pairing: Vec<Option<usize>> =
        new.iter().map(|(name, _)| known.get_mut(&name.as_deref()).and_then(Vec::pop)).collect();
    let mut is_left = vec![false; old.len()];
    known.into_values().flatten().for_each(|at| is_left[at] = true);
    if old.len() == new.len() {
        for (at, from) in pairing.iter_mut().enumerate() {
            if from.is_none() && std::mem::take(&mut is_left[at]) {
                *from = Some(at);
            }
        }
    }
    let mut images: HashMap<&[u8], Vec<usize>> = HashMap::new();
    for (at, image) in
        old.iter().enumerate().rev().filter(|(at, _)| is_left[*at]).filter_map(|(at, one)| Some((at, one.1?)))
    {
        images.entry(image).or_default().push(at);
    }
    for (from, (_, image)) in pairing.iter_mut().zip(new).filter(|(from, _)| from.is_none()) {
        *from = image.and_then(|image| images.get_mut(image)?.pop());
    }
    pairing
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn textures_are_paired_by_name() {
        let list = |names: &str| {
            let one = |name: char| (Some(vec![name as u8]), Some(&b"image"[..0]));
            names.chars().map(one).collect::<Vec<_>>()
        };
        let paired = |old, new| paired(&list(old), &list(new));
        assert_eq!(paired("abcd", "bcd"), [Some(1), Some(2), Some(3)]);
        assert_eq!(paired("abcd", "axcd"), [Some(0), Some(1), Some(2), Some(3)]);
        assert_eq!(paired("aab", "ab"), [Some(0), Some(2)]);
        let other: Vec<Texture<'_>> = vec![(Some(b"x".to_vec()), None), (Some(b"a".to_vec()), None)];
        assert_eq!(super::paired(&[(Some(b"a".to_vec()), None)], &other), [None, Some(0)]);
    }
}
