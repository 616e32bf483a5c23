//! The contents that materials of Source say of a brush.
//!
//! A `.vmf` has no contents: compilers take them from materials. A compiler points sides whose texinfo no face uses at
//! another texinfo, so a brush that is not drawn may have a material that says something else than its contents.

use std::collections::HashMap;

use crate::looks::Look;
use crate::pieces::{Piece, PieceSide};
use crate::report::Counts;

const SOLID: u32 = 0x1;
const GRATE: u32 = 0x8;
const BLOCK_LOS: u32 = 0x40;
const OPAQUE: u32 = 0x80;
const PLAYER_CLIP: u32 = 0x1_0000;
const MONSTER_CLIP: u32 = 0x2_0000;
/// Counter-Strike: Global Offensive; older games have a current here, which no material says.
const GRENADE_CLIP: u32 = 0x8_0000;
const DRONE_CLIP: u32 = 0x10_0000;
const LADDER: u32 = 0x2000_0000;

/// What fills a brush, of which a drawn material may be: solid, window, grate, slime, water.
const FILLED: u32 = SOLID | 0x2 | 0x4 | GRATE | 0x10 | 0x20;

/// Teams, which a few materials of Left 4 Dead 2 say.
const TEAMS: u32 = 0x1800;

/// The contents that materials decide.
const DECIDED: u32 =
    TEAMS | FILLED | BLOCK_LOS | OPAQUE | PLAYER_CLIP | MONSTER_CLIP | GRENADE_CLIP | DRONE_CLIP | LADDER;

/// Materials of the games' editors and their contents, as the maps that show all of them have them. A longer name has
/// the same contents and other sounds (`toolsclip_metal`).
const TOOLS: [(&str, u32); 12] = [
    ("tools/toolsnodraw", SOLID),
    ("tools/toolsclip", PLAYER_CLIP | MONSTER_CLIP),
    ("tools/toolsplayerclip", PLAYER_CLIP),
    ("tools/toolsnpcclip", MONSTER_CLIP),
    ("tools/toolsblock_los", BLOCK_LOS),
    ("tools/toolsblocklight", OPAQUE),
    ("tools/toolsgrenadeclip", GRENADE_CLIP),
    ("tools/toolsdroneclip", DRONE_CLIP),
    ("tools/toolsinvisibleladder", GRATE | LADDER),
    ("tools/toolsinvisible", GRATE),
    ("tools/toolsblack", SOLID),
    ("tools/toolsskybox", SOLID),
];

/// The contents that a material of the editors says; `None` for all others, and for those that are for several uses.
pub(crate) fn said(name: &[u8]) -> Option<u32> {
    let is_it = |tool: &str| {
        let rest = name.get(..tool.len()).filter(|start| start.eq_ignore_ascii_case(tool.as_bytes()));
        rest.is_some_and(|_| matches!(name.get(tool.len()), None | Some(b'_')))
    };
    TOOLS.iter().find(|(tool, _)| is_it(tool)).map(|(_, contents)| *contents)
}

/// The material of the editors that says these contents.
fn tool_of(contents: u32) -> Option<&'static str> {
    TOOLS.iter().find(|(_, said)| *said == contents).map(|(tool, _)| *tool)
}

fn is_of_editors(name: &[u8]) -> bool {
    name.get(..6).is_some_and(|start| start.eq_ignore_ascii_case(b"tools/"))
}

/// The contents that a compiler gives a brush with these materials, where those of the editors decide: all sides have
/// them, or the first one has one that fills nothing.
pub(crate) fn said_by_all<'n>(names: impl IntoIterator<Item = &'n [u8]>) -> Option<u32> {
    let mut all = names.into_iter().map(said);
    let first = all.next()??;
    (first & FILLED == 0 || all.all(|own| own == Some(first))).then_some(first)
}

/// What the material of a side says of the contents of its brush.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Says {
    It,
    Perhaps,
    Other,
    /// It has no material.
    Nothing,
}

