//! Lumps as a whole: decompressed once, with the numbers in their records; their place, their form, and how much of
//! the engine's limits they use.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use super::finding::{
    At, BSPX_DIRECTORY, COUNT_MISFIT, FILE_CUT, GAME_DIRECTORY, LIMIT, LUMP_COMPRESSION, LUMP_DECOMPRESS, LUMP_EMPTY,
    LUMP_IN_HEADER, LUMP_MISFIT, LUMP_OUTSIDE, LUMP_OVERLAP, LUMP_RAGGED, LUMP_UNCHECKED, LUMP_UNKNOWN, LUMP_VERSION,
    PAK_DIRECTORY, Sink,
};
use bspkit::bytes::{ByteOrder, Data, amount, wide, word};
use bspkit::content::entities::Entities;
use bspkit::content::pak::Pak;
use bspkit::dialect::{Checks, Engine, Form, Limit, Role, Row, Spawn, Unit, Whose};
use bspkit::file::{Bounds, SegmentKind, Slot, SlotId};
use bspkit::links::{Content, Links};
use bspkit::{Bsp, Detection, Records};

// The lumps of a map for the checks: bytes decompressed once, with the known form of their content, and the numbers in
// records by the names of their fields.

/// How much is decompressed for a check: a few bytes of a hostile map can decompress to many.
const MOST_DECOMPRESSED: usize = 64 << 20;

/// A slot and its content.
pub(super) struct Lump<'a> {
    pub(super) slot: &'a Slot,
    pub(super) name: &'a str,
    /// Little-endian, if the content is known.
    pub(super) bytes: Data<'a>,
    pub(super) row: Result<&'static Row, String>,
    /// The reason why its number of records is wrong, if it certainly is.
    pub(super) misfit: Option<String>,
    /// Whether a lump from which its struct is detected cannot be read.
    pub(super) is_unread: bool,
    /// Whether its struct does not follow from its own proof.
    pub(super) is_guess: bool,
    /// The records, list by list.
    pub(super) lists: Vec<Records<'a>>,
    pub(super) state: State,
}

/// How far the content of a lump could be read.
pub(super) enum State {
    Read,
    /// Its lists do not fit.
    Malformed(String),
    /// It does not decompress.
    Packed(String),
    /// It was left out, as it would take too much memory, with the lumps before it or with all of them.
    TooLarge(String),
    /// It was left out, as nothing depends on it.
    NotWanted,
}

impl<'a> Lump<'a> {
    fn new(slot: &'a Slot, detection: Detection, bytes: Data<'a>, state: State) -> Self {
        let Detection { row, likely, misfit, is_unread, .. } = detection;
        let row = likely.map_or(row, Ok);
        let (lists, state) = match (&row, state) {
            (Ok(row), State::Read) => match Records::lists(slot, row, bytes.clone()) {
                Ok(lists) => (lists, State::Read),
                Err(why) => (Vec::new(), State::Malformed(why.to_string())),
            },
            (_, state) => (Vec::new(), state),
        };
        Lump { slot, name: &slot.name, bytes, row, misfit, is_unread, is_guess: likely.is_some(), lists, state }
    }

    /// A lump that is not read.
    fn left_out(slot: &'a Slot, why: &str) -> Self {
        let (row, lists, bytes) = (Err(why.to_owned()), Vec::new(), Data::from(Vec::new()));
        let (misfit, is_unread, is_guess, state) = (None, false, false, State::NotWanted);
        Lump { slot, name: &slot.name, bytes, row, misfit, is_unread, is_guess, lists, state }
    }

    /// The records, if the lump is an array of them; an empty one has none.
    fn array(&self) -> Option<&Records<'a>> {
        self.lists.first().filter(|records| records.list().is_empty())
    }
}

/// All lumps of a map.
pub(super) struct Lumps<'a> {
    pub(super) bsp: &'a Bsp<'a>,
    pub(super) all: Vec<Lump<'a>>,
}

