//! Lump files: game lumps whose members are not where the compilers put them.

use bspkit::dialect::Role;
use bspkit::{Bsp, Builder, ErrorKind, Layout, dialect};
use bspkit_ops::check;
use bspkit_ops::lmp::LumpFile;

/// A map with a game lump of one member, which this many bytes part from the directory.
fn with_gap(gap: usize, behind: usize) -> Bsp<'static> {
    let entity = "{\n\"classname\" \"worldspawn\"\n}\n\0";
    let member = [7; 40];
    let mut payload = [&1_u32.to_le_bytes()[..], &[0; 16], &vec![0; gap], &member, &vec![0; behind]].concat();
    let build = |payload: Vec<u8>| Builder::new(&dialect::SOURCE).lump(0, entity).lump(35, payload).build().unwrap();
    let start = Bsp::parse(&build(payload.clone())).unwrap().role(Role::GameLump).unwrap().stored.start;
    payload[4..8].copy_from_slice(b"prpd");
    let place = i32::try_from(start + 20 + gap).unwrap();
    payload[12..16].copy_from_slice(&place.to_le_bytes());
    payload[16..20].copy_from_slice(&40_i32.to_le_bytes());
    Bsp::from_vec(build(payload)).unwrap()
}

/// The same map is the same after an export and an import, wherever its members are.
#[test]
fn the_own_game_lump_is_imported_unchanged() {
    for (gap, behind) in [(0, 0), (5, 0), (0, 7), (4, 9), (0, 3)] {
        let map = with_gap(gap, behind);
        let lump = map.role(Role::GameLump).unwrap().id;
        let file = LumpFile::export(&map, lump).unwrap();
        let mut draft = map.draft();
        file.import(&mut draft).unwrap();
        let plan = draft.plan(Layout::Keep).unwrap();
        assert!(plan.is_identity(), "{gap} {behind}");
    }
}

/// Of another map it is not known where the members of such a lump are.
#[test]
fn a_game_lump_with_gaps_of_another_map_is_refused() {
    let file = with_gap(60, 0);
    let file = LumpFile::export(&file, file.role(Role::GameLump).unwrap().id).unwrap();
    let other = Builder::new(&dialect::SOURCE).lump(0, "{\n}\n\0").lump(1, [1; 4000]).game_lump(*b"dprp", 4, [3; 40]);
    let other = Bsp::from_vec(other.order(&[0, 1, 35]).build().unwrap()).unwrap();
    let refused = file.import(&mut other.draft()).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Refused, "{refused}");
}

/// New bytes of a whole game lump are read as the saved map has them.
#[test]
fn a_game_lump_of_other_bytes_is_looked_at() {
    let map = with_gap(0, 0);
    let lump = map.role(Role::GameLump).unwrap();
    let mut bytes = map.bytes(lump.id).unwrap().to_vec();
    let found = |bytes: Vec<u8>| {
        let mut draft = map.draft();
        draft.set(lump.id, bytes).unwrap();
        check::introduced(&draft, &check::Options::default()).unwrap()
    };
    bytes[30] = 9;
    assert!(found(bytes.clone()).is_empty());
    // A member beyond the end of the file.
    bytes[12..16].copy_from_slice(&90_000_i32.to_le_bytes());
    let codes: Vec<_> = found(bytes).iter().map(|finding| finding.code.name).collect();
    assert_eq!(codes, ["game-directory"]);
}
