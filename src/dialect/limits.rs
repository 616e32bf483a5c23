//! The data of the checks of each dialect, and the limits of its engines: `MAX_MAP_` constants of the engines' and
//! compilers' sources.

use super::checks::{
    Checks, Engine, Limit, Spawn, bytes, engine, entities, face_edges, in_game, of_class, records, textures, values,
};

/// Quake: model.c refuses lumps whose size is not a multiple of the record, and extents of more than 512.
pub(super) const QUAKE: Checks = Checks {
    engines: &[
        engine(
            "quake",
            "Quake",
            &[29],
            // bspfile.h of id's tools.
            &[
                records("MODELS", 256),
                entities(1_024).of_compilers(),
                // MAX_EDICTS of the engine, less the world, one player and the four bodies that the game makes first.
                in_game(600 - 6),
                bytes("ENTITIES", 65_536).of_compilers(),
                records("PLANES", 32_767),
                records("NODES", 32_767),
                records("CLIPNODES", 32_767),
                records("LEAFS", 8_192),
                records("VERTEXES", 65_535),
                records("FACES", 65_535),
                records("MARKSURFACES", 65_535),
                records("TEXINFO", 4_096).of_compilers(),
                records("EDGES", 256_000).of_compilers(),
                records("SURFEDGES", 512_000).of_compilers(),
                textures(512).of_compilers(),
                bytes("TEXTURES", 0x20_0000).of_compilers(),
                bytes("LIGHTING", 0x10_0000).of_compilers(),
                bytes("VISIBILITY", 0x10_0000).of_compilers(),
            ],
        ),
        // Its nodes say leafs in 16 bits.
        engine("quakespasm", "Quakespasm", &[], &[records("LEAFS", 32_767)]),
    ],
    required: &["PLANES", "NODES", "LEAFS", "MODELS", "ENTITIES"],
    first_leaf: Some(-2),
    strict_tree: false,
    hulls: 2,
    count_is_no_hull: false,
    needs_empty_leaf: false,
    most_extents: Some(512),
    paired_planes: false,
    is_usual: |_| true,
    versions: &[],
    members: &[],
    axial_sides: false,
    left_out: &[],
    // ED_LoadFromFile of pr_edict.c; `remove` and `makestatic` in id's programs.
    spawn: Spawn {
        removed: &[
            "info_null",
            "light_torch_small_walltorch",
            "light_flame_large_yellow",
            "light_flame_small_yellow",
            "light_flame_small_white",
            "light_globe",
        ],
        removed_without_name: &["light"],
        mode_flags: &[0x100, 0x200, 0x400, 0x800],
        mode_keys: &[],
        known: None,
    },
};

/// BSP2 and 2PSB: the engines that read them have no limits for lumps. Quakespasm accepts larger extents.
pub(super) const BSP2: Checks =
    Checks { engines: &[engine("quakespasm", "Quakespasm", &[], &[])], most_extents: None, ..QUAKE };

/// GoldSrc. Xash3D refuses these lumps if they are empty; ReHLDS would read invalid memory.
pub(super) const GOLDSRC: Checks = Checks {
    engines: &[
        // SDHLT's bspfile.h, except for leafs: the engine has room for 8,192.
        engine("goldsrc", "GoldSrc", &[], &goldsrc_limits(8_192)),
        engine("sdhlt", "SDHLT, for engines with more room", &[], &goldsrc_limits(32_760)),
    ],
    required: &["PLANES", "NODES", "LEAFS", "MODELS", "ENTITIES"],
    first_leaf: Some(-2),
    strict_tree: false,
    hulls: 3,
    count_is_no_hull: true,
    needs_empty_leaf: false,
    // "Bad surface extents" of ReHLDS.
    most_extents: Some(512),
    paired_planes: false,
    is_usual: |_| true,
    versions: &[],
    members: &[],
    axial_sides: false,
    left_out: &[],
    // The games' code: `light` and `info_null` remove themselves. Bit 0x800 keeps an entity out of deathmatch.
    spawn: Spawn {
        removed: &["info_null", "info_texlights", "info_compile_parameters"],
        removed_without_name: &["light", "light_spot", "light_environment"],
        mode_flags: &[],
        mode_keys: &[],
        known: None,
    },
};

