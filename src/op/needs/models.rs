//! Models: props of the map, and what models name.

use super::graph::Graph;
use super::{Kind, Referrer, Sure, sounds};
use crate::bsp::Bsp;
use crate::content::assets::keyvalues::KeyValues;
use crate::content::assets::material::material_file;
use crate::content::assets::model::{Model, physics_text, replacements};
use crate::error::ErrorKind;

/// A larger model is not read.
const MOST_BYTES: usize = 64 << 20;

/// Extensions of the triangle strips of a model, for several graphics cards.
const STRIPS: [&[u8]; 5] = [b".dx90.vtx", b".dx80.vtx", b".sw.vtx", b".vtx", b".dx7_2bone.vtx"];

/// The models of static and detail props, and the files of their light.
pub(super) fn collect(map: &Bsp<'_>, graph: &mut Graph<'_>) {
    match map.static_props() {
        Ok(props) => {
            names(graph, "game:sprp", props.names());
            for index in 0..props.len() {
                for name in
                    [format!("sp_{index}.vhv"), format!("sp_hdr_{index}.vhv"), format!("texelslighting_{index}.ppl")]
                {
                    let referrer = Referrer::Record { lump: "game:sprp", index };
                    graph.add(Kind::Other, name.as_bytes(), referrer, b"", Sure::Optional);
                }
            }
        }
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        Err(error) => graph.fault(b"game:sprp", &error),
    }
    match map.detail_props() {
        Ok(props) => names(graph, "game:dprp", props.names()),
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        Err(error) => graph.fault(b"game:dprp", &error),
    }
}

fn names<'n>(graph: &mut Graph<'_>, lump: &'static str, names: impl Iterator<Item = &'n [u8]>) {
    for (index, name) in names.enumerate() {
        graph.add(Kind::Model, name, Referrer::Record { lump, index }, name, Sure::Certain);
    }
}

/// What a model names, and the files that belong to it.
pub(super) fn expand(graph: &mut Graph<'_>, index: usize) {
    let name = graph.needs.files[index].name.clone();
    let Some(stem) = name.strip_suffix(b".mdl") else { return };
    let model = match graph.read(&name, MOST_BYTES).map(Model::parse) {
        Some(Ok(model)) => model,
        Some(Err(error)) => return graph.fault(&name, &error),
        None => return,
    };
    let from = || Referrer::File { index, line: None };
    parts(graph, stem, &from(), model.part_count > 0);
    if let Some(file) = &model.animations {
        graph.add(Kind::ModelPart, file, from(), file, Sure::Certain);
    }
    for include in &model.includes {
        graph.add(Kind::Model, include, from(), include, Sure::Certain);
    }
    for texture in &model.textures {
        material(graph, &model, texture, &from(), Sure::Certain);
    }
    // Those of the game name materials of the game.
    for extension in STRIPS {
        let part = [stem, extension].concat();
        let Some(index) = graph.index(&part).filter(|_| graph.is_packed(&part)) else { continue };
        match graph.read(&part, MOST_BYTES).map(|bytes| replacements(&bytes)) {
            Some(Ok(names)) => {
                let from = Referrer::File { index, line: None };
                names.iter().for_each(|name| material(graph, &model, name, &from, Sure::Likely));
            }
            Some(Err(error)) => graph.fault(&part, &error),
            None => {}
        }
    }
    for sound in &model.sounds {
        sounds::named(graph, sound, from(), Sure::Likely);
    }
    for system in &model.particles {
        graph.want(Kind::Particles, system, from(), Sure::Likely);
    }
    if let Ok(text) = KeyValues::parse(&*model.text) {
        key_values(graph, &text, index);
    }
    graph.texts.push((name.clone(), model.text));
    graph.texts.extend(model.options.into_iter().map(|options| (name.clone(), options)));
    if !(44..=49).contains(&model.version) {
        graph.partly.push(name);
    }
}

/// A material of a model, of whose folders the engine takes the first that has it.
fn material(graph: &mut Graph<'_>, model: &Model, texture: &[u8], from: &Referrer, sure: Sure) {
    let file = |folder: &Vec<u8>| material_file(&[folder, &b"/"[..], texture].concat());
    let there = model.folders.iter().map(file).find(|file| graph.looks_up(file));
    let first = || model.folders.first().map_or_else(|| material_file(texture), file);
    graph.add(Kind::Material, &there.unwrap_or_else(first), from.clone(), texture, sure);
}

/// The files beside a model. Of the files for graphics cards engines take the first that there is.
fn parts(graph: &mut Graph<'_>, stem: &[u8], from: &Referrer, has_body: bool) {
    let part = |extension: &[u8]| [stem, extension].concat();
    let has_strips = STRIPS.iter().any(|extension| graph.exists(&part(extension)));
    let needed = if has_body { Sure::Certain } else { Sure::Optional };
    let first = if has_strips { Sure::Optional } else { needed };
    let rest = [STRIPS[1], STRIPS[2], STRIPS[3], STRIPS[4], b".phy"].map(|extension| (extension, Sure::Optional));
    for (extension, sure) in [(&b".vvd"[..], needed), (STRIPS[0], first)].into_iter().chain(rest) {
        graph.add(Kind::ModelPart, &part(extension), from.clone(), b"", sure);
    }
}

/// The models into which a model breaks.
pub(super) fn expand_part(graph: &mut Graph<'_>, index: usize) {
    let name = graph.needs.files[index].name.clone();
    if !name.ends_with(b".phy") {
        return;
    }
    let Some(data) = graph.read(&name, MOST_BYTES) else { return };
    match physics_text(&data).and_then(KeyValues::parse) {
        Ok(text) => key_values(graph, &text, index),
        Err(error) => graph.fault(&name, &error),
    }
}

/// The key values of a model or of its physics: pieces, sounds of doors, particles.
fn key_values(graph: &mut Graph<'_>, text: &KeyValues<'_>, index: usize) {
    let mut block: &[u8] = b"";
    for pair in text.iter() {
        let from = Referrer::File { index, line: None };
        let Some(value) = pair.value() else {
            block = pair.key();
            continue;
        };
        let is_in = |known: &str| block.eq_ignore_ascii_case(known.as_bytes());
        match () {
            () if is_in("break") && (pair.is("model") || pair.is("ragdoll")) => {
                graph.add(Kind::Model, &piece(value), from, value, Sure::Certain);
            }
            () if ["defaults", "skin", "door_options"].iter().any(|known| is_in(known))
                && ["move", "open", "close", "locked", "unlocked", "lock"].iter().any(|key| pair.is(key)) =>
            {
                sounds::named(graph, value, from, Sure::Likely);
            }
            () if pair.is("explosive_particle") || (pair.is("name") && is_in("particle")) => {
                graph.want(Kind::Particles, value, from, Sure::Likely);
            }
            () => {}
        }
    }
}

/// The path of a piece, which is written without the folder, with or without extension.
fn piece(name: &[u8]) -> Vec<u8> {
    let name = super::normal_name(name);
    let stem = name.strip_suffix(b".mdl").unwrap_or(&name);
    let folder: &[u8] = if stem.starts_with(b"models/") { b"" } else { b"models/" };
    [folder, stem, b".mdl"].concat()
}
