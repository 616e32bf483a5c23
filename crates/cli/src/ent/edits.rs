//! The `ent` commands that edit pairs and whole entities.

use std::ffi::OsString;

use anyhow::{Result, bail};
use bspkit::bytes::escaped;
use bspkit::content::assign::{Assigned, Assignment, Removal};
use bspkit::content::entities::{Entities, Entity, Key};
use bspkit::{Error, ErrorKind};

use super::{Choice, Which, refuse_cut};
use crate::context::{Context, NewPairs, as_text, key, unescaped};
use crate::help;
use crate::maps::MapArgs;
use crate::save::{Edited, Save};
use crate::talk::{Code, Job, count};

// `ent set`: sets, calculates and rewrites values.

/// Set, calculate and rewrite values
///
/// KEY=VALUE sets a value; a missing key is added after the other keys of the entity. KEY+=V, -=, *= and /= calculate
/// with each number of the value: with one number, or with as many as the value has (`origin*="-1 1 1"`).
/// KEY~s/OLD/NEW/ replaces the first match of a regular expression, with `g` after it all matches, with `i` in any
/// case; NEW has the groups as {1}, {2} and the whole match as {0}. In each VALUE, V and NEW, {KEY} is the value of
/// another key; write \{ for a brace. Calculations are exact, and numbers keep the way they are written. A value that
/// cannot be calculated stays as it is, with a warning.
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit ent set dm4.bsp worldspawn message=\"The Place\" -o out.bsp
  bspkit ent set dm4.bsp 'light[style=32]' light=200 _color=\"1 1 1\" --in-place --backup
  bspkit ent set dm4.bsp light 'light*=1.5' 'origin+=0 0 8' -o out.bsp
  bspkit ent set dm4.bsp '[origin]' 'origin*=-1 1 1' --strict -o mirrored.bsp
  bspkit ent set dm4.bsp '[target]' 'target~s/^p([0-9]+)$/path_{1}/i' --dry-run
  bspkit ent set dm4.bsp '[targetname]' 'message={targetname} is closed' -o out.bsp
  bspkit ent set dm4.bsp '#3' --pair angle -1 --dry-run
  bspkit ent set maps worldspawn 'message=caf\\xe9' -o edited"
))]
pub(crate) struct SetArgs {
    #[command(flatten)]
    which: Which,
    #[command(flatten)]
    pairs: NewPairs,
    /// Write nothing if a value is missing or cannot be calculated
    #[arg(long)]
    strict: bool,
    #[command(flatten)]
    save: Save,
}

pub(super) fn run_set(cx: &Context, args: &SetArgs) -> Result<Code> {
    let assignments = args.pairs.read().map_err(|error| args.which.misplaced().unwrap_or(error))?;
    args.which.edit(cx, &args.save, |entities, chosen, job| {
        assignments.iter().for_each(|assignment| warn_of_equal_keys(entities, chosen.indices, assignment, job));
        let done = entities.assign(chosen.indices, &assignments)?;
        if args.strict && done.left_in_total > 0 {
            return Err(strictly(&done).into());
        }
        warn_of_left(&done, job);
        match done.entities {
            0 if done.left_in_total > 0 => Ok(Edited::Nothing("no value was changed".to_owned())),
            0 => Ok(Edited::Nothing(format!("no value of {} matches", chosen.choice.text))),
            _ => Ok(Edited::Done),
        }
    })
}

/// The error where no value may stay.
fn strictly(done: &Assigned) -> Error {
    let first = done.left.first().map(ToString::to_string).unwrap_or_default();
    let values = count(done.left_in_total, "value stays as it is", "values stay as they are");
    Error::new(ErrorKind::Refused, format!("{values}; {first}")).with_hint("leave out --strict to change the others")
}

/// Warns of values that stay as they are: lists the first ones and counts the others.
fn warn_of_left(done: &Assigned, job: &mut Job<'_>) {
    for left in &done.left {
        if job.takes("values that stay as they are") {
            job.warn_here(&left.to_string());
        }
    }
    (done.left.len()..done.left_in_total).for_each(|_| _ = job.takes("values that stay as they are"));
}

