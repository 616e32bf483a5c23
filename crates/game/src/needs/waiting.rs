//! Packed files that wait until something that may be loaded has their names: texts of any form are searched for words.

use std::collections::HashMap;

use crate::assets::normal_name;

/// Ends that engines and games put after the name of a file: numbers (without the digits), sides of a sky, colors of
/// teams, twins for other graphics cards, far sides and pieces.
const ENDS: [&[u8]; 25] = [
    b"rt",
    b"lf",
    b"bk",
    b"ft",
    b"up",
    b"dn",
    b"_back",
    b"_red",
    b"_blue",
    b"_neutral",
    b"_hdr",
    b"hdr",
    b"_dx",
    b"_radar",
    b"_spectate",
    b"_lower",
    b"_upper",
    b"_higher",
    b"_normal",
    b"_ref",
    b"_lod",
    b"_gib",
    b"_break",
    b"_widescreen",
    b"_",
];

/// What games put before the name of a file: `ClassIcon` of a wave of robots (Team Fortress 2) is the icon of a class.
const BEGINNINGS: [&[u8]; 1] = [b"leaderboard_class_"];

/// A name has at most this many forms without these.
const MOST_FORMS: usize = 32;

/// The folders of a file that are looked for, from the last one on.
const MOST_FOLDERS: usize = 16;

/// How a text names a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Named {
    /// By the last part of its path.
    Whole,
    /// By that part up to the first dot.
    Stem,
    /// By the words of that part, in any order, perhaps without ends.
    Words,
    /// In the same way, by several texts together.
    WordsOfTexts,
    /// By its folder.
    Folder,
}

/// The files that wait, by their indices.
#[derive(Debug, Default)]
pub(super) struct Waiting {
    /// How many words of a file's name were not seen yet.
    missing: Vec<usize>,
    /// The number of texts that were searched, and for each file the text that had the first of its words.
    texts: usize,
    first: Vec<usize>,
    /// The files, and which of their words, by each form of the word.
    words: HashMap<Vec<u8>, Vec<(usize, usize)>>,
    /// The words that were seen.
    seen: Vec<Vec<bool>>,
    /// The files by their folders, and by the ends of the paths of these.
    folders: HashMap<Vec<u8>, Vec<usize>>,
    /// The files by their paths up to the first dot of the last part, also without ends.
    beside: HashMap<Vec<u8>, Vec<usize>>,
}

impl Waiting {
    /// Adds a file by its name; the result is its index.
    pub(super) fn push(&mut self, name: &[u8]) -> usize {
        let index = self.missing.len();
        let (folder, stem) = parts(name);
        let words: Vec<&[u8]> = split(stem).collect();
        let mut count = 0;
        for (at, word) in words.iter().enumerate() {
            let forms = forms(word);
            // A number alone says nothing.
            let is_number = forms.iter().any(|form| form.is_empty());
            count += usize::from(!is_number);
            forms.iter().filter(|_| !is_number).for_each(|form| {
                self.words.entry(form.to_vec()).or_default().push((index, at));
            });
        }
        self.missing.push(count);
        self.first.push(0);
        self.seen.push(vec![false; words.len()]);
        let starts = folder.iter().enumerate().rev().filter(|(_, byte)| **byte == b'/').map(|(at, _)| at + 1);
        // The last folder alone is a word of any text.
        for start in starts.chain([0]).skip(1).take(MOST_FOLDERS) {
            self.folders.entry(folder[start..].to_vec()).or_default().push(index);
        }
        for form in forms(stem) {
            self.beside.entry([folder, &b"/"[..], form].concat()).or_default().push(index);
        }
        index
    }

    /// Whether the name of a file consists of no words, so that no text could be searched for it.
    pub(super) fn is_wordless(&self, index: usize) -> bool {
        self.missing[index] == 0
    }

    /// The files whose names are in a text of any form; `names` has the names of all files.
    pub(super) fn named_in(&mut self, text: &[u8], names: &[Vec<u8>]) -> Vec<(usize, Named)> {
        let text = text.to_ascii_lowercase();
        self.texts += 1;
        let mut found = Vec::new();
        let is_quote = |byte: &u8| *byte < b' ' || *byte == b'"' || *byte == b'\'' || *byte == 0x7F;
        for value in text.split(is_quote).filter(|value| !value.is_empty()) {
            self.folder(value, &mut found);
            for token in value.split(|byte| b" ,;=(){}[]<>|:".contains(byte)).filter(|token| token.len() < value.len())
            {
                self.folder(token, &mut found);
            }
            let mut at = 0;
            for word in value.split(|byte| !is_letter(*byte)) {
                for index in self.word(word) {
                    let name = names.get(index).map_or(&b""[..], |name| name);
                    let named = match self.first[index] == self.texts {
                        true => named_at(value, at, name),
                        false => Named::WordsOfTexts,
                    };
                    found.push((index, named));
                }
                at += word.len() + 1;
            }
        }
        found
    }

    /// The files beside a file that may be loaded: those with the same path up to the first dot.
    pub(super) fn beside(&mut self, name: &[u8]) -> Vec<usize> {
        let (folder, stem) = parts(name);
        self.beside.remove(&[folder, &b"/"[..], stem].concat()).unwrap_or_default()
    }

    fn folder(&mut self, path: &[u8], found: &mut Vec<(usize, Named)>) {
        if let Some(files) = self.folders.remove(&normal_name(path)) {
            found.extend(files.into_iter().map(|index| (index, Named::Folder)));
        }
    }

