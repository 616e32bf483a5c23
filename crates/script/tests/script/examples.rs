//! The scripts in `examples/scripts`: what each does on a fixture, and on all real maps that every law holds afterwards.

use bspkit::verify::{self, Verdict};
use bspkit::{Layout, SlotId};

#[path = "../../../../tests/common/corpus.rs"]
mod corpus;

use super::*;

/// Every script, with its arguments.
const SCRIPTS: [(&str, &[&str]); 10] = [
    ("mirror", &["--axis", "x"]),
    ("merge", &["--from", "q3.bsp", "--select", "info_player_*"]),
    ("move_spawns", &["--by", "0 0 8"]),
    ("rewire", &["--from", "door1", "--to", "door2"]),
    ("rename_keys", &[]),
    ("hdr_to_ldr", &[]),
    ("thin_details", &["--keep", "30"]),
    ("deathmatch", &["--most", "16"]),
    ("statistics", &["--header"]),
    ("lint", &[]),
];

fn folder() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/scripts")
}

fn script(name: &str) -> Script {
    let text = std::fs::read_to_string(folder().join(name).with_extension("rhai")).unwrap();
    Script::compile(name, text).unwrap()
}

/// Runs an example on a draft.
fn run(name: &str, args: &[&str], draft: &mut Draft<'static>, path: &Path) -> bspkit::Result<Said> {
    let others = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/maps/q3");
    let settings = Settings::default().args(args.iter().copied()).path(path).allow_read(others);
    script(name).run(draft, &settings)
}

/// Adds these entities to the Quake III fixture and runs an example on it.
fn after(name: &str, args: &[&str], added: &[&[(&str, &str)]]) -> (Draft<'static>, Said) {
    let mut draft = fixture("q3/own_rooms.bsp").draft();
    for pairs in added {
        draft.entities().unwrap().add(pairs.iter().copied()).unwrap();
    }
    let said = run(name, args, &mut draft, Path::new("maps/rooms.bsp")).unwrap_or_else(|error| panic!("{error:?}"));
    (draft, said)
}

/// The values of a key of the entities that were added to the fixture.
fn added(draft: &mut Draft<'static>, key: &str) -> Vec<String> {
    let entities = draft.entities().unwrap();
    let values = entities.iter().skip(18).map(|entity| entity.text(key).unwrap_or_default().into_owned());
    values.collect()
}

#[test]
fn every_example_is_here_and_has_its_use() {
    let mut files: Vec<String> = std::fs::read_dir(folder())
        .unwrap()
        .map(|file| file.unwrap().path().file_stem().unwrap().to_str().unwrap().to_owned())
        .collect();
    files.sort();
    let mut names = SCRIPTS.map(|(name, _)| name).to_vec();
    names.sort_unstable();
    assert_eq!(files, names);
    let page = std::fs::read_to_string(folder().join("../../docs/scripts.md")).unwrap();
    for name in names {
        let text = std::fs::read_to_string(folder().join(name).with_extension("rhai")).unwrap();
        assert!(text.contains(&format!("//   bspkit run examples/scripts/{name}.rhai ")), "{name}");
        assert!(text.lines().all(|line| line.len() <= 120), "{name}");
        assert!(page.contains(&format!("{name}.rhai")), "{name}");
    }
}

#[test]
fn mirror_changes_origins_and_angles_and_twice_is_none() {
    let pairs: &[&[(&str, &str)]] = &[
        &[("classname", "a"), ("origin", "8 -4.5 2"), ("angle", "45")],
        &[("classname", "b"), ("origin", "0 1 2"), ("angles", "10 90 5")],
        &[("classname", "c"), ("origin", "1 1 1"), ("angle", "-1"), ("model", "*3")],
        &[("classname", "d"), ("origin", "1 1 1"), ("angle", "-2")],
    ];
    for (axis, origins, angle, angles, down) in [
        ("x", ["-8 -4.5 2", "0 1 2", "1 1 1", "-1 1 1"], "135", "10 90 -5", "-2"),
        ("y", ["8 4.5 2", "0 -1 2", "1 1 1", "1 -1 1"], "315", "10 270 -5", "-2"),
        ("z", ["8 -4.5 -2", "0 1 -2", "1 1 1", "1 1 -1"], "45", "-10 90 -5", "-1"),
    ] {
        let (mut draft, _) = after("mirror", &["--axis", axis], pairs);
        assert_eq!(added(&mut draft, "origin"), origins);
        assert_eq!(added(&mut draft, "angle"), [angle, "", "-1", down]);
        assert_eq!(added(&mut draft, "angles")[1], angles);
    }
    let mut draft = fixture("q3/own_rooms.bsp").draft();
    for _ in 0..2 {
        run("mirror", &["--axis", "y"], &mut draft, Path::new("x")).unwrap();
    }
    let entities = draft.entities().unwrap();
    let old = fixture("q3/own_rooms.bsp");
    let pairs = |entity: bspkit::content::entities::Entity<'_>| {
        entity.pairs().map(|pair| (pair.key.to_vec(), pair.value.to_vec())).collect::<Vec<_>>()
    };
    assert!(entities.iter().map(pairs).eq(old.entities().unwrap().iter().map(pairs)));
    let error = run("mirror", &["--axis", "w"], &mut draft, Path::new("x")).unwrap_err();
    assert!(error.to_string().ends_with("give the axis: -- --axis x, y or z"));
}

