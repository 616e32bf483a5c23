//! Classes of entities that are brush models: without a key `model` they do nothing, or engines refuse the map.

/// The classes of a family of games that need a brush model, and what its engines do with one that has none.
///
/// ```
/// use bspkit::dialect::{QUAKE, QUAKE2};
/// assert!(QUAKE2.brush_classes.needs(b"trigger_hurt") && !QUAKE2.brush_classes.needs(b"func_timer"));
/// assert_eq!(QUAKE2.brush_classes.refusal, Some("PF_setmodel: NULL"));
/// assert_eq!(QUAKE.brush_classes.refusal, None);
/// ```
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct BrushClasses {
    /// The classes, in lower case.
    pub names: &'static [&'static str],
    /// The error with which engines refuse the whole map if one has no model; `None` if the map loads, with an entity
    /// that has no extent.
    pub refusal: Option<&'static str>,
}

impl BrushClasses {
    /// Whether an entity of this class needs a brush model.
    pub fn needs(&self, class: &[u8]) -> bool {
        self.names.iter().any(|name| name.as_bytes().eq_ignore_ascii_case(class))
    }
}

/// Of no class is it known.
pub(super) const UNKNOWN: BrushClasses = BrushClasses { names: &[], refusal: None };

/// Quake: the classes of id's progs that call `setmodel` with their own model; without one they have no box.
pub(super) const QUAKE: BrushClasses = BrushClasses {
    names: &[
        "func_bossgate",
        "func_button",
        "func_door",
        "func_door_secret",
        "func_episodegate",
        "func_illusionary",
        "func_plat",
        "func_train",
        "func_wall",
        "trigger_changelevel",
        "trigger_hurt",
        "trigger_monsterjump",
        "trigger_multiple",
        "trigger_once",
        "trigger_onlyregistered",
        "trigger_push",
        "trigger_secret",
        "trigger_setskill",
        "trigger_teleport",
    ],
    refusal: None,
};

/// GoldSrc: the classes of the Half-Life SDK and of Counter-Strike.
pub(super) const GOLDSRC: BrushClasses = BrushClasses {
    names: &[
        "func_bomb_target",
        "func_breakable",
        "func_button",
        "func_buyzone",
        "func_conveyor",
        "func_door",
        "func_door_rotating",
        "func_escapezone",
        "func_friction",
        "func_guntarget",
        "func_healthcharger",
        "func_hostage_rescue",
        "func_illusionary",
        "func_ladder",
        "func_monsterclip",
        "func_mortar_field",
        "func_pendulum",
        "func_plat",
        "func_platrot",
        "func_pushable",
        "func_recharge",
        "func_rot_button",
        "func_rotating",
        "func_tank",
        "func_tankcontrols",
        "func_tanklaser",
        "func_tankmortar",
        "func_tankrocket",
        "func_trackautochange",
        "func_trackchange",
        "func_tracktrain",
        "func_train",
        "func_traincontrols",
        "func_vehicle",
        "func_vehiclecontrols",
        "func_vip_safetyzone",
        "func_wall",
        "func_wall_toggle",
        "func_water",
        "momentary_door",
        "momentary_rot_button",
        "trigger_autosave",
        "trigger_cdaudio",
        "trigger_changelevel",
        "trigger_endsection",
        "trigger_gravity",
        "trigger_hurt",
        "trigger_monsterjump",
        "trigger_multiple",
        "trigger_once",
        "trigger_push",
        "trigger_teleport",
        "trigger_transition",
    ],
    refusal: None,
};

/// Quake II: the classes whose spawn functions call `gi.setmodel` with their own model (g_func.c, g_trigger.c,
/// g_misc.c and g_turret.c of the game and of its mission packs). `PF_setmodel` ends the game where that is missing.
pub(super) const QUAKE2: BrushClasses = BrushClasses {
    names: &[
        "func_button",
        "func_conveyor",
        "func_door",
        "func_door_rotating",
        "func_door_secret",
        "func_door_secret2",
        "func_explosive",
        "func_force_wall",
        "func_killbox",
        "func_object",
        "func_plat",
        "func_plat2",
        "func_rotating",
        "func_train",
        "func_wall",
        "func_water",
        "trigger_disguise",
        "trigger_gravity",
        "trigger_hurt",
        "trigger_monsterjump",
        "trigger_multiple",
        "trigger_once",
        "trigger_push",
        "turret_base",
        "turret_breach",
    ],
    refusal: Some("PF_setmodel: NULL"),
};

