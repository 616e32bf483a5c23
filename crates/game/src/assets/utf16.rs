//! Texts in UTF-16, which some editors write: what they say, as the bytes that the other readers take.

use std::borrow::Cow;

/// The order of the two bytes of a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    Little,
    Big,
}

impl Order {
    /// The order that the byte order mark of a text says.
    pub(crate) fn of_mark(text: &[u8]) -> Option<Order> {
        match text {
            [0xFF, 0xFE, ..] => Some(Order::Little),
            [0xFE, 0xFF, ..] => Some(Order::Big),
            _ => None,
        }
    }

    /// The order of a text, by its mark or by a NUL in each of its first units.
    pub(crate) fn of_text(text: &[u8]) -> Option<Order> {
        // Four letters: binary files may have such bytes too, but only doubt follows from them.
        let first = text.get(..8).unwrap_or_default();
        let is =
            |nul: usize| !first.is_empty() && first.chunks_exact(2).all(|unit| unit[nul] == 0 && unit[1 - nul] != 0);
        match () {
            () if is(1) => Some(Order::Little),
            () if is(0) => Some(Order::Big),
            () => Order::of_mark(text),
        }
    }

    fn units(self, text: &[u8]) -> impl Iterator<Item = u16> {
        text.chunks_exact(2).map(move |unit| match self {
            Order::Little => u16::from_le_bytes([unit[0], unit[1]]),
            Order::Big => u16::from_be_bytes([unit[0], unit[1]]),
        })
    }

    /// The text without its mark as UTF-8. What is no letter becomes U+FFFD.
    pub(crate) fn decode(self, text: &[u8]) -> Vec<u8> {
        let text = if Order::of_mark(text).is_some() { &text[2..] } else { text };
        let letters = char::decode_utf16(self.units(text));
        letters.map(|letter| letter.unwrap_or(char::REPLACEMENT_CHARACTER)).collect::<String>().into_bytes()
    }

    /// A text with a mark as UTF-8, with nothing lost: `None` if it has no mark or is not whole.
    pub(crate) fn decode_whole(text: &[u8]) -> Option<(Order, String)> {
        let order = Order::of_mark(text).filter(|_| text.len().is_multiple_of(2))?;
        let letters = char::decode_utf16(order.units(&text[2..]));
        Some((order, letters.collect::<Result<_, _>>().ok()?))
    }

    /// A text as UTF-16 with a mark.
    pub(crate) fn encode(self, text: &str) -> Vec<u8> {
        let unit = |unit: u16| match self {
            Order::Little => unit.to_le_bytes(),
            Order::Big => unit.to_be_bytes(),
        };
        std::iter::once(0xFEFF).chain(text.encode_utf16()).flat_map(unit).collect()
    }
}

/// A text of any form as letters that can be searched: one in UTF-16, with a mark or without, is decoded.
pub(crate) fn searchable(text: &[u8]) -> Cow<'_, [u8]> {
    match Order::of_text(text) {
        Some(order) => Cow::Owned(order.decode(text)),
        None => Cow::Borrowed(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_both_orders_come_back() {
        for order in [Order::Little, Order::Big] {
            let text = order.encode("a \u{e9} \u{1F600}\n");
            assert_eq!(Order::of_mark(&text), Some(order));
            assert_eq!(order.decode(&text), "a \u{e9} \u{1F600}\n".as_bytes());
            assert_eq!(*searchable(&text), *"a \u{e9} \u{1F600}\n".as_bytes());
            assert_eq!(*searchable(&order.encode("wall")[2..]), *b"wall");
            assert_eq!(Order::decode_whole(&text).unwrap(), (order, "a \u{e9} \u{1F600}\n".to_owned()));
            let half = [&text[..], &order.encode("\u{1F600}")[2..4]].concat();
            assert!(Order::decode_whole(&half).is_none() && Order::decode_whole(&text[..text.len() - 1]).is_none());
        }
        for text in [&b""[..], b"\xFF", b"wall", b"\x01\0\0\0\x02\0\0\0"] {
            assert_eq!(*searchable(text), *text);
        }
    }
}
