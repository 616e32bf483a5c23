//! Models of another map, with all that they need: the records over all references that are declared.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;

use super::left;
use super::outside::Outside;
use super::transplant::Transplant;
use super::{are_known, check, models_of, named as named_models};
use crate::check::shapes_of;
use bspkit::bytes::escaped;
use bspkit::content::entities::{Entity, LooseModel};
use bspkit::dialect::{Dialect, Role};
use bspkit::links::{How, Link, Links, Site};
use bspkit::{Bsp, Draft, Error, ErrorKind, Hint, Place, Result};

// Models of another map, with all that they need.

/// A copy of models from another map.
///
/// ```
/// use bspkit_ops::models::{self, Copying};
/// let map = bspkit::Bsp::open("../../tests/maps/q2/own_rooms.bsp")?;
/// let mut draft = map.draft();
/// // A map may be copied from itself, too.
/// let copied = Copying::default().run(&mut draft, &map, &[1])?;
/// assert_eq!((copied.models[0].model, copied.models[0].entities.len()), (5, 1));
/// let saved = bspkit::Bsp::from_vec(draft.plan(bspkit::Layout::Keep)?.to_vec())?;
/// assert_eq!(models::list(&saved)?[5].faces, 6);
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct Copying {
    entities: NewEntities,
    force: bool,
}

/// The entities that a copied model gets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
enum NewEntities {
    /// Copies of those of the other map.
    #[default]
    Theirs,
    /// One of this class, with no other keys.
    Class(Vec<u8>),
    /// None.
    Without,
}

/// A model that was copied.
///
/// ```
/// use bspkit_ops::models::Copying;
/// let map = bspkit::Bsp::open("../../tests/maps/q2/own_rooms.bsp")?;
/// let copied = Copying::default().run(&mut map.draft(), &map, &[2, 1])?;
/// let numbers: Vec<_> = copied.models.iter().map(|copy| (copy.from, copy.model)).collect();
/// assert_eq!(numbers, [(1, 5), (2, 6)]);
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CopiedModel {
    /// Its number in the other map.
    pub from: usize,
    /// Its number here.
    pub model: usize,
    /// The new entities that name it, by index; those that name several are with the first one.
    pub entities: Vec<usize>,
}

/// What was copied.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Copied {
    /// The new models, in the order that the other map has them in.
    pub models: Vec<CopiedModel>,
    /// How many records were added, by list.
    pub records: Vec<(String, usize)>,
    /// The bytes of light.
    pub light: usize,
    /// The names of textures that were added.
    pub textures: Vec<Vec<u8>>,
    /// What is missing, and what may be wrong after a copy that was forced.
    pub warnings: Vec<String>,
}

impl Copying {
    /// Makes an entity of this class for each model, in place of copies of the other map's entities.
    pub fn class(self, class: impl AsRef<[u8]>) -> Self {
        Copying { entities: NewEntities::Class(class.as_ref().to_vec()), ..self }
    }

    /// Makes no entity for the models.
    pub fn without_entity(self) -> Self {
        Copying { entities: NewEntities::Without, ..self }
    }

    /// Copies models although they exceed a limit of an engine.
    pub fn force(self, force: bool) -> Self {
        Copying { force, ..self }
    }

