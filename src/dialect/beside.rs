//! Files that lie beside a map and go by what is in it: what engines read in place of lumps, what was made for the map
//! as it was, and what holds a sum of it. An edit of the map does not change them.

use super::Role;

/// A file beside a map, and what makes it stale.
///
/// ```
/// use bspkit::dialect::{QUAKE, QUAKE3};
/// let of_quake = QUAKE.beside.iter().copied().flatten();
/// assert!(of_quake.clone().any(|file| (file.folder, file.after) == ("maps/", ".lit")));
/// assert!(QUAKE3.beside.iter().copied().flatten().any(|file| file.after == ".aas"));
/// ```
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Beside {
    /// Its folder, from the folder of the game: `maps/` is that of the map. A part `*` is any folder.
    pub folder: &'static str,
    /// What follows the name of the map. A `*` is the checksum of the entities ([`Sum::Crc16`](super::Sum::Crc16)) in
    /// four digits, `#` a number, from 0 on.
    pub after: &'static str,
    /// Edits that make it stale; the first one that fits is said.
    pub stale: &'static [Stale],
}

/// Edits that make a file stale, and the effect.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Stale {
    /// The edits.
    pub by: By,
    /// What follows the name of the file in a sentence.
    pub says: &'static str,
}

/// A kind of edit.
#[derive(Clone, Copy, Debug)]
pub enum By {
    /// Any edit.
    Any,
    /// One that changes the size of the map.
    Size,
    /// One of any of these parts of the map.
    Content(&'static [Part]),
    /// One of the lump whose index is in the head of the file (a lump file of Source).
    LumpFile,
    /// Such a one that changes other lumps too, which the lump may name by number.
    LumpFileNumbers,
    /// One after which players need other files.
    Needs,
}

/// A part of a map on which a file beside it depends.
#[derive(Clone, Copy, Debug)]
pub enum Part {
    /// The lump with this role.
    Role(Role),
    /// These fields of its records. A lump whose records are not known counts as a whole.
    Fields(Role, &'static [&'static str]),
    /// The lump with this name.
    Lump(&'static str),
    /// Entities of classes that begin so; with `true`, those with a brush model too.
    Entities(&'static [&'static str], bool),
    /// The numbers by which entities name brush models.
    ModelNumbers,
    /// Where the light of faces is, how many luxels they have, and how much light there is.
    LightPlaces,
}

const fn file(folder: &'static str, after: &'static str, stale: &'static [Stale]) -> Beside {
    Beside { folder, after, stale }
}

const fn stale(by: By, says: &'static str) -> Stale {
    Stale { by, says }
}

/// The extension of the files of areas for the bots of Quake III, which hold the checksum of the whole map.
pub const AREAS: &str = ".aas";

/// The extension of the files of entities that engines read in place of those of the map.
pub const TEXT_FILE: &str = ".ent";

const MODELS: Stale = stale(
    By::Content(&[Part::ModelNumbers]),
    "names brush models by the numbers that they had before this edit, in engines that read such files: make it again",
);

const ENTITIES: By = By::Content(&[Part::Role(Role::Entities)]);

/// What is solid, and its place. A leaf has more fields than its contents: visibility, the sound and the light in it.
macro_rules! solid {
    ($($more:expr),*) => {
        By::Content(&[
            Part::Role(Role::Planes),
            Part::Fields(Role::Nodes, &["plane", "children"]),
            Part::Role(Role::ClipNodes),
            Part::Fields(Role::Leafs, &["contents", "leaf_brush_count", "first_leaf_brush"]),
            Part::Role(Role::LeafBrushes),
            Part::Fields(
                Role::Models,
                &["mins", "maxs", "origin", "head_nodes", "head_node", "clip_nodes", "first_brush", "brush_count"],
            ),
            Part::Role(Role::Brushes),
            Part::Fields(Role::BrushSides, &["plane", "bevel"]),
            Part::Lump("PHYSCOLLIDE"),
            Part::Lump("PHYSDISP"),
            Part::Lump("DISPINFO"),
            Part::Lump("DISP_VERTS"),
            Part::Lump("game:sprp"),
            $($more,)*
        ])
    };
}

/// What players and bots walk on, and what moves these.
const GROUND: By =
    solid!(Part::Entities(&["func_", "trigger_", "prop_", "info_teleport", "misc_teleport", "info_ladder"], true));

/// What has a place.
const PLACES: By = solid!();

/// What visibility compilers number leafs by.
const TREE: By = By::Content(&[
    Part::Role(Role::Planes),
    Part::Fields(Role::Nodes, &["plane", "children"]),
    Part::Fields(Role::Leafs, &["contents", "cluster"]),
]);

const OTHER_PLACES: &str = "names places of the map before this edit: look whether these are right";

