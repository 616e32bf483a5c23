//! Maps as text and images, and back: what is written is read as the same, and what is refused changes nothing.

use std::fs;
use std::path::{Path, PathBuf};

use bspkit::{Bsp, Draft, Layout};
use bspkit_text::ci::{self, Baseline, MapFindings, Report};
use bspkit_text::folder::{Folder, How, Target, unpack};
use bspkit_text::images::{light, textures, visibility};
use bspkit_text::records::{Format, Lump, Numbers, file_stems};
use bspkit_text::{entities, pak};

use super::edits::{Choices, saved};
use super::{Kind, all_maps, folder_of, good_maps, map};
use crate::mutate::{Random, changed};
use crate::seeds;

const NUMBERS: [Numbers; 6] = [
    Numbers::Checked,
    Numbers::Kept,
    Numbers::Followed { force: false, cascade: false },
    Numbers::Followed { force: true, cascade: false },
    Numbers::Followed { force: false, cascade: true },
    Numbers::Followed { force: true, cascade: true },
];

fn random(choices: &mut Choices<'_>) -> Random {
    Random::new(1 + choices.below(60_000) as u64)
}

fn is_unchanged(draft: &Draft<'_>) -> bool {
    draft.changes().is_ok_and(|changes| changes.is_empty())
}

/// Changes of lines: what people do with records in an editor.
fn lines_changed(text: &mut Vec<u8>, choices: &mut Choices<'_>) {
    let mut lines: Vec<Vec<u8>> = text.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
    for _ in 0..=choices.below(3) {
        let (one, other) = (choices.below(lines.len()), choices.below(lines.len() + 1));
        match (choices.below(4), lines.get(one).cloned()) {
            (0, Some(line)) => lines.insert(other, line),
            (1, Some(_)) => drop(lines.remove(one)),
            (2, Some(line)) => {
                lines.remove(one);
                lines.insert(other.min(lines.len()), line);
            }
            (_, Some(mut line)) => {
                // Another digit: still a number.
                let digits: Vec<usize> = (0..line.len()).filter(|at| line[*at].is_ascii_digit()).collect();
                if let Some(at) = digits.get(choices.below(digits.len())) {
                    line[*at] = b'0' + u8::try_from(choices.below(10)).unwrap_or(0);
                }
                lines[one] = line;
            }
            _ => {}
        }
    }
    *text = lines.concat();
}

/// The records of a lump as text: the same text changes nothing; another one is loaded and saved, or refused.
pub fn records(bytes: &[u8]) {
    let mut choices = Choices::of(bytes);
    let map = choices.map();
    let slots: Vec<_> = map.slots().iter().filter(|slot| slot.length > 0).collect();
    let slot = slots[choices.below(slots.len())];
    let Ok(whole) = Lump::read(map, slot) else { return };
    let lists = whole.records().iter().map(|span| format!("{}.{}", slot.name, span.list)).collect::<Vec<_>>();
    let one = lists.get(choices.below(lists.len())).filter(|_| choices.below(3) == 0);
    let lump = one.and_then(|name| Lump::find(map, name).ok()).unwrap_or(whole);
    let format = [Format::Json, Format::Json, Format::Csv, Format::Raw][choices.below(4)];
    let names = map.dialect().game(map.version()).flags;
    let mut text = Vec::new();
    let printed = lump.print(format, names, |piece| {
        text.extend_from_slice(piece);
        Ok::<_, bspkit::Error>(true)
    });
    if printed.is_err() {
        return;
    }
    let _ = (lump.rest(), lump.usual_format(), file_stems(map).len());
    let numbers = NUMBERS[choices.below(6)];
    let mut draft = map.draft();
    let done = lump.load(&mut draft, format, names, numbers, &text[..]);
    let is_whole = done.is_ok() && is_unchanged(&draft);
    assert!(is_whole, "{} {} {format:?} {numbers:?}: {:?}", map.dialect().name, lump.name(), done.err());
    match choices.below(4) {
        0 => changed(Kind::Bytes, &mut text, &[bytes.to_vec()], &mut random(&mut choices)),
        _ => lines_changed(&mut text, &mut choices),
    }
    let _ = lump.rows(format, names, &text[..]);
    // Other edits may be there before.
    if choices.below(4) == 0 {
        super::edits::edit(&mut draft, &mut choices);
    }
    let before = draft.changes().ok();
    let numbers = NUMBERS[choices.below(6)];
    match lump.load(&mut draft, format, names, numbers, &text[..]) {
        Ok(_) => drop(saved(&draft, Layout::Keep)),
        Err(error) => assert_eq!(draft.changes().ok(), before, "{error}"),
    }
}