impl<'a> Lumps<'a> {
    /// Reads the lumps that are wanted; others have no bytes.
    pub(super) fn read(bsp: &'a Bsp<'a>, is_wanted: impl Fn(&Slot) -> bool) -> Self {
        let bomb = bsp.check_total_size().err().map(|error| error.to_string());
        let mut room = MOST_DECOMPRESSED;
        let all = bsp.slots().iter().map(|slot| {
            if !is_wanted(slot) {
                return Lump::left_out(slot, "it is not looked at");
            }
            let unpacked = bsp.memory_to_decompress(slot.id);
            let too_large = match &bomb {
                _ if unpacked == 0 => None,
                Some(why) => Some(why.clone()),
                None if unpacked <= room => None,
                None => Some(format!(
                    "with its {unpacked} bytes more than {MOST_DECOMPRESSED} would be decompressed for a check"
                )),
            };
            let detection = bsp.detection(slot);
            if let Some(why) = too_large {
                return Lump::new(slot, detection, Data::from(Vec::new()), State::TooLarge(why));
            }
            room -= unpacked;
            let bytes = match detection.likely {
                Some(row) => bsp.bytes(slot.id).map(|bytes| little_endian(bsp, row, bytes)),
                None => bsp.little_endian(slot.id),
            };
            match bytes {
                Ok(bytes) => Lump::new(slot, detection, bytes, State::Read),
                Err(error) => Lump::new(slot, detection, Data::from(Vec::new()), State::Packed(error.to_string())),
            }
        });
        Lumps { bsp, all: all.collect() }
    }

    /// The references between the records that could be read.
    pub(super) fn links(&self) -> Links<'a> {
        let mut all = self.all.iter();
        Links::among(self.bsp, |slot| {
            let Some(lump) = all.next().filter(|lump| matches!(lump.state, State::Read)) else { return Ok(None) };
            match &lump.row {
                Ok(row) if slot.length != 0 || row.record().is_some() => {
                    Ok(Some(Content { row, lists: lump.lists.clone(), bytes: lump.bytes.clone() }))
                }
                Err(why) if slot.length != 0 => Err(why.clone()),
                _ => Ok(None),
            }
        })
    }

    pub(super) fn checks(&self) -> &'static Checks {
        self.bsp.dialect().checks
    }

    pub(super) fn lump(&self, name: &str) -> Option<&Lump<'a>> {
        self.all.iter().find(|lump| lump.name == name)
    }

    /// The lump of a role, or its substitute if it is left out.
    pub(super) fn role_lump(&self, role: Role) -> Option<&Lump<'a>> {
        let lump = self.all.get(self.bsp.dialect().role(role)?)?;
        self.referred(lump.name).or(Some(lump))
    }

    /// The target of numbers that refer to a lump: the lump, or its substitute if it is left out. `None` if there is
    /// neither.
    pub(super) fn referred(&self, name: &str) -> Option<&Lump<'a>> {
        self.lump(self.bsp.referred(name)?)
    }

    /// The records of a lump that is an array of them; an empty lump has no records.
    pub(super) fn named(&self, name: &str) -> Option<&Records<'a>> {
        self.lump(name)?.array()
    }

    /// The records of a role's lump.
    pub(super) fn role(&self, role: Role) -> Option<&Records<'a>> {
        self.role_lump(role)?.array()
    }
}

/// The bytes of a lump as a row describes it, with numbers little-endian.
fn little_endian<'a>(bsp: &Bsp<'_>, row: &Row, bytes: Data<'a>) -> Data<'a> {
    if bsp.byte_order() == ByteOrder::Little {
        return bytes;
    }
    let mut bytes = bytes.to_vec();
    row.byte_swap(&mut bytes, ByteOrder::Big);
    Data::from(bytes)
}

/// `first..first + count` if that is a range below `len`; an empty range may be anywhere.
pub(super) fn range(first: i64, count: i64, len: usize) -> Option<std::ops::Range<usize>> {
    let count = usize::try_from(count).ok()?;
    if count == 0 {
        return Some(0..0);
    }
    let first = usize::try_from(first).ok()?;
    let end = first.checked_add(count)?;
    (end <= len).then_some(first..end)
}

