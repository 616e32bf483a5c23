//! The file of a saved map, and the record of rules beside it.

use std::io::Write as _;
use std::path::Path;

use bspkit::disk::put;
use bspkit::file::{Saved, SideFile};
use bspkit::{Error, ErrorKind, Plan, SaveOptions};
use bspkit_packed::Form;
use bspkit_rules::record::{self, Carried};

use crate::talk::{Job, shown};

/// Writes a map, compressed if its name says so. A compressed map that is replaced is as it was read.
pub(crate) fn write_map(
    plan: &Plan<'_>,
    place: &Path,
    packed: Option<&SideFile>,
    how: &SaveOptions,
    force: bool,
) -> bspkit::Result<Saved> {
    let Some(form) = Form::of(place) else { return plan.save_with(place, how) };
    plan.check_force(force)?;
    let mut bytes = Vec::new();
    form.pack(&plan.to_data(), &mut bytes)
        .map_err(|error| Error::new(ErrorKind::Io, "the map cannot be compressed").with_source(error))?;
    match packed {
        Some(old) => old.save(&bytes, how),
        None => bspkit::file::replace(place, how, |mut file| file.write_all(&bytes)),
    }
}

/// Creates the parent folder of a file.
pub(super) fn make_folder(file: &Path) -> bspkit::Result<()> {
    file.parent().map_or(Ok(()), put::folder)
}

/// Brings the record of the rules that were applied to a map to the file that the map is saved as; the warning about
/// one that was there, which was of the map that is replaced.
pub(super) fn carry_record(map: &Path, place: &Path, job: &mut Job<'_>) -> Option<String> {
    let path = record::path(place);
    let warning = match record::carry(map, place) {
        Ok(Carried::Nothing) => return None,
        Ok(Carried::Replaced) => format!("{} was of the map that is replaced, and is now of this one", shown(&path)),
        Ok(Carried::Removed) => format!("{} was of the map that is replaced, and is removed", shown(&path)),
        Err(error) => format!("{} may be of another map: {error}", shown(&path)),
    };
    job.warn(&warning);
    Some(warning)
}
