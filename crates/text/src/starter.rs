//! A policy to begin with, made from the maps of a project: all of them keep its rules.
//!
//! ```
//! use bspkit_ops::policy::{self, Policy};
//! use bspkit_text::starter::Starter;
//! let map = bspkit::Bsp::open("../../tests/maps/q2/own_rooms.bsp")?;
//! let mut starter = Starter::default();
//! starter.add(&map, "own_rooms", &policy::run(&map, "own_rooms", &Policy::default(), None)?);
//! let text = starter.write();
//! assert!(text.contains("dialects = [\"quake2\"]"));
//! let policy = bspkit_text::policy::read("bspkit.toml", &text)?;
//! assert!(policy::run(&map, "own_rooms", &policy, None)?.iter().all(|finding| !policy.denies(finding)));
//! # Ok::<(), bspkit::Error>(())
//! ```

use std::collections::BTreeSet;
use std::fmt::Write as _;

use bspkit::Bsp;
use bspkit::dialect::Role;
use bspkit::finding::Finding;
use bspkit_ops::check;

/// What is known of the maps of a project.
///
/// ```
/// assert!(bspkit_text::starter::Starter::default().write().contains("[map]"));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Starter {
    maps: usize,
    has_upper_case: bool,
    dialects: BTreeSet<&'static str>,
    most_bytes: usize,
    /// Classes that each map has, of those that players need.
    classes: Option<BTreeSet<Vec<u8>>>,
    most_entities: usize,
    has_files: bool,
    files_have_upper_case: bool,
    has_damaged_files: bool,
    /// Whether the entities, and the embedded files, of a map cannot be read: no rule about them holds for it.
    are_unread: [bool; 2],
    /// The first folders of embedded files; files in no folder have an empty one.
    folders: BTreeSet<Vec<u8>>,
    most_files: usize,
    /// Codes of errors, those that a policy can allow, and others.
    codes: BTreeSet<&'static str>,
    other_codes: BTreeSet<&'static str>,
}

/// Beginnings of classes that a policy requires if each map has one.
const PLAYERS: [&[u8]; 2] = [b"worldspawn", b"info_player_"];

impl Starter {
    /// Adds a map, by its file name without `.bsp`, and what `ci` finds in it without a policy.
    pub fn add(&mut self, bsp: &Bsp<'_>, name: &str, findings: &[Finding]) {
        self.maps += 1;
        self.has_upper_case |= name.chars().any(char::is_uppercase);
        self.dialects.insert(bsp.dialect().name);
        self.most_bytes = self.most_bytes.max(bsp.container().bytes().len());
        let has = |role| bsp.role(role).is_some();
        self.are_unread[0] |= has(Role::Entities) && bsp.entities().is_err();
        self.are_unread[1] |= has(Role::Pak) && bsp.pak().is_err();
        if let Ok(entities) = bsp.entities() {
            self.most_entities = self.most_entities.max(entities.len());
            let classes = entities.iter().filter_map(|entity| Some(entity.class()?.to_ascii_lowercase()));
            let classes: BTreeSet<Vec<u8>> =
                classes.filter(|class| PLAYERS.iter().any(|start| class.starts_with(start))).collect();
            self.classes = Some(match self.classes.take() {
                Some(before) => before.intersection(&classes).cloned().collect(),
                None => classes,
            });
        }
        if let Some(pak) = bsp.role(Role::Pak).and_then(|_| bsp.pak().ok()) {
            self.has_files |= !pak.is_empty();
            self.most_files = self.most_files.max(pak.len());
            self.has_damaged_files |= pak.check(1).iter().any(Finding::is_error);
            for file in pak.iter() {
                let name = file.name();
                self.files_have_upper_case |= name.iter().any(u8::is_ascii_uppercase);
                let folder = name.split(|byte| matches!(byte, b'/' | b'\\')).next();
                let is_in_folder = folder.is_some_and(|folder| folder.len() < name.len());
                self.folders.insert(if is_in_folder {
                    folder.unwrap_or_default().to_ascii_lowercase()
                } else {
                    vec![]
                });
            }
        }
        for finding in findings.iter().filter(|finding| finding.is_error()) {
            let codes = if check::code(finding.code.name).is_ok() { &mut self.codes } else { &mut self.other_codes };
            codes.insert(finding.code.name);
        }
    }