// Lumps as a whole: their place in the file, how they are stored, and whether they have the right form.

pub(super) fn check_structure(lumps: &Lumps<'_>, sink: &mut Sink) {
    // Of edits that are not placed yet the places mean nothing.
    let is_placed = !lumps.bsp.container().has_pending();
    let is_cut = is_placed && check_cut(lumps, sink);
    for lump in &lumps.all {
        if is_placed {
            check_place(lumps, lump, is_cut, sink);
        }
        check_compression(lumps, lump, sink);
        check_content(lump, sink);
    }
    // No compressed lump of it is read, here or by any command.
    if let Err(error) = lumps.bsp.check_total_size() {
        sink.add(&LUMP_DECOMPRESS, At::default(), || error.to_string());
    }
    check_unknown(lumps, sink);
    if is_placed {
        check_overlaps(lumps, sink);
        check_bspx(lumps, sink);
    }
    check_versions(lumps, sink);
    check_directories(lumps, sink);
    for name in lumps.checks().required {
        // If it names bytes outside of the file, that is already a finding.
        let is_empty = |lump: &&Lump<'_>| lump.slot.length == 0;
        if let Some(lump) = lumps.lump(name).filter(is_empty) {
            sink.add(&LUMP_EMPTY, At::lump(lump.name), || "it is empty, and engines refuse a map without it".into());
        }
    }
}

/// Whether the file was cut short: all lumps from one place on pass its end, and the first of them begins where the
/// file ends or before. If only one lump had a wrong offset or length, other lumps would be after it or where it
/// begins, or there would be room for it elsewhere in the file.
fn check_cut(lumps: &Lumps<'_>, sink: &mut Sink) -> bool {
    // Padding that compilers write between lumps: up to a sector.
    const MOST_PADDING: u64 = 2048;
    let size = wide(lumps.bsp.container().bytes().len());
    let top = || lumps.all.iter().map(|lump| lump.slot).filter(|slot| slot.is_top_level());
    let number = |number: i32| u64::try_from(number).unwrap_or(0);
    let cut = || top().filter(|slot| is_past_the_end(slot));
    let Some(first) = cut().map(|slot| number(slot.offset)).min() else { return false };
    let end = cut().map(|slot| number(slot.offset) + number(slot.length)).max().unwrap_or(size);
    let is_after = |slot: &Slot| slot.bounds == Bounds::Inside && number(slot.offset) > first;
    let is_there = |slot: &Slot| (wide(slot.stored.start)..wide(slot.stored.end)).contains(&first);
    let is_inside = |slot: &&Slot| slot.bounds == Bounds::Inside && !slot.stored.is_empty();
    if first > size + MOST_PADDING || top().any(is_after) || top().filter(is_inside).any(is_there) {
        return false;
    }
    if let (Some(only), 1) = (cut().next(), cut().count()) {
        let mut places: Vec<Range<usize>> = top().filter(is_inside).map(|slot| slot.stored.clone()).collect();
        places.sort_unstable_by_key(|place| place.start);
        let mut free = lumps.bsp.container().shape().header_size();
        let mut has_room = |place: &Range<usize>| {
            let room = place.start.saturating_sub(free);
            free = free.max(place.end);
            wide(room) >= number(only.length)
        };
        if places.iter().any(&mut has_room) {
            return false;
        }
    }
    sink.add(&FILE_CUT, At::default(), || {
        let (missing, lumps) = (end - size, cut().count());
        let lumps = if lumps == 1 { "1 lump".to_owned() } else { format!("{lumps} lumps") };
        format!("the file was cut short: it ends at {size}, and {missing} bytes of {lumps} are missing; get it again")
    });
    true
}

fn is_past_the_end(slot: &Slot) -> bool {
    matches!(slot.bounds, Bounds::Overrun | Bounds::Outside)
}

