//! Which references of a map are not known: those of lumps of unknown content, and of damaged ones.

use super::entities::{Diagnostic, DiagnosticKind, Entities};
use crate::dialect::Role;
use crate::links::Links;

const RAGGED: &str = "ends within a record";

impl Links<'_> {
    /// The lumps that may refer to a list in a way that is not known, with the reasons.
    pub fn doubts(&self, site: usize) -> impl Iterator<Item = (&str, &str)> {
        self.unknown_of(self.sites[site].row.lump).chain(self.damage(site))
    }

    /// The lumps of which not all references to a list can be read, and how they are damaged: those that are not whole
    /// in the file, those that end within a record, and entity text that is torn.
    pub fn damage(&self, site: usize) -> impl Iterator<Item = (&str, &str)> {
        let from = self.links.iter().filter(move |link| link.to == site && link.from != site).map(|link| link.from);
        let records = std::iter::once(site).chain(from).filter_map(|from| {
            let from = &self.sites[from];
            let bounds = self.bsp.container().slot(from.slot)?.bounds;
            let why = if bounds.is_damaged() { Some(bounds.text()) } else { from.is_ragged().then_some(RAGGED) };
            Some((from.name.as_str(), why?))
        });
        let values = self.bsp.dialect().entity_references.iter().map(|reference| reference.lump);
        let is_named = values.filter_map(|lump| self.referred(lump)).any(|to| to == site);
        records.chain(is_named.then(|| self.torn_text()).flatten())
    }

    /// The lump of the entities and how its text is torn, if values in it may be missing.
    pub fn torn_text(&self) -> Option<(&str, &str)> {
        let find = || {
            let slot = self.bsp.role(Role::Entities)?;
            let bytes = self.bsp.bytes(slot.id).ok()?;
            let entities = Entities::parse(bytes.clone(), self.bsp.entity_rules()).ok()?;
            let is_torn = |one: &&Diagnostic| match one.kind {
                DiagnosticKind::BytesBehindNul => bytes[one.span.clone()].contains(&b'{'),
                kind => kind.stops_engines() || kind == DiagnosticKind::UnterminatedQuote,
            };
            let torn = entities.diagnostics().iter().find(is_torn)?;
            Some((slot.name.clone(), torn.kind.to_string()))
        };
        self.torn.get_or_init(find).as_ref().map(|(name, why)| (name.as_str(), why.as_str()))
    }
}
