//! Adds the known name that was probably meant to an error about an unknown command, option or value.

use bspkit::near;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Command, Error};

/// More valid values are listed only if none is close.
const MOST_LISTED: usize = 30;

/// Adds close names to an error in the arguments of a command.
pub(crate) fn suggest(error: &mut Error, program: &Command, command: &Command) {
    let (unknown, suggested) = match error.kind() {
        ErrorKind::InvalidSubcommand => (ContextKind::InvalidSubcommand, ContextKind::SuggestedSubcommand),
        ErrorKind::UnknownArgument => (ContextKind::InvalidArg, ContextKind::SuggestedArg),
        ErrorKind::InvalidValue => (ContextKind::InvalidValue, ContextKind::SuggestedValue),
        _ => return,
    };
    let Some(ContextValue::String(name)) = error.get(unknown) else { return };
    let known: Vec<String> = match (error.kind(), error.get(ContextKind::ValidValue)) {
        (ErrorKind::InvalidSubcommand, _) => command.get_subcommands().map(|it| it.get_name().to_owned()).collect(),
        (ErrorKind::InvalidValue, Some(ContextValue::Strings(values))) => values.clone(),
        _ => {
            let options = command.get_arguments().chain(program.get_arguments()).filter(|it| !it.is_hide_set());
            options.filter_map(|it| Some(format!("--{}", it.get_long()?))).collect()
        }
    };
    let (count, close) = (known.len(), near(name, known));
    if !close.is_empty() {
        if count > MOST_LISTED {
            error.remove(ContextKind::ValidValue);
        }
        error.insert(suggested, ContextValue::Strings(close));
    }
}
