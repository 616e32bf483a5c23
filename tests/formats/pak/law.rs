//! The law of every edit: what was not edited has the bytes it had.

use bspkit::content::pak::Pak;

use super::zip::{self, Parts};

/// A file as it ought to be.
#[derive(Clone, Debug)]
pub(crate) struct Expected {
    /// The file that it was, if its bytes have to be that one's.
    pub(crate) as_before: Option<usize>,
    pub(crate) name: Vec<u8>,
    /// What it holds, where that is known.
    pub(crate) data: Option<Vec<u8>>,
}

/// The files of a zip, none edited.
pub(crate) fn unedited(pak: &Pak<'_>) -> Vec<Expected> {
    pak.iter()
        .map(|entry| Expected {
            as_before: Some(entry.index()),
            name: entry.name().to_vec(),
            data: entry.data().ok().map(|data| data.to_vec()),
        })
        .collect()
}

/// Compares a pakfile before and after edits.
pub(crate) fn compare(before: &[u8], after: &[u8], expected: &[Expected]) -> Result<(), String> {
    let (old, new): (Parts, Parts) = (zip::parts(before)?, zip::parts(after)?);
    let names: Vec<_> = new.files.iter().map(|file| &file.name).collect();
    if !names.iter().copied().eq(expected.iter().map(|file| &file.name)) {
        return Err(format!("the files are {names:?}"));
    }
    for (index, (file, expected)) in new.files.iter().zip(expected).enumerate() {
        let Some(was) = expected.as_before.map(|at| &old.files[at]) else { continue };
        if file.local != was.local {
            return Err(format!("file {index} has another local record"));
        }
        if file.central != was.central {
            return Err(format!("file {index} has another record in the directory"));
        }
    }
    // Where engines read on into the next file, one that goes leaves its bytes as long as that one is there.
    let mut rest = new.gaps.iter();
    let kept = old.gaps.iter().all(|byte| rest.any(|other| other == byte));
    if !kept || (new.gaps != old.gaps && !old.shares) {
        return Err("the bytes between files changed".into());
    }
    if new.before_end != old.before_end {
        return Err("the bytes before the end record changed".into());
    }
    if new.end != old.end {
        return Err("the end record or what follows it changed".into());
    }
    let again = Pak::parse(after).map_err(|error| format!("it does not read back: {error}"))?;
    for (index, expected) in expected.iter().enumerate() {
        let data = again.get(index).unwrap().data().ok();
        if expected.data.is_some() && data.as_deref() != expected.data.as_deref() {
            return Err(format!("file {index} holds other bytes"));
        }
    }
    Ok(())
}
