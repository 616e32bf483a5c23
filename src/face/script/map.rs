//! The map of a script: a draft that all handles share.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use super::api::{Api, Res, fail};
use super::data::Meter;
use super::list::Order;
use super::records::Open;
use super::values::shown;
use crate::content::entities::Ids;
use crate::content::lightmap::Light;
use crate::{Draft, Error, ErrorKind, Result, SlotId};

/// A handle of a map.
#[derive(Clone)]
pub(super) struct Map(Arc<Inner>);

struct Inner {
    path: PathBuf,
    /// Whether it was opened by the script, only to be read.
    is_read_only: bool,
    /// Counts the bytes that the script makes of those of the map.
    meter: Meter,
    state: Mutex<State>,
}

/// A draft, and the numbers by which handles know its entities.
pub(super) struct State {
    /// Use [`State::draft`].
    pub(super) draft: Draft<'static>,
    /// An edit is refused only if no engine could read it back.
    pub(super) is_forced: bool,
    pub(super) ids: Ids,
    pub(super) order: Order,
    /// Lumps of records that the script uses, with its edits.
    pub(super) tables: BTreeMap<SlotId, Open>,
    /// The light before the first edit of it, if the map has a copy of it.
    pub(super) light_before: Option<Light<'static>>,
}

impl Map {
    pub(super) fn new(draft: Draft<'static>, path: &Path, is_forced: bool, opened_by: Option<&Meter>) -> Self {
        let state = Mutex::new(State {
            draft,
            is_forced,
            ids: Ids::default(),
            order: Order::default(),
            tables: BTreeMap::new(),
            light_before: None,
        });
        let (is_read_only, meter) = (opened_by.is_some(), opened_by.cloned().unwrap_or_default());
        Map(Arc::new(Inner { path: path.to_path_buf(), is_read_only, meter, state }))
    }

    /// Looks at the map. `work` must not call the script.
    pub(super) fn look<T>(&self, work: impl FnOnce(&mut State) -> Result<T>) -> Res<T> {
        let mut state = self.0.state.lock().unwrap_or_else(PoisonError::into_inner);
        work(&mut state).map_err(fail)
    }

    /// Edits the map. `work` must not call the script.
    pub(super) fn edit<T>(&self, work: impl FnOnce(&mut State) -> Result<T>) -> Res<T> {
        if self.0.is_read_only {
            let message = format!("{} was opened to be read: it cannot be edited", super::shown(&self.0.path));
            return Err(fail(Error::new(ErrorKind::Refused, message)));
        }
        self.look(work)
    }

    /// Takes the draft out of the handle, with all edits.
    pub(super) fn finish(&self) -> Result<Draft<'static>> {
        let mut state = self.0.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.settle()?;
        state.carry_light()?;
        let draft = state.draft()?;
        let empty = draft.bsp().draft();
        Ok(std::mem::replace(draft, empty))
    }

    pub(super) fn meter(&self) -> &Meter {
        &self.0.meter
    }

    pub(super) fn is_same(&self, other: &Map) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    fn part_of_path(&self, part: impl Fn(&Path) -> Option<&std::ffi::OsStr>) -> rhai::ImmutableString {
        shown(part(&self.0.path).map_or(b"", |part| part.as_encoded_bytes()))
    }
}

pub(super) fn register(api: &mut Api) {
    api.group("The map");
    api.name::<Map>("map");
    api.entry("map", "The map that the script edits.");
    api.get("map.name", "The name of its file without the extension.", |map: &mut Map| {
        map.part_of_path(Path::file_stem)
    });
    api.get("map.path", "The path of its file.", |map: &mut Map| shown(map.0.path.as_os_str().as_encoded_bytes()));
    api.get("map.dialect", "The name of its dialect, such as `quake3`.", |map: &mut Map| {
        map.look(|state| Ok(state.draft.bsp().dialect().name))
    });
    api.get("map.version", "The version number of the format.", |map: &mut Map| {
        map.look(|state| Ok(i64::from(state.draft.bsp().version())))
    });
    api.also("to_string", |map: &mut Map| shown(map.0.path.as_os_str().as_encoded_bytes()));
    api.also("to_debug", |map: &mut Map| shown(map.0.path.as_os_str().as_encoded_bytes()));
}
