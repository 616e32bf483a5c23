//! What keys of entities name, by a table from the entities of Valve's games and by FGD files.

use std::collections::{BTreeMap, HashMap};
use std::sync::LazyLock;

use super::definitions::{self, SOUNDSCAPE};
use super::graph::Graph;
use super::{Kind, Referrer, Sure, normal_name};
use crate::assets::fgd::Fgd;
use crate::assets::found_by;
use crate::assets::material::{material_file, texture_file};
use bspkit::Bsp;
use bspkit::content::entities::{Entity, Pair};
use bspkit::content::pak::Pak;
use bspkit::{Error, ErrorKind};

// What keys of entities name.

/// The sides of a sky: right, left, back, front, up, down.
const SIDES: [&str; 6] = ["rt", "lf", "bk", "ft", "up", "dn"];

/// Materials with numbers after their names are looked for up to this one.
const MOST_NUMBERED: usize = 20;

/// What follows the name of a material or of an image of the interface that has a color for each team.
const TEAMS: [&str; 4] = ["_red", "_blue", "_neutral", ""];

/// Where such materials are: their keys have the whole path, that below `vgui`, or the name of an effect.
const TEAM_FOLDERS: [&str; 3] = ["", "vgui/", "effects/"];

pub(super) fn collect(map: &Bsp<'_>, pak: &Pak<'_>, keys: &Keys, graph: &mut Graph<'_>) {
    let entities = match map.entities() {
        Ok(entities) => entities,
        Err(error) => return graph.lose("ENTITIES", &error),
    };
    let mut folders = Folders::new();
    for entity in &entities {
        let class = entity.class().unwrap_or_default();
        for pair in entity.pairs() {
            key(graph, keys, &entity, class, pair);
            if keys.get(class, pair.key) == Some(Holds::Slides) {
                let from = Referrer::Entity { index: entity.index(), class: class.to_vec(), key: pair.key.to_vec() };
                folders.entry(normal_name([b"materials/vgui/", pair.value].concat())).or_default().push(from);
            }
        }
    }
    slides(graph, pak, &folders);
    details(map, &entities.get(0), graph);
}

/// The material of detail sprites, which has a name of its own if the map does not give one.
fn details(map: &Bsp<'_>, world: &Option<Entity<'_>>, graph: &mut Graph<'_>) {
    let has_sprites = map.detail_props().is_ok_and(|props| props.sprite_count() > 0);
    if has_sprites && world.as_ref().is_none_or(|world| world.get("detailmaterial").is_none()) {
        graph.add(Kind::Material, b"materials/detail/detailsprites.vmt", Referrer::Engine, b"", Sure::Likely);
    }
}

/// Folders whose materials are shown in turn, and the entities that show them.
type Folders = BTreeMap<Vec<u8>, Vec<Referrer>>;

/// The most folders of slides of which the game is asked for the files.
const MOST_FOLDERS: usize = 256;

/// The materials of folders that entities show in turn: those in the pakfile, and those of the game.
fn slides(graph: &mut Graph<'_>, pak: &Pak<'_>, folders: &Folders) {
    if folders.is_empty() {
        return;
    }
    for name in pak.iter().filter_map(|entry| found_by(entry.name())) {
        let ends = name.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(end, _)| end);
        ends.filter_map(|end| folders.get(&name[..end])).for_each(|entities| slide(graph, &name, entities));
    }
    // An entity without a folder does not mean all that the game has there.
    for (folder, entities) in folders.iter().filter(|(folder, _)| **folder != *b"materials/vgui").take(MOST_FOLDERS) {
        graph.names_in_game(folder).iter().for_each(|name| slide(graph, name, entities));
    }
    if let Some(folder) = folders.keys().nth(MOST_FOLDERS).filter(|_| graph.has_game()) {
        let message = format!("the map has {} folders of slides, and {MOST_FOLDERS} are looked at", folders.len());
        graph.needs.is_partial = true;
        graph.fault(folder, &Error::new(ErrorKind::TooLarge, message));
    }
}