fn check_place(lumps: &Lumps<'_>, lump: &Lump<'_>, is_cut: bool, sink: &mut Sink) {
    let slot = lump.slot;
    if slot.bounds.is_damaged() && !(is_cut && is_past_the_end(slot)) {
        let size = lumps.bsp.container().bytes().len();
        sink.add(&LUMP_OUTSIDE, At::lump(lump.name), || {
            format!("it {}: {} bytes at {} of {size}", slot.bounds, slot.length, slot.offset)
        });
    }
    let header = lumps.bsp.container().shape().header_size();
    if !slot.stored.is_empty() && slot.stored.start < header {
        sink.add(&LUMP_IN_HEADER, At::lump(lump.name), || {
            format!("it begins at {}, within the {header} bytes of the header", slot.stored.start)
        });
    }
}

fn check_compression(lumps: &Lumps<'_>, lump: &Lump<'_>, sink: &mut Sink) {
    let at = At::lump(lump.name);
    match &lump.state {
        State::Packed(why) => return sink.add(&LUMP_DECOMPRESS, at, || why.clone()),
        State::TooLarge(why) => sink.add(&LUMP_UNCHECKED, at, || format!("it was not decompressed: {why}")),
        State::Malformed(_) | State::Read | State::NotWanted => {}
    }
    if let Some(oddity) = lumps.bsp.compression_oddity(lump.slot.id) {
        sink.add(&LUMP_COMPRESSION, at, || format!("it {oddity}"));
    }
}

fn check_content(lump: &Lump<'_>, sink: &mut Sink) {
    let at = At::lump(lump.name);
    if let State::Malformed(why) = &lump.state {
        sink.add(&LUMP_MISFIT, at, || why.clone());
    }
    if let Some(why) = &lump.misfit {
        sink.add(&COUNT_MISFIT, at, || why.clone());
    }
    let Ok(Form::Array(record)) = lump.row.as_ref().map(|row| row.form) else { return };
    let (len, size) = (lump.bytes.len(), record.size);
    if len % size != 0 {
        sink.add(&LUMP_RAGGED, at.offset(len - len % size), || {
            format!("its {len} bytes are not a multiple of {size}, the size of a {}", record.name)
        });
    }
}

/// Lumps without a known layout are notes. Lumps that no known layout fits are warnings: a game may have changed the
/// layout, or they are broken. If one lump does not fit, others that depend on it are not known either, for the same
/// reason.
fn check_unknown(lumps: &Lumps<'_>, sink: &mut Sink) {
    let dialect = lumps.bsp.dialect();
    let mut reasons: Vec<&str> = Vec::new();
    for lump in lumps.all.iter().filter(|lump| !lump.bytes.is_empty()) {
        let Err(why) = &lump.row else { continue };
        // BSPX entries and extra lumps are known by their names alone.
        if !matches!(lump.slot.id, SlotId::Lump(_) | SlotId::Game(_)) {
            continue;
        }
        // Counts that fit no layout are a fault, whatever the game.
        let member = dialect.checks.members.iter().find(|(name, _)| *name == lump.name);
        let (version, order) = (lump.slot.version.unwrap_or(0), lumps.bsp.byte_order());
        if let Some(why) = member.and_then(|(_, fits)| fits(version, &lump.bytes, order).err()) {
            sink.add(&COUNT_MISFIT, At::lump(lump.name), || why);
            continue;
        }
        let mut rows = dialect.rows_of(lump.name);
        let is_foreign = rows.clone().any(|row| matches!(row.form, Form::Opaque(opaque) if opaque == why));
        let is_first = !reasons.contains(&why.as_str());
        let is_misfit = !is_foreign && is_first && !lump.is_unread && rows.any(|row| row.proof.is_some());
        let code = if is_misfit { &LUMP_MISFIT } else { &LUMP_UNKNOWN };
        sink.add(code, At::lump(lump.name), || why.clone());
        if is_misfit {
            reasons.push(why);
        }
    }
}

