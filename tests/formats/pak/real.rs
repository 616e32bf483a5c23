//! The law on the pakfiles of real maps (`BSPKIT_CORPUS`, default `tests/corpus`), where there are any.

use bspkit::content::pak::Pak;
use bspkit::dialect::Role;
use bspkit::verify;
use bspkit::{Bsp, Layout, SlotId};

use super::law::{self, Expected};
use super::{corpus, readers};

type Edit = fn(&mut Pak<'_>, &mut Vec<Expected>);

fn fresh(name: &[u8], data: Option<Vec<u8>>) -> Expected {
    Expected { as_before: None, name: name.to_vec(), data }
}

const EDITS: [Edit; 5] = [
    |pak, expected| {
        pak.add("materials/our own/wall.vmt", &b"LightmappedGeneric {}"[..]).unwrap();
        expected.push(fresh(b"materials/our own/wall.vmt", Some(b"LightmappedGeneric {}".to_vec())));
    },
    |pak, expected| {
        pak.remove(&[0]).unwrap();
        expected.remove(0);
    },
    |pak, expected| {
        let middle = pak.len() / 2;
        pak.replace(middle, &b"other bytes"[..]).unwrap();
        expected[middle] = fresh(&expected[middle].name.clone(), Some(b"other bytes".to_vec()));
    },
    |pak, expected| {
        let last = pak.len() - 1;
        pak.rename(last, "another name.vmt").unwrap();
        expected[last] = fresh(b"another name.vmt", expected[last].data.clone());
    },
    |pak, expected| {
        let is_quick = |index: &usize| pak.get(*index).unwrap().size() < 20_000;
        let some: Vec<usize> = (0..pak.len()).filter(is_quick).take(20).collect();
        let methods: Vec<_> = pak.iter().map(|entry| entry.method()).collect();
        pak.compress(&some, 2, Default::default()).unwrap();
        for (index, method) in methods.into_iter().enumerate() {
            if pak.get(index).unwrap().method() != method {
                expected[index].as_before = None;
            }
        }
    },
];

#[test]
fn the_law_holds_on_every_pakfile() {
    let mut count = 0;
    for path in corpus::maps() {
        let bytes = std::fs::read(&path).unwrap();
        let Ok(map) = Bsp::parse(&bytes) else { continue };
        let Ok(pak) = map.pak() else { continue };
        let slot = map.role(Role::Pak).unwrap().id;
        let before = map.bytes(slot).unwrap();
        assert!(pak.to_rope().unwrap() == *before, "{}", path.display());
        // A console's is read and not edited.
        if pak.is_empty() || pak.is_console() {
            continue;
        }
        count += 1;
        for (number, edit) in EDITS.iter().enumerate() {
            let what = || format!("{}, edit {number}", path.display());
            let mut draft = map.draft();
            let mut expected = law::unedited(&pak);
            edit(draft.pak().unwrap(), &mut expected);
            let after = draft.bytes(slot).unwrap();
            law::compare(&before, &after, &expected).unwrap_or_else(|error| panic!("{}: {error}", what()));
            let plan = match draft.plan(Layout::Keep) {
                Ok(plan) => plan,
                // Behind a lump that runs past the end nothing can be put.
                Err(_) if map.container().damaged().next().is_some() => continue,
                Err(error) => panic!("{}: {error}", what()),
            };
            let edited: Option<(SlotId, &[u8])> = Some((slot, &after));
            verify::compare(&map, &plan.to_vec(), Some(Layout::Keep), edited)
                .unwrap_or_else(|error| panic!("{}: {error}", what()));
            if count % 8 == 0 {
                readers::check(&after, &what());
            }
        }
    }
    println!("{count} pakfiles");
}

/// All numbers of the Xbox 360's maps are big-endian, but those of the pakfile are not.
#[test]
fn a_real_consoles_pakfile_is_read() {
    let folder = corpus::folder();
    let Ok(map) = std::fs::read(folder.join("other/shack.360.bsp")) else {
        return eprintln!("notice: no map of the Xbox 360 in {}", folder.display());
    };
    let word = |at: usize| u32::from_be_bytes(map[at..at + 4].try_into().unwrap()) as usize;
    let (offset, length) = (word(8 + 16 * 40), word(12 + 16 * 40));
    let pak = Pak::parse(&map[offset..offset + length]).unwrap();
    assert_eq!((pak.len(), pak.is_console()), (5, true));
    assert_eq!(pak.check(1), []);
}
