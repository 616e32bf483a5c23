//! The textures that editors have for what only compilers and games see.

use bspkit::Bsp;
use bspkit::record::FlagKind;

/// The families of games whose tool textures have the same names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Family {
    /// Quake, GoldSrc and their relatives.
    Quake,
    /// Quake II and its relatives.
    Quake2,
    /// Quake III and its relatives: the map names shaders.
    Quake3,
    /// Source.
    Source,
}

/// A word for a use, and the texture of each family.
struct Tool {
    /// The flag of the volume that asks for it.
    flag: &'static str,
    quake2: &'static str,
    quake3: &'static str,
    source: &'static str,
}

/// The first whose flag a volume has; names of the games' own editors.
const TOOLS: [Tool; 8] = [
    Tool { flag: "ORIGIN", quake2: "e1u1/origin", quake3: "common/origin", source: "tools/toolsorigin" },
    Tool { flag: "AREAPORTAL", quake2: "e1u1/trigger", quake3: "common/areaportal", source: "tools/toolsareaportal" },
    Tool { flag: "CLUSTERPORTAL", quake2: "e1u1/trigger", quake3: "common/clusterportal", source: "tools/toolsskip" },
    Tool { flag: "LADDER", quake2: "e1u1/clip", quake3: "common/clip", source: "tools/toolsinvisibleladder" },
    Tool { flag: "PLAYERCLIP", quake2: "e1u1/clip", quake3: "common/clip", source: "tools/toolsplayerclip" },
    Tool { flag: "MONSTERCLIP", quake2: "e1u1/clip", quake3: "common/monsterclip", source: "tools/toolsnpcclip" },
    Tool { flag: "BOTCLIP", quake2: "e1u1/clip", quake3: "common/botclip", source: "tools/toolsclip" },
    Tool { flag: "TRIGGER", quake2: "e1u1/trigger", quake3: "common/trigger", source: "tools/toolstrigger" },
];

/// What a side has that is not seen.
const UNSEEN: Tool = Tool { flag: "", quake2: "e1u1/skip", quake3: "common/caulk", source: "tools/toolsnodraw" };

/// The flags of a game, by their names.
#[derive(Debug)]
pub(crate) struct Flags {
    pub(crate) family: Family,
    names: bspkit::record::FlagNames,
}

impl Flags {
    pub(crate) fn new(map: &Bsp<'_>, family: Family) -> Self {
        Flags { family, names: map.dialect().game(map.version()).flags }
    }

    fn bit(&self, kind: FlagKind, name: &str) -> u32 {
        let own = self.names.iter().filter(|(own, _)| *own == kind).flat_map(|(_, bits)| bits.iter());
        own.filter(|(_, own)| *own == name).fold(0, |bits, (bit, _)| bits | bit)
    }

    /// The bit of the contents with a name; 0 if the game has none.
    pub(crate) fn contents(&self, name: &str) -> u32 {
        self.bit(FlagKind::Contents, name)
    }

    /// The bit of surfaces with a name; 0 if the game has none.
    pub(crate) fn surface(&self, name: &str) -> u32 {
        self.bit(FlagKind::Surface, name)
    }

    /// The bits of surfaces that are not seen.
    pub(crate) fn unseen(&self) -> u32 {
        ["NODRAW", "SKIP", "HINT"].iter().fold(0, |bits, name| bits | self.surface(name))
    }

    /// The tool texture for a volume with these contents.
    pub(crate) fn tool(&self, contents: u32) -> &'static str {
        let has = |tool: &&Tool| contents & self.contents(tool.flag) != 0;
        let tool = TOOLS.iter().find(has).unwrap_or(&UNSEEN);
        match self.family {
            Family::Quake if tool.flag == "ORIGIN" => "origin",
            Family::Quake if tool.flag.ends_with("CLIP") => "clip",
            Family::Quake => "skip",
            Family::Quake2 => tool.quake2,
            Family::Quake3 => tool.quake3,
            Family::Source => tool.source,
        }
    }
}
