//! What all handles of a map share: the draft, the numbers of entities, and the arrays that Python has of lumps.

use std::cell::RefCell;
use std::ops::{Deref, DerefMut};
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use bspkit::content::entities::Entities as Text;
use bspkit::disk::names;
use bspkit::{Bsp, Draft, Layout, Session};
use bspkit_rules::Record;
use pyo3::prelude::*;
use pyo3::sync::MutexExt;

use crate::errors::{Res, busy, closed, guarded};
use crate::table::{self, Tables};

/// What all handles of a map share.
pub(crate) struct Shared {
    home: Mutex<Option<Home>>,
    state: Mutex<Option<State>>,
}

/// The file that a map is of.
#[derive(Clone)]
pub(crate) struct Home {
    /// The path as it was given.
    pub(crate) path: PathBuf,
    /// The same file, whatever the working folder becomes.
    pub(crate) absolute: PathBuf,
}

impl Home {
    pub(crate) fn new(path: PathBuf) -> Self {
        Home { absolute: std::path::absolute(&path).unwrap_or_else(|_| path.clone()), path }
    }
}

thread_local! {
    /// The maps that this thread works on, by their addresses.
    static IN_USE: RefCell<Vec<usize>> = const { RefCell::new(Vec::new()) };
}

/// A map that is locked, and known as in use by this thread.
struct Locked<'s> {
    state: MutexGuard<'s, Option<State>>,
    map: usize,
}

impl Deref for Locked<'_> {
    type Target = Option<State>;

    fn deref(&self) -> &Option<State> {
        &self.state
    }
}

impl DerefMut for Locked<'_> {
    fn deref_mut(&mut self) -> &mut Option<State> {
        &mut self.state
    }
}

impl Drop for Locked<'_> {
    fn drop(&mut self) {
        IN_USE.with_borrow_mut(|maps| maps.retain(|map| *map != self.map));
    }
}

/// The draft with the entities that handles know, and the arrays of its lumps.
pub(crate) struct State {
    session: Session<'static>,
    /// The arrays that Python has of lumps; their numbers may have changed.
    tables: Tables,
    /// The record of rules that were applied and are not saved yet.
    baked: Option<Record>,
    /// Whether an edit since the last save may have changed lumps that follow each other's numbers.
    pub(crate) is_restructured: bool,
}

impl State {
    /// The map as it was opened.
    pub(crate) fn bsp(&self) -> &Bsp<'static> {
        self.session.bsp()
    }

    /// The draft with everything that was written into arrays.
    pub(crate) fn draft(&mut self) -> Res<&mut Draft<'static>> {
        let draft = self.session.draft()?;
        table::settle(draft, &mut self.tables)?;
        Ok(draft)
    }

    /// The entities by their numbers, and edits of them.
    pub(crate) fn session(&mut self) -> &mut Session<'static> {
        &mut self.session
    }

    /// The entities. Whoever changes their number or order calls [`Self::forget_entities`].
    pub(crate) fn entities(&mut self) -> Res<&mut Text<'static>> {
        Ok(self.session.entities()?)
    }

    /// All handles of entities lose theirs: the text was replaced.
    pub(crate) fn forget_entities(&mut self) {
        self.session.forget();
    }

    /// The record of rules that were applied and are not saved yet.
    pub(crate) fn baked(&mut self) -> &mut Option<Record> {
        &mut self.baked
    }

    pub(crate) fn tables(&mut self) -> &mut Tables {
        &mut self.tables
    }
}

impl Shared {
    pub(crate) fn new(home: Option<Home>, draft: Draft<'static>) -> Self {
        Shared {
            home: Mutex::new(home),
            state: Mutex::new(Some(State {
                session: Session::new(draft),
                tables: Tables::new(),
                baked: None,
                is_restructured: false,
            })),
        }
    }

    /// The file that the map was opened from, or saved to since.
    pub(crate) fn home(&self) -> Option<Home> {
        self.home.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn move_to(&self, home: Home) {
        *self.home.lock().unwrap_or_else(PoisonError::into_inner) = Some(home);
    }

    /// The name of the map: that of its file without the extension.
    pub(crate) fn name(&self) -> String {
        let home = self.home();
        let name = home.as_ref().map(|home| names::of_map(&home.path));
        name.map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
    }

    // A thread that waits for the map lets other threads of Python run, also the one that has the map. The thread that
    // has it would wait forever: where objects of Python are made, a finalizer can run and use the same map.
    fn lock(&self, py: Python<'_>) -> Res<Locked<'_>> {
        let map = std::ptr::from_ref(self).addr();
        if IN_USE.with_borrow(|maps| maps.contains(&map)) {
            return Err(busy());
        }
        let state = self.state.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner);
        IN_USE.with_borrow_mut(|maps| maps.push(map));
        Ok(Locked { state, map })
    }

    /// Works on the map. Code of Python that `work` runs cannot use the same map. A panic closes the map, since an edit
    /// may be half done.
    pub(crate) fn with<T>(&self, work: impl FnOnce(&mut State) -> Res<T>) -> Res<T> {
        Python::attach(|py| {
            let mut state = self.lock(py)?;
            let open = state.as_mut().ok_or_else(closed)?;
            let mut is_whole = false;
            let done = guarded(|| {
                let done = work(open);
                is_whole = true;
                done
            });
            if !is_whole {
                *state = None;
            }
            done
        })
    }

    /// As [`Shared::with`], for edits of records: arrays show them.
    pub(crate) fn change<T>(&self, work: impl FnOnce(&mut State) -> Res<T>) -> Res<T> {
        self.with(|state| {
            let done = work(state);
            table::show(state.session.draft()?, &mut state.tables)?;
            done
        })
    }

    /// Long work on the draft, while other threads of Python run. Those that use the map wait.
    pub(crate) fn long<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut Draft<'static>) -> bspkit::Result<T> + Send,
    ) -> Res<T> {
        self.change(|state| {
            let draft = state.draft()?;
            Ok(py.detach(|| work(draft))?)
        })
    }

    /// As [`Shared::long`], for edits that may remove entities: then those that Python has cannot be used any more.
    pub(crate) fn structural<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut Draft<'static>) -> bspkit::Result<T> + Send,
    ) -> Res<T> {
        let count = |state: &mut State| state.entities().map_or(0, |entities| entities.len());
        let before = self.with(|state| Ok(count(state)))?;
        let done = self.long(py, work)?;
        self.with(|state| {
            state.is_restructured = true;
            if count(state) != before {
                state.forget_entities();
            }
            Ok(done)
        })
    }

    /// Closes the map.
    pub(crate) fn close(&self, py: Python<'_>) -> Res<()> {
        *self.lock(py)? = None;
        Ok(())
    }

    /// Whether the map was closed.
    pub(crate) fn is_closed(&self, py: Python<'_>) -> Res<bool> {
        Ok(self.lock(py)?.is_none())
    }

    /// A copy of the draft, to work on while other threads of Python run. It shares all bytes with the map.
    pub(crate) fn snapshot(&self) -> Res<Draft<'static>> {
        self.with(|state| Ok(state.draft()?.clone()))
    }
}

/// The map as a save would write it.
pub(crate) fn current(draft: &Draft<'static>) -> bspkit::Result<Bsp<'static>> {
    let plan = draft.plan(Layout::Keep)?;
    if plan.is_identity() {
        Ok(draft.bsp().clone())
    } else {
        Bsp::from_data(plan.to_data(), Some(draft.bsp().dialect()))
    }
}
