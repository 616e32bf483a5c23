//! Textures that differ: their names, and their images where these are in the map.

use super::html::{self, Items};
use super::picture::{Pair, Picture, Room, left_out};
use super::{ROOM_OF_LIST, Section, Sides};
use crate::bytes::index;
use crate::content::textures::{Miptex, Textures};
use crate::op::compare::{Change, TextureChange};

pub(super) fn section(sides: &Sides<'_>, room: &mut Room) -> Option<Section> {
    let (mut all, mut more) = (Vec::new(), 0);
    for lump in &sides.found.lumps {
        let before = all.len();
        all.extend(lump.changes.iter().filter_map(|change| match change {
            Change::Texture(texture) => Some((lump.lump.as_str(), texture)),
            _ => None,
        }));
        more += if all.len() > before { lump.more } else { 0 };
    }
    if all.is_empty() {
        return None;
    }
    let mut items = Items::new(ROOM_OF_LIST / 4);
    for (lump, texture) in &all {
        let line = Change::Texture((*texture).clone()).line(lump).to_string();
        items.add(|| format!("<li>{}</li>\n", html::text(&line)));
    }
    items.and_more(more);
    let (list, rest) = items.finish();
    let mut html = format!("<ul>\n{list}</ul>\n{rest}");
    let textures = sides.maps.map(|map| map.textures().ok());
    if let [Some(old), Some(new)] = &textures {
        html += "<div class=\"gallery\">\n";
        let mut more = 0;
        for (_, texture) in all.iter().filter(|(_, texture)| texture.image) {
            match figure([old, new], texture, room) {
                Shown::Nothing => {}
                Shown::Figure(figure) => html += &figure,
                Shown::NoRoom => more += 1,
            }
        }
        html += "</div>\n";
        html += &left_out(more);
    }
    Some(Section { id: "textures", title: "Textures", count: all.len() + more, html })
}

/// What a figure shows of a texture.
enum Shown {
    Figure(String),
    /// The pixels are in no map.
    Nothing,
    NoRoom,
}

fn figure(textures: [&Textures<'_>; 2], change: &TextureChange, room: &mut Room) -> Shown {
    let of = |side: usize, index: Option<usize>| textures[side].get(index?).ok().flatten().filter(Miptex::is_embedded);
    let old = change.old.as_ref().map(|_| change.from.unwrap_or(change.index));
    let both = [of(0, old), of(1, change.new.as_ref().map(|_| change.index))];
    let mut sizes = both.iter().flatten().map(|texture| [index(texture.width()), index(texture.height())]);
    if both.iter().flatten().next().is_none() {
        return Shown::Nothing;
    }
    if !sizes.all(|size| room.reserve(size)) {
        return Shown::NoRoom;
    }
    let sides = both.map(|texture| texture.and_then(|texture| picture(&texture)));
    let difference = match &sides {
        [Some(old), Some(new)] if old.width == new.width && old.pixels.len() == new.pixels.len() => {
            let pixels = old.pixels.iter().zip(&new.pixels);
            let part = |old: u8, new: u8| f64::from(old.abs_diff(new)) / 255.0;
            Some(pixels.map(|(old, new)| std::array::from_fn(|at| part(old[at], new[at]))).collect())
        }
        _ => None,
    };
    let name = change.new.as_ref().or(change.old.as_ref()).map(|name| html::name(name)).unwrap_or_default();
    let pair = Pair { title: format!("<code>{name}</code>"), sides, difference, cells: Vec::new() };
    pair.figure(room).map_or(Shown::NoRoom, Shown::Figure)
}

/// The image of a texture; one without a palette is shown in shades of grey.
fn picture(texture: &Miptex<'_>) -> Option<Picture> {
    let (width, palette) = (index(texture.width()), texture.palette());
    let color = |pixel: u8| palette.as_ref().map_or([pixel; 3], |palette| palette.color(pixel));
    Some(Picture { width, pixels: texture.pixels(0)?.iter().map(|pixel| color(*pixel)).collect() })
}
