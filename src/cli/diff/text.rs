//! A difference as text: the counts, one line for each lump, and the differences of each lump.

use bspkit::bytes::escaped;
use bspkit::op::compare::{Change, Comparison, Kind, LumpChanges, TextChange};

use super::Difference;
use crate::cli::show::{count, shown};
use crate::cli::talk::Job;

/// How many lumps that moved are named.
const NAMED: usize = 5;
/// How many distances of lumps that moved are listed.
const DISTANCES: usize = 10;
/// Longer lines of embedded text are cut off, in characters.
const MOST_OF_LINE: usize = 160;

pub(super) fn print(difference: &Difference<'_>, job: &mut Job<'_>) {
    let (pair, found) = (difference.pair, difference.found);
    if difference.is_same() {
        if !job.many || job.talk.verbose {
            let (old, new) = (shown(pair.old), shown(pair.new));
            job.say(&match difference.is_partial {
                true => format!("nothing that was compared differs between {old} and {new}"),
                false => format!("{old} and {new} are the same"),
            });
        }
        return;
    }
    job.line(format!("{} -> {}: {}", shown(pair.old), shown(pair.new), summary(difference)));
    dialects(difference, job);
    let all: Vec<&LumpChanges> = found.lumps.iter().filter(|lump| has_content(lump)).collect();
    if pair.args.stat {
        stat(&all, job);
    } else {
        let (counted, others): (Vec<_>, Vec<_>) = all.into_iter().partition(|lump| !lump.touched.is_empty());
        counted.iter().for_each(|lump| section(lump, job));
        forms(&others, job);
    }
    places(difference, job);
}

/// Whether a change is that of a place: no program reads the offset of an empty lump.
fn is_place(change: &Change) -> bool {
    match change {
        Change::Place(..) => true,
        Change::Word(word) => word.name == "offset",
        _ => false,
    }
}

/// Whether anything but the place of a lump differs.
fn has_content(lump: &LumpChanges) -> bool {
    lump.more > 0 || lump.changes.iter().any(|change| !is_place(change))
}

/// What differs, in one line.
fn summary(difference: &Difference<'_>) -> String {
    let found = difference.found;
    let (touched, moved) = (found.touched(), found.moved());
    let mut parts = Vec::new();
    if !touched.is_empty() {
        parts.push(touched.to_string());
    }
    let others = || found.lumps.iter().filter(|lump| lump.touched.is_empty() && has_content(lump));
    let is_part = |lump: &&LumpChanges| matches!(lump.kind, Kind::Header | Kind::Gaps);
    match others().filter(|lump| !is_part(lump)).count() {
        0 => {}
        forms => parts.push(format!("{} in another form", count(forms, "lump", "lumps"))),
    }
    parts.extend(others().filter(is_part).map(form));
    if moved > 0 {
        parts.push(format!("{} moved", count(moved, "lump", "lumps")));
    } else if let empty @ 1.. = empty(found) {
        parts.push(format!("{} of empty lumps", count(empty, "offset", "offsets")));
    }
    if parts.is_empty() {
        parts.push("nothing that can be compared differs".to_owned());
    }
    if let Some(files) = &found.files {
        parts.push(sizes(files.sizes));
    }
    parts.join("; ")
}

/// How many empty lumps have another offset.
fn empty(found: &Comparison) -> usize {
    let words = found.lumps.iter().flat_map(|lump| &lump.changes);
    words.filter(|change| is_place(change) && !matches!(change, Change::Place(..))).count()
}

/// A size before and after.
fn sizes((old, new): (usize, usize)) -> String {
    if old == new { format!("{new} bytes") } else { format!("{old} -> {new} bytes") }
}

/// What could not be compared of maps of two dialects.
fn dialects(difference: &Difference<'_>, job: &mut Job<'_>) {
    let Some(files) = difference.found.files.as_ref().filter(|files| files.dialects.0 != files.dialects.1) else {
        return;
    };
    let [old, new] = difference.titles;
    let skipped: Vec<&str> = files.skipped.iter().map(String::as_str).collect();
    let skipped = if skipped.is_empty() { String::new() } else { format!("; not compared: {}", list(&skipped, job)) };
    job.line(format!("a map of {old} and one of {new}: only lumps of the same form are compared{skipped}"));
}

/// One line for each lump.
fn stat(lumps: &[&LumpChanges], job: &mut Job<'_>) {
    let width = lumps.iter().map(|lump| lump.lump.chars().count()).max().unwrap_or(0);
    let what: Vec<String> = lumps.iter().map(|lump| counts(lump)).collect();
    let counted = what.iter().map(String::len).max().unwrap_or(0);
    for (lump, what) in lumps.iter().zip(what) {
        job.line(format!("  {:width$}  {what:counted$}  {}", lump.lump, sizes(lump.sizes)));
    }
}

/// What differs in a lump, counted.
fn counts(lump: &LumpChanges) -> String {
    let LumpChanges { touched, hows, .. } = lump;
    let kinds = hows.to_string();
    match (touched.is_empty(), kinds.contains(", ") || hows.changed == 0) {
        (true, _) => form(lump),
        (false, true) if !kinds.is_empty() => format!("{touched} ({kinds})"),
        (false, _) => touched.to_string(),
    }
}

