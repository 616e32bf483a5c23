//! The doors: every place where bytes or words of others come in, and edits of maps that were opened.

use std::sync::LazyLock;

use bspkit::content::assign::Assignment;
use bspkit::content::entities::Entities;
use bspkit::content::pak::Pak;
use bspkit::content::palette::Palette;
use bspkit::content::select::Selector;
use bspkit::content::textures::Textures;
use bspkit::content::{bspx, visibility, wad, wal};
use bspkit::dialect::{EntityRules, Role};
use bspkit::file::lzma;
use bspkit::finding::Severity;
use bspkit::query::{FieldChange, Query};
use bspkit::record::FlagNames;
use bspkit::{Bsp, Draft, Layout, SlotId, verify};
use bspkit_game::assets::{fgd::Fgd, keyvalues::KeyValues, material, model, particles::Particles, vpk};
use bspkit_game::{aas, cubemaps, needs, res};
use bspkit_ops::{check, compare, lmp, merge, models, patch, prune, unused};
use bspkit_rules::{Format, Mode, Rules};
use bspkit_script::{Script, Settings};
use bspkit_text::folder::{How, unpack};
use bspkit_text::{outline, policy};

use crate::mutate::Random;
use crate::seeds::{files, lines, maps};

/// A place where input comes in.
pub struct Door {
    pub name: &'static str,
    /// What inputs are made from.
    pub seeds: Vec<Vec<u8>>,
    pub enter: fn(&[u8]),
}

/// The maps of the project, opened.
static MAPS: LazyLock<Vec<Bsp<'static>>> =
    LazyLock::new(|| maps().into_iter().filter_map(|bytes| Bsp::from_vec(bytes).ok()).collect());

/// A map of the project, by a number.
fn map(number: usize) -> &'static Bsp<'static> {
    &MAPS[number % MAPS.len()]
}

fn text(bytes: &[u8]) -> std::borrow::Cow<'_, str> {
    String::from_utf8_lossy(bytes)
}

/// All doors.
pub fn all() -> Vec<Door> {
    let door = |name, seeds, enter| Door { name, seeds, enter };
    let numbers = || (0..64_u8).map(|number| vec![number; 24]).collect::<Vec<_>>();
    let rules = || files("examples/rules", &[".cfg", ".ini", ".rule", ".jsonc", ".json"], 1 << 16);
    let texts = || MAPS.iter().filter_map(|map| Some(map.entities().ok()?.to_bytes().to_vec())).collect::<Vec<_>>();
    let lump = |name: &str| {
        let bytes = MAPS.iter().filter_map(|map| Some(map.bytes(map.slot(name).ok()?.id).ok()?.to_vec()));
        bytes.filter(|bytes| !bytes.is_empty()).collect::<Vec<_>>()
    };
    vec![
        door("open", maps(), open),
        door("laws", maps(), laws),
        door("ops", maps(), ops),
        door("game", maps(), game),
        door("folder", maps(), folder),
        door("entities", texts(), entities),
        door("edits", numbers(), edits),
        door("follow", numbers(), follow),
        door("merge", numbers(), merged),
        door("selectors", lines(SELECTORS), selectors),
        door("assignments", lines(ASSIGNMENTS), assignments),
        door("queries", lines(QUERIES), queries),
        door("rules", rules(), read_rules),
        door("scripts", files("examples/scripts", &[".rhai"], 1 << 16), scripts),
        door("patches", patches(), patches_in),
        door("policy", files("examples", &[".toml"], 1 << 16), policies),
        door("pak", lump("PAKFILE"), pak),
        door("lzma", lump("PAKFILE").iter().chain(&texts()).filter_map(|it| lzma::compress(it).ok()).collect(), packed),
        door("textures", lump("TEXTURES"), textures),
        door("wad", files("tests", &[".wad"], 1 << 20), wads),
        door("visibility", lump("VISIBILITY"), rows),
        door("bspx", lump("VERTEXNORMALS").into_iter().chain(lump("LIGHTING")).collect(), blocks),
        door("keyvalues", files("tests/game", &[".vmt", ".txt", ".res"], 1 << 18), key_values),
        door("fgd", lines_of_fgd(), fgd),
        door("models", files("tests/game", &[".mdl", ".phy"], 1 << 20), game_models),
        door("particles", files("tests/game", &[".pcf"], 1 << 20), particles),
        door("vpk", files("tests/game", &[".vpk"], 1 << 20), archives),
        door("aas", files("tests", &[".aas"], 1 << 20), areas),
        door("lmp", lump("ENTITIES"), lumps),
        door("pictures", lump("TEXTURES").into_iter().chain(texts()).collect(), pictures),
    ]
}

