//! The command lines of other programs, for the scripts that call them: each verb is translated to a command of this
//! program, by a table. The translation alone is here; the commands do the work.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use anyhow::Result;
use bspkit::near;

use super::context::Context;
use super::save::bad_argument;
use super::talk::Code;
use template::Values;

pub(crate) mod bspzip;
pub(crate) mod ripent;
mod template;

/// A program whose command lines are understood.
struct Tool {
    name: &'static str,
    verbs: &'static [Verb],
    options: &'static [Plain],
    /// Whether several verbs may be given together, and several maps.
    combines: bool,
}

/// A verb, and the command that it is translated to.
struct Verb {
    /// Its words, as `-repack -compress`.
    name: &'static str,
    /// The operands in order; the command has them in the places of these words.
    operands: &'static [&'static str],
    command: &'static str,
}

impl Verb {
    /// Whether this is one of its words.
    fn has(&self, word: &str) -> bool {
        self.name.split(' ').any(|own| own == word)
    }
}

/// An option, in any place of the command line.
struct Plain {
    name: &'static str,
    has_value: bool,
    does: Does,
}

/// What an option does here.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Does {
    Nothing,
    /// Nothing, and the notice says why.
    Notice(&'static str),
    Verbose,
    Threads,
    /// It is the second word of a verb.
    Verb,
}

/// The command line of this program, if it was called by the name of another program, or that program's name is its
/// first word. A `--` keeps the verbs from being taken for options.
pub(crate) fn called(mut arguments: Vec<OsString>) -> Vec<OsString> {
    let tool = |name: &OsStr| TOOLS.iter().map(|tool| tool.name).find(|own| name.eq_ignore_ascii_case(own));
    let program = arguments.first().and_then(|path| Path::new(path).file_stem()).and_then(tool);
    if let Some(name) = program {
        arguments.insert(1, name.into());
    }
    if arguments.get(1).and_then(|word| tool(word)).is_some() {
        match arguments.get(2).and_then(|word| word.to_str()) {
            Some("-h" | "--help" | "-help" | "-?" | "/?") => arguments[2] = "--help".into(),
            _ => arguments.insert(2, "--".into()),
        }
    }
    arguments
}

const TOOLS: [&Tool; 2] = [&bspzip::TOOL, &ripent::TOOL];

impl Tool {
    /// Runs a command line of the program.
    fn run(&self, cx: &Context, words: &[OsString]) -> Result<Code> {
        let Parsed { verbs, operands, options } = self.parse(words)?;
        let mut extra: Vec<OsString> = Vec::new();
        let mut is_verbose = cx.talk.verbose;
        extra.extend(cx.talk.quiet.then(|| "--quiet".into()));
        extra.extend(cx.options.jobs.map(|jobs| format!("--jobs={jobs}").into()));
        for (option, value) in options {
            match (option.does, value) {
                (Does::Notice(why), _) if !cx.talk.quiet => {
                    cx.talk.stderr(format!("{} has no effect: {why}\n", option.name).as_bytes());
                }
                (Does::Verbose, _) => is_verbose = true,
                (Does::Threads, Some(value)) => extra.extend(["--jobs".into(), value.clone()]),
                _ => {}
            }
        }
        extra.extend(is_verbose.then(|| "--verbose".into()));
        let mut code = Code::Done;
        for map in operands.chunks(if self.combines { 1 } else { operands.len() }) {
            for verb in &verbs {
                let values = Values { names: verb.operands, given: map };
                let mut line = vec![OsString::from("bspkit")];
                line.extend(template::fill(cx, verb.command, &values)?);
                if is_verbose {
                    let shown: Vec<_> = line.iter().map(|word| word.to_string_lossy()).collect();
                    cx.talk.stderr(format!("{}\n", shown.join(" ")).as_bytes());
                }
                line.extend(extra.iter().cloned());
                code = code.max(super::call(&line));
                if code >= Code::Failed {
                    return Ok(code);
                }
            }
        }
        Ok(code)
    }

    fn parse<'w>(&self, words: &'w [OsString]) -> Result<Parsed<'w>> {
        let mut parsed = Parsed { verbs: Vec::new(), operands: Vec::new(), options: Vec::new() };
        let mut names: Vec<&str> = Vec::new();
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let text = word.to_string_lossy();
            if let Some(option) = self.options.iter().find(|option| text.eq_ignore_ascii_case(option.name)) {
                let value = if option.has_value { words.next() } else { None };
                if option.has_value && value.is_none() {
                    return Err(self.wrong(format!("{} needs a value", option.name)));
                }
                match option.does {
                    Does::Verb => names.push(option.name),
                    _ => parsed.options.push((option, value)),
                }
            } else if let Some(verb) = self.verbs.iter().find(|verb| text.eq_ignore_ascii_case(verb.name)) {
                names.push(verb.name);
            } else if text.starts_with('-') && text.len() > 1 {
                return Err(self.unknown(&text));
            } else {
                parsed.operands.push(word.clone());
            }
        }
        parsed.verbs = self.verbs(&names)?;
        let Some(verb) = parsed.verbs.first() else { return Err(self.wrong("no verb is given".to_owned())) };
        let (wanted, given) = (verb.operands.len(), parsed.operands.len());
        if given != wanted && !(self.combines && given > 0) {
            let line = [&[verb.name], verb.operands].concat().join(" ");
            let what = format!("{} takes {}, and {given} were given", verb.name, verb.operands.join(" "));
            return Err(bad_argument(what, &format!("the line is {} {line}", self.name)));
        }
        Ok(parsed)
    }

    /// The verbs of these words: one, or several if they can be combined.
    fn verbs(&self, names: &[&str]) -> Result<Vec<&'static Verb>> {
        if self.combines {
            // In the order of the table.
            return Ok(self.verbs.iter().filter(|verb| names.contains(&verb.name)).collect());
        }
        let has = |verb: &&Verb| verb.name.split(' ').count() == names.len() && names.iter().all(|own| verb.has(own));
        match (names, self.verbs.iter().find(has)) {
            ([], _) => Ok(Vec::new()),
            (_, Some(verb)) => Ok(vec![verb]),
            (_, None) => Err(self.wrong(format!("{} do not go together", names.join(" and ")))),
        }
    }

    fn unknown(&self, word: &str) -> anyhow::Error {
        let lower = word.to_ascii_lowercase();
        let verbs = self.verbs.iter().map(|verb| verb.name);
        let close = near(&lower, verbs.chain(self.options.iter().map(|option| option.name)));
        let message = format!("{} has no {word}", self.name);
        match close.is_empty() {
            true => self.wrong(message),
            false => bad_argument(message, &format!("did you mean {}?", close.join(" or "))),
        }
    }

    fn wrong(&self, message: String) -> anyhow::Error {
        let lines = self.verbs.iter().map(|verb| [&[self.name, verb.name], verb.operands].concat().join(" "));
        bad_argument(message, &format!("its lines are\n{}", lines.collect::<Vec<_>>().join("\n")))
    }

    /// The table of the help: the command lines, each with the command that it is translated to.
    fn table(&self) -> String {
        let lines = self.verbs.iter().map(|verb| {
            let line = [&[self.name, verb.name], verb.operands].concat().join(" ");
            format!("  {line}\n      bspkit {}", verb.command)
        });
        lines.collect::<Vec<_>>().join("\n")
    }
}

/// The parts of a command line.
struct Parsed<'w> {
    verbs: Vec<&'static Verb>,
    operands: Vec<OsString>,
    options: Vec<(&'static Plain, Option<&'w OsString>)>,
}
