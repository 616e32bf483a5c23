//! Circles: modules of one folder that import each other, over any number of steps.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::{Path, PathBuf};

/// The folders below `src` whose modules must not form a circle. What is in `mod.rs` itself belongs to all of them.
const FOLDERS: &[&str] = &["builder", "dialect", "draft"];

/// Crates whose modules know each other: what scripts can call, their values and their errors are one thing.
const ONE_THING: &[&str] = &["script"];

/// The modules that each module of a folder imports.
type Graph = BTreeMap<String, BTreeSet<String>>;

#[test]
fn no_module_imports_itself_over_others() {
    let folders = FOLDERS.iter().map(|folder| (super::root().join("src"), *folder));
    let is_checked = |path: &PathBuf| !ONE_THING.iter().any(|name| path.ends_with(name));
    let crates = super::crates().into_iter().filter(is_checked).map(|path| (path.join("src"), ""));
    for (source, folder) in folders.chain(crates) {
        let files = super::files(&source);
        let files: Vec<_> = files.iter().map(|(path, text)| (module(&source, path), text.as_str())).collect();
        let circles = circles(&graph(folder, &files));
        assert!(circles.is_empty(), "{}/{folder} has circles:\n{}", source.display(), circles.join("\n"));
    }
}

/// The path of a file's module below `crate`.
fn module(source: &Path, path: &Path) -> Vec<String> {
    let inner = path.strip_prefix(source).unwrap();
    let mut parts: Vec<String> = inner.iter().map(|part| part.to_str().unwrap().replace(".rs", "")).collect();
    parts.pop_if(|last| ["mod", "lib", "main"].contains(&last.as_str()));
    parts
}

/// Which modules of a folder import which, from all files of the crate with their modules.
fn graph(folder: &str, files: &[(Vec<String>, &str)]) -> Graph {
    let folder: Vec<String> = folder.split('/').filter(|part| !part.is_empty()).map(str::to_owned).collect();
    let inside = |path: &[String]| path.strip_prefix(&folder[..]).and_then(|rest| rest.first().cloned());
    let mut graph: Graph = files.iter().filter_map(|(own, _)| Some((inside(own)?, BTreeSet::new()))).collect();
    // Names that the folder's own file gives again stand for the modules that they come from.
    let own_file = files.iter().find(|(own, _)| *own == folder).map_or("", |(_, text)| text);
    let names = named(own_file, &folder).into_iter().filter_map(|(path, name)| Some((name, inside(&path)?)));
    let names: BTreeMap<String, String> = names.filter(|(_, module)| graph.contains_key(module)).collect();
    for (own, text) in files {
        let Some(from) = inside(own) else { continue };
        for first in named(text, own).into_iter().filter_map(|(path, _)| inside(&path)) {
            let to = if graph.contains_key(&first) { Some(&first) } else { names.get(&first) };
            if let Some(to) = to.filter(|to| **to != from) {
                graph.get_mut(&from).unwrap().insert(to.clone());
            }
        }
    }
    graph
}

/// The shortest way from each module back to it, each circle once.
fn circles(graph: &Graph) -> Vec<String> {
    let mut found: BTreeMap<BTreeSet<&str>, String> = BTreeMap::new();
    for start in graph.keys() {
        let mut ways = VecDeque::from([vec![start.as_str()]]);
        let mut seen = BTreeSet::new();
        while let Some(way) = ways.pop_front() {
            let last = *way.last().unwrap();
            if way.len() > 1 && last == start {
                found.entry(way.iter().copied().collect()).or_insert_with(|| way.join(" -> "));
                break;
            }
            let next = graph.get(last).into_iter().flatten().filter(|next| seen.insert(next.as_str()));
            ways.extend(next.map(|next| [&way[..], &[next.as_str()]].concat()));
        }
    }
    found.into_values().collect()
}

/// The paths below `crate` that a module's code names, in `use` and elsewhere, and the names that they have there.
fn named(text: &str, own: &[String]) -> Vec<(Vec<String>, String)> {
    let tokens = tokens(text);
    let mut found = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let follows = |token: &str| tokens.get(at + 1).is_some_and(|next| next == token);
        let is_continued = at > 0 && tokens[at - 1] == "::";
        at += match tokens[at].as_str() {
            "use" => {
                at = tree(&tokens, at + 1, &[], &mut found);
                0
            }
            "crate" | "super" | "self" if follows("::") && !is_continued => {
                at = tree(&tokens, at, &[], &mut found);
                0
            }
            _ => 1,
        };
    }
    found.into_iter().filter_map(|(path, name)| Some((absolute(&path, own)?, name))).collect()
}

