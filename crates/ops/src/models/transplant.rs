//! Records of one map put into another one: after all that are there, so that no number there changes.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::copy::{Graph, Named, Needed, Shares, by_bytes, is_shared, left_out, named, refused};
use super::outside::Outside;
use bspkit::bytes::short;
use bspkit::dialect::{Each, Role, Unit, Whose};
use bspkit::file::SlotId;
use bspkit::links::{How, Link};
use bspkit::record::{Meaning, Order, Shape};
use bspkit::{Bsp, Hint, Result};

/// Models on their way from one map to another.
pub(super) struct Transplant<'t, 'a, 'b> {
    pub(super) from: &'t Bsp<'a>,
    pub(super) to: &'t Bsp<'b>,
    pub(super) theirs: &'t Graph<'t, 'a>,
    pub(super) own: &'t Graph<'t, 'b>,
    pub(super) models: usize,
    pub(super) needed: Needed,
    pub(super) shares: Shares,
    /// The list of the target for each list of the other map.
    pub(super) sites: BTreeMap<usize, usize>,
    /// The new numbers of records.
    pub(super) places: HashMap<(usize, usize), usize>,
    /// The new records of each list of the target, and how many there are.
    pub(super) added: BTreeMap<usize, Vec<u8>>,
    pub(super) warnings: Vec<String>,
}

