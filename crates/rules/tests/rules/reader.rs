//! How the plug-in reads lines, headers, braces and pairs.

use super::*;

const ADD: &str = "add:\n{\n\"classname\" \"a\"\n}\n";

#[test]
fn lines_are_split_after_253_bytes() {
    let pair = "\"n\" \"1\"";
    // A pair after 253 blanks is a line of its own; a comment that is as long lets the pair after it count.
    for comment in [";", "//", "#"] {
        let line = format!("{comment}{}{pair}", "x".repeat(253 - comment.len()));
        let rule = format!("{{\n{line}\n}}");
        gives(&rule, "n=1; n=2", "n=2");
        assert_eq!(findings(&rule, Mode::Plugin), ["2:254 rule-long-line"]);
    }
    // A line of many bytes is read once.
    let rule = format!("{}\nadd:\n{{\n\"classname\" \"a\"\n}}", "x".repeat(4 << 20));
    gives(&rule, "", "classname=a");
    // A value that goes over the end is cut: neither half is a pair.
    let long = "y".repeat(300);
    let rule = format!("add:\n{{\n\"classname\" \"a\"\n\"m\" \"{long}\"\n}}");
    gives(&rule, "", "classname=a");
    // A line of 253 bytes is whole, with either line break.
    let value = "y".repeat(253 - "\"m\" \"\"".len());
    for end in ["\n", "\r\n"] {
        let rule = format!("add:\n{{\n\"classname\" \"a\"\n\"m\" \"{value}\"{end}}}");
        gives(&rule, "", &format!("classname=a m={value}"));
        assert_eq!(findings(&rule, Mode::Plugin), [""; 0]);
    }
}

#[test]
fn comments_are_whole_lines() {
    for comment in [";", "#", "//", "  ; ", "\t//"] {
        gives(
            &format!("{comment} x\nadd:\n{comment}{{\n{{\n\"classname\" \"a\"\n{comment} \"b\" \"1\"\n}}"),
            "",
            "classname=a",
        );
    }
    // After a pair the rest of the line is ignored, whatever it is; a single slash is not a comment.
    gives("add:\n{\n\"classname\" \"a\" // \"b\" \"c\"\n/ \"d\" \"1\"\n}", "", "classname=a d=1");
}

#[test]
fn headers_are_beginnings_of_lines_in_lower_case() {
    gives("add:them all\n{\n\"classname\" \"a\"\n}", "", "classname=a");
    gives("  add:\n{\n\"classname\" \"a\"\n}", "", "classname=a");
    // Of `modify:` the whole line; otherwise the mode stays what it was.
    gives("add:\nmodify: x\n{\n\"classname\" \"a\"\n}", "", "classname=a");
    gives("add:\nFilter:\n{\n\"classname\" \"a\"\n}", "", "classname=a");
    // The headers inside of `modify:` count only there.
    gives("add:\nmatch:\n{\n\"classname\" \"a\"\n}", "", "classname=a");
}

#[test]
fn a_header_stays_in_force() {
    gives("add:\n{\n\"classname\" \"a\"\n}\n{\n\"classname\" \"b\"\n}", "", "classname=a; classname=b");
    // Within a block it decides what the block does at its end.
    gives("filter:\n{\n\"classname\" \"a\"\nadd:\n\"n\" \"1\"\n}", "classname=a", "classname=a; classname=a n=1");
    // Several bodies after one `modify:`.
    let body =
        |from: u8, to: u8| format!("{{\nmatch:\n{{\n\"n\" \"{from}\"\n}}\nreplace:\n{{\n\"n\" \"{to}\"\n}}\n}}\n");
    gives(&format!("modify:\n{}{}", body(1, 5), body(2, 6)), "n=1; n=2", "n=5; n=6");
}

#[test]
fn braces_are_alone_in_their_line_or_close() {
    // Not a block: its pairs are outside, and the brace after them closes nothing.
    gives("add:\n{ \"classname\" \"a\" }\n{\n\"classname\" \"b\"\n}", "", "classname=b");
    gives("add:\n{\n\"classname\" \"a\"\n} // end\n{\n\"classname\" \"b\"\n}}}", "", "classname=a; classname=b");
    // A second `{` within a block is ignored, and so is what comes after a block is closed.
    gives("add:\n{\n{\n\"classname\" \"a\"\n}\n\"b\" \"1\"\n}", "", "classname=a");
    // A block that is not closed is never applied.
    gives(&format!("{ADD}{{\n\"classname\" \"b\"\n"), "", "classname=a");
    gives("modify:\n{\nmatch:\n{\n\"n\" \"1\"\n}\nreplace:\n{\n\"n\" \"2\"\n}\n", "n=1", "n=1");
}

