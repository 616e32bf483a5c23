//! Names that files define: sounds of scripts, soundscapes, particle systems; and the sounds that values name.

use std::collections::HashMap;

use super::graph::{Graph, Wanted};
use super::{Kind, Referrer, Sure, normal_name};
use crate::assets::keyvalues::Pair;
use crate::assets::material::material_file;
use crate::assets::particles::Particles;
use crate::assets::sound::name_start;
use bspkit::{Error, ErrorKind};

// Names that files define: sounds of scripts, soundscapes, particle systems. The files are read when the first name is
// asked for: those that the game's lists name, and those by the name of the map.

/// Larger scripts and particle files are not read.
const MOST_SCRIPT: usize = 16 << 20;
const MOST_PARTICLES: usize = 64 << 20;

/// More files of one kind are not read.
const MOST_FILES: usize = 16_384;

/// More definitions, and names in them, are not kept.
const MOST_DEFINITIONS: usize = 1 << 20;

/// What defines a name.
struct Definition {
    /// The file, by its index in `files` of the kind.
    file: usize,
    line: Option<usize>,
    uses: Vec<Use>,
}

/// Something that a definition names.
struct Use {
    what: What,
    written: Vec<u8>,
    line: Option<usize>,
    sure: Sure,
}

enum What {
    /// A file of a sound, or an entry of a sound script.
    Sound,
    /// Another definition of this kind.
    Definition,
    /// A file, by its path.
    File(Kind, Vec<u8>),
}

/// A file with definitions, and what names it.
struct Source {
    name: Vec<u8>,
    referrer: Referrer,
    written: Vec<u8>,
}

/// The definitions of one kind.
struct Defined {
    kind: Kind,
    sources: Vec<Source>,
    names: HashMap<Vec<u8>, Definition>,
    /// Whether the game's files are read.
    has_game: bool,
    /// How many definitions there are, with the names in them.
    count: usize,
}

/// The definitions of all kinds that were asked for.
#[derive(Default)]
pub(super) struct Definitions(Vec<(Names, Defined)>);

/// What a definition is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Names {
    Sounds,
    Soundscapes,
    Systems,
}

/// Prefix of a wanted name that is a soundscape: both are kinds of sound scripts.
pub(super) const SOUNDSCAPE: &[u8] = b"soundscape:";

impl Definitions {
    /// Adds the files by the name of the map, which the engine reads for every map, and all that they define.
    pub(super) fn of_map(&mut self, graph: &mut Graph<'_>) {
        for names in [Names::Sounds, Names::Soundscapes, Names::Systems] {
            let defined = self.get(names, graph);
            for source in &defined.sources {
                graph.add(defined.kind, &source.name, source.referrer.clone(), &source.written, Sure::Certain);
            }
            let mut all: Vec<_> = defined.names.iter().collect();
            all.sort_by_key(|(name, definition)| (definition.file, definition.line, *name));
            for (_, definition) in all {
                if let Some(file) = graph.index(&defined.sources[definition.file].name) {
                    add_uses(graph, defined.kind, names, definition, file, Sure::Likely);
                }
            }
        }
    }

    /// Adds the file that defines a name, and what the definition names.
    pub(super) fn resolve(&mut self, graph: &mut Graph<'_>, wanted: Wanted, is_first: bool) {
        let soundscape = wanted.name.strip_prefix(SOUNDSCAPE).map(<[u8]>::to_vec);
        let names = match (&soundscape, wanted.kind) {
            (Some(_), _) => Names::Soundscapes,
            (None, Kind::Particles) => Names::Systems,
            (None, _) => Names::Sounds,
        };
        let name = soundscape.unwrap_or_else(|| wanted.name.clone());
        let defined = self.get(names, graph);
        let key = name.to_ascii_lowercase();
        if !defined.names.contains_key(&key) && !defined.has_game {
            defined.load_game(names, graph);
        }
        let Some(definition) = defined.names.get(&key) else {
            return graph.unresolved(Wanted { name, ..wanted });
        };
        let source = &defined.sources[definition.file];
        if graph.index(&source.name).is_none() {
            graph.add(defined.kind, &source.name, source.referrer.clone(), &source.written, Sure::Optional);
        }
        graph.add(defined.kind, &source.name, wanted.referrer, &name, wanted.sure);
        if let Some(file) = graph.index(&source.name).filter(|_| is_first) {
            add_uses(graph, defined.kind, names, definition, file, wanted.sure);
        }
    }

