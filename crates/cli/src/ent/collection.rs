//! `ent list` and `ent get` over a collection of maps: which maps have such entities, how many, which values a key has,
//! and rows for databases.

use std::ffi::OsString;
use std::sync::{Mutex, PoisonError};

use anyhow::Result;
use bspkit::Bsp;
use bspkit::bytes::wide;
use bspkit::content::entities::{Entity, Key};
use bspkit_ops::statistics::{Count, Tally};
use bspkit_text::rows::Table;
use serde::Serialize;

use crate::context::{self, Context};
use crate::maps::{Brief, Reading};
use crate::stats::{FormatName, table};
use crate::talk::{Code, Job, json};

// The options. (A doc comment would become the help of the command.)
#[derive(clap::Args)]
pub(super) struct CollectionArgs {
    #[command(flatten)]
    brief: Brief,
    /// Count the values that these entities have for a key, over all maps
    #[arg(long, value_name = "KEY", conflicts_with_all = ["list_maps", "count", "format"])]
    group: Option<OsString>,
    /// Print a row for each pair: path, entity, key, value
    #[arg(long, value_name = "FORMAT", value_enum, conflicts_with_all = ["list_maps", "count", "json"])]
    format: Option<FormatName>,
}

const COLUMNS: &[&str] = &["path", "entity", "key", "value"];

/// What is said about all maps together.
pub(super) struct Collection<'c> {
    args: &'c CollectionArgs,
    group: Option<Key>,
    values: Mutex<Tally>,
}

#[derive(Serialize)]
struct Document<'a> {
    version: u32,
    key: String,
    groups: Vec<Group<'a>>,
    /// How often a value was left out, since there were too many.
    left_out: u64,
}

#[derive(Serialize)]
struct Group<'a> {
    #[serde(flatten, serialize_with = "value")]
    value: &'a [u8],
    maps: u64,
    count: u64,
}

fn value<S: serde::Serializer>(value: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
    bspkit::json::members(value, ["value", "raw"], serializer)
}

impl CollectionArgs {
    /// Begins the output; for CSV with the names of the columns.
    pub(super) fn begin(&self, cx: &Context) -> Result<Collection<'_>> {
        if let Some(format) = self.format {
            let mut table = Table::new(format.into(), COLUMNS);
            table.header()?;
            cx.talk.stdout(&table.into_bytes()?)?;
        }
        let group = self.group.as_deref().map(context::key).transpose()?;
        Ok(Collection { args: self, group, values: Mutex::default() })
    }
}

impl Collection<'_> {
    /// Opens each map and does the work on it. Where one document is about all maps, what fails is said on stderr
    /// alone.
    pub(super) fn each(
        &self,
        reading: &Reading,
        cx: &Context,
        work: impl Fn(Bsp<'static>, &mut Job<'_>) -> Result<Code> + Sync,
    ) -> Result<Code> {
        let maps = if self.group.is_some() { reading.maps().json(false) } else { reading.maps() };
        maps.each(cx, |map, job| work(cx.open_said(&map.path, job)?, job))
    }

    /// Prints the entities of a map in the form that was chosen; none if it is the form of the command. With a key only
    /// its pairs become rows.
    pub(super) fn print(&self, entities: &[Entity<'_>], key: Option<&Key>, job: &mut Job<'_>) -> Result<Option<Code>> {
        let has_key = |entity: &&Entity<'_>| key.is_none_or(|key| !key.values(entity).is_empty());
        let code = |is_some| Some(if is_some { Code::Done } else { Code::Nothing });
        let number = |entity: &Entity<'_>| key.map_or(1, |key| key.values(entity).len());
        if let Some(code) = self.args.brief.print(|| entities.iter().map(number).sum(), job) {
            return Ok(Some(code));
        }
        if let Some(group) = &self.group {
            let mut own = Tally::default();
            for entity in entities {
                group.values(entity).into_iter().for_each(|value| own.count(value, 0));
            }
            let is_some = !own.is_empty();
            self.values.lock().unwrap_or_else(PoisonError::into_inner).add(&own);
            return Ok(code(is_some));
        }
        let Some(format) = self.args.format else { return Ok(None) };
        let mut table = Table::new(format.into(), COLUMNS);
        let mut is_some = false;
        for entity in entities.iter().filter(has_key) {
            let index = wide(entity.index());
            let path = job.file.as_os_str().as_encoded_bytes();
            let mut row = |key: &[u8], value: &[u8]| {
                is_some = true;
                table.row(&[path.into(), index.into(), key.into(), value.into()])
            };
            match key {
                Some(key) => key.values(entity).into_iter().try_for_each(|value| row(&key.name, value))?,
                None => entity.pairs().try_for_each(|pair| row(pair.key, pair.value))?,
            }
        }
        job.write(&table.into_bytes()?)?;
        Ok(code(is_some))
    }

    /// Prints what is about all maps.
    pub(super) fn end(self, cx: &Context, as_json: bool) -> Result<()> {
        let Some(key) = &self.group else { return Ok(()) };
        let values = self.values.into_inner().unwrap_or_else(PoisonError::into_inner);
        if as_json {
            let groups = values.sorted().into_iter();
            let groups = groups.map(|(value, Count { maps, count, .. })| Group { value, maps, count }).collect();
            let document = Document { version: 1, key: key.to_string(), groups, left_out: values.left_out() };
            let mut text = json(&document, false)?;
            text.push(b'\n');
            cx.talk.stdout(&text)?;
        } else {
            cx.talk.stdout(table(&values, &key.to_string(), false, cx.talk.verbose).as_bytes())?;
        }
        Ok(())
    }
}
