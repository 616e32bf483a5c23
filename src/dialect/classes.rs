//! Classes of entities that need a key: without `model` brush models do nothing, or engines refuse the map.

/// The classes of a family of games that need a brush model or other keys, and what its engines do without.
///
/// ```
/// use bspkit::dialect::{QUAKE, QUAKE2};
/// let needs = |class: &str| QUAKE2.class_rules.needs(class.as_bytes(), |_| true);
/// assert!(needs("trigger_hurt") && !needs("func_timer"));
/// assert_eq!(QUAKE2.class_rules.refusal, Some("PF_setmodel: NULL"));
/// assert_eq!(QUAKE.class_rules.refusal, None);
/// ```
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct ClassRules {
    /// The classes, in lower case.
    pub names: &'static [&'static str],
    /// The error with which engines refuse the whole map if one has no model; `None` if the map loads, with an entity
    /// that has no extent.
    pub refusal: Option<&'static str>,
    /// The error if the model of one is a file and not a model of the map; `None` if the map loads.
    pub no_file: Option<&'static str>,
    /// Whether games find classes in capitals too. Otherwise they leave such entities out.
    pub any_case: bool,
    /// Classes and the key without which games remove the entity, before they look at its model.
    pub removed_without: &'static [(&'static str, &'static str)],
    /// Other keys that classes need.
    pub needed: &'static [NeededKey],
    /// How high eyes are above the place of an entity where a player begins, in units: that is the middle of a player,
    /// or the feet.
    pub eyes: f32,
}

/// A class of which engines refuse the whole map if an entity has none of some keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NeededKey {
    /// The class.
    pub class: &'static str,
    /// The keys, of which one is enough, with any value.
    pub keys: &'static [&'static str],
    /// The error with which engines refuse the map.
    pub refusal: &'static str,
}

impl ClassRules {
    /// Whether anything is known of a class.
    pub fn has(&self, class: &[u8]) -> bool {
        let needed = self.needed.iter().map(|needed| needed.class);
        self.names.iter().copied().chain(needed).any(|name| self.is_same(name, class))
    }

    /// Whether anything depends on a key besides the class and the model.
    pub fn reads(&self, key: &[u8]) -> bool {
        let needed = self.needed.iter().flat_map(|needed| needed.keys);
        let mut keys = self.removed_without.iter().map(|(_, key)| key).chain(needed);
        keys.any(|known| known.as_bytes().eq_ignore_ascii_case(key))
    }

    /// Whether an entity of this class needs a brush model. `has` says whether it has a key with a value.
    ///
    /// ```
    /// use bspkit::dialect::QUAKE3;
    /// let needs = |class: &str| QUAKE3.class_rules.needs(class.as_bytes(), |key| key != "target");
    /// assert!(needs("func_static") && !needs("FUNC_STATIC") && !needs("func_train") && !needs("light"));
    /// ```
    pub fn needs(&self, class: &[u8], has: impl Fn(&str) -> bool) -> bool {
        let Some(name) = self.names.iter().find(|name| self.is_same(name, class)) else { return false };
        self.removed_without.iter().all(|(class, key)| class != name || has(key))
    }

    /// The keys that an entity of this class needs, if it has none of them. `has` says whether it has a key.
    ///
    /// ```
    /// use bspkit::dialect::QUAKE3;
    /// let missing = QUAKE3.class_rules.missing(b"target_speaker", |_| false).unwrap();
    /// assert_eq!(missing.keys, ["noise"]);
    /// assert_eq!(QUAKE3.class_rules.missing(b"target_speaker", |key| key == "noise"), None);
    /// ```
    pub fn missing(&self, class: &[u8], has: impl Fn(&str) -> bool) -> Option<&'static NeededKey> {
        let needed = self.needed.iter().find(|needed| self.is_same(needed.class, class))?;
        (!needed.keys.iter().any(|key| has(key))).then_some(needed)
    }

    fn is_same(&self, name: &str, class: &[u8]) -> bool {
        if self.any_case { name.as_bytes().eq_ignore_ascii_case(class) } else { name.as_bytes() == class }
    }
}

/// Players of Ritual's games begin with their feet at the place.
pub(super) const RITUAL: ClassRules = ClassRules { eyes: 82.0, ..UNKNOWN };

/// Of no class is it known.
pub(super) const UNKNOWN: ClassRules = ClassRules {
    names: &[],
    refusal: None,
    no_file: None,
    any_case: false,
    removed_without: &[],
    needed: &[],
    eyes: 22.0,
};

/// Quake: the classes of id's progs that call `setmodel` with their own model; without one they have no box.
pub(super) const QUAKE: ClassRules = ClassRules {
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
    no_file: None,
    any_case: false,
    removed_without: &[],
    needed: &[],
    eyes: 22.0,
};

/// GoldSrc: the classes of the Half-Life SDK and of Counter-Strike.
pub(super) const GOLDSRC: ClassRules = ClassRules {
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
    no_file: None,
    any_case: false,
    removed_without: &[],
    needed: &[],
    eyes: 28.0,
};

/// Quake II: the classes whose spawn functions call `gi.setmodel` with their own model (g_func.c, g_trigger.c,
/// g_misc.c and g_turret.c of the game and of its mission packs). `PF_setmodel` ends the game where that is missing.
pub(super) const QUAKE2: ClassRules = ClassRules {
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
    no_file: None,
    any_case: false,
    removed_without: &[],
    needed: &[],
    eyes: 22.0,
};

/// Quake III, Wolfenstein and Enemy Territory: the classes whose spawn functions call `trap_SetBrushModel`
/// (g_mover.c, g_trigger.c) or `G_Error` for a missing key (`SP_target_speaker`, g_target.c).
/// `SV_SetBrushModel` ends the game where there is no model.
pub(super) const QUAKE3: ClassRules = ClassRules {
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
    no_file: Some("isn't a brush model"),
    any_case: false,
    removed_without: &[("func_train", "target")],
    needed: &[NeededKey { class: "target_speaker", keys: &["noise"], refusal: "target_speaker without a noise key" }],
    eyes: 26.0,
};

/// Raven's games: as Quake III, with more.
pub(super) const RAVEN: ClassRules = ClassRules {
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
    any_case: true,
    needed: &[NeededKey {
        class: "target_speaker",
        keys: &["noise", "soundset"],
        refusal: "target_speaker without a noise key",
    }],
    eyes: 36.0,
    ..QUAKE3
};

/// Warsow.
pub(super) const QFUSION: ClassRules = ClassRules {
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
    no_file: None,
    any_case: false,
    removed_without: &[],
    needed: &[],
    eyes: 30.0,
};

/// Source: classes of the SDK and of Valve's games.
pub(super) const SOURCE: ClassRules = ClassRules {
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
    no_file: None,
    any_case: true,
    removed_without: &[],
    needed: &[],
    eyes: 64.0,
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
