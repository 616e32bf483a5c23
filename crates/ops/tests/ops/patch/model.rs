//! A patch against a naive model of it: a list of entities, and the operations one by one.

use bspkit::content::entities::{Entities, Entity, Key};
use bspkit::dialect::EntityRules;
use bspkit_ops::patch::{Expected, Match, Operation, Patch, Spot, Target};
use proptest::prelude::*;
use proptest::sample::select;

use super::random::config;

/// The indices that a target means; `None` where it does not fit.
fn find(entities: &Entities<'_>, target: &Target) -> Option<Vec<usize>> {
    let has = |entity: &Entity<'_>, (key, value): &(Vec<u8>, Vec<u8>)| entity.all(key).any(|found| found == &value[..]);
    let (found, count): (Vec<usize>, _) = match target {
        Target::Index(index) => ((0..entities.len()).filter(|other| other == index).collect(), Some(1)),
        Target::Match(Match { pairs, count, .. }) => {
            let all = entities.iter().filter(|entity| pairs.iter().all(|pair| has(entity, pair)));
            (all.map(|entity| entity.index()).collect(), Some(count.unwrap_or(1)))
        }
        Target::Select(selector, count) => {
            let all = entities.iter().filter(|entity| selector.matches(entity));
            (all.map(|entity| entity.index()).collect(), *count)
        }
    };
    count.map_or(!found.is_empty(), |count| count == found.len()).then_some(found)
}

/// Each move by itself, on all entities; `None` where something is refused.
fn naive(old: &Entities<'_>, operations: &[Operation]) -> Option<Vec<u8>> {
    let mut entities = old.clone();
    let mut ids: Vec<usize> = (0..old.len()).collect();
    let mut last_after: Vec<(usize, usize)> = Vec::new();
    let mut removed = Vec::new();
    for operation in operations {
        let (on, to) = match operation {
            Operation::Remove { on, .. } => {
                removed.extend(find(old, on)?);
                continue;
            }
            Operation::Move { on, to, .. } => (find(old, on)?, Some(to)),
            Operation::Add { pairs, to } => {
                entities.add(pairs.iter().map(|(key, value)| (key, value))).ok()?;
                ids.push(ids.len());
                (vec![ids.len() - 1], to.as_ref())
            }
            _ => return None,
        };
        let Some(to) = to else { continue };
        let (Spot::Before(target) | Spot::After(target)) = to;
        let [beside] = find(old, target)?[..] else { return None };
        if on.contains(&beside) {
            return None;
        }
        let place = |ids: &[usize], id: usize| ids.iter().position(|other| *other == id).unwrap();
        let groups: Vec<&[usize]> = match on.is_sorted_by_key(|id| place(&ids, *id)) {
            true if on.is_empty() => Vec::new(),
            true => vec![&on],
            false => on.chunks(1).collect(),
        };
        for group in groups {
            last_after.retain(|(_, last)| !group.contains(last));
            let from: Vec<usize> = group.iter().map(|id| place(&ids, *id)).collect();
            let next_to = match to {
                Spot::Before(_) => beside,
                Spot::After(_) => {
                    let found = last_after.iter().position(|(other, _)| *other == beside);
                    let before = found.map(|at| last_after.remove(at).1);
                    last_after.push((beside, *group.last()?));
                    before.unwrap_or(beside)
                }
            };
            let at = place(&ids, next_to);
            let behind = match to {
                Spot::Before(_) => entities.move_all_before(&from, at).map(|()| 0),
                Spot::After(_) => entities.move_all_after(&from, at).map(|()| 1),
            };
            ids.retain(|id| !group.contains(id));
            let at = at - from.iter().filter(|from| **from < at).count() + behind.ok()?;
            ids.splice(at..at, group.iter().copied());
        }
    }
    let removed: Vec<usize> = removed.iter().map(|id| ids.iter().position(|other| other == id).unwrap()).collect();
    if !removed.is_empty() {
        entities.remove_all(&removed).ok()?;
    }
    let bytes = entities.to_bytes();
    let read = Entities::parse(&bytes[..], *old.rules()).ok()?.len();
    (read == entities.len()).then_some(bytes)
}

