//! Bad input: one sentence each, and nothing done.

use bspkit::ErrorKind;
use bspkit::content::pak::Pak;
use bspkit::finding::Severity;

use super::zip::{File, Zip};

fn two() -> Zip {
    Zip::of([File::new("a.txt", "one"), File::new("b.txt", "two")])
}

fn end_of(zip: &[u8]) -> usize {
    zip.windows(4).rposition(|window| window == b"PK\x05\x06").unwrap()
}

/// The zip with some bytes behind the start of its end record changed.
fn with_end(at: usize, bytes: &[u8]) -> Vec<u8> {
    let mut zip = two().build();
    let at = end_of(&zip) + at;
    zip[at..at + bytes.len()].copy_from_slice(bytes);
    zip
}

#[test]
fn what_cannot_be_read_says_why() {
    let whole = two().build();
    let mut zip64 = whole.clone();
    let end = end_of(&zip64);
    zip64.splice(end..end, *b"PK\x06\x07----------------");
    let mut sizes = whole.clone();
    let directory = 2 * (30 + 5 + 3);
    sizes[directory + 24..directory + 28].fill(0xff);
    let prefixed = [b"prefix", &whole[..]].concat();
    let cases: [(Vec<u8>, ErrorKind, &str); 11] = [
        (b"nothing of the kind".to_vec(), ErrorKind::Malformed, "the pakfile is not a zip: it has no end record"),
        (whole[..whole.len() - 1].to_vec(), ErrorKind::Malformed, "the pakfile is cut off: it has no end record"),
        (whole[..60].to_vec(), ErrorKind::Malformed, "the pakfile is cut off: it has no end record"),
        (
            whole[20..].to_vec(),
            ErrorKind::Malformed,
            "contradicts itself: the directory of 102 bytes at 76 is not there",
        ),
        (prefixed, ErrorKind::Malformed, "is not there; one that nothing points to begins at 82"),
        (with_end(16, &[0, 0, 1, 0]), ErrorKind::Malformed, "is after the end record"),
        (with_end(8, &[3, 0, 3, 0]), ErrorKind::Malformed, "file 2 of 3 is cut off"),
        (with_end(4, &[1, 0, 1, 0]), ErrorKind::Unsupported, "several disks"),
        (with_end(8, &[1, 0]), ErrorKind::Unsupported, "several disks"),
        (zip64, ErrorKind::Unsupported, "a zip64 file, which no engine reads"),
        (sizes, ErrorKind::Malformed, "file 0 of 2 is of zip64"),
    ];
    for (bytes, kind, said) in cases {
        let error = Pak::parse(bytes).expect_err(said);
        assert!(error.to_string().contains(said) && error.kind() == kind, "{error} instead of {said}");
        assert_eq!(error.to_string().lines().count(), 1);
    }
}

#[test]
fn an_end_record_within_the_comment_is_none() {
    let comment = [b"PK\x05\x06", &[0; 30][..]].concat();
    let zip = Zip { comment: comment.clone(), ..two() }.build();
    let pak = Pak::parse(&zip[..]).unwrap();
    assert_eq!((pak.len(), pak.comment()), (2, &comment[..]));
}

