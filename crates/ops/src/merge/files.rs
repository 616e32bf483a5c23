//! Embedded files, by name: their content, and how they are stored.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::{Conflict, Desk, Side, Sides, Subject};
use crate::compare::filled_gaps;
use bspkit::bytes::escaped;
use bspkit::content::pak::{Entry, Method, Packed, Pak, Time, lookup_name};
use bspkit::file::Slot;
use bspkit::file::lzma::Level;
use bspkit::{Result, Rope};

/// The pakfile with the changes of both sides; where both changed a file it is ours. `None` if nothing can be merged.
pub(super) fn merge<'a>(sides: &Sides<'_, 'a>, slot: &Slot, desk: &mut Desk<'_>) -> Result<Option<Rope<'a>>> {
    let read = |bsp: &bspkit::Bsp<'a>| Pak::parse(bsp.bytes(slot.id)?);
    let (base, ours, theirs) = match (read(sides.base), read(sides.ours), read(sides.theirs)) {
        (Ok(base), Ok(ours), Ok(theirs)) if !ours.is_console() => (base, ours, theirs),
        _ => {
            desk.refuse(&slot.name, "both sides change it, and its directory cannot be edited");
            return Ok(None);
        }
    };
    if theirs.comment() != base.comment() && theirs.comment() != ours.comment() {
        desk.refuse(&slot.name, "their side changes the comment of the pakfile, and both sides change files");
    }
    let gaps = |pak, bsp: &bspkit::Bsp<'a>| -> Result<Vec<Vec<u8>>> {
        let bytes = bsp.bytes(slot.id)?;
        Ok(filled_gaps(pak, &bytes).into_iter().map(|gap| bytes[gap].to_vec()).collect())
    };
    let (before, mine, other) = (gaps(&base, sides.base)?, gaps(&ours, sides.ours)?, gaps(&theirs, sides.theirs)?);
    if other != before && other != mine {
        let what = "their side changes bytes that belong to no file of the pakfile, and both sides change files";
        desk.refuse(&slot.name, what);
    }
    let names: BTreeSet<Vec<u8>> =
        [&base, &ours, &theirs].iter().flat_map(|pak| pak.iter().map(|it| lookup_name(it.name()))).collect();
    let moved = [moved(&base, &ours), moved(&base, &theirs)];
    let settled = moves([&base, &ours, &theirs], &moved, &slot.name, desk);
    let followed = followed([&base, &ours, &theirs], &moved);
    let is_followed: BTreeSet<&Vec<u8>> = followed.values().flatten().collect();
    let mut merged = ours.clone();
    for name in names {
        if let Some(of_sides) = followed.get(&name) {
            let [before, mine, other] = [(&base, &name), (&ours, &of_sides[0]), (&theirs, &of_sides[1])]
                .map(|(pak, name)| pak.find(name).first().and_then(|index| pak.get(*index)));
            if let (Some(before), Some(mine), Some(other)) = (before, mine, other) {
                form(&mut merged, [&before, &mine, &other], false, &slot.name, desk)?;
            }
            continue;
        }
        if is_followed.contains(&name) {
            continue;
        }
        let found = [&base, &ours, &theirs].map(|pak| pak.find(&name));
        if let Some(side) = settled.get(&name) {
            let from = [&base, &ours, &theirs][*side];
            put(&mut merged, &name, all(from, &from.find(&name)).first(), found[1].is_empty())?;
            continue;
        }
        let files = [(&base, &found[0]), (&ours, &found[1]), (&theirs, &found[2])].map(|(pak, found)| all(pak, found));
        file(&mut merged, &name, &files, &slot.name, desk)?;
    }
    order(&mut merged, [&base, &ours, &theirs], &moved, &slot.name, desk)?;
    Ok(Some(merged.to_rope()?))
}

