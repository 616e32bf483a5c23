//! How a dialect's engines read entity text: what splits it into tokens, what some of them cannot read, and which
//! classes of entities need a brush model.

use TextEffect::{Differs, Stops, Unreadable};
use TextTrait::{
    Backslash, BackslashAtEnd, BraceAlone, EmptyClass, KeyLonger, MoreBytes, MorePairs, NoClass, SpaceBehindKey,
    TouchingBrace, ValueLonger,
};

// How a dialect's engines read entity text: what splits it into tokens, and what some of them cannot read.

/// How the engines of a dialect read entity text.
///
/// A text is split as the dialect's own game engine splits it; where other engines of the dialect read it in another
/// way, a [`TextRule`] says so.
///
/// ```
/// use bspkit::dialect::{QUAKE3, TextTrait};
/// assert!(QUAKE3.text.rules.iter().any(|rule| rule.what == TextTrait::MorePairs(64)));
/// ```
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct EntityRules {
    /// The name of these engines in messages: `Quake 3 engines`.
    pub engines: &'static str,
    /// How a text is split into tokens.
    pub syntax: TextSyntax,
    /// Texts that engines cannot read, or read in another way than they are written; for equal traits the worst effect
    /// comes first.
    pub rules: &'static [TextRule],
    /// The weakest effect for which an edit is refused.
    refused: TextEffect,
}

/// How a text is split into tokens. Strings between quotes, words and comments from `//` to the end of the line are
/// the same everywhere; a quote inside a word is a letter of it.
///
/// ```
/// use bspkit::dialect::{QUAKE, QUAKE2};
/// assert!(QUAKE.text.syntax.single_tokens.contains(&b'{'));
/// assert!(QUAKE2.text.syntax.single_tokens.is_empty());
/// ```
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct TextSyntax {
    /// Bytes that end a word and are tokens by themselves. If braces are not among them, a brace directly beside a word
    /// is a letter of it.
    pub single_tokens: &'static [u8],
    /// Whether `/* … */` outside quotes is a comment.
    pub block_comments: bool,
    /// Whether bytes from 0x80 up are blanks outside quotes, as in engines that read a signed `char`.
    pub high_blanks: bool,
    /// What a backslash escapes: the quote does not end the string. Empty where backslashes are letters.
    pub escaped: &'static [u8],
    /// The version of the entity lump from which on backslashes escape; `None` for every version.
    escapes_since: Option<i32>,
}

/// A text that some engines of a dialect cannot read, or read in another way than it is written.
///
/// ```
/// use bspkit::dialect::{GOLDSRC, TextEffect, TextTrait};
/// let rule = GOLDSRC.text.rules.iter().find(|rule| rule.what == TextTrait::ValueLonger(1023)).unwrap();
/// assert_eq!((rule.engines, rule.effect), ("GoldSrc", TextEffect::Stops));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TextRule {
    /// What the text has.
    pub what: TextTrait,
    /// The engines that this rule is about, as a message names them.
    pub engines: &'static str,
    /// What they do.
    pub effect: TextEffect,
}

/// What a [`TextRule`] is about.
///
/// ```
/// use bspkit::dialect::{SOURCE, TextTrait};
/// assert!(SOURCE.text.rules.iter().any(|rule| rule.what == TextTrait::NoClass));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TextTrait {
    /// A key of more bytes than this.
    KeyLonger(usize),
    /// A value of more bytes than this.
    ValueLonger(usize),
    /// An entity of more pairs than this.
    MorePairs(usize),
    /// An entity whose keys and values, each with a NUL after it, have more bytes than this.
    MoreBytes(usize),
    /// A key or value that is exactly `{`.
    BraceAlone,
    /// An entity without the key `classname`, in this case.
    NoClass,
    /// An entity whose class is empty.
    EmptyClass,
    /// A brace directly beside a word.
    TouchingBrace,
    /// A value that ends with a backslash.
    BackslashAtEnd,
    /// A backslash in a value that is neither `\n` nor `\\`.
    Backslash,
    /// A key that ends with a space.
    SpaceBehindKey,
}