    /// Copies models of a map into another one of the same dialect, with all that they refer to. Planes, texinfo,
    /// shaders and other records that are equal in both maps are not added again, and neither are textures with the
    /// same name, nor what several of the models have in common. [`Copied::warnings`] names textures that have the same
    /// name and other pixels or another size. Everything is added after what is there, in the order
    /// of the other map, so that no number changes.
    ///
    /// # Errors
    /// [`Refused`](bspkit::ErrorKind::Refused) for a map of another dialect or version, a collision model in a form
    /// that is not known or with materials of its map, light in files beside the map, numbers that do not fit, records
    /// that engines have no room for, and references that are damaged; [`NotFound`](bspkit::ErrorKind::NotFound) for a
    /// model that is not there; [`Argument`](bspkit::ErrorKind::Argument) for one that is named twice. Then nothing is
    /// changed.
    pub fn run(self, draft: &mut Draft<'_>, from: &Bsp<'_>, models: &[usize]) -> Result<Copied> {
        let mut sorted = models.to_vec();
        sorted.sort_unstable();
        if let Some(twice) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(Error::new(ErrorKind::Argument, format!("*{} is named twice", twice[0])));
        }
        draft.transaction(|draft| self.copy(draft, from, &sorted))
    }

    fn copy(self, draft: &mut Draft<'_>, from: &Bsp<'_>, wanted: &[usize]) -> Result<Copied> {
        let map = draft.view()?.unwrap_or_else(|| draft.bsp().clone());
        let (own_links, their_links) = (map.links()?, from.links()?);
        let (own_models, models) = (models_of(&map, &own_links)?, models_of(from, &their_links)?);
        wanted.iter().try_for_each(|model| check(&their_links.sites[models], *model))?;
        are_alike(&map, from)?;
        are_known(&map, &own_links, own_models)?;
        // Fogs are of a place in the world, and so are their brushes: a copied model does not have them.
        let fogs = |map: &Bsp<'_>, links: &Links<'_>| map.role(Role::Fogs).and_then(|slot| links.site(&slot.name));
        let own = Graph::new(&own_links, fogs(&map, &own_links));
        let theirs = Graph::new(&their_links, fogs(from, &their_links));
        let (needed, shares) = needed_by_all(from, &theirs, models, wanted)?;
        let mut work = Transplant {
            from,
            to: &map,
            theirs: &theirs,
            own: &own,
            models,
            needed,
            shares,
            sites: BTreeMap::new(),
            places: HashMap::new(),
            added: BTreeMap::new(),
            warnings: Vec::new(),
        };
        work.find_lists()?;
        let sites: BTreeSet<usize> = work.needed.keys().copied().collect();
        let mut outside = Outside::new(from, &map, &their_links, &sites)?;
        work.put(&mut outside)?;
        work.limits(self.force)?;
        let numbers: BTreeMap<usize, usize> = wanted.iter().copied().zip(own_links.sites[own_models].len()..).collect();
        let mut lumps = work.lumps()?;
        lumps.extend(outside.light.lumps(&own_links, &their_links)?);
        lumps.extend(outside.textures.lump()?);
        lumps.extend(outside.names.lump());
        let warnings = work.blocks(&mut lumps, &numbers)?;
        work.warnings.extend(warnings);
        work.warnings.extend(outside.light.left_out(&own_links, &their_links).iter().map(|name| left_out(name)));
        let copy = outside.light.is_in_copy().filter(|_| !outside.unlit.is_empty());
        if let Some(lump) = copy.filter(|_| !self.force) {
            let message = format!("the light of one of the maps is in {lump} alone, from where it is not copied");
            return Err(refused(lump, message).with_hint(Hint::Force));
        }
        for (list, count) in &outside.unlit {
            let why = match copy {
                Some(lump) => format!("it is in {lump} alone, from where it is not copied"),
                None if outside.light.is_dark() => "the map has no light".to_owned(),
                None if outside.light.has_other_alphas => "that of the map has other alphas".to_owned(),
                None => "it cannot be read".to_owned(),
            };
            work.warnings.push(format!("the light of {count} records of {list} is left out: {why}"));
        }
        let records = work.added.iter().map(|(own, added)| {
            let site = &own_links.sites[*own];
            (site.name.clone(), added.len() / site.record.size)
        });
        let copy = |(from, model): (&usize, &usize)| CopiedModel { from: *from, model: *model, entities: Vec::new() };
        let lost_fog = work.without_fog();
        let mut copied = Copied {
            models: numbers.iter().map(copy).collect(),
            records: records.filter(|(_, count)| *count > 0).collect(),
            light: outside.light.bytes(),
            textures: [&outside.textures.names[..], &outside.names.names].concat(),
            warnings: std::mem::take(&mut work.warnings),
        };
        if outside.textures.missing() > 0 {
            let count = outside.textures.missing();
            copied
                .warnings
                .push(format!("textures that a model names are missing in the other map, and here too: {count}"));
        }
        if let Some(slot) = from.role(Role::Entities).filter(|slot| slot.bounds.is_damaged()) {
            let cut = format!("{} of the other map is cut off: it", slot.name);
            copied.warnings.push(format!("{cut} may have had more entities that name the model"));
        }
        if !outside.textures.exchanged.is_empty() {
            let list = outside.textures.exchanged.join(", ");
            copied.warnings.push(format!("textures of the map take the place of others of the same name: {list}"));
        }
        let grown: Vec<&str> = lumps.keys().filter_map(|id| Some(map.container().slot(*id)?.name.as_str())).collect();
        copied.warnings.extend(own_links.unknown.iter().filter_map(|(name, ..)| {
            let lump = grown.iter().find(|lump| own_links.unknown_of(lump).any(|(other, _)| other == name))?;
            Some(format!("{name} may be for the records of {lump}, and has nothing for those that are added"))
        }));
        copied.warnings.extend(lost_fog);
        copied.warnings.extend(left::materials(from, &map, &outside.names.names));
        copied.warnings.extend(left::wads(from, &map, &outside.textures.external));
        let faces = from.role(Role::Faces).and_then(|slot| their_links.site(&slot.name));
        let faces = faces.and_then(|site| work.needed.get(&site));
        copied.warnings.extend(faces.map(|faces| left::styles(from, &map, faces)).unwrap_or_default());
        lumps.into_iter().try_for_each(|(slot, bytes)| draft.set_little_endian(slot, bytes))?;
        let brushes = their_links.site("BRUSHES").and_then(|site| work.needed.get(&site));
        if let Some(brushes) = brushes.filter(|_| map.slot("PHYSCOLLIDE").is_ok()) {
            draft.bring_solids(shapes_of(from, |brush| brushes.contains(&brush)));
        }
        self.entities(draft, from, &numbers, &mut copied)?;
        Ok(copied)
    }

    /// Adds the entities of the new models.
    fn entities(
        &self,
        draft: &mut Draft<'_>,
        from: &Bsp<'_>,
        numbers: &BTreeMap<usize, usize>,
        copied: &mut Copied,
    ) -> Result<()> {
        let mut new: BTreeMap<usize, Vec<Pairs>> = BTreeMap::new();
        match &self.entities {
            NewEntities::Without => {}
            NewEntities::Class(class) => {
                for (model, number) in numbers {
                    let name = format!("*{number}").into_bytes();
                    new.insert(*model, vec![vec![(b"classname".to_vec(), class.clone()), (b"model".to_vec(), name)]]);
                }
            }
            NewEntities::Theirs => {
                let texts = from.entities()?;
                for entity in texts.iter() {
                    let named = named_models(from, &entity);
                    let known = |of: &i64| Some(usize::try_from(*of).ok()?).filter(|of| numbers.contains_key(of));
                    let Some(model) = named.iter().find_map(|(.., of)| known(of)) else { continue };
                    let copies = named.iter().filter_map(|(key, nth, of)| {
                        let number = numbers.get(&known(of)?)?;
                        Some(((key.to_ascii_lowercase().into_bytes(), *nth), format!("*{number}").into_bytes()))
                    });
                    let copies: HashMap<(Vec<u8>, usize), Vec<u8>> = copies.collect();
                    let mut counts: HashMap<Vec<u8>, usize> = HashMap::new();
                    let pairs = entity.pairs().map(|own| {
                        let key = own.key.to_ascii_lowercase();
                        let nth = counts.entry(key.clone()).or_default();
                        *nth += 1;
                        let value = copies.get(&(key, *nth)).cloned();
                        (own.key.to_vec(), value.unwrap_or_else(|| own.value.to_vec()))
                    });
                    new.entry(model).or_default().push(pairs.collect());
                    for (key, _, of) in named.iter().filter(|(.., of)| known(of).is_none()) {
                        let class = escaped(entity.class().unwrap_or_default()).to_string();
                        copied
                            .warnings
                            .push(format!("{class} of *{model} also has *{of} as its {key}, which is not copied"));
                    }
                }
            }
        }
        if new.is_empty() {
            return Ok(());
        }
        let (added, mut doubts) = (draft.entities()?, Vec::new());
        for copy in &mut copied.models {
            for pairs in new.remove(&copy.from).unwrap_or_default() {
                let index = added.add(pairs)?;
                copy.entities.push(index);
                doubts.extend(added.get(index).into_iter().flat_map(|entity| loose(from, &entity, numbers)));
            }
        }
        copied.warnings.extend(LooseModel::listed(doubts));
        Ok(())
    }
}

