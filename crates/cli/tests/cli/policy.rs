//! Policies: each rule finds what breaks it and nothing else, and each wrong line is named.

use std::path::Path;

use bspkit::{Bsp, Layout};
use bspkit_ops::policy::{self, CODES};
use bspkit_text::policy::{keys_of_policies, read};
use serde_json::{Value, json};
use toml::de::{DeTable, DeValue};

use super::room::{Room, fixture};
use super::schema::validate;

/// Makes a map for a rule.
type Map = fn() -> Vec<u8>;

fn q2() -> Vec<u8> {
    fixture("q2/own_rooms")
}

fn source() -> Vec<u8> {
    fixture("source/room_v20")
}

fn packed() -> Vec<u8> {
    let map = Bsp::from_vec(source()).unwrap();
    let mut draft = map.draft();
    let options = bspkit::compress::Options::default().all(true).pak(true);
    bspkit::compress::compress(&mut draft, &options).unwrap();
    draft.plan(Layout::Keep).unwrap().to_vec()
}

/// Old entity text between two lumps, which no lump has any more.
fn stale() -> Vec<u8> {
    let mut map = q2();
    let planes = Bsp::parse(&map).unwrap().slot("planes").unwrap().stored.start;
    // The header of Quake II ends at 160, where the planes begin: the text is after a copy of them.
    let bytes = map[planes..planes + 1320].to_vec();
    map.extend_from_slice(b"{\n\"classname\" \"light\"\n}\n\0\0\0");
    let at = u32::try_from(map.len()).unwrap();
    map.extend(bytes);
    map[16..20].copy_from_slice(&at.to_le_bytes());
    map
}

/// Old entity text behind the last lump.
fn stale_tail() -> Vec<u8> {
    let mut map = q2();
    map.extend_from_slice(b"{\n\"classname\" \"light\"\n}\n\0\0\0");
    map
}

/// For each rule: a policy that the map breaks, the code, and the same rule as the map keeps it.
const RULES: [(&str, Map, &str, &str); 37] = [
    ("map.names = ['dm_*', 'ctf_*']", q2, "policy-name", "map.names = ['dm_*', 'r?oms']"),
    ("map.lower_case = true\nmap.names = ['x']", q2, "policy-name", "map.lower_case = true"),
    ("map.dialects = ['quake3', 'source']", q2, "policy-dialect", "map.dialects = ['quake2']"),
    ("map.max_bytes = 66_335", q2, "policy-size", "map.max_bytes = 66_336"),
    ("map.no_stale_text = true", stale, "policy-stale-text", "map.no_stale_text = false"),
    ("map.no_stale_text = true", stale_tail, "policy-stale-text", "map.no_stale_text = false"),
    ("lumps.required = ['pop']", q2, "policy-lump", "lumps.required = ['faces', 'PLANES']"),
    ("lumps.required = ['game:sprp']", q2, "policy-lump", "lumps.required = ['entities']"),
    ("lumps.forbidden = ['lighting']", q2, "policy-lump", "lumps.forbidden = ['pop', 'bspx:RGBLIGHTING']"),
    ("lumps.compression = 'required'", source, "policy-compression", "lumps.compression = 'forbidden'"),
    ("lumps.compression = 'forbidden'", packed, "policy-compression", "lumps.compression = 'required'"),
    ("entities.required = ['light[style=77]']", q2, "policy-entity", "entities.required = ['light']"),
    ("entities.forbidden = ['light']", q2, "policy-entity", "entities.forbidden = ['info_null']"),
    (
        "entities.required_keys.light = ['light', 'target']",
        q2,
        "policy-key",
        "entities.required_keys.light = ['light', 'ORIGIN']",
    ),
    (
        "entities.forbidden_keys.'*' = ['spawnflags']",
        q2,
        "policy-key",
        "entities.forbidden_keys.worldspawn = ['spawnflags']",
    ),
    ("entities.max_count = 19", q2, "policy-count", "entities.max_count = 20"),
    ("entities.max_bytes = 1757", q2, "policy-size", "entities.max_bytes = 1758"),
    ("files.required = ['*.nav']", source, "policy-file", "files.required = ['*.vmt']"),
    ("files.forbidden = ['*.vmt']", source, "policy-file", "files.forbidden = ['*.nav']"),
    ("files.allowed = ['*.vtf']", source, "policy-file", "files.allowed = ['**']"),
    ("files.max_count = 2", source, "policy-count", "files.max_count = 3"),
    ("files.max_bytes = 100", source, "policy-size", "files.max_bytes = 10_000"),
    ("files.compression = 'required'", source, "policy-compression", "files.compression = 'forbidden'"),
    ("files.compression = 'forbidden'", packed, "policy-compression", "files.compression = 'required'"),
    ("textures.allowed = ['own/s*']", q2, "policy-texture", "textures.allowed = ['own/**']"),
    ("textures.forbidden = ['OWN/sky']", q2, "policy-texture", "textures.forbidden = ['dev/*']"),
    ("limits.margin = 100", q2, "policy-limit", "limits.margin = 90"),
    // 66 of 65,536 planes, but 257 areas of 256.
    ("limits = {margin = 0, engines = ['et', 'q2pro']}", crowded, "policy-limit", "limits.engines = ['q2pro']"),
    ("check.deny = ['limit']", crowded, "limit", "check.allow = ['limit']"),
    ("check.deny = ['warning']", crowded, "limit", "check.deny = ['entity-nul']"),
    ("check.verify = true", dented, "index-range", "check.allow = ['index-range']"),
    ("files.intact = true", stale_checksum, "policy-damage", "files.lower_case = true"),
    ("files.intact = true", other_name, "policy-damage", "files.lower_case = true"),
    ("files.lower_case = true", shouting, "policy-file", "files.lower_case = false"),
    ("map.lower_case = true", shouting, "policy-name", "map.lower_case = false"),
    // Of what cannot be read no rule is known to hold.
    ("entities.forbidden = ['[a=b]']", countless, "policy-unread", "entities.max_bytes = 10_000_000"),
    ("files.max_count = 100", no_archive, "policy-unread", "files.max_bytes = 10_000_000"),
];

