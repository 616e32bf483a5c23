//! Light on displacements: the blocks of real maps lie end to end, and a change reaches one luxel.

use bspkit::content::disp::{LightmapAlphas, SamplePosition, SamplePositions};
use bspkit::{Bsp, ErrorKind};
use proptest::prelude::*;

use super::{corpus, random};

/// Of each displacement: where its alphas and its positions begin, and how many luxels it has.
fn blocks(map: &Bsp<'_>) -> Option<Vec<(usize, usize, usize)>> {
    // The bytes of a face, and where in it stands how many luxels it has.
    let (face, at) = match map.version() {
        17 => (104, 88),
        18 => (72, 52),
        19..=21 => (56, 36),
        _ => return None,
    };
    let lump = |name: &str| map.bytes(map.slot(name).ok()?.id).ok();
    let (infos, faces, faces_hdr) = (lump("DISPINFO")?, lump("FACES")?, lump("FACES_HDR")?);
    let faces = if faces.is_empty() { faces_hdr } else { faces };
    if infos.len() % 176 != 0 || faces.len() % face != 0 {
        return None;
    }
    let number =
        |bytes: &[u8], at: usize| usize::try_from(i32::from_le_bytes(bytes[at..at + 4].try_into().unwrap())).ok();
    let block = |info: &[u8]| {
        let index = usize::from(u16::from_le_bytes([info[36], info[37]]));
        let size = faces.get(index * face + at..index * face + at + 8)?;
        let luxels = (number(size, 0)? + 1) * (number(size, 4)? + 1);
        Some((number(info, 40)?, number(info, 44)?, luxels))
    };
    infos.chunks_exact(176).map(block).collect()
}

/// That the blocks of positions lie end to end and fill the lump.
fn fills(positions: &SamplePositions<'_>, blocks: &[(usize, usize, usize)]) -> Result<usize, String> {
    let mut ranges = Vec::new();
    for (_, start, luxels) in blocks {
        ranges.push(positions.extent(*start, *luxels).map_err(|error| error.to_string())?);
    }
    ranges.sort_by_key(|range| range.start);
    let mut end = 0;
    for range in &ranges {
        if range.start != end {
            return Err(format!("a block begins at {} and the one before it ends at {end}", range.start));
        }
        end = range.end;
    }
    match end == positions.bytes().len() {
        true => Ok(blocks.iter().map(|(_, _, luxels)| luxels).sum()),
        false => Err(format!("the last block ends at {end} of {}", positions.bytes().len())),
    }
}

#[test]
fn blocks_of_real_maps_fill_the_lump() {
    let (mut maps, mut luxels, mut with_alphas) = (0, 0, 0);
    for path in corpus::maps() {
        let Ok(map) = Bsp::open(&path) else { continue };
        let mut draft = map.draft();
        let Ok(positions) = draft.sample_positions() else { continue };
        let lump = positions.bytes().to_vec();
        assert_eq!(lump, *map.bytes(map.slot("DISP_LIGHTMAP_SAMPLE_POSITIONS").unwrap().id).unwrap());
        let Some(blocks) = blocks(&map).filter(|_| !lump.is_empty()) else {
            if !lump.is_empty() {
                println!("{}: version {}, its displacements are not read here", path.display(), map.version());
            }
            continue;
        };
        match fills(positions, &blocks) {
            Ok(count) => (maps, luxels) = (maps + 1, luxels + count),
            Err(why) => panic!("{}: {why}", path.display()),
        }
        let alphas = map.lightmap_alphas().unwrap();
        if !alphas.bytes().is_empty() {
            for (start, _, count) in &blocks {
                assert_eq!(alphas.block(*start, *count).unwrap().len(), *count);
            }
            assert_eq!(
                blocks.iter().map(|(_, _, count)| count).sum::<usize>(),
                alphas.bytes().len(),
                "{}",
                path.display()
            );
            with_alphas += 1;
        }
        // One luxel changed: as many bytes differ as it has, at most, and they are in its block.
        let (_, start, count) = blocks[blocks.len() / 2];
        let old = positions.block(start, count).last().unwrap().unwrap();
        let new = SamplePosition { weights: old.weights.map(|weight| !weight), ..old };
        positions.set(start, count - 1, new).unwrap();
        let changed = positions.bytes().to_vec();
        let differing: Vec<usize> = (0..lump.len()).filter(|at| lump[*at] != changed[*at]).collect();
        let end = positions.extent(start, count).unwrap().end;
        assert_eq!(differing, [end - 3, end - 2, end - 1], "{}", path.display());
        positions.set(start, count - 1, old).unwrap();
        assert_eq!(positions.bytes(), lump);
    }
    println!("{luxels} luxels of displacements in {maps} maps, {with_alphas} with alphas");
}