/// What is said of values of a copied entity that may name a model of the other map, under keys that nothing declares.
fn loose(from: &Bsp<'_>, entity: &Entity<'_>, numbers: &BTreeMap<usize, usize>) -> Vec<String> {
    let said = |model: &LooseModel| {
        let number = usize::try_from(model.number).ok().and_then(|number| numbers.get(&number));
        let now = number.map_or("that model is not copied".to_owned(), |new| format!("that model is *{new} here"));
        model.doubt(entity, &now)
    };
    entity.loose_models(from.dialect()).iter().map(said).collect()
}

/// The pairs of a new entity.
type Pairs = Vec<(Vec<u8>, Vec<u8>)>;

/// The warning about something of the other map that adds to the model, and for which the map has no place.
pub(super) fn left_out(name: &str) -> String {
    format!("{name} is left out, since the map has none")
}

/// Whether a model of one map can be in the other.
fn are_alike(map: &Bsp<'_>, from: &Bsp<'_>) -> Result<()> {
    let name =
        |map: &Bsp<'_>| format!("{}, version {}", map.dialect().title, map.dialect().version_name(map.version()));
    let alike = map.dialect() == from.dialect() && map.version() == from.version();
    let message = || format!("the map is of {}; the other one is of {}", name(map), name(from));
    if !alike {
        return Err(Error::new(ErrorKind::Refused, message()));
    }
    Ok(())
}