    /// The files of whose names this was the last word that was not seen.
    fn word(&mut self, word: &[u8]) -> Vec<usize> {
        let mut found = Vec::new();
        for (index, at) in self.words.remove(word).unwrap_or_default() {
            if !std::mem::replace(&mut self.seen[index][at], true) {
                if self.first[index] == 0 {
                    self.first[index] = self.texts;
                }
                self.missing[index] -= 1;
                if self.missing[index] == 0 {
                    found.push(index);
                }
            }
        }
        found
    }
}

/// How a value names a file with its word at this place, the last one that was not seen. Only the text around the word
/// is compared.
fn named_at(value: &[u8], at: usize, name: &[u8]) -> Named {
    let last = name.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
    let (_, stem) = parts(name);
    let near = &value[at.saturating_sub(last.len())..value.len().min(at + last.len() + 1)];
    let is_part = |byte: Option<&u8>| byte.is_some_and(|byte| is_letter(*byte));
    let has = |whole: &[u8]| {
        memchr::memmem::find_iter(near, whole)
            .any(|at| !is_part(near[..at].last()) && !is_part(near.get(at + whole.len())))
    };
    match () {
        () if stem.is_empty() => Named::Words,
        () if has(last) => Named::Whole,
        () if has(stem) => Named::Stem,
        () => Named::Words,
    }
}

/// The folder of a file, and the last part of its name up to the first dot: `box.dx90.vtx` is a part of `box`.
fn parts(name: &[u8]) -> (&[u8], &[u8]) {
    let (folder, last) = match name.iter().rposition(|byte| *byte == b'/') {
        Some(at) => (&name[..at], &name[at + 1..]),
        None => (&b""[..], name),
    };
    (folder, last.split(|byte| *byte == b'.').next().unwrap_or_default())
}

/// Words of letters, digits and underscores.
fn split(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(|byte| !is_letter(*byte)).filter(|word| !word.is_empty())
}

fn is_letter(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || !byte.is_ascii()
}

/// A word, and what is left of it without the beginnings and ends that engines put there.
fn forms(word: &[u8]) -> Vec<&[u8]> {
    let mut forms = vec![word];
    forms.extend(BEGINNINGS.iter().filter_map(|beginning| word.strip_prefix(*beginning)));
    let mut at = 0;
    while at < forms.len() && forms.len() < MOST_FORMS {
        let form = forms[at];
        let digits = form.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
        let ends = ENDS.iter().filter_map(|end| form.strip_suffix(*end));
        for shorter in ends.chain([&form[..form.len() - digits]]) {
            if !forms.contains(&shorter) {
                forms.push(shorter);
            }
        }
        at += 1;
    }
    forms
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(names: &[&str], text: &str) -> Vec<usize> {
        said(names, &[text]).into_iter().map(|(index, _)| index).collect()
    }

    /// What each of the texts says of the files.
    fn said(names: &[&str], texts: &[&str]) -> Vec<(usize, Named)> {
        let mut waiting = Waiting::default();
        let names: Vec<Vec<u8>> = names.iter().map(|name| name.as_bytes().to_vec()).collect();
        names.iter().for_each(|name| {
            waiting.push(name);
        });
        texts.iter().flat_map(|text| waiting.named_in(text.as_bytes(), &names)).collect()
    }

    #[test]
    fn a_reason_says_how_a_text_names_a_file() {
        let name = "models/own/boss.mdl";
        for (texts, named) in [
            (&["\"models/own/boss.mdl\""][..], Named::Whole),
            (&["x = Boss.MDL"], Named::Whole),
            (&["RunScriptFile boss.nut"], Named::Stem),
            (&["boss"], Named::Stem),
            (&["the boss.mdlx is another"], Named::Stem),
            (&["models/own"], Named::Folder),
        ] {
            assert_eq!(said(&[name], texts), [(0, named)], "{texts:?}");
        }
        let name = "materials/own/wall-old_red2.vmt";
        for (texts, named) in [
            (&["own/wall-old_red2.vmt"][..], Named::Whole),
            (&["own/wall-old_red2"], Named::Stem),
            (&["old wall"], Named::Words),
            (&["wall", "old_red"], Named::WordsOfTexts),
        ] {
            assert_eq!(said(&[name], texts), [(0, named)], "{texts:?}");
        }
        assert_eq!(said(&["a/nightrt.vmt"], &["sv_skyname night"]), [(0, Named::Words)]);
    }

    #[test]
    fn names_are_found_in_texts_of_any_form() {
        let name = ["materials/own/wall-old_red2.vmt"];
        for text in [
            "\"own/wall-old_red2\"",
            "x=OWN\\WALL-OLD_RED2.VMT",
            "wall 1, old",
            "wall\0old_red",
            "materials/own",
            "a 'Materials\\own/'",
        ] {
            assert_eq!(found(&name, text), [0], "{text}");
        }
        for text in ["wall", "old_red2", "materials", "own/", "walls old", ""] {
            assert_eq!(found(&name, text), [0; 0], "{text}");
        }
        assert_eq!(found(&["a/nightrt.vmt", "a/nightbk.vmt", "a/day.vmt"], "sv_skyname night"), [0, 1]);
    }

    #[test]
    fn files_beside_are_those_of_one_name() {
        let mut waiting = Waiting::default();
        for name in ["m/own/box.phy", "m/own/box.dx80.vtx", "m/own/box2.mdl", "m/other/box.phy", "m/own/boxes.mdl"] {
            waiting.push(name.as_bytes());
        }
        assert_eq!(waiting.beside(b"m/own/box.mdl"), [0, 1, 2]);
    }
}
