//! `--fix-aas`: updates the checksum in the .aas file, which holds the areas for bots.

use std::path::Path;

use anyhow::{Context as _, Result};
use bspkit::dialect::AREAS;
use bspkit::disk::names;
use bspkit::file::SideFile;
use bspkit::{Bsp, Error, ErrorKind, Plan, SaveOptions};
use bspkit_game::aas;
use bspkit_ops::checksum;

use super::kept;
use crate::maps::real_path;
use crate::talk::{Job, shown};

/// The new .aas file, with the checksum of the new map, before it is written.
pub(super) struct Areas {
    /// The file as it was, where the new one is written.
    to: SideFile,
    bytes: Vec<u8>,
    sums: (checksum::Value, checksum::Value),
}

impl Areas {
    /// Reads the .aas file of the edited map and makes the one for the saved map. The file must be up to date, except
    /// with `force`.
    pub(super) fn read(
        map: &Path,
        bsp: &Bsp<'_>,
        plan: &Plan<'_>,
        place: &Path,
        force: bool,
        job: &mut Job<'_>,
    ) -> Result<Option<Self>> {
        let dialect = bsp.dialect();
        let has_areas = dialect.beside.iter().copied().flatten().any(|file| file.after == AREAS);
        let Some(sum) = dialect.checksums.first().filter(|_| has_areas) else {
            let message = format!("--fix-aas is for Quake III maps: those of {} have no .aas file", dialect.title);
            return Err(Error::new(ErrorKind::Argument, message).with_hint("leave it out").into());
        };
        let [from, to] = [map, place].map(|path| names::in_game(path).with_extension(&AREAS[1..]));
        let there = SideFile::read(&from)?;
        let Some(old) = there.bytes() else {
            job.warn_here(&format!("{} does not exist, so --fix-aas has no effect", shown(&from)));
            return Ok(None);
        };
        let cannot = || format!("cannot fix {}", shown(&from));
        let refused = |message: String| Error::new(ErrorKind::Refused, message);
        if real_path(map)? != real_path(place)? && real_path(&from)? == real_path(&to)? {
            let message = format!("{} belongs to the input map, which stays as it is", shown(&from));
            return Err(refused(message).with_hint("save under a name that differs before the last dot").into());
        }
        let mut bytes = old.to_vec();
        let (old, new) = (checksum::of(bsp, sum), checksum::of_plan(bsp, plan, sum));
        let stored = checksum::Value::Number(aas::checksum(&bytes).with_context(cannot)?);
        if stored != old && !force {
            let message = format!("it is out of date: it is for a map with checksum {stored}, but this map has {old}");
            let error = refused(message).with_hint("build it again, or use --force to update the checksum anyway");
            return Err(anyhow::Error::new(error).context(cannot()));
        }
        if let checksum::Value::Number(number) = new {
            aas::set_checksum(&mut bytes, number).with_context(cannot)?;
        }
        let to = if to == from { there } else { SideFile::read(&to)? };
        Ok(Some(Areas { to, bytes, sums: (stored, new) }))
    }

    pub(super) fn say(&self, rest: &str, job: &mut Job<'_>) {
        let (old, new) = self.sums;
        job.say(&format!("{}: checksum {old} -> {new}{rest}", shown(self.to.path())));
    }

    /// Refuses what the save would refuse, before the map is saved.
    pub(super) fn check(&self, how: &SaveOptions) -> Result<()> {
        self.to.check(how).with_context(|| format!("cannot save {}", shown(self.to.path())))
    }

    /// Writes the file, unless it exists with the same bytes.
    pub(super) fn save(&self, how: &SaveOptions, job: &mut Job<'_>) -> Result<()> {
        if self.to.bytes() == Some(&self.bytes) {
            return Ok(());
        }
        let saved = self.to.save(&self.bytes, how).with_context(|| format!("cannot save {}", shown(self.to.path())))?;
        saved.warnings.iter().for_each(|warning| job.warn(&format!("{}: {warning}", shown(self.to.path()))));
        self.say(&kept(saved.backup.as_deref()), job);
        Ok(())
    }
}