/// The paths of a tree as `use` has it: `a::{b, c::{d, e as f}}`; returns the token after it.
fn tree(tokens: &[String], mut at: usize, prefix: &[String], found: &mut Vec<(Vec<String>, String)>) -> usize {
    let is_word = |token: &String| token.starts_with(|c: char| c.is_alphanumeric() || c == '_' || c == '*');
    let mut path = prefix.to_vec();
    while let Some(word) = tokens.get(at).filter(|token| is_word(token)) {
        path.push(word.clone());
        at += 1;
        if tokens.get(at).is_none_or(|token| token != "::") {
            break;
        }
        at += 1;
    }
    if tokens.get(at).is_some_and(|token| token == "{") && tokens[at - 1] == "::" {
        at += 1;
        while tokens.get(at).is_some_and(|token| token != "}") {
            at = if tokens[at] == "," { at + 1 } else { tree(tokens, at, &path, found).max(at + 1) };
        }
        return at + 1;
    }
    let mut name = path.last().cloned().unwrap_or_default();
    if tokens.get(at).is_some_and(|token| token == "as") {
        name = tokens.get(at + 1).cloned().unwrap_or_default();
        at += 2;
    }
    found.push((path, name));
    at
}

/// A path from the crate's root; nothing for one of another crate.
fn absolute(path: &[String], own: &[String]) -> Option<Vec<String>> {
    let supers = path.iter().take_while(|part| *part == "super").count();
    match path.first()?.as_str() {
        "crate" => Some(path[1..].to_vec()),
        "super" => Some([own.get(..own.len().checked_sub(supers)?)?, &path[supers..]].concat()),
        "self" => Some([own, &path[1..]].concat()),
        _ => Some([own, path].concat()),
    }
}

/// The words and marks of code without comments, literals and tests.
fn tokens(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = text.split("#[cfg(test)]").next().unwrap();
    while let Some(first) = rest.chars().next() {
        let word = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        let len = match first {
            _ if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            _ if rest.starts_with("/*") => rest.find("*/").map_or(rest.len(), |end| end + 2),
            '"' => literal(rest),
            // A lifetime has no second quote.
            '\'' if rest.starts_with("'\\") => rest[3..].find('\'').map_or(rest.len(), |end| end + 4),
            '\'' if rest.chars().nth(2) == Some('\'') => rest.char_indices().nth(3).map_or(rest.len(), |(end, _)| end),
            _ if rest.starts_with("::") => 2,
            _ if word > 0 => word,
            _ => first.len_utf8(),
        };
        if !(first == '"' || first == '\'' || first.is_whitespace() || len > 2 && first == '/') {
            found.push(rest[..len].to_owned());
        }
        rest = &rest[len..];
    }
    found
}

/// The length of a string literal with its quotes.
fn literal(text: &str) -> usize {
    let mut is_escaped = false;
    let end = text.char_indices().skip(1).find(|(_, c)| {
        let ends = *c == '"' && !is_escaped;
        is_escaped = *c == '\\' && !is_escaped;
        ends
    });
    end.map_or(text.len(), |(end, _)| end + 1)
}

fn own(path: &str) -> Vec<String> {
    path.split("::").map(str::to_owned).collect()
}

#[test]
fn paths_are_found_wherever_they_are_written() {
    let text = r#"
        // use super::comment;
        pub use super::{
            Row, light::{self, FaceLight as Light},
            xash,
        };
        use crate::dialect::shared::Vertex;
        use std::fmt;
        const X: Checks = super::limits::SOURCE; // super::tail
        pub(in crate::dialect) const Y: &str = "super::text";
        fn f<'a>(c: &'a char) -> bool { *c == '"' || super::super::bytes::is(self::part::<u8>()) }
    "#;
    let found: BTreeSet<String> = named(text, &own("dialect::goldsrc"))
        .into_iter()
        .map(|(path, name)| format!("{} {name}", path.join("::")))
        .collect();
    let expected = [
        "bytes::is is",
        "dialect dialect",
        "dialect::Row Row",
        "dialect::goldsrc::part part",
        "dialect::goldsrc::std::fmt fmt",
        "dialect::light::FaceLight Light",
        "dialect::light::self self",
        "dialect::limits::SOURCE SOURCE",
        "dialect::shared::Vertex Vertex",
        "dialect::xash xash",
    ];
    assert_eq!(found, expected.into_iter().map(str::to_owned).collect());
}

#[test]
fn a_circle_would_be_seen() {
    let files = [
        ("dialect", "mod facts; mod row; pub use row::{Form, Row as Line}; pub struct Dialect;"),
        ("dialect::facts", "use super::{\n    Dialect,\n    Line,\n};"),
        ("dialect::row", "use super::list::parts; use super::Dialect;"),
        ("dialect::list", "use crate::record;"),
        ("dialect::list::inner", "fn f() { crate::dialect::facts::len() }"),
        ("other", "use crate::dialect::Form;"),
    ];
    let files = files.map(|(module, text)| (own(module), text));
    assert_eq!(circles(&graph("dialect", &files)), ["facts -> row -> list -> facts"]);
    assert_eq!(circles(&graph("dialect", &files[..4])), [""; 0]);
    assert_eq!(circles(&graph("dialect/list", &files)), [""; 0]);
}
