//! Independent readers, one for each engine, written down from the engines' tokenizers: a byte loop and no grammar.

use bspkit::dialect::EntityRules;

/// What an engine does with bytes outside quotes; `escapes` says what a backslash in quotes makes a letter.
pub(crate) struct Engine {
    pub(crate) rules: EntityRules,
    blank: fn(u8) -> bool,
    single: &'static [u8],
    block_comments: bool,
    escapes: &'static [u8],
}

/// `char` is signed: bytes from 0x80 up are less than a space.
fn signed(byte: u8) -> bool {
    byte <= 32 || byte >= 128
}

fn unsigned(byte: u8) -> bool {
    byte <= 32
}

const SINGLE: &[u8] = b"{}()'";

const fn engine(rules: EntityRules, blank: fn(u8) -> bool, single: &'static [u8]) -> Engine {
    Engine { rules, blank, single, block_comments: false, escapes: b"" }
}

/// `COM_Parse` of Quake, ReHLDS and Quake II, `COM_ParseExt` of Quake III and QFusion, `MapEntity_ParseToken` of the
/// Source SDK, and that with escapes.
pub(crate) const ENGINES: [Engine; 8] = [
    engine(EntityRules::QUAKE, signed, b"{}()':"),
    engine(EntityRules::GOLDSRC, unsigned, b"{}()':,"),
    engine(EntityRules::QUAKE2, signed, b""),
    Engine { block_comments: true, ..engine(EntityRules::QUAKE3, signed, b"") },
    Engine { block_comments: true, ..engine(EntityRules::QFUSION, unsigned, b"") },
    engine(EntityRules::SOURCE, signed, SINGLE),
    Engine { escapes: b"\"", ..engine(EntityRules::BLOODLINES, signed, SINGLE) },
    Engine { escapes: b"\"\\", ..engine(EntityRules::STRATA, signed, SINGLE) },
];

pub(crate) type Pairs = Vec<(Vec<u8>, Vec<u8>)>;

/// What an engine reads. Where it stops, the reading goes on as the library does.
#[derive(Default)]
pub(crate) struct Read {
    pub(crate) entities: Vec<Pairs>,
    pub(crate) stops: bool,
}

impl Engine {
    /// The next token behind `at`: its content, whether it stood in quotes, and where it ends.
    fn token<'t>(&self, text: &'t [u8], mut at: usize) -> Option<(&'t [u8], bool, usize)> {
        loop {
            let rest = text.get(at..).filter(|rest| !rest.is_empty())?;
            let line = || rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
            let block = || rest.windows(2).skip(2).position(|two| two == b"*/").map_or(rest.len(), |end| end + 4);
            match rest {
                [first, ..] if (self.blank)(*first) => at += 1,
                [b'/', b'/', ..] => at += line(),
                [b'/', b'*', ..] if self.block_comments => at += block(),
                _ => break,
            }
        }
        let rest = &text[at..];
        if rest[0] == b'"' {
            let mut end = 1;
            while end < rest.len() && rest[end] != b'"' {
                let is_escape = rest[end] == b'\\' && rest.get(end + 1).is_some_and(|next| self.escapes.contains(next));
                end += if is_escape { 2 } else { 1 };
            }
            return Some((&rest[1..end], true, at + end + 1));
        }
        let ends = |byte: &u8| (self.blank)(*byte) || self.single.contains(byte);
        let len = rest[1..].iter().position(ends).map_or(rest.len(), |end| end + 1);
        let len = if self.single.contains(&rest[0]) { 1 } else { len };
        Some((&rest[..len], false, at + len))
    }

    /// All entities of a lump.
    pub(crate) fn read(&self, lump: &[u8]) -> Read {
        let text = lump.split(|byte| *byte == 0).next().unwrap();
        let (mut read, mut at, mut is_open, mut key) = (Read::default(), 0, false, None::<Vec<u8>>);
        while let Some((token, is_quoted, end)) = self.token(text, at) {
            at = end;
            let opens = token == b"{" && !is_quoted;
            match token.first() {
                Some(b'{') if !is_open || opens => {
                    read.stops |= is_open;
                    (is_open, key) = (true, None);
                    read.entities.push(Vec::new());
                }
                _ if !is_open => read.stops = true,
                Some(b'}') if key.is_none() || !is_quoted => {
                    read.stops |= key.is_some();
                    (is_open, key) = (false, None);
                }
                first => match key.take() {
                    Some(key) => {
                        read.stops |= first == Some(&b'}');
                        read.entities.last_mut().unwrap().push((key, token.to_vec()));
                    }
                    None => key = Some(token.to_vec()),
                },
            }
        }
        read.stops |= is_open;
        read
    }
}
