//! How the text in `src` is written: lines that fit a screen, and words that readers know. The numbers below are what is
//! left to rewrite: lower them when you do, never raise them.

use super::sources;

/// As rustfmt.toml has it, which formats no comments.
const WIDTH: usize = 120;

/// Words that say in this project's own way what has a usual word, with how often `src` still has them.
const WORDS: [(&str, usize, &str); 19] = [
    // What is behind a plane or a wall has no other word in geometry.
    ("behind", 18, "after"),
    ("stand", 0, "are, is at"),
    ("stands", 0, "is, is at, starts at"),
    ("stood", 0, "was at"),
    ("told", 0, "detected, given, matched"),
    ("turned", 0, "byte-swapped"),
    ("laid again", 0, "rewritten"),
    ("nobody", 0, "no reader, unused"),
    ("so many", 0, "N, this many"),
    ("each way", 0, "in each direction"),
    ("became of", 0, "the result of"),
    ("is none", 13, "is not one"),
    ("it is no", 0, "it is not a"),
    ("this is no", 0, "this is not a"),
    ("that is no", 0, "that is not a"),
    ("which is no", 0, "which is not a"),
    ("are no", 8, "are not"),
    ("at hand", 1, "available, in progress"),
    ("all the same", 0, "anyway"),
];

#[test]
fn lines_fit_the_width() {
    let mut long = Vec::new();
    for (path, text) in sources("src") {
        let lines = text.lines().enumerate().filter(|(_, line)| line.chars().count() > WIDTH);
        long.extend(lines.map(|(at, _)| format!("{}:{}", path.display(), at + 1)));
    }
    assert!(long.is_empty(), "longer than {WIDTH}:\n{}", long.join("\n"));
}

#[test]
fn words_that_need_a_reason_become_fewer() {
    let texts: Vec<String> = sources("src").into_iter().map(|(_, text)| text.to_lowercase()).collect();
    let more: Vec<String> = WORDS
        .iter()
        .map(|(word, most, plain)| (word, texts.iter().map(|text| count(text, word)).sum::<usize>(), most, plain))
        .filter(|(_, found, most, _)| found > most)
        .map(|(word, found, most, plain)| format!("`{word}` {found} times, at most {most}: say {plain}"))
        .collect();
    assert!(more.is_empty(), "{}", more.join("\n"));
}

/// How often a text has a word or words, as whole words; a line break in a comment is a space.
fn count(text: &str, words: &str) -> usize {
    let is_part = |letter: Option<char>| letter.is_some_and(|letter| letter.is_alphanumeric() || letter == '_');
    text.match_indices(words)
        .filter(|(at, _)| !is_part(text[..*at].chars().next_back()))
        .filter(|(at, _)| !is_part(text[at + words.len()..].chars().next()))
        .count()
}

#[test]
fn a_word_would_be_seen() {
    assert_eq!(count("what is behind it; behind_all", "behind"), 1);
    assert_eq!(count("so many, and so many more", "so many"), 2);
    assert_eq!(count("it stands, it understands", "stands"), 1);
}