/// The changes of a lump that has the same content: of its version, its compression, a word, padding.
fn form(lump: &LumpChanges) -> String {
    let changes = lump.changes.iter().filter(|change| !is_place(change));
    changes.map(|change| line(change, &lump.lump)).collect::<Vec<_>>().join("; ")
}

/// Lumps that have the same content in another form. Those with the same changes are on one line.
fn forms(lumps: &[&LumpChanges], job: &mut Job<'_>) {
    if !lumps.is_empty() {
        job.line("");
    }
    let mut known: Vec<(String, Vec<&str>)> = Vec::new();
    for lump in lumps {
        let form = form(lump);
        match known.iter_mut().find(|(other, _)| *other == form) {
            Some((_, names)) => names.push(&lump.lump),
            None => known.push((form, vec![&lump.lump])),
        }
    }
    for (form, names) in known {
        job.line(format!("{}: {form}", list(&names, job)));
    }
}

/// The first names, and how many more there are.
fn list(names: &[&str], job: &Job<'_>) -> String {
    let most = if job.talk.verbose { names.len() } else { NAMED };
    let named = names.iter().take(most).copied().collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(most) {
        0 => named,
        more => format!("{named} and {more} more"),
    }
}

/// A change without the name of its lump.
fn line(change: &Change, lump: &str) -> String {
    let line = change.line(lump).to_string();
    line.strip_prefix(lump).and_then(|rest| rest.strip_prefix(": ")).map_or(line.clone(), str::to_owned)
}

/// The differences of a lump.
fn section(lump: &LumpChanges, job: &mut Job<'_>) {
    let LumpChanges { lump: name, changes, more, .. } = lump;
    job.line("");
    job.line(format!("{name}: {}, {}", counts(lump), sizes(lump.sizes)));
    for change in changes.iter().filter(|change| !is_place(change)) {
        job.line(format!("  {}", line(change, name)));
        if let Change::File(file) = change {
            file.text.iter().for_each(|text| lines(text, job));
        }
    }
    if *more > 0 {
        let how = if job.talk.verbose { "" } else { " (-v lists them)" };
        job.line(format!("  … and {more} more{how}"));
    }
}

/// Lines of an embedded file that differ.
fn lines(text: &TextChange, job: &mut Job<'_>) {
    for hunk in &text.hunks {
        job.line(format!("    @@ -{} +{} @@", hunk.at.0 + 1, hunk.at.1 + 1));
        for (sign, line) in hunk.old.iter().map(|line| ('-', line)).chain(hunk.new.iter().map(|line| ('+', line))) {
            let mut line = escaped(line).to_string();
            if let Some((end, _)) = line.char_indices().nth(MOST_OF_LINE) {
                line.truncate(end);
                line.push('…');
            }
            job.line(format!("    {sign}{line}"));
        }
    }
    if text.more > 0 {
        job.line(format!("    … in all {} added, {} removed", count(text.added, "line", "lines"), text.removed));
    }
}

/// The lumps that moved, by distance.
fn places(difference: &Difference<'_>, job: &mut Job<'_>) {
    let found = difference.found;
    let moved: Vec<(&str, usize, usize)> = found
        .lumps
        .iter()
        .flat_map(|lump| {
            lump.changes.iter().filter_map(|change| match change {
                Change::Place(old, new) => Some((&*lump.lump, *old, *new)),
                _ => None,
            })
        })
        .collect();
    let empty = empty(found);
    if moved.is_empty() && empty == 0 {
        return;
    }
    if !difference.pair.args.stat {
        job.line("");
    }
    let indent = if difference.pair.args.stat { "  " } else { "" };
    let empty = match empty {
        0 => String::new(),
        empty => format!(", {} of empty lumps", count(empty, "offset", "offsets")),
    };
    job.line(format!("{indent}places: {} moved{empty}", count(moved.len(), "lump", "lumps")));
    if difference.pair.args.stat {
        return;
    }
    if job.talk.verbose {
        moved.iter().for_each(|(lump, old, new)| job.line(format!("  {lump} from {old} to {new}")));
        return;
    }
    let mut distances: Vec<(String, Vec<&str>)> = Vec::new();
    for (lump, old, new) in moved {
        let distance = if old < new { format!("+{}", new - old) } else { format!("-{}", old - new) };
        match distances.iter_mut().find(|(known, _)| *known == distance) {
            Some((_, lumps)) => lumps.push(lump),
            None => distances.push((distance, vec![lump])),
        }
    }
    for (distance, lumps) in distances.iter().take(DISTANCES) {
        job.line(format!("  {distance} bytes: {}", list(lumps, job)));
    }
    let rest: usize = distances.iter().skip(DISTANCES).map(|(_, lumps)| lumps.len()).sum();
    if rest > 0 {
        job.line(format!("  … and {rest} more (-v lists them)"));
    }
}
