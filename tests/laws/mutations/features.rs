//! Faults of folders and merges, each with the law that finds it.

use bspkit::{Bsp, Data, Layout};
use bspkit_ops::merge::merge;
use bspkit_ops::models::Removal;
use bspkit_text::records::Numbers;

type Merge = fn(&Bsp<'static>, &Bsp<'static>, &Bsp<'static>) -> Vec<u8>;

/// Whether a merge takes the edit of either side, and both edits of different entities.
fn merges(merge: Merge) -> bool {
    let base = Bsp::from_vec(std::fs::read("tests/maps/q2/own_rooms.bsp").unwrap()).unwrap();
    let edited = |base: &Bsp<'static>, index: usize| {
        let mut draft = base.draft();
        draft.entities().unwrap().get_mut(index).unwrap().set("merged", "yes").unwrap();
        let bytes = draft.plan(Layout::Keep).unwrap().to_vec();
        Bsp::from_data(Data::from(bytes), Some(base.dialect())).unwrap()
    };
    let (ours, theirs) = (edited(&base, 2), edited(&base, 6));
    let both = edited(&ours, 6);
    let is = |made: Vec<u8>, wanted: &Bsp<'_>| {
        let made = Bsp::from_vec(made).unwrap();
        made.bytes(made.slots()[0].id).unwrap() == wanted.bytes(wanted.slots()[0].id).unwrap()
    };
    is(merge(&base, &ours, &base), &ours)
        && is(merge(&base, &base, &theirs), &theirs)
        && is(merge(&base, &ours, &theirs), &both)
}

/// Whether the numbers of one side follow the models of the other.
fn follows(merge: Merge) -> bool {
    let base = Bsp::from_vec(std::fs::read("tests/maps/q2/own_rooms.bsp").unwrap()).unwrap();
    let mut draft = base.draft();
    Removal::default().run(&mut draft, &[2]).unwrap();
    let ours = Bsp::from_vec(draft.plan(Layout::Keep).unwrap().to_vec()).unwrap();
    let mut draft = base.draft();
    draft.entities().unwrap().add([("classname", "func_wall"), ("model", "*4")]).unwrap();
    let theirs = Bsp::from_vec(draft.plan(Layout::Keep).unwrap().to_vec()).unwrap();
    let map = Bsp::from_vec(merge(&base, &ours, &theirs)).unwrap();
    let entities = map.entities().unwrap();
    entities.iter().next_back().unwrap().get("model") == Some(&b"*3"[..])
}

#[test]
fn a_merge_whose_numbers_stay_is_seen() {
    assert!(follows(|base, ours, theirs| merge(base, ours, theirs)
        .unwrap()
        .draft
        .plan(Layout::Keep)
        .unwrap()
        .to_vec()));
    // Lumps from the side that changed them, and added entities as they are.
    assert!(!follows(|_, ours, theirs| {
        let (mut draft, added) = (ours.draft(), theirs.entities().unwrap());
        let pairs: Vec<_> = added.iter().next_back().unwrap().pairs().map(|pair| (pair.key, pair.value)).collect();
        draft.entities().unwrap().add(pairs).unwrap();
        draft.plan(Layout::Keep).unwrap().to_vec()
    }));
}

#[test]
fn merges_that_drop_a_side_are_seen() {
    assert!(merges(|base, ours, theirs| merge(base, ours, theirs).unwrap().draft.plan(Layout::Keep).unwrap().to_vec()));
    let wrong: [Merge; 4] = [
        |base, _, _| base.container().bytes().to_vec(),
        |_, ours, _| ours.container().bytes().to_vec(),
        |_, _, theirs| theirs.container().bytes().to_vec(),
        |base, ours, theirs| merge(base, theirs, ours).unwrap().draft.bsp().container().bytes().to_vec(),
    ];
    for (number, wrong) in wrong.into_iter().enumerate() {
        assert!(!merges(wrong), "the wrong merge {number} passes");
    }
}

/// No file of a folder can be removed, cut or changed so that the map is the original one and nothing is said.
#[test]
fn every_file_of_a_folder_counts() {
    use bspkit_text::folder::{Folder, How, unpack};

    // What another program reads, and what only says less if it is missing.
    const OTHERS: [&str; 2] = [".gitattributes", "original/findings.json"];
    for name in ["q2/own_rooms", "goldsrc/own_rooms", "source/room_v20"] {
        let bytes = std::fs::read(format!("tests/maps/{name}.bsp")).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let mut files = Vec::new();
        unpack(&Bsp::parse(&bytes).unwrap(), &How::default(), |name, bytes| {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, bytes).unwrap();
            files.push((name.to_owned(), path, bytes.to_vec()));
            Ok(())
        })
        .unwrap();
        let is_same = || {
            let packed = Folder::read(folder.path()).and_then(|folder| folder.pack(Numbers::default()));
            let is_said = |it: &bspkit_text::folder::Packed| !it.edited.is_empty() || !it.warnings.is_empty();
            packed.is_ok_and(|it| !is_said(&it) && it.draft.plan(Layout::Keep).unwrap().to_vec() == bytes)
        };
        assert!(is_same(), "{name}");
        for (file, path, old) in files.iter().filter(|(file, ..)| !OTHERS.contains(&file.as_str())) {
            std::fs::remove_file(path).unwrap();
            assert!(!is_same(), "{name}: {file} is missing");
            std::fs::write(path, &old[..old.len() / 2]).unwrap();
            assert!(old.is_empty() || !is_same(), "{name}: {file} is cut");
            let mut changed = old.clone();
            if let Some(place) = changed.iter().rposition(u8::is_ascii_digit) {
                changed[place] ^= 1;
                std::fs::write(path, changed).unwrap();
                assert!(!is_same(), "{name}: {file} is changed");
            }
            std::fs::write(path, old).unwrap();
        }
        assert!(is_same(), "{name}");
    }
}