// The records that a model needs, and which of them another map may have already.

/// The records of each list.
pub(super) type Needed = BTreeMap<usize, BTreeSet<usize>>;

/// How many records of a list each model has, where they belong to it by its order: by list and model.
pub(super) type Shares = HashMap<(usize, usize), usize>;

/// The error for a copy that cannot be made.
#[cold]
pub(super) fn refused(lump: &str, message: impl Into<String>) -> Error {
    Error::new(ErrorKind::Refused, message.into()).at(Place::default().lump(lump))
}

/// Whether the records of a list serve only those that refer to them.
pub(super) fn is_owned(dialect: &Dialect, links: &Links<'_>, site: usize) -> bool {
    dialect.owned.iter().any(|lump| links.referred(lump) == Some(site))
}

/// What becomes of a number that names a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Named {
    /// The records from the first to the end are needed.
    Needed(usize, usize),
    /// It names the same record in every map: its number has a meaning.
    Fixed,
    /// Another map has a record of its own for it.
    Theirs,
    /// It is not followed; garbage, maybe.
    Loose,
}

/// What a number of a record of the model's map names. `None` if it names none.
pub(super) fn named(
    map: &Bsp<'_>,
    links: &Links<'_>,
    models: usize,
    link: &Link,
    record: usize,
) -> Result<Option<Named>> {
    let (from, to) = (&links.sites[link.from], &links.sites[link.to]);
    let Some((first, count)) = link.named(from.record(record), to.len()) else { return Ok(None) };
    if matches!(link.how, How::Perhaps) {
        // A hull that all models share belongs to the world.
        let is_world = link.word.get(from.record(record)) == link.word.get(from.record(0));
        return Ok(Some(match link.from == models {
            true if is_world => Named::Theirs,
            true => Named::Needed(usize::try_from(first).unwrap_or(0), usize::try_from(first + 1).unwrap_or(0)),
            false => Named::Loose,
        }));
    }
    let range = usize::try_from(first).ok().zip(first.checked_add(count).and_then(|end| usize::try_from(end).ok()));
    let Some((first, end)) = range.filter(|(_, end)| *end <= to.len()) else {
        let message = format!("{}[{record}].{} names records that are not there", from.name, link.field);
        return Err(refused(&from.name, message));
    };
    if first < to.row.order.fixed && matches!(link.how, How::Node) {
        return Err(refused(&from.name, format!("{}[{record}].{} is the tree of the world", from.name, link.field)));
    }
    if end <= to.row.order.fixed || to.row.order.fixed > 0 && !is_owned(map.dialect(), links, link.to) {
        return Ok(Some(Named::Fixed));
    }
    Ok(Some(Named::Needed(first, end)))
}