/// The document that lists the entities of a map.
pub fn documents() -> Vec<Vec<u8>> {
    good_maps().iter().filter_map(|map| document(map)).collect()
}

fn document(map: &Bsp<'_>) -> Option<Vec<u8>> {
    let all = map.entities().ok()?;
    let listed: Vec<String> = all.iter().take(12).map(|entity| json(&entity)).collect();
    // Of the first entities alone: those that a selector matches.
    let first: Vec<String> = (0..all.len().min(12)).map(|index| format!("#{index}")).collect();
    let selector =
        if first.len() < all.len() { format!("\"selector\": \"{}\", ", first.join(",")) } else { String::new() };
    let text =
        format!("{{\"version\": 1, \"path\": \"a.bsp\", {selector}\"entities\": [\n{}\n]}}\n", listed.join(",\n"));
    Some(text.into_bytes())
}

fn json(entity: &bspkit::content::entities::Entity<'_>) -> String {
    serde_json::to_string(&entities::EntityJson(entity)).expect("an entity can be written as JSON")
}

/// Entities as JSON: of the same map it changes nothing, and a patch of another document can be applied.
pub fn lists(bytes: &[u8]) {
    let Ok(lists) = entities::read(bytes) else { return };
    for list in lists {
        for map in good_maps() {
            let Ok(all) = map.entities() else { continue };
            let Ok(patch) = list.patch(&all) else { continue };
            let located = patch.locate(&all, bspkit_ops::patch::Search::Exact).expect("the entities are there");
            let _ = located.apply();
            let text = bspkit_text::patch::write(&patch);
            assert_eq!(bspkit_text::patch::read(text.as_bytes()).expect("a patch can be read"), patch);
        }
    }
    if let Some(document) = document(map(bytes.len())) {
        let all = map(bytes.len()).entities().expect("entities");
        let list = entities::read(&document).expect("a document can be read");
        let patch = list[0].patch(&all).expect("its own entities are there");
        assert!(patch.operations.is_empty(), "{patch:?}");
    }
}

/// Light, textures and visibility as images: the same images change nothing. One file is changed then.
pub fn images(bytes: &[u8]) {
    let mut choices = Choices::of(bytes);
    let map = choices.map();
    let folder = folder_of("images");
    let _ = fs::create_dir_all(&folder);
    let mut draft = map.draft();
    match choices.below(3) {
        0 => light_images(map, &mut draft, &folder, &mut choices),
        1 => rows_of_sight(&mut draft, &folder, &mut choices),
        _ => pictures(map, &folder, &mut choices),
    }
    let _ = saved(&draft, Layout::Keep);
    let _ = fs::remove_dir_all(&folder);
}

/// Changes one of these files as bytes, or takes another one for it.
fn one_changed(paths: &[PathBuf], choices: &mut Choices<'_>) {
    let Some(path) = paths.get(choices.below(paths.len())) else { return };
    let mut content = fs::read(path).unwrap_or_default();
    let others: Vec<Vec<u8>> = paths.iter().filter_map(|path| fs::read(path).ok()).collect();
    match choices.below(3) {
        0 => content = others[choices.below(others.len())].clone(),
        _ => changed(Kind::Bytes, &mut content, &others, &mut random(choices)),
    }
    fs::write(path, content).expect("a file can be written");
}

fn light_images(map: &Bsp<'static>, draft: &mut Draft<'static>, folder: &Path, choices: &mut Choices<'_>) {
    let Ok(own) = map.light() else { return };
    let (single, first) = (choices.below(2) == 0, choices.below(8));
    let chosen = |_: &_, block: &bspkit::content::lightmap::Block, _| !single || block.index() / 8 == first;
    let export = light::export(map, &own, "a.bsp", single, chosen).expect("light can be exported");
    let mut paths = vec![folder.join("light.json")];
    fs::write(&paths[0], export.index()).expect("a file can be written");
    for (name, bytes) in export.files().iter().flat_map(|sheet| export.encode(sheet).expect("an image")) {
        paths.push(folder.join(name));
        let _ = paths.last().and_then(|path| path.parent()).map(fs::create_dir_all);
        fs::write(&paths[paths.len() - 1], bytes).expect("a file can be written");
    }
    let index = light::Index::read(folder).expect("the index can be read");
    assert!(index.files().count() < paths.len());
    let Ok(light) = draft.light() else { return };
    let done = light::import(light, &index);
    assert!(done.changed == 0 && done.faults.is_empty(), "{done:?}");
    one_changed(&paths, choices);
    if let Ok(index) = light::Index::read(folder) {
        let _ = light::import(light, &index);
    }
}

