//! Which records belong to which model alone.

use super::graph::Graph;
use crate::error::{Error, ErrorKind, Result};

/// Whose a record is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Owner {
    /// No model refers to it.
    Unused,
    /// The model of this number alone, or the models.
    Model(u32),
    /// Several models, or a model and something else.
    Several,
}

/// The owner of each record of each list.
pub(super) struct Owners {
    of: Vec<Vec<Owner>>,
    /// How many more records of ranges may be looked at.
    budget: usize,
}

/// How often each record may be in a range, on average. In sound maps it is a few times.
const MOST_RANGES: usize = 200;

impl Owners {
    /// The owners of all records; `models` is the list of the models, and models with the same number are one owner.
    pub(super) fn of(graph: &Graph<'_, '_>, models: usize, number: impl Fn(usize) -> u32) -> Result<Self> {
        let sites = &graph.links.sites;
        let total: usize = sites.iter().map(crate::bsp::Site::len).sum();
        let mut owners = Owners {
            of: sites.iter().map(|site| vec![Owner::Unused; site.len()]).collect(),
            budget: total.saturating_mul(MOST_RANGES),
        };
        for model in 0..sites[models].len() {
            owners.claim(graph, Owner::Model(number(model)), models, model)?;
        }
        // What only says that something belongs to a list does not need it.
        for (at, site) in sites.iter().enumerate().filter(|(_, site)| !site.listed) {
            for record in (0..site.len()).filter(|_| at != models) {
                if owners.of[at][record] == Owner::Unused {
                    let mut found = Vec::new();
                    graph.each(at, record, |to, range| found.push((to, range)));
                    owners.spend(found.iter().map(|(_, range)| range.len()).sum())?;
                    for (to, record) in found.into_iter().flat_map(|(to, range)| range.map(move |at| (to, at))) {
                        owners.claim(graph, Owner::Several, to, record)?;
                    }
                }
            }
        }
        Ok(owners)
    }

    /// The owners of the records of a list.
    pub(super) fn list(&self, site: usize) -> &[Owner] {
        &self.of[site]
    }

    /// A record, and all that it refers to, belongs to an owner too.
    fn claim(&mut self, graph: &Graph<'_, '_>, owner: Owner, site: usize, record: usize) -> Result<()> {
        let mut open = vec![(site, record)];
        while let Some((site, record)) = open.pop() {
            let own = &mut self.of[site][record];
            *own = match *own {
                known if known == owner || known == Owner::Several => continue,
                Owner::Unused if owner == Owner::Several => continue,
                Owner::Unused => owner,
                Owner::Model(_) | Owner::Several => Owner::Several,
            };
            let mut looked = 0;
            graph.each(site, record, |to, range| {
                looked += range.len();
                let is_open = |at: &usize| ![owner, Owner::Several].contains(&self.of[to][*at]);
                open.extend(range.filter(is_open).map(|at| (to, at)));
            });
            self.spend(looked)?;
        }
        Ok(())
    }

    fn spend(&mut self, count: usize) -> Result<()> {
        match self.budget.checked_sub(count) {
            Some(budget) => {
                self.budget = budget;
                Ok(())
            }
            None => Err(Error::new(ErrorKind::Malformed, "the records refer to each other too often: it is damaged")),
        }
    }
}