fn slide(graph: &mut Graph<'_>, name: &[u8], entities: &[Referrer]) {
    for from in entities.iter().filter(|_| name.ends_with(b".vmt")) {
        if graph.is_full() {
            return;
        }
        graph.add(Kind::Material, name, from.clone(), b"", Sure::Likely);
    }
}

fn key(graph: &mut Graph<'_>, keys: &Keys, entity: &Entity<'_>, class: &[u8], pair: Pair<'_>) {
    let value = pair.value.trim_ascii();
    let referrer = || Referrer::Entity { index: entity.index(), class: class.to_vec(), key: pair.key.to_vec() };
    if value.is_empty() {
        return;
    }
    match keys.get(class, pair.key) {
        Some(holds) => held(graph, holds, value, &referrer(), Sure::Certain),
        None => match output(value) {
            Some((input, parameter)) => sent(graph, keys, input, parameter, &referrer()),
            None => by_extension(graph, value, &referrer(), Sure::Likely),
        },
    }
}

/// Adds what a value of a known kind names.
fn held(graph: &mut Graph<'_>, holds: Holds, value: &[u8], referrer: &Referrer, sure: Sure) {
    let from = || referrer.clone();
    match holds {
        Holds::Model => model(graph, value, referrer, sure),
        Holds::Sound => definitions::named(graph, value, from(), sure),
        Holds::Material => graph.add(Kind::Material, &material_file(value), from(), value, sure),
        Holds::Texture => graph.add(Kind::Texture, &texture_file(value), from(), value, sure),
        Holds::Scene => graph.add(Kind::Scene, value, from(), value, sure),
        Holds::System => graph.want(Kind::Particles, value, from(), sure),
        Holds::Soundscape => graph.want(Kind::SoundScript, &[SOUNDSCAPE, value].concat(), from(), sure),
        Holds::Scripts => {
            let scripts = value.split(u8::is_ascii_whitespace).filter(|script| !script.is_empty());
            scripts.for_each(|script| graph.add(Kind::Script, &script_file(script), from(), script, sure));
        }
        Holds::File if value.contains(&b'.') => graph.add(of_extension(value), value, from(), value, sure),
        Holds::File => {}
        Holds::Movie => {
            let name = normal_name(value);
            let folder: &[u8] = if name.starts_with(b"media/") { b"" } else { b"media/" };
            graph.add(Kind::Other, &[folder, &name].concat(), from(), value, sure);
        }
        Holds::Sky => {
            for side in SIDES {
                let of = |twin: &str| material_file(&[b"skybox/", value, twin.as_bytes(), side.as_bytes()].concat());
                graph.add(Kind::Material, &of(""), from(), value, sure);
                graph.add(Kind::Material, &of("_hdr"), from(), value, Sure::Optional);
            }
        }
        Holds::Rope => {
            graph.add(Kind::Material, &material_file(value), from(), value, sure);
            graph.add(Kind::Material, &with_end(value, "_back"), from(), value, Sure::Optional);
        }
        Holds::Numbered => {
            graph.add(Kind::Material, &material_file(value), from(), value, sure);
            for number in 1..=MOST_NUMBERED {
                graph.add(Kind::Material, &with_end(value, &number.to_string()), from(), value, Sure::Optional);
            }
        }
        Holds::TeamColored => {
            for (folder, team) in TEAM_FOLDERS.iter().flat_map(|folder| TEAMS.iter().map(move |team| (folder, team))) {
                let name = [folder.as_bytes(), value].concat();
                graph.add(Kind::Material, &with_end(&name, team), from(), value, Sure::Optional);
            }
        }
        // Its files are added for all entities at once.
        Holds::Slides => {}
    }
}

/// The file of a material with something after its name.
fn with_end(name: &[u8], end: &str) -> Vec<u8> {
    let mut file = material_file(name);
    file.truncate(file.len() - b".vmt".len());
    [&file[..], end.as_bytes(), b".vmt"].concat()
}