fn rows_of_sight(draft: &mut Draft<'static>, folder: &Path, choices: &mut Choices<'_>) {
    let Ok(rows) = draft.visibility() else { return };
    // An image without rows cannot be written.
    if visibility::places(rows).is_empty() {
        return;
    }
    let Some(set) = rows.sets().get(choices.below(rows.sets().len())).copied() else { return };
    let path = folder.join(["vis.png", "vis.pbm"][choices.below(2)]);
    let kind = visibility::Kind::of(&path).expect("a kind");
    let file = fs::File::create(&path).expect("a file can be made");
    let faults = visibility::export(rows, set, kind, file).expect("an image is written");
    assert_eq!(visibility::import(rows, set, &path).expect("it is read"), 0, "{faults:?}");
    one_changed(std::slice::from_ref(&path), choices);
    let _ = visibility::import(rows, set, &path);
    // What is imported is exported as the same image.
    let (mut one, mut other) = (Vec::new(), Vec::new());
    let unread = visibility::export(rows, set, kind, &mut one).expect("an image is written");
    fs::write(&path, &one).expect("a file can be written");
    if unread.is_empty() && visibility::import(rows, set, &path).is_ok() {
        visibility::export(rows, set, kind, &mut other).expect("an image is written");
        assert!(one == other);
    }
}

fn pictures(map: &Bsp<'_>, folder: &Path, choices: &mut Choices<'_>) {
    let Ok(all) = map.textures() else { return };
    let mut paths = Vec::new();
    let palette = bspkit::content::palette::Palette(std::array::from_fn(|at| u8::try_from(at / 3).unwrap_or(0)));
    for index in 0..all.len() {
        let Ok(Some(texture)) = all.get(index) else { continue };
        let Some(image) = texture.image() else { continue };
        let own = texture.palette().unwrap_or_else(|| palette.clone());
        let path = folder.join(format!("{index}.png"));
        let Ok(bytes) = textures::encode(texture.width(), texture.height(), &image.pixels, &own) else { continue };
        fs::write(&path, bytes).expect("a file can be written");
        let picture = textures::read(&path).expect("it is read");
        let (again, _) = textures::with_own_palette(&picture, &texture, false).expect("it has a palette");
        assert!(again.pixels == image.pixels, "{index}");
        paths.push(path);
    }
    one_changed(&paths, choices);
    for (path, index) in paths.iter().zip(0..all.len()) {
        let (Ok(mut picture), Ok(Some(texture))) = (textures::read(path), all.get(index)) else { continue };
        let quantizes = choices.below(2) == 0;
        let _ = textures::with_own_palette(&picture, &texture, quantizes);
        let _ = (textures::with_palette(&picture, &palette, quantizes), picture.loses_holes(true, false));
        picture.show_holes();
        assert_eq!(picture.colors().len(), picture.width as usize * picture.height as usize);
    }
}

