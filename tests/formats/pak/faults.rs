//! Planted faults: a writer with one mistake each, which the law has to see.

use bspkit::content::pak::Pak;

use super::law::{compare, unedited};
use super::zip::{File, Zip, half, word};

/// A zip in which there is something to lose.
pub(crate) fn delicate() -> Zip {
    let stale = File { crc: 7, time: 99, gap: b"before".to_vec(), ..File::new("a.vmt", "stale") };
    let odd = File { local_extra: vec![1; 6], central_extra: vec![2; 6], ..File::new("Materials\\B.VMT", "two") };
    let noted = File { comment: b"note".to_vec(), attributes: 0o644 << 16, ..File::new("b.vmt", "three") };
    let gone = File { gap: b"gap".to_vec(), ..File::new("gone.txt", "is taken out") };
    Zip {
        gap_before_directory: b"hidden".to_vec(),
        gap_before_end: b"signed".to_vec(),
        comment: b"XZP1 0".to_vec(),
        behind: b"tail".to_vec(),
        ..Zip::of([stale, gone, odd, noted, File::new("b.vmt", "twin"), File::new("B.vmt", "other case")])
    }
}

type Fault = fn(&mut Vec<u8>, Places);

/// Where things stand in the right file.
#[derive(Clone, Copy)]
struct Places {
    directory: usize,
    /// The second record of the directory.
    second: usize,
    end: usize,
}

#[test]
fn each_fault_is_seen() {
    let before = delicate().build();
    let mut pak = Pak::parse(&before[..]).unwrap();
    let mut expected = unedited(&pak);
    pak.remove(&[1]).unwrap();
    expected.remove(1);
    let right = pak.to_rope().unwrap().to_data().to_vec();
    compare(&before, &right, &expected).unwrap();

    let faults: [(&str, Fault, &str); 12] = [
        ("a stale CRC repaired", |zip, at| zip[at.directory + 16] ^= 1, "file 0 has another record"),
        ("one in the local header", |zip, _| zip[6 + 14] ^= 1, "file 0 has another local record"),
        ("a time dropped", |zip, at| zip[at.directory + 12] = 0, "file 0 has another record"),
        ("data changed", |zip, _| zip[6 + 35] ^= 1, "file 0 has another local record"),
        ("an offset that did not follow", |zip, at| zip[at.second + 42] += 29, "no local header of record 1"),
        ("a name in lower case", |zip, at| zip[at.second + 46] = b'm', "the files are"),
        ("a slash turned", |zip, at| zip[at.second + 46 + 9] = b'/', "the files are"),
        ("an extra field changed", |zip, at| zip[at.second + 46 + 15] = 0, "file 1 has another record"),
        ("bytes of nobody changed", |zip, _| zip[0] = 0, "between files"),
        ("the gap before the end changed", |zip, at| zip[at.end - 1] = 0, "before the end record"),
        ("the comment lost", |zip, at| drop(zip.drain(at.end + 22..at.end + 28)), "end record"),
        ("a twin dropped", |zip, at| (zip[at.end + 8], zip[at.end + 10]) = (4, 4), "the files are"),
    ];
    let end = right.windows(4).rposition(|window| window == b"PK\x05\x06").unwrap();
    let directory = word(&right, end + 16);
    let lengths: usize = [28, 30, 32].into_iter().map(|field| half(&right, directory + field)).sum();
    let places = Places { directory, second: directory + 46 + lengths, end };
    for (what, fault, said) in faults {
        let mut wrong = right.clone();
        fault(&mut wrong, places);
        let verdict = compare(&before, &wrong, &expected);
        // Which of two contradictions is met first does not matter.
        let seen = verdict.expect_err(what);
        assert!(seen.contains(said) || seen.contains("that says"), "{what}: {seen}");
    }
}