    fn get(&mut self, names: Names, graph: &mut Graph<'_>) -> &mut Defined {
        let at = match self.0.iter().position(|(known, _)| *known == names) {
            Some(at) => at,
            None => {
                self.0.push((names, Defined::load(names, graph)));
                self.0.len() - 1
            }
        };
        &mut self.0[at].1
    }
}

fn add_uses(graph: &mut Graph<'_>, kind: Kind, names: Names, definition: &Definition, file: usize, sure: Sure) {
    for each in &definition.uses {
        let referrer = Referrer::File { index: file, line: each.line.or(definition.line) };
        let sure = sure.min(each.sure);
        match &each.what {
            What::Sound => named(graph, &each.written, referrer, sure),
            What::File(kind, name) => graph.add(*kind, name, referrer, &each.written, sure),
            What::Definition => {
                let prefix = if names == Names::Soundscapes { SOUNDSCAPE } else { b"" };
                graph.want(kind, &[prefix, &each.written].concat(), referrer, sure);
            }
        }
    }
}

/// Where definitions of one kind are.
struct Places {
    kind: Kind,
    /// Files by the name of the map.
    own: Vec<Vec<u8>>,
    /// Lists of files by the name of the map.
    own_lists: Vec<Vec<u8>>,
    /// The list of the game.
    list: &'static str,
    /// The keys of files in the lists.
    keys: &'static [&'static str],
}

impl Places {
    fn of(names: Names, maps: &[Vec<u8>]) -> Places {
        let by_maps = |rows: &[(&str, &str)]| -> Vec<Vec<u8>> {
            let of = |map: &Vec<u8>| {
                rows.iter()
                    .map(|(before, after)| [before.as_bytes(), map, after.as_bytes()].concat())
                    .collect::<Vec<_>>()
            };
            maps.iter().flat_map(of).collect()
        };
        match names {
            Names::Sounds => Places {
                kind: Kind::SoundScript,
                own: by_maps(&[("maps/", "_level_sounds.txt")]),
                own_lists: Vec::new(),
                list: "scripts/game_sounds_manifest.txt",
                keys: &["precache_file", "preload_file", "autocache_file", "declare_file", "file"],
            },
            Names::Soundscapes => Places {
                kind: Kind::SoundScript,
                own: by_maps(&[("scripts/soundscapes_", ".txt"), ("scripts/soundscapes_", ".vsc")]),
                own_lists: Vec::new(),
                list: "scripts/soundscapes_manifest.txt",
                keys: &["file"],
            },
            Names::Systems => Places {
                kind: Kind::Particles,
                own: Vec::new(),
                own_lists: [
                    by_maps(&[("maps/", "_particles.txt")]),
                    vec![b"particles.txt".to_vec()],
                    by_maps(&[("particles/", "_manifest.txt")]),
                ]
                .concat(),
                list: "particles/particles_manifest.txt",
                keys: &["file"],
            },
        }
    }
}

impl Defined {
    /// Reads the files by the name of the map.
    fn load(names: Names, graph: &mut Graph<'_>) -> Defined {
        let places = Places::of(names, &graph.maps);
        let (kind, definitions) = (places.kind, HashMap::new());
        let mut defined = Defined { kind, sources: Vec::new(), names: definitions, has_game: false, count: 0 };
        for name in places.own.iter().filter(|name| graph.exists(name)).cloned().collect::<Vec<_>>() {
            defined.sources.push(Source { name, referrer: Referrer::MapName, written: Vec::new() });
        }
        for list in &places.own_lists {
            // The engine reads `particles.txt` only from the map.
            if list != b"particles.txt" || graph.is_packed(list) {
                defined.list(list, Referrer::MapName, &places, graph);
            }
        }
        (0..defined.sources.len()).for_each(|index| defined.read(names, index, graph));
        defined
    }

    /// Reads the files of the game's list too.
    fn load_game(&mut self, names: Names, graph: &mut Graph<'_>) {
        let (places, before) = (Places::of(names, &graph.maps), self.sources.len());
        self.has_game = true;
        self.list(places.list.as_bytes(), Referrer::Engine, &places, graph);
        (before..self.sources.len()).for_each(|index| self.read(names, index, graph));
    }