/// A model, a sprite, or a brush model, which is not a file.
fn model(graph: &mut Graph<'_>, value: &[u8], referrer: &Referrer, sure: Sure) {
    let lower = value.to_ascii_lowercase();
    let ends = |extension: &[u8]| lower.ends_with(extension);
    match () {
        () if ends(b".mdl") => graph.add(Kind::Model, value, referrer.clone(), value, sure),
        () if ends(b".spr") || ends(b".vmt") => {
            graph.add(Kind::Material, &material_file(value), referrer.clone(), value, sure);
        }
        () if ends(b".bsp") => graph.add(Kind::Other, value, referrer.clone(), value, sure),
        () => {}
    }
}

/// The input and the parameter of a connection: `target,input,parameter,delay,times`, with ESC for commas in new games.
fn output(value: &[u8]) -> Option<(&[u8], &[u8])> {
    let separator = if value.contains(&0x1B) { 0x1B } else { b',' };
    let mut parts = value.split(|byte| *byte == separator);
    let (_, input, parameter) = (parts.next()?, parts.next()?, parts.next()?);
    parts.next()?;
    parts.next()?;
    Some((input.trim_ascii(), parameter.trim_ascii()))
}

/// Adds what an input is given.
fn sent(graph: &mut Graph<'_>, keys: &Keys, input: &[u8], parameter: &[u8], referrer: &Referrer) {
    let is = |known: &str| input.eq_ignore_ascii_case(known.as_bytes());
    match () {
        () if parameter.is_empty() => {}
        () if is("RunScriptFile") => {
            graph.add(Kind::Script, &script_file(parameter), referrer.clone(), parameter, Sure::Certain);
        }
        () if is("SetModel") => model(graph, parameter, referrer, Sure::Certain),
        () if is("Command") => commands(graph, parameter, referrer),
        () if is("SpotlightTexture") => {
            graph.add(Kind::Texture, &texture_file(parameter), referrer.clone(), parameter, Sure::Certain);
        }
        () if is("AddOutput") => added(graph, keys, parameter, referrer),
        () => by_extension(graph, parameter, referrer, Sure::Likely),
    }
}

/// What a pair or an output names that an entity of any class is given: `KEY VALUE`, or
/// `OUTPUT target:input:parameter:delay:times`.
fn added(graph: &mut Graph<'_>, keys: &Keys, pair: &[u8], referrer: &Referrer) {
    let Some(end) = pair.iter().position(u8::is_ascii_whitespace) else { return };
    let (key, value) = (&pair[..end], pair[end..].trim_ascii());
    let mut parts = value.split(|byte| *byte == b':');
    let is_output = key.len() > 2 && key[..2].eq_ignore_ascii_case(b"on");
    match (keys.get(b"", key), parts.nth(1), parts.next()) {
        (Some(holds), ..) => held(graph, holds, value, referrer, Sure::Likely),
        // No output has an output that is added in turn.
        (None, Some(input), Some(parameter)) if is_output && !input.eq_ignore_ascii_case(b"AddOutput") => {
            sent(graph, keys, input.trim_ascii(), parameter.trim_ascii(), referrer);
        }
        _ => by_extension(graph, value, referrer, Sure::Likely),
    }
}

/// What console commands name: the console takes each up to a `;` outside of quotes, or to the end of the line.
fn commands(graph: &mut Graph<'_>, text: &[u8], referrer: &Referrer) {
    let mut is_quoted = false;
    let ends = |byte: &u8| {
        is_quoted ^= *byte == b'"';
        *byte == b'\n' || *byte == b';' && !is_quoted
    };
    text.split(ends).for_each(|one| command(graph, one, referrer));
}