/// More entities than are read.
fn countless() -> Vec<u8> {
    edited("source/room_v20", "entities", |bytes| *bytes = b"{}".repeat(131_073))
}

/// The data of the first embedded file changed by one bit.
fn stale_checksum() -> Vec<u8> {
    edited("source/room_v20", "pakfile", |bytes| {
        let name = usize::from(u16::from_le_bytes([bytes[26], bytes[27]]));
        let extra = usize::from(u16::from_le_bytes([bytes[28], bytes[29]]));
        bytes[30 + name + extra] ^= 1;
    })
}

/// The local header of the first embedded file has another name.
fn other_name() -> Vec<u8> {
    edited("source/room_v20", "pakfile", |bytes| bytes[30] ^= 1)
}

fn no_archive() -> Vec<u8> {
    edited("source/room_v20", "pakfile", |bytes| bytes.fill(b'x'))
}

fn edited(name: &str, lump: &str, edit: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let map = Bsp::from_vec(fixture(name)).unwrap();
    let slot = map.slot(lump).unwrap().id;
    let mut bytes = map.bytes(slot).unwrap().to_vec();
    edit(&mut bytes);
    let mut draft = map.draft();
    draft.set(slot, bytes).unwrap();
    draft.plan(Layout::Keep).unwrap().to_vec()
}

fn crowded() -> Vec<u8> {
    let map = Bsp::from_vec(q2()).unwrap();
    let mut draft = map.draft();
    let mut areas = map.bytes(map.slot("areas").unwrap().id).unwrap().to_vec();
    areas.resize(257 * 8, 0);
    draft.set(map.slot("areas").unwrap().id, areas).unwrap();
    draft.plan(Layout::Keep).unwrap().to_vec()
}

fn dented() -> Vec<u8> {
    let mut draft = Bsp::from_vec(q2()).unwrap().draft();
    draft.update(bspkit::dialect::quake2::FACES, 3, |face| face.texinfo = 500).unwrap();
    draft.plan(Layout::Keep).unwrap().to_vec()
}

fn shouting() -> Vec<u8> {
    let mut draft = Bsp::from_vec(source()).unwrap().draft();
    draft.pak().unwrap().add("Materials/A.vmt", &b"{}"[..]).unwrap();
    draft.plan(Layout::Keep).unwrap().to_vec()
}

#[test]
fn each_rule_finds_what_breaks_it() {
    for (broken, map, code, kept) in RULES {
        let bytes = map();
        let map = Bsp::parse(&bytes).unwrap();
        let name = if kept.starts_with("map.lower_case = false") { "Rooms" } else { "rooms" };
        let denied = |text: &str| {
            // The laws take most of the time, and are not what is tried here.
            let policy = read("p.toml", &format!("{text}\n")).unwrap();
            let mut policy = policy;
            policy.check.verify = false;
            let found = policy::run(&map, name, &policy, None).unwrap();
            found.into_iter().filter(|finding| policy.denies(finding)).collect::<Vec<_>>()
        };
        let found = denied(broken);
        assert!(!found.is_empty() && found.iter().all(|finding| finding.code.name == code), "{broken}: {found:?}");
        assert!(denied(kept).is_empty(), "{kept}: {:?}", denied(kept));
    }
    // Every code of a policy is among them, but for maps that do not open and laws, which hold.
    let tried = |code: &str| RULES.iter().any(|(_, _, tried, _)| *tried == code);
    let missing: Vec<_> = CODES.iter().map(|code| code.name).filter(|code| !tried(code)).collect();
    assert_eq!(missing, ["map-unread", "law"]);
    let untried: Vec<_> =
        keys_of_policies().filter(|key| !RULES.iter().any(|(broken, ..)| is_of(broken, key))).collect();
    assert_eq!(untried, ["check.allow"]);
}