/// The directories within lumps: of the game lump, which has another layout in some games, and of the pakfile.
fn check_directories(lumps: &Lumps<'_>, sink: &mut Sink) {
    let opaque = lumps.bsp.dialect().opaque_game_lumps;
    for lump in &lumps.all {
        let pinned = lumps.bsp.container().pinned(lump.slot.id);
        if let Some(why) = pinned.filter(|why| !opaque.iter().any(|(_, known)| known == why)) {
            sink.add(&GAME_DIRECTORY, At::lump(lump.name), || why.to_owned());
        }
    }
    // A pakfile that runs past the end of the file has lost its directory; that is already a finding.
    let pak = lumps.role_lump(Role::Pak).filter(|lump| !lump.bytes.is_empty() && !lump.slot.bounds.is_damaged());
    if let Some((lump, error)) = pak.and_then(|lump| Some((lump, Pak::parse(lump.bytes.clone()).err()?))) {
        sink.add(&PAK_DIRECTORY, At::lump(lump.name), || error.to_string());
    }
}

/// A block whose directory cannot be read is ignored by readers.
fn check_bspx(lumps: &Lumps<'_>, sink: &mut Sink) {
    let container = lumps.bsp.container();
    if lumps.all.iter().any(|lump| matches!(lump.slot.id, SlotId::Bspx(_))) {
        return;
    }
    for segment in container.segments().iter().filter(|segment| segment.kind == SegmentKind::Bspx) {
        let bytes = container.bytes().get(segment.range.clone()).unwrap_or_default();
        let start = bytes.windows(4).take(4).position(|window| window == b"BSPX").unwrap_or(0);
        let count = word(bytes, start + 4).filter(|count| *count != 0);
        if let Some(count) = count {
            let at = segment.range.start;
            sink.add(&BSPX_DIRECTORY, At::default().offset(at), || {
                format!("the BSPX block at {at} states {count} entries, and they cannot be read")
            });
        }
    }
}

/// Versions of lumps that no engine reads.
fn check_versions(lumps: &Lumps<'_>, sink: &mut Sink) {
    for (name, known) in lumps.checks().versions {
        let Some(lump) = lumps.lump(name).filter(|lump| lump.slot.length > 0) else { continue };
        if let Some(version) = lump.slot.version.filter(|version| !known.contains(version)) {
            sink.add(&LUMP_VERSION, At::lump(lump.name), || {
                format!("its version is {version}, and engines read {} to {}", known.start(), known.end())
            });
        }
    }
}

fn check_overlaps(lumps: &Lumps<'_>, sink: &mut Sink) {
    let top = lumps.all.iter().filter(|lump| lump.slot.is_top_level() && !lump.slot.stored.is_empty());
    let mut sorted: Vec<&Lump<'_>> = top.collect();
    sorted.sort_by_key(|lump| (lump.slot.stored.start, lump.slot.stored.end));
    let mut last: Option<&Lump<'_>> = None;
    for lump in sorted {
        let (start, end) = (lump.slot.stored.start, lump.slot.stored.end);
        // Two entries for the same bytes are legal.
        let is_other = |before: &&Lump<'_>| before.slot.stored.end > start && before.slot.stored != lump.slot.stored;
        if let Some(before) = last.filter(is_other) {
            let shared = before.slot.stored.end.min(end) - start;
            sink.add(&LUMP_OVERLAP, At::lump(lump.name), || format!("it shares {shared} bytes with {}", before.name));
        }
        if last.is_none_or(|before| before.slot.stored.end < end) {
            last = Some(lump);
        }
    }
}

// The engine's limits, and how much of them a map uses.

/// How much of a limit a map uses: [`usage`].
///
/// ```
/// let map = bspkit::Bsp::open("../../tests/maps/q2/own_rooms.bsp")?;
/// let usages = bspkit_ops::check::usage(&map, map.dialect().engine_by_name("quake2")?);
/// assert!(usages.iter().all(|usage| usage.percent() < 3.0));
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Usage {
    /// The limit.
    pub limit: &'static Limit,
    /// What the map has, in the limit's unit.
    pub count: usize,
    /// How many of these may not count: it is not known.
    pub unsure: usize,
    /// The size of a unit in bytes, if all units have one size: of a record, or of a byte.
    pub unit_bytes: Option<usize>,
}

