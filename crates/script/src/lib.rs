//! Scripts over maps, in the language Rhai: what `bspkit run` does.
//!
//! A script sees the whole edit model: `map`, `entities`, `args` and what `docs/scripts.md` lists. It has bounds
//! ([`Limits`]), cannot reach the network, and sees files of one folder only if [`Settings::allow_read`]
//! says so. Its edits are edits of a [`Draft`]; after an error the
//! draft is as it was.
//!
//! ```
//! use bspkit_script::{Script, Settings};
//! let script = Script::compile("louder.rhai", r#"
//!     for e in entities.select("light") {
//!         e.light = e.number("light") * 2;
//!     }
//! "#)?;
//! let mut draft = bspkit::Bsp::open("../../tests/maps/q2/own_rooms.bsp")?.draft();
//! script.run(&mut draft, &Settings::default())?;
//! assert_eq!(draft.changes()?.len(), 1);
//! # Ok::<(), bspkit::Error>(())
//! ```

mod api;
mod calls;
mod entities;
mod lumps;
mod pairs;
mod records;
mod report;
mod values;

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use rhai::packages::{Package, StandardPackage};
use rhai::{AST, Array, Dynamic, Engine, ImmutableString, Module, Scope, Shared};

use api::{Api, Res, Watch, fail};
pub use api::{Entry, Limits};
use bspkit::content::lightmap::Light;
use bspkit::disk::{input, names, shown};
use bspkit::{Bsp, Draft, Error, ErrorKind, Hint, Result, Session, SlotId, near};
use entities::List;
use lumps::{Bytes, Files, Lumps, MOST_BYTES, Meter, Textures, text};
use records::{Lights, Open};
use report::{Context, Log};
pub use report::{Found, Reported, Said};
use values::shown as shown_values;

/// A script that was read. It can be run on many maps, on several threads at once.
///
/// ```
/// let error = bspkit_script::Script::compile("bad.rhai", "let x = ;").unwrap_err();
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
/// use bspkit_script::{Script, Settings};
/// let script = Script::compile("axis.rhai", "report(args.axis)")?;
/// let mut draft = bspkit::Bsp::open("../../tests/maps/q3/own_rooms.bsp")?.draft();
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
    lumps::register_own(&mut api, &Meter::default());
    register_read(&mut api, &Folder::default());
    report::register(&mut api, &Log::default());
    entries.extend(api.entries);
    entries
}