    /// Adds the files of a list.
    fn list(&mut self, list: &[u8], referrer: Referrer, places: &Places, graph: &mut Graph<'_>) {
        if !graph.exists(list) {
            return;
        }
        let is_of_map = referrer == Referrer::MapName;
        let sure = if is_of_map { Sure::Certain } else { Sure::Optional };
        graph.add(places.kind, list, referrer, b"", sure);
        let (Some(index), Some(text)) = (graph.index(list), graph.text(list, MOST_SCRIPT)) else { return };
        for pair in text.iter().filter(|pair| places.keys.iter().any(|key| pair.is(key))).take(MOST_FILES) {
            let Some(written) = pair.value() else { continue };
            let referrer = Referrer::File { index, line: Some(pair.line()) };
            let name = normal_name(written.strip_prefix(b"!").unwrap_or(written));
            if is_of_map {
                graph.add(places.kind, &name, referrer.clone(), written, Sure::Certain);
            }
            self.sources.push(Source { name, referrer, written: written.to_vec() });
        }
    }

    /// Reads the definitions of a file. Those that were read first count.
    fn read(&mut self, names: Names, file: usize, graph: &mut Graph<'_>) {
        let name = self.sources[file].name.clone();
        let is_read = self.sources[..file].iter().any(|source| source.name == name);
        if is_read || self.count > MOST_DEFINITIONS || !graph.exists(&name) {
            return;
        }
        let found: Vec<(Vec<u8>, Definition)> = match names {
            Names::Systems => match graph.read(&name, MOST_PARTICLES).map(Particles::parse) {
                Some(Ok(particles)) => systems(file, particles),
                Some(Err(error)) => return graph.fault(&name, &error),
                None => return,
            },
            _ => {
                let Some(text) = graph.text(&name, MOST_SCRIPT) else { return };
                let blocks = text.roots().filter(Pair::is_block);
                blocks.map(|block| (block.key().to_ascii_lowercase(), script(file, names, &block))).collect()
            }
        };
        for (name, definition) in found {
            self.count += 1 + definition.uses.len();
            if self.count > MOST_DEFINITIONS {
                let message = format!("more than {MOST_DEFINITIONS} definitions in all files");
                return graph.fault(&self.sources[file].name, &Error::new(ErrorKind::TooLarge, message));
            }
            self.names.entry(name).or_insert(definition);
        }
    }
}

/// What a sound or a soundscape of a script names.
fn script(file: usize, names: Names, block: &Pair<'_, '_>) -> Definition {
    let mut inside: &[u8] = b"";
    let mut uses = Vec::new();
    for pair in block.inside().filter(Pair::is_for_pc) {
        let Some(written) = pair.value() else {
            inside = pair.key();
            continue;
        };
        let is_scape = names == Names::Soundscapes && inside.eq_ignore_ascii_case(b"playsoundscape") && pair.is("name");
        let what = match () {
            () if pair.is("wave") => What::Sound,
            () if is_scape => What::Definition,
            () => continue,
        };
        uses.push(Use { what, written: written.to_vec(), line: Some(pair.line()), sure: Sure::Certain });
    }
    Definition { file, line: Some(block.line()), uses }
}

/// What the systems of a particle file name.
fn systems(file: usize, particles: Particles) -> Vec<(Vec<u8>, Definition)> {
    let definition = |system: crate::assets::particles::System| {
        let one = |what: What, written: Vec<u8>, sure: Sure| Use { what, written, line: None, sure };
        let material = system.material.filter(|name| !name.is_empty());
        let material = material.map(|name| one(What::File(Kind::Material, material_file(&name)), name, Sure::Certain));
        let children = system.children.into_iter().map(|name| one(What::Definition, name, Sure::Certain));
        let models =
            system.models.into_iter().map(|name| one(What::File(Kind::Model, name.clone()), name, Sure::Likely));
        let uses = material.into_iter().chain(children).chain(models).collect();
        (system.name.to_ascii_lowercase(), Definition { file, line: None, uses })
    };
    particles.systems.into_iter().map(definition).collect()
}

// Sounds: values that name a file or an entry in a script, and what scenes play.

/// A larger scene is not read.
const MOST_BYTES: usize = 4 << 20;

