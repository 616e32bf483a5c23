//! Scripts over maps, in the language Rhai: what `bspkit run` does.
//!
//! A script sees the whole edit model: `map`, `entities`, `args` and what `docs/scripts.md` lists. It has bounds
//! ([`Limits`]), cannot reach the network, and sees files of one folder only if [`Settings::allow_read`]
//! says so. Its edits are edits of a [`Draft`]; after an error the
//! draft is as it was.
//!
//! ```
//! use bspkit::face::script::{Script, Settings};
//! let script = Script::compile("louder.rhai", r#"
//!     for e in entities.select("light") {
//!         e.light = e.number("light") * 2;
//!     }
//! "#)?;
//! let mut draft = bspkit::Bsp::open("tests/maps/q2/own_rooms.bsp")?.draft();
//! script.run(&mut draft, &Settings::default())?;
//! assert_eq!(draft.changes()?.len(), 1);
//! # Ok::<(), bspkit::Error>(())
//! ```

mod api;
mod args;
mod arithmetic;
mod bounds;
mod calls;
mod data;
mod entities;
mod fault;
mod guard;
mod light;
mod list;
mod lumps;
mod map;
mod output;
mod pairs;
mod read;
mod records;
mod report;
mod values;
mod vector;

use std::path::PathBuf;
use std::sync::OnceLock;

use rhai::packages::{Package, StandardPackage};
use rhai::{AST, Dynamic, Engine, Module, Scope, Shared};

use crate::{Draft, Error, ErrorKind, Result};
use api::Api;
pub use api::Entry;
use args::Args;
pub use bounds::Limits;
use bounds::Watch;
use data::Meter;
use entities::List;
use fault::Context;
use light::Lights;
use lumps::{Files, Lumps, Textures};
use map::Map;
use read::Folder;
use report::Log;
pub use report::{Found, Reported, Said};

pub(crate) use super::shown;

/// A script that was read. It can be run on many maps, on several threads at once.
///
/// ```
/// let error = bspkit::face::script::Script::compile("bad.rhai", "let x = ;").unwrap_err();
/// assert_eq!(error.to_string(), "bad.rhai:1:9: unexpected ';'");
/// ```
pub struct Script {
    name: String,
    text: String,
    program: AST,
}

impl std::fmt::Debug for Script {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Script({})", self.name)
    }
}

/// What a script is given.
///
/// ```
/// use bspkit::face::script::{Script, Settings};
/// let script = Script::compile("axis.rhai", "report(args.axis)")?;
/// let mut draft = bspkit::Bsp::open("tests/maps/q3/own_rooms.bsp")?.draft();
/// let said = script.run(&mut draft, &Settings::default().args(["--axis", "x"]))?;
/// assert_eq!(said.reports[0].text, "x");
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Settings {
    args: Vec<String>,
    path: PathBuf,
    limits: Limits,
    is_forced: bool,
    folder: Option<PathBuf>,
}

impl Settings {
    /// The words that the script sees as `args`.
    #[must_use]
    pub fn args<A: Into<String>>(mut self, args: impl IntoIterator<Item = A>) -> Self {
        self.args = args.into_iter().map(Into::into).collect();
        self
    }

    /// The path of the map, for `map.path` and `map.name`.
    #[must_use]
    pub fn path(mut self, path: impl Into<PathBuf>) -> Self {
        self.path = path.into();
        self
    }

    /// The bounds.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Lets the script read files of this folder and of those below it, and no others.
    #[must_use]
    pub fn allow_read(mut self, folder: impl Into<PathBuf>) -> Self {
        self.folder = Some(folder.into());
        self
    }

    /// Refuses values of entities only if no engine of the dialect could read them back.
    #[must_use]
    pub fn for_any_engine(mut self, is_forced: bool) -> Self {
        self.is_forced = is_forced;
        self
    }
}

/// Everything that scripts can call, in the order of the reference.
pub fn reference() -> Vec<Entry> {
    let mut entries = library().1.clone();
    let mut api = Api::new();
    data::register_own(&mut api, &Meter::default());
    read::register(&mut api, &Folder::default());
    report::register(&mut api, &Log::default());
    entries.extend(api.entries);
    entries
}

/// The functions that are the same for all runs.
fn library() -> &'static (Shared<Module>, Vec<Entry>) {
    static LIBRARY: OnceLock<(Shared<Module>, Vec<Entry>)> = OnceLock::new();
    LIBRARY.get_or_init(|| {
        let mut api = Api::new();
        map::register(&mut api);
        entities::register(&mut api);
        pairs::register(&mut api);
        arithmetic::register(&mut api);
        vector::register(&mut api);
        output::register(&mut api);
        records::register(&mut api);
        light::register(&mut api);
        lumps::register(&mut api);
        data::register(&mut api);
        args::register(&mut api);
        fault::register(&mut api);
        guard::register(&mut api);
        calls::register(&mut api);
        api.module.build_index();
        (Shared::new(api.module), api.entries)
    })
}

/// The functions of the language itself.
fn language() -> &'static Shared<Module> {
    static LANGUAGE: OnceLock<Shared<Module>> = OnceLock::new();
    LANGUAGE.get_or_init(|| StandardPackage::new().as_shared_module())
}