/// Merges the files of one name: what each map has of it.
fn file<'a>(
    merged: &mut Pak<'a>,
    name: &[u8],
    files: &[Vec<Entry<'_, 'a>>; 3],
    lump: &str,
    desk: &mut Desk<'_>,
) -> Result<()> {
    let [before, mine, other] = files;
    if is_alike(before, other, is_stored_alike) || is_alike(mine, other, is_stored_alike) {
        return Ok(());
    }
    let shown = escaped(name).to_string();
    let is_single = files.iter().all(|files| files.len() <= 1);
    let is_untouched = is_alike(before, mine, is_stored_alike);
    if !is_single && is_untouched {
        desk.refuse(lump, format!("their side changes `{shown}`, of which there are several"));
        return Ok(());
    }
    if is_untouched || before.is_empty() && mine.is_empty() {
        return put(merged, name, other.first(), mine.is_empty());
    }
    let [by_ours, by_theirs] = [mine, other].map(|side| !is_alike(before, side, is_equal));
    if by_ours && by_theirs && !is_alike(mine, other, is_equal) {
        let message = match (mine.is_empty(), other.is_empty()) {
            (true, _) => format!("our side removes `{shown}`, and theirs changes it"),
            (_, true) => format!("our side changes `{shown}`, and theirs removes it"),
            _ => format!("both sides change `{shown}`"),
        };
        let values = files.each_ref().map(|files| files.first().map(summary_of_files));
        let conflict = Conflict::lump(lump, message).with(Subject::File(name.to_vec()), values);
        return match desk.decide(Conflict { can_settle: is_single, ..conflict }) {
            Side::Ours => Ok(()),
            Side::Theirs => put(merged, name, other.first(), mine.is_empty()),
            Side::Base => put(merged, name, before.first(), mine.is_empty()),
        };
    }
    match (&before[..], &mine[..], &other[..]) {
        // How a file is stored does not count where the other side removes it.
        (_, [], _) => Ok(()),
        (_, _, []) => put(merged, name, None, false),
        ([before], [mine], [other]) => form(merged, [before, mine, other], by_theirs, lump, desk),
        _ => {
            desk.refuse(lump, format!("both sides change how `{shown}` is stored"));
            Ok(())
        }
    }
}

/// Something that is stored of a file besides its bytes, which edits can change.
#[derive(PartialEq)]
enum Form {
    Method(Method),
    Time(Time),
    Name(Vec<u8>),
    /// Whatever else other programs write.
    Rest([u32; 6]),
}

impl Form {
    fn of(file: &Entry<'_, '_>) -> [Form; 4] {
        let record = file.record();
        let lengths = [record.extra_length, record.comment_length].map(u32::from);
        let rest = [record.flags, record.internal_attributes, record.disk].map(u32::from);
        let rest = [lengths[0], lengths[1], rest[0], rest[1], rest[2], record.external_attributes];
        [Form::Method(file.method()), Form::Time(file.time()), Form::Name(file.name().to_vec()), Form::Rest(rest)]
    }

    /// As a value of a conflict.
    fn value(&self) -> Vec<u8> {
        match self {
            Form::Method(method) => method.to_string().into_bytes(),
            Form::Time(time) => time.to_string().into_bytes(),
            Form::Name(name) => name.clone(),
            Form::Rest(rest) => format!("extra fields, comment, flags, attributes: {rest:?}").into_bytes(),
        }
    }
}

/// Merges how a file is stored that both sides changed; their bytes count if they alone changed them.
fn form<'a>(
    merged: &mut Pak<'a>,
    files: [&Entry<'_, 'a>; 3],
    is_content_theirs: bool,
    lump: &str,
    desk: &mut Desk<'_>,
) -> Result<()> {
    let [_, mine, other] = files;
    let index = merged.one(mine.name())?;
    if is_content_theirs {
        merged.replace(index, other.data()?)?;
    }
    let forms = files.map(Form::of);
    let [before, mine, other] = &forms;
    for ((before, mine), other) in before.iter().zip(mine).zip(other) {
        if before == other || mine == other {
            continue;
        }
        let name = files[0].name();
        let unsayable = || format!("both sides change how `{}` is stored", escaped(name));
        let mut chosen = other;
        if before != mine {
            let values = [before, mine, other].map(|form| Some(form.value()));
            let conflict = Conflict::lump(lump, unsayable()).with(Subject::File(lookup_name(name)), values);
            chosen = match desk.decide(conflict) {
                Side::Ours => continue,
                Side::Theirs => other,
                Side::Base => before,
            };
        }
        let is_packed = |packed: Packed| packed.failed.is_empty();
        let is_done = match chosen {
            Form::Method(Method::Lzma) => is_packed(merged.compress(&[index], 1, Level::default())?),
            Form::Method(Method::Stored) => is_packed(merged.store(&[index], 1)?),
            Form::Time(time) => merged.set_time(&[index], *time).map(|()| true)?,
            Form::Name(name) => merged.rename(index, name).map(|()| true)?,
            Form::Method(_) | Form::Rest(_) => false,
        };
        if !is_done {
            desk.refuse(lump, unsayable());
        }
    }
    Ok(())
}