fn command(graph: &mut Graph<'_>, command: &[u8], referrer: &Referrer) {
    let is_between = |byte: &u8| byte.is_ascii_whitespace() || *byte == b'"';
    let mut words = command.split(is_between).filter(|word| !word.is_empty());
    let (Some(verb), Some(name)) = (words.next(), words.next()) else { return };
    let is = |known: &[&str]| known.iter().any(|known| verb.eq_ignore_ascii_case(known.as_bytes()));
    match () {
        () if is(&["r_screenoverlay"]) && !matches!(name, b"0" | b"off") => {
            graph.add(Kind::Material, &material_file(name), referrer.clone(), name, Sure::Certain);
        }
        () if is(&["play", "playvol", "playgamesound", "playgamesoundall"]) => {
            definitions::named(graph, name, referrer.clone(), Sure::Certain);
        }
        () if is(&["script_execute"]) => {
            graph.add(Kind::Script, &script_file(name), referrer.clone(), name, Sure::Certain);
        }
        () if is(&["sv_skyname"]) => {
            SIDES.iter().for_each(|side| {
                let file = material_file(&[b"skybox/", name, side.as_bytes()].concat());
                graph.add(Kind::Material, &file, referrer.clone(), name, Sure::Optional);
            });
        }
        () if is(&["exec", "execifexists"]) => {
            for end in ["", ".cfg"] {
                let file = [b"cfg/", name, end.as_bytes()].concat();
                graph.add(Kind::Other, &file, referrer.clone(), name, Sure::Optional);
            }
        }
        () => by_extension(graph, name, referrer, Sure::Likely),
    }
}

/// Adds a file if a value of no known kind looks like one.
fn by_extension(graph: &mut Graph<'_>, value: &[u8], referrer: &Referrer, sure: Sure) {
    let has_dot = value.len().checked_sub(4).is_some_and(|at| value[at] == b'.');
    if !has_dot || value.contains(&b'\n') {
        return;
    }
    // A sentence may end with the name of a file.
    let sure = if value.contains(&b' ') { Sure::Optional } else { sure };
    match of_extension(value) {
        Kind::Model => graph.add(Kind::Model, value, referrer.clone(), value, sure),
        Kind::Material => graph.add(Kind::Material, &material_file(value), referrer.clone(), value, sure),
        Kind::Texture => graph.add(Kind::Texture, &texture_file(value), referrer.clone(), value, sure),
        Kind::Sound => graph.add(Kind::Sound, &definitions::file(value), referrer.clone(), value, sure),
        Kind::Script => graph.add(Kind::Script, &script_file(value), referrer.clone(), value, sure),
        Kind::Other => graph.add(Kind::Other, value, referrer.clone(), value, Sure::Optional),
        kind => graph.add(kind, value, referrer.clone(), value, sure),
    }
}

/// The kind of a file by its extension.
pub(super) fn of_extension(name: &[u8]) -> Kind {
    let lower = name.to_ascii_lowercase();
    match lower.rsplit(|byte| *byte == b'.').next().unwrap_or_default() {
        b"mdl" => Kind::Model,
        b"vmt" | b"spr" => Kind::Material,
        b"vtf" => Kind::Texture,
        b"wav" | b"mp3" | b"ogg" => Kind::Sound,
        b"vcd" => Kind::Scene,
        b"pcf" => Kind::Particles,
        b"nut" | b"lua" => Kind::Script,
        b"raw" => Kind::Color,
        b"nav" | b"ain" => Kind::Navigation,
        b"vvd" | b"vtx" | b"phy" | b"ani" => Kind::ModelPart,
        _ => Kind::Other,
    }
}

/// The path of a script: below `scripts/vscripts`, with `.nut` where no extension is given.
fn script_file(name: &[u8]) -> Vec<u8> {
    let name = normal_name(name);
    let folder: &[u8] = if name.starts_with(b"scripts/") { b"" } else { b"scripts/vscripts/" };
    let last = name.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
    let extension: &[u8] = if last.contains(&b'.') { b"" } else { b".nut" };
    [folder, &name, extension].concat()
}

// Which key of an entity holds what: a table from the entities of Valve's games, and from FGD files.

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
///
/// ```
/// use bspkit_game::needs::{Holds, Keys};
/// let keys = Keys::built_in();
/// assert_eq!(keys.get(b"env_sprite", b"Model"), Some(Holds::Model));
/// assert_eq!(keys.get(b"ambient_generic", b"message"), Some(Holds::Sound));
/// assert_eq!(keys.get(b"game_text", b"message"), None);
/// ```
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