#[test]
fn merge_copies_what_has_no_brush_model() {
    let (mut draft, said) = after("merge", &["--from", "own_rooms.bsp", "--select", "info_player_*,func_door"], &[]);
    let classes = added(&mut draft, "classname");
    assert_eq!(classes.len(), 6);
    assert!(classes.iter().all(|class| class.starts_with("info_player_")));
    assert_eq!(said.messages, ["6 entities copied from own_rooms.bsp"]);
}

#[test]
fn spawns_move() {
    let (mut draft, _) = after("move_spawns", &["--by", "1 -2 8.5"], &[&[("classname", "light"), ("origin", "0 0 0")]]);
    let entities = draft.entities().unwrap();
    assert_eq!(entities.get(1).unwrap().text("origin").as_deref(), Some("49 -2 48.5"));
    assert_eq!(added(&mut draft, "origin"), ["0 0 0"]);
}

#[test]
fn rewire_keeps_everything_else_of_an_output() {
    let pairs: &[(&str, &str)] = &[
        ("classname", "logic_relay"),
        ("OnTrigger", "Hatch1,Open,,0.50,-1"),
        ("OnTrigger", "hatch1\x1bClose\x1b1,2\x1b0\x1b1"),
        ("OnTrigger", "other,Open,,0,-1"),
        ("target", "hatch1"),
    ];
    let (mut draft, said) = after("rewire", &["--from", "hatch1", "--to", "gate"], &[pairs]);
    let entity = draft.entities().unwrap().get(18).unwrap();
    let values: Vec<&[u8]> = entity.all("OnTrigger").collect();
    assert_eq!(values, [&b"gate,Open,,0.50,-1"[..], b"gate\x1bClose\x1b1,2\x1b0\x1b1", b"other,Open,,0,-1"]);
    assert_eq!((entity.get("target"), &*said.messages[0]), (Some(&b"gate"[..]), "3 values rewired"));
    let (mut draft, _) = after("rewire", &["--from", "hatch1", "--to", "gate", "--input", "open"], &[pairs]);
    let entity = draft.entities().unwrap().get(18).unwrap();
    assert_eq!(entity.get("target"), Some(&b"hatch1"[..]));
    assert_eq!(entity.all("OnTrigger").nth(1), Some(&b"hatch1\x1bClose\x1b1,2\x1b0\x1b1"[..]));
}

#[test]
fn keys_of_quake_become_those_of_goldsrc() {
    let (mut draft, _) = after(
        "rename_keys",
        &[],
        &[
            &[("classname", "light"), ("light", "250"), ("_color", "1 0.5 0")],
            &[("classname", "light_spot"), ("_color", "10 20 30")],
            &[("classname", "light"), ("_light", "1 2 3 4"), ("light", "5")],
        ],
    );
    assert_eq!(added(&mut draft, "_light"), ["255 128 0 250", "10 20 30 300", "1 2 3 4"]);
    assert_eq!(added(&mut draft, "light"), ["", "", "5"]);
}

#[test]
fn values_for_hdr_become_the_usual_ones() {
    let (mut draft, said) = after(
        "hdr_to_ldr",
        &[],
        &[
            &[("classname", "light"), ("_light", "1 2 3 4"), ("_lightHDR", "9 8 7 200"), ("_lightscaleHDR", "0.5")],
            &[("classname", "light"), ("_light", "1 2 3 4"), ("_lightHDR", "-1 -1 -1 1")],
            &[("classname", "light"), ("_light", "1 2 3 4"), ("_lightHDR", "5")],
        ],
    );
    assert_eq!(added(&mut draft, "_light"), ["9 8 7 100", "1 2 3 4", "1 2 3 4"]);
    assert_eq!(added(&mut draft, "_lightHDR")[0], "-1 -1 -1 1");
    assert_eq!((said.findings.len(), said.findings[0].entity), (1, Some(20)));
}