/// What engines do with a text that a [`TextRule`] is about, from worst to mildest.
///
/// ```
/// use bspkit::dialect::TextEffect;
/// assert!(TextEffect::Unreadable < TextEffect::Differs);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum TextEffect {
    /// No engine of the dialect reads it.
    Unreadable,
    /// These engines stop, or lose something; other engines of the dialect read it.
    Stops,
    /// These engines read something other than what is written.
    Differs,
}

const fn rule(what: TextTrait, engines: &'static str, effect: TextEffect) -> TextRule {
    TextRule { what, engines, effect }
}

impl EntityRules {
    /// Quake. The syntax is id's `COM_Parse` (common.c). Keys are copied into 256 bytes and lose their last spaces
    /// (`ED_ParseEdict`); strings of the game lose the letter after a backslash (`ED_NewString`). QuakeSpasm stops at
    /// an empty class; DarkPlaces reads tokens of up to 16,383 bytes and takes a brace for a letter of the word
    /// beside it.
    pub const QUAKE: EntityRules = EntityRules {
        engines: "Quake engines",
        syntax: TextSyntax { single_tokens: b"{}()':", high_blanks: true, ..TextSyntax::PLAIN },
        rules: &[
            rule(KeyLonger(16_383), "Quake engines", Unreadable),
            rule(KeyLonger(255), "Quake and QuakeSpasm", Stops),
            rule(ValueLonger(16_383), "Quake engines", Unreadable),
            rule(ValueLonger(1023), "Quake and QuakeSpasm", Stops),
            rule(EmptyClass, "QuakeSpasm", Stops),
            rule(TouchingBrace, "DarkPlaces", Stops),
            rule(Backslash, "Quake engines", Differs),
            rule(SpaceBehindKey, "Quake engines", Differs),
        ],
        refused: Stops,
    };

    /// GoldSrc. The syntax is ReHLDS `COM_Parse` (common.cpp): values of more than 1,023 bytes reach the game in
    /// pieces, keys are copied into 256 bytes and lose their last spaces (`ED_ParseEdict`). Xash3D has tokens of
    /// 2,047 bytes and 256 pairs an entity, and a backslash before a quote escapes it there (crtlib.c).
    pub const GOLDSRC: EntityRules = EntityRules {
        engines: "GoldSrc engines",
        syntax: TextSyntax { single_tokens: b"{}()':,", ..TextSyntax::PLAIN },
        rules: &[
            rule(KeyLonger(2047), "GoldSrc engines", Unreadable),
            rule(KeyLonger(255), "GoldSrc", Stops),
            rule(ValueLonger(16_383), "GoldSrc engines", Unreadable),
            rule(ValueLonger(2047), "GoldSrc and Xash3D", Stops),
            rule(ValueLonger(1023), "GoldSrc", Stops),
            rule(TouchingBrace, "DarkPlaces", Stops),
            rule(BackslashAtEnd, "Xash3D", Differs),
            rule(MorePairs(256), "Xash3D", Differs),
            rule(SpaceBehindKey, "GoldSrc", Differs),
        ],
        refused: Stops,
    };

    /// Quake II. The syntax is id's `COM_Parse` (q_shared.c). Its tokens have 128 bytes, those of the engines in use
    /// today 1,024, where a full buffer reads as nothing (Yamagi Quake II) or is cut (Q2PRO); keys are copied into 256
    /// bytes. Keys that begin with `_` are for tools, which read longer values.
    pub const QUAKE2: EntityRules = EntityRules {
        engines: "Quake 2 engines",
        syntax: TextSyntax { high_blanks: true, ..TextSyntax::PLAIN },
        rules: &[
            rule(KeyLonger(255), "Quake 2 engines", Unreadable),
            rule(ValueLonger(16_383), "Quake 2 engines", Unreadable),
            rule(ValueLonger(1023), "Quake II, Yamagi Quake II and Q2PRO", Stops),
        ],
        refused: Stops,
    };

    /// QFusion: entities as in Quake II; comments as in Quake III and an unsigned `char` (gameshared/q_shared.c).
    pub const QFUSION: EntityRules = EntityRules {
        engines: "QFusion engines",
        syntax: TextSyntax { block_comments: true, ..TextSyntax::PLAIN },
        rules: &[
            rule(KeyLonger(255), "QFusion engines", Unreadable),
            rule(ValueLonger(16_383), "QFusion engines", Unreadable),
            rule(ValueLonger(1023), "QFusion", Stops),
        ],
        refused: Stops,
    };