/// How many names a conflict about the order has.
const ORDER_SHOWN: usize = 20;

/// Puts the files in the order of the side that changed it.
fn order(merged: &mut Pak<'_>, paks: [&Pak<'_>; 3], moved: &[Moves; 2], lump: &str, desk: &mut Desk<'_>) -> Result<()> {
    // A file that was moved has the name that it had.
    let old: HashMap<&Vec<u8>, &Vec<u8>> = moved.iter().flatten().map(|(old, new)| (new, old)).collect();
    let names = |pak: &Pak<'_>| -> Vec<Vec<u8>> {
        let name = |file: Entry<'_, '_>| {
            let name = lookup_name(file.name());
            old.get(&name).map_or(name.clone(), |old| (*old).clone())
        };
        pak.iter().map(name).collect()
    };
    let [base, ours, theirs] = paks.map(names);
    if is_in_order(&base, &theirs) || is_in_order(&ours, &theirs) {
        return Ok(());
    }
    let mut leader = &theirs;
    if !is_in_order(&base, &ours) {
        let conflict = Conflict::lump(lump, "both sides change the order of the files");
        let first =
            |names: &Vec<Vec<u8>>| Some(names.iter().take(ORDER_SHOWN).cloned().collect::<Vec<_>>().join(&b' '));
        let values = [&base, &ours, &theirs].map(first);
        leader = match desk.decide(conflict.with(Subject::Lump, values)) {
            Side::Base => &base,
            Side::Ours => return Ok(()),
            Side::Theirs => &theirs,
        };
    }
    let (places, names) = (places(leader), names(merged));
    let mut order: Vec<usize> = (0..merged.len()).collect();
    // Files that only the other side has come last.
    order.sort_by_key(|index| places.get(&names[*index]).copied().unwrap_or(usize::MAX));
    merged.arrange(&order)
}

/// Whether the files that both have are in the same order.
fn is_in_order(one: &[Vec<u8>], other: &[Vec<u8>]) -> bool {
    let places = places(other);
    one.iter().filter_map(|name| places.get(name)).is_sorted()
}

/// The place of the first file of each name.
fn places(names: &[Vec<u8>]) -> HashMap<&Vec<u8>, usize> {
    let mut places = HashMap::with_capacity(names.len());
    names.iter().enumerate().for_each(|(at, name)| _ = places.entry(name).or_insert(at));
    places
}

/// Gives the merged pakfile a file as another one has it.
fn put<'a>(merged: &mut Pak<'a>, name: &[u8], from: Option<&Entry<'_, 'a>>, is_absent: bool) -> Result<()> {
    match from {
        None if is_absent => Ok(()),
        None => {
            let index = merged.one(name)?;
            merged.remove(&[index])
        }
        Some(file) => merged.adopt(file).map(drop),
    }
}

/// New names of files of the base, by the old names.
type Moves = BTreeMap<Vec<u8>, Vec<u8>>;

/// The files to which one side has given other names.
fn moved(base: &Pak<'_>, side: &Pak<'_>) -> Moves {
    let content = |entry: &Entry<'_, '_>| (entry.crc(), entry.size());
    // Content of several files does not tell which one was moved.
    let alone = |pak: &Pak<'_>, other: &Pak<'_>| {
        let mut known: BTreeMap<_, Option<Vec<u8>>> = BTreeMap::new();
        for entry in pak.iter() {
            let name = Some(lookup_name(entry.name())).filter(|name| other.find(name).is_empty());
            known.entry(content(&entry)).and_modify(|one| *one = None).or_insert(name);
        }
        known
    };
    let new = alone(side, base);
    let pairs = alone(base, side).into_iter().filter_map(|(content, old)| Some((old?, new.get(&content)?.clone()?)));
    pairs.collect()
}