const fn goldsrc_limits(most_leafs: usize) -> [Limit; 17] {
    [
        records("MODELS", 512),
        entities(16_384).of_compilers(),
        // NUM_EDICTS of ReHLDS, less the world and one player; each further player adds 15. The protocol has room for
        // 2,048.
        in_game(900 - 2).of_game("liblist.gam"),
        bytes("ENTITIES", 0x20_0000).of_compilers(),
        records("PLANES", 32_768).of_compilers(),
        records("NODES", 32_767),
        records("CLIPNODES", 32_767),
        records("LEAFS", most_leafs),
        records("VERTEXES", 65_535),
        records("FACES", 65_535).of_compilers(),
        records("MARKSURFACES", 65_535).of_compilers(),
        records("TEXINFO", 32_767).of_compilers(),
        records("EDGES", 256_000).of_compilers(),
        records("SURFEDGES", 512_000).of_compilers(),
        textures(4_096).of_compilers(),
        bytes("LIGHTING", 0x300_0000).of_compilers(),
        bytes("VISIBILITY", 0x80_0000).of_compilers(),
    ]
}

/// Quake II: cmodel.c refuses these lumps if they are empty, and a leaf 0 that is not solid. QBISM's tools raise the
/// limits to the ranges of the fields.
pub(super) const QUAKE2: Checks = Checks {
    engines: &[
        engine("quake2", "Quake II", &[], &quake2_limits(255, 1_024, 0x20_0000, 0x10_0000)),
        // The engine compares the number of portals with the limit of areas. Its `COM_Parse` cuts values of more than
        // 127 bytes; engines in use today have a buffer of 1,024.
        engine("quake2-3.21", "Quake II 3.21", &[], &quake2_limits(255, 256, 0x20_0000, 0x10_0000)).tokens(127),
        engine("q2pro", "Q2PRO", &[], &[records("AREAS", 256), face_edges(4_096)]),
    ],
    required: &["TEXINFO", "LEAFS", "PLANES", "LEAFBRUSHES", "NODES", "MODELS", "ENTITIES"],
    first_leaf: Some(1),
    strict_tree: true,
    hulls: 0,
    count_is_no_hull: false,
    needs_empty_leaf: true,
    // gl_rsurf.c has a buffer of 34 by 34 luxels and does not check the size.
    most_extents: None,
    paired_planes: false,
    is_usual: |_| true,
    versions: &[],
    members: &[],
    axial_sides: false,
    left_out: &[],
    // G_SpawnEntities of g_spawn.c and the functions of its table.
    spawn: Spawn {
        removed: &["info_null", "func_group"],
        removed_without_name: &["light"],
        mode_flags: &[0x100, 0x200, 0x400, 0x800],
        mode_keys: &[],
        known: None,
    },
};

/// Daikatana: bspfile.h of its tools has three times the light and six times the visibility of Quake II's.
pub(super) const DAIKATANA: Checks = Checks {
    engines: &[engine("daikatana", "Daikatana", &[], &quake2_limits(1_024, 1_024, 0x60_0000, 0x60_0000))],
    ..QUAKE2
};

/// The collision code has room for 1,024 models; servers of Quake II have 255 places for them (`MAX_MODELS` less the
/// first, which stays empty).
const fn quake2_limits(models: usize, most_portals: usize, light: usize, visibility: usize) -> [Limit; 20] {
    [
        records("MODELS", models),
        records("BRUSHES", 8_192),
        entities(2_048).of_compilers(),
        // MAX_EDICTS, less the world, one player and the eight bodies that the game makes first.
        in_game(1_024 - 10),
        bytes("ENTITIES", 0x4_0000),
        records("PLANES", 65_536),
        records("NODES", 65_536),
        records("LEAFS", 65_536),
        records("VERTEXES", 65_536).of_compilers(),
        records("FACES", 65_536).of_compilers(),
        records("LEAFFACES", 65_536).of_compilers(),
        records("LEAFBRUSHES", 65_536),
        records("TEXINFO", 8_192),
        records("EDGES", 128_000).of_compilers(),
        // This is less than MAX_MAP_SURFEDGES.
        records("SURFEDGES", 255_999),
        records("BRUSHSIDES", 65_536),
        bytes("LIGHTING", light).of_compilers(),
        bytes("VISIBILITY", visibility),
        records("AREAS", 256),
        records("AREAPORTALS", most_portals),
    ]
}