    /// Quake III: `COM_ParseExt` (q_shared.c), tokens of 1,023 bytes, 64 pairs and 4,096 bytes an entity
    /// (`MAX_SPAWN_VARS`, `MAX_SPAWN_VARS_CHARS` in g_local.h). DarkPlaces has tokens of 16,383 bytes and no such
    /// limits.
    pub const QUAKE3: EntityRules = EntityRules {
        engines: "Quake 3 engines",
        syntax: TextSyntax { block_comments: true, high_blanks: true, ..TextSyntax::PLAIN },
        rules: &[
            rule(KeyLonger(16_383), "Quake 3 engines", Unreadable),
            rule(KeyLonger(1023), "Quake III and ioquake3", Stops),
            rule(ValueLonger(16_383), "Quake 3 engines", Unreadable),
            rule(ValueLonger(1023), "Quake III and ioquake3", Stops),
            rule(MorePairs(64), "Quake III and ioquake3", Stops),
            rule(MoreBytes(4096), "Quake III and ioquake3", Stops),
        ],
        refused: Stops,
    };

    /// Source: `MapEntity_ParseToken` (mapentities_shared.cpp), tokens of 2,047 bytes (`MAPKEY_MAXLENGTH`); the brace
    /// tests look at the token and not at its quotes. The loader stops at an entity without `classname`.
    pub const SOURCE: EntityRules = EntityRules {
        engines: "Source engines",
        syntax: TextSyntax { single_tokens: b"{}()'", high_blanks: true, ..TextSyntax::PLAIN },
        rules: &[
            rule(KeyLonger(2047), "Source engines", Unreadable),
            rule(ValueLonger(2047), "Source engines", Unreadable),
            rule(BraceAlone, "Source engines", Unreadable),
            rule(NoClass, "Source engines", Stops),
            rule(SpaceBehindKey, "Source engines", Differs),
        ],
        refused: Stops,
    };

    /// Bloodlines: as [`EntityRules::SOURCE`], with `\"` for a quote in a value (observed in 3 of its maps).
    pub const BLOODLINES: EntityRules =
        EntityRules { syntax: TextSyntax { escaped: b"\"", ..Self::SOURCE.syntax }, ..Self::SOURCE };

    /// Strata: as [`EntityRules::SOURCE`]; from version 1 of the entity lump on a backslash escapes a quote and itself.
    /// Both escapes are assumed: no source and no available map shows them.
    pub const STRATA: EntityRules = EntityRules {
        syntax: TextSyntax { escaped: b"\"\\", escapes_since: Some(1), ..Self::SOURCE.syntax },
        ..Self::SOURCE
    };

    /// The same rules for an entity lump of this version.
    pub fn of_version(mut self, version: i32) -> Self {
        if self.syntax.escapes_since.is_some_and(|since| version < since) {
            self.syntax.escaped = b"";
        }
        self
    }

    /// The same rules, but an edit is refused only if no engine of the dialect could read it.
    pub fn for_any_engine(self) -> Self {
        EntityRules { refused: Unreadable, ..self }
    }

    /// Whether an edit that a rule is about is refused.
    pub(crate) fn refuses(&self, rule: &TextRule) -> bool {
        rule.effect <= self.refused
    }

    /// The rule of this trait.
    pub fn rule(&self, what: TextTrait) -> Option<&'static TextRule> {
        self.rules.iter().find(|rule| rule.what == what)
    }
}

impl TextSyntax {
    const PLAIN: TextSyntax =
        TextSyntax { single_tokens: b"", block_comments: false, high_blanks: false, escaped: b"", escapes_since: None };

    /// The first position in a token's content at which it could not be written: an unescaped quote, which would end
    /// it, or a last backslash, which would escape the closing quote.
    pub(crate) fn quote_in(&self, content: &[u8]) -> Option<usize> {
        let mut at = 0;
        while let Some(&byte) = content.get(at) {
            match (byte, content.get(at + 1)) {
                (b'\\', Some(next)) if self.escaped.contains(next) => at += 2,
                (b'\\', None) if !self.escaped.is_empty() => return Some(at),
                (b'"', _) => return Some(at),
                _ => at += 1,
            }
        }
        None
    }
}

// Classes of entities that need a key: without `model` brush models do nothing, or engines refuse the map.

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
