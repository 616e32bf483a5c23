//! `pak refs`: what a map refers to.

use std::ffi::OsString;
use std::path::PathBuf;

use anyhow::{Context as _, Result};
use bspkit::Bsp;
use bspkit::bytes::escaped;
use bspkit::content::pattern::Pattern;
use bspkit::disk::names;
use bspkit_game::needs::{self, Fault, Found, Keys, Need, Needs, Options, Unresolved};
use serde::{Serialize, Serializer};

use super::missing::GameArgs;
use crate::context::{Context, Report, read_fgd};
use crate::help;
use crate::maps::{MapFile, Reading};
use crate::talk::{Code, Job, count, shown};

/// Show which files a Source map refers to, as a tree
///
/// A file is below the file that refers to it; the places of the map are in parentheses. Before each file is where it
/// was found. Materials, models, sound scripts, soundscapes, particles and scenes are read if they are found. The word
/// `likely` marks files that the map may not need, `optional` those without which the engine goes on.
/// Which key of an entity holds what is known of Valve's games; --fgd adds the keys of other games.
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit pak refs map.bsp
  bspkit pak refs map.bsp '*.mdl' --json
  bspkit pak refs map.bsp --fgd mygame.fgd --dot > refs.dot"
))]
pub(crate) struct Args {
    #[command(flatten)]
    reading: Reading,
    /// Only these files, without what they refer to [default: all]
    #[arg(value_name = "GLOB")]
    patterns: Vec<OsString>,
    /// Print a graph for the program dot of Graphviz
    #[arg(long, conflicts_with = "json")]
    dot: bool,
    #[command(flatten)]
    game: GameArgs,
    #[command(flatten)]
    how: How,
}

// How references are found. (A doc comment would become the help of the command.)
#[derive(clap::Args)]
pub(super) struct How {
    /// The name of the map, by which engines look for some files [default: the file name without .bsp]
    #[arg(long, value_name = "NAME")]
    map_name: Option<String>,
    /// An FGD file of the game: which keys of entities hold models, materials, sounds
    #[arg(long, value_name = "FILE")]
    fgd: Option<PathBuf>,
}

impl How {
    /// The table of keys. Included files that cannot be read are warnings.
    pub(super) fn keys(&self, cx: &Context) -> Result<Keys> {
        let mut keys = Keys::built_in().clone();
        if let Some(path) = &self.fgd {
            keys.extend(&read_fgd(cx, path)?);
        }
        Ok(keys)
    }

    /// The name of a map, and the one that its paths have if that is another one, which is said.
    pub(super) fn names(&self, map: &MapFile, bsp: &Bsp<'_>, job: &mut Job<'_>) -> (Vec<u8>, Option<Vec<u8>>) {
        let stem = names::of_map(&map.path).as_encoded_bytes();
        if let Some(name) = &self.map_name {
            return (name.as_bytes().to_vec(), None);
        }
        let other = needs::compiled_name(bsp, stem).ok().flatten();
        if let Some(other) = &other {
            let (other, own) = (escaped(other), escaped(stem));
            job.warn_here(&format!(
                "most paths in the map have the name `{other}`: files by both names are looked for, `{own}` and \
                 `{other}`; --map-name says which one engines load it by"
            ));
        }
        (stem.to_vec(), other)
    }
}

pub(super) fn run(cx: &Context, args: &Args) -> Result<Code> {
    let (game, keys) = (args.game.open(cx)?, args.how.keys(cx)?);
    args.reading.maps().each(cx, |map, job| {
        let bsp = cx.open(&map.path)?;
        let (name, other) = args.how.names(map, &bsp, job);
        let options = Options::new(&name).also(other.as_deref()).keys(&keys);
        let options = game.as_ref().map_or(options, |game| options.game(game));
        let needs =
            needs::find(&bsp, &options).with_context(|| format!("cannot find what {} refers to", shown(&map.path)))?;
        if args.dot {
            dot(&needs, job);
            return Ok(Code::Done);
        }
        let patterns: Vec<Pattern> = args.patterns.iter().map(|text| Pattern::new(text.as_encoded_bytes())).collect();
        job.report(&Refs::new(needs, patterns))
    })
}

/// One line for a file: where it was found, how sure it is.
fn line(need: &Need, indent: usize, why: &str) -> String {
    let sure = if need.sure == needs::Sure::Certain { String::new() } else { format!(", {}", need.sure.name()) };
    let name = escaped(&need.name);
    format!("{:8} {}{name}  ({why}{sure})", need.found.name(), "  ".repeat(indent.min(32)))
}