const SELECTORS: &str = "light[style>=32]\n#3,#5..9\n*:not([classname^=func_])\n[targetname~/^door[0-9]+$/i]\n\
    [origin<1 2 3],light*\nfunc_*:not(#1)[spawnflags&4]\n[message=\"a b\\x41\"]\n:first(light)\nworldspawn";
const ASSIGNMENTS: &str = "light*=1.5\norigin+=0 0 8\nspawnflags|=4\nmessage=a\\n\\xFF\nangle=~s/([0-9]+)/$1 0/\n\
    key#2-=1\n_color[1]/=3\nspawnflags&=~0x10\ntarget={targetname}_x\nwait%=2";
const QUERIES: &str = "faces[texinfo.texture=own/sky].light_offset\ntexinfo[texture~/water/i].flags|=WARP\n\
    models[1..].origin+=0 0 8\nplanes[3].normal[2]=-1\nnodes[children<0]\nfaces\nbrushes[0..5,7].side_count";

fn lines_of_fgd() -> Vec<Vec<u8>> {
    let text = "@BaseClass = Targetname [ targetname(target_source) : \"Name\" ]\n\
        @PointClass base(Targetname) size(-8 -8 -8, 8 8 8) color(0 255 0) studio(\"a.mdl\") = light : \"A light\" + \"x\"\n\
        [\n spawnflags(flags) = [ 1 : \"Off\" : 0 ]\n style(choices) : \"Style\" : 0 = [ 0 : \"Normal\" 10: \"x\" ]\n\
        input TurnOn(void) : \"On\"\n output OnOff(void)\n ]\n@include \"base.fgd\"\n@mapsize(-16384, 16384)\n";
    vec![text.as_bytes().to_vec()]
}

fn patches() -> Vec<Vec<u8>> {
    let Some(map) = MAPS.first() else { return Vec::new() };
    let (Ok(old), mut draft) = (map.entities(), map.draft()) else { return Vec::new() };
    let Ok(new) = draft.entities() else { return Vec::new() };
    let _ = new.remove(3);
    let _ = new.get_mut(1).and_then(|mut entity| entity.set("light", "200"));
    let _ = new.add([("classname", "light"), ("origin", "0 0 0")]);
    let _ = new.move_before(5, 2);
    let found = bspkit_ops::diff::diff(&old, new);
    found.iter().map(|found| bspkit_text::patch::write(found).into_bytes()).collect()
}

// Maps.

/// What opens can be read through and through.
fn open(bytes: &[u8]) {
    let Ok(map) = Bsp::parse(bytes) else { return };
    for slot in map.slots() {
        let _ = (map.bytes(slot.id), map.little_endian(slot.id), map.records(&slot.name).map(|records| records.len()));
    }
    let _ = (map.entities().map(|all| all.len()), map.light().map(|light| light.sets().len()));
    let _ = (map.textures().map(|all| all.len()), map.texture_names().map(|all| all.iter().count()));
    let _ = (map.pak().map(|pak| pak.iter().filter(|file| file.data().is_ok()).count()), map.visibility().map(drop));
    let _ = map.links().map(|links| links.links.len());
    let _ = outline::outline(&map);
    assert!(map.draft().plan(Layout::Keep).is_ok_and(|plan| plan.is_identity()));
}

fn laws(bytes: &[u8]) {
    let Ok(map) = Bsp::parse(bytes) else { return };
    let outcome = verify::run(&map);
    let is_damaged = || {
        let found = check::run(&map, &check::Options::default()).unwrap_or_default();
        found.iter().any(|found| found.code.severity == Severity::Error)
    };
    let failed = outcome.laws.iter().filter(|(_, verdict)| matches!(verdict, verify::Verdict::Fail(_)));
    let failed: Vec<_> = failed.map(|(law, verdict)| (law, verdict)).collect();
    // Of a damaged map only laws of what stays must hold.
    let is_kept = |law: &str| ["identity", "cover", "entities", "records"].contains(&law);
    assert!(failed.is_empty() || failed.iter().all(|(law, _)| !is_kept(law)) && is_damaged(), "{failed:#?}");
}

