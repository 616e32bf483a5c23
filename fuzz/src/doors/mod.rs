//! The doors: every place where bytes or words of others come in, and edits of maps that were opened.

mod built;
mod changes;
mod contents;
mod edits;
mod files;
mod forms;
mod games;
mod made_rules;
mod maps;
mod meshes;
mod rules;
mod said;
mod scripts;
mod sources;
mod texts;
mod threeway;
mod twice;
mod values;
mod zips;

use std::path::PathBuf;
use std::sync::LazyLock;

use bspkit::Bsp;
use bspkit::file::lzma;

use crate::seeds;

/// A place where input comes in.
pub struct Door {
    pub name: &'static str,
    /// What inputs are.
    pub kind: Kind,
    /// What inputs are made from.
    pub seeds: Vec<Vec<u8>>,
    pub enter: fn(&[u8]),
}

/// How an input is changed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A map: fields of records and words of its directory, too.
    Map,
    /// Any bytes; tokens too, if they look like a text.
    Bytes,
}

/// The maps of the project and a small one of each dialect, opened.
static MAPS: LazyLock<Vec<Bsp<'static>>> =
    LazyLock::new(|| seeds::maps().into_iter().filter_map(|bytes| Bsp::from_vec(bytes).ok()).collect());

/// Maps of compilers, in which nothing is wrong: they have entities.
static WHOLE: LazyLock<Vec<Bsp<'static>>> = LazyLock::new(|| {
    let maps = seeds::compiled().into_iter().filter_map(|bytes| Bsp::from_vec(bytes).ok());
    maps.filter(|map| map.entities().is_ok_and(|all| !all.is_empty())).collect()
});

fn all_maps() -> &'static [Bsp<'static>] {
    &MAPS
}

fn good_maps() -> &'static [Bsp<'static>] {
    &WHOLE
}

/// A map of a compiler, by a number.
fn map(number: usize) -> &'static Bsp<'static> {
    &WHOLE[number % WHOLE.len()]
}

/// A folder of this process that is not there.
fn folder_of(name: &str) -> PathBuf {
    let folder = twice::scratch().with_extension(name);
    let _ = std::fs::remove_dir_all(&folder);
    folder
}