/// Warns where a number among equal keys is also the end of another key's name.
fn warn_of_own_name(entities: &Entities<'_>, indices: &[usize], key: &Key, job: &mut Job<'_>) {
    let Some(name) = key.own_name() else { return };
    let has_both = |entity: &Entity<'_>| entity.get(&name).is_some() && entity.all(&key.name).nth(1).is_some();
    if let Some(index) = indices.iter().find(|index| entities.get(**index).is_some_and(|one| has_both(&one))) {
        job.warn_here(&format!(
            "entity #{index} has also a key that is called `{key}`; \\x23 for # in KEY means that one"
        ));
    }
}

fn warn_of_equal_keys(entities: &Entities<'_>, indices: &[usize], assignment: &Assignment, job: &mut Job<'_>) {
    let key = assignment.key();
    if key.nth.is_some() {
        return warn_of_own_name(entities, indices, key, job);
    }
    let number = |index: &usize| entities.get(*index).map_or(0, |entity| entity.all(&key.name).count());
    let several: Vec<usize> = indices.iter().filter(|index| number(index) > 1).copied().collect();
    match &several[..] {
        [] => {}
        [index] => {
            let number = number(index);
            job.warn_here(&format!(
                "entity #{index} has the key `{key}` {number} times; only the first is set; KEY#2 sets the second"
            ));
        }
        several => {
            let number = several.len();
            job.warn_here(&format!(
                "{number} entities have the key `{key}` several times; only the first is set; KEY#2 sets the second"
            ));
        }
    }
}

// `ent unset`: removes pairs.

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
pub(crate) struct UnsetArgs {
    #[command(flatten)]
    which: Which,
    /// The keys, with or without a test of their values
    #[arg(value_name = "KEY[=VALUE]", required = true)]
    keys: Vec<OsString>,
    #[command(flatten)]
    save: Save,
}

pub(super) fn run_unset(cx: &Context, args: &UnsetArgs) -> Result<Code> {
    let removals: Vec<Removal> =
        args.keys.iter().map(|key| Removal::parse(&as_text(key))).collect::<bspkit::Result<_>>()?;
    args.which.edit(cx, &args.save, |entities, chosen, job| {
        removals.iter().for_each(|removal| warn_of_own_name(entities, chosen.indices, removal.key(), job));
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

// `ent rename-key`: renames keys and keeps their values.

/// Rename a key in all its pairs; OLD#2 renames only the second of equal keys
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit ent rename-key dm4.bsp '*' _color color -o out.bsp"
))]
pub(crate) struct RenameKeyArgs {
    #[command(flatten)]
    which: Which,
    /// The old key
    #[arg(value_name = "OLD")]
    old: OsString,
    /// The new key
    #[arg(value_name = "NEW")]
    new: OsString,
    #[command(flatten)]
    save: Save,
}

pub(super) fn run_rename_key(cx: &Context, args: &RenameKeyArgs) -> Result<Code> {
    let old = key(&args.old)?;
    let new = unescaped(&args.new);
    args.which.edit(cx, &args.save, |entities, chosen, job| {
        warn_of_own_name(entities, chosen.indices, &old, job);
        let (mut renamed, mut doubled) = (0, 0);
        for index in chosen.indices {
            let mut entity = entities.get_mut(*index)?;
            let had = entity.entity().all(&new).count();
            renamed += old.rename(&mut entity, &new)?;
            // The new key may be the old one in other letters.
            doubled += usize::from(had > 0 && entity.entity().all(&new).count() > had);
        }
        if doubled > 0 {
            let entities = count(doubled, "entity has", "entities have");
            job.warn_here(&format!("{entities} the key {} more than once now", escaped(&new)));
        }
        if renamed == 0 {
            return Ok(Edited::Nothing(chosen.choice.nothing_with(&[&old], entities)));
        }
        Ok(Edited::Done)
    })
}