impl Transplant<'_, '_, '_> {
    /// Finds the lists of the target.
    pub(super) fn find_lists(&mut self) -> Result<()> {
        // Records for each of another list: where the map has them for none, the new ones have none either. What only
        // adds to other records can be missing.
        let is_left = |site: &usize| {
            let list = &self.theirs.links.sites[*site];
            match self.own.links.site(&list.name) {
                Some(own) => list.parallel.is_some() && self.is_left_out(own),
                None => list.parallel.is_some() || list.name.starts_with("bspx:"),
            }
        };
        let left: BTreeSet<usize> = self.needed.keys().copied().filter(is_left).collect();
        for site in &left {
            self.warnings.push(left_out(&self.theirs.links.sites[*site].name));
            self.needed.remove(site);
        }
        // So are records that nothing else names: the samples of light in leafs.
        let links = &self.theirs.links.links;
        let is_of_left = |site: &usize| {
            let mut named = links.iter().filter(|link| link.to == *site).peekable();
            named.peek().is_some() && named.all(|link| left.contains(&link.from))
        };
        self.needed.retain(|site, _| !is_of_left(site));
        let sites: Vec<usize> = self.needed.keys().copied().collect();
        for site in sites {
            let list = &self.theirs.links.sites[site];
            match self.own.links.site(&list.name) {
                Some(own)
                    if self.own.links.sites[own].record == list.record
                        && self
                            .own
                            .several(own)
                            .zip(self.theirs.several(site))
                            .is_none_or(|(own, theirs)| own == theirs) =>
                {
                    self.sites.insert(site, own);
                }
                Some(_) => {
                    let message = format!("{} has other records in the two maps", list.name);
                    return Err(refused(&list.name, message));
                }
                None => return Err(refused(&list.name, format!("the map has no {}", list.name))),
            }
        }
        Ok(())
    }

    /// Whether a list of the target that belongs to another one is empty, and the other one is not.
    fn is_left_out(&self, own: usize) -> bool {
        let sites = &self.own.links.sites;
        let master = sites[own].parallel.and_then(|parallel| self.own.links.referred(parallel.lump));
        sites[own].is_empty() && master.is_some_and(|master| master != own && !sites[master].is_empty())
    }

    /// How many records a list of the target has by now.
    fn len(&self, own: usize) -> usize {
        let site = &self.own.links.sites[own];
        site.len() + self.added.get(&own).map_or(0, |added| added.len() / site.record.size)
    }

    /// Puts all records into the target.
    pub(super) fn put(&mut self, outside: &mut Outside<'_>) -> Result<()> {
        let sites: Vec<usize> = self.needed.keys().copied().collect();
        let (mut shared, plain): (Vec<usize>, Vec<usize>) =
            sites.into_iter().partition(|site| is_shared(self.theirs, *site) && is_shared(self.own, self.sites[site]));
        // Records with numbers of their own: these do not depend on their content.
        for site in &plain {
            let base = self.own.links.sites[self.sites[site]].len();
            let fixed = self.own.links.sites[self.sites[site]].row.order.fixed;
            if base < fixed {
                let name = &self.own.links.sites[self.sites[site]].name;
                return Err(refused(name, format!("{name} has less than {fixed} records, so that none can follow")));
            }
            let records: Vec<usize> = self.needed[site].iter().copied().collect();
            self.places.extend(records.iter().enumerate().map(|(rank, record)| ((*site, *record), base + rank)));
        }
        // Those that refer to other ones that may be shared come after these.
        while !shared.is_empty() {
            let waits =
                |site: &usize| self.theirs.links_of(*site).any(|link| link.to != *site && shared.contains(&link.to));
            let (later, now): (Vec<usize>, Vec<usize>) = shared.iter().copied().partition(waits);
            let (later, now) = if now.is_empty() { (Vec::new(), later) } else { (later, now) };
            for site in now {
                self.share(site, outside)?;
            }
            shared = later;
        }
        for site in plain {
            self.append(site, outside)?;
        }
        self.pair();
        self.fill()
    }

    /// Numbers of new records that are those of the records that name these, where the other map has numbers of another
    /// table ([`Meaning::Twin`]).
    fn pair(&mut self) {
        let links = self.own.links;
        let is_theirs = |link: &Link| {
            let mut theirs = self.theirs.links.links.iter().filter(|other| other.meaning == link.meaning);
            theirs.any(|other| self.theirs.links.sites[other.from].name == links.sites[link.from].name)
        };
        let twins = links.links.iter().filter(|link| matches!(link.meaning, Meaning::Twin { .. }) && !is_theirs(link));
        for link in twins.collect::<Vec<_>>() {
            let Meaning::Twin { list, by, .. } = link.meaning else { continue };
            let Some(site) = links.site(list) else { continue };
            let (record, own) = (links.sites[site].record, &links.sites[link.from]);
            let numbers = |field: &str| {
                let field = record.field(field)?;
                let Shape::Number(number) = field.shape else { return None };
                let all = self.added.get(&site)?.chunks_exact(record.size);
                all.map(|bytes| number.integer(&bytes[field.offset..])).collect::<Option<Vec<i64>>>()
            };
            let Some((named, values)) = numbers(by).zip(numbers(&link.field)) else { continue };
            let Some(added) = self.added.get_mut(&link.from) else { continue };
            let base = i64::try_from(own.len()).unwrap_or(i64::MAX);
            for (named, value) in named.into_iter().zip(values) {
                let at = usize::try_from(named - base).ok().and_then(|at| at.checked_mul(own.record.size));
                if let Some(bytes) = at.and_then(|at| added.get_mut(at..at + own.record.size)) {
                    // It fits: both fields are of the same kind.
                    let _ = link.word.put(bytes, value);
                }
            }
        }
    }

    /// Records of which the target may have equal ones, which are used then.
    fn share(&mut self, site: usize, outside: &mut Outside<'_>) -> Result<()> {
        let own = self.sites[&site];
        let (list, target) = (&self.theirs.links.sites[site], &self.own.links.sites[own]);
        let is_paired = target.is_paired();
        if is_paired && !list.is_paired() {
            return self.share_planes(site, outside);
        }
        let (step, known) = (if is_paired { 2 } else { 1 }, by_bytes(self.own.links, own, is_paired));
        let records: Vec<usize> = self.needed[&site].iter().copied().filter(|at| at % step == 0).collect();
        // A chain of records within the list keeps its own.
        let own_links: Vec<&Link> = self.theirs.links_of(site).filter(|link| link.to == site).collect();
        let is_chained =
            |record: &usize| own_links.iter().any(|link| link.named(list.record(*record), list.len()).is_some());
        let (chained, single): (Vec<usize>, Vec<usize>) = records.into_iter().partition(is_chained);
        let mut new: HashMap<Vec<u8>, usize> = HashMap::new();
        for record in single {
            let mut bytes = Vec::new();
            for at in record..record + step {
                bytes.extend(self.record(site, at, outside)?);
            }
            let place = match known.get(&bytes[..]).map(|at| at * step).or_else(|| new.get(&bytes).copied()) {
                Some(place) => place,
                None => {
                    let place = self.len(own);
                    self.added.entry(own).or_default().extend_from_slice(&bytes);
                    new.insert(bytes, place);
                    place
                }
            };
            self.places.extend((0..step).map(|at| ((site, record + at), place + at)));
        }
        let base = self.len(own);
        self.places.extend(chained.iter().enumerate().map(|(rank, record)| ((site, *record), base + rank)));
        for record in chained {
            let bytes = self.record(site, record, outside)?;
            self.added.entry(own).or_default().extend(bytes);
        }
        Ok(())
    }

    /// Planes of a map where these are not pairs, in a map where they are: each new one comes with its opposite plane.
    fn share_planes(&mut self, site: usize, outside: &mut Outside<'_>) -> Result<()> {
        let own = self.sites[&site];
        let (list, target) = (&self.theirs.links.sites[site], &self.own.links.sites[own]);
        let (known, mut new) = (by_bytes(self.own.links, own, false), HashMap::new());
        for record in self.needed[&site].iter().copied() {
            let bytes = self.record(site, record, outside)?;
            let place = known.get(&bytes[..]).or_else(|| new.get(&bytes)).copied();
            let place = match (place, target.opposite(&bytes)) {
                (Some(place), _) => place,
                (None, None) => return Err(refused(&list.name, format!("{} are not planes", list.name))),
                (None, Some(opposite)) => {
                    // Compilers put the plane of an axis that looks in its direction first.
                    let is_second = target.is_against_axis(&bytes);
                    let (first, second) = if is_second { (opposite, bytes) } else { (bytes, opposite) };
                    let place = self.len(own);
                    self.added.entry(own).or_default().extend([&first[..], &second[..]].concat());
                    new.insert(first, place);
                    new.insert(second, place + 1);
                    place + usize::from(is_second)
                }
            };
            self.places.insert((site, record), place);
        }
        Ok(())
    }

    fn append(&mut self, site: usize, outside: &mut Outside<'_>) -> Result<()> {
        let records: Vec<usize> = self.needed[&site].iter().copied().collect();
        for record in records {
            let bytes = self.record(site, record, outside)?;
            self.added.entry(self.sites[&site]).or_default().extend(bytes);
        }
        Ok(())
    }

    /// The bytes of a record with the numbers of the target.
    fn record(&self, site: usize, record: usize, outside: &mut Outside<'_>) -> Result<Vec<u8>> {
        let list = &self.theirs.links.sites[site];
        let mut bytes = list.record(record).to_vec();
        // Also those that nothing needs: a record that is not copied is forgotten.
        for link in self.theirs.links.links.iter().filter(|link| link.from == site) {
            let done = self.number(link, record, &mut bytes)?;
            done.map_err(|why| {
                let message = format!("{}[{record}].{} cannot be copied: {why}", list.name, link.field);
                refused(&list.name, message)
            })?;
        }
        outside.record(self, site, record, &mut bytes)?;
        Ok(bytes)
    }

    /// A number of a record; the reason if it does not fit.
    fn number(&self, link: &Link, record: usize, bytes: &mut [u8]) -> Result<Result<(), String>> {
        let links = self.theirs.links;
        let old = links.sites[link.from].record(record);
        let (target, len) = (self.own.links.site(&links.sites[link.to].name), links.sites[link.to].len());
        let mut link = link.clone();
        if let How::Leaf(nodes) = &mut link.how {
            let list = self.to.role(Role::Nodes).and_then(|slot| self.own.links.site(&slot.name));
            *nodes = list.map_or(*nodes, |own| i64::try_from(self.total(own)).unwrap_or(i64::MAX));
        }
        if let How::Share(_) = link.how {
            let count = self.shares.get(&(link.to, record)).copied().unwrap_or(0);
            let put = link.word.put(bytes, i64::try_from(count).unwrap_or(i64::MAX));
            return Ok(put.then_some(()).ok_or_else(|| format!("{count} records do not fit its count")));
        }
        let wide = |value: usize| i64::try_from(value).unwrap_or(i64::MAX);
        Ok(match named(self.from, links, self.models, &link, record)? {
            Some(Named::Needed(first, _)) => match self.places.get(&(link.to, first)) {
                Some(place) => link.put(bytes, wide(*place), len),
                None if self.is_same_fog(link.to, first) => Ok(()),
                None => link
                    .none()
                    .filter(|none| link.word.put(bytes, *none))
                    .map(|_| ())
                    .ok_or_else(|| format!("the map has no {} that it could name", links.sites[link.to].name)),
            },
            Some(Named::Fixed) => match is_reserved(links, &link, old) {
                true => Ok(()),
                false => link.put(bytes, 0, len),
            },
            Some(Named::Theirs) => {
                let world = self.own.links.sites[self.sites[&link.from]].record(0);
                // What names no record there now could name a new one.
                let is_there = target.is_some_and(|to| link.named(world, self.own.links.sites[to].len()).is_some());
                put(&link, bytes, if is_there { link.word.get(world) } else { NOTHING })
            }
            Some(Named::Loose) => {
                let (first, _) = link.named(old, len).unwrap_or((-1, 0));
                let place = |first| self.places.get(&(link.to, first)).copied().or_else(|| self.same(&link, first));
                let place = usize::try_from(first).ok().and_then(place);
                put(&link, bytes, place.map_or(link.none().unwrap_or(NOTHING), wide))
            }
            None => match (link.how, target) {
                // The start of an empty run; compilers write 0, or the number that the next record will have.
                (How::Run(_, _, order), Some(_)) if order != Order::InTurn && link.word.get(old) == 0 => Ok(()),
                (How::Run(_, _, order), Some(target)) if link.applies(old) => {
                    let next = self.own.links.sites[target].len();
                    match link.word.put(bytes, wide(next)) || order != Order::InTurn {
                        true => Ok(()),
                        false => Err(format!("{next} does not fit")),
                    }
                }
                (How::Perhaps, _) if link.applies(old) && link.word.get(old) >= wide(len) => {
                    put(&link, bytes, link.none().unwrap_or(NOTHING))
                }
                _ => Ok(()),
            },
        })
    }

    /// The number in the target of a record that another one of its kind names and that is not copied, if both maps
    /// have it at the same place: a leaf whose light is that of another leaf.
    fn same(&self, link: &Link, record: usize) -> Option<usize> {
        let [from, theirs] = [link.from, link.to].map(|site| &self.theirs.links.sites[site]);
        from.parallel.filter(|parallel| parallel.lump == theirs.name)?;
        let own = &self.own.links.sites[self.own.links.site(&theirs.name)?];
        let is_there = record < theirs.len().min(own.len()) && theirs.record(record) == own.record(record);
        is_there.then_some(record)
    }

    /// Whether a number names a fog that both maps have at the same place.
    fn is_same_fog(&self, site: usize, number: usize) -> bool {
        let own = self.own.closed.map(|own| &self.own.links.sites[own]).filter(|own| number < own.len());
        let theirs = &self.theirs.links.sites[site];
        self.theirs.closed == Some(site) && own.is_some_and(|own| own.record(number) == theirs.record(number))
    }

    /// A warning if records of the models lose their fog.
    pub(super) fn without_fog(&self) -> Option<String> {
        let fogs = self.theirs.closed?;
        let links = self.theirs.links.links.iter().filter(|link| link.to == fogs);
        let named = links.flat_map(|link| {
            let site = &self.theirs.links.sites[link.from];
            let records = self.needed.get(&link.from).into_iter().flatten();
            records.filter_map(|record| link.named(site.record(*record), self.theirs.links.sites[fogs].len()))
        });
        let is_lost = |first: &i64| usize::try_from(*first).is_ok_and(|first| !self.is_same_fog(fogs, first));
        match named.map(|(first, _)| first).filter(is_lost).count() {
            0 => None,
            count => Some(format!("{count} surfaces have no fog any more: it belongs to a place in the other map")),
        }
    }

    /// How many records a list of the target will have.
    fn total(&self, own: usize) -> usize {
        let site = self.sites.iter().find(|(_, other)| **other == own).map(|(site, _)| site);
        self.own.links.sites[own].len() + site.map_or(0, |site| self.needed[site].len())
    }

    /// Records for lists of the target that run parallel to others, where the other map has no such list.
    fn fill(&mut self) -> Result<()> {
        for (index, site) in self.own.links.sites.iter().enumerate().filter(|(_, site)| !site.is_empty()) {
            let Some(parallel) = site.parallel else { continue };
            let Some(master) = self.own.links.referred(parallel.lump).filter(|master| *master != index) else {
                continue;
            };
            let Some(added) = self.added.get(&master).filter(|_| !self.added.contains_key(&index)) else { continue };
            let records = &self.own.links.sites[master];
            let count: usize = match parallel.each {
                Each::One => added.len() / records.record.size,
                Each::Several => added.len() / records.record.size * (site.len() / records.len().max(1)),
                Each::Counted(field) => {
                    added.chunks_exact(records.record.size).map(|record| records.number(field, record)).sum()
                }
                _ => {
                    let message = format!("{} belongs to {}, and the other map has none", site.name, records.name);
                    return Err(refused(&site.name, message));
                }
            };
            let bytes = parallel.fill.iter().copied().cycle().take(site.record.size);
            self.added.insert(index, bytes.collect::<Vec<u8>>().repeat(count));
            self.warnings.push(format!("{} has nothing for the model, since the other map has none", site.name));
        }
        Ok(())
    }

    /// What engines have no room for: the error, or warnings if the copy is forced.
    pub(super) fn limits(&mut self, force: bool) -> Result<()> {
        let Some(engine) = self.to.dialect().engine(self.to.version()) else { return Ok(()) };
        for own in self.added.keys() {
            let (name, len) = (&self.own.links.sites[*own].name, self.len(*own));
            let is_it = |limit: &&bspkit::dialect::Limit| {
                limit.lump == *name && limit.unit == Unit::Records && limit.whose != Whose::Compiler
            };
            if let Some(limit) = engine.limits.iter().find(is_it).filter(|limit| len > limit.most) {
                let message =
                    format!("{name} would have {len} records, and {} reads at most {}", engine.title, limit.most);
                match force {
                    true => self.warnings.push(message),
                    false => return Err(refused(name, message).with_hint(Hint::Force)),
                }
            }
        }
        Ok(())
    }

    /// Numbers in the map that name nothing now, and would name new records. A number that means a missing record
    /// stays one: some tools write the number of records, which engines of Quake refuse in hulls.
    fn missing(&self) -> Result<BTreeMap<SlotId, Vec<u8>>> {
        let checks = self.to.dialect().checks;
        let takes_count = checks.hulls == 0 || checks.count_is_no_hull;
        let mut new: BTreeMap<SlotId, Vec<u8>> = BTreeMap::new();
        for link in &self.own.links.links {
            let (from, to, len) = (&self.own.links.sites[link.from], &self.own.links.sites[link.to], self.len(link.to));
            for (index, record) in from.records().enumerate().filter(|_| len > to.len()) {
                let now = link.named(record, len);
                let is_new = |(first, count): (i64, i64)| {
                    let old = i64::try_from(to.len()).unwrap_or(i64::MAX);
                    first.saturating_add(count) > old && usize::try_from(first).is_ok_and(|first| first < len)
                };
                if now == link.named(record, to.len()) && !now.is_some_and(is_new) {
                    continue;
                }
                let at = from.range.start + index * from.record.size;
                let bytes = new.entry(from.slot).or_insert_with(|| from.bytes.to_vec());
                let place = &mut bytes[at..at + from.record.size];
                let none = if takes_count { i64::try_from(len).unwrap_or(i64::MAX) } else { NOTHING };
                let is_put = matches!(link.how, How::Perhaps) && link.word.put(place, none);
                if !is_put {
                    let message = format!(
                        "{}[{index}].{} names records that are not there, and would name new ones",
                        from.name, link.field
                    );
                    return Err(refused(&from.name, message));
                }
            }
        }
        Ok(new)
    }

    /// The new bytes of all lumps with records.
    pub(super) fn lumps(&self) -> Result<BTreeMap<SlotId, Vec<u8>>> {
        let mut changed = self.missing()?;
        let sites = &self.own.links.sites;
        let mut lists: BTreeMap<SlotId, Vec<usize>> = BTreeMap::new();
        for (own, _) in self.added.iter().filter(|(_, added)| !added.is_empty()) {
            lists.entry(sites[*own].slot).or_default().push(*own);
        }
        let lump = |(slot, mut lists): (SlotId, Vec<usize>)| {
            let mut bytes = changed.remove(&slot).unwrap_or_else(|| sites[lists[0]].bytes.to_vec());
            lists.sort_by_key(|own| std::cmp::Reverse(sites[*own].range.end));
            for own in lists {
                let site = &sites[own];
                bytes.splice(site.range.end..site.range.end, self.added[&own].iter().copied());
                if let Some(at) = site.count_at {
                    bytes[at..at + 4].copy_from_slice(&short(self.len(own)).to_le_bytes());
                }
            }
            (slot, bytes)
        };
        let mut lumps: BTreeMap<SlotId, Vec<u8>> = lists.into_iter().map(lump).collect();
        lumps.extend(changed);
        Ok(lumps)
    }
}

/// What a field that names a record only if there is one holds for none: no number of records makes it name one.
const NOTHING: i64 = -1;

fn put(link: &Link, bytes: &mut [u8], value: i64) -> Result<(), String> {
    link.word.put(bytes, value).then_some(()).ok_or_else(|| format!("{value} does not fit"))
}

/// Whether the record that a number names has a meaning by its number.
fn is_reserved(links: &bspkit::links::Links<'_>, link: &Link, record: &[u8]) -> bool {
    let to = &links.sites[link.to];
    link.named(record, to.len())
        .is_some_and(|(first, _)| usize::try_from(first).is_ok_and(|at| at < to.row.order.fixed))
}
