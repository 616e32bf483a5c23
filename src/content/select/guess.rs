//! Wrong selectors, and the right form of what they may mean: one table of wrong spellings. A guess is never taken for
//! the selector; errors name it.

use std::sync::LazyLock;

use regex::Regex;

use crate::content::entities::Entities;

/// How often the table is gone through: a text may have several faults.
const MOST_FAULTS: usize = 8;

/// Longer texts get no guess.
const LONGEST: usize = 1024;

/// A wrong spelling as an expression, and the right one. `KEY` is the name of a key or a class, `OP` an
/// operator.
struct Guess {
    wrong: &'static str,
    right: &'static str,
}

const fn guess(wrong: &'static str, right: &'static str) -> Guess {
    Guess { wrong, right }
}

/// What cannot be read, and what to write. The first row that fits is taken, then all again.
const UNREADABLE: &[Guess] = &[
    // Words and signs between selectors and between tests.
    guess(r" *(?:\|\|?|;| or ) *", ","),
    guess(r"(KEY) *(OP) *([^,\[\]& ]+) *(?:&&?| and ) *(KEY) *(OP) *([^,\[\]& ]+)", "[$1$2$3][$4$5$6]"),
    guess(r" *(?:&&?| and ) *\[", "["),
    guess(r" *(?:&&?| and ) *", " "),
    guess(r#"^"(.*)"$"#, "$1"),
    // A number of an entity.
    guess(r"(^|, *)#?([0-9]+)(?-u:\b)", "$1#$2"),
    // The class is the head of a selector, and a key is in brackets.
    guess(r"(^|, *)(?i:class(?:name)?) *(?:==?|:) *([^,\[\]=<>~!: ]+)", "$1$2"),
    guess(r"(^|, *)(?i:class(?:name)?) *!= *([^,\[\]=<>~!: ]+)", "$1:not($2)"),
    guess(r"\[?(KEY) *!= *([^,\[\]]*)\]?", ":not([$1=$2])"),
    guess(r"\[?(KEY) *!~ */([^/\]]*)/(i?)\]?", ":not([$1~/$2/$3])"),
    guess(r"\[?(KEY) *(?:=~|~=|~) */([^/\]]*)/(i?)\]?", "[$1~/$2/$3]"),
    guess(r"\[?(KEY) *(?:=~|~=|~) *([^,/\[\]]+)\]?", "[$1~/$2/]"),
    guess(r"\[?(KEY) *(?:===?|:=) *([^,\[\]]*)\]?", "[$1=$2]"),
    guess(r"(^|, *)(KEY) *(OP) *([^,\[\]]*)", "$1[$2$3$4]"),
    guess(r"(^|, *)(KEY)[ .]+(KEY) *(OP) *([^,\[\]]*)", "$1$2[$3$4$5]"),
    guess(r"(^|, *)(KEY): *([^,\[\]:()]+)", "$1[$2=$3]"),
    // What is not.
    guess(r"(^|, *)not\(", "$1:not("),
    guess(r"(^|, *)(?:!|not +)([^,]+)", "$1:not($2)"),
    guess(r"(KEY) +(KEY)", "$1,$2"),
];

/// What can be read and matches nothing in a map, and what may be meant.
const UNMATCHED: &[Guess] = &[
    guess(r"='([^'\]]*)'\]", "=$1]"),
    guess(r" *(=|<=?|>=?) +", "$1"),
    guess(r"=\*([^*\]]+)\*\]", "*=$1]"),
    guess(r"=([^*\]]+)\*\]", "^=$1]"),
    guess(r"=\*([^*\]]+)\]", "$$=$1]"),
    guess(r"\.\*", "*"),
    guess(r"^/([^/]*)/(i?)$", "[classname~/$1/$2]"),
    guess(r"^-(.+)$", ":not($1)"),
    guess(r"^'(.*)'$", "$1"),
    guess(r"^(KEY)$", "[$1]"),
    guess(r"^(KEY)$", "[targetname=$1]"),
    guess(r"^(\*[0-9]+)$", "[model=$1]"),
];

/// The rows with their expressions, which are compiled at the first fault.
struct Table(Vec<(Regex, &'static str)>);

impl Table {
    fn new(rows: &[Guess]) -> Self {
        let row = |row: &Guess| {
            let text = row.wrong.replace("KEY", "[A-Za-z_][A-Za-z0-9_*?-]*?").replace("OP", r"[\^$*<>]?=|[<>]");
            // A row that cannot be compiled is found by a test.
            Regex::new(&text).ok().map(|wrong| (wrong, row.right))
        };
        Table(rows.iter().filter_map(row).collect())
    }

    /// The texts that rows make of one, with what they say.
    fn of<'t>(&'t self, text: &'t str) -> impl Iterator<Item = String> + 't {
        let fits = self.0.iter().filter(|(wrong, _)| wrong.is_match(text));
        fits.map(|(wrong, right)| wrong.replace_all(text, *right).into_owned())
    }
}

static OF_UNREADABLE: LazyLock<Table> = LazyLock::new(|| Table::new(UNREADABLE));
static OF_UNMATCHED: LazyLock<Table> = LazyLock::new(|| Table::new(UNMATCHED));

/// The selector that a text which cannot be read may mean.
pub(super) fn unreadable(text: &str) -> Option<String> {
    let mut text = text.trim().to_owned();
    for _ in 0..MOST_FAULTS {
        let next = OF_UNREADABLE.of(&text).find(|next| *next != text && next.len() <= LONGEST)?;
        if let Ok(right) = super::read(&next) {
            return Some(right.to_string());
        }
        text = next;
    }
    None
}

impl Entities<'_> {
    /// What may be meant by a selector that matches nothing, and how many entities that matches. It matches some.
    ///
    /// ```
    /// use bspkit::content::{entities::Entities, select::Selector};
    /// let text = b"{ \"classname\" \"func_door\" \"targetname\" \"door_1\" }\0";
    /// let entities = Entities::parse(&text[..], bspkit::dialect::EntityRules::SOURCE)?;
    /// let meant = entities.meant("door_1").unwrap();
    /// assert_eq!(meant, ("[targetname=door_1]".to_owned(), 1));
    /// # Ok::<(), bspkit::Error>(())
    /// ```
    pub fn meant(&self, selector: &str) -> Option<(String, usize)> {
        if selector.len() > LONGEST {
            return None;
        }
        OF_UNMATCHED.of(selector).find_map(|text| {
            let found = self.select(&text).ok()?.len();
            (found > 0).then_some((text, found))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_an_expression() {
        assert_eq!(OF_UNREADABLE.0.len(), UNREADABLE.len());
        assert_eq!(OF_UNMATCHED.0.len(), UNMATCHED.len());
    }
}
