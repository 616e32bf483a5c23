//! `bspkit help`: the help of a command, or a topic that several commands share.

use anyhow::Result;
use bspkit::{Error, ErrorKind, near};
use clap::Command;
use clap::builder::Styles;

use super::context::Context;
use super::help::{self, help};
use super::talk::Code;

/// Print the help of a command or a topic
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit help ent set
  bspkit help selectors"
))]
pub(crate) struct Args {
    /// A command, such as `ent set`, or a topic
    #[arg(value_name = "COMMAND|TOPIC")]
    words: Vec<String>,
}

/// A name, a sentence, and the text.
type Topic = (&'static str, &'static str, fn() -> String);

/// The topics.
const TOPICS: &[Topic] = &[
    ("selectors", "Choose entities", || include_str!("topics/selectors.txt").into()),
    ("expressions", "Change values of entities", || include_str!("topics/expressions.txt").into()),
    ("queries", "Choose records and their fields", || include_str!("topics/queries.txt").into()),
    ("rules", "Rule files such as those of Stripper:Source", || include_str!("topics/rules.txt").into()),
    ("patches", "Carry an edit to another version of a map", || include_str!("topics/patches.txt").into()),
    #[cfg(feature = "script")]
    ("scripts", "Everything that scripts can call", scripts),
    ("policy", "The file for `bspkit ci`", || include_str!("topics/policy.txt").into()),
    ("layouts", "Where an edited lump goes", || include_str!("topics/layouts.txt").into()),
    ("exit-codes", "The exit status of every command", || format!("{}\n", help::EXIT_STATUS)),
];

/// The topics, for the help of the program.
pub(crate) fn list(styles: &Styles) -> String {
    let style = styles.get_header();
    let lines = TOPICS.iter().map(|(name, about, _)| format!("  {name:<11}  {about}\n"));
    let title = format!("{}Topics:{}", style.render(), style.render_reset());
    format!("{title}\n{}", lines.collect::<String>())
}

/// What scripts can call, by the sections of the reference.
#[cfg(feature = "script")]
fn scripts() -> String {
    let mut text =
        "Scripts edit maps in Rhai: `bspkit run SCRIPT MAPS`. docs/scripts.md has examples and bounds.\n".to_owned();
    let mut section = "";
    for entry in bspkit_script::reference() {
        if entry.group != section {
            section = entry.group;
            text += &format!("\n{section}:\n");
        }
        text += &format!("  {}\n      {}\n", entry.usage, help::wrapped(entry.does, 6));
    }
    text
}

pub(crate) fn run(cx: &Context, args: &Args) -> Result<Code> {
    let words = &args.words;
    if let [word] = &words[..]
        && let Some((.., text)) = TOPICS.iter().find(|(name, ..)| name.eq_ignore_ascii_case(word))
    {
        cx.talk.stdout(text().as_bytes())?;
        return Ok(Code::Done);
    }
    show(&mut help::grouped(list), words, true)
}

/// Prints the help of the command that words lead to.
fn show(command: &mut Command, words: &[String], may_be_topic: bool) -> Result<Code> {
    let [word, rest @ ..] = words else {
        return match command.print_long_help() {
            // Somebody has read enough.
            Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(Code::Done),
            done => Ok(done.map(|()| Code::Done)?),
        };
    };
    if let Some(found) = command.find_subcommand_mut(word) {
        return show(found, rest, false);
    }
    let topics = TOPICS.iter().filter(|_| may_be_topic).map(|(name, ..)| *name);
    let known: Vec<&str> = command.get_subcommands().map(Command::get_name).chain(topics).collect();
    let message = match known.contains(&word.as_str()) {
        true => format!("`{word}` is a topic, and no command follows it"),
        false if known.is_empty() => format!("{} has no command `{word}`", command.get_name()),
        false => format!("there is no command or topic `{word}`"),
    };
    let hint = if known.is_empty() { String::new() } else { near::or_all(word, &known, "there are") };
    let error = Error::new(ErrorKind::Argument, message);
    Err(if hint.is_empty() || known.contains(&word.as_str()) { error } else { error.with_hint(hint) }.into())
}

