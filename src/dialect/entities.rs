//! How a dialect's engines read entity text: what splits it into tokens, and what some of them cannot read.

use TextEffect::{Differs, Stops, Unreadable};
use TextTrait::{
    Backslash, BackslashAtEnd, BraceAlone, EmptyClass, KeyLonger, MoreBytes, MorePairs, NoClass, SpaceBehindKey,
    TouchingBrace, ValueLonger,
};

/// How the engines of a dialect read entity text.
///
/// A text is split as the dialect's own game engine splits it; where other engines of the dialect read it in another
/// way, a [`TextRule`] says so.
///
/// ```
/// use bspkit::dialect::{QUAKE3, TextTrait};
/// assert!(QUAKE3.text.rules.iter().any(|rule| rule.what == TextTrait::MorePairs(64)));
/// ```
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct EntityRules {
    /// The name of these engines in messages: `Quake 3 engines`.
    pub engines: &'static str,
    /// How a text is split into tokens.
    pub syntax: TextSyntax,
    /// Texts that engines cannot read, or read in another way than they are written; for equal traits the worst effect
    /// comes first.
    pub rules: &'static [TextRule],
    /// Whether games find an entity by its name in letters of another case too.
    names_of_any_case: bool,
    /// Whether games find entities by their class where a name is given.
    pub classes_are_names: bool,
    /// The weakest effect for which an edit is refused.
    refused: TextEffect,
}

/// How a text is split into tokens. Strings between quotes, words and comments from `//` to the end of the line are
/// the same everywhere; a quote inside a word is a letter of it.
///
/// ```
/// use bspkit::dialect::{QUAKE, QUAKE2};
/// assert!(QUAKE.text.syntax.single_tokens.contains(&b'{'));
/// assert!(QUAKE2.text.syntax.single_tokens.is_empty());
/// ```
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct TextSyntax {
    /// Bytes that end a word and are tokens by themselves. If braces are not among them, a brace directly beside a word
    /// is a letter of it.
    pub single_tokens: &'static [u8],
    /// Whether `/* … */` outside quotes is a comment.
    pub block_comments: bool,
    /// Whether bytes from 0x80 up are blanks outside quotes, as in engines that read a signed `char`.
    pub high_blanks: bool,
    /// What a backslash escapes: the quote does not end the string. Empty where backslashes are letters.
    pub escaped: &'static [u8],
    /// The version of the entity lump from which on backslashes escape; `None` for every version.
    escapes_since: Option<i32>,
}

/// A text that some engines of a dialect cannot read, or read in another way than it is written.
///
/// ```
/// use bspkit::dialect::{GOLDSRC, TextEffect, TextTrait};
/// let rule = GOLDSRC.text.rules.iter().find(|rule| rule.what == TextTrait::ValueLonger(1023)).unwrap();
/// assert_eq!((rule.engines, rule.effect), ("GoldSrc", TextEffect::Stops));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TextRule {
    /// What the text has.
    pub what: TextTrait,
    /// The engines that this rule is about, as a message names them.
    pub engines: &'static str,
    /// What they do.
    pub effect: TextEffect,
}

/// What a [`TextRule`] is about.
///
/// ```
/// use bspkit::dialect::{SOURCE, TextTrait};
/// assert!(SOURCE.text.rules.iter().any(|rule| rule.what == TextTrait::NoClass));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TextTrait {
    /// A key of more bytes than this.
    KeyLonger(usize),
    /// A value of more bytes than this.
    ValueLonger(usize),
    /// An entity of more pairs than this.
    MorePairs(usize),
    /// An entity whose keys and values, each with a NUL after it, have more bytes than this.
    MoreBytes(usize),
    /// A key or value that is exactly `{`.
    BraceAlone,
    /// An entity without the key `classname`, in this case.
    NoClass,
    /// An entity whose class is empty.
    EmptyClass,
    /// A brace directly beside a word.
    TouchingBrace,
    /// A value that ends with a backslash.
    BackslashAtEnd,
    /// A backslash in a value that is neither `\n` nor `\\`.
    Backslash,
    /// A key that ends with a space.
    SpaceBehindKey,
}

/// What engines do with a text that a [`TextRule`] is about, from worst to mildest.
///
/// ```
/// use bspkit::dialect::TextEffect;
/// assert!(TextEffect::Unreadable < TextEffect::Differs);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum TextEffect {
    /// No engine of the dialect reads it.
    Unreadable,
    /// These engines stop, or lose something; other engines of the dialect read it.
    Stops,
    /// These engines read something other than what is written.
    Differs,
}