#[test]
fn details_become_fewer_and_named_ones_stay() {
    let sprite: &[(&str, &str)] = &[("classname", "env_sprite")];
    let named: &[(&str, &str)] = &[("classname", "env_sprite"), ("targetname", "x")];
    let all: Vec<_> = (0..20).map(|at| if at == 3 { named } else { sprite }).collect();
    for (keep, left) in [("0", 1), ("30", 7), ("50", 11), ("100", 20)] {
        let (mut draft, _) = after("thin_details", &["--keep", keep, "--select", "env_sprite"], &all);
        assert_eq!(added(&mut draft, "classname").len(), left, "{keep}");
    }
}

#[test]
fn monsters_become_places_to_start() {
    let (mut draft, said) = after(
        "deathmatch",
        &["--most", "6"],
        &[
            &[("classname", "monster_ogre"), ("origin", "1 2 3"), ("angle", "90")],
            &[("classname", "monster_ogre"), ("origin", "4 5 6")],
            &[("classname", "trigger_changelevel"), ("model", "*1")],
        ],
    );
    // One of them is where the player starts, and there are four already.
    assert_eq!(added(&mut draft, "classname"), ["info_player_deathmatch"; 2]);
    assert_eq!(added(&mut draft, "origin"), ["48 0 40", "1 2 3"]);
    assert_eq!(said.messages, ["starts added: 2; entities removed: 3"]);
}

#[test]
fn statistics_are_csv_and_lint_finds_faults() {
    let (draft, said) = after("statistics", &["--header"], &[]);
    assert!(draft.changes().unwrap().is_empty());
    let lines: Vec<&str> = said.reports.iter().map(|report| &*report.text).collect();
    assert_eq!(lines[0], "map,dialect,version,entities,pairs,classes,lights,faces,textures,files");
    assert!(lines[1].starts_with("rooms,quake3,46,18,") && lines[1].ends_with(",0"), "{}", lines[1]);
    let (_, said) = after(
        "lint",
        &[],
        &[
            &[("classname", "light"), ("origin", "0 0 0"), ("targetname", "Lamp")],
            &[("classname", "func_button"), ("target", "lamp"), ("killtarget", "nobody")],
        ],
    );
    let found: Vec<_> = said.findings.iter().filter(|found| found.entity >= Some(18)).collect();
    let messages: Vec<&str> = found.iter().map(|found| &*found.message).collect();
    assert_eq!(
        messages,
        ["the name Lamp is not lower case", "a light is at 0 0 0", "killtarget nobody is not the name of an entity"]
    );
}

/// On all real maps every law holds after every script, and only the entity text has changed.
#[test]
fn laws_hold_on_real_maps_after_every_script() {
    let (mut ran, mut edited, mut refused) = (0, 0, Vec::new());
    for path in corpus::maps() {
        let Ok(map) = Bsp::open(&path) else { continue };
        let Ok(Some(entities)) = map.entities().map(|_| map.role(bspkit::dialect::Role::Entities).map(|slot| slot.id))
        else {
            continue;
        };
        for (name, args) in SCRIPTS {
            let args: Vec<&str> = args.iter().map(|arg| if *arg == "q3.bsp" { "own_rooms.bsp" } else { arg }).collect();
            let mut draft = map.draft();
            let place = format!("{name} on {}", path.display());
            let error = run(name, &args, &mut draft, &path).err();
            ran += 1;
            let changes = draft.changes().unwrap();
            if let Some(error) = error {
                assert!(changes.is_empty(), "{place}");
                refused.push(format!("{place}: {error}"));
                continue;
            }
            assert!(changes.is_empty() || changes == [entities], "{place}: {changes:?}");
            let Ok(plan) = draft.plan(Layout::Keep) else { continue };
            if changes.is_empty() {
                assert!(plan.is_identity(), "{place}");
                continue;
            }
            edited += 1;
            let saved = Bsp::from_vec(plan.to_vec()).unwrap();
            let untouched = |id: &SlotId| *id != entities && !matches!(id, SlotId::Game(_));
            for id in map.slots().iter().map(|slot| slot.id).filter(untouched) {
                assert!(*map.stored(id) == *saved.stored(id), "{place}: {id}");
            }
            // The laws of all maps are the work of another test: here one map of each kind is enough.
            if edited % 10 == 1 {
                for (law, verdict) in verify::run(&saved).laws {
                    assert!(!matches!(verdict, Verdict::Fail(_)), "{place}: {law}: {verdict:?}");
                }
            }
        }
    }
    println!("{ran} runs, {edited} edits, refused:\n{}", refused.join("\n"));
    assert!(ran == 0 || edited * 5 > ran, "{edited} of {ran}");
}
