//! What `check` finds in a map and did not find when the map was unpacked. The old bytes of edited slots are not known,
//! so the folder keeps the old findings.

use super::manifest::wrong;
use super::survey::{Survey, sentence};
use crate::face::ci::Baseline;
use crate::face::input;
use crate::op::check::{self, Finding};
use crate::{Bsp, Draft, Error, Result};

/// The file with the findings in the original map, if there are some.
pub(super) const FINDINGS: &str = "original/findings.json";

/// The text of the file.
pub(super) fn text(bsp: &Bsp<'_>) -> Result<Option<String>> {
    let findings = check::run(bsp, &of_faults()?)?;
    let mut known = Baseline::default();
    known.add("", &findings);
    Ok((!findings.is_empty()).then(|| known.write()))
}

/// An edit is not at fault if it leaves something that nothing refers to.
fn of_faults() -> Result<check::Options> {
    check::Options::default().allow("unused-records")
}

/// Reads the file.
pub(super) fn known(survey: &Survey) -> Result<Baseline, Error> {
    if !survey.has(FINDINGS) {
        return Ok(Baseline::default());
    }
    let text = survey.read(FINDINGS).map_err(|why| wrong(FINDINGS, why))?;
    input::refuse_utf16(FINDINGS.as_ref(), &text)?;
    let text = String::from_utf8(text).map_err(|_| wrong(FINDINGS, "it is not UTF-8 text"))?;
    Baseline::read(&text).map_err(|error| wrong(FINDINGS, sentence(&error)))
}

/// What is found in the map with its edits and is not known.
pub(super) fn new_ones(draft: &Draft<'_>, known: &Baseline) -> Result<Vec<Finding>> {
    let Some(view) = draft.view()? else { return Ok(Vec::new()) };
    Ok(known.new_ones("", check::run(&view, &of_faults()?)?))
}
