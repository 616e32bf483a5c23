//! FGD files: which keys the entities of a game have, and the types of these keys. Everything else in them is for map
//! editors and is skipped.
//!
//! ```
//! use bspkit_game::assets::fgd::Fgd;
//! let text = "@BaseClass = Noisy [ noise(sound) : \"Sound\" : \"\" ]\n\
//!     @PointClass base(Noisy) studio(\"models/x.mdl\") = own_thing : \"A \" + \"thing\"\n[\n\
//!     model(studio) : \"Model\" spawnflags(flags) = [ 1 : \"Open\" : 0 ] output OnUse(void) : \"Used\" ]";
//! let mut fgd = Fgd::default();
//! fgd.read(text.as_bytes())?;
//! let keys: Vec<_> = fgd.typed_keys().map(|(_, key, kind)| (key, kind)).collect();
//! assert_eq!(keys, [(&b"noise"[..], &b"sound"[..]), (b"model", b"studio"), (b"spawnflags", b"flags")]);
//! # Ok::<(), bspkit::Error>(())
//! ```

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::{Path, PathBuf};

use bspkit::bytes::escaped;
use bspkit::disk::{input, shown};
use bspkit::{Error, ErrorKind, Result};

/// Larger files are not read.
pub const MOST_BYTES: usize = 32 << 20;

/// More classes, and more keys of all classes with those that they inherit, are not read.
const MOST_CLASSES: usize = 65_536;
const MOST_KEYS: usize = 1 << 20;

/// Classes inherit from classes that inherit, up to this depth.
const MOST_DEPTH: usize = 64;

/// The classes of one or more FGD files.
#[derive(Clone, Debug, Default)]
pub struct Fgd {
    classes: BTreeMap<Vec<u8>, Class>,
    key_count: usize,
    /// The files that [`read`] went through, in no order.
    files: Vec<PathBuf>,
}

#[derive(Clone, Debug, Default)]
struct Class {
    /// Only others inherit from it; no entity is of this class.
    is_base: bool,
    bases: Vec<Vec<u8>>,
    /// Keys and their types.
    keys: Vec<(Vec<u8>, Vec<u8>)>,
}

impl Fgd {
    /// Reads a file, and returns the names of the files that it includes, as they are written. A class that was read
    /// before gets the new keys too.
    ///
    /// # Errors
    /// [`ErrorKind::TooLarge`] for a file of more than 32 MiB, for more than 65,536 classes or 1,048,576 keys. What
    /// editors could not read is skipped.
    pub fn read(&mut self, text: &[u8]) -> Result<Vec<Vec<u8>>> {
        if text.len() > MOST_BYTES {
            let message = format!("an FGD file of {} bytes; at most {MOST_BYTES} are read", text.len());
            return Err(Error::new(ErrorKind::TooLarge, message));
        }
        let text = input::without_mark(text);
        let (mut tokens, mut includes) = (Tokens { text, at: 0 }, Vec::new());
        while let Some(token) = tokens.next() {
            match token {
                Token::Word(word) if word.eq_ignore_ascii_case(b"@include") => {
                    if let Some(Token::Text(name)) = tokens.next() {
                        includes.push(name.to_vec());
                    }
                }
                Token::Word(word) if is_class(word) => self.class(word, &mut tokens)?,
                _ => {}
            }
        }
        Ok(includes)
    }

    /// The file that [`read`] was given, and all that it includes, in no order; those that could not be read too.
    pub fn files(&self) -> impl Iterator<Item = &Path> {
        self.files.iter().map(PathBuf::as_path)
    }

    /// Every class that an entity can have, in lower case.
    pub fn classes(&self) -> impl Iterator<Item = &[u8]> {
        self.classes.iter().filter(|(_, class)| !class.is_base).map(|(name, _)| &name[..])
    }

