//! `docs/scripts.md` has every function that scripts can call, and no other.

use std::fmt::Write as _;

const MARK: &str = "<!-- The rest is made from the program: BLESS=1 cargo test --test script -->\n";

fn tables() -> String {
    let mut text = String::new();
    let mut group = "";
    for entry in bspkit_script::reference() {
        if entry.group != group {
            group = entry.group;
            write!(text, "\n### {group}\n\n| | |\n|---|---|\n").unwrap();
        }
        let cell = |text: &str| text.replace('|', "\\|");
        writeln!(text, "| `{}` | {} |", cell(entry.usage), cell(entry.does)).unwrap();
    }
    text
}

#[test]
fn the_reference_is_complete() {
    let path = super::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/scripts.md");
    let page = std::fs::read_to_string(&path).unwrap();
    let (prose, reference) = page.split_once(MARK).expect("the page has the mark");
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, format!("{prose}{MARK}{}", tables())).unwrap();
    } else {
        assert_eq!(reference, tables());
    }
}