const fn rule(what: TextTrait, engines: &'static str, effect: TextEffect) -> TextRule {
    TextRule { what, engines, effect }
}

impl EntityRules {
    /// Quake. The syntax is id's `COM_Parse` (common.c). Keys are copied into 256 bytes and lose their last spaces
    /// (`ED_ParseEdict`); strings of the game lose the letter after a backslash (`ED_NewString`). QuakeSpasm stops at
    /// an empty class; DarkPlaces reads tokens of up to 16,383 bytes and takes a brace for a letter of the word
    /// beside it.
    pub const QUAKE: EntityRules = EntityRules {
        engines: "Quake engines",
        syntax: TextSyntax { single_tokens: b"{}()':", high_blanks: true, ..TextSyntax::PLAIN },
        rules: &[
            rule(KeyLonger(16_383), "Quake engines", Unreadable),
            rule(KeyLonger(255), "Quake and QuakeSpasm", Stops),
            rule(ValueLonger(16_383), "Quake engines", Unreadable),
            rule(ValueLonger(1023), "Quake and QuakeSpasm", Stops),
            rule(EmptyClass, "QuakeSpasm", Stops),
            rule(TouchingBrace, "DarkPlaces", Stops),
            rule(Backslash, "Quake engines", Differs),
            rule(SpaceBehindKey, "Quake engines", Differs),
        ],
        names_of_any_case: false,
        classes_are_names: false,
        refused: Stops,
    };

    /// GoldSrc. The syntax is ReHLDS `COM_Parse` (common.cpp): values of more than 1,023 bytes reach the game in
    /// pieces, keys are copied into 256 bytes and lose their last spaces (`ED_ParseEdict`). Xash3D has tokens of
    /// 2,047 bytes and 256 pairs an entity, and a backslash before a quote escapes it there (crtlib.c).
    pub const GOLDSRC: EntityRules = EntityRules {
        engines: "GoldSrc engines",
        syntax: TextSyntax { single_tokens: b"{}()':,", ..TextSyntax::PLAIN },
        rules: &[
            rule(KeyLonger(2047), "GoldSrc engines", Unreadable),
            rule(KeyLonger(255), "GoldSrc", Stops),
            rule(ValueLonger(16_383), "GoldSrc engines", Unreadable),
            rule(ValueLonger(1023), "GoldSrc", Stops),
            rule(TouchingBrace, "DarkPlaces", Stops),
            rule(BackslashAtEnd, "Xash3D", Differs),
            rule(MorePairs(256), "Xash3D", Differs),
            rule(SpaceBehindKey, "GoldSrc", Differs),
        ],
        names_of_any_case: false,
        classes_are_names: false,
        refused: Stops,
    };

    /// Quake II. The syntax is id's `COM_Parse` (q_shared.c). Its tokens have 128 bytes, those of the engines in use
    /// today 1,024, where a full buffer reads as nothing (Yamagi Quake II) or is cut (Q2PRO); keys are copied into 256
    /// bytes. Keys that begin with `_` are for tools, which read longer values.
    pub const QUAKE2: EntityRules = EntityRules {
        engines: "Quake 2 engines",
        syntax: TextSyntax { high_blanks: true, ..TextSyntax::PLAIN },
        rules: &[
            rule(KeyLonger(255), "Quake 2 engines", Unreadable),
            rule(ValueLonger(16_383), "Quake 2 engines", Unreadable),
            rule(ValueLonger(1023), "Quake II, Yamagi Quake II and Q2PRO", Stops),
        ],
        names_of_any_case: true,
        classes_are_names: false,
        refused: Stops,
    };

    /// QFusion: entities as in Quake II; comments as in Quake III and an unsigned `char` (gameshared/q_shared.c).
    pub const QFUSION: EntityRules = EntityRules {
        engines: "QFusion engines",
        syntax: TextSyntax { block_comments: true, ..TextSyntax::PLAIN },
        rules: &[
            rule(KeyLonger(255), "QFusion engines", Unreadable),
            rule(ValueLonger(16_383), "QFusion engines", Unreadable),
            rule(ValueLonger(1023), "QFusion", Stops),
        ],
        names_of_any_case: true,
        classes_are_names: false,
        refused: Stops,
    };