    /// The policy as TOML.
    pub fn write(&self) -> String {
        let mut text = String::from(
            "# What the maps of this project must have, for `bspkit ci`. All maps keep these rules now; those that\n\
             # are comments are suggestions. `bspkit help policy` has an example of each section.\n\n[map]\n",
        );
        rule(&mut text, self.has_upper_case, "lower_case = true");
        if !self.dialects.is_empty() {
            rule(&mut text, false, &format!("dialects = {}", strings(self.dialects.iter().copied())));
        }
        rule(&mut text, false, &format!("max_bytes = {}", more(self.most_bytes)));
        let [no_entities, no_files] = self.are_unread;
        text += "\n[entities]\n";
        if no_entities {
            text += "# The entities of some of the maps cannot be read, and rules about them would be broken there.\n";
        }
        let classes = self.classes.iter().flatten().filter_map(|class| std::str::from_utf8(class).ok());
        let classes: Vec<&str> = classes.filter(|class| class.bytes().all(is_word)).collect();
        if !classes.is_empty() {
            rule(&mut text, no_entities, &format!("required = {}", strings(classes.into_iter())));
        }
        rule(&mut text, true, "forbidden = [\"info_null\"]");
        rule(&mut text, no_entities, &format!("max_count = {}", more(self.most_entities)));
        if self.has_files {
            text += "\n[files]\n";
            if no_files {
                text += "# The files in some of the maps cannot be read, and rules about them would be broken there.\n";
            }
            let folders: Option<Vec<String>> = self.folders.iter().map(|folder| pattern(folder)).collect();
            // A pattern for files in no folder is one for files in all of them.
            if let Some(folders) = folders {
                rule(&mut text, no_files, &format!("allowed = {}", strings(folders.iter().map(String::as_str))));
            }
            rule(&mut text, no_files || self.files_have_upper_case, "lower_case = true");
            rule(&mut text, no_files || self.has_damaged_files, "intact = true");
            rule(&mut text, no_files, &format!("max_count = {}", more(self.most_files)));
        }
        text += "\n[textures]\n";
        rule(&mut text, true, "forbidden = [\"*aaatrigger*\"]");
        text += "\n[limits]\n";
        rule(&mut text, true, "margin = 10");
        text += "\n[check]\n";
        rule(&mut text, true, "deny = [\"warning\"]");
        if !self.codes.is_empty() {
            text += "# Errors that some of the maps have now.\n";
            rule(&mut text, false, &format!("allow = {}", strings(self.codes.iter().copied())));
        }
        if !self.other_codes.is_empty() {
            let codes: Vec<&str> = self.other_codes.iter().copied().collect();
            // Writing into a string cannot fail.
            let _ = writeln!(text, "# Some of the maps have errors that no policy allows: {}.", codes.join(", "));
        }
        text
    }
}

fn rule(text: &mut String, is_suggestion: bool, rule: &str) {
    // Writing into a string cannot fail.
    let _ = writeln!(text, "{}{rule}", if is_suggestion { "# " } else { "" });
}

/// A number that leaves room above another one, with few digits.
fn more(number: usize) -> usize {
    let wanted = number.saturating_add(number / 4).max(1);
    let digit = 10_usize.pow(wanted.ilog10().saturating_sub(1));
    wanted.div_ceil(digit).saturating_mul(digit)
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// The pattern for all files of a folder; none if the name cannot be part of one.
fn pattern(folder: &[u8]) -> Option<String> {
    match folder {
        [] => None,
        folder if folder.iter().all(|byte| is_word(*byte) || matches!(byte, b'-' | b'.')) => {
            Some(format!("{}/**", std::str::from_utf8(folder).ok()?))
        }
        _ => None,
    }
}

fn strings<'s>(texts: impl Iterator<Item = &'s str>) -> String {
    let texts: Vec<String> = texts.map(|text| format!("\"{text}\"")).collect();
    format!("[{}]", texts.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_leaves_room() {
        for (number, expected) in [(0, 1), (1, 1), (20, 25), (66_336, 83_000), (999, 1300), (usize::MAX, usize::MAX)] {
            assert_eq!(more(number), expected, "{number}");
            assert!(more(number) >= number);
        }
    }
}