/// The path of a sound file: without the characters before its name, below `sound`.
pub(super) fn file(written: &[u8]) -> Vec<u8> {
    let name = normal_name(&written[name_start(written)..]);
    let folder: &[u8] = if name.starts_with(b"sound/") { b"" } else { b"sound/" };
    [folder, &name].concat()
}

/// Whether a value is the name of a sound file; another name is an entry of a script.
pub(super) fn is_file(written: &[u8]) -> bool {
    let end = written.len().checked_sub(4).map_or(&b""[..], |at| &written[at..]);
    [&b".wav"[..], b".mp3", b".ogg"].iter().any(|known| end.eq_ignore_ascii_case(known))
}

/// Is in the names of sounds in place of the gender, which the model of the actor says.
const GENDER: &[u8] = b"$gender";

/// What engines put in its place (`CSoundEmitterSystemBase` of the Source SDK).
const GENDERS: [&[u8]; 2] = [b"male", b"female"];

/// Both names of a sound that has `$gender` in it.
fn of_genders(written: &[u8]) -> Option<[Vec<u8>; 2]> {
    let lower = written.to_ascii_lowercase();
    let places: Vec<usize> = memchr::memmem::find_iter(&lower, GENDER).collect();
    let with = |gender: &[u8]| {
        let (mut name, mut at) = (Vec::new(), 0);
        for place in &places {
            name.extend([&written[at..*place], gender].concat());
            at = place + GENDER.len();
        }
        [&name, &written[at..]].concat()
    };
    (!places.is_empty()).then(|| GENDERS.map(with))
}

/// Adds what a value names: a file, or an entry of a script.
pub(super) fn named(graph: &mut Graph<'_>, written: &[u8], referrer: Referrer, sure: Sure) {
    let written = written.trim_ascii();
    if let Some(names) = of_genders(written).filter(|_| is_file(written)) {
        names.iter().for_each(|name| graph.add(Kind::Sound, &file(name), referrer.clone(), written, sure));
        // A file with this very name is loaded if it is there and a game does without genders.
        graph.add(Kind::Sound, &file(written), referrer, written, Sure::Optional);
    } else if is_file(written) {
        graph.add(Kind::Sound, &file(written), referrer, written, sure);
    } else if !written.iter().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'-')) {
        graph.want(Kind::SoundScript, written, referrer, sure);
    }
}

/// What a scene plays: `event speak "name"` has a block with the name of the sound after `param`.
pub(super) fn expand_scene(graph: &mut Graph<'_>, index: usize) {
    let name = graph.needs.files[index].name.clone();
    let Some(data) = graph.read(&name, MOST_BYTES) else { return };
    let (mut before, mut event): (&[u8], &[u8]) = (b"", b"");
    for (line, text) in data.split(|byte| *byte == b'\n').enumerate() {
        for word in words(text) {
            let from = Referrer::File { index, line: Some(line + 1) };
            match before {
                b"event" => event = word,
                b"param" if event == b"speak" => named(graph, word, from, Sure::Certain),
                b"param" if event == b"subscene" => graph.add(Kind::Scene, word, from, word, Sure::Certain),
                _ => {}
            }
            before = word;
        }
    }
}

/// The words of a line up to a comment; one in quotes may have spaces.
fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = line;
    std::iter::from_fn(move || {
        // Blanks are the bytes that end a word, control bytes too.
        rest = &rest[rest.iter().position(|byte| *byte > b' ').unwrap_or(rest.len())..];
        let (word, next) = match rest {
            [] | [b'/', b'/', ..] => return None,
            [b'"', inner @ ..] => {
                let end = memchr::memchr(b'"', inner).unwrap_or(inner.len());
                (&inner[..end], &inner[(end + 1).min(inner.len())..])
            }
            _ => rest.split_at(rest.iter().position(|byte| *byte <= b' ').unwrap_or(rest.len())),
        };
        rest = next;
        Some(word)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A control byte is a blank, also before a word.
    #[test]
    fn every_blank_that_ends_a_word_may_be_before_one() {
        let found: Vec<&[u8]> = words(b"\0event\x01speak \x0B\"a b\"\x7F {\x02// x").take(9).collect();
        assert_eq!(found, [&b"event"[..], b"speak", b"a b", b"\x7F", b"{"]);
    }
}
