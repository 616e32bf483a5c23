//! Which key of an entity holds what: a table from the entities of Valve's games, and from FGD files.
//!
//! ```
//! use bspkit::op::needs::{Holds, Keys};
//! let keys = Keys::built_in();
//! assert_eq!(keys.get(b"env_sprite", b"Model"), Some(Holds::Model));
//! assert_eq!(keys.get(b"ambient_generic", b"message"), Some(Holds::Sound));
//! assert_eq!(keys.get(b"game_text", b"message"), None);
//! ```

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::content::assets::fgd::Fgd;

/// What the value of a key is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Holds {
    /// A model by its path, or a sprite.
    Model,
    /// A sound by its path below `sound`, or an entry of a sound script.
    Sound,
    /// A material by its path below `materials`.
    Material,
    /// A texture by its path below `materials`.
    Texture,
    /// A scene by its path.
    Scene,
    /// A particle system by its name.
    System,
    /// A soundscape by its name.
    Soundscape,
    /// Scripts below `scripts/vscripts`, with spaces between.
    Scripts,
    /// A file by its path from the folder of the game.
    File,
    /// A movie below `media`.
    Movie,
    /// The six sides of a sky below `materials/skybox`.
    Sky,
}

/// Classes (`*` is all), keys, and what they hold.
const TABLE: &[(&str, &str, Holds)] = &[
    ("*", "model", Holds::Model),
    ("*", "vscripts", Holds::Scripts),
    ("worldspawn", "skyname", Holds::Sky),
    ("skybox_swapper", "skyboxname", Holds::Sky),
    ("worldspawn", "detailmaterial", Holds::Material),
    ("ambient_generic point_playgamesound func_rotating", "message", Holds::Sound),
    ("func_door* func_water* func_plat* func_train func_track* momentary_door", "noise1 noise2", Holds::Sound),
    ("func_door* momentary_door", "startclosesound closesound locked_sound unlocked_sound", Holds::Sound),
    ("func_button* func_rot_button momentary_rot_button", "locked_sound unlocked_sound sounds use_sound", Holds::Sound),
    ("func_movelinear func_water_analog momentary_door func_elevator", "startsound stopsound", Holds::Sound),
    ("func_tracktrain func_tanktrain", "movesound movepingsound startsound stopsound", Holds::Sound),
    ("func_elevator", "movesound disablesound", Holds::Sound),
    ("prop_door_rotating*", "soundopenoverride soundcloseoverride soundmoveoverride", Holds::Sound),
    ("prop_door_rotating*", "soundlockedoverride soundunlockedoverride", Holds::Sound),
    ("phys_*", "slidesoundfwd slidesoundback breaksound", Holds::Sound),
    ("phys_*", "reversalsoundsmall reversalsoundmedium reversalsoundlarge", Holds::Sound),
    ("func_tank*", "soundstartrotate soundstoprotate soundlooprotate incomingsound", Holds::Sound),
    ("func_tank*", "spriteflash spritesmoke", Holds::Material),
    ("env_instructor_hint", "hint_start_sound", Holds::Sound),
    ("logic_choreographed_scene scripted_scene npc_*", "scenefile", Holds::Scene),
    ("logic_scene_list_manager", "scene0 scene1 scene2 scene3 scene4 scene5 scene6 scene7", Holds::Scene),
    ("logic_scene_list_manager", "scene8 scene9 scene10 scene11 scene12 scene13 scene14 scene15", Holds::Scene),
    ("env_soundscape env_soundscape_triggerable", "soundscape", Holds::Soundscape),
    ("info_particle_system", "effect_name", Holds::System),
    ("info_particle_system", "snapshot_file", Holds::File),
    ("tf_generic_bomb", "explode_particle", Holds::System),
    ("tf_generic_bomb", "sound", Holds::Sound),
    ("env_beam env_laser", "texture endsprite startsprite spritename", Holds::Material),
    ("env_beam", "decalname", Holds::Material),
    ("env_spritetrail", "spritename", Holds::Material),
    ("env_explosion", "fireballsprite", Holds::Material),
    ("env_smokestack", "smokematerial", Holds::Material),
    ("env_sun", "material overlaymaterial", Holds::Material),
    ("env_screenoverlay", "overlayname1 overlayname2 overlayname3 overlayname4 overlayname5", Holds::Material),
    ("env_screenoverlay", "overlayname6 overlayname7 overlayname8 overlayname9 overlayname10", Holds::Material),
    ("env_projectedtexture env_cascade_light", "texturename", Holds::Texture),
    ("infodecal info_projecteddecal", "texture", Holds::Material),
    ("info_overlay info_overlay_accessor info_overlay_transition", "material", Holds::Material),
    ("keyframe_rope move_rope", "ropematerial", Holds::Material),
    ("material_modify_control", "materialname", Holds::Material),
    ("vgui_screen", "overlaymaterial", Holds::Material),
    ("vgui_movie_display logic_playmovie", "moviefilename", Holds::Movie),
    ("color_correction color_correction_volume", "filename", Holds::File),
    ("prop_vehicle*", "vehiclescript", Holds::File),
    ("env_speaker", "rulescript", Holds::File),
    ("env_shooter gibshooter env_rotorshooter", "shootmodel", Holds::Model),
    ("func_breakable* func_physbox* prop_*", "gibmodel", Holds::Model),
    ("item_teamflag", "flag_model", Holds::Model),
    ("item_teamflag", "flag_icon flag_trail", Holds::Material),
    ("item_ammopack_* item_healthkit_* item_powerup_* tf_*", "powerup_model", Holds::Model),
    ("team_control_point", "team_model_0 team_model_1 team_model_2 team_model_3", Holds::Model),
    ("team_control_point", "team_icon_0 team_icon_1 team_icon_2 team_icon_3", Holds::Material),
    ("team_control_point", "team_overlay_0 team_overlay_1 team_overlay_2 team_overlay_3", Holds::Material),
    ("team_control_point", "team_capsound_0 team_capsound_1 team_capsound_2 team_capsound_3", Holds::Sound),
];

