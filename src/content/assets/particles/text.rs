//! The text of DMX (`keyvalues2`): `"Kind" { "attribute" "type" "value" }`, elements within elements, and lists in
//! brackets.

use std::collections::HashMap;

use super::{Element, MOST_ELEMENTS, too_many};
use crate::error::Result;

#[derive(Clone, Copy, PartialEq)]
enum Token<'t> {
    Text(&'t [u8]),
    Open,
    Close,
    List,
    EndOfList,
}

/// What surrounds the next token.
enum Around<'t> {
    /// The attributes of an element.
    Element(usize),
    /// A list of this name, of an element; only lists of elements are kept.
    List(usize, &'t [u8], bool),
}

pub(super) fn elements(bytes: &[u8]) -> Result<Vec<Element>> {
    let tokens = Tokens { text: bytes, at: 0 };
    let mut elements: Vec<Element> = Vec::new();
    let mut by_id: HashMap<&[u8], usize> = HashMap::new();
    // References by identity: the element, the attribute, the identity.
    let mut later: Vec<(usize, &[u8], &[u8])> = Vec::new();
    let mut around: Vec<Around<'_>> = Vec::new();
    let mut words: Vec<&[u8]> = Vec::new();
    for token in tokens {
        match (token, around.last()) {
            (Token::Open, place) => {
                let index = elements.len();
                if index == MOST_ELEMENTS {
                    return Err(too_many());
                }
                let kind = words.last().copied().unwrap_or_default().to_vec();
                let attribute = match place {
                    Some(Around::Element(owner)) if words.len() >= 2 => Some((*owner, words[words.len() - 2])),
                    Some(Around::List(owner, name, _)) => Some((*owner, *name)),
                    _ => None,
                };
                if let Some((owner, name)) = attribute {
                    elements[owner].elements.push((name.to_vec(), vec![index]));
                }
                elements.push(Element { kind, ..Element::default() });
                around.push(Around::Element(index));
                words.clear();
            }
            (Token::List, Some(Around::Element(owner))) => {
                let [.., name, kind] = words[..] else { continue };
                around.push(Around::List(*owner, name, kind == b"element_array"));
                words.clear();
            }
            (Token::Close | Token::EndOfList, _) => {
                around.pop();
                words.clear();
            }
            (Token::List, _) => {}
            (Token::Text(text), place) => {
                words.push(text);
                match (place, &words[..]) {
                    (Some(Around::Element(owner)), [name, kind, value]) => {
                        let element = &mut elements[*owner];
                        match *kind {
                            b"elementid" => drop(by_id.insert(value, *owner)),
                            b"string" if *name == b"name" => element.name = value.to_vec(),
                            b"string" => element.strings.push((name.to_vec(), value.to_vec())),
                            b"element" => later.push((*owner, name, value)),
                            _ => {}
                        }
                        words.clear();
                    }
                    (Some(Around::List(owner, name, true)), [b"element", id]) => {
                        later.push((*owner, name, id));
                        words.clear();
                    }
                    (Some(Around::List(_, _, false)), _) => words.clear(),
                    _ => {}
                }
            }
        }
    }
    for (owner, name, id) in later {
        if let Some(index) = by_id.get(id) {
            elements[owner].elements.push((name.to_vec(), vec![*index]));
        }
    }
    Ok(elements)
}

struct Tokens<'t> {
    text: &'t [u8],
    at: usize,
}

impl<'t> Iterator for Tokens<'t> {
    type Item = Token<'t>;

    fn next(&mut self) -> Option<Token<'t>> {
        loop {
            let rest = self.text.get(self.at..)?;
            let first = *rest.first()?;
            self.at += 1;
            match first {
                b'{' => return Some(Token::Open),
                b'}' => return Some(Token::Close),
                b'[' => return Some(Token::List),
                b']' => return Some(Token::EndOfList),
                b'"' => {
                    let length = memchr::memchr(b'"', &rest[1..])?;
                    self.at += length + 1;
                    return Some(Token::Text(&rest[1..=length]));
                }
                b'/' if rest.starts_with(b"//") => self.at += memchr::memchr(b'\n', rest).unwrap_or(rest.len()),
                _ => {}
            }
        }
    }
}
