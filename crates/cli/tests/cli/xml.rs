//! As much of an XML parser as a report needs: an error is what is not well-formed.

/// An element with its attributes, its text and what is in it.
#[derive(Debug, Default)]
#[cfg_attr(not(unix), allow(dead_code))]
pub(crate) struct Element {
    pub(crate) name: String,
    pub(crate) attributes: Vec<(String, String)>,
    pub(crate) text: String,
    pub(crate) inner: Vec<Element>,
}

impl Element {
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }
}

/// Reads a document: a declaration, and one element.
pub(crate) fn parse(text: &str) -> Result<Element, String> {
    let text = text.strip_prefix("<?xml version=\"1.0\" encoding=\"UTF-8\"?>").ok_or("there is no declaration")?;
    let mut root = Element::default();
    let rest = content(text, &mut root)?;
    match (root.inner.len(), rest, root.text.trim()) {
        (1, "", "") => Ok(root.inner.remove(0)),
        _ => Err(format!("it is not one element: {root:?} {rest}")),
    }
}

/// Reads text and elements up to the next end tag.
fn content<'t>(mut text: &'t str, into: &mut Element) -> Result<&'t str, String> {
    loop {
        let (before, after) = text.split_once('<').map_or((text, None), |(before, after)| (before, Some(after)));
        into.text += &plain(before)?;
        match after {
            None => return Ok(""),
            Some(after) if after.starts_with('/') => return Ok(after),
            Some(after) => text = element(after, into)?,
        }
    }
}

fn element<'t>(text: &'t str, parent: &mut Element) -> Result<&'t str, String> {
    let is_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '-';
    let end = |text: &str| text.find(|letter| !is_name(letter)).unwrap_or(text.len());
    let (name, mut rest) = text.split_at(end(text));
    let mut own = Element { name: name.to_owned(), ..Element::default() };
    while let Some(after) = rest.strip_prefix(' ') {
        let (key, value) = after.split_at(end(after));
        let value = value.strip_prefix("=\"").ok_or_else(|| format!("{name} {key} has no value"))?;
        let (value, after) = value.split_once('"').ok_or_else(|| format!("{name} {key} has no end"))?;
        if own.get(key).is_some() || value.contains('<') {
            return Err(format!("{name} {key} is there twice or has a `<`"));
        }
        own.attributes.push((key.to_owned(), plain(value)?));
        rest = after;
    }
    let rest = rest.strip_prefix('>').ok_or_else(|| format!("<{name} does not end: {rest:.20}"))?;
    let rest = content(rest, &mut own)?;
    parent.inner.push(own);
    rest.strip_prefix(&format!("/{name}>")).ok_or_else(|| format!("<{name}> is not closed: {rest:.20}"))
}

/// Text without entities; letters that XML does not have are an error.
fn plain(text: &str) -> Result<String, String> {
    let mut parts = text.split('&');
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (name, rest) = part.split_once(';').ok_or_else(|| format!("an entity does not end: &{part:.20}"))?;
        plain += match name {
            "amp" => "&",
            "lt" => "<",
            "gt" => ">",
            "quot" => "\"",
            "#10" => "\n",
            other => return Err(format!("the entity {other}")),
        };
        plain += rest;
    }
    match plain.chars().find(|letter| letter.is_control() && !"\n\t\r".contains(*letter)) {
        Some(letter) => Err(format!("the letter {letter:?}")),
        None => Ok(plain),
    }
}

#[test]
fn what_is_not_xml_is_seen() {
    let head = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>";
    assert!(parse(&format!("{head}<a b=\"1\">x<c></c></a>\n")).is_ok());
    for bad in ["<a>", "<a></b>", "<a b></a>", "<a b=\"<\"></a>", "<a>&</a>", "<a></a><b></b>", "<a>\u{1}</a>"] {
        assert!(parse(&format!("{head}{bad}")).is_err(), "{bad}");
    }
}