/// Names of places for messages of teams: `LOC_LoadLocations` of ProQuake, QuakeWorld's clients and Quake II's.
const LOCATIONS: Beside = file("locs/", ".loc", &[stale(PLACES, OTHER_PLACES)]);

/// The same where DarkPlaces looks first (`CL_Locs_Reload_f`).
const LOCATIONS_BY_MAP: Beside = file("maps/", ".loc", &[stale(PLACES, OTHER_PLACES)]);

/// Lights in real time of DarkPlaces and FTE: `R_Shadow_LoadWorldLights` reads entities only if there is no such file.
const REAL_TIME_LIGHTS: Beside = file(
    "maps/",
    ".rtlights",
    &[stale(
        By::Content(&[Part::Entities(&["light"], false)]),
        "replaces the lights of the entities where DarkPlaces and FTE calculate light in real time: this edit has no \
         effect there while it lies there",
    )],
);

const WALKED: &str = "is of the map before this edit: bots may go wrong until it is made again";

/// `SV_SpawnServer` of DarkPlaces, FTE and Quakespasm (`external_ents`), Yamagi Quake II (`sv_entfile`), Q2PRO
/// (`map_override_path`).
const TEXT: Beside = file(
    "maps/",
    TEXT_FILE,
    &[
        MODELS,
        stale(
            ENTITIES,
            "replaces the entities of the map in engines that read such files: this edit has no effect there while it \
             lies there",
        ),
    ],
);

/// Quakespasm, Yamagi Quake II and Q2PRO look for it first.
const TEXT_BY_SUM: Beside = file(
    "maps/",
    "@*.ent",
    &[stale(ENTITIES, "is found by the checksum of the entities as they were: engines do not read it with this edit")],
);

/// Input and output of compilers.
const PORTALS: Beside = file(
    "maps/",
    ".prt",
    &[stale(TREE, "has the portals of the map before this edit: do not calculate visibility by it")],
);

/// Quake. `.lit` and `.vis` are read by DarkPlaces, FTE, Quakespasm and most others, `.lux` by FTE, `.dlit` by
/// DarkPlaces. Their light has the places of the map's, three bytes for one, and the length is compared. The leafs and
/// the visibility in a `.vis` file are those of VisPatch, with transparent water. `.bot` has the ways of KTX
/// (`LoadBotRoutingFromFile`), `.way` those of FrikBot.
pub(super) const QUAKE: &[Beside] = &[
    TEXT,
    TEXT_BY_SUM,
    file("maps/", ".lit", &[stale(LIT, OLD_FACES), stale(LIGHT, REPLACES_LIGHT)]),
    file("maps/", ".lux", &[stale(LIT, OLD_FACES), stale(LIGHT, OLD_DIRECTIONS)]),
    file("maps/", ".dlit", &[stale(LIT, OLD_FACES), stale(LIGHT, OLD_DIRECTIONS)]),
    REAL_TIME_LIGHTS,
    file(
        "maps/",
        ".vis",
        &[
            stale(
                By::Content(&[
                    Part::Role(Role::LeafFaces),
                    Part::Fields(Role::Nodes, &["children"]),
                    Part::Fields(Role::Models, &["head_nodes", "visible_leafs"]),
                ]),
                "has the leafs of the map before this edit, which engines read in place of its own: make it again",
            ),
            stale(
                By::Content(&[Part::Role(Role::Visibility), Part::Role(Role::Leafs)]),
                "replaces visibility and leafs of the map in engines that read it: this edit has no effect there while \
                 it lies there",
            ),
        ],
    ),
    file("maps/", ".way", &[stale(GROUND, WALKED)]),
    file("maps/", ".bot", &[stale(GROUND, WALKED)]),
    file("bots/maps/", ".bot", &[stale(GROUND, WALKED)]),
    file("bots/navigation/", ".nav", &[stale(GROUND, WALKED)]),
    LOCATIONS,
    LOCATIONS_BY_MAP,
    PORTALS,
];

const LIGHT: By = By::Content(&[
    Part::Role(Role::Lighting),
    Part::Lump("bspx:RGBLIGHTING"),
    Part::Lump("bspx:LIGHTING_E5BGR9"),
    Part::Lump("bspx:LIGHTINGDIR"),
]);
const LIT: By = By::Content(&[Part::LightPlaces]);
const REPLACES_LIGHT: &str =
    "replaces the light of the map in engines that read it: this edit has no effect there while it lies there";
const OLD_DIRECTIONS: &str = "has the directions of the light before this edit: make it again";
const OLD_FACES: &str = "has the light of faces where it was before this edit: make it again";