impl Usage {
    /// What the map has, in words: `2100 entities in the game at once`.
    pub(crate) fn amount(&self) -> String {
        let Usage { limit, count, unsure, .. } = *self;
        match count.saturating_sub(unsure) {
            _ if unsure == 0 => format!("{count} {}", limit.unit),
            sure if sure > limit.most => format!("at least {sure} {}", limit.unit),
            sure => format!("{sure} to {count} {} (which classes count is not known of all)", limit.unit),
        }
    }

    /// The used part of the limit, in percent.
    pub fn percent(&self) -> f64 {
        100.0 * amount(self.count) / amount(self.limit.most.max(1))
    }
}

/// Compares what the map has with the engine's limits.
pub(super) fn check_limits(
    lumps: &Lumps<'_>,
    engine: Option<&'static Engine>,
    entities: Option<&Entities<'_>>,
    sink: &mut Sink,
) {
    if let Some(engine) = engine {
        check_these(lumps, engine, engine.limits.iter(), entities, sink);
    }
}

/// As [`check_limits`], with some of the engine's limits.
pub(super) fn check_these(
    lumps: &Lumps<'_>,
    engine: &'static Engine,
    limits: impl Iterator<Item = &'static Limit>,
    entities: Option<&Entities<'_>>,
    sink: &mut Sink,
) {
    // A kind of entities has at most all of them.
    let may_be_over = |limit: &&Limit| match limit.unit {
        Unit::InGame | Unit::OfClass(_) | Unit::Values(_) => entities.is_some_and(|all| all.len() > limit.most),
        _ => true,
    };
    for usage in counted(lumps, limits.filter(may_be_over), entities).filter(|it| it.count > it.limit.most) {
        let limit = usage.limit;
        sink.add(&LIMIT, At::lump(limit.lump), || {
            let has = format!("it has {}", usage.amount());
            match limit.whose {
                Whose::Compiler => format!("{has}; compilers for {} accept {}", engine.title, limit.most),
                Whose::Game(file) => {
                    format!("{has}; {} has room for {} if {file} does not say more", engine.title, limit.most)
                }
                _ if limit.unit == Unit::InGame => format!("{has}; {} has room for {}", engine.title, limit.most),
                _ => format!("{has}; {} accepts {}", engine.title, limit.most),
            }
        });
    }
}

/// The limits of an engine, in the order of its table, with what the map has of each. Limits of lumps that the map does
/// not have, or that cannot be read, are left out.
///
/// ```
/// use bspkit::Bsp;
/// use bspkit_ops::check;
/// let map = Bsp::open("../../tests/maps/q2/own_rooms.bsp")?;
/// let engine = map.dialect().engine_by_name("quake2")?;
/// let usages = check::usage(&map, engine);
/// let entities = usages.iter().find(|usage| usage.limit.most == 2_048).unwrap();
/// assert_eq!(entities.count, 20);
/// # Ok::<(), bspkit::Error>(())
/// ```
pub fn usage(bsp: &Bsp<'_>, engine: &'static Engine) -> Vec<Usage> {
    let lumps = Lumps::read(bsp, |_| true);
    let text = lumps.role_lump(Role::Entities).filter(|lump| !lump.bytes.is_empty());
    let entities = text.and_then(|text| Entities::parse(text.bytes.clone(), bsp.entity_rules()).ok());
    counted(&lumps, engine.limits.iter(), entities.as_ref()).collect()
}