/// Embedded files as a folder: the same folder changes nothing, and after a change the pakfile is what the folder is.
pub fn paks(bytes: &[u8]) {
    let mut choices = Choices::of(bytes);
    let all: Vec<&Bsp<'_>> = all_maps().iter().filter(|map| map.pak().is_ok_and(|pak| !pak.is_empty())).collect();
    let mut draft = all[choices.below(all.len())].draft();
    let Ok(files) = draft.pak() else { return };
    for number in 0..choices.below(3) {
        let names = ["own/A.txt", "own/a.txt", "OWN", "own/folder/", "own/..", "con.txt", "own\\b.txt", "é\u{1}.txt"];
        let _ = files.add(names[choices.below(names.len())], vec![7; number]);
    }
    let folder = folder_of("embedded");
    let indices: Vec<usize> = (0..files.len()).collect();
    let Ok(done) = pak::extract(files, &indices, &folder, 1, false) else { return };
    assert!(done.iter().filter_map(|file| file.path.as_ref().ok()).all(|path| path.starts_with(&folder)));
    let before: Vec<Vec<u8>> = files.iter().map(|file| file.name().to_vec()).collect();
    if let Ok(synced) = pak::sync(files, &folder, pak::Names::AsIs) {
        assert_eq!((synced.added, synced.changed, synced.removed), (0, 0, 0), "{synced:?}");
    }
    let paths: Vec<PathBuf> = pak::files_in(&folder).into_iter().flatten().map(|file| file.path).collect();
    match (choices.below(4), paths.get(choices.below(paths.len()))) {
        (0, Some(path)) => drop(fs::remove_file(path)),
        (1, _) => drop(fs::write(folder.join("Own New.txt"), bytes)),
        (2, Some(path)) => drop(fs::rename(path, folder.join("renamed.txt"))),
        _ => one_changed(&paths, &mut choices),
    }
    let names = [pak::Names::AsIs, pak::Names::Normal][choices.below(2)];
    // Of files that have one name to engines the second has a number on disk, which it loses if the first one goes.
    let has_numbers = pak::paths(files, &indices).iter().any(|placed| placed.first.is_some());
    match pak::sync(files, &folder, names) {
        Ok(_) if has_numbers => {}
        Ok(_) => {
            let synced = pak::sync(files, &folder, names).expect("what was synced can be synced");
            assert_eq!((synced.added, synced.changed, synced.removed), (0, 0, 0), "{synced:?}");
        }
        Err(error) => {
            let after: Vec<Vec<u8>> = files.iter().map(|file| file.name().to_vec()).collect();
            assert!(after == before, "{error}");
        }
    }
    let _ = saved(&draft, Layout::Keep);
    let _ = fs::remove_dir_all(&folder);
}

/// A map taken apart in each way is the same map again; with one file changed it opens, or is refused. Without what it
/// says of the original, a folder is a new map.
pub fn folders(bytes: &[u8]) {
    let mut choices = Choices::of(bytes);
    let number = choices.below(64);
    let map = map(number);
    let mut how = How::default();
    how.format = [None, Some(Format::Json), Some(Format::Csv), Some(Format::Raw)][choices.below(4)];
    how.text = if choices.below(3) == 0 { vec!["all".to_owned()] } else { Vec::new() };
    how.no_images = choices.below(2) == 0;
    let folder = folder_of("apart");
    let mut files = Vec::new();
    let apart = |map: &Bsp<'_>, files: &mut Vec<PathBuf>| {
        let mut target = Target::new(&folder);
        files.clear();
        unpack(map, &how, |name, content| {
            files.push(folder.join(name));
            target.write(name, content)
        })?;
        target.finish()
    };
    if choices.below(4) == 0 {
        // Another map was there before: nothing of it is left.
        apart(choices.map(), &mut files).expect("a good map is taken apart");
    }
    apart(map, &mut files).expect("a good map is taken apart");
    let pack = |numbers| Folder::read(&folder).and_then(|folder| folder.pack(numbers));
    let numbers = NUMBERS[choices.below(6)];
    let same = pack(numbers).unwrap_or_else(|errors| panic!("{how:?} {numbers:?} {errors:#?}"));
    assert!(saved(&same.draft, Layout::Keep).is_some_and(|new| new.container().bytes() == map.container().bytes()));
    if choices.below(3) == 0 {
        // Files of the original are not there: the map is made of the rest.
        let original = files.iter().find(|path| path.to_string_lossy().contains("original"));
        original.into_iter().for_each(|path| drop(fs::remove_file(path)));
    }
    for _ in 0..=choices.below(2) {
        let text: Vec<&PathBuf> = files
            .iter()
            .filter(|path| {
                ["jsonl", "csv", "json", "ent"].iter().any(|end| path.extension().is_some_and(|it| it == *end))
            })
            .collect();
        match text.get(choices.below(text.len())) {
            Some(path) if choices.below(3) != 0 => {
                let mut content = fs::read(path).unwrap_or_default();
                lines_changed(&mut content, &mut choices);
                fs::write(path, content).expect("a file can be written");
            }
            _ => one_changed(&files, &mut choices),
        }
    }
    if let Ok(packed) = pack(NUMBERS[choices.below(6)]) {
        let _ = saved(&packed.draft, Layout::Keep);
        let _ = (packed.edited.len(), packed.warnings.len(), packed.findings.len());
    }
    let _ = fs::remove_dir_all(&folder);
}