/// The functions that are the same for all runs.
fn library() -> &'static (Shared<Module>, Vec<Entry>) {
    static LIBRARY: OnceLock<(Shared<Module>, Vec<Entry>)> = OnceLock::new();
    LIBRARY.get_or_init(|| {
        let mut api = Api::new();
        register_map(&mut api);
        entities::register(&mut api);
        pairs::register(&mut api);
        values::register(&mut api);
        pairs::register_vector(&mut api);
        pairs::register_output(&mut api);
        records::register(&mut api);
        records::register_light(&mut api);
        lumps::register(&mut api);
        lumps::register_data(&mut api);
        register_args(&mut api);
        report::register_fault(&mut api);
        api::register(&mut api);
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
    api::register_own(&mut api, watch);
    lumps::register_own(&mut api, map.meter());
    register_read(&mut api, &Folder::new(settings.folder.clone(), map.meter().clone()));
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
    api::apply_to_syntax(&mut engine);
    // Operators of texts and numbers have another meaning than the language's own.
    engine.set_fast_operators(false);
    engine
}

/// Does the work on a thread with the stack that scripts need.
fn on_a_large_stack<T: Send>(work: impl FnOnce() -> T + Send) -> Result<T> {
    let failed = |message: &str| Error::new(ErrorKind::Unsupported, message);
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(api::STACK).spawn_scoped(scope, work);
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
        let mut said = Said::default();
        self.run_into(draft, settings, &mut said)?;
        Ok(said)
    }

    /// Runs the script as [`Script::run`]. What it said is there after an error too, up to the error.
    ///
    /// ```
    /// use bspkit_script::{Said, Script, Settings};
    /// let mut draft = bspkit::Bsp::open("../../tests/maps/q2/own_rooms.bsp")?.draft();
    /// let script = Script::compile("stops.rhai", r#"print("so far"); throw "no further""#)?;
    /// let mut said = Said::default();
    /// assert!(script.run_into(&mut draft, &Settings::default(), &mut said).is_err());
    /// assert_eq!(said.messages, ["so far"]);
    /// # Ok::<(), bspkit::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Script::run`].
    pub fn run_into(&self, draft: &mut Draft<'static>, settings: &Settings, said: &mut Said) -> Result<()> {
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
        });
        *said = log.take();
        let result = result?;
        let context = Context { name: &self.name, text: &self.text, entries: &entries, steps: settings.limits.steps };
        result.map_err(|error| context.stopped(*error))?;
        // Whatever stopped it after its last step.
        watch.take().map_or(Ok(()), Err)?;
        *draft = map.finish()?;
        Ok(())
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
    let bytes = || value.read_lock::<lumps::Bytes>().map(|bytes| bytes.to_string());
    let fault = || value.read_lock::<report::Fault>().map(|fault| fault.to_string());
    let args = || value.read_lock::<Args>().map(|args| args.to_string());
    let name = || value.type_name().rsplit("::").next().unwrap_or_default().to_lowercase();
    entity().or_else(pair).or_else(bytes).or_else(fault).or_else(args).unwrap_or_else(name)
}

// The map of a script: a draft that all handles share.

/// A handle of a map.
#[derive(Clone)]
struct Map(Arc<Inner>);

struct Inner {
    path: PathBuf,
    /// Whether it was opened by the script, only to be read.
    is_read_only: bool,
    /// Counts the bytes that the script makes of those of the map.
    meter: Meter,
    state: Mutex<State>,
}

/// A map while a script works on it.
struct State {
    session: Session<'static>,
    /// Lumps of records that the script uses, with its edits.
    tables: BTreeMap<SlotId, Open>,
    /// The light before the first edit of it, if the map has a copy of it.
    light_before: Option<Light<'static>>,
}

impl Map {
    fn new(draft: Draft<'static>, path: &Path, is_forced: bool, opened_by: Option<&Meter>) -> Self {
        let state = Mutex::new(State {
            session: Session::new(draft).for_any_engine(is_forced),
            tables: BTreeMap::new(),
            light_before: None,
        });
        let (is_read_only, meter) = (opened_by.is_some(), opened_by.cloned().unwrap_or_default());
        Map(Arc::new(Inner { path: path.to_path_buf(), is_read_only, meter, state }))
    }

    /// Looks at the map. `work` must not call the script.
    fn look<T>(&self, work: impl FnOnce(&mut State) -> Result<T>) -> Res<T> {
        let mut state = self.0.state.lock().unwrap_or_else(PoisonError::into_inner);
        work(&mut state).map_err(fail)
    }

    /// Edits the map. `work` must not call the script.
    fn edit<T>(&self, work: impl FnOnce(&mut State) -> Result<T>) -> Res<T> {
        if self.0.is_read_only {
            let message = format!("{} was opened to be read: it cannot be edited", shown(&self.0.path));
            return Err(fail(Error::new(ErrorKind::Refused, message)));
        }
        self.look(work)
    }

    /// Takes the draft out of the handle, with all edits.
    fn finish(&self) -> Result<Draft<'static>> {
        let mut state = self.0.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.settle()?;
        state.carry_light()?;
        let empty = Session::new(state.session.bsp().draft());
        std::mem::replace(&mut state.session, empty).finish()
    }

    fn meter(&self) -> &Meter {
        &self.0.meter
    }

    fn is_same(&self, other: &Map) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    fn part_of_path(&self, part: impl Fn(&Path) -> Option<&std::ffi::OsStr>) -> rhai::ImmutableString {
        shown_values(part(&self.0.path).map_or(b"", |part| part.as_encoded_bytes()))
    }
}