/// Texts of entities that differ by `n`, with comments and without spaces now and then.
fn map() -> impl Strategy<Value = Vec<u8>> {
    let class = select(vec!["light", "LIGHT_spot", "door", "relay", ""]);
    let space = || select(vec!["\n", "\n", "\n", " ", "", "\n  ", " // a\n", "// b\n// c\n \n"]);
    let brace = prop_oneof![30 => Just("}"), 1 => Just("")];
    let entity = (class, 0..4_u8, space(), space(), brace);
    let world = prop_oneof![3 => Just("{\n\"classname\" \"worldspawn\"\n}\n"), 1 => Just("")];
    (world, prop::collection::vec(entity, 0..12), select(vec!["\0", "", "// end", "\0\0"])).prop_map(
        |(world, entities, end)| {
            let entity = |(n, (class, group, inner, outer, brace)): (usize, (&str, u8, &str, &str, &str))| {
                let class = if class.is_empty() { String::new() } else { format!("\"classname\" \"{class}\"{inner}") };
                format!("{{ {class}\"n\" \"{n}\" \"N\" \"g{group}\" \"x\" \"a{n}b\"{inner}{brace}{outer}")
            };
            let entities: String = entities.into_iter().enumerate().map(entity).collect();
            format!("{world}{entities}{end}").into_bytes()
        },
    )
}

fn target() -> impl Strategy<Value = Target> {
    let selectors = vec![
        "light",
        "light*",
        "L?ght",
        "*",
        "#3",
        "#90",
        "door,relay",
        "light[n=4]",
        "[n=2],[n=5]",
        "[N=g1]",
        "[n=g2]",
        "[n^=g]",
        "[x^=a1]",
        "[n*=1]",
        "[x$=2b]",
        "[x~/a[13]b/]",
        "[n<3]",
        "[n>=6]",
        ":not(light)",
        "[classname]",
        "light:not([n=g1])",
        "[missing]",
        "[n^='']",
        "*[n=3][N=g0]",
        "light_*[n=g1],#2",
    ];
    let pair = |key: &str, value: String| (key.as_bytes().to_vec(), value.into_bytes());
    prop_oneof![
        4 => (0..14_usize).prop_map(Target::Index),
        3 => (0..13_usize).prop_map(move |n| Target::Match(Match { pairs: vec![pair("N", n.to_string())], ..Match::default() })),
        1 => (0..4_u8, 0..3_usize).prop_map(move |(group, count)| {
            Target::Match(Match { pairs: vec![pair("classname", "light".into()), pair("n", format!("g{group}"))], count: Some(count), ..Match::default() })
        }),
        4 => (select(selectors), prop::option::weighted(0.1, 0..3_usize))
            .prop_map(|(selector, count)| Target::Select(selector.parse().unwrap(), count)),
    ]
}

fn operation() -> impl Strategy<Value = Operation> {
    let one = || prop_oneof![3 => (0..10_usize).prop_map(Target::Index), 1 => target()];
    let spot = move || prop_oneof![one().prop_map(Spot::Before), one().prop_map(Spot::After)];
    let pairs = (0..9_u8).prop_map(|n| vec![(b"classname".to_vec(), b"new".to_vec()), (b"n".to_vec(), vec![b'0' + n])]);
    prop_oneof![
        6 => (target(), spot()).prop_map(|(on, to)| Operation::Move { on, expect: Vec::new(), to }),
        3 => (pairs, prop::option::weighted(0.8, spot())).prop_map(|(pairs, to)| Operation::Add { pairs, to }),
        1 => target().prop_map(|on| Operation::Remove { on, expect: Vec::new() }),
    ]
}