/// The functions and variables of one run.
fn own(map: &Map, log: &Log, watch: &Watch, settings: &Settings) -> Api {
    let mut api = Api::new();
    guard::register_own(&mut api, watch);
    data::register_own(&mut api, map.meter());
    read::register(&mut api, &Folder::new(settings.folder.clone(), map.meter().clone()));
    report::register(&mut api, log);
    records::register_own(&mut api, map);
    api.module.set_var("map", map.clone());
    api.module.set_var("entities", List(map.clone()));
    api.module.set_var("files", Files(map.clone()));
    api.module.set_var("textures", Textures(map.clone()));
    api.module.set_var("lumps", Lumps(map.clone()));
    api.module.set_var("light", Lights(map.clone()));
    api.module.set_var("args", Args::new(&settings.args));
    api.module.build_index();
    api
}

/// An engine with bounds for the syntax, and without functions.
fn bare_engine() -> Engine {
    let mut engine = Engine::new_raw();
    // Code that is made while a script runs, and chains of functions in functions, would have no bounds.
    engine.disable_symbol("eval").disable_symbol("curry");
    bounds::apply_to_syntax(&mut engine);
    // Operators of texts and numbers have another meaning than the language's own.
    engine.set_fast_operators(false);
    engine
}

/// Does the work on a thread with the stack that scripts need.
fn on_a_large_stack<T: Send>(work: impl FnOnce() -> T + Send) -> Result<T> {
    let failed = |message: &str| Error::new(ErrorKind::Unsupported, message);
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(bounds::STACK).spawn_scoped(scope, work);
        let thread = thread.map_err(|error| Error::io("cannot start a thread for the script", error))?;
        thread.join().map_err(|_| failed("the script engine has a fault; please report it with the script"))
    })
}

impl Script {
    /// Reads a script. The name is for messages.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] with the place if it cannot be read.
    pub fn compile(name: impl Into<String>, text: impl Into<String>) -> Result<Self> {
        let (name, text) = (name.into(), text.into());
        let program = on_a_large_stack(|| bare_engine().compile(&text))?;
        match program {
            Ok(program) => Ok(Script { name, text, program }),
            Err(error) => Err(Context { name: &name, text: &text, entries: &[], steps: 0 }.syntax(&error)),
        }
    }

    /// Runs the script on a map. The draft has all its edits after that, or none after an error.
    ///
    /// # Errors
    /// The script stopped: the message has the place in the script, the hint the line and the calls.
    pub fn run(&self, draft: &mut Draft<'static>, settings: &Settings) -> Result<Said> {
        let (log, watch) = (Log::default(), Watch::default());
        let map = Map::new(draft.clone(), &settings.path, settings.is_forced, None);
        let own = own(&map, &log, &watch, settings);
        let mut entries = library().1.clone();
        entries.extend(&own.entries);
        let limits = &settings.limits;
        let result = std::thread::scope(|scope| {
            let looking = std::thread::Builder::new().spawn_scoped(scope, || watch.look(limits));
            let looking = looking.map_err(|error| Error::io("cannot start a thread for the script", error))?;
            let result = on_a_large_stack(|| self.run_in(engine(own.module, &log, &watch, limits.steps)));
            watch.end(looking.thread());
            result
        })?;
        let context = Context { name: &self.name, text: &self.text, entries: &entries, steps: settings.limits.steps };
        result.map_err(|error| context.stopped(*error))?;
        // Whatever stopped it after its last step.
        watch.take().map_or(Ok(()), Err)?;
        *draft = map.finish()?;
        Ok(log.take())
    }

    fn run_in(&self, engine: Engine) -> Result<(), Box<rhai::EvalAltResult>> {
        engine.run_ast_with_scope(&mut Scope::new(), &self.program)
    }
}

/// The engine of one run.
fn engine(own: Module, log: &Log, watch: &Watch, steps: u64) -> Engine {
    let mut engine = bare_engine();
    engine.register_global_module(language().clone());
    engine.register_global_module(library().0.clone());
    engine.register_global_module(Shared::new(own));
    let (printed, debugged) = (log.clone(), log.clone());
    engine.on_print(move |text| printed.print(text));
    engine.on_debug(move |text, _, _| debugged.print(text));
    engine.set_max_operations(steps.max(1));
    watch.apply(&mut engine);
    engine
}

/// The text of a value of a type of ours.
fn print(value: &Dynamic) -> String {
    let entity = || value.read_lock::<entities::Entity>().map(|entity| entities::name_of(&entity).to_string());
    let pair = || value.read_lock::<pairs::Pair>().map(|pair| pair.to_string());
    let bytes = || value.read_lock::<data::Bytes>().map(|bytes| bytes.to_string());
    let fault = || value.read_lock::<fault::Fault>().map(|fault| fault.to_string());
    let name = || value.type_name().rsplit("::").next().unwrap_or_default().to_lowercase();
    entity().or_else(pair).or_else(bytes).or_else(fault).unwrap_or_else(name)
}