/// A table of keys.
#[derive(Clone, Debug, Default)]
pub struct Keys {
    /// By class and key, in lower case.
    exact: HashMap<(Vec<u8>, Vec<u8>), Holds>,
    /// Beginnings of classes, by the key.
    prefixes: HashMap<Vec<u8>, Vec<(Vec<u8>, Holds)>>,
}

impl Keys {
    /// The table for the entities of Valve's games.
    pub fn built_in() -> &'static Keys {
        static BUILT_IN: LazyLock<Keys> = LazyLock::new(|| {
            let mut keys = Keys::default();
            for (classes, names, holds) in TABLE {
                for class in classes.split_ascii_whitespace() {
                    names.split_ascii_whitespace().for_each(|key| keys.set(class.as_bytes(), key.as_bytes(), *holds));
                }
            }
            keys
        });
        &BUILT_IN
    }

    /// Adds the keys of an FGD file whose types name files. They replace what the table has for the same keys.
    pub fn extend(&mut self, fgd: &Fgd) {
        for (class, key, kind) in fgd.typed_keys() {
            if let Some(holds) = of_type(kind) {
                self.set(class, key, holds);
            }
        }
    }

    /// Says what a key of a class holds. A class may end with `*`; then it is that of all classes which begin so.
    pub fn set(&mut self, class: &[u8], key: &[u8], holds: Holds) {
        let (class, key) = (class.to_ascii_lowercase(), key.to_ascii_lowercase());
        match class.strip_suffix(b"*") {
            Some(prefix) => self.prefixes.entry(key).or_default().push((prefix.to_vec(), holds)),
            None => drop(self.exact.insert((class, key), holds)),
        }
    }

    /// What a key of a class holds, as far as the table says; case does not count.
    pub fn get(&self, class: &[u8], key: &[u8]) -> Option<Holds> {
        let pair = (class.to_ascii_lowercase(), key.to_ascii_lowercase());
        let by_prefix = || {
            let rows = self.prefixes.get(&pair.1)?;
            rows.iter().rev().find(|(prefix, _)| pair.0.starts_with(prefix)).map(|(_, holds)| *holds)
        };
        self.exact.get(&pair).copied().or_else(by_prefix)
    }
}

/// The types of FGD files that name files, in lower case.
fn of_type(kind: &[u8]) -> Option<Holds> {
    Some(match kind {
        b"studio" => Holds::Model,
        b"sound" => Holds::Sound,
        b"sprite" | b"material" | b"decal" => Holds::Material,
        b"texture" => Holds::Texture,
        b"scene" => Holds::Scene,
        b"particlesystem" => Holds::System,
        b"soundscape" => Holds::Soundscape,
        b"script" | b"scriptlist" => Holds::Scripts,
        _ => return None,
    })
}
