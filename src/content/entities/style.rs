//! The spacing of an entity, for pairs and entities that are added next to it.

use super::Entity;
use super::parse::PairSpan;

/// The spacing of an entity.
pub(super) struct Style {
    /// Between the opening brace and the first key.
    open: Vec<u8>,
    /// Between a value and the next key.
    pub(super) between: Vec<u8>,
    /// Between a key and its value.
    pub(super) middle: Vec<u8>,
    /// Between the last value and the closing brace.
    close: Vec<u8>,
}

impl Style {
    /// The compilers' form.
    pub(super) fn canonical() -> Self {
        let line = || b"\n".to_vec();
        Style { open: line(), between: line(), middle: b" ".to_vec(), close: line() }
    }

    /// The style of an entity that has pairs. Words would join without the spacing, and Quake II needs a space after a
    /// brace, so only the spacing before a brace may be empty.
    pub(super) fn of(entity: &Entity<'_>) -> Option<Self> {
        let (first, last) = (entity.pairs.first()?, entity.pairs.last()?);
        let open = spacing(entity, entity.inside.start, first.key.start());
        let close = match entity.is_closed() {
            true => spacing(entity, last.value.end(), entity.inside.end),
            false => open.clone(),
        };
        let between = match entity.pairs {
            [.., PairSpan { value, .. }, last] => spacing(entity, value.end(), last.key.start()),
            _ => open.clone(),
        };
        let middle = spacing(entity, last.key.end(), last.value.start());
        let between = match (between.is_empty(), close.contains(&b'\n')) {
            (false, _) => between,
            (true, true) => close.clone(),
            (true, false) => b" ".to_vec(),
        };
        let middle = if middle.is_empty() { b" ".to_vec() } else { middle };
        let open = if open.is_empty() { between.clone() } else { open };
        Some(Style { open, between, middle, close })
    }

    /// A whole entity in this style.
    pub(super) fn entity(&self, pairs: &[(&[u8], &[u8])]) -> Vec<u8> {
        let mut text = b"{".to_vec();
        for (index, (key, value)) in pairs.iter().enumerate() {
            text.extend_from_slice(if index == 0 { &self.open } else { &self.between });
            self.pair(key, value, &mut text);
        }
        let close = if pairs.is_empty() && self.close.is_empty() { &self.open } else { &self.close };
        text.extend_from_slice(close);
        text.push(b'}');
        text
    }

    /// A pair without the spacing before it.
    pub(super) fn pair(&self, key: &[u8], value: &[u8], text: &mut Vec<u8>) {
        quote(key, text);
        text.extend_from_slice(&self.middle);
        quote(value, text);
    }
}

pub(super) fn quote(token: &[u8], text: &mut Vec<u8>) {
    text.push(b'"');
    text.extend_from_slice(token);
    text.push(b'"');
}

/// The spaces directly before `end`, from their last line break on.
fn spacing(entity: &Entity<'_>, start: usize, end: usize) -> Vec<u8> {
    let gap = &entity.bytes[start..end];
    let spaces = &gap[gap.len() - spaces_before(gap)..];
    let line = match memchr::memrchr(b'\n', spaces) {
        Some(at) if at > 0 && spaces[at - 1] == b'\r' => at - 1,
        Some(at) => at,
        None => 0,
    };
    spaces[line..].to_vec()
}

/// How many bytes at the end are spaces.
pub(super) fn spaces_before(text: &[u8]) -> usize {
    text.iter().rev().take_while(|&&byte| byte <= b' ').count()
}