/// What opens can be checked, compared with a good map, pruned and saved.
fn ops(bytes: &[u8]) {
    let Ok(map) = Bsp::parse(bytes) else { return };
    let _ = check::run(&map, &check::Options::default());
    let _ = (unused::Unused::of(&map), models::list(&map), bspkit_ops::checksum::all(&map));
    let good = MAPS.iter().find(|good| good.dialect() == map.dialect());
    good.iter().for_each(|good| drop(compare::whole(good, &map, 10)));
    let mut draft = map.draft();
    if prune::prune(&mut draft, &prune::Options::default().light(true)).is_ok() {
        let _ = draft.plan(Layout::Keep).map(|plan| Bsp::from_vec(plan.to_vec()).map(|map| map.slots().len()));
    }
}

fn game(bytes: &[u8]) {
    let Ok(map) = Bsp::parse(bytes) else { return };
    let _ = (needs::unused(&map, &needs::Options::new("room")), cubemaps::list(&map));
    let _ = (res::find(&map, &res::Options::new("room")), bspkit_game::rename::old_name(&map, b"room"));
    let _ = cubemaps::strip(&mut map.draft(), true);
}

fn folder(bytes: &[u8]) {
    let Ok(map) = Bsp::parse(bytes) else { return };
    let _ = unpack(&map, &How::default(), |_, _| Ok(()));
}

// Edits of good maps, as the bytes say.

const LAYOUTS: [Layout; 4] = [Layout::Keep, Layout::Append, Layout::Repack, Layout::Patch];

/// The decisions of an input.
struct Choices(Random);

impl Choices {
    fn of(bytes: &[u8]) -> Self {
        let seed = bytes
            .iter()
            .fold(0xCBF2_9CE4_8422_2325, |sum: u64, byte| (sum ^ u64::from(*byte)).wrapping_mul(0x100_0000_01B3));
        Choices(Random::new(seed))
    }

    fn below(&mut self, end: usize) -> usize {
        self.0.below(end)
    }

    fn layout(&mut self) -> Layout {
        LAYOUTS[self.below(4)]
    }
}

/// An edit of some lens. What is refused is no edit.
fn edit(draft: &mut Draft<'_>, choices: &mut Choices) -> String {
    let most = 1 << choices.below(9);
    let value = "x".repeat(choices.below(most));
    match choices.below(8) {
        0 | 1 => {
            let Ok(all) = draft.entities() else { return String::new() };
            let index = choices.below(all.len());
            let _ = match choices.below(5) {
                0 => all.remove(index),
                1 => all.duplicate(index).map(drop),
                2 => all.add([("classname", "light"), ("n", &value)]).map(drop),
                3 => all.move_before(index, choices.below(all.len() + 1)),
                _ => all.get_mut(index).and_then(|mut entity| entity.set("message", &value)),
            };
        }
        2 | 3 => {
            let slots: Vec<_> = draft.bsp().slots().iter().map(|slot| slot.id).collect();
            if let Some(slot) = choices.0.pick(&slots) {
                let mut bytes = draft.bytes(*slot).map(|bytes| bytes.to_vec()).unwrap_or_default();
                match choices.below(3) {
                    0 => bytes.clear(),
                    1 => bytes.extend(value.as_bytes()),
                    _ => bytes.truncate(choices.below(bytes.len() + 1)),
                }
                let _ = draft.set(*slot, bytes);
            }
        }
        4 => {
            if let Ok(pak) = draft.pak() {
                let _ = pak.add(format!("own/{}.txt", choices.below(4)), value.into_bytes());
                let _ = pak.remove(&[choices.below(pak.len() + 1)]);
            }
        }
        5 => {
            let tint = bspkit::content::lightmap::Adjustment { gain: 0.5, ..Default::default() };
            let _ = draft.light().and_then(|light| light.adjust(&tint, |_, _, _| true));
        }
        6 => {
            let renaming = bspkit::content::texture_names::Renaming::new("**", "mine/{1}");
            let _ = renaming.and_then(|renaming| draft.texture_names()?.rename(&renaming).map(drop));
        }
        _ => drop(bspkit::compress::compress(draft, &bspkit::compress::Options::default())),
    }
    format!("{:?}", draft.changes())
}