    /// The keys of a class with those that it inherits, in lower case.
    pub fn keys_of(&self, class: &[u8]) -> BTreeSet<Vec<u8>> {
        let mut keys = Vec::new();
        if let Some(class) = self.classes.get(&class.to_ascii_lowercase()) {
            self.collect(class, &mut keys, &mut BTreeSet::new(), 0);
        }
        keys.into_iter().map(|(key, _)| key.to_vec()).collect()
    }

    /// Every key that an entity can have, with its type: class, key, type, in lower case. Keys that a class inherits
    /// come before its own.
    pub fn typed_keys(&self) -> impl Iterator<Item = (&[u8], &[u8], &[u8])> {
        let classes = self.classes.iter().filter(|(_, class)| !class.is_base);
        let rows = classes.flat_map(|(name, class)| {
            let mut keys = Vec::new();
            self.collect(class, &mut keys, &mut BTreeSet::new(), 0);
            keys.into_iter().map(move |(key, kind)| (&name[..], key, kind))
        });
        rows.take(MOST_KEYS)
    }

    fn collect<'k>(
        &'k self,
        class: &'k Class,
        keys: &mut Vec<(&'k [u8], &'k [u8])>,
        seen: &mut BTreeSet<&'k [u8]>,
        depth: usize,
    ) {
        for base in &class.bases {
            // A base counts once: classes that inherit from themselves end here.
            if let Some(base_class) = self.classes.get(base).filter(|_| depth < MOST_DEPTH && seen.insert(base)) {
                self.collect(base_class, keys, seen, depth + 1);
            }
        }
        keys.extend(class.keys.iter().map(|(key, kind)| (&key[..], &kind[..])));
    }

    /// Reads a class, from what follows its kind.
    fn class(&mut self, kind: &[u8], tokens: &mut Tokens<'_>) -> Result<()> {
        let mut class = Class { is_base: kind.eq_ignore_ascii_case(b"@baseclass"), ..Class::default() };
        // Helpers, such as base(A, B) and studio("x.mdl"), up to `=`.
        let mut helper: &[u8] = b"";
        loop {
            match tokens.next() {
                Some(Token::Sign(b'=')) => break,
                Some(Token::Word(word)) => helper = word,
                Some(Token::Sign(b'(')) => {
                    let inside = tokens.until(b')');
                    if helper.eq_ignore_ascii_case(b"base") {
                        class.bases.extend(inside.into_iter().map(|name| name.to_ascii_lowercase()));
                    }
                }
                Some(_) => {}
                None => return Ok(()),
            }
        }
        let Some(Token::Word(name)) = tokens.next() else { return Ok(()) };
        loop {
            match tokens.peek() {
                Some(Token::Sign(b'[')) => {
                    tokens.next();
                    class.keys = keys(tokens);
                    break;
                }
                // A class may end without a block.
                Some(Token::Word(word)) if word.starts_with(b"@") => break,
                Some(_) => drop(tokens.next()),
                None => break,
            }
        }
        self.key_count += class.keys.len() + class.bases.len();
        let entry = self
            .classes
            .entry(name.to_ascii_lowercase())
            .or_insert_with(|| Class { is_base: class.is_base, ..Class::default() });
        // Many files have a base `Light` and the class `light`, which differ in case alone.
        entry.is_base &= class.is_base;
        entry.bases.append(&mut class.bases);
        entry.keys.append(&mut class.keys);
        if self.classes.len() > MOST_CLASSES || self.key_count > MOST_KEYS {
            let message = format!("more than {MOST_CLASSES} classes or {MOST_KEYS} keys in FGD files");
            return Err(Error::new(ErrorKind::TooLarge, message));
        }
        Ok(())
    }
}

fn is_class(word: &[u8]) -> bool {
    word.first() == Some(&b'@') && word.len() > 6 && word[word.len() - 5..].eq_ignore_ascii_case(b"class")
}

