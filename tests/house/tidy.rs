//! The house rules that a machine can check: which way imports run, where a dialect may be asked for, how long a
//! file may be, that every public type shows how it is used, and which words a sentence may not have (`tidy/words.rs`).

mod circles;
mod words;

use std::fs;
use std::path::{Path, PathBuf};

/// The layers of the library, lowest first; a module imports from its own layer and those before it.
const LAYERS: [&[&str]; 9] = [
    &["bytes", "error", "finding", "json", "near", "threads"],
    &["record"],
    &["file", "disk"],
    &["dialect"],
    &["bsp", "builder"],
    &["links"],
    &["content"],
    &["draft"],
    &["compress", "query", "verify"],
];

/// A file that grows past this is two files.
const MOST_LINES: usize = 700;
/// The same for files of tests.
const MOST_TEST_LINES: usize = 700;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The folders of the other crates of the workspace.
fn crates() -> Vec<PathBuf> {
    fs::read_dir(root().join("crates")).unwrap().map(|entry| entry.unwrap().path()).collect()
}

/// The sources in a folder such as `src`, of the library and of the other crates that have one of this name.
fn sources(folder: &str) -> Vec<(PathBuf, String)> {
    let folders = crates().into_iter().map(|path| path.join(folder)).filter(|folder| folder.is_dir());
    let mut found: Vec<_> = folders.flat_map(|folder| files(&folder)).collect();
    found.extend(files(&root().join(folder)));
    found.sort();
    found
}

/// The sources below a folder.
fn files(folder: &Path) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = fs::read_to_string(&path).unwrap();
                found.push((path, text));
            }
        }
    }
    found.sort();
    assert!(!found.is_empty());
    found
}

/// The code of a file without its comments and without its tests.
fn code(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let tests = text.find("#[cfg(test)]").unwrap_or(text.len());
    text[..tests].lines().enumerate().filter(|(_, line)| !line.trim_start().starts_with("//"))
}

/// The top module that a file of the library belongs to; for those of other crates, the path.
fn module(path: &Path) -> String {
    let inner = path.strip_prefix(root().join("src")).unwrap_or(path);
    let first = inner.components().next().unwrap().as_os_str().to_str().unwrap();
    first.trim_end_matches(".rs").to_string()
}

fn layer(module: &str) -> Option<usize> {
    LAYERS.iter().position(|modules| modules.contains(&module))
}

/// The modules of this crate that a line of code names.
fn imports(line: &str) -> Vec<&str> {
    line.match_indices("crate::")
        .flat_map(|(at, prefix)| {
            let rest = &line[at + prefix.len()..];
            let group = rest.strip_prefix('{').map(|group| group.split('}').next().unwrap());
            group.map_or_else(|| vec![rest], |group| group.split(", ").collect())
        })
        .map(|path| path.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap())
        .collect()
}

#[test]
fn imports_run_one_way() {
    let mut upward = Vec::new();
    for (path, text) in files(&root().join("src")) {
        let own = module(&path);
        let Some(level) = layer(&own) else {
            assert_eq!(own, "lib", "{} belongs to no layer", path.display());
            continue;
        };
        for (line, code) in code(&text) {
            for import in imports(code) {
                // The names that lib.rs gives again stand for the module that they come from.
                let import = match import {
                    "Data" | "Rope" => "bytes",
                    "Error" | "ErrorKind" | "Place" | "Result" => "error",
                    import => import,
                };
                if layer(import).is_some_and(|imported| imported > level) {
                    upward.push(format!("{}:{}: {own} imports {import}", path.display(), line + 1));
                }
            }
        }
    }
    assert!(upward.is_empty(), "{}", upward.join("\n"));
}

#[test]
fn an_upward_import_would_be_seen() {
    assert_eq!(imports("use crate::draft::Draft;"), ["draft"]);
    assert_eq!(imports("use crate::{Error, content::pak};"), ["Error", "content"]);
    assert!(layer("draft") > layer("file"));
}

/// What a text names of `dialect`, in groups and over line breaks too.
fn named_of_dialect(code: &str) -> Vec<&str> {
    let ident = |path: &str| path.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(path.len());
    code.match_indices("dialect::")
        .flat_map(|(at, prefix)| {
            let rest = &code[at + prefix.len()..];
            let group = rest.strip_prefix('{').map(|group| group.split('}').next().unwrap());
            group.map_or_else(|| vec![rest], |group| group.split(',').map(str::trim_start).collect())
        })
        .map(|path| &path[..ident(path)])
        .collect()
}

/// The version that a line of code compares a map's with.
fn compared_version(line: &str) -> Option<&str> {
    let behind = line.split("version() ").nth(1)?;
    let other = ["==", "!=", "<=", ">=", "<", ">"].iter().find_map(|operator| behind.strip_prefix(operator))?;
    Some(other.trim_start()).filter(|other| other.starts_with(|c: char| c.is_ascii_digit()))
}

