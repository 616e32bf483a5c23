//! Embedded files: nothing that differs goes unnamed, and a file with another name is the same one if its content says so.

use bspkit::Bsp;
use bspkit_ops::compare::{self, Change, FileContent, How};

use super::named::lines;
use super::{fixture, saved};

/// A map with these embedded files; those that are `packed` are compressed.
fn with_files(files: &[(&str, &[u8])], packed: bool) -> Bsp<'static> {
    let mut draft = fixture("source/room_v20").draft();
    let pak = draft.pak().unwrap();
    pak.remove(&(0..pak.len()).collect::<Vec<_>>()).unwrap();
    files.iter().for_each(|(name, bytes)| assert!(pak.add(name, bytes.to_vec()).is_ok()));
    if packed {
        pak.compress(&(0..files.len()).collect::<Vec<_>>(), 1, Default::default()).unwrap();
    }
    saved(&draft)
}

fn files(old: &Bsp<'_>, new: &Bsp<'_>) -> Vec<String> {
    lines(&compare::whole(old, new, 100)).into_iter().filter(|line| line.starts_with("PAKFILE: ")).collect()
}

/// The map with another checksum of its only file.
fn with_checksum(map: &Bsp<'_>, from: u32, to: u32) -> Bsp<'static> {
    let mut bytes = map.container().bytes().to_vec();
    let places: Vec<usize> =
        bytes.windows(4).enumerate().filter(|(_, word)| *word == from.to_le_bytes()).map(|(at, _)| at).collect();
    assert_eq!(places.len(), 2, "in the local header and in the directory");
    places.into_iter().for_each(|at| bytes[at..at + 4].copy_from_slice(&to.to_le_bytes()));
    Bsp::from_vec(bytes).unwrap()
}

/// The checksum in the directory of a pakfile is what its writer says.
#[test]
fn a_file_with_the_same_checksum_and_other_bytes_changed() {
    let [one, other] = ["the gate opens\n", "the gate closes"].map(|line| line.repeat(40).into_bytes());
    let [old, new] = [with_files(&[("a.txt", &one)], false), with_files(&[("a.txt", &other)], true)];
    let crc = |map: &Bsp<'_>| map.pak().unwrap().get(0).unwrap().crc();
    let forged = with_checksum(&new, crc(&new), crc(&old));
    assert_eq!(crc(&forged), crc(&old));
    let found = files(&old, &forged);
    assert_eq!(found, ["PAKFILE: a.txt changed, 600 bytes"]);

    let packed = with_files(&[("a.txt", &one)], true);
    assert_eq!(files(&old, &packed), ["PAKFILE: a.txt rewritten with the same content, 600 bytes"]);
}

/// Beyond the bound in total nothing is decompressed, and then nobody says that the content is the same.
#[test]
fn what_is_not_decompressed_has_the_same_checksum() {
    let large = vec![7; 9 << 20];
    let all: [(&str, &[u8]); 4] = [("a", &large), ("b", &large), ("c", &large), ("d", &large)];
    let found = compare::whole(&with_files(&all, false), &with_files(&all, true), 100);
    let contents = found.lumps.iter().flat_map(|lump| &lump.changes).filter_map(|change| match change {
        Change::File(file) => Some((file.how, file.content)),
        _ => None,
    });
    let contents: Vec<_> = contents.collect();
    assert_eq!(contents[0], (How::Rewritten, FileContent::Same));
    assert_eq!(contents[3], (How::Rewritten, FileContent::SameChecksum));
    let line = lines(&found).into_iter().find(|line| line.starts_with("PAKFILE: d ")).unwrap();
    assert_eq!(line, format!("PAKFILE: d rewritten with the same checksum and size, {} bytes", 9 << 20));
}

#[test]
fn a_file_that_was_renamed_and_edited_is_one_change() {
    let text: String = (0..40).map(|at| format!("line {at} of the script\n")).collect();
    let edited = text.replace("line 7 ", "another line ");
    let binary: Vec<u8> = (0..8000_u32).flat_map(|at| (at * at).to_le_bytes()).collect();
    let mut other = binary.clone();
    other[9000] ^= 1;
    let old =
        with_files(&[("a.txt", text.as_bytes()), ("x.vtf", &binary), ("same", b"12"), ("gone.txt", b"1\n2\n")], false);
    let new = with_files(
        &[("b/c.txt", edited.as_bytes()), ("y.vtf", &other), ("other", b"12"), ("new.txt", b"3\n4\n")],
        false,
    );
    let found = compare::whole(&old, &new, 100);
    assert_eq!(
        lines(&found).into_iter().filter(|line| line.starts_with("PAKFILE: ")).collect::<Vec<_>>(),
        [
            format!("PAKFILE: a.txt -> b/c.txt and changed, {} -> {} bytes", text.len(), edited.len()),
            format!("PAKFILE: x.vtf -> y.vtf and changed, {} bytes", binary.len()),
            "PAKFILE: same -> other, 2 bytes".to_owned(),
            "PAKFILE: new.txt added, 4 bytes".to_owned(),
            "PAKFILE: gone.txt removed, 4 bytes".to_owned(),
        ]
    );
    let script = found.lumps.iter().flat_map(|lump| &lump.changes).find_map(|change| match change {
        Change::File(file) => Some(file),
        _ => None,
    });
    let script = script.unwrap();
    assert_eq!(script.text.as_ref().map(|text| (text.added, text.removed)), Some((1, 1)));
}

/// Bytes that are stored alike are the same content only where the directory says the same of them.
#[test]
fn a_file_with_another_checksum_or_encryption_changed() {
    let map = with_files(&[("a.txt", b"the gate opens\n")], false);
    let crc = map.pak().unwrap().get(0).unwrap().crc();
    assert_eq!(files(&map, &with_checksum(&map, crc, 7)), ["PAKFILE: a.txt changed, 15 bytes"]);

    let mut bytes = map.container().bytes().to_vec();
    let record = bytes.windows(4).rposition(|word| word == b"PK\x01\x02").unwrap();
    bytes[record + 8] |= 1;
    let encrypted = Bsp::from_vec(bytes).unwrap();
    assert!(encrypted.pak().unwrap().get(0).unwrap().is_encrypted());
    assert_eq!(files(&map, &encrypted), ["PAKFILE: a.txt changed, 15 bytes"]);
    assert!(files(&encrypted, &encrypted).is_empty());
}

/// Of several files of one name the one that went is named, and no other one.
#[test]
fn one_of_several_files_of_a_name_is_removed() {
    let map = with_files(&[("a.txt", b"one"), ("b.txt", b"two"), ("c.txt", b"three")], false);
    let mut bytes = map.container().bytes().to_vec();
    // No tool of ours makes two files of one name.
    for (at, _) in bytes.clone().windows(5).enumerate().filter(|(_, name)| [&b"b.txt"[..], b"c.txt"].contains(name)) {
        bytes[at] = b'a';
    }
    let map = Bsp::from_vec(bytes).unwrap();
    assert_eq!(map.pak().unwrap().iter().filter(|file| file.name() == b"a.txt").count(), 3);
    for (gone, size) in [(0, 3), (1, 3), (2, 5)] {
        let mut draft = map.draft();
        draft.pak().unwrap().remove(&[gone]).unwrap();
        let found = compare::draft(&draft, 10).unwrap();
        assert_eq!((found.touched().files, found.lumps[0].hows.to_string()), (1, "1 removed".to_owned()), "{gone}");
        assert_eq!(files(&map, &saved(&draft)), [format!("PAKFILE: a.txt removed, {size} bytes")]);
    }
}