/// The keys of a block, whose opening bracket was read: `key(type)`; inputs, outputs, texts and choices are skipped.
fn keys(tokens: &mut Tokens<'_>) -> Vec<(Vec<u8>, Vec<u8>)> {
    let mut found = Vec::new();
    let (mut word, mut before): (&[u8], &[u8]) = (b"", b"");
    let mut depth = 1;
    while let Some(token) = tokens.next() {
        match token {
            Token::Sign(b'[') => depth += 1,
            Token::Sign(b']') => {
                depth -= 1;
                if depth == 0 {
                    break;
                }
            }
            Token::Word(next) => (before, word) = (word, next),
            Token::Sign(b'(') if depth == 1 && !word.is_empty() => {
                let inside = tokens.until(b')');
                let is_connection = [&b"input"[..], b"output"].iter().any(|known| known.eq_ignore_ascii_case(before));
                if let ([kind], false) = (&inside[..], is_connection) {
                    found.push((word.to_ascii_lowercase(), kind.trim_ascii_start().to_ascii_lowercase()));
                }
                (before, word) = (b"", b"");
            }
            _ => (before, word) = (b"", b""),
        }
    }
    found
}

#[derive(Clone, Copy)]
enum Token<'t> {
    Text(&'t [u8]),
    Word(&'t [u8]),
    Sign(u8),
}

struct Tokens<'t> {
    text: &'t [u8],
    at: usize,
}

impl<'t> Tokens<'t> {
    fn peek(&mut self) -> Option<Token<'t>> {
        let at = self.at;
        let token = self.next();
        self.at = at;
        token
    }

    /// The words and texts before a sign.
    fn until(&mut self, sign: u8) -> Vec<&'t [u8]> {
        let (mut found, mut depth) = (Vec::new(), 0_usize);
        for token in self.by_ref() {
            match token {
                Token::Sign(own) if own == sign && depth == 0 => break,
                Token::Sign(own) if own == sign => depth -= 1,
                // Conditions of helpers have parentheses of their own.
                Token::Sign(b'(') if sign == b')' => depth += 1,
                Token::Sign(_) => {}
                Token::Text(text) | Token::Word(text) => found.push(text),
            }
        }
        found
    }
}

impl<'t> Iterator for Tokens<'t> {
    type Item = Token<'t>;

    fn next(&mut self) -> Option<Token<'t>> {
        loop {
            let rest = self.text.get(self.at..)?;
            let first = *rest.first()?;
            match first {
                b' ' | b'\t' | b'\r' | b'\n' => self.at += 1,
                b'/' if rest.starts_with(b"//") => self.at += memchr::memchr(b'\n', rest).unwrap_or(rest.len()),
                b'"' => {
                    let length = memchr::memchr(b'"', &rest[1..]).unwrap_or(rest.len() - 1);
                    self.at += (length + 2).min(rest.len());
                    return Some(Token::Text(&rest[1..=length]));
                }
                b'(' | b')' | b'[' | b']' | b'=' | b':' | b',' | b'+' => {
                    self.at += 1;
                    return Some(Token::Sign(first));
                }
                _ => {
                    let ends = |byte: &u8| byte.is_ascii_whitespace() || b"\"()[]=:,+".contains(byte);
                    let length = rest.iter().position(ends).unwrap_or(rest.len()).max(1);
                    self.at += length;
                    return Some(Token::Word(&rest[..length]));
                }
            }
        }
    }
}

// Files on disk, with those that they include.

/// More files are not read.
const MOST_FILES: usize = 64;