/// All doors.
pub fn all() -> Vec<Door> {
    let door = |name, seeds, enter| Door { name, kind: Kind::Bytes, seeds, enter };
    let of_maps = |name, enter| Door { name, kind: Kind::Map, seeds: seeds::maps(), enter };
    let numbers = || (0..64_u8).map(|number| vec![number; 24]).collect::<Vec<_>>();
    let rules = || {
        let ends = [".cfg", ".ini", ".rule", ".jsonc", ".json"];
        [seeds::files("examples/rules", &ends, 1 << 16), seeds::files("fuzz/seeds", &ends, 1 << 16)].concat()
    };
    let policies =
        || [seeds::files("examples", &[".toml"], 1 << 16), seeds::files("fuzz/seeds", &[".toml"], 1 << 16)].concat();
    let scripts = || {
        let mut all = seeds::files("examples/scripts", &[".rhai"], 1 << 16);
        all.extend(scripts::STATEMENTS.iter().map(|line| line.clone().into_bytes()));
        all
    };
    let lines = |name: &str| {
        let texts = seeds::files("fuzz/seeds", &[name], 1 << 16);
        texts.iter().flat_map(|text| seeds::lines(&String::from_utf8_lossy(text))).collect::<Vec<_>>()
    };
    let words = || {
        let lines =
            ["2013-06-20T12:34:56", "none", "door1#2", "materials/*/a materials/b/*", "a=1\nb={a}\n", "**.vmt {1}.txt"];
        lines.iter().map(|line| line.as_bytes().to_vec()).collect::<Vec<_>>()
    };
    let resources = || {
        vec![
            b"// files\ngfx/env/own.tga\nown.wad // a wad\n".to_vec(),
            b"\"resources\"\n{\n\t\"sound/a.wav\" \"file\"\n\t// \"b\" \"file\"\n}\n".to_vec(),
        ]
    };
    let texts = || MAPS.iter().filter_map(|map| Some(map.entities().ok()?.to_bytes().to_vec())).collect::<Vec<_>>();
    let lump = |name: &str| {
        let bytes = MAPS.iter().filter_map(|map| Some(map.bytes(map.slot(name).ok()?.id).ok()?.to_vec()));
        bytes.filter(|bytes| !bytes.is_empty()).collect::<Vec<_>>()
    };
    let blocks = || {
        let grid = lump("bspx:LIGHTGRID_OCTREE");
        // Several grids have their sizes before them.
        let sized = grid.iter().map(|grid| [&(grid.len() as u32).to_le_bytes()[..], grid].concat()).collect::<Vec<_>>();
        [lump("bspx:BRUSHLIST"), grid, sized].concat()
    };
    // A text so long that it is read in pieces.
    let long = || {
        let entity = b"{\n\"classname\" \"light\"\n\"origin\" \"1 2 3\"\n\"message\" \"}\"\n}\n";
        vec![[&entity.repeat(6000)[..], b"\0"].concat()]
    };
    let of_source = || seeds::maps().into_iter().filter(|map| map.starts_with(b"VBSP")).collect();
    let images = || [seeds::files("tests", &[".vtf", ".wal", ".pcx", ".wad"], 1 << 18), meshes::images()].concat();
    let packed = || {
        lump("PAKFILE")
            .iter()
            .chain(&texts())
            .filter_map(|it| lzma::compress(it, lzma::Level::default()).ok())
            .collect()
    };
    vec![
        of_maps("open", maps::open),
        of_maps("laws", maps::laws),
        of_maps("ops", maps::ops),
        of_maps("game", maps::game),
        of_maps("statistics", maps::statistics),
        of_maps("folder", maps::folder),
        of_maps("pages", maps::pages),
        of_maps("meshes", meshes::meshes),
        of_maps("drawn", meshes::drawn),
        of_maps("sources", sources::sources),
        Door { name: "sources-vmf", kind: Kind::Map, seeds: of_source(), enter: sources::sources },
        of_maps("mapped", twice::mapped),
        of_maps("orders", twice::byte_orders),
        of_maps("sizes", twice::light_sizes),
        of_maps("lenses", contents::lenses),
        of_maps("said", said::maps),
        door("entities", texts(), texts::entities),
        door("long-texts", long(), twice::tokens),
        door("canonical", texts(), contents::canonical),
        door("entity-edits", numbers(), contents::entities),
        door("splices", numbers(), contents::spliced),
        door("builder", numbers(), contents::built),
        door("tokens", texts(), twice::tokens),
        door("edits", numbers(), edits::edits),
        door("follow", numbers(), edits::follow),
        door("lit-props", numbers(), edits::lit_props),
        door("merge", numbers(), edits::merged),
        door("sessions", numbers(), edits::sessions),
        door("models-of-maps", numbers(), edits::models),
        door("saves", numbers(), edits::saves),
        door("pack", numbers(), maps::packed),
        door("pak-edits", numbers(), files::pak_edits),
        door("zips-made", numbers(), files::made_zips),
        door("selectors", seeds::lines(seeds::SELECTORS), texts::selectors),
        door("assignments", seeds::lines(seeds::ASSIGNMENTS), texts::assignments),
        door("removals", seeds::lines(seeds::REMOVALS), texts::removals),
        door("queries", seeds::lines(seeds::QUERIES), texts::queries),
        door("rules", rules(), rules::read),
        door("rules-made", numbers(), rules::made),
        door("rules-again", rules(), rules::again),
        door("rules-records", numbers(), rules::records),
        door("rules-folders", rules(), rules::folders),
        door("patterns", lines("patterns.txt"), rules::patterns),
        door("scripts", scripts(), scripts::any),
        door("statements", numbers(), scripts::statements),
        door("compared", numbers(), changes::compared),
        door("merge-small", numbers(), changes::merged),
        door("merge-paks", numbers(), threeway::paks),
        door("merge-textures", numbers(), threeway::textures),
        door("merge-entities", numbers(), threeway::entities),
        door("tables", numbers(), changes::tables),
        door("save-options", numbers(), changes::options),
        door("reports", numbers(), said::reports),
        door("words", words(), said::words),
        door("texture-edits", numbers(), changes::textures),
        door("wal", seeds::files("tests/maps/src", &[".wal"], 1 << 18), changes::wals),
        door("records", numbers(), forms::records),
        door("entity-lists", forms::documents(), forms::lists),
        door("images", numbers(), forms::images),
        door("pak-folders", numbers(), forms::paks),
        door("folders", numbers(), forms::folders),
        door("values", numbers(), values::values),
        door("vis-rows", numbers(), values::rows),
        door("built-maps", numbers(), built::maps),
        door("new-maps", numbers(), forms::made),
        door("baselines", forms::known(), forms::baselines),
        door("needs", numbers(), games::needs_of),
        door("gameinfo", games::infos(), games::info),
        door("resources", resources(), games::resources),
        door("renames", numbers(), games::renamed),
        door("beside", numbers(), games::stale),
        door("patches", patches(), texts::patches_in),
        door("policy", policies(), texts::policies),
        door("pak", lump("PAKFILE"), files::pak),
        door("zips", lump("PAKFILE"), twice::zips),
        door("lzma", packed(), files::packed),
        door("codecs", texts(), twice::codecs),
        door("textures", lump("TEXTURES"), files::textures),
        door("textures-of-games", images(), meshes::textures),
        door("wad", seeds::files("tests", &[".wad"], 1 << 20), files::wads),
        door("visibility", lump("VISIBILITY"), files::rows),
        door("bspx", blocks(), files::blocks),
        door("keyvalues", seeds::files("tests/game", &[".vmt", ".txt", ".res"], 1 << 18), texts::key_values),
        door("fgd", vec![seeds::FGD.as_bytes().to_vec()], texts::fgd),
        door("models", seeds::files("tests/game", &[".mdl", ".phy"], 1 << 20), files::game_models),
        door("particles", seeds::files("tests/game", &[".pcf"], 1 << 20), files::particles),
        door("vpk", games::vpks(), files::archives),
        door("compressed_maps", seeds::compressed(), files::compressed_maps),
        door("archives_of_maps", seeds::archives(), files::archives_of_maps),
        door("aas", seeds::files("tests", &[".aas"], 1 << 20), files::areas),
        door("lmp", changes::lump_files(), changes::lumps),
        door("pictures", lump("TEXTURES").into_iter().chain(texts()).collect(), files::pictures),
    ]
}

fn patches() -> Vec<Vec<u8>> {
    let Some(map) = WHOLE.first() else { return Vec::new() };
    let (Ok(old), mut draft) = (map.entities(), map.draft()) else { return Vec::new() };
    let Ok(new) = draft.entities() else { return Vec::new() };
    let _ = new.remove(3);
    let _ = new.get_mut(1).and_then(|mut entity| entity.set("light", "200"));
    let _ = new.add([("classname", "light"), ("origin", "0 0 0")]);
    let _ = new.move_before(5, 2);
    let found = bspkit_ops::diff::diff(&old, new);
    found.iter().map(|found| bspkit_text::patch::write(found).into_bytes()).collect()
}