/// The number of entities that take a place, in the game mode with the most, and of how many of them that is not known.
/// The first entity is the world, which has a place of its own.
fn in_game(spawn: &Spawn, entities: &Entities<'_>) -> (usize, usize) {
    let modes = (spawn.mode_flags.len() + spawn.mode_keys.len()).max(1);
    let (mut kept, mut unsure) = (vec![0; modes], 0);
    // Most entities are of few classes, and of that of the one before.
    let mut classes: HashMap<Option<&[u8]>, [bool; 3]> = HashMap::new();
    let mut last = None;
    for entity in entities.iter().skip(1) {
        let class = entity.class();
        let is = |names: &[&str]| class.is_some_and(|class| names.iter().any(|name| is_class(class, name)));
        let of_class = match last {
            Some((other, of_class)) if other == class => of_class,
            _ => *classes.entry(class).or_insert_with(|| {
                let is_unsure = spawn.known.is_some_and(|known| !is(known));
                [is(spawn.removed), is(spawn.removed_without_name), is_unsure]
            }),
        };
        last = Some((class, of_class));
        let [is_removed, is_removed_without_name, is_unsure] = of_class;
        let has_name = || entity.get("targetname").is_some_and(|name| !name.is_empty());
        if is_removed || (is_removed_without_name && !has_name()) {
            continue;
        }
        unsure += usize::from(is_unsure);
        let flags = entity.get("spawnflags").map_or(0, leading_integer);
        let by_flag = spawn.mode_flags.iter().map(|bit| flags & bit != 0);
        let by_key = spawn.mode_keys.iter().map(|key| entity.get(key).is_some_and(|value| leading_integer(value) != 0));
        let mut left_out = by_flag.chain(by_key);
        for mode in &mut kept {
            *mode += usize::from(!left_out.next().unwrap_or(false));
        }
    }
    (kept.into_iter().max().unwrap_or(0), unsure)
}

/// Whether a class has a name, in any case; a name that ends with `*` is that of all classes that begin so.
fn is_class(class: &[u8], name: &str) -> bool {
    match name.strip_suffix('*') {
        Some(start) => class.get(..start.len()).is_some_and(|own| own.eq_ignore_ascii_case(start.as_bytes())),
        None => class.eq_ignore_ascii_case(name.as_bytes()),
    }
}

/// The number at the start of a value, as `atoi` reads it; 0 without one.
fn leading_integer(value: &[u8]) -> i64 {
    let text = value.trim_ascii_start();
    let sign = usize::from(matches!(text.first(), Some(b'-' | b'+')));
    let end = text[sign..].iter().position(|byte| !byte.is_ascii_digit()).map_or(text.len(), |end| sign + end);
    std::str::from_utf8(&text[..end]).ok().and_then(|text| text.parse().ok()).unwrap_or(0)
}

fn counted<'a>(
    lumps: &'a Lumps<'_>,
    limits: impl Iterator<Item = &'static Limit> + 'a,
    entities: Option<&'a Entities<'_>>,
) -> impl Iterator<Item = Usage> + 'a {
    limits.filter_map(move |limit| {
        let lump = lumps.lump(limit.lump)?;
        let mut unsure = 0;
        let count = match limit.unit {
            Unit::Records => lumps.named(limit.lump).map(|records| records.len()),
            Unit::Bytes => Some(lumps.bsp.size(lump.slot)),
            Unit::Entities => entities.map(Entities::len),
            Unit::InGame => entities.map(|entities| {
                let (count, of_these) = in_game(&lumps.bsp.dialect().checks.spawn, entities);
                unsure = of_these;
                count
            }),
            Unit::Values(key) => entities.map(|entities| {
                let values = entities.iter().filter_map(|entity| entity.get(key)).filter(|value| !value.is_empty());
                values.collect::<HashSet<_>>().len()
            }),
            Unit::OfClass(class) => entities
                .map(|entities| entities.iter().filter(|entity| entity.class() == Some(class.as_bytes())).count()),
            Unit::FaceEdges => lumps.named(limit.lump).and_then(|faces| {
                let [counts] = faces.columns(["edge_count"]).ok()?;
                (0..faces.len()).filter_map(|face| usize::try_from(counts.get(face)).ok()).max()
            }),
            // A count that does not fit the lump is another fault.
            Unit::Textures => {
                let count = word(&lump.bytes, 0).and_then(|count| usize::try_from(count).ok());
                count.filter(|count| *count <= lump.bytes.len() / 4)
            }
        };
        let unit_bytes = match limit.unit {
            Unit::Records => lumps.named(limit.lump).map(|records| records.info().size),
            Unit::Bytes => Some(1),
            _ => None,
        };
        Some(Usage { limit, count: count?, unsure, unit_bytes })
    })
}