proptest! {
    #![proptest_config(config(3000, "tests/proptest-regressions/patch.txt"))]

    #[test]
    fn a_patch_does_what_its_operations_do_one_by_one(
        map in map(), operations in prop::collection::vec(operation(), 1..12), source: bool,
    ) {
        let rules = if source { EntityRules::SOURCE } else { EntityRules::QUAKE3 };
        let old = Entities::parse(&map[..], rules).unwrap();
        // What does not fit alone is left out, so that most patches do something.
        let mut fitting = Vec::new();
        let mut found = None;
        for operation in operations {
            fitting.push(operation);
            match naive(&old, &fitting) {
                None => drop(fitting.pop()),
                bytes => found = bytes,
            }
        }
        let patch = Patch { entities: None, operations: fitting, result: None };
        let expected = found.unwrap_or_else(|| map.clone());
        let got = patch.apply(&old).unwrap();
        prop_assert_eq!(String::from_utf8_lossy(&got), String::from_utf8_lossy(&expected));
    }

    #[test]
    fn a_patch_is_refused_where_one_of_its_operations_is(map in map(), operation in operation()) {
        let old = Entities::parse(&map[..], EntityRules::QUAKE3).unwrap();
        let expected = naive(&old, std::slice::from_ref(&operation));
        let patch = Patch { entities: None, operations: vec![operation], result: None };
        prop_assert_eq!(patch.apply(&old).ok(), expected);
    }
}

/// `operations` of a kind on twice as many entities.
fn many(kind: &str, operations: usize) -> std::time::Duration {
    let entity = |n: usize| format!("{{\n\"classname\" \"light\"\n\"n\" \"{n}\"\n\"x\" \"x{n}y\"\n}}\n");
    let text: String = (0..operations * 2).map(entity).collect();
    let entities = Entities::parse(text.as_bytes(), EntityRules::QUAKE3).unwrap();
    let n = |n: usize| (b"n".to_vec(), n.to_string().into_bytes());
    let expect = |at: usize| vec![Expected { key: Key::literal("n"), value: Some(at.to_string().into_bytes()) }];
    let operation = |at: usize| {
        let (on, other) = (Target::Index(at), Target::Index(operations * 2 - 1 - at / 2));
        let select = |text: String| Target::Select(text.parse().unwrap(), None);
        match kind {
            "moves" => Operation::Move { on, expect: expect(at), to: Spot::After(other) },
            "moves of two" => {
                Operation::Move { on: select(format!("#0,#{}", at + 1)), expect: Vec::new(), to: Spot::Before(other) }
            }
            "adds before" => Operation::Add { pairs: vec![n(at)], to: Some(Spot::Before(on)) },
            "adds in one place" => Operation::Add { pairs: vec![n(at)], to: Some(Spot::After(Target::Index(1))) },
            "matches" => Operation::Remove {
                on: Target::Match(Match { pairs: vec![n(at)], ..Match::default() }),
                expect: Vec::new(),
            },
            "values" => Operation::Remove { on: select(format!("light[n={at}]")), expect: expect(at) },
            "beginnings" => Operation::Remove { on: select(format!("light[x^=x{at}y]")), expect: expect(at) },
            _ => unreachable!(),
        }
    };
    let patch = Patch { entities: None, operations: (0..operations).map(operation).collect(), result: None };
    let start = std::time::Instant::now();
    patch.apply(&entities).unwrap();
    start.elapsed()
}

/// Eight times as much takes some ten times as long; 64 times would be quadratic. A busy machine is forgiven.
#[test]
fn the_time_of_a_patch_grows_with_its_length() {
    for kind in ["moves", "moves of two", "adds before", "adds in one place", "matches", "values", "beginnings"] {
        let mut ratios = (0..6).map(|_| many(kind, 6_400).as_secs_f64() / many(kind, 800).as_secs_f64());
        let mut seen = Vec::new();
        let is_linear = ratios.any(|ratio| {
            seen.push(ratio);
            ratio < 24.0
        });
        assert!(is_linear, "{kind}: {seen:?} times the time for 8 times the operations");
    }
}