/// A plan's file is what the draft is: it opens, and each slot has the bytes of the draft.
fn saved(draft: &Draft<'_>, layout: Layout) -> Option<Bsp<'static>> {
    let plan = draft.plan(layout).ok()?;
    let map = Bsp::from_data(plan.to_vec().into(), Some(draft.bsp().dialect())).expect("a saved map opens");
    for slot in draft.bsp().slots() {
        let (Ok(wanted), Ok(found)) = (draft.bytes(slot.id), map.bytes(slot.id)) else { continue };
        let at = wanted.iter().zip(&*found).position(|(one, other)| one != other);
        let sizes = (wanted.len(), found.len());
        assert!(*wanted == *found || has_offsets(draft.bsp(), slot), "{} {layout:?} {sizes:?} {at:?}", slot.name);
    }
    Some(map)
}

/// The game lump has offsets of its members in the file, which change where it moves.
fn has_offsets(map: &Bsp<'_>, slot: &bspkit::Slot) -> bool {
    map.slot("GAME_LUMP").is_ok_and(|lump| lump.id == slot.id)
}

fn edits(bytes: &[u8]) {
    let mut choices = Choices::of(bytes);
    let mut draft = map(choices.below(64)).draft();
    for _ in 0..=choices.below(4) {
        let _ = edit(&mut draft, &mut choices);
    }
    // The same edit in another layout has the same content.
    let [one, other] = [choices.layout(), choices.layout()].map(|layout| saved(&draft, layout));
    let (Some(one), Some(other)) = (one, other) else { return };
    assert!(one.draft().plan(Layout::Keep).is_ok_and(|plan| plan.is_identity()));
    // New bytes of a game lump say where its members are in the file.
    let is_game = |slot: &SlotId| matches!(slot, SlotId::Game(_)) || one.role_of(*slot) == Some(Role::GameLump);
    for slot in one.slots().iter().filter(|slot| !is_game(&slot.id)) {
        let [one, other] = [&one, &other].map(|map| map.bytes(slot.id).map(|bytes| bytes.to_vec()).ok());
        assert!(one == other, "{} has other bytes", slot.name);
    }
}

/// A structural edit: where it is done, no reference is wrong that was right before.
fn restructure(draft: &mut Draft<'_>, choices: &mut Choices) -> Option<String> {
    let lists: Vec<(String, usize)> = {
        let links = draft.bsp().links().ok()?;
        links.sites.iter().map(|site| (site.name.clone(), site.len())).filter(|(_, len)| *len > 0).collect()
    };
    let (list, len) = choices.0.pick(&lists)?;
    let first = choices.below(*len);
    let range = first..(first + 1 + choices.below(2)).min(*len);
    let cascade = choices.below(2) == 0;
    // As the program edits: what is not whole by itself is refused.
    let structure = draft.structure().cascade(cascade).whole();
    let (what, done) = match choices.below(3) {
        0 => ("dup", structure.duplicate_list(list, range.clone())),
        1 => ("rm", structure.remove(&[(list, &range.clone().collect::<Vec<_>>())])),
        _ => {
            let mut order: Vec<usize> = (0..*len).collect();
            order.rotate_left(first);
            ("rotate", structure.reorder_list(list, &order))
        }
    };
    done.ok().map(|_| format!("{what} {list} {range:?}, cascade {cascade}"))
}

fn follow(bytes: &[u8]) {
    let mut choices = Choices::of(bytes);
    let old = map(choices.below(64));
    let mut draft = old.draft();
    let Some(done) = restructure(&mut draft, &mut choices) else { return };
    let Some(new) = saved(&draft, Layout::Keep) else { return };
    let errors = |map: &Bsp<'_>| {
        let found = check::run(map, &check::Options::default()).unwrap_or_default();
        let errors = found.into_iter().filter(|found| found.code.severity == Severity::Error);
        errors.map(|found| found.to_string()).collect::<Vec<_>>()
    };
    let (before, after) = (errors(old), errors(&new));
    assert!(after.len() <= before.len(), "{done}: {after:#?}");
    let outcome = verify::run(&new);
    assert!(outcome.is_ok(), "{outcome:?}");
}