fn is_of(rule: &str, key: &str) -> bool {
    let (section, name) = key.split_once('.').unwrap();
    rule.starts_with(key) || rule.starts_with(&format!("{section} = {{")) && rule.contains(name)
}

#[test]
fn everything_wrong_is_named_with_its_place() {
    for (text, expected) in [
        ("[map]\nnmaes = []", "p.toml:2:1: there is no key `nmaes` in [map]: did you mean names?"),
        ("\n\n[entitis]", "p.toml:3:2: there is no section [entitis]: did you mean entities?"),
        ("map = 1", "p.toml:1:7: [map] is a table of keys"),
        ("[map]\n  lower_case = 1", "p.toml:2:16: true or false is needed here, not an integer"),
        ("[map]\nnames = 'a'", "p.toml:2:9: a list of strings is needed here, not a string"),
        ("[map]\nnames = [\n  'a',\n  2]", "p.toml:4:3: a string is needed here, not an integer"),
        (
            "[map]\ndialects = ['quake5']",
            "p.toml:2:13: no dialect is called quake5: did you mean quake or quake2 or quake3?",
        ),
        ("[map]\nmax_bytes = -1", "p.toml:2:13: a number of 0 or more is needed here"),
        ("[limits]\nmargin = 101", "p.toml:2:10: a number of 0 to 100 is needed here"),
        ("[limits]\nengines = ['q2por']", "p.toml:2:12: there is no engine `q2por`: did you mean q2pro?"),
        ("[files]\nallowed = []", "p.toml:2:11: an empty list is no rule: name what is allowed, or remove the key"),
        ("max_count = 1", "p.toml:1:1: `max_count` is outside of a section: write it below [entities] or [files]"),
        ("[lumps]\nrequired = ['fases']", "p.toml:2:13: there is no lump `fases`: did you mean FACES or faces?"),
        ("[lumps]\ncompression = 'require'", "p.toml:2:15: `require` is not a value: did you mean required?"),
        ("[check]\ndeny = ['warnin']", "p.toml:2:9: there is no severity `warnin`: did you mean warning?"),
        (
            "[check]\nallow = ['entity-null']",
            "p.toml:2:10: there is no finding `entity-null`: did you mean entity-nul?",
        ),
        ("[map\n", "p.toml:1:5: unclosed table, expected `]`"),
        ("[map]\n[map]", "p.toml:2:2: duplicate key"),
        (
            "entities.required = ['ä', 'light[']",
            "p.toml:1:27: cannot read the selector `light[`: it ends too early; a `]` is missing",
        ),
        (
            "entities.required_keys = {'light[' = []}",
            "p.toml:1:27: cannot read the selector `light[`: it ends too early; a `]` is missing",
        ),
    ] {
        let error = read("p.toml", text).unwrap_err();
        assert_eq!(error.to_string(), expected, "{text}");
        assert!(error.hint().is_none(), "{text}: {:?}", error.hint());
    }
    let error = read("p.toml", "[map]\na = 1\nnames = [1, 2]\n[c]").unwrap_err();
    assert_eq!(error.hint().unwrap().to_string().lines().count(), 3, "{error:#?}");
}

/// The schema knows the keys that the program knows, and accepts what the program accepts.
#[test]
fn the_schema_is_of_the_same_keys() {
    let path = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    let schema: Value =
        serde_json::from_slice(&std::fs::read(path.join("docs/schema/policy.schema.json")).unwrap()).unwrap();
    let mut keys = Vec::new();
    for (section, rule) in schema["properties"].as_object().unwrap().iter().filter(|(name, _)| *name != "defaults") {
        keys.extend(rule["properties"].as_object().unwrap().keys().map(|key| format!("{section}.{key}")));
    }
    assert_eq!(keys, keys_of_policies().collect::<Vec<_>>());
    let page = std::fs::read_to_string(path.join("docs/policy.md")).unwrap();
    for key in keys {
        let (section, key) = key.split_once('.').unwrap();
        let (_, rows) = page.split_once(&format!("| `[{section}]` |")).unwrap();
        let rows = rows.split("| `[").next().unwrap();
        assert!(rows.contains(&format!("`{key}`")), "docs/policy.md: {section}.{key}");
    }
    for code in CODES {
        assert!(page.contains(&format!("\n| `{}` |", code.name)), "docs/policy.md: {}", code.name);
    }
    let example = std::fs::read_to_string(path.join("examples/ci/bspkit.toml")).unwrap();
    let rules = RULES.iter().flat_map(|(broken, _, _, kept)| [*broken, kept]);
    for text in rules.chain([&*example]) {
        assert!(read("p.toml", text).is_ok(), "{text}");
        let document = document(text);
        assert_eq!(validate(&schema, &schema, &document, ""), Ok(()), "{text}");
    }
    for text in ["map.nmaes = []", "map.lower_case = 1", "limits.margin = 101", "files.compression = 'no'", "c = {}"] {
        assert!(read("p.toml", text).is_err(), "{text}");
        assert!(validate(&schema, &schema, &document(text), "").is_err(), "{text}");
    }
}