fn register_map(api: &mut Api) {
    api.group("The map");
    api.name::<Map>("map");
    api.entry("map", "The map that the script edits.");
    api.get("map.name", "The name of its file without the extension.", |map: &mut Map| {
        map.part_of_path(|path| Some(names::of_map(path)))
    });
    api.get("map.path", "The path of its file.", |map: &mut Map| {
        shown_values(map.0.path.as_os_str().as_encoded_bytes())
    });
    api.get("map.dialect", "The name of its dialect, such as `quake3`.", |map: &mut Map| {
        map.look(|state| Ok(state.session.bsp().dialect().name))
    });
    api.get("map.version", "The version number of the format.", |map: &mut Map| {
        map.look(|state| Ok(i64::from(state.session.bsp().version())))
    });
    api.also("to_string", |map: &mut Map| shown_values(map.0.path.as_os_str().as_encoded_bytes()));
    api.also("to_debug", |map: &mut Map| shown_values(map.0.path.as_os_str().as_encoded_bytes()));
}

// Files that a script may read: those of one folder, and none without the user's word.

/// The most maps that a script may open.
const MOST_MAPS: usize = 64;

/// The folder that a script may read.
#[derive(Clone, Default)]
struct Folder {
    path: Option<PathBuf>,
    maps: Arc<AtomicUsize>,
    meter: Meter,
}

impl Folder {
    fn new(path: Option<PathBuf>, meter: Meter) -> Self {
        Folder { path, maps: Arc::default(), meter }
    }

    /// The file of a path below the folder. The path has no `..`, and no part of it is a symbolic link.
    fn file(&self, path: &str) -> Result<PathBuf> {
        let refused = |why: String| Error::new(ErrorKind::Refused, why);
        let Some(folder) = &self.path else {
            return Err(refused(format!("the script may not read `{path}`")).with_hint(Hint::AllowRead));
        };
        let below = Path::new(path);
        let is_plain = |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
        if !below.components().all(is_plain) || path.is_empty() {
            let why = format!("`{path}` is not a path below {}: `..` and absolute paths are refused", shown(folder));
            return Err(refused(why));
        }
        let folder = folder.canonicalize().map_err(|error| input::cannot_read(folder, error))?;
        let parts = below.components().filter(|part| matches!(part, Component::Normal(_)));
        let file = parts.fold(folder, |file, part| file.join(part));
        let real = file.canonicalize().map_err(|error| input::cannot_read(&file, error))?;
        match real == file && real.is_file() {
            true => Ok(real),
            false => Err(refused(format!("`{path}` is not a plain file: symbolic links and folders are refused"))),
        }
    }

    fn read(&self, path: &str) -> Res<Vec<u8>> {
        let file = self.file(path).map_err(fail)?;
        let size = file.metadata().map_err(|error| fail(input::cannot_read(&file, error)))?.len();
        if usize::try_from(size).is_ok_and(|size| size <= MOST_BYTES) {
            return input::read(&file).map_err(fail);
        }
        let message = format!("`{path}` has more than {} MiB", MOST_BYTES >> 20);
        Err(fail(Error::new(ErrorKind::TooLarge, message)))
    }

    fn open(&self, path: &str) -> Res<Map> {
        if self.maps.fetch_add(1, Ordering::Relaxed) >= MOST_MAPS {
            return Err(fail(Error::new(ErrorKind::TooLarge, format!("a script may open {MOST_MAPS} maps"))));
        }
        let file = self.file(path).map_err(fail)?;
        let bsp = Bsp::open(&file).map_err(|error| fail(error.within(format!("cannot open {}", shown(&file)))))?;
        Ok(Map::new(bsp.draft(), &file, false, Some(&self.meter)))
    }
}