/// Reads an FGD file and those that it includes, which are looked for in its folder; a file is read once. The second
/// value has a sentence for each included file that was skipped.
///
/// # Errors
/// The file itself cannot be read, or has no class with all that it includes; more classes or keys than [`Fgd::read`]
/// takes.
///
/// ```
/// let (fgd, skipped) = bspkit_game::assets::fgd::read("../../tests/game/own.fgd".as_ref())?;
/// assert!(skipped.is_empty());
/// assert!(fgd.typed_keys().any(|key| key == (b"own_jukebox", b"record", b"sound")));
/// # Ok::<(), bspkit::Error>(())
/// ```
pub fn read(path: &Path) -> Result<(Fgd, Vec<String>)> {
    let (mut fgd, mut skipped) = (Fgd::default(), Vec::new());
    let mut seen = HashSet::from([path.to_path_buf()]);
    let mut waiting: Vec<PathBuf> =
        fgd.read(&input::read(path)?)?.iter().rev().filter_map(|name| in_folder(path, name, &mut skipped)).collect();
    while let Some(next) = waiting.pop() {
        if seen.len() == MOST_FILES {
            skipped.push(format!("{} is skipped: at most {MOST_FILES} files are read", shown(&next)));
            break;
        }
        if !seen.insert(next.clone()) {
            continue;
        }
        match input::read(&next) {
            Ok(text) => {
                waiting.extend(fgd.read(&text)?.iter().rev().filter_map(|name| in_folder(&next, name, &mut skipped)))
            }
            Err(error) => skipped.push(format!("an included file is skipped: {error}")),
        }
    }
    if fgd.classes.is_empty() {
        return Err(Error::new(ErrorKind::Malformed, format!("{} has no class: it is not an FGD file", shown(path))));
    }
    fgd.files = seen.into_iter().collect();
    Ok((fgd, skipped))
}

/// The path of an included file, which does not leave the folder.
fn in_folder(from: &Path, name: &[u8], skipped: &mut Vec<String>) -> Option<PathBuf> {
    let text = std::str::from_utf8(name).ok().map(|name| name.replace('\\', "/"));
    let is_inside = |name: &String| {
        let parts = Path::new(name).components().collect::<Vec<_>>();
        !parts.is_empty() && parts.iter().all(|part| matches!(part, std::path::Component::Normal(_)))
    };
    let path = text.filter(is_inside).map(|name| from.with_file_name(name));
    if path.is_none() {
        skipped.push(format!("the included file `{}` is skipped: it is not in the folder of the first", escaped(name)));
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    fn classes(text: &[u8]) -> Vec<String> {
        let mut fgd = Fgd::default();
        fgd.read(text).unwrap();
        let mut names: Vec<_> = fgd.classes().map(|name| String::from_utf8_lossy(name).into_owned()).collect();
        names.sort();
        names
    }

    /// As the files of TrenchBroom for Quake and those for Half-Life have it.
    #[test]
    fn a_class_may_have_the_name_of_its_base_in_another_case() {
        let base = b"@BaseClass = Light [ light(integer) : \"Brightness\" ]\n";
        let class = b"@PointClass base(Light) = light : \"A light\" [ style(integer) : \"s\" ]\n";
        for text in [[&base[..], class].concat(), [&class[..], base].concat()] {
            assert_eq!(classes(&text), ["light"]);
            let mut fgd = Fgd::default();
            fgd.read(&text).unwrap();
            assert!([&b"light"[..], b"style"].iter().all(|key| fgd.keys_of(b"light").contains(*key)));
        }
        assert_eq!(classes(base), [""; 0]);
    }

    #[test]
    fn conditions_of_helpers_have_parentheses() {
        let text = b"@PointClass model({{ (spawnflags & 2) == 2 -> \":a.bsp\", \":b.bsp\" }}) base(A) = item_health []";
        assert_eq!(classes(text), ["item_health"]);
        // One that is never closed takes the rest of the file, and ends.
        assert_eq!(classes(b"@PointClass model((((( = item_health []"), [""; 0]);
    }

    #[test]
    fn a_byte_order_mark_is_not_a_part_of_the_first_class() {
        assert_eq!(classes(b"\xef\xbb\xbf@PointClass = light []\n@PointClass = lamp []"), ["lamp", "light"]);
    }
}