/// Only the dialects' own folder asks which dialect a map is; everything else goes by what the dialect's data says.
#[test]
fn nobody_else_asks_for_the_dialect() {
    let list = fs::read_to_string(root().join("src/dialect/mod.rs")).unwrap();
    let (_, all) = list.split_once("pub static ALL: ").unwrap();
    let names: Vec<&str> =
        all.split_once("];").unwrap().0.lines().filter_map(|line| line.trim().strip_prefix('&')).collect();
    let names: Vec<&str> = names.into_iter().filter_map(|name| name.strip_suffix(',')).collect();
    assert_eq!(names.len(), bspkit::dialect::ALL.len());
    for (path, text) in sources("src").into_iter().filter(|(path, _)| module(path) != "dialect") {
        let whole: String = code(&text).flat_map(|(_, line)| [line, "\n"]).collect();
        let named = named_of_dialect(&whole).into_iter().find(|name| names.contains(name));
        assert!(named.is_none(), "{} names the dialect {named:?}", path.display());
        for (line, code) in code(&text) {
            let place = format!("{}:{}", path.display(), line + 1);
            let asks = ["dialect().name ==", "dialect.name ==", "match dialect.name", "match bsp.dialect()"];
            assert!(!asks.iter().any(|ask| code.contains(ask)), "{place} asks which dialect it is");
            // A version may be looked up in a dialect's table, and not be compared with one that stands in the code.
            let compares = compared_version(code).is_some() || code.contains("match self.version()");
            assert!(!compares, "{place} asks which version it is");
        }
    }
}

#[test]
fn asking_for_a_dialect_would_be_seen() {
    let code = "use crate::dialect::{\n    Key,\n    QUAKE64, Role\n};\nif dialect::RAVEN.name";
    assert_eq!(named_of_dialect(code), ["Key", "QUAKE64", "Role", "RAVEN"]);
    assert_eq!(compared_version("if map.version() >= 30 {"), Some("30 {"));
    assert_eq!(compared_version("if map.version() == other.version() {"), None);
}

/// Who looks for a game finds its dialect where the project says what it reads.
#[test]
fn the_documents_have_every_dialect() {
    for page in ["README.md", "docs/support.md"] {
        let text = fs::read_to_string(root().join(page)).unwrap();
        let table: Vec<&str> = text.lines().filter(|line| line.starts_with("| `")).collect();
        for dialect in bspkit::dialect::ALL {
            let name = format!("`{}`", dialect.name);
            assert_eq!(table.iter().filter(|row| row.contains(&name)).count(), 1, "{page}: {name}");
        }
    }
}

/// A dialect is one file of its own and one word in the list.
#[test]
fn every_dialect_is_one_file() {
    let list = fs::read_to_string(root().join("src/dialect/mod.rs")).unwrap();
    for dialect in bspkit::dialect::ALL {
        let (path, text) = files(&root().join("src/dialect"))
            .into_iter()
            .find(|(_, text)| text.contains(&format!("name: \"{}\"", dialect.name)))
            .unwrap_or_else(|| panic!("{} has no file", dialect.name));
        assert_eq!(text.matches(": Dialect = Dialect {").count(), 1, "{}", path.display());
        assert!(text.starts_with("//! "), "{} begins with its source", path.display());
        let module = path.file_stem().unwrap().to_str().unwrap();
        assert!(list.contains(&format!("mod {module};")));
    }
}

/// A lump struct is one file's: the struct, its key and its row stand together, so that adding one touches nothing else.
#[test]
fn a_lump_struct_stands_with_its_key_and_its_row() {
    let mut keys_seen = 0;
    for (path, text) in files(&root().join("src/dialect")) {
        let shared = fs::read_to_string(root().join("src/dialect/shared.rs")).unwrap();
        let Some((_, keys)) = text.split_once("\nkeys! {\n") else { continue };
        for line in keys.split("\n}").next().unwrap().lines() {
            let Some((key, rest)) = line.trim().split_once(": ") else { panic!("{}: {line}", path.display()) };
            let record = rest.split(" = ").next().unwrap();
            let place = format!("{}: {key}", path.display());
            // By `records!`, or by a macro for structs that differ in little.
            let declares = |text: &str| {
                text.lines()
                    .any(|line| line.trim_start().trim_start_matches("pub struct ").starts_with(&format!("{record}(")))
            };
            assert!(declares(&text) || declares(&shared), "{place}: {record} is declared elsewhere");
            let rows: String = text.chars().filter(|c| !c.is_whitespace()).collect();
            assert!(rows.contains(&format!("{key}.row()")), "{place} has no row here");
            keys_seen += 1;
        }
    }
    assert!(keys_seen > 40);
}