/// All records that a model needs, with itself.
pub(super) fn needed(map: &Bsp<'_>, graph: &Graph<'_, '_>, models: usize, model: usize) -> Result<Needed> {
    let links = graph.links;
    let (mut needed, mut open) = (Needed::new(), vec![(models, model)]);
    while let Some((site, record)) = open.pop() {
        if !needed.entry(site).or_default().insert(record) {
            continue;
        }
        if graph.paired[site] {
            open.push((site, record ^ 1));
        }
        let known = |needed: &Needed, site: usize, record: usize| {
            needed.get(&site).is_some_and(|known| known.contains(&record))
        };
        for link in graph.links_of(site) {
            let range = match link.how {
                How::Share(_) => graph.share(link, record).map(|range| (range.start, range.end)),
                _ => match named(map, links, models, link, record)? {
                    Some(Named::Needed(first, end)) => Some((first, end)),
                    _ => None,
                },
            };
            if let Some((first, end)) = range {
                open.extend((first..end).filter(|at| !known(&needed, link.to, *at)).map(|at| (link.to, at)));
            }
        }
        for (other, starts) in &graph.beside[site] {
            let range = starts.get(record..record + 2).map_or(0..0, |pair| pair[0]..pair[1]);
            open.extend(range.filter(|at| !known(&needed, *other, *at)).map(|at| (*other, at)));
        }
    }
    Ok(needed)
}

/// All records that models need, and their shares.
fn needed_by_all(map: &Bsp<'_>, graph: &Graph<'_, '_>, models: usize, wanted: &[usize]) -> Result<(Needed, Shares)> {
    let (mut all, mut shares) = (Needed::new(), Shares::new());
    let lists: Vec<usize> =
        graph.links_of(models).filter(|link| matches!(link.how, How::Share(_))).map(|link| link.to).collect();
    for model in wanted {
        let own = needed(map, graph, models, *model)?;
        for list in &lists {
            let own = own.get(list);
            if own.zip(all.get(list)).is_some_and(|(own, all)| own.iter().any(|record| all.contains(record))) {
                let name = &graph.links.sites[*list].name;
                return Err(refused(name, format!("*{model} has records of another model: copy them one by one")));
            }
            shares.insert((*list, *model), own.map_or(0, BTreeSet::len));
        }
        own.into_iter().for_each(|(list, records)| all.entry(list).or_default().extend(records));
    }
    Ok((all, shares))
}

/// Whether one of several equal records of a list is enough: everything that refers to them names one of them, and
/// nothing belongs to them by their order.
pub(super) fn is_shared(graph: &Graph<'_, '_>, site: usize) -> bool {
    let links = graph.links;
    let mut to = links.links.iter().filter(|link| link.to == site).peekable();
    let is_one =
        |link: &Link| matches!(link.how, How::Index(_) | How::Next | How::Bits(_)) && !links.sites[link.from].listed;
    to.peek().is_some() && to.all(is_one) && graph.beside[site].is_empty() && links.sites[site].parallel.is_none()
}

/// The records of a list by their bytes.
pub(super) fn by_bytes<'l>(links: &'l Links<'_>, site: usize, pairs: bool) -> HashMap<&'l [u8], usize> {
    let site = &links.sites[site];
    let size = site.record.size * if pairs { 2 } else { 1 };
    let mut found = HashMap::new();
    for (at, record) in site.all().chunks_exact(size).enumerate() {
        found.entry(record).or_insert(at);
    }
    found
}

// What records refer to, over all references that are declared: numbers of fields, shares, and lists that run
// parallel.

