//! Edits of the order of entities, one after the other: the same as if each was done alone.

use std::fmt::Write;

use super::*;

/// Numbers that look random, the same ones each time (xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % bound).unwrap()
    }
}

/// Statements that edit entities by handles, and what the handles are at the end.
fn statements(random: &mut Random, count: usize) -> Vec<String> {
    let mut all = vec!["let a = []; for e in entities { a.push(e); }".to_owned()];
    for number in 0..count {
        let [one, other] = [0; 2].map(|_| format!("a[{} % a.len()]", random.below(1000)));
        let class = ["light", "target_position", "info_*"][random.below(3)];
        let edit = match random.below(9) {
            0 | 1 => format!("if {one}.exists() && {one} != a[0] {{ {one}.remove(); }}"),
            2 => format!("if {one}.exists() && {one} != a[0] {{ a.push({one}.duplicate()); }}"),
            3 => format!("if {one}.exists() && {other}.exists() && {one} != a[0] {{ {one}.move_after({other}); }}"),
            4 => format!(
                "if {one}.exists() && {other}.exists() && {one} != a[0] && {other} != a[0] {{ {one}.move_before({other}); }}"
            ),
            5 => format!("a.push(entities.add(#{{classname: \"light\", n: {number}}}));"),
            6 => format!("if {one}.exists() && {one} != a[0] {{ {one}.classname = \"light\"; }}"),
            7 => format!("let f = entities.first(\"{class}\"); if f != () {{ f.n = {number}; f.remove(\"light\"); }}"),
            _ => format!("let f = entities.first(\"{class}\"); if f != () {{ f.classname = \"found_{number}\"; }}"),
        };
        all.push(edit);
    }
    all.push("for e in a { report(if e.exists() { e.index() } else { -1 }); }".to_owned());
    all
}

#[test]
fn edits_of_the_order_are_those_done_alone() {
    let mut random = Random(88_172_645_463_325_252);
    for count in [1, 2, 3, 5, 8, 20, 60, 60, 60, 60, 60, 60] {
        let statements = statements(&mut random, count);
        let (mut alone, mut together) = (String::new(), String::new());
        for statement in &statements {
            // An index is asked for, so that the order is settled; and searches begin from the first entity.
            writeln!(alone, "{statement} entities[-1].index(); lumps[\"entities\"];").unwrap();
            writeln!(together, "{statement}").unwrap();
        }
        for map in ["q3/own_rooms.bsp", "q2/own_rooms.bsp"] {
            let done = [&alone, &together].map(|text| {
                let (mut draft, said) = run_on(map, text);
                let said = said.unwrap_or_else(|error| panic!("{text}: {error:?}"));
                let text = draft.entities().unwrap().to_bytes().to_vec();
                (said.reports.into_iter().map(|report| report.text).collect::<Vec<_>>(), text)
            });
            assert_eq!(done[0].0, done[1].0, "{together}");
            assert_eq!(done[0].1.escape_ascii().to_string(), done[1].1.escape_ascii().to_string(), "{together}");
        }
    }
}

#[test]
fn an_error_says_the_index_of_the_entity() {
    let begin = "let a = []; for e in entities { a.push(e); } a[3].remove(); a[4].remove(); a[5].remove();";
    for end in ["a[9].message = \"a\\x22b\"", "a[0].remove()", "a[9].move_before(a[0])", "a[0].duplicate(); a[3].x"] {
        let settled = error(&format!("{begin} entities[0].index(); {end}"));
        let together = error(&format!("{begin}                      {end}"));
        assert_eq!(settled, together, "{end}");
    }
}
