//! Embedded files with the index of a record in their name, such as the light of static props.

use super::Followed;
use super::apply::Changes;
use super::change::GONE;
use crate::bsp::{Bsp, Links};
use crate::content::pak::Pak;
use crate::dialect::Role;
use crate::draft::Draft;
use crate::error::Result;

/// What becomes of embedded files, by their index.
#[derive(Default)]
pub(super) struct Files {
    renamed: Vec<(usize, Vec<u8>)>,
    removed: Vec<usize>,
}

impl Files {
    pub(super) fn of(map: &Bsp<'_>, links: &Links<'_>, changes: &Changes, followed: &mut Followed) -> Result<Self> {
        let mut files = Files::default();
        let Some(slot) = map.role(Role::Pak).filter(|slot| slot.length != 0) else { return Ok(files) };
        for (site, change) in &changes.of {
            let site = &links.sites[*site];
            if site.files.is_empty() {
                continue;
            }
            let Ok(pak) = map.lens::<Pak<'_>>() else {
                followed
                    .warnings
                    .push(format!("{} cannot be read: files named by {} do not follow", slot.name, site.name));
                continue;
            };
            for (file, entry) in pak.iter().enumerate() {
                let name = entry.name();
                let Some((start, number)) = site.files.iter().find_map(|form| number(name, *form)) else { continue };
                match change.place(number) {
                    Some(GONE) => files.removed.push(file),
                    Some(new) if new != number => {
                        let rest = name[start..].iter().position(|byte| !byte.is_ascii_digit());
                        let end = rest.map_or(name.len(), |rest| start + rest);
                        files.renamed.push((file, [&name[..start], new.to_string().as_bytes(), &name[end..]].concat()));
                    }
                    _ => {}
                }
            }
        }
        followed.note(&slot.name, "names", files.renamed.len() + files.removed.len());
        Ok(files)
    }

    pub(super) fn apply(self, draft: &mut Draft<'_>) -> Result<()> {
        if self.renamed.is_empty() && self.removed.is_empty() {
            return Ok(());
        }
        let pak = draft.pak()?;
        // Files that go may have the names that others get.
        let kept = |index: usize| index - self.removed.iter().filter(|removed| **removed < index).count();
        let renamed: Vec<_> = self.renamed.into_iter().map(|(index, name)| (kept(index), name)).collect();
        pak.remove(&self.removed)?;
        pak.rename_all(&renamed)
    }
}

/// The offset of the number in a name of this form, and the number.
fn number(name: &[u8], (before, after): (&str, &str)) -> Option<(usize, usize)> {
    let (start, end) = (before.len(), name.len().checked_sub(after.len())?);
    let is_form = name.get(..start)?.eq_ignore_ascii_case(before.as_bytes())
        && name[end..].eq_ignore_ascii_case(after.as_bytes());
    let digits = name.get(start..end).filter(|digits| is_form && digits.iter().all(u8::is_ascii_digit))?;
    Some((start, std::str::from_utf8(digits).ok()?.parse().ok()?))
}