// `ent add`: adds an entity.

/// Add an entity after the last one, with its pairs in the given order
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit ent add dm4.bsp classname=light origin=\"0 0 64\" light=300 -o out.bsp
  bspkit ent add dm4.bsp classname=light targetname={classname}_1 -o out.bsp
  bspkit ent add maps classname=info_null --pair angle -1 -o edited"
))]
pub(crate) struct AddArgs {
    #[command(flatten)]
    maps: MapArgs,
    #[command(flatten)]
    pairs: NewPairs,
    #[command(flatten)]
    save: Save,
}

pub(super) fn run_add(cx: &Context, args: &AddArgs) -> Result<Code> {
    let pairs = Assignment::new_pairs(&args.pairs.read()?)?;
    args.save.each(cx, args.maps.find(), |draft, _, job| {
        if !pairs.iter().any(|(key, _)| key.eq_ignore_ascii_case(b"classname")) {
            job.warn_here("the new entity has no classname; games skip it or stop");
        }
        refuse_cut(draft.bsp(), job)?;
        let entities = draft.entities()?;
        if args.save.force {
            entities.for_any_engine();
        }
        entities.add(pairs.iter().map(|(key, value)| (key, value)))?;
        Ok(Edited::Done)
    })
}

// `ent dup`: copies entities.

/// Copy each selected entity; the copy follows it directly
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit ent dup dm4.bsp '#3' -o out.bsp"
))]
pub(crate) struct DupArgs {
    #[command(flatten)]
    which: Which,
    #[command(flatten)]
    save: Save,
}

pub(super) fn run_dup(cx: &Context, args: &DupArgs) -> Result<Code> {
    args.which.edit(cx, &args.save, |entities, chosen, _| {
        entities.duplicate_all(chosen.indices)?;
        Ok(Edited::Done)
    })
}

// `ent rm`: removes entities.

/// Remove entities; comments around them stay
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit ent rm dm4.bsp 'light*' -o out.bsp
  bspkit ent rm maps info_null --in-place"
))]
pub(crate) struct RmArgs {
    #[command(flatten)]
    which: Which,
    #[command(flatten)]
    save: Save,
}

pub(super) fn run_rm(cx: &Context, args: &RmArgs) -> Result<Code> {
    args.which.edit(cx, &args.save, |entities, chosen, _| {
        entities.remove_all(chosen.indices)?;
        Ok(Edited::Done)
    })
}

// `ent mv`: moves entities.

/// Move entities before or after another one
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit ent mv dm4.bsp light --after '#1' -o out.bsp"
))]
pub(crate) struct MvArgs {
    #[command(flatten)]
    which: Which,
    #[command(flatten)]
    target: Target,
    #[command(flatten)]
    save: Save,
}

#[derive(clap::Args)]
#[group(required = true, multiple = false)]
struct Target {
    /// The entity to move them before; SEL must match exactly one
    #[arg(long, value_name = "SEL")]
    before: Option<String>,
    /// The entity to move them after; SEL must match exactly one
    #[arg(long, value_name = "SEL")]
    after: Option<String>,
}

pub(super) fn run_mv(cx: &Context, args: &MvArgs) -> Result<Code> {
    let before = args.target.before.as_deref().map(Choice::parse).transpose()?;
    let after = args.target.after.as_deref().map(Choice::parse).transpose()?;
    args.which.edit(cx, &args.save, |entities, chosen, _| {
        for (target, is_before) in [(&before, true), (&after, false)] {
            let Some(target) = target else { continue };
            match (&target.of(entities)[..], is_before) {
                ([], _) => return Ok(Edited::Nothing(target.nothing(entities))),
                ([one], true) => entities.move_all_before(chosen.indices, *one)?,
                ([one], false) => entities.move_all_after(chosen.indices, *one)?,
                (several, _) => {
                    bail!("{} matches {} entities, but must match exactly one", target.text, several.len())
                }
            }
        }
        Ok(Edited::Done)
    })
}
