//! Selectors choose what they say, and say where they cannot be read.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use bspkit::ErrorKind;
use bspkit::content::entities::Entities;
use bspkit::content::select::Selector;
use bspkit::dialect::EntityRules;

fn parse(text: &[u8]) -> Entities<'_> {
    Entities::parse(text, EntityRules::SOURCE).unwrap()
}

#[test]
fn selectors_choose() {
    let entities = parse(
        b"{\"classname\" \"worldspawn\" \"a key.x\" \"c:\\maps\"} {\"classname\" \"info_player_start\" \"Target\" \"door_1\"}
          {\"no class\" \"x]y\"} {\"classname\" \"light\" \"target\" \"D\" \"target\" \"door_2\" \"raw\" \"\xe9\"}",
    );
    let cases: [(&str, &[usize]); 20] = [
        ("*", &[0, 1, 2, 3]),
        ("WorldSpawn", &[0]),
        ("info_player_*", &[1]),
        ("*l?ght*", &[3]),
        ("**", &[0, 1, 3]),
        ("#2", &[2]),
        ("#99999999999999999999999999", &[]),
        ("#3[target]", &[3]),
        ("#2[target]", &[]),
        ("[target]", &[1, 3]),
        ("*[target=door_2]", &[3]),
        ("[TARGET^=door_]", &[1, 3]),
        ("[target^=Door_]", &[]),
        ("[target$=_1]", &[1]),
        ("[target*=oor][target=D]", &[3]),
        ("[a key.x=c:\\maps]", &[0]),
        ("[no class=\"x]y\"]", &[2]),
        ("[raw=\\xe9]", &[3]),
        ("[no class=x\\x5dy]", &[2]),
        ("[target=]", &[]),
    ];
    for (text, expected) in cases {
        assert_eq!(entities.select(&Selector::parse(text).unwrap()), expected, "{text}");
    }
}

#[test]
fn selectors_that_cannot_be_read_say_where() {
    for (text, why, column) in [
        ("light,door", "a comma for either of two selectors is not supported yet", 5),
        ("*:not(light)", "`:not(...)` is not supported yet", 1),
        ("[message~/re/i]", "`~` for regular expressions is not supported yet", 8),
        ("[wait>2]", "a comparison of numbers is not supported yet", 5),
        ("[wait!=2]", "`!=` is not supported yet", 5),
        ("[wait", "it ends too early; a `]` is missing", 5),
        ("[wait=\"2]", "behind the quote, `\"` and then `]` are missing", 6),
        ("[=2]", "a key is missing", 1),
        ("#x", "an index is a number", 1),
        ("[a]b", "`b` is not expected here", 3),
    ] {
        let error = Selector::parse(text).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Argument);
        assert_eq!(error.to_string(), format!("cannot read the selector `{}`: {why}", text.escape_debug()));
        assert_eq!(error.advice().unwrap(), format!("{text}\n{}^", " ".repeat(column)));
    }
    assert_eq!(Selector::parse("").unwrap_err().kind(), ErrorKind::Argument);
}

#[test]
fn selectors_can_be_shared_between_threads() {
    fn check<T: Send + Sync + Clone>() {}
    check::<Selector>();
}