/// Gives brushes whose materials say other contents than they have the material of the editors that says them. Where
/// there is no such material, the brush is named. A side whose material says the contents becomes the first one.
pub(crate) fn mend(pieces: &mut [Piece], looks: &mut Vec<Look>, counts: &mut Counts) {
    let mut by_name: HashMap<Vec<u8>, Option<u32>> = HashMap::new();
    for piece in pieces.iter() {
        let decided = piece.contents & DECIDED;
        for look in piece.sides.iter().filter_map(|side| looks.get(side.look?)) {
            let same = |own: &mut Option<u32>| *own = own.filter(|own| *own == decided);
            by_name.entry(look.name.to_ascii_lowercase()).and_modify(same).or_insert(Some(decided));
        }
    }
    let says = |name: &[u8], decided: u32| match (said(name), by_name.get(&name.to_ascii_lowercase())) {
        (Some(said), _) if said == decided => Says::It,
        (Some(_), _) => Says::Other,
        // What has one meaning in the whole map says it, whatever its name is.
        (None, Some(Some(_))) => Says::It,
        // What has several is drawn, or is for several uses: it may say what fills a brush, or nothing. Of the editors'
        // own materials one that says it is surer.
        (None, _) => {
            let may = match is_of_editors(name) && decided != SOLID {
                true => tool_of(decided).is_none(),
                false => decided & FILLED != 0 || decided == 0,
            };
            if may { Says::Perhaps } else { Says::Other }
        }
    };
    let mut made: HashMap<(usize, u32), usize> = HashMap::new();
    for piece in pieces.iter_mut() {
        let decided = piece.contents & DECIDED;
        let says = |side: &PieceSide| {
            side.look.and_then(|look| looks.get(look)).map_or(Says::Nothing, |look| says(&look.name, decided))
        };
        let all: Vec<Says> = piece.sides.iter().map(says).collect();
        // Compilers take the contents of the first side, and add what fills from the others (`BrushContents` of vbsp).
        // The order of the sides is that of the map, where a compiler sorted them.
        let best = [Says::It, Says::Perhaps].iter().find_map(|best| all.iter().position(|says| says == best));
        if let Some(best) = best {
            if all[0] != all[best] {
                piece.sides[..=best].rotate_right(1);
            }
            continue;
        }
        if all.iter().all(|says| *says == Says::Nothing) {
            continue;
        }
        let Some(tool) = tool_of(decided) else {
            counts.leave_out("brush", "its contents: the materials of its sides say others", piece.number);
            continue;
        };
        counts.note("brush", "its materials say other contents; it has the tool texture of its own", piece.number);
        for side in &mut piece.sides {
            let Some(old) = side.look.filter(|look| *look < looks.len()) else { continue };
            side.look = Some(*made.entry((old, decided)).or_insert_with(|| {
                looks.push(Look { name: tool.as_bytes().to_vec(), ..looks[old].clone() });
                looks.len() - 1
            }));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn materials_of_editors_say_contents() {
        for (name, contents) in [
            ("tools/toolsclip", Some(PLAYER_CLIP | MONSTER_CLIP)),
            ("TOOLS/TOOLSCLIP_METAL", Some(PLAYER_CLIP | MONSTER_CLIP)),
            ("tools/toolsinvisibleladder", Some(GRATE | LADDER)),
            ("tools/toolsinvisible", Some(GRATE)),
            ("tools/toolstrigger", None),
            ("brick/wall", None),
        ] {
            assert_eq!(said(name.as_bytes()), contents, "{name}");
        }
        let all = |names: &[&'static str]| said_by_all(names.iter().map(|name| name.as_bytes()));
        assert_eq!(all(&["tools/toolsnodraw", "tools/toolsnodraw"]), Some(SOLID));
        assert_eq!(all(&["tools/toolsnodraw", "glass/window"]), None);
        assert_eq!(all(&["tools/toolsnodraw", "tools/toolsclip"]), None);
        assert_eq!(all(&["tools/toolsclip", "brick/wall"]), Some(PLAYER_CLIP | MONSTER_CLIP));
        assert_eq!(all(&[]), None);
    }
}