/// Merges of two edits are the same from both sides, or both have conflicts.
fn merged(bytes: &[u8]) {
    let mut choices = Choices::of(bytes);
    let base = map(choices.below(64));
    let mut said = Vec::new();
    let mut side = || {
        let mut draft = base.draft();
        said.push(match choices.below(2) {
            0 => edit(&mut draft, &mut choices),
            _ => restructure(&mut draft, &mut choices).unwrap_or_default(),
        });
        saved(&draft, Layout::Keep)
    };
    let (Some(ours), Some(theirs)) = (side(), side()) else { return };
    let one = merge::merge(base, &ours, &theirs);
    let other = merge::merge(base, &theirs, &ours);
    if let (Ok(one), Ok(other)) = (&one, &other) {
        let [one, other] =
            [one, other].map(|merged| merged.conflicts.iter().map(ToString::to_string).collect::<Vec<_>>());
        assert_eq!(one.is_empty(), other.is_empty(), "{said:?}: {one:#?} {other:#?}");
    }
    one.iter().for_each(|merged| drop(saved(&merged.draft, Layout::Keep)));
}

// Texts.

fn entities(bytes: &[u8]) {
    for rules in [EntityRules::QUAKE2, EntityRules::SOURCE] {
        let Ok(mut all) = Entities::parse(bytes, rules) else { continue };
        assert_eq!(&*all.to_bytes(), bytes);
        let _ = all.diagnostics();
        let mut choices = Choices::of(bytes);
        let index = choices.below(all.len() + 1);
        let done = match choices.below(4) {
            0 => all.get_mut(index).and_then(|mut entity| entity.set("own_key", "own value")),
            1 => all.remove(index),
            2 => all.duplicate(index).map(drop),
            _ => all.move_before(index, choices.below(all.len() + 1)),
        };
        if done.is_ok() {
            let again = Entities::parse(all.to_bytes().to_vec(), rules).expect("an edited text can be read");
            let pairs = |all: &Entities<'_>| {
                let of = |entity: bspkit::content::entities::Entity<'_>| {
                    entity.pairs().map(|pair| (pair.key.to_vec(), pair.value.to_vec())).collect::<Vec<_>>()
                };
                all.iter().map(of).collect::<Vec<_>>()
            };
            assert_eq!(pairs(&again), pairs(&all));
        }
    }
}

fn selectors(bytes: &[u8]) {
    let Ok(selector) = Selector::parse(&text(bytes)) else { return };
    assert_eq!(Selector::parse(&selector.to_string()).ok().as_ref(), Some(&selector));
    let _ = map(bytes.len()).entities().map(|all| all.matching(&selector));
}

fn assignments(bytes: &[u8]) {
    let Ok(assignment) = Assignment::parse(&text(bytes)) else { return };
    let mut draft = map(bytes.len()).draft();
    let Ok(all) = draft.entities() else { return };
    let every: Vec<usize> = (0..all.len()).collect();
    if all.assign(&every, &[assignment]).is_ok() {
        assert!(Entities::parse(all.to_bytes().to_vec(), EntityRules::QUAKE2).is_ok());
    }
}

fn queries(bytes: &[u8]) {
    let map = map(bytes.len());
    let _ = Query::parse(&text(bytes)).and_then(|query| query.find(map, FlagNames::default()));
    let mut draft = map.draft();
    if FieldChange::parse(&text(bytes)).and_then(|change| change.apply(&mut draft, FlagNames::default())).is_ok() {
        saved(&draft, Layout::Keep);
    }
}

fn read_rules(bytes: &[u8]) {
    for format in [Format::Stripper, Format::Qmm, Format::Lazyripent, Format::Cs2] {
        for mode in [Mode::Plugin, Mode::Strict, Mode::Lumper] {
            let rules = Rules::read("rules", bytes, format, mode);
            let mut draft = map(bytes.len()).draft();
            let Ok(all) = draft.entities() else { continue };
            if rules.apply(all, "room").is_ok() {
                assert!(Entities::parse(all.to_bytes().to_vec(), EntityRules::SOURCE).is_ok());
            }
        }
    }
}

