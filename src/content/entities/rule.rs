//! What no engine of the dialect could read back, refused at the edit.

use super::{Entities, Entity};
use crate::bytes::escaped;
use crate::dialect::EntityRules;
use crate::{Error, ErrorKind, Place, Result};

const WORLD: &[u8] = b"worldspawn";

/// Checks the tokens of a pair that is to be written into the entity of this index.
pub(super) fn check_pair(rules: &EntityRules, index: usize, key: &[u8], value: &[u8]) -> Result<()> {
    check_key(rules, index, key)?;
    check_value(rules, index, value)
}

pub(super) fn check_key(rules: &EntityRules, index: usize, key: &[u8]) -> Result<()> {
    check_token(rules, index, "key", key, rules.max_key.min(rules.max_token))
}

pub(super) fn check_value(rules: &EntityRules, index: usize, value: &[u8]) -> Result<()> {
    check_token(rules, index, "value", value, rules.max_token)
}

fn check_token(rules: &EntityRules, index: usize, what: &str, token: &[u8], max: usize) -> Result<()> {
    let engines = rules.engines;
    let (why, hint) = if token.contains(&b'"') {
        (format!("contains a quote, where {engines} end it"), "there is no escape for it: use ' or leave it out")
    } else if token.contains(&0) {
        (format!("contains a NUL, where {engines} end the text"), "leave it out")
    } else if token.first() == Some(&b'}') {
        (format!("begins with `}}`, which ends the entity for {engines} even in quotes"), "begin it with another byte")
    } else if token == b"{" && rules.lone_brace_breaks {
        ("is a lone `{`, which ".to_owned() + engines + " take for an entity's start", "add another byte to it")
    } else if token.len() > max {
        let hint = "shorten it, or spread it over several pairs";
        (format!("is {} bytes long; {engines} read no more than {max}", token.len()), hint)
    } else {
        return Ok(());
    };
    let shown = escaped(&token[..token.len().min(40)]);
    let dots = if token.len() > 40 { "..." } else { "" };
    Err(refused(format!("the {what} `{shown}{dots}` {why}")).at(place(index)).hint(hint))
}

/// What an edit would have refused of a text that came as a whole, in its order.
pub(super) fn unreadable<'e>(rules: &'e EntityRules, entities: &'e Entities<'_>) -> impl Iterator<Item = Error> + 'e {
    let no_world = (!is_world(entities.get(0).as_ref())).then(|| not_the_world(rules));
    let of_entity = move |entity: Entity<'e>| {
        let index = entity.index();
        let too_much = check_size(rules, None, &entity).err();
        let pairs = entity.pairs().map(move |pair| check_pair(rules, index, pair.key, pair.value));
        pairs.filter_map(Result::err).chain(too_much).collect::<Vec<_>>()
    };
    no_world.into_iter().chain(entities.iter().flat_map(of_entity))
}

/// Checks the limits on the pairs of an entity; what was beyond them already may stay but not grow.
pub(super) fn check_size(rules: &EntityRules, before: Option<&Entity<'_>>, after: &Entity<'_>) -> Result<()> {
    let worse = |limit: Option<usize>, size: fn(&Entity<'_>) -> usize| {
        let (limit, after) = (limit?, size(after));
        (after > limit && after > before.map_or(0, size)).then_some((limit, after))
    };
    let (what, limit, size) = if let Some((limit, size)) = worse(rules.max_pairs, pair_count) {
        ("pairs", limit, size)
    } else if let Some((limit, size)) = worse(rules.max_entity_bytes, byte_count) {
        ("bytes of keys and values", limit, size)
    } else {
        return Ok(());
    };
    let engines = rules.engines;
    Err(refused(format!("the entity would have {size} {what}; {engines} stop at more than {limit}"))
        .at(place(after.index()))
        .hint("remove pairs that the game does not read"))
}

fn pair_count(entity: &Entity<'_>) -> usize {
    entity.pairs().len()
}

fn byte_count(entity: &Entity<'_>) -> usize {
    entity.pairs().map(|pair| pair.key.len() + pair.value.len() + 2).sum()
}

pub(super) fn is_world(entity: Option<&Entity<'_>>) -> bool {
    entity.and_then(Entity::class).is_some_and(|class| class.eq_ignore_ascii_case(WORLD))
}

pub(super) fn not_the_world(rules: &EntityRules) -> Error {
    refused(format!("the first entity would no longer be worldspawn, which {} require", rules.engines))
        .at(place(0))
        .hint("edit the pairs of worldspawn, or put other entities behind it")
}

pub(super) fn not_closed(index: usize, what: &str) -> Error {
    refused(format!("the entity has no closing brace, so {what}"))
        .at(place(index))
        .hint("the canonical form of the text closes it")
}

pub(super) fn refused(message: String) -> Error {
    Error::new(ErrorKind::Refused, message)
}

pub(super) fn place(index: usize) -> Place {
    Place::default().lump("entities").record(index)
}
