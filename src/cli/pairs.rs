//! `KEY=VALUE` and `--pair KEY VALUE`: the pairs of an edit, in the order of the arguments.

use std::ffi::{OsStr, OsString};

use anyhow::{Result, anyhow};
use bspkit::bytes::{escaped, unescape};
use bspkit::content::entities::Entity;
use clap::builder::{OsStringValueParser, TypedValueParser};
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};

/// A key, or one of several equal keys of an entity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Key {
    pub(crate) name: Vec<u8>,
    /// The number among equal keys, from 1.
    pub(crate) nth: Option<usize>,
}

/// A key and its new value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NewPair {
    pub(crate) key: Key,
    pub(crate) value: Vec<u8>,
}

impl Key {
    /// Reads `KEY` or `KEY#2`.
    pub(crate) fn parse(text: &OsStr) -> Result<Self> {
        Key::from_bytes(text.as_encoded_bytes())
    }

    fn from_bytes(text: &[u8]) -> Result<Self> {
        let digits = text.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
        let (name, number) = text.split_at(text.len() - digits);
        match (name.strip_suffix(b"#"), std::str::from_utf8(number)) {
            (Some(name), Ok(number)) if digits > 0 => match number.parse() {
                Ok(nth @ 1..) => Ok(Key { name: unescaped(name), nth: Some(nth) }),
                _ => Err(anyhow!("equal keys are counted from 1")),
            },
            _ => Ok(Key { name: unescaped(text), nth: None }),
        }
    }

    /// The values of this key in an entity.
    pub(crate) fn values<'e>(&self, entity: &Entity<'e>) -> Vec<&'e [u8]> {
        let all = entity.pairs().filter(|pair| pair.key.eq_ignore_ascii_case(&self.name)).map(|pair| pair.value);
        match self.nth {
            None => all.collect(),
            Some(nth) => all.skip(nth - 1).take(1).collect(),
        }
    }

    /// The key for messages.
    pub(crate) fn shown(&self) -> String {
        let nth = self.nth.map(|nth| format!("#{nth}")).unwrap_or_default();
        format!("`{}{nth}`", escaped(&self.name))
    }
}

impl NewPair {
    /// Reads `KEY=VALUE`.
    fn parse(text: &OsStr) -> Result<Self> {
        let text = text.as_encoded_bytes();
        match text.iter().position(|byte| *byte == b'=') {
            None => Err(anyhow!("it has no `=`: write KEY=VALUE")),
            Some(0) => Err(anyhow!("there is no key before the `=`; --pair '' VALUE sets the empty key")),
            Some(at) if looks_like_an_operator(&text[..at]) => {
                let key = escaped(&text[..at]);
                Err(anyhow!("the key `{key}` looks like an operator; --pair '{key}' VALUE sets a key of this name"))
            }
            Some(at) => Ok(NewPair { key: Key::from_bytes(&text[..at])?, value: unescaped(&text[at + 1..]) }),
        }
    }

    fn literal(key: &OsStr, value: &OsStr) -> Self {
        let name = unescaped(key.as_encoded_bytes());
        NewPair { key: Key { name, nth: None }, value: unescaped(value.as_encoded_bytes()) }
    }
}

/// Whether a key looks like an operator, as in `health*=2` or `message~s/a=b/c/`. There are no such operators, and no
/// game has such keys.
fn looks_like_an_operator(key: &[u8]) -> bool {
    matches!(key.last(), Some(b'*' | b'+' | b'-')) || key.windows(3).any(|part| part == b"~s/")
}

/// Replaces escapes by their bytes. The argument need not be UTF-8.
pub(crate) fn unescaped(text: &[u8]) -> Vec<u8> {
    let parts = text.utf8_chunks().map(|chunk| [&unescape(chunk.valid())[..], chunk.invalid()].concat());
    parts.collect::<Vec<_>>().concat()
}

/// The pairs of an edit.
pub(crate) struct NewPairs(pub(crate) Vec<NewPair>);

impl Args for NewPairs {
    fn augment_args(command: Command) -> Command {
        let parser = OsStringValueParser::new().try_map(|text: OsString| {
            // clap prints only the outermost message of an error.
            NewPair::parse(&text).map_err(|error| error.to_string())
        });
        command
            .arg(
                Arg::new("pairs")
                    .value_name("KEY=VALUE")
                    .help("The key and its value; KEY#2 is the second of equal keys; \\xNN \\n \\\\ are escapes")
                    .num_args(1..)
                    .action(ArgAction::Append)
                    .required_unless_present("pair")
                    .value_parser(parser),
            )
            .arg(
                Arg::new("pair")
                    .long("pair")
                    .value_names(["KEY", "VALUE"])
                    .help("The same for a key that is empty, contains `=` or ends like `#2`")
                    .num_args(2)
                    .action(ArgAction::Append)
                    .allow_hyphen_values(true)
                    .value_parser(OsStringValueParser::new()),
            )
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for NewPairs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let places = |name| matches.indices_of(name).into_iter().flatten();
        let short = places("pairs").zip(matches.get_many::<NewPair>("pairs").into_iter().flatten().cloned());
        let words: Vec<&OsString> = matches.get_many("pair").into_iter().flatten().collect();
        let long = words.chunks_exact(2).map(|pair| NewPair::literal(pair[0], pair[1]));
        let mut pairs: Vec<(usize, NewPair)> = short.chain(places("pair").step_by(2).zip(long)).collect();
        pairs.sort_by_key(|(place, _)| *place);
        Ok(NewPairs(pairs.into_iter().map(|(_, pair)| pair).collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}