fn scripts(bytes: &[u8]) {
    let Ok(script) = Script::compile("script", text(bytes)) else { return };
    let mut limits = bspkit_script::Limits::default();
    limits.steps = 20_000;
    let mut draft = map(bytes.len()).draft();
    if script.run(&mut draft, &Settings::default().limits(limits).args(["--axis", "x"])).is_ok() {
        saved(&draft, Layout::Keep);
    }
}

fn patches_in(bytes: &[u8]) {
    let Ok(found) = bspkit_text::patch::read(bytes) else { return };
    let again = bspkit_text::patch::read(bspkit_text::patch::write(&found).as_bytes()).expect("a patch can be read");
    assert_eq!(again, found);
    let Ok(all) = map(0).entities() else { return };
    for search in [patch::Search::Exact, patch::Search::Guess] {
        let _ = found.locate(&all, search).and_then(|located| located.apply());
    }
}

fn policies(bytes: &[u8]) {
    let Ok(policy) = policy::read("policy", &text(bytes)) else { return };
    let _ = bspkit_ops::policy::run(map(bytes.len()), "room", &policy, None);
}

fn key_values(bytes: &[u8]) {
    if let Ok(text) = KeyValues::parse(bytes) {
        let _ = (material::mentions(&text).count(), material::replaced(&text).len());
    }
}

fn fgd(bytes: &[u8]) {
    let _ = Fgd::default().read(bytes);
}

// Files.

fn pak(bytes: &[u8]) {
    let Ok(mut pak) = Pak::parse(bytes) else { return };
    let read = |pak: &Pak<'_>| pak.iter().map(|file| file.data().map(|data| data.to_vec()).ok()).collect::<Vec<_>>();
    let before = read(&pak);
    if pak.add("own/new.txt", "new").is_ok() {
        // A damaged one may refuse to be written.
        let Ok(rope) = pak.to_rope() else { return };
        let bytes: Vec<u8> = rope.parts().flat_map(|part| part.to_vec()).collect();
        let again = Pak::parse(bytes).expect("it opens");
        let added = again.one("own/new.txt").expect("the new file is there");
        let mut after = read(&again);
        if after.len() == before.len() + 1 {
            after.remove(added);
            assert_eq!(after, before);
        }
    }
}

fn packed(bytes: &[u8]) {
    let _ = lzma::decompressed_size(bytes)
        .filter(|size| *size < 1 << 24)
        .map(|_| lzma::decompress(bytes).map(|it| it.len()));
}

fn textures(bytes: &[u8]) {
    let Ok(all) = Textures::parse(bytes) else { return };
    for index in 0..all.len() {
        let _ = all.get(index).map(|texture| texture.map(|texture| texture.name().len()));
    }
    assert_eq!(all.to_bytes().ok().as_deref(), Some(bytes));
}

fn wads(bytes: &[u8]) {
    let _ = wad::Wad::parse(bytes).map(|file| file.has_palettes());
}

fn rows(bytes: &[u8]) {
    let row: Vec<u8> = bytes.iter().copied().take(512).collect();
    let packed = visibility::compress(&row);
    assert_eq!(visibility::decompress(&packed, row.len()).ok().map(|(row, _)| row), Some(row));
    let _ = visibility::decompress(bytes, 256);
}

fn blocks(bytes: &[u8]) {
    let _ = (bspx::BrushList::parse(bytes).is_ok(), bspx::LightOctree::parse_all(bytes).is_ok());
}

fn game_models(bytes: &[u8]) {
    let _ = (model::Model::parse(bytes), model::replacements(bytes), model::physics_text(bytes));
}

fn particles(bytes: &[u8]) {
    let _ = Particles::parse(bytes);
}

fn archives(bytes: &[u8]) {
    let _ = vpk::Vpk::parse(bytes);
}

fn areas(bytes: &[u8]) {
    if let Ok(sum) = aas::checksum(bytes) {
        let mut copy = bytes.to_vec();
        assert!(aas::set_checksum(&mut copy, sum).is_ok() && copy == bytes);
    }
}

fn lumps(bytes: &[u8]) {
    let _ = lmp::LumpFile::parse(bytes);
}

fn pictures(bytes: &[u8]) {
    let _ = (wal::Wal::parse(bytes).is_ok(), Palette::read(bytes).is_ok());
}
