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
    /// Whether the textures of the family Quake have Valve's names.
    is_of_valve: bool,
    names: bspkit::record::FlagNames,
}

impl Flags {
    pub(crate) fn new(map: &Bsp<'_>, family: Family) -> Self {
        let is_of_valve = map.dialect().versions.contains(&30);
        Flags { family, is_of_valve, names: map.dialect().game(map.version()).flags }
    }

    fn bit(&self, kind: FlagKind, name: &str) -> u32 {
        let own = self.names.iter().filter(|(own, _)| *own == kind).flat_map(|(_, bits)| bits.iter());
        own.filter(|(_, own)| *own == name).fold(0, |bits, (bit, _)| bits | bit)
    }

    /// The bit of the contents with a name; 0 if the game has none.
    pub(crate) fn contents(&self, name: &str) -> u32 {
        if self.family == Family::Quake {
            return crate::contents::named(name);
        }
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
        if self.family == Family::Quake {
            return self.tool_of_quake(contents);
        }
        let has = |tool: &&Tool| contents & self.contents(tool.flag) != 0;
        let tool = TOOLS.iter().find(has).unwrap_or(&UNSEEN);
        match self.family {
            Family::Quake2 | Family::Quake => tool.quake2,
            Family::Quake3 => tool.quake3,
            Family::Source => tool.source,
        }
    }

    /// The same for Quake and GoldSrc, whose textures say what a volume holds.
    fn tool_of_quake(&self, contents: u32) -> &'static str {
        const TOOLS: [(&str, [&str; 2]); 7] = [
            ("ORIGIN", ["origin"; 2]),
            ("CLIP", ["clip"; 2]),
            ("SKY", ["sky"; 2]),
            ("LAVA", ["*lava1", "!lava"]),
            ("SLIME", ["*slime0", "!slime"]),
            ("WATER", ["*water0", "!water"]),
            ("SOLID", ["skip", "null"]),
        ];
        let is_its = |(name, _): &&(&str, _)| contents & crate::contents::named(name) != 0;
        let names = TOOLS.iter().find(is_its).map_or(["*water0", "!water"], |(_, names)| *names);
        names[usize::from(self.is_of_valve)]
    }
}