#[test]
fn blocks_inside_of_modify_take_each_others_place() {
    let rule = "modify:\n{\nmatch:\n{\n\"n\" \"1\"\n}\nmatch:\n{\n\"n\" \"2\"\n}\ninsert:\n{\n\"a\" \"1\"\n}\n{\n\"b\" \"1\"\n}\n}";
    gives(rule, "n=1; n=2", "n=1; n=2 b=1");
    assert_eq!(findings(rule, Mode::Plugin), ["4:1 rule-replaced", "12:1 rule-replaced"]);
}

#[test]
fn parts_of_a_modify_that_is_not_closed_belong_to_the_next_one() {
    let rule =
        "modify:\n{\nmatch:\n{\n\"n\" \"1\"\n}\ninsert:\n{\n\"a\" \"1\"\n}\nmodify:\n{\nmatch:\n{\n\"n\" \"2\"\n}\n}";
    gives(rule, "n=1; n=2", "n=1; n=2 a=1");
    // They wait through other headers.
    let rule = "modify:\n{\ninsert:\n{\n\"a\" \"1\"\n}\nfilter:\n}\nmodify:\n{\nmatch:\n{\n\"n\" \"1\"\n}\n}";
    gives(rule, "n=1; n=2", "n=1 a=1; n=2");
}

#[test]
fn one_pair_in_a_line_and_no_empty_ones() {
    gives("add:\n{\n\"classname\" \"a\" \"b\" \"1\"\n}", "", "classname=a");
    gives("add:\n{\n\"classname\"\t \"a\"\n\"b\"\"1\"\n\"c\" 1\nd \"1\"\n}", "", "classname=a");
    gives("add:\n{\n\"classname\" \"a\"\n\"b\" \"\"\n\"\" \"c\"\n}", "", "classname=a");
    // The first match in the line, wherever it is: there are no escapes and no quotes in values.
    gives("add:\n{\n\"classname\" \"a\"\nx \"b\" \"say \\\"hi\\\"\"\n}", "", "classname=a b=say~\\");
    gives("add:\n{\n\"classname\" \"\" \"classname\" \"a\"\n}", "", "classname=a");
}

#[test]
fn a_nul_ends_a_line() {
    gives("add:\n{\n\"classname\" \"a\"\0\n\"b\" \0\"1\"\n}\0 x", "", "classname=a");
}

#[test]
fn what_the_plug_in_ignores_is_found() {
    let text =
        "Filter:\n{ \"a\" \"1\" }\n}\nmatch:\nadd:\n{\n{\n\"a\" \"\"\n\"a\" \"1\" \"2\"\n\"b\" \"1\" // x\nx\n}\n";
    let expected = [
        "1:1 rule-ignored",
        "2:1 rule-ignored",
        "3:1 rule-ignored",
        "4:1 rule-ignored",
        "7:1 rule-ignored",
        "8:1 rule-empty-value",
        "9:1 rule-ignored",
        "10:8 rule-rest",
        "11:1 rule-ignored",
    ];
    assert_eq!(findings(text, Mode::Plugin), expected);
    assert_eq!(
        findings("filter:\n{\n}\nadd:\n{\n\"a\" \"/x/\"\n", Mode::Plugin),
        ["2:1 rule-empty-block", "5:1 rule-unclosed"]
    );
    // A block after a modify block that is closed.
    let block = "match:\n{\n\"a\" \"1\"\n}\n";
    let text = format!("modify:\n{{\n{block}}}\n{{\n\"a\" \"1\"\n}}\n");
    assert_eq!(findings(&text, Mode::Plugin), ["8:1 rule-unclosed"]);
    assert_eq!(findings("add:\n{\n\"a\" \"/x/\"\n}\n", Mode::Plugin), ["3:6 rule-slashes"]);
    assert_eq!(findings("modify:\n{\n}\n", Mode::Plugin), ["3:1 rule-ignored"]);
    assert_eq!(findings("modify:\n{\ninsert:\n{\n\"a\" \"1\"\n}\n}\n", Mode::Plugin), ["1:1 rule-empty-block"]);
}

/// `\s` of PCRE 7.9 has no vertical tab: for the plug-in two strings with one between them are no pair.
#[test]
fn a_vertical_tab_does_not_part_key_and_value() {
    gives("add:\n{\n\"classname\" \"a\"\n\"n\"\u{b}\"1\"\n}", "", "classname=a");
    gives("add:\n{\n\"classname\" \"a\"\n\"n\"\u{c}\"1\"\n}", "", "classname=a n=1");
}

/// For .NET a carriage return alone ends a line; `fgets` of the plug-in goes on.
#[test]
fn a_lone_carriage_return_ends_a_line_for_lumper_alone() {
    let adds = |mode| {
        let text = b"// note\radd:\n{\n\"classname\" \"a\"\n}\n";
        let rules = Rules::read("r.cfg", text, Format::Stripper, mode).rules;
        matches!(rules[..], [bspkit_rules::Rule { action: bspkit_rules::Action::Add(_), .. }])
    };
    assert_eq!((adds(Mode::Lumper), adds(Mode::Plugin)), (true, false));
}