    /// Quake III: `COM_ParseExt` (q_shared.c), tokens of 1,023 bytes, 64 pairs and 4,096 bytes an entity
    /// (`MAX_SPAWN_VARS`, `MAX_SPAWN_VARS_CHARS` in g_local.h). DarkPlaces has tokens of 16,383 bytes and no such
    /// limits.
    pub const QUAKE3: EntityRules = EntityRules {
        engines: "Quake 3 engines",
        syntax: TextSyntax { block_comments: true, high_blanks: true, ..TextSyntax::PLAIN },
        rules: &[
            rule(KeyLonger(16_383), "Quake 3 engines", Unreadable),
            rule(KeyLonger(1023), "Quake III and ioquake3", Stops),
            rule(ValueLonger(16_383), "Quake 3 engines", Unreadable),
            rule(ValueLonger(1023), "Quake III and ioquake3", Stops),
            rule(MorePairs(64), "Quake III and ioquake3", Stops),
            rule(MoreBytes(4096), "Quake III and ioquake3", Stops),
        ],
        names_of_any_case: true,
        classes_are_names: false,
        refused: Stops,
    };

    /// Source: `MapEntity_ParseToken` (mapentities_shared.cpp), tokens of 2,047 bytes (`MAPKEY_MAXLENGTH`); the brace
    /// tests look at the token and not at its quotes. The loader stops at an entity without `classname`.
    pub const SOURCE: EntityRules = EntityRules {
        engines: "Source engines",
        syntax: TextSyntax { single_tokens: b"{}()'", high_blanks: true, ..TextSyntax::PLAIN },
        rules: &[
            rule(KeyLonger(2047), "Source engines", Unreadable),
            rule(ValueLonger(2047), "Source engines", Unreadable),
            rule(BraceAlone, "Source engines", Unreadable),
            rule(NoClass, "Source engines", Stops),
            rule(SpaceBehindKey, "Source engines", Differs),
        ],
        names_of_any_case: true,
        classes_are_names: true,
        refused: Stops,
    };

    /// Bloodlines: as [`EntityRules::SOURCE`], with `\"` for a quote in a value (observed in 3 of its maps).
    pub const BLOODLINES: EntityRules =
        EntityRules { syntax: TextSyntax { escaped: b"\"", ..Self::SOURCE.syntax }, ..Self::SOURCE };

    /// Strata: as [`EntityRules::SOURCE`]; from version 1 of the entity lump on a backslash escapes a quote and itself.
    /// Both escapes are assumed: no source and no available map shows them.
    pub const STRATA: EntityRules = EntityRules {
        syntax: TextSyntax { escaped: b"\"\\", escapes_since: Some(1), ..Self::SOURCE.syntax },
        ..Self::SOURCE
    };

    /// The same rules for an entity lump of this version.
    pub fn of_version(mut self, version: i32) -> Self {
        if self.syntax.escapes_since.is_some_and(|since| version < since) {
            self.syntax.escaped = b"";
        }
        self
    }

    /// The same rules, but an edit is refused only if no engine of the dialect could read it.
    pub fn for_any_engine(self) -> Self {
        EntityRules { refused: Unreadable, ..self }
    }

    /// Whether an edit that a rule is about is refused.
    pub(crate) fn refuses(&self, rule: &TextRule) -> bool {
        rule.effect <= self.refused
    }

    /// A name of an entity as games compare it with others: equal ones are the same name.
    ///
    /// ```
    /// use bspkit::dialect::EntityRules;
    /// assert_eq!(EntityRules::QUAKE2.as_found(b"Lamp"), b"lamp");
    /// assert_eq!(EntityRules::QUAKE.as_found(b"Lamp"), b"Lamp");
    /// ```
    pub fn as_found(&self, name: &[u8]) -> Vec<u8> {
        if self.names_of_any_case { name.to_ascii_lowercase() } else { name.to_vec() }
    }

    /// The rule of this trait.
    pub fn rule(&self, what: TextTrait) -> Option<&'static TextRule> {
        self.rules.iter().find(|rule| rule.what == what)
    }
}

impl TextSyntax {
    const PLAIN: TextSyntax =
        TextSyntax { single_tokens: b"", block_comments: false, high_blanks: false, escaped: b"", escapes_since: None };

    /// The first position in a token's content at which it could not be written: an unescaped quote, which would end
    /// it, or a last backslash, which would escape the closing quote.
    pub(crate) fn quote_in(&self, content: &[u8]) -> Option<usize> {
        let mut at = 0;
        while let Some(&byte) = content.get(at) {
            match (byte, content.get(at + 1)) {
                (b'\\', Some(next)) if self.escaped.contains(next) => at += 2,
                (b'\\', None) if !self.escaped.is_empty() => return Some(at),
                (b'"', _) => return Some(at),
                _ => at += 1,
            }
        }
        None
    }
}