/// Files that one side moved, and the other side removed, changed or moved elsewhere: for the names that this is about,
/// the map whose file the merged one gets.
fn moves(
    [base, ours, theirs]: [&Pak<'_>; 3],
    [mine, other]: &[Moves; 2],
    lump: &str,
    desk: &mut Desk<'_>,
) -> BTreeMap<Vec<u8>, usize> {
    let mut settled = BTreeMap::new();
    let names: BTreeSet<&Vec<u8>> = mine.keys().chain(other.keys()).collect();
    for old in names {
        let (one, two) = (mine.get(old), other.get(old));
        let files = [base, ours, theirs].map(|pak| all(pak, &pak.find(old)));
        let does = |side: &[Entry<'_, '_>]| match side {
            [] => Some("removes"),
            _ if is_alike(&files[0], side, is_equal) => None,
            _ => Some("changes"),
        };
        let (mine, other) = (does(&files[1]), does(&files[2]));
        let shown = escaped(old);
        let message = match (one.map(|name| escaped(name)), two.map(|name| escaped(name)), mine, other) {
            _ if one == two => continue,
            (Some(one), Some(two), ..) => format!("our side moves `{shown}` to `{one}`, and theirs to `{two}`"),
            (Some(one), None, _, Some(does)) => format!("our side moves `{shown}` to `{one}`, and theirs {does} it"),
            (None, Some(two), Some(does), _) => format!("our side {does} `{shown}`, and theirs moves it to `{two}`"),
            _ => continue,
        };
        let value = |pak: &Pak<'_>, name: &Vec<u8>| {
            let file = pak.get(*pak.find(name).first()?)?;
            Some([file.name(), b": ", &summary_of_files(&file)].concat())
        };
        let values = [value(base, old), value(ours, one.unwrap_or(old)), value(theirs, two.unwrap_or(old))];
        let conflict = Conflict::lump(lump, message).with(Subject::File(old.clone()), values);
        let side = match desk.decide(conflict) {
            Side::Base => 0,
            Side::Ours => 1,
            Side::Theirs => 2,
        };
        for name in [Some(old), one, two].into_iter().flatten() {
            settled.insert(name.clone(), side);
        }
    }
    settled
}

/// Files that one side moved and the other one still has with the same bytes: by the old name the names on both sides.
fn followed([base, ours, theirs]: [&Pak<'_>; 3], moved: &[Moves; 2]) -> BTreeMap<Vec<u8>, [Vec<u8>; 2]> {
    let mut followed = BTreeMap::new();
    for (is_theirs, moves) in moved.iter().enumerate() {
        let (mover, other) = if is_theirs == 0 { (ours, theirs) } else { (theirs, ours) };
        for (old, new) in moves {
            let files = [(base, old), (mover, new), (other, old)].map(|(pak, name)| all(pak, &pak.find(name)));
            // A checksum may be that of other bytes.
            let has_it = match files.each_ref().map(Vec::as_slice) {
                [[before], [moved], [now]] => is_equal(before, moved) && is_equal(before, now),
                _ => false,
            };
            if has_it && other.find(new).is_empty() {
                let names = if is_theirs == 0 { [new.clone(), old.clone()] } else { [old.clone(), new.clone()] };
                followed.insert(old.clone(), names);
            }
        }
    }
    followed
}

fn all<'p, 'a>(pak: &'p Pak<'a>, indices: &[usize]) -> Vec<Entry<'p, 'a>> {
    indices.iter().filter_map(|index| pak.get(*index)).collect()
}

/// Whether two lists have the same files.
fn is_alike(
    one: &[Entry<'_, '_>],
    other: &[Entry<'_, '_>],
    is_same: fn(&Entry<'_, '_>, &Entry<'_, '_>) -> bool,
) -> bool {
    one.len() == other.len() && one.iter().zip(other).all(|(one, other)| is_same(one, other))
}

/// Whether two files have the same bytes, however they are stored.
fn is_equal(one: &Entry<'_, '_>, other: &Entry<'_, '_>) -> bool {
    let data = || one.data().is_ok_and(|one| other.data().is_ok_and(|it| *it == *one));
    has_same_bytes(one, other) || one.size() == other.size() && data()
}

/// Whether two files are stored in the same way, with the same bytes, or with none that can be read.
fn is_stored_alike(one: &Entry<'_, '_>, other: &Entry<'_, '_>) -> bool {
    let is_unread = || one.stored().is_err() && other.stored().is_err();
    one.is_stored_as(other) && (has_same_bytes(one, other) || is_unread())
}

fn has_same_bytes(one: &Entry<'_, '_>, other: &Entry<'_, '_>) -> bool {
    let is_same = || one.stored().is_ok_and(|one| other.stored().is_ok_and(|it| *it == *one));
    one.method() == other.method() && is_same()
}

/// What a file is, as a value of a conflict.
fn summary_of_files(entry: &Entry<'_, '_>) -> Vec<u8> {
    let sum = entry.data().map_or(0, |data| crc32fast::hash(&data));
    format!("{} bytes, CRC-32 {sum:08x}", entry.size()).into_bytes()
}