/// The references of a map by the records that they come from.
pub(super) struct Graph<'g, 'a> {
    pub(super) links: &'g Links<'a>,
    /// The links of each list, with the starts of the shares if it is one.
    out: Vec<Vec<Out<'g>>>,
    /// The lists whose records belong to those of each list, and where those of each record begin.
    pub(super) beside: Vec<BTreeMap<usize, Vec<usize>>>,
    /// The lists whose records are opposite pairs.
    paired: Vec<bool>,
    /// A list that nothing is followed into.
    pub(super) closed: Option<usize>,
}

/// A field, with the starts of its shares if it has these.
type Out<'g> = (&'g Link, Option<Vec<usize>>);

impl<'g, 'a> Graph<'g, 'a> {
    /// How many records of a list belong to each of another one, where that is the same number for all.
    pub(super) fn several(&self, site: usize) -> Option<usize> {
        let list = &self.links.sites[site];
        let parallel = list.parallel.filter(|parallel| parallel.each == bspkit::dialect::Each::Several)?;
        list.len().checked_div(self.links.sites[self.links.referred(parallel.lump)?].len())
    }

    /// The references of a map, but for those to the list `closed`.
    pub(super) fn new(links: &'g Links<'a>, closed: Option<usize>) -> Self {
        let mut graph = Graph {
            links,
            closed,
            out: links.sites.iter().map(|_| Vec::new()).collect(),
            beside: links.sites.iter().map(|_| BTreeMap::new()).collect(),
            paired: links.sites.iter().map(Site::is_paired).collect(),
        };
        let is_followed = |link: &&Link| !link.is_weak() && Some(link.to) != graph.closed;
        for link in links.links.iter().filter(is_followed) {
            let starts = if let How::Share(skip) = link.how { Some(shares(links, link, skip)) } else { None };
            graph.out[link.from].push((link, starts));
        }
        for other in 0..links.sites.len() {
            if let Some((owner, starts)) =
                links.shares(other).filter(|(_, starts)| starts.last() == Some(&links.sites[other].len()))
            {
                graph.beside[owner].insert(other, starts);
            }
        }
        graph
    }

    /// The links from a list.
    pub(super) fn links_of(&self, site: usize) -> impl Iterator<Item = &'g Link> {
        self.out[site].iter().map(|(link, _)| *link)
    }

    /// The records that belong to a record by their order, in the form of a count.
    pub(super) fn share(&self, link: &Link, record: usize) -> Option<Range<usize>> {
        let (_, starts) = self.out[link.from].iter().find(|(other, _)| std::ptr::eq(*other, link))?;
        let pair = starts.as_ref()?.get(record..record + 2)?;
        let len = self.links.sites[link.to].len();
        Some(pair[0].min(len)..pair[1].min(len))
    }

    /// Visits the ranges of records that a record refers to, and those that belong to it.
    pub(super) fn each(&self, site: usize, record: usize, mut visit: impl FnMut(usize, Range<usize>)) {
        let bytes = self.links.sites[site].record(record);
        for (link, starts) in &self.out[site] {
            let len = self.links.sites[link.to].len();
            let range = match starts {
                Some(starts) => starts.get(record..record + 2).map(|pair| pair[0]..pair[1]),
                None => link.named(bytes, len).map(|(first, count)| clamped(first, count, len)),
            };
            if let Some(range) = range.filter(|range| range.start < range.end) {
                visit(link.to, range.start.min(len)..range.end.min(len));
            }
        }
        for (other, starts) in &self.beside[site] {
            if let Some(pair) = starts.get(record..record + 2) {
                visit(*other, pair[0]..pair[1]);
            }
        }
    }
}

/// Where the records of each share begin, and the end of the last one.
fn shares(links: &Links<'_>, link: &Link, skip: usize) -> Vec<usize> {
    let site = &links.sites[link.from];
    let count = |record| usize::try_from(link.word.get(site.record(record))).unwrap_or(0);
    let ends = (0..site.len()).scan(skip, |end, record| {
        *end = end.saturating_add(count(record));
        Some(*end)
    });
    std::iter::once(skip).chain(ends).collect()
}

fn clamped(first: i64, count: i64, len: usize) -> Range<usize> {
    let clamp = |value: i64| usize::try_from(value.max(0)).map_or(len, |value| value.min(len));
    clamp(first)..clamp(first.saturating_add(count))
}
