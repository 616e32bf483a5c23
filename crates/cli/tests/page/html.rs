//! A strict reader of pages: every tag is closed in order, every attribute is in quotes, and `<` is only in tags.

/// An opening tag.
#[derive(Debug)]
pub(crate) struct Tag {
    pub(crate) name: String,
    pub(crate) attributes: Vec<(String, String)>,
}

/// Elements without an end.
const VOID: [&str; 4] = ["meta", "img", "br", "input"];

/// All tags of a page.
#[track_caller]
pub(crate) fn tags(page: &str) -> Vec<Tag> {
    let mut rest = page.strip_prefix("<!DOCTYPE html>\n").expect("a document type");
    let (mut tags, mut open): (Vec<Tag>, Vec<String>) = (Vec::new(), Vec::new());
    while let Some((_, after)) = rest.split_once('<') {
        let (inside, after) = after.split_once('>').expect("a tag ends");
        assert!(!inside.contains('<'), "a tag within a tag: {inside}");
        rest = after;
        if let Some(name) = inside.strip_prefix('/') {
            assert_eq!(open.pop().as_deref(), Some(name), "a closing tag");
            continue;
        }
        let tag = tag(inside.strip_suffix('/').unwrap_or(inside));
        if matches!(tag.name.as_str(), "script" | "style") {
            rest = rest.split_once(&format!("</{}>", tag.name)).expect("an end of the text").1;
        } else if !VOID.contains(&tag.name.as_str()) && !inside.ends_with('/') {
            open.push(tag.name.clone());
        }
        tags.push(tag);
    }
    assert!(open.is_empty(), "not closed: {open:?}");
    tags
}

#[track_caller]
fn tag(inside: &str) -> Tag {
    let (name, mut rest) = inside.split_once(' ').unwrap_or((inside, ""));
    let is_name = |name: &str| !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
    assert!(is_name(name), "not a tag: <{inside:.100}>");
    let mut attributes = Vec::new();
    while !rest.trim().is_empty() {
        let end = rest.find(['=', ' ']).unwrap_or(rest.len());
        let (key, after) = rest.split_at(end);
        assert!(is_name(&key.replace(':', "-")), "not an attribute: {key} in <{inside:.100}>");
        match after.strip_prefix("=\"") {
            Some(value) => {
                let (value, after) = value.split_once('"').expect("a value ends");
                attributes.push((key.to_owned(), value.to_owned()));
                rest = after.trim_start();
            }
            None => {
                assert!(!after.starts_with('='), "a value without quotes: <{inside:.100}>");
                attributes.push((key.to_owned(), String::new()));
                rest = after.trim_start();
            }
        }
    }
    Tag { name: name.to_owned(), attributes }
}

#[test]
fn markup_would_be_seen() {
    let read = |body: &str| std::panic::catch_unwind(|| tags(&format!("<!DOCTYPE html>\n<p>{body}</p>")).len());
    assert_eq!(read("<a href=\"#x\">y</a>").unwrap(), 2);
    for bad in ["</p>", "<b>", "<a href=x>y</a>", "a < b", "<!-- x -->", "<a><b></a></b>"] {
        assert!(read(bad).is_err(), "{bad}");
    }
}