/// Quake III, Wolfenstein and Enemy Territory: the classes whose spawn functions call `trap_SetBrushModel`
/// (g_mover.c, g_trigger.c). `SV_SetBrushModel` ends the game where there is no model.
pub(super) const QUAKE3: BrushClasses = BrushClasses {
    names: &[
        "func_bobbing",
        "func_button",
        "func_door",
        "func_door_rotating",
        "func_explosive",
        "func_pendulum",
        "func_plat",
        "func_rotating",
        "func_static",
        "func_train",
        "trigger_hurt",
        "trigger_multiple",
        "trigger_once",
        "trigger_push",
        "trigger_teleport",
    ],
    refusal: Some("SV_SetBrushModel: NULL"),
};

/// Raven's games: as Quake III, with more.
pub(super) const RAVEN: BrushClasses = BrushClasses {
    names: &[
        "func_bobbing",
        "func_breakable",
        "func_button",
        "func_door",
        "func_glass",
        "func_pendulum",
        "func_plat",
        "func_rotating",
        "func_static",
        "func_train",
        "func_usable",
        "func_wall",
        "trigger_hurt",
        "trigger_multiple",
        "trigger_once",
        "trigger_push",
        "trigger_space",
        "trigger_teleport",
    ],
    ..QUAKE3
};

/// Warsow.
pub(super) const QFUSION: BrushClasses = BrushClasses {
    names: &[
        "func_bobbing",
        "func_button",
        "func_door",
        "func_door_rotating",
        "func_explosive",
        "func_object",
        "func_pendulum",
        "func_plat",
        "func_rotating",
        "func_static",
        "func_train",
        "func_wall",
        "trigger_gravity",
        "trigger_hurt",
        "trigger_multiple",
        "trigger_once",
        "trigger_push",
        "trigger_teleport",
    ],
    refusal: None,
};

/// Source: classes of the SDK and of Valve's games.
pub(super) const SOURCE: BrushClasses = BrushClasses {
    names: &[
        "func_areaportalwindow",
        "func_bomb_target",
        "func_breakable",
        "func_breakable_surf",
        "func_brush",
        "func_button",
        "func_buyzone",
        "func_capturezone",
        "func_clip_vphysics",
        "func_combine_barrier",
        "func_conveyor",
        "func_door",
        "func_door_rotating",
        "func_dustcloud",
        "func_dustmotes",
        "func_guntarget",
        "func_hostage_rescue",
        "func_illusionary",
        "func_lod",
        "func_monitor",
        "func_movelinear",
        "func_nobuild",
        "func_nogrenades",
        "func_physbox",
        "func_physbox_multiplayer",
        "func_plat",
        "func_precipitation",
        "func_pushable",
        "func_reflective_glass",
        "func_regenerate",
        "func_respawnroom",
        "func_respawnroomvisualizer",
        "func_rot_button",
        "func_rotating",
        "func_smokevolume",
        "func_tank",
        "func_tanktrain",
        "func_tracktrain",
        "func_train",
        "func_vehicleclip",
        "func_wall",
        "func_wall_toggle",
        "momentary_rot_button",
        "trigger_add_tf_player_condition",
        "trigger_autosave",
        "trigger_capture_area",
        "trigger_catapult",
        "trigger_changelevel",
        "trigger_gravity",
        "trigger_hurt",
        "trigger_impact",
        "trigger_look",
        "trigger_multiple",
        "trigger_once",
        "trigger_physics_trap",
        "trigger_playermovement",
        "trigger_portal_cleanser",
        "trigger_proximity",
        "trigger_push",
        "trigger_remove",
        "trigger_rpgfire",
        "trigger_serverragdoll",
        "trigger_soundscape",
        "trigger_teleport",
        "trigger_togglesave",
        "trigger_transition",
        "trigger_vphysics_motion",
        "trigger_waterydeath",
        "trigger_weapon_dissolve",
        "trigger_weapon_strip",
        "trigger_wind",
    ],
    refusal: None,
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_sorted_and_in_lower_case() {
        for table in [QUAKE, GOLDSRC, QUAKE2, QUAKE3, RAVEN, QFUSION, SOURCE] {
            assert!(table.names.is_sorted_by(|one, other| one < other), "{:?}", table.names);
            assert!(table.names.iter().all(|name| name.bytes().all(|byte| !byte.is_ascii_uppercase())));
        }
    }
}
