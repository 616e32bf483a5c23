//! Patterns: choose the names for an edit, and find the text that each wildcard matches.

use std::ops::Range;

use super::pak::folded;

/// A pattern of names, compared as engines compare: without regard to case, `\` for `/`.
///
/// | pattern | files |
/// |---|---|
/// | `materials/my/wall.vmt` | of this name |
/// | `materials/*.vmt` | directly in this folder: `*` is any run of bytes without a slash, `?` one such byte |
/// | `materials/**` | in this folder and those in it: `**` is any run of bytes |
/// | `**/wall.vmt` | of this name in any folder, also in none |
/// | `*.vmt` | with such a last part in any folder: a wildcard, and no slash |
///
/// ```
/// use bspkit::content::pattern::Pattern;
/// assert!(Pattern::new("*.vmt").matches("Materials\\My\\Wall.VMT"));
/// assert!(!Pattern::new("materials/*.vmt").matches("materials/my/wall.vmt"));
/// assert!(Pattern::new("materials/**").matches("materials/my/wall.vmt"));
/// assert!(!Pattern::literal("*.vmt").matches("wall.vmt"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    tokens: Vec<Token>,
    /// How many of the first tokens were added and not written by the user.
    implied: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Token {
    Byte(u8),
    /// `?`
    One,
    /// `*`
    Run,
    /// `**`
    Any,
    /// `**/` at the start of a part: any folders, also none.
    Folders,
}

impl Pattern {
    /// Reads a pattern; every sequence of bytes is one.
    pub fn new(pattern: impl AsRef<[u8]>) -> Self {
        let pattern = pattern.as_ref();
        let has_wildcard = pattern.iter().any(|byte| matches!(byte, b'*' | b'?'));
        let has_slash = pattern.iter().any(|byte| folded(*byte) == b'/');
        let implied = if has_wildcard && !has_slash { vec![Token::Folders] } else { Vec::new() };
        Pattern::read(pattern, implied)
    }

    /// Reads a pattern of whole names: without a slash it matches only names without one.
    pub fn whole(pattern: impl AsRef<[u8]>) -> Self {
        Pattern::read(pattern.as_ref(), Vec::new())
    }

    /// A name: wildcards are bytes like others.
    pub fn literal(name: impl AsRef<[u8]>) -> Self {
        Pattern { tokens: name.as_ref().iter().map(|byte| Token::Byte(folded(*byte))).collect(), implied: 0 }
    }

    /// The name after `=`: such a text means exactly this name, and has no wildcards. `None` for any other text.
    ///
    /// ```
    /// use bspkit::content::pattern::Pattern;
    /// assert_eq!(Pattern::exact(b"=*lava1"), Some(&b"*lava1"[..]));
    /// assert_eq!(Pattern::exact(b"*lava1"), None);
    /// ```
    pub fn exact(text: &[u8]) -> Option<&[u8]> {
        text.strip_prefix(b"=")
    }

    fn read(mut rest: &[u8], mut tokens: Vec<Token>) -> Self {
        let implied = tokens.len();
        while let [first, tail @ ..] = rest {
            let is_at_part = matches!(tokens.last(), None | Some(Token::Folders | Token::Byte(b'/')));
            let (token, used) = match (first, tail) {
                (b'*', [b'*', slash, ..]) if is_at_part && folded(*slash) == b'/' => (Token::Folders, 3),
                (b'*', [b'*', ..]) => (Token::Any, 2),
                (b'*', _) => (Token::Run, 1),
                (b'?', _) => (Token::One, 1),
                (byte, _) => (Token::Byte(folded(*byte)), 1),
            };
            tokens.push(token);
            rest = &rest[used..];
        }
        Pattern { tokens, implied }
    }

    /// The pattern with `**` in place of each `*`, and its text; `None` if it has no `*` of its own.
    pub(crate) fn deep(pattern: &[u8]) -> Option<(Vec<u8>, Pattern)> {
        let mut text = Vec::new();
        for run in pattern.chunk_by(|one, next| (*one == b'*') == (*next == b'*')) {
            text.extend_from_slice(if run == b"*" { b"**" } else { run });
        }
        (text != pattern).then(|| (text.clone(), Pattern::whole(&text)))
    }

    /// Whether a name matches.
    pub fn matches(&self, name: impl AsRef<[u8]>) -> bool {
        self.walk(name.as_ref(), |_, _| ())
    }

    /// How many wildcards it has.
    pub fn wildcards(&self) -> usize {
        self.written().count()
    }

    /// Whether the wildcard of this number is `**/`, which matches the slash too.
    pub(crate) fn is_folders(&self, number: usize) -> bool {
        self.written().nth(number).is_some_and(|at| self.tokens[at] == Token::Folders)
    }

    /// The ranges of a matching name that the wildcards match, each as short as possible from left to right. That of
    /// `**/` includes the slash.
    ///
    /// ```
    /// use bspkit::content::pattern::Pattern;
    /// assert_eq!(Pattern::whole("e1u1/*_?").captures("e1u1/metal_1"), Some(vec![5..10, 11..12]));
    /// assert_eq!(Pattern::whole("e1u1/*").captures("e1u2/metal"), None);
    /// ```
    pub fn captures(&self, name: impl AsRef<[u8]>) -> Option<Vec<Range<usize>>> {
        let name = name.as_ref();
        let mut starts = vec![name.len(); self.tokens.len() + 1];
        let is_like = self.walk(name, |token, at| starts[token] = at);
        is_like.then(|| self.written().map(|token| starts[token]..starts[token + 1]).collect())
    }