#[test]
fn a_luxel_too_many_breaks_the_law() {
    let positions = SamplePositions::new(vec![1, 0, 0, 0, 255, 9, 0, 0, 0, 2, 0, 0, 0]);
    assert_eq!(fills(&positions, &[(0, 9, 1), (0, 0, 2)]), Ok(3));
    assert!(fills(&positions, &[(0, 0, 2)]).unwrap_err().contains("ends at 9"));
    assert!(fills(&positions, &[(0, 0, 1), (0, 9, 1)]).unwrap_err().contains("begins at 9"));
    assert!(fills(&positions, &[(0, 0, 4)]).unwrap_err().contains("before luxel 3"));
}

#[test]
fn a_position_of_another_size_is_refused() {
    let mut positions = SamplePositions::new(vec![1, 0, 0, 0, 255, 255, 7, 8, 9, 255, 1]);
    let of = |triangle: u16| SamplePosition { triangle, weights: [1, 2, 3] };
    assert_eq!(positions.block(0, 2).last().unwrap().unwrap(), SamplePosition { triangle: 510, weights: [7, 8, 9] });
    let kind = |error: bspkit::Result<()>| error.unwrap_err().kind();
    assert_eq!(kind(positions.set(0, 0, of(255))), ErrorKind::Refused);
    assert_eq!(kind(positions.set(0, 1, of(254))), ErrorKind::Refused);
    assert_eq!(kind(positions.set(0, 1, of(511))), ErrorKind::Refused);
    assert_eq!(kind(positions.set(0, 2, of(300))), ErrorKind::Malformed);
    assert_eq!(kind(positions.set(0, usize::MAX, of(0))), ErrorKind::Malformed);
    assert_eq!(kind(positions.set(usize::MAX, 0, of(0))), ErrorKind::Malformed);
    positions.set(0, 1, of(255)).unwrap();
    assert_eq!(positions.bytes(), [1, 0, 0, 0, 255, 0, 1, 2, 3, 255, 1]);
    assert_eq!(positions.block(0, usize::MAX).count(), 3, "the last one says that it is cut");
    let mut alphas = LightmapAlphas::new(vec![1, 2]);
    assert!(alphas.block(1, 2).is_err() && alphas.block(usize::MAX, 2).is_err() && alphas.block(2, 0).is_ok());
    assert_eq!([kind(alphas.set(1, 1, 0)), kind(alphas.set(usize::MAX, 1, 0))], [ErrorKind::Malformed; 2]);
}

proptest! {
    #![proptest_config(random::config(500, "tests/formats/lenses/disp.seeds"))]

    #[test]
    fn what_is_set_is_there(bytes: Vec<u8>, start in 0usize..9, luxel in 0usize..9, triangle in 0u16..520, weights: [u8; 3]) {
        let mut positions = SamplePositions::new(bytes.clone());
        let old: Vec<_> = positions.block(start, luxel + 3).map(Result::ok).collect();
        let new = SamplePosition { triangle, weights };
        let mut expected = old.clone();
        if positions.set(start, luxel, new).is_ok() {
            expected[luxel] = Some(new);
        }
        prop_assert_eq!(positions.block(start, luxel + 3).map(Result::ok).collect::<Vec<_>>(), expected);
        prop_assert_eq!(positions.bytes().len(), bytes.len());
    }
}
