//! The light grid: its size by the engine's sums, and its points.

use bspkit::content::lightgrid::LightGrid;
use bspkit::{Bsp, Builder, ErrorKind, dialect};

use super::{corpus, own_maps};

fn check(map: &Bsp<'_>, name: &str) -> usize {
    let mut draft = map.draft();
    let grid = match draft.light_grid() {
        Ok(grid) => grid,
        Err(error) => {
            assert!(matches!(error.kind(), ErrorKind::NotFound | ErrorKind::Malformed), "{name}: {error}");
            if error.kind() != ErrorKind::NotFound {
                println!("{name}: {error}");
            }
            return 0;
        }
    };
    let lump = grid.bytes().to_vec();
    assert_eq!(lump, *map.bytes(map.slot("LIGHTGRID").unwrap().id).unwrap(), "{name}");
    grid.check().unwrap_or_else(|error| panic!("{name}: {error}"));
    if lump.is_empty() {
        return 0;
    }
    for index in 0..grid.len() {
        assert_eq!(grid.index(grid.place(index).unwrap()), Some(index), "{name}");
    }
    let last = grid.len() - 1;
    let old = grid.get(last).unwrap();
    assert_eq!(old, lump[lump.len() - 8..], "{name}");
    grid.set(last, old.map(|byte| !byte)).unwrap();
    assert_eq!(grid.bytes()[..lump.len() - 8], lump[..lump.len() - 8], "{name}");
    grid.set(last, old).unwrap();
    assert_eq!(grid.bytes(), lump, "{name}");
    grid.len()
}

#[test]
fn grids_of_own_maps() {
    let points: Vec<_> =
        own_maps().iter().map(|path| check(&Bsp::open(path).unwrap(), &path.display().to_string())).collect();
    assert_eq!(points.iter().filter(|count| **count > 0).count(), 2, "{points:?}");
}

#[test]
fn grids_of_real_maps() {
    let (mut maps, mut points) = (0, 0);
    for path in corpus::maps() {
        let Ok(map) = Bsp::open(&path) else { continue };
        let found = check(&map, &path.display().to_string());
        (maps, points) = (maps + usize::from(found > 0), points + found);
    }
    println!("{points} points of light grids in {maps} maps");
}

#[test]
fn points_are_where_the_engine_has_them() {
    let grid =
        LightGrid::new(vec![0; 8 * 2 * 3 * 2], [64.0, 64.0, 128.0], [-65.0, -64.0, 0.0], [64.0, 127.0, 128.0]).unwrap();
    assert_eq!((grid.counts(), grid.origin()), ([3, 3, 2], [-64.0, -64.0, 0.0]));
    assert_eq!(grid.index([1, 2, 1]), Some(16));
    assert_eq!((grid.place(16), grid.position([1, 2, 1])), (Some([1, 2, 1]), Some([0.0, 64.0, 128.0])));
    assert_eq!((grid.index([3, 0, 0]), grid.place(18), grid.position([0, 0, 2])), (None, None, None));
    assert_eq!(grid.check().unwrap_err().kind(), ErrorKind::Malformed);
    assert!(grid.get(11).is_ok() && grid.get(12).is_err() && grid.get(usize::MAX).is_err());
}

/// Sums of 64 bits, which the law must catch: the reference names this size as one where they fail.
#[test]
fn wider_floats_would_give_another_grid() {
    let size = 76.8_f32;
    let wide = |min: f32, max: f32| {
        let (size, min, max) = (f64::from(size), f64::from(min), f64::from(max));
        ((size * (max / size).floor() - size * (min / size).ceil()) / size + 1.0) as usize
    };
    let differ = (1..200_i16).any(|cells| {
        let max = size * f32::from(cells);
        let grid = LightGrid::new(vec![], [size; 3], [0.0; 3], [max; 3]).unwrap();
        grid.counts()[0] != wide(0.0, max)
    });
    assert!(differ);
}

#[test]
fn grids_that_cannot_be_are_refused() {
    let kind = |cell: f32, mins: f32, maxs: f32| {
        LightGrid::new(vec![], [cell; 3], [mins; 3], [maxs; 3]).map(|grid| grid.len())
    };
    for (cell, mins, maxs) in
        [(0.0, 0.0, 1.0), (f32::NAN, 0.0, 1.0), (1.0, 0.0, f32::INFINITY), (1e-30, -1e30, 1e30), (1.0, 9.0, 0.0)]
    {
        assert_eq!(kind(cell, mins, maxs).unwrap_err().kind(), ErrorKind::Malformed, "{cell} {mins} {maxs}");
    }
    assert!(kind(1.0, 0.0, 2e9).is_err(), "more points than can be counted");
    assert_eq!(kind(64.0, 1.0, 2.0).unwrap(), 0);
    let map = |text: &str, models: Vec<u8>| {
        let builder =
            Builder::new(&dialect::QUAKE3).lump(0, format!("{{\n{text}\n}}\n\0")).lump(7, models).lump(15, vec![0; 8]);
        Bsp::from_vec(builder.build().unwrap()).unwrap().light_grid().map(|grid| (grid.cell(), grid.check().is_ok()))
    };
    assert_eq!(map("\"gridsize\" \"1 1 1\" \"GRIDSIZE\" \"8 4\"", vec![0; 40]).unwrap(), ([8.0, 4.0, 1.0], true));
    assert_eq!(map("\"gridsize\" \"x\"", vec![0; 40]).unwrap(), (LightGrid::CELL, true));
    assert_eq!(map("", vec![0; 20]).unwrap_err().kind(), ErrorKind::Malformed);
    assert!(map("\"gridsize\" \"0 0 0\"", vec![0; 40]).is_err());
}