type Codes = Vec<(Severity, &'static str)>;

/// The findings about a file, by code, and what reading it says.
/// A second end record behind the right one names a place where no directory is, until a file before it grows by as much.
/// It may be the one that fits where the files before it move.
#[test]
fn an_end_record_that_would_become_the_right_one_is_refused() {
    let whole = two().build();
    let (end, directory) = (end_of(&whole), 2 * (30 + 5 + 3));
    // What is added takes 30 bytes, the name and the content.
    for length in [22_u16, 0] {
        let mut zip = whole.clone();
        let mut second = whole[end..].to_vec();
        second[16..20].copy_from_slice(&u32::try_from(directory + 30 + 5 + 7).unwrap().to_le_bytes());
        zip[end + 20..end + 22].copy_from_slice(&length.to_le_bytes());
        zip.extend(second);
        let mut pak = Pak::parse(&zip[..]).unwrap();
        assert_eq!(pak.len(), 2);
        assert_eq!(pak.add("c.txt", "content").unwrap_err().kind(), ErrorKind::Refused);
    }
}

/// Readers that go by the bytes of the directory find two files, those that go by the count one.
#[test]
fn a_directory_with_more_files_than_are_counted_is_a_fault() {
    let mut zip = two().build();
    let end = end_of(&zip);
    zip[end + 8..end + 12].copy_from_slice(&[1, 0, 1, 0]);
    let mut pak = Pak::parse(&zip[..]).unwrap();
    assert_eq!(pak.len(), 1);
    let found = pak.check(1);
    let is_it = |one: &bspkit::finding::Finding| one.code.name == "directory" && one.code.severity == Severity::Error;
    assert!(found.iter().any(is_it), "{found:?}");
    for error in [pak.add("c.txt", "content").unwrap_err(), pak.remove(&[0]).unwrap_err()] {
        assert!(error.kind() == ErrorKind::Refused && error.to_string().contains("goes on"), "{error}");
    }
}

fn look(file: File) -> (Codes, Result<Vec<u8>, String>) {
    let zip = Zip::of([File::new("first.txt", "first"), file]).build();
    let pak = Pak::parse(&zip[..]).unwrap();
    let findings = pak.check(2).into_iter().inspect(|finding| assert_eq!(finding.message.lines().count(), 1));
    let findings = findings.map(|finding| (finding.code.severity, finding.code.name)).collect();
    let data = pak.get(1).unwrap().data();
    (findings, data.map(|data| data.to_vec()).map_err(|error| error.to_string()))
}

#[test]
fn what_is_wrong_with_a_file_is_found() {
    use Severity::{Error, Warning};
    let plain = || File::new("a.txt", "data, data, data, data, data, data, data");
    let packed = |size, cut: usize| {
        let packed = bspkit::file::lzma::compress(&plain().stored, Default::default()).unwrap();
        let stored = [b"\x15\x03\x05\0", &packed[12..packed.len() - cut]].concat();
        File { stored, size, method: 14, ..plain() }
    };
    let size = plain().size;
    assert_eq!(look(plain()).0, []);
    assert_eq!(look(packed(size, 0)).0, []);
    assert_eq!(look(packed(size, 0)).1.unwrap(), plain().stored);
    let named = |name: &str| File { name: name.into(), ..plain() };
    let cases: Vec<(File, Codes, Option<&str>)> = vec![
        (File { crc: 1, ..plain() }, vec![(Error, "crc")], None),
        (File { flags: 1, ..plain() }, vec![(Error, "encrypted")], Some("`a.txt` is encrypted, which no engine reads")),
        (
            File { method: 8, ..plain() },
            vec![(Error, "method")],
            Some("compressed with deflate, which no engine reads"),
        ),
        (File { method: 12, ..plain() }, vec![(Error, "method")], Some("compressed with method 12")),
        (File { size: 5, ..plain() }, vec![(Error, "data")], Some("has two sizes: 5 bytes, stored as 40")),
        (
            File { flags: 8, descriptor: b"PK\x07\x08------------".to_vec(), ..plain() },
            vec![(Warning, "descriptor")],
            None,
        ),
        (File { local_extra: vec![0; 4], ..plain() }, vec![(Error, "extra"), (Error, "crc")], None),
        (packed(size + 9, 0), vec![(Error, "data")], Some("cannot be decompressed")),
        (packed(size, 3), vec![(Error, "data")], Some("cannot be decompressed")),
        (packed(u32::MAX - 1, 0), vec![(Error, "size")], Some("")),
        (File { stored: b"\x15\x03\x05".to_vec(), ..packed(size, 0) }, vec![(Error, "data")], Some("cannot be decomp")),
        (File { name: b"a.wav".to_vec(), ..packed(size, 0) }, vec![(Error, "sound")], None),
        (named("../a.txt"), vec![(Error, "name")], None),
        (named("a/..\\a.txt"), vec![(Error, "name"), (Warning, "backslash")], None),
        (named("/etc/passwd"), vec![(Error, "name")], None),
        (named("c:\\a.txt"), vec![(Error, "name"), (Warning, "backslash")], None),
        (named("a\0.txt"), vec![(Error, "name")], None),
        (named("First.TXT"), vec![(Warning, "duplicate")], None),
        (File { gap: vec![1], ..plain() }, vec![(Warning, "gap")], None),
    ];
    for (file, codes, said) in cases {
        let shown = format!("{file:?}");
        let (found, data) = look(file);
        assert_eq!(found, codes, "{shown}");
        match said {
            None => assert!(data.is_ok(), "{shown}: {data:?}"),
            Some(said) => assert!(data.as_ref().unwrap_err().contains(said), "{data:?} instead of {said}"),
        }
    }
}

#[test]
fn a_file_that_runs_out_of_the_pakfile_only_fails_itself() {
    let mut zip = two().build();
    let directory = 2 * (30 + 5 + 3);
    zip[directory + 20..directory + 24].copy_from_slice(&1_000_000_u32.to_le_bytes());
    let mut pak = Pak::parse(&zip[..]).unwrap();
    let error = pak.get(0).unwrap().data().unwrap_err();
    assert_eq!(error.to_string(), "`a.txt` runs past the pakfile's end: 1000000 bytes at 0");
    assert_eq!(&*pak.get(1).unwrap().data().unwrap(), b"two");
    // Nothing can be moved with it, but it can go.
    pak.add("c.txt", &b"three"[..]).unwrap();
    assert_eq!(pak.to_rope().unwrap_err().kind(), ErrorKind::Refused);
    pak.remove(&[0]).unwrap();
    let again = Pak::parse(pak.to_rope().unwrap().to_data()).unwrap();
    assert_eq!(again.iter().map(|entry| entry.data().unwrap().to_vec()).collect::<Vec<_>>(), [&b"two"[..], b"three"]);
}

/// Readers that take the last end record read another directory than those that follow the lengths.
#[test]
fn an_end_record_in_a_comment_is_a_doubt() {
    let mut zip = Zip::of([File::new("a.vmt", "a")]);
    zip.comment = [b"PK\x05\x06".to_vec(), vec![0; 18]].concat();
    let mut pak = Pak::parse(zip.build()).unwrap();
    assert_eq!(pak.len(), 1);
    let found: Vec<_> = pak.check(1).iter().map(|finding| finding.code.name).collect();
    assert_eq!(found, ["directory"]);
    let refused = pak.add("b.vmt", "b").unwrap_err();
    assert!(refused.kind() == ErrorKind::Refused && refused.to_string().contains("another end record"), "{refused}");
    zip.comment = b"PK\x05\x06".to_vec();
    assert!(Pak::parse(zip.build()).unwrap().add("b.vmt", "b").is_ok(), "too short for a record");
}