/// The tree: what the map itself refers to, below that what the files refer to. A file is unfolded once.
pub(super) fn tree(needs: &Needs, job: &mut Job<'_>) {
    let mut children: Vec<Vec<(usize, usize)>> = vec![Vec::new(); needs.files.len()];
    let mut stack: Vec<(usize, usize, String)> = Vec::new();
    for (index, need) in needs.files.iter().enumerate() {
        let of_map = need.references.iter().filter(|reference| reference.file().is_none());
        let mut of_map = of_map.peekable();
        if let Some(first) = of_map.next() {
            let more = of_map.count();
            let more = if more > 0 { format!(" and {}", count(more, "other", "others")) } else { String::new() };
            stack.push((index, 0, format!("{first}{more}")));
        }
        for (at, reference) in need.references.iter().enumerate() {
            if let Some((parent, _)) = reference.file() {
                children[parent].push((index, at));
            }
        }
    }
    stack.reverse();
    let mut is_unfolded = vec![false; needs.files.len()];
    while let Some((index, depth, why)) = stack.pop() {
        let need = &needs.files[index];
        let again = std::mem::replace(&mut is_unfolded[index], true) && !children[index].is_empty();
        let why = if again { format!("{why}; see above") } else { why };
        job.line(line(need, depth, &why));
        if !again {
            for (child, at) in children[index].iter().rev() {
                let reference = &needs.files[*child].references[*at];
                let why = reference.file().and_then(|(_, line)| line).map(|line| format!("line {line}"));
                stack.push((*child, depth + 1, why.unwrap_or_else(|| needs.files[*child].kind.name().to_owned())));
            }
        }
    }
}

/// The files that patterns match, with all places that refer to them.
pub(super) fn list(needs: &Needs, patterns: &[Pattern], job: &mut Job<'_>) {
    for need in needs.files.iter().filter(|need| patterns.iter().any(|pattern| pattern.matches(&need.name))) {
        job.line(line(need, 0, need.kind.name()));
        for reference in &need.references {
            job.line(format!("           {}", needs.referrer(reference)));
        }
    }
}

/// A graph for Graphviz. What is in the game is grey, what was found nowhere is red.
fn dot(needs: &Needs, job: &mut Job<'_>) {
    let quoted = |text: &str| text.replace('\\', "\\\\").replace('"', "\\\"");
    let map = quoted(&job.path.clone());
    job.line("digraph references {\n  rankdir=LR;\n  node [shape=box];");
    job.line(format!("  map [label=\"{map}\", shape=folder];"));
    for (index, need) in needs.files.iter().enumerate() {
        let color = match need.found {
            needs::Found::Packed => "black",
            needs::Found::Game => "gray",
            _ => "red",
        };
        let name = quoted(&escaped(&need.name).to_string());
        job.line(format!("  f{index} [label=\"{name}\", color={color}];"));
        let mut parents: Vec<Option<usize>> =
            need.references.iter().map(|reference| reference.file().map(|(file, _)| file)).collect();
        parents.sort_unstable();
        parents.dedup();
        for parent in parents {
            let from = parent.map_or("map".to_owned(), |file| format!("f{file}"));
            let style = if need.sure == needs::Sure::Certain { "solid" } else { "dashed" };
            job.line(format!("  {from} -> f{index} [style={style}];"));
        }
    }
    job.line("}");
}

// The report of `pak refs`.

/// What a map refers to, or those of its files that patterns match.
pub(super) struct Refs {
    needs: Needs,
    patterns: Vec<Pattern>,
}

impl Refs {
    pub(super) fn new(needs: Needs, patterns: Vec<Pattern>) -> Self {
        Refs { needs, patterns }
    }
}

#[derive(Serialize)]
struct Document<'n> {
    files: Vec<Numbered<'n>>,
    unresolved: &'n [Unresolved],
    faults: &'n [Fault],
}

#[derive(Serialize)]
struct Numbered<'n> {
    /// The number by which references name it.
    index: usize,
    #[serde(flatten)]
    need: &'n Need,
}

impl Serialize for Refs {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Needs { files, unresolved, faults, .. } = &self.needs;
        let is_asked =
            |need: &Need| self.patterns.is_empty() || self.patterns.iter().any(|pattern| pattern.matches(&need.name));
        let files = files.iter().enumerate().filter(|(_, need)| is_asked(need));
        let files = files.map(|(index, need)| Numbered { index, need }).collect();
        Document { files, unresolved, faults }.serialize(serializer)
    }
}

impl Report for Refs {
    fn print(&self, job: &mut Job<'_>) -> Result<()> {
        let Needs { files, unresolved, faults, .. } = &self.needs;
        match self.patterns.is_empty() {
            true => tree(&self.needs, job),
            false => list(&self.needs, &self.patterns, job),
        }
        for name in unresolved.iter().filter(|_| self.patterns.is_empty()) {
            let place = self.needs.place(&name.referrer);
            job.line(format!("unknown  {}  ({} of {place})", escaped(&name.name), name.kind.name()));
        }
        for fault in faults {
            job.warn_here(&fault.to_string());
        }
        let of = |found: Found| files.iter().filter(|need| need.found == found).count();
        let (packed, game) = (of(Found::Packed), of(Found::Game));
        let all = count(files.len(), "file", "files");
        job.say(&format!("{}: {all}, {packed} packed, {game} in the game", job.path));
        Ok(())
    }

    fn heading(&self, path: &str) -> Option<String> {
        Some(format!("{path}:"))
    }
}
