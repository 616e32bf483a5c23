//! `ent unset`: removes pairs.

use std::ffi::OsString;

use anyhow::Result;
use bspkit::content::assign::Removal;

use super::select::Which;
use crate::cli::context::Context;
use crate::cli::help;
use crate::cli::pairs::as_text;
use crate::cli::save::{Edited, Save};
use crate::cli::talk::Code;

/// Remove all pairs of a key, or those with certain values
///
/// KEY removes all pairs of this key, and KEY#2 only the second of equal keys. KEY=VALUE removes the pairs with this
/// value. The tests of selectors can be used too: `KEY^=` (starts with), `KEY$=` (ends with), `KEY*=` (contains),
/// `KEY~/re/i` (matches a regular expression; `i` ignores case), `KEY>2`, `<`, `>=`, `<=` (if the value is one number).
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit ent unset dm4.bsp worldspawn message -o out.bsp
  bspkit ent unset dm4.bsp '*' _color _minlight --in-place --backup=.old
  bspkit ent unset dm4.bsp light light=200 'target~/^old_/i' -o out.bsp"
))]
pub(crate) struct Args {
    #[command(flatten)]
    which: Which,
    /// The keys, with or without a test of their values
    #[arg(value_name = "KEY[=VALUE]", required = true)]
    keys: Vec<OsString>,
    #[command(flatten)]
    save: Save,
}

pub(super) fn run(cx: &Context, args: &Args) -> Result<Code> {
    let removals: Vec<Removal> =
        args.keys.iter().map(|key| Removal::parse(&as_text(key))).collect::<bspkit::Result<_>>()?;
    args.which.edit(cx, &args.save, |entities, chosen, job| {
        let removed = entities.remove_pairs(chosen.indices, &removals)?;
        let missing = removals.iter().zip(&removed).filter(|(_, removed)| **removed == 0);
        let missing: Vec<&Removal> = missing.map(|(removal, _)| removal).collect();
        let shown: Vec<_> = missing.iter().map(|removal| format!("`{removal}`")).collect();
        // Of a key with a test, the value is what is missing.
        let keys = missing.iter().map(|removal| (removal.key(), removal.to_string()));
        let keys: Vec<_> = keys.filter(|(key, text)| key.to_string() == *text).map(|(key, _)| key).collect();
        let what = || chosen.choice.without(&shown.join(" or "), &keys, entities);
        if missing.len() == removals.len() {
            return Ok(Edited::Nothing(what()));
        }
        if !missing.is_empty() {
            job.warn_here(&what());
        }
        Ok(Edited::Done)
    })
}