/// Qbism: qfiles.h of q2tools-220.
pub(super) const QBISM: Checks = Checks {
    engines: &[engine(
        "qbism",
        "q2tools-220, for engines with as much room",
        &[],
        &[
            records("MODELS", 131_072).of_compilers(),
            records("BRUSHES", 1_048_576).of_compilers(),
            entities(131_072).of_compilers(),
            bytes("ENTITIES", 13_631_488).of_compilers(),
            records("PLANES", 1_048_576).of_compilers(),
            records("NODES", 1_048_576).of_compilers(),
            records("LEAFS", 1_048_576).of_compilers(),
            records("VERTEXES", 4_194_304).of_compilers(),
            records("FACES", 1_048_576).of_compilers(),
            records("LEAFFACES", 1_048_576).of_compilers(),
            records("LEAFBRUSHES", 1_048_576).of_compilers(),
            records("TEXINFO", 1_048_576).of_compilers(),
            records("EDGES", 1_048_576).of_compilers(),
            records("SURFEDGES", 4_194_304).of_compilers(),
            records("BRUSHSIDES", 4_194_304).of_compilers(),
            bytes("LIGHTING", 54_525_952).of_compilers(),
            bytes("VISIBILITY", 0x800_0000).of_compilers(),
            records("AREAS", 256).of_compilers(),
            records("AREAPORTALS", 1_024).of_compilers(),
        ],
    )],
    ..QUAKE2
};

/// Quake III: cm_load.c refuses these lumps if they are empty.
pub(super) const QUAKE3: Checks = Checks {
    engines: &[
        // MAX_SUBMODELS, the engine's limit; its header has 0x400.
        engine("quake3", "Quake III Arena", &[46], &QUAKE3_LIMITS),
        engine(
            "et",
            "Wolfenstein: Enemy Territory",
            &[47],
            &[
                // MAX_SUBMODELS of its collision code; its header has 0x800.
                records("MODELS", 512),
                records("BRUSHES", 16_384).of_compilers(),
                entities(4_096).of_compilers(),
                in_game(IN_GAME_QUAKE3),
                bytes("ENTITIES", 0x4_0000).of_compilers(),
                records("PLANES", 0x4_0000).of_compilers(),
                records("NODES", 0x2_0000).of_compilers(),
                records("LEAFS", 0x2_0000).of_compilers(),
                records("DRAWVERTS", 0x8_0000).of_compilers(),
                records("SURFACES", 0x2_0000).of_compilers(),
                records("LEAFSURFACES", 0x2_0000).of_compilers(),
                records("LEAFBRUSHES", 0x4_0000).of_compilers(),
                records("SHADERS", 0x400).of_compilers(),
                records("DRAWINDEXES", 0x8_0000).of_compilers(),
                records("BRUSHSIDES", 0x10_0000).of_compilers(),
                bytes("LIGHTMAPS", 0x80_0000).of_compilers(),
                bytes("VISIBILITY", 0x20_0000).of_compilers(),
            ],
        ),
        Q3MAP2,
    ],
    required: &["SHADERS", "PLANES", "NODES", "LEAFS", "MODELS", "ENTITIES"],
    first_leaf: None,
    strict_tree: false,
    hulls: 0,
    count_is_no_hull: false,
    needs_empty_leaf: false,
    most_extents: None,
    paired_planes: false,
    is_usual: |_| true,
    versions: &[],
    members: &[],
    axial_sides: true,
    left_out: &[],
    // G_SpawnGEntityFromSpawnVars of g_spawn.c and the functions of its table.
    spawn: Spawn {
        removed: &["light", "info_null", "func_group", "misc_model"],
        removed_without_name: &["path_corner"],
        mode_flags: &[],
        mode_keys: &["notsingle", "notfree", "notteam"],
        known: None,
    },
};

/// Current versions, which have raised the limits of three lumps and have none for light.
const Q3MAP2: Engine = engine("q3map2", "q3map2", &[], &Q3MAP2_LIMITS);

const Q3MAP2_LIMITS: [Limit; 15] = [
    records("MODELS", 0x400).of_compilers(),
    records("BRUSHES", 0x1_0000).of_compilers(),
    entities(0x1000).of_compilers(),
    bytes("ENTITIES", 0x8_0000).of_compilers(),
    records("PLANES", 0x10_0000).of_compilers(),
    records("NODES", 0x2_0000).of_compilers(),
    records("LEAFS", 0x2_0000).of_compilers(),
    records("DRAWVERTS", 0x10_0000).of_compilers(),
    records("SURFACES", 0x2_0000).of_compilers(),
    records("LEAFSURFACES", 0x10_0000).of_compilers(),
    records("LEAFBRUSHES", 0x4_0000).of_compilers(),
    records("SHADERS", 0x800).of_compilers(),
    records("DRAWINDEXES", 0x8_0000).of_compilers(),
    records("BRUSHSIDES", 0x10_0000).of_compilers(),
    bytes("VISIBILITY", 0x20_0000).of_compilers(),
];