/// All maps keep the policy that is made from them, and a map that is larger does not.
#[test]
fn a_policy_to_begin_with_is_kept() {
    let room = Room::empty();
    for (name, bytes) in [
        ("q2", q2()),
        ("source", source()),
        ("stale", stale_checksum()),
        ("crowded", crowded()),
        ("dented", dented()),
        ("Loud", shouting()),
    ] {
        room.write(format!("maps/{name}.bsp"), &bytes);
    }
    let run = room.bspkit("ci maps --init -o maps/bspkit.toml");
    assert_eq!(run.code, Some(0), "{run:?}");
    let text = String::from_utf8(room.read("maps/bspkit.toml")).unwrap();
    assert!(text.contains("\nallow = [") && text.contains("\n# lower_case = true\n"), "{text}");
    assert!(text.contains("\n# intact = true\n"), "{text}");
    let run = room.bspkit("ci maps");
    assert_eq!(run.code, Some(0), "{text}\n{run:?}");
    // It is not written a second time.
    let run = room.bspkit("ci maps --init -o maps/bspkit.toml");
    assert!(run.code == Some(2) && run.err.contains("is there already"), "{run:?}");
    room.write("maps/q3.bsp", &fixture("q3/own_rooms"));
    let run = room.bspkit("ci maps");
    assert!(run.code == Some(1) && String::from_utf8_lossy(&run.out).contains("policy-dialect"), "{run:?}");
    // Suggestions are rules.
    let line = |line: &str| line.strip_prefix("# ").filter(|rule| rule.contains(" = ")).unwrap_or(line).to_owned();
    let all: Vec<String> = text.lines().map(line).collect();
    read("p.toml", &all.join("\n")).unwrap_or_else(|error| panic!("{error}: {all:?}"));
}

/// There are no rules about what cannot be read in one of the maps: they would be broken there.
#[test]
fn a_policy_to_begin_with_has_no_rules_for_what_cannot_be_read() {
    let room = Room::empty();
    room.write("maps/whole.bsp", &source());
    // A directory of the embedded zip that is none.
    let mut cut = source();
    let end = cut.windows(4).rposition(|bytes| bytes == b"PK\x05\x06").unwrap();
    cut[end..end + 4].copy_from_slice(b"none");
    room.write("maps/cut.bsp", &cut);
    room.write("maps/\u{c9}.bsp", &source());
    room.bspkit("ci maps --init -o p.toml").done();
    let text = String::from_utf8(room.read("p.toml")).unwrap();
    assert!(text.contains("\n# intact = true\n") && text.contains("cannot be read"), "{text}");
    let run = room.bspkit("ci maps --policy p.toml");
    assert!(!String::from_utf8_lossy(&run.out).contains("policy-"), "{text}\n{run:?}");
    // The last map has a name with an upper case letter.
    room.write("own.toml", b"[map]\nlower_case = true\n");
    let run = room.bspkit("ci maps --policy own.toml");
    assert!(run.code == Some(1) && String::from_utf8_lossy(&run.out).contains("upper case"), "{run:?}");
}

/// TOML as JSON.
fn document(text: &str) -> Value {
    fn json(value: &DeValue<'_>) -> Value {
        match value {
            DeValue::String(text) => json!(text),
            DeValue::Integer(number) => json!(number.as_str().parse::<i64>().unwrap()),
            DeValue::Boolean(is) => json!(is),
            DeValue::Array(items) => items.iter().map(|item| json(item.get_ref())).collect(),
            DeValue::Table(table) => {
                table.iter().map(|(key, item)| (key.get_ref().to_string(), json(item.get_ref()))).collect()
            }
            other => panic!("{other:?}"),
        }
    }
    json(&DeValue::Table(DeTable::parse(text).unwrap().into_inner()))
}