#[cfg(test)]
mod tests {
    use bspkit::content::assign::Assignment;
    use bspkit::content::entities::Entities;
    use bspkit::content::select::Selector;
    use bspkit::dialect::EntityRules;
    use bspkit::query::{FieldChange, Query};
    use bspkit_rules::{Format, Mode, Rules};
    use clap::ValueEnum;

    use super::*;

    fn text(topic: &str) -> String {
        TOPICS.iter().find(|(name, ..)| *name == topic).unwrap().2()
    }

    /// The forms of a table: what is before two spaces, in lines that begin with two.
    fn forms(text: &str) -> Vec<&str> {
        let lines = text.lines().filter_map(|line| line.strip_prefix("  ").filter(|line| !line.starts_with(' ')));
        lines.filter_map(|line| Some(line.split_once("  ")?.0)).collect()
    }

    #[test]
    fn lines_fit_the_screen() {
        for (name, ..) in TOPICS {
            let text = text(name);
            let long = text.lines().find(|line| line.chars().count() > 100);
            assert!(long.is_none(), "{name}: {long:?}");
            assert!(text.ends_with('\n') && !text.ends_with("\n\n"), "{name}");
        }
    }

    #[test]
    fn selectors_are_read() {
        let text = text("selectors");
        assert_eq!(forms(&text).len(), 15);
        for form in forms(&text) {
            form.parse::<Selector>().map(drop).unwrap_or_else(|error| panic!("{form}: {error}"));
        }
    }

    #[test]
    fn queries_and_changes_are_read() {
        let text = text("queries");
        let (queries, changes) = text.split_once("`bspkit set`").unwrap();
        assert_eq!((forms(queries).len(), forms(changes).len()), (10, 4));
        forms(queries).into_iter().for_each(|form| drop(Query::parse(form).unwrap()));
        forms(changes).into_iter().for_each(|form| drop(FieldChange::parse(form).unwrap()));
    }

    #[test]
    fn expressions_are_read() {
        let text = text("expressions");
        assert_eq!(forms(&text).len(), 7);
        for form in forms(&text) {
            form.parse::<Assignment>().map(drop).unwrap_or_else(|error| panic!("{form}: {error}"));
        }
    }

    #[test]
    fn layouts_and_extensions_are_those_that_there_are() {
        let names: Vec<String> = crate::save::LayoutName::value_variants()
            .iter()
            .filter_map(|layout| Some(layout.to_possible_value()?.get_name().to_owned()))
            .collect();
        assert_eq!(forms(&text("layouts")), names);
        let text = text("rules");
        let extensions: Vec<&str> = forms(&text).iter().flat_map(|form| form.split(", ")).collect();
        assert_eq!(extensions, [".cfg", ".ini", ".rule", ".jsonc", ".json"]);
        let rules: String = text.split_once("changes:\n\n").unwrap().1.split_once("\n\n").unwrap().0.into();
        let read = Rules::parse("r.cfg", rules.as_bytes(), Format::Stripper, Mode::Strict);
        assert_eq!(read.unwrap().rules.len(), 3);
    }

    #[test]
    fn the_patch_and_the_policy_are_read() {
        let text = text("patches");
        let (start, end) = (text.find("{\"bspkit_patch").unwrap(), text.find("\n]}\n").unwrap() + 3);
        let patch = bspkit_text::patch::read(&text.as_bytes()[start..end]).unwrap();
        assert_eq!(patch.operations.len(), 3);
        let source = "{\n\"classname\" \"worldspawn\"\n}\n{\n\"targetname\" \"door_1\"\n\"speed\" \"100\"\n}\n";
        let items = "{\n\"classname\" \"item_health\"\n}\n".repeat(2);
        let entities = Entities::parse(format!("{source}{items}").into_bytes(), EntityRules::QUAKE2).unwrap();
        assert!(patch.apply(&entities).is_ok());
        let text = self::text("policy");
        let policy = &text[text.find("[map]").unwrap()..text.find("\nEach key").unwrap()];
        bspkit_text::policy::read("bspkit.toml", policy).unwrap();
    }
}