#[test]
fn files_stay_small_enough_to_hold_in_mind() {
    for (folder, most) in
        [("src", MOST_LINES), ("examples", MOST_LINES), ("benches", MOST_LINES), ("tests", MOST_TEST_LINES)]
    {
        for (path, text) in sources(folder) {
            let lines = text.lines().count();
            assert!(lines <= most, "{} has {lines} lines", path.display());
        }
    }
}

#[test]
fn nothing_is_left_for_later() {
    for (path, text) in sources("src").into_iter().chain(sources("examples")).chain(sources("benches")) {
        for word in ["todo!", "unimplemented!", "FIXME", "TODO", "dbg!"] {
            assert!(!text.contains(word), "{} says {word}", path.display());
        }
    }
}

/// Numbers change their width in `bytes.rs` alone, where the reasons stand.
#[test]
fn no_number_changes_its_width_elsewhere() {
    let widths = ["u8", "u16", "u32", "u64", "i8", "i16", "i32", "i64", "usize", "isize", "f32", "f64"];
    for (path, text) in sources("src").into_iter().filter(|(path, _)| module(path) != "bytes") {
        for (line, code) in code(&text) {
            let casts = |width: &&str| {
                let cast = format!(" as {width}");
                code.match_indices(&cast)
                    .any(|(at, _)| !code[at + cast.len()..].starts_with(|c: char| c.is_alphanumeric() || c == '_'))
            };
            assert!(!widths.iter().any(casts), "{}:{}: {code}", path.display(), line + 1);
        }
    }
}

/// Whether a type may be left to the examples of its module, since it does nothing by itself: an enum, or a struct
/// without public methods in its file.
fn is_small(line: &str, name: &str, text: &str) -> bool {
    let is_of_it = |line: &str| {
        let mut words = line.split(|c: char| !c.is_alphanumeric());
        words.next() == Some("impl") && !line.contains(" for ") && words.any(|word| word == name)
    };
    let lines: Vec<&str> = text.lines().collect();
    let blocks = (0..lines.len()).filter(|at| is_of_it(lines[*at])).map(|at| &lines[at..]);
    let has_methods = blocks.into_iter().any(|block| {
        block.iter().take_while(|line| **line != "}").any(|line| line.starts_with("    pub ") && line.contains("fn "))
    });
    line.starts_with("pub enum ") || (line.starts_with("pub struct ") && !has_methods)
}

/// An example that shows nothing is worse than none: types that are only values are shown where they are used.
#[test]
fn every_public_type_shows_how_it_is_used() {
    let mut missing = Vec::new();
    let program = root().join("crates/cli");
    for (path, text) in sources("src").into_iter().filter(|(path, _)| !path.starts_with(&program)) {
        let beside = ["mod.rs", "lib.rs"].map(|file| fs::read_to_string(path.with_file_name(file)).unwrap_or_default());
        let has_example =
            [&text, &beside[0], &beside[1]].iter().any(|text| text.contains("/// ```") || text.contains("//! ```"));
        let head: String = text.lines().take_while(|line| line.starts_with("//!")).collect();
        let (_, head) = head.split_once("//! ```").unwrap_or_default();
        let mut doc = String::new();
        for line in text.lines() {
            let line = line.trim_start();
            let kinds = ["pub struct ", "pub enum ", "pub trait "];
            if let Some(kind) = kinds.iter().find(|kind| line.starts_with(**kind)) {
                let name = line[kind.len()..].split(|c: char| !c.is_alphanumeric()).next().unwrap();
                // Records are declared in bulk and shown by their module; a macro has no name yet.
                let is_record = line.contains('(') && line.trim_end().ends_with(") {");
                let is_named = head.split(|c: char| !c.is_alphanumeric()).any(|word| word == name);
                let is_shown = doc.contains("```") || is_named || (has_example && is_small(line, name, &text));
                if !(is_shown || is_record || name.is_empty()) {
                    missing.push(format!("{}: {name}", path.display()));
                }
            }
            if line == "#[doc(hidden)]" {
                // No user of the crate meets it.
                doc.push_str("```");
            } else if line.starts_with("///") {
                doc.push_str(line);
            } else if !line.starts_with("#[") {
                doc.clear();
            }
        }
    }
    assert!(missing.is_empty(), "{}", missing.join("\n"));
}

#[test]
fn a_type_that_does_something_is_not_small() {
    assert!(is_small("pub enum Kind {", "Kind", "impl Kind {"));
    assert!(is_small("pub struct Place {", "Place", "impl fmt::Display for Place {\n    pub fn f() {}\n}"));
    assert!(is_small("pub struct Form {", "Form", "impl Form {\n    pub(super) fn f() {}\n}\n    pub fn g() {}"));
    assert!(!is_small("pub struct Pak<'a> {", "Pak", "impl<'a> Pak<'a> {\n    pub const fn f() {}\n}"));
    assert!(!is_small("pub trait Record {", "Record", ""));
}