/// GoldSrc: Xash3D reads the `.ent` file unless it is older than the map, DarkPlaces and FTE always. The engine makes
/// its graph of nodes again if the map is newer (`CGraph::CheckNODFile` of the game's code). The bots of Condition Zero
/// compare the size of the map (`LoadNavigationMap`), and so does YaPB. Other plug-ins with bots: POD-Bot, E-BOT,
/// jk_botti.
pub(super) const GOLDSRC: &[Beside] = &[
    file(
        "maps/",
        TEXT_FILE,
        &[
            MODELS,
            stale(
                ENTITIES,
                "replaces the entities of the map in engines that read such files (Xash3D only until the map is \
                 newer): this edit has no effect there while it lies there",
            ),
            stale(By::Any, "is older than the map then: Xash3D reads the entities of the map and not this file"),
        ],
    ),
    file("maps/", ".nav", &[stale(By::Size, OTHER_SIZE), stale(GROUND, WALKED)]),
    file("maps/graphs/", ".nod", &[stale(By::Any, OLDER)]),
    file("maps/graphs/", ".nrp", &[stale(By::Any, OLDER)]),
    file("addons/yapb/data/graph/", ".graph", &[stale(By::Size, OTHER_SIZE), stale(GROUND, WALKED)]),
    file("addons/podbot/wptdefault/", ".pwf", &[stale(GROUND, WALKED)]),
    file("addons/ebot/waypoints/", ".ewp", &[stale(GROUND, WALKED)]),
    file("addons/jk_botti/waypoints/", ".wpt", &[stale(GROUND, WALKED)]),
    LOCATIONS,
    REAL_TIME_LIGHTS,
    RESOURCES,
    PORTALS,
];

const OTHER_SIZE: &str = "holds the size of the map before this edit: games say that it is out of date";
const OLDER: &str = "is older than the map then: the game makes it again when it loads the map";

const RESOURCES: Beside =
    file("maps/", ".res", &[stale(By::Needs, "does not list the files that players need after this edit")]);

/// Quake II and its rerelease; `.nod` has the ways of ACE Bot (`ACEND_LoadNodes`).
pub(super) const QUAKE2: &[Beside] = &[
    TEXT,
    TEXT_BY_SUM,
    REAL_TIME_LIGHTS,
    file("bots/navigation/", ".nav", &[stale(GROUND, WALKED)]),
    file("nav/", ".nod", &[stale(GROUND, WALKED)]),
    LOCATIONS,
    PORTALS,
];

/// Quake III (`.aas`: `AAS_LoadAASFile` of be_aas_file.c). q3map2 calculates light by the surfaces of the `.srf` file.
pub(super) const QUAKE3: &[Beside] = &[
    file(
        "maps/",
        AREAS,
        &[stale(By::Any, "holds a checksum of the whole map, so bots will refuse it: build it again")],
    ),
    TEXT,
    REAL_TIME_LIGHTS,
    PORTALS,
    file(
        "maps/",
        ".srf",
        &[stale(
            By::Content(&[Part::Fields(Role::Faces, &["shader", "kind", "first_vertex", "vertex_count", "fog"])]),
            "numbers the surfaces of the map before this edit: do not calculate light by it",
        )],
    ),
];

/// The games of Raven (`CNavigator::Load`).
pub(super) const RAVEN: &[Beside] = &[
    file(
        "maps/",
        ".nav",
        &[stale(By::Any, "holds a checksum of the whole map: the game does not take it and makes its own")],
    ),
    PORTALS,
];

/// Source: lump files (`CMapLoadHelper::Init`, in engines from Episode One to Left 4 Dead 2), areas for bots
/// (`CNavMesh::Load`), nodes (`CAI_NetworkManager::IsAIFileCurrent`), the list for players (`CDownloadListGenerator`),
/// and the copy that clients load by `sv_downloadurl`. The bots of RCBot2 have a folder of ways for each game.
pub(super) const SOURCE: &[Beside] = &[
    file(
        "maps/",
        "_l_#.lmp",
        &[
            stale(
                By::LumpFileNumbers,
                "in games that read lump files, with the numbers from before this edit: make it again",
            ),
            stale(By::LumpFile, "in games that read lump files: this edit has no effect there while it lies there"),
        ],
    ),
    file("maps/", ".nav", &[stale(By::Size, OTHER_SIZE), stale(GROUND, WALKED)]),
    file("maps/graphs/", ".ain", &[stale(By::Any, OLDER)]),
    file("rcbot2/waypoints/*/", ".rcw", &[stale(GROUND, WALKED)]),
    file("addons/rcbot2/waypoints/*/", ".rcw", &[stale(GROUND, WALKED)]),
    file(
        "maps/",
        ".bsp.bz2",
        &[stale(By::Any, "is the map before this edit, which servers give to players: compress the new map")],
    ),
    RESOURCES,
    PORTALS,
];