/// The limits of compilers, and those of baseq3.
const QUAKE3_LIMITS: [Limit; 20] = {
    let header = quake3_limits(256, 0x800, 0x4_0000);
    let mut limits = [header[0]; 20];
    let mut index = 0;
    while index < header.len() {
        limits[index + 4] = header[index];
        index += 1;
    }
    limits[0] = in_game(IN_GAME_QUAKE3);
    // MAX_SOUNDS and MAX_MODELS without the first, which stays empty; the game itself needs some too.
    limits[1] = values("noise", 255);
    limits[2] = values("model2", 255);
    // The numbers of MAX_CONFIGSTRINGS after CS_LOCATIONS.
    limits[3] = of_class("target_location", 1_024 - 608 - 1);
    limits
};

/// MAX_GENTITIES of Quake III and Enemy Territory, less 64 players, the world, the number for no entity, and the eight
/// bodies that the game makes first.
const IN_GAME_QUAKE3: usize = 1_024 - 74;

/// Raven's games: OpenJK, and the compiler of the community.
pub(super) const RAVEN: Checks =
    Checks { engines: &[engine("openjk", "OpenJK", &[], &[records("MODELS", 512)]), Q3MAP2], ..QUAKE3 };

pub(super) const QFUSION: Checks = Checks { engines: &[Q3MAP2], ..QUAKE3 };

/// F.A.K.K.2 and Medal of Honor. Of these engines only OpenMoHAA's limits are known (qfiles.h). Whether they rely on
/// the order of brush sides is not known. No map was available to confirm the structs, so a map that they do not fit is
/// not called broken.
pub(super) const RITUAL: Checks = Checks {
    engines: &[engine("openmohaa", "OpenMoHAA", &[17, 18, 19, 21], &quake3_limits(0x400, 0x2000, 0x10_0000))],
    axial_sides: false,
    is_usual: |_| false,
    ..QUAKE3
};

/// qfiles.h and its successors; engines differ in the limits of models, entities and entity text.
const fn quake3_limits(models: usize, most_entities: usize, text: usize) -> [Limit; 16] {
    [
        records("MODELS", models),
        records("BRUSHES", 0x8000).of_compilers(),
        entities(most_entities).of_compilers(),
        bytes("ENTITIES", text).of_compilers(),
        records("PLANES", 0x2_0000).of_compilers(),
        records("NODES", 0x2_0000).of_compilers(),
        records("LEAFS", 0x2_0000).of_compilers(),
        records("DRAWVERTS", 0x8_0000).of_compilers(),
        records("SURFACES", 0x2_0000).of_compilers(),
        records("LEAFSURFACES", 0x2_0000).of_compilers(),
        records("LEAFBRUSHES", 0x4_0000).of_compilers(),
        records("SHADERS", 0x400).of_compilers(),
        records("DRAWINDEXES", 0x8_0000).of_compilers(),
        records("BRUSHSIDES", 0x2_0000).of_compilers(),
        bytes("LIGHTMAPS", 0x80_0000).of_compilers(),
        bytes("VISIBILITY", 0x20_0000).of_compilers(),
    ]
}

/// Source: bspfile.h of the SDKs. The tools require none of the lumps; without these lumps no engine has a world.
pub(super) const SOURCE: Checks = Checks {
    engines: &[
        engine("source2004", "Source of Half-Life 2 and Episode One", &[17, 18, 19], &source_limits(4_096)),
        engine("source2013", "Source SDK 2013", &[20], &source_limits(8_192)),
        engine("source2009", "Source since Left 4 Dead", &[21, 22, 23, 27, 42], &source_limits(16_384)),
        engine(
            "mapbase",
            "Mapbase",
            &[],
            &[
                entities(65_536).of_compilers(),
                // The engine is that of the SDK of 2013.
                in_game(IN_GAME_SOURCE),
                records("WORLDLIGHTS", 65_536),
                records("OVERLAYS", 8_192),
            ],
        ),
    ],
    required: &["PLANES", "NODES", "LEAFS", "MODELS", "ENTITIES"],
    // CONTENTS_SOLID in every map; the tree never leads to this leaf, and nothing relies on it.
    first_leaf: None,
    strict_tree: false,
    hulls: 0,
    count_is_no_hull: false,
    needs_empty_leaf: false,
    most_extents: None,
    paired_planes: true,
    is_usual: |_| true,
    versions: &[("OCCLUSION", 0..=2)],
    members: &[],
    axial_sides: false,
    left_out: &[],
    // The classes of the SDK of 2013 that derive from CServerOnlyEntity or CLogicalEntity have no edict. Lights without
    // a name give theirs back before the next entity is created (MapEntity_ParseAllEntities). All other entities are
    // created before the first one of them removes itself, so that `info_null` counts too. Classes of other games are
    // not known.
    spawn: Spawn {
        removed: SOURCE_LOGICAL,
        removed_without_name: &["light", "light_spot", "light_glspot", "light_environment", "light_directional"],
        mode_flags: &[],
        mode_keys: &[],
        known: Some(SOURCE_EDICTS),
    },
};

