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
    /// The material of a rope: the far side has `_back` after its name.
    Rope,
    /// A material with others after it: the names end with 1, 2 and so on.
    Numbered,
    /// A material, or an image of the interface, whose name has the color of a team after it.
    TeamColored,
    /// A folder below `materials/vgui` whose materials are shown in turn.
    Slides,
}

/// Classes (`*` at the end is any rest), keys, and what they hold. Keys that mean the same in all classes are of `*`; a
/// number in place of a sound is one of a list in the game's code, and is no file.
const TABLE: &[(&str, &str, Holds)] = &[
    ("*", "model gibmodel flag_model powerup_model prop_model_name shootmodel modelname", Holds::Model),
    ("*", "team_model_0 team_model_1 team_model_2 team_model_3 spawnmodel croc_model missilemodel", Holds::Model),
    ("*", "basepiece flyingpiece01 flyingpiece02 flyingpiece03 flyingpiece04 model_to_use", Holds::Model),
    ("*", "vscripts", Holds::Scripts),
    ("worldspawn", "skyname", Holds::Sky),
    ("skybox_swapper", "skyboxname", Holds::Sky),
    // Sounds of what moves.
    ("*", "noise1 noise2 startclosesound closesound startsound stopsound movesound movepingsound", Holds::Sound),
    ("*", "locked_sound unlocked_sound use_sound customsound disablesound lockedsound", Holds::Sound),
    ("*", "soundopenoverride soundcloseoverride soundmoveoverride", Holds::Sound),
    ("*", "soundlockedoverride soundunlockedoverride breaksound slidesoundfwd slidesoundback", Holds::Sound),
    ("*", "reversalsoundsmall reversalsoundmedium reversalsoundlarge puntsound launchsound", Holds::Sound),
    ("*", "rotatesound rotatestartsound rotatestopsound shootsound incomingsound pulsefiresound", Holds::Sound),
    ("*", "firestartsound fireendsound gassound touchsound pickupsound respawnsound", Holds::Sound),
    // Other sounds.
    ("ambient_* point_playgamesound func_rotating", "message", Holds::Sound),
    ("tf_generic_bomb momentum_generic_bomb", "sound", Holds::Sound),
    ("env_fire", "ignitesound loopsound", Holds::Sound),
    ("env_steam*", "startnoise", Holds::Sound),
    ("*", "messagesound hint_start_sound m_soundname ignite_sound_name detonatesound explosionsound", Holds::Sound),
    ("*", "team_capsound_0 team_capsound_1 team_capsound_2 team_capsound_3 point_warn_sound", Holds::Sound),
    ("*", "your_team_score_sound enemy_team_score_sound prop_drop_sound prop_pickup_sound", Holds::Sound),
    ("point_commentary_node", "commentaryfile commentaryfile_nohdr", Holds::Sound),
    ("env_soundscape env_soundscape_triggerable", "soundscape", Holds::Soundscape),
    // Scenes.
    ("*", "scenefile resumescenefile expressionoverride", Holds::Scene),
    ("logic_scene_list_manager", "scene0 scene1 scene2 scene3 scene4 scene5 scene6 scene7", Holds::Scene),
    ("logic_scene_list_manager", "scene8 scene9 scene10 scene11 scene12 scene13 scene14 scene15", Holds::Scene),
    // Particles.
    ("*", "effect_name explode_particle flag_paper ignite_particle_name breakparticleeffect", Holds::System),
    ("func_precipitation", "particle_name particle_name_inner particle_name_outer", Holds::System),
    ("func_precipitation", "innernearparticle innerfarparticle outerparticle", Holds::System),
    ("info_particle_system", "snapshot_file", Holds::File),
    // Materials and sprites.
    ("env_beam env_laser beam point_tesla infodecal info_projecteddecal", "texture", Holds::Material),
    ("env_sun info_overlay* func_smokevolume env_ar2explosion", "material", Holds::Material),
    ("*", "overlaymaterial detailmaterial materialname smokematerial watermaterial", Holds::Material),
    ("*", "ropematerial", Holds::Rope),
    ("env_smokestack", "smokematerial", Holds::Numbered),
    ("vgui_slideshow_display", "directory", Holds::Slides),
    ("*", "overlayname1 overlayname2 overlayname3 overlayname4 overlayname5", Holds::Material),
    ("*", "overlayname6 overlayname7 overlayname8 overlayname9 overlayname10", Holds::Material),
    ("*", "endsprite startsprite spritename fireballsprite firesprite smokesprite spriteflash", Holds::Material),
    ("*", "spritesmoke halosprite beamsprite halomaterial spotlightmaterial glowname decalname", Holds::Material),
    ("*", "team_icon_0 team_icon_1 team_icon_2 team_icon_3 team_base_icon_2 team_base_icon_3", Holds::Material),
    ("*", "team_overlay_0 team_overlay_1 team_overlay_2 team_overlay_3", Holds::Material),
    ("*", "flag_icon flag_trail", Holds::TeamColored),
    ("*", "ballmaterial1 ballmaterial2 particletrailmaterial burntrail", Holds::Material),
    ("env_global_light sunlight_shadow_control env_projectedtexture env_cascade_light", "texturename", Holds::Texture),
    // Other files.
    ("*", "moviefilename", Holds::Movie),
    ("color_correction color_correction_volume", "filename", Holds::File),
    ("*", "vehiclescript rulescript", Holds::File),
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
