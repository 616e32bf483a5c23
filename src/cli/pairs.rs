//! `KEY=VALUE` and `--pair KEY VALUE`: the pairs of an edit, in the order of the arguments.

use std::ffi::{OsStr, OsString};

use anyhow::Result;
use bspkit::bytes::unescape;
use bspkit::content::assign::Assignment;
use bspkit::content::entities::Key;
use clap::builder::OsStringValueParser;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};

/// Reads `KEY` or `KEY#2`.
pub(crate) fn key(text: &OsStr) -> Result<Key> {
    Ok(Key::parse(&as_text(text))?)
}

/// An argument as text: bytes that are not UTF-8 become escapes.
pub(crate) fn as_text(argument: &OsStr) -> String {
    let mut text = String::new();
    for chunk in argument.as_encoded_bytes().utf8_chunks() {
        text.push_str(chunk.valid());
        let backslashes = text.len() - text.trim_end_matches('\\').len();
        // A backslash that is alone would take the one of the escape with it.
        if !chunk.invalid().is_empty() && backslashes % 2 == 1 {
            text.push('\\');
        }
        text.extend(chunk.invalid().iter().map(|byte| format!("\\x{byte:02x}")));
    }
    text
}

/// Replaces escapes by their bytes. The argument need not be UTF-8.
pub(crate) fn unescaped(argument: &OsStr) -> Vec<u8> {
    unescape(&as_text(argument))
}

/// The pairs of an edit, as they are given.
pub(crate) struct NewPairs(Vec<NewPair>);

enum NewPair {
    Assignment(OsString),
    Literal(OsString, OsString),
}

impl NewPairs {
    /// Reads them.
    pub(crate) fn read(&self) -> Result<Vec<Assignment>> {
        let read = |pair: &NewPair| match pair {
            NewPair::Assignment(text) => Assignment::parse(&as_text(text)),
            NewPair::Literal(key, value) => Ok(Assignment::literal(unescaped(key), unescaped(value))),
        };
        Ok(self.0.iter().map(read).collect::<bspkit::Result<_>>()?)
    }
}

impl Args for NewPairs {
    fn augment_args(command: Command) -> Command {
        command
            .arg(
                Arg::new("pairs")
                    .value_name("KEY=VALUE")
                    .help("The key and its value; KEY#2 is the second of equal keys; \\xNN \\n \\\\ are escapes")
                    .num_args(1..)
                    .action(ArgAction::Append)
                    .required_unless_present("pair")
                    .value_parser(OsStringValueParser::new()),
            )
            .arg(
                Arg::new("pair")
                    .long("pair")
                    .value_names(["KEY", "VALUE"])
                    .help("A key and its value as they are, for a key that is empty, contains `=` or ends like `#2`")
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
        let words = |name| matches.get_many::<OsString>(name).into_iter().flatten().cloned();
        let short = places("pairs").zip(words("pairs").map(NewPair::Assignment));
        let long: Vec<OsString> = words("pair").collect();
        let long = long.chunks_exact(2).map(|pair| NewPair::Literal(pair[0].clone(), pair[1].clone()));
        let mut pairs: Vec<(usize, NewPair)> = short.chain(places("pair").step_by(2).zip(long)).collect();
        pairs.sort_by_key(|(place, _)| *place);
        Ok(NewPairs(pairs.into_iter().map(|(_, pair)| pair).collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}