/// The folder of a new map, which the guide has: with one file changed, and with the input as one of its files.
pub fn made(bytes: &[u8]) {
    let mut choices = Choices::of(bytes);
    let folder = folder_of("made");
    let from = seeds::root().join("docs/box");
    let files: Vec<PathBuf> = pak::files_in(&from).into_iter().flatten().map(|file| file.path).collect();
    let copies: Vec<PathBuf> =
        files.iter().filter_map(|path| Some(folder.join(path.strip_prefix(&from).ok()?))).collect();
    for (path, copy) in files.iter().zip(&copies) {
        let _ = copy.parent().map(fs::create_dir_all);
        fs::copy(path, copy).expect("a file can be copied");
    }
    let given = &copies[choices.below(copies.len())];
    match choices.below(4) {
        0 => fs::write(given, bytes).expect("a file can be written"),
        1 => {
            let mut content = fs::read(given).unwrap_or_default();
            lines_changed(&mut content, &mut choices);
            fs::write(given, content).expect("a file can be written");
        }
        2 => {
            // Other dialects have the same lumps, or say which they lack.
            let manifest = folder.join("bspkit.json");
            let text = fs::read_to_string(&manifest).unwrap_or_default();
            let dialects = bspkit::dialect::ALL;
            let text = text.replace("quake2", dialects[choices.below(dialects.len())].name);
            fs::write(manifest, text).expect("a file can be written");
        }
        _ => one_changed(&copies, &mut choices),
    }
    if let Ok(packed) = Folder::read(&folder).and_then(|folder| folder.pack(NUMBERS[choices.below(6)])) {
        let _ = saved(&packed.draft, Layout::Keep);
    }
    let _ = fs::remove_dir_all(&folder);
}

/// Findings about maps, as baselines know them, and reports of them in each format.
pub fn baselines(bytes: &[u8]) {
    let mut choices = Choices::of(bytes);
    let all = all_maps();
    let map = &all[choices.below(all.len())];
    let mut draft = map.draft();
    for _ in 0..=choices.below(4) {
        super::edits::edit(&mut draft, &mut choices);
    }
    if let Some(new) = saved(&draft, Layout::Keep) {
        let found = bspkit_ops::check::run(&new, &Default::default()).unwrap_or_default();
        let mut baseline = Baseline::default();
        baseline.set("a.bsp", &found);
        let read = Baseline::read(&baseline.write()).expect("a baseline can be read");
        assert_eq!(read.write(), baseline.write());
        assert!(read.new_ones("a.bsp", found.clone()).is_empty(), "{found:#?}");
        use ci::Format as F;
        for format in [F::Text, F::JsonLines, F::Junit, F::Sarif, F::Github, F::Gitlab] {
            let mut report = Report::new(format);
            let findings = found.iter().map(|found| (found.clone(), choices.below(2) == 0)).collect();
            let map = MapFindings {
                path: String::from_utf8_lossy(bytes).into_owned().into(),
                findings,
                ..Default::default()
            };
            report.add(&map);
            let mut text = Vec::new();
            report.write_to(&mut text).expect("a report can be written");
            if matches!(format, F::Sarif | F::Gitlab) {
                serde_json::from_slice::<serde_json::Value>(&text).expect("it is JSON");
            }
            let _ = report.summary();
        }
    }
    if let Ok(read) = Baseline::read(&String::from_utf8_lossy(bytes)) {
        let text = read.write();
        assert_eq!(Baseline::read(&text).expect("a baseline can be read").write(), text);
    }
}

/// Baselines.
pub fn known() -> Vec<Vec<u8>> {
    let line = "{\"path\":\"a.bsp\",\"code\":\"reference\",\"lump\":\"FACES\",\"record\":3,\"field\":\"plane\",\
        \"message\":\"`x 1` is 7 of 5\",\"count\":2}";
    let one = format!("{{\"version\": 1, \"findings\": [\n{line},\n{line}\n]}}\n");
    vec![one.into_bytes(), b"{\"version\": 1, \"findings\": []}\n".to_vec()]
}