/// Classes without an edict: they are known to the server alone.
const SOURCE_LOGICAL: &[&str] = &[
    "ai_hint",
    "env_fade",
    "env_global",
    "filter_activator_class",
    "filter_activator_context",
    "filter_activator_mass_greater",
    "filter_activator_model",
    "filter_activator_name",
    "filter_activator_team",
    "filter_combineball_type",
    "filter_damage_type",
    "filter_enemy",
    "filter_multi",
    "func_detail_blocker",
    "info_hint",
    "info_node",
    "info_node_air",
    "info_node_air_hint",
    "info_node_climb",
    "info_node_hint",
    "info_node_link",
    "keyframe_track",
    "logic_achievement",
    "logic_active_autosave",
    "logic_autosave",
    "logic_branch",
    "logic_branch_listener",
    "logic_case",
    "logic_collision_pair",
    "logic_compare",
    "logic_lineto",
    "logic_measure_movement",
    "logic_multicompare",
    "logic_navigation",
    "logic_playerproxy",
    "logic_relay",
    "logic_timer",
    "math_colorblend",
    "math_counter",
    "math_remap",
    "multisource",
    "phys_ballsocket",
    "phys_constraint",
    "phys_convert",
    "phys_hinge",
    "phys_lengthconstraint",
    "phys_pulleyconstraint",
    "phys_ragdollconstraint",
    "phys_slideconstraint",
    "point_template",
    "sky_camera",
];

/// Classes with an edict. In every game such names are those of things that players see, hit or touch.
const SOURCE_EDICTS: &[&str] = &[
    "ambient_generic",
    "env_beam",
    "env_laser",
    "env_smokestack",
    "env_sprite",
    "env_steam",
    "func_*",
    "info_null",
    "info_particle_system",
    "info_player_*",
    "info_target",
    "item_*",
    "keyframe_rope",
    "light*",
    "logic_auto",
    "move_rope",
    "npc_*",
    "path_track",
    "point_spotlight",
    "prop_*",
    "trigger_*",
    "weapon_*",
];

/// MAX_EDICTS of the engines of Half-Life 2 to Counter-Strike: Global Offensive, less the world and one player. Games
/// take more places for players, and for entities of their own.
const IN_GAME_SOURCE: usize = 2_048 - 2;

pub(super) const fn source_limits(most_entities: usize) -> [Limit; 33] {
    [
        records("MODELS", 1_024),
        records("BRUSHES", 8_192),
        records("BRUSHSIDES", 65_536),
        entities(most_entities).of_compilers(),
        in_game(IN_GAME_SOURCE),
        records("TEXINFO", 12_288),
        records("TEXDATA", 2_048).of_compilers(),
        records("DISPINFO", 2_048).of_compilers(),
        records("AREAS", 256),
        records("AREAPORTALS", 1_024),
        records("PLANES", 65_536),
        records("NODES", 65_536),
        records("LEAFS", 65_536),
        records("VERTEXES", 65_536),
        records("FACES", 65_536).of_compilers(),
        records("LEAFFACES", 65_536),
        records("LEAFBRUSHES", 65_536),
        records("VERTNORMALS", 256_000).of_compilers(),
        records("VERTNORMALINDICES", 256_000).of_compilers(),
        records("EDGES", 256_000).of_compilers(),
        records("SURFEDGES", 512_000).of_compilers(),
        records("LEAFWATERDATA", 32_768).of_compilers(),
        bytes("LIGHTING", 0x100_0000).of_compilers(),
        bytes("LIGHTING_HDR", 0x100_0000).of_compilers(),
        bytes("VISIBILITY", 0x100_0000).of_compilers(),
        records("WORLDLIGHTS", 8_192).of_compilers(),
        records("WORLDLIGHTS_HDR", 8_192).of_compilers(),
        records("CUBEMAPS", 1_024).of_compilers(),
        records("OVERLAYS", 512).of_compilers(),
        records("WATEROVERLAYS", 16_384).of_compilers(),
        bytes("TEXDATA_STRING_DATA", 256_000).of_compilers(),
        records("TEXDATA_STRING_TABLE", 65_536).of_compilers(),
        records("PRIMITIVES", 32_768).of_compilers(),
    ]
}