fn register_read(api: &mut Api, folder: &Folder) {
    api.group("Files of the computer");
    let from = folder.clone();
    api.call(
        "read_text(path)",
        "A file as a string with escapes. The path is below the folder of `--allow-read`; without this option, and for \
         `..`, absolute paths and symbolic links, it is refused.",
        move |path: &str| -> Res<ImmutableString> { text(&from.read(path)?) },
    );
    let from = folder.clone();
    api.call("read_bytes(path)", "The same as bytes.", move |path: &str| Bytes::made(from.read(path)?, &from.meter));
    let from = folder.clone();
    api.call(
        "open_map(path)",
        "Opens another map to read it: `open_map(\"b.bsp\").entities`. It cannot be edited.",
        move |path: &str| from.open(path),
    );
}

// The words after `--` on the command line.

/// The words, and the values of those that begin with `--`.
#[derive(Clone)]
struct Args {
    words: Arc<Vec<String>>,
    named: Arc<BTreeMap<String, Dynamic>>,
}

impl fmt::Display for Args {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        serde_json::json!(*self.words).fmt(f)
    }
}

impl Args {
    fn new(words: &[String]) -> Self {
        let mut named = BTreeMap::new();
        let mut rest = words.iter().peekable();
        while let Some(word) = rest.next() {
            let Some(name) = word.strip_prefix("--") else { continue };
            let (name, value) = match name.split_once('=') {
                Some((name, value)) => (name, value.into()),
                None => match rest.next_if(|next| !next.starts_with("--")) {
                    Some(value) => (name, value.into()),
                    None => (name, Dynamic::TRUE),
                },
            };
            named.insert(name.replace('-', "_"), value);
        }
        Args { words: Arc::new(words.to_vec()), named: Arc::new(named) }
    }

    fn named(&mut self, name: &str) -> Dynamic {
        self.named.get(name).cloned().unwrap_or(Dynamic::UNIT)
    }

    fn word(&mut self, index: i64) -> Dynamic {
        let word = usize::try_from(index).ok().and_then(|index| self.words.get(index));
        word.map_or(Dynamic::UNIT, |word| word.clone().into())
    }

    fn check(&mut self, names: &Array) -> Res<()> {
        let names: Vec<String> = names.iter().map(|name| name.to_string().replace('-', "_")).collect();
        let unknown = self.named.keys().find(|name| !names.contains(name));
        let dashed = |name: &str| format!("--{}", name.replace('_', "-"));
        match unknown {
            None => Ok(()),
            Some(name) => {
                let known: Vec<String> = names.iter().map(|name| dashed(name)).collect();
                let error = Error::new(ErrorKind::Argument, format!("the script has no argument {}", dashed(name)));
                Err(fail(error.with_hint(near::or_all(&dashed(name), &known, "it has"))))
            }
        }
    }
}

fn register_args(api: &mut Api) {
    api.group("Arguments");
    api.name::<Args>("args");
    api.entry(
        "args",
        "The words after `--` on the command line: `args[0]` is the first one, `()` if there are fewer words, and \
         `for a in args` visits all.",
    );
    api.entry(
        "args.name",
        "The value of `--name VALUE` or `--name=VALUE` as a string; `true` for `--name` without a value, `()` if it is \
         not given. A `-` in the name is `_` here.",
    );
    api.also("to_string", |args: &mut Args| args.to_string());
    api.also("to_debug", |args: &mut Args| args.to_string());
    api.index(Args::named);
    api.index(Args::word);
    api.getter("tag", |args: &mut Args| args.named("tag"));
    api.iterate(|args: Args| Ok(Arc::unwrap_or_clone(args.words).into_iter().map(|word| Ok(word.into()))));
    api.call("args.len()", "How many words there are.", |args: &mut Args| values::signed(args.words.len()));
    api.call(
        "args.only(names)",
        "Stops the script if there is a `--name` that is not in the array, so that a mistyped one is not ignored; \
         `-` and `_` in names are the same.",
        |args: &mut Args, names: Array| args.check(&names),
    );
}