    /// The wildcards that were written, by their tokens.
    fn written(&self) -> impl Iterator<Item = usize> {
        let tokens = self.tokens.iter().enumerate().skip(self.implied);
        tokens.filter(|(_, token)| !matches!(token, Token::Byte(_))).map(|(at, _)| at)
    }

    /// Walks along a name and reports the position where each token begins to match. A later report for a token
    /// replaces an earlier one.
    fn walk(&self, name: &[u8], mut begins: impl FnMut(usize, usize)) -> bool {
        let (mut at, mut next) = (0, 0);
        // Where to continue if the match of the last wildcard of each kind has to be longer.
        let (mut run, mut any): (Option<Retry>, Option<Retry>) = (None, None);
        loop {
            begins(next, at);
            let letter = name.get(at).map(|byte| folded(*byte));
            let is_step = match (self.tokens.get(next), letter) {
                (Some(Token::Run), _) => {
                    run = Some(Retry { at, next });
                    next += 1;
                    continue;
                }
                (Some(Token::Any | Token::Folders), _) => {
                    (any, run) = (Some(Retry { at, next }), None);
                    next += 1;
                    continue;
                }
                (None, None) => return true,
                (Some(Token::Byte(byte)), Some(letter)) => *byte == letter,
                (Some(Token::One), Some(letter)) => letter != b'/',
                (None, Some(_)) | (Some(_), None) => false,
            };
            if is_step {
                (at, next) = (at + 1, next + 1);
                continue;
            }
            let longer = run.as_mut().filter(|retry| name.get(retry.at).is_some_and(|byte| folded(*byte) != b'/'));
            let retry = match (longer, any.as_mut()) {
                (Some(retry), _) => {
                    retry.at += 1;
                    *retry
                }
                (None, Some(retry)) => {
                    run = None;
                    let folders_end = |at: &usize| folded(name[at - 1]) == b'/';
                    let is_folders = self.tokens[retry.next] == Token::Folders;
                    let mut ends = retry.at + 1..=name.len();
                    match ends.find(|at| !is_folders || folders_end(at)) {
                        Some(at) => retry.at = at,
                        None => return false,
                    }
                    *retry
                }
                (None, None) => return false,
            };
            (at, next) = (retry.at, retry.next + 1);
        }
    }
}

/// A wildcard, and the end of its match so far.
#[derive(Clone, Copy, Debug)]
struct Retry {
    at: usize,
    next: usize,
}

/// The number of `{12}`, and the length of this text in bytes.
pub(super) fn capture(text: &[u8]) -> Option<(usize, usize)> {
    let digits = text.strip_prefix(b"{")?.split(|byte| *byte == b'}').next()?;
    let is_number = !digits.is_empty() && digits.len() + 1 < text.len() && digits.iter().all(u8::is_ascii_digit);
    let number = std::str::from_utf8(digits).ok().filter(|_| is_number)?.parse().ok()?;
    Some((number, digits.len() + 2))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The meaning, in any amount of time.
    fn is_like(tokens: &[Token], name: &[u8]) -> bool {
        let Some((token, rest)) = tokens.split_first() else { return name.is_empty() };
        let slash = |at: &usize| name[at - 1] == b'/';
        match token {
            Token::Byte(byte) => name.first() == Some(byte) && is_like(rest, &name[1..]),
            Token::One => name.first().is_some_and(|byte| *byte != b'/') && is_like(rest, &name[1..]),
            Token::Run => {
                let most = name.iter().position(|byte| *byte == b'/').unwrap_or(name.len());
                (0..=most).any(|at| is_like(rest, &name[at..]))
            }
            Token::Any => (0..=name.len()).any(|at| is_like(rest, &name[at..])),
            Token::Folders => {
                is_like(rest, name) || (1..=name.len()).filter(slash).any(|at| is_like(rest, &name[at..]))
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 4000, ..ProptestConfig::default() })]

        #[test]
        fn matches_mean_what_they_say(pattern in "[ab/?*]{0,8}", name in "[ab/]{0,9}") {
            let pattern = Pattern::new(&pattern);
            prop_assert_eq!(pattern.matches(&name), is_like(&pattern.tokens, name.as_bytes()));
        }
    }

    proptest! {
        /// The pattern with each wildcard replaced by its match is the name, and each wildcard matches its part.
        #[test]
        fn captures_are_what_wildcards_stand_for(pattern in "[ab/?*]{0,8}", name in "[ab/]{0,9}") {
            let pattern = Pattern::whole(&pattern);
            let Some(found) = pattern.captures(&name) else {
                prop_assert!(!pattern.matches(&name));
                return Ok(());
            };
            prop_assert_eq!(found.len(), pattern.wildcards());
            let mut captures = found.iter();
            let mut again = Vec::new();
            for token in &pattern.tokens {
                match token {
                    Token::Byte(byte) => again.push(*byte),
                    token => {
                        let text = &name.as_bytes()[captures.next().unwrap().clone()];
                        prop_assert!(is_like(&[*token], text), "{:?}", token);
                        again.extend_from_slice(text);
                    }
                }
            }
            prop_assert_eq!(again, name.as_bytes());
        }
    }

    #[test]
    fn a_name_is_only_itself() {
        assert!(Pattern::new("Readme.txt").matches("readme.TXT"));
        assert!(!Pattern::new("readme.txt").matches("folder/readme.txt"));
        assert!(Pattern::new("**/readme.txt").matches("readme.txt"));
        assert!(Pattern::new("sound\\**").matches("sound/a/b.wav"));
        assert!(Pattern::new("*").matches("a/b/c"));
    }
}
