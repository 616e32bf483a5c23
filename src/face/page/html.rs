//! Text as HTML. Everything that comes from a map goes through [`text`] or [`value`], so that none of it is markup.

use std::fmt;

use crate::bytes::{escaped, is_unseen};

/// The most bytes of a name that are shown: of a lump, a class, a key or a file.
const MOST_OF_NAME: usize = 200;

/// Text in which nothing is markup, in an element or in an attribute with quotes. Characters that are invisible or
/// change the direction of text are shown by their numbers.
pub(super) fn text(text: &str) -> Text<'_> {
    Text(text)
}

pub(super) struct Text<'t>(&'t str);

impl fmt::Display for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.chars().try_for_each(|character| match character {
            '&' => f.write_str("&amp;"),
            '<' => f.write_str("&lt;"),
            '>' => f.write_str("&gt;"),
            '"' => f.write_str("&quot;"),
            '\'' => f.write_str("&#39;"),
            unseen if is_unseen(unseen) => write!(f, "{}", unseen.escape_unicode()),
            character => write!(f, "{character}"),
        })
    }
}

/// Bytes as text, up to this many of them.
pub(super) fn value(bytes: &[u8], most: usize) -> String {
    match bytes.get(..most) {
        Some(start) if bytes.len() > most => {
            format!("{}<i>… {} bytes in all</i>", text(&escaped(start).to_string()), bytes.len())
        }
        _ => text(&escaped(bytes).to_string()).to_string(),
    }
}

/// A name as text, without markup, also for attributes.
pub(super) fn name(bytes: &[u8]) -> String {
    match bytes.get(..MOST_OF_NAME) {
        Some(start) if bytes.len() > MOST_OF_NAME => format!("{}…", text(&escaped(start).to_string())),
        _ => text(&escaped(bytes).to_string()).to_string(),
    }
}

/// A number with a comma before every three digits.
pub(super) fn count(number: usize) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A number with the word for one or for several.
pub(super) fn counted(number: usize, one: &str, more: &str) -> String {
    format!("{} {}", count(number), if number == 1 { one } else { more })
}

/// Items of a list, up to a number of bytes; the others are counted.
pub(super) struct Items {
    html: String,
    room: usize,
    more: usize,
}

impl Items {
    pub(super) fn new(room: usize) -> Self {
        Items { html: String::new(), room, more: 0 }
    }

    /// Adds an item. After the first one that has no room, all are only counted.
    pub(super) fn add(&mut self, item: impl FnOnce() -> String) {
        self.add_as(1, item);
    }

    /// Adds an item that counts as this many.
    pub(super) fn add_as(&mut self, count: usize, item: impl FnOnce() -> String) {
        let item = if self.more == 0 { Some(item()) } else { None };
        match item.filter(|item| self.html.len() + item.len() <= self.room) {
            Some(item) => self.html += &item,
            None => self.more += count,
        }
    }

    /// Adds a heading, which is not an item.
    pub(super) fn heading(&mut self, heading: String) {
        if self.more == 0 && self.html.len() + heading.len() <= self.room {
            self.html += &heading;
        }
    }

    /// Counts items that are not listed elsewhere either.
    pub(super) fn and_more(&mut self, more: usize) {
        self.more += more;
    }

    /// The items, and the sentence about those that have no room.
    pub(super) fn finish(self) -> (String, String) {
        let more = match self.more {
            0 => String::new(),
            more => format!("<p class=\"more\">… and {} more</p>\n", count(more)),
        };
        (self.html, more)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_markup() {
        let shown = value(b"</td><script>alert('1')</script>\"&\xff\n\xe2\x80\xae", 1000);
        let wanted = "&lt;/td&gt;&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;&quot;&amp;\\xff\\n\\xe2\\x80\\xae";
        assert_eq!(shown, wanted);
        assert_eq!(value(b"abcdef", 3), "abc<i>… 6 bytes in all</i>");
        assert_eq!(value("é".as_bytes(), 1), "\\xc3<i>… 2 bytes in all</i>");
    }

    #[test]
    fn lists_end_with_a_count() {
        let mut items = Items::new(5);
        for item in ["abc", "de", "f", ""] {
            items.add(|| item.to_owned());
        }
        items.and_more(1000);
        assert_eq!(items.finish(), ("abcde".to_owned(), "<p class=\"more\">… and 1,002 more</p>\n".to_owned()));
    }
}
