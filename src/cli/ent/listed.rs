//! Lists of entities in JSON, for `ent import`.

use anyhow::{Context as _, Result, bail};
use bspkit::Draft;
use bspkit::face::entities::{self, List};

use crate::cli::save::{Edited, Save};
use crate::cli::talk::Job;

/// Whether a file is JSON, and not entity text: it is a list, or an object whose first member has a colon.
pub(super) fn is_json(text: &[u8]) -> bool {
    let body = text.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(text).trim_ascii_start();
    let inside = body.strip_prefix(b"{").map(<[u8]>::trim_ascii_start);
    let key = inside.and_then(|inside| inside.strip_prefix(b"\""));
    let after = key.and_then(|key| Some(key[key.iter().position(|byte| *byte == b'"')? + 1..].trim_ascii_start()));
    body.starts_with(b"[") || inside == Some(b"}") || after.is_some_and(|after| after.starts_with(b":"))
}

/// Reads a file.
pub(super) fn read(text: &[u8]) -> Result<Vec<List>> {
    entities::read(text).context("cannot read the list of entities")
}

/// Makes the entities of a map those of a list. A file for several maps has a document for each, with its path.
pub(super) fn import(
    draft: &mut Draft<'static>,
    lists: &[List],
    by_path: bool,
    save: &Save,
    job: &mut Job<'_>,
) -> Result<Edited> {
    let list = match lists {
        _ if by_path => lists.iter().find(|list| list.path.as_deref() == Some(job.path.as_str())),
        [list] => Some(list),
        _ => bail!("the file has the entities of {} maps, and only one map is given", lists.len()),
    };
    let Some(list) = list else {
        return Ok(Edited::Nothing("the file has no entities of this map".to_owned()));
    };
    list.warnings.iter().for_each(|warning| job.warn_here(warning));
    let entities = draft.entities()?;
    if save.force {
        entities.for_any_engine();
    }
    list.patch(entities)?.apply_to(entities)?;
    Ok(Edited::Done)
}
