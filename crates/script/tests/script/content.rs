//! Lumps, embedded files, texture names, records and light.

use bspkit::Layout;
use bspkit::content::lightmap::{Adjustment, Image, Luxel};
use bspkit::content::texture_names::Renaming;
use bspkit::query::FieldChange;
use bspkit_text::records::parse_value;

use super::*;

/// One map of each family.
const FAMILIES: [&str; 6] = [
    "q1/own_rooms.bsp",
    "q2/own_rooms.bsp",
    "q3/own_rooms.bsp",
    "goldsrc/own_rooms.bsp",
    "source/room_v20.bsp",
    "q1/own_rooms_bspx.bsp",
];

/// Runs a script on a fixture, where it does not fail.
fn done(map: &str, text: &str) -> (Draft<'static>, Vec<String>) {
    let (draft, said) = run_on(map, text);
    let said = said.unwrap_or_else(|error| panic!("{map}: {error:?}"));
    (draft, said.reports.into_iter().map(|report| report.text).collect())
}

/// What is set to what it is changes nothing, byte for byte: in every lump, record, file, name and luxel.
#[test]
fn setting_what_is_there_changes_nothing() {
    let script = r#"
        let fields = 0;
        for name in lumps {
            lumps[name] = lumps[name];
            let all = ();
            try { all = records(name); } catch { continue; }
            for r in all {
                let o = r.object();
                for field in o.keys() { r[field] = o[field]; fields += 1; }
            }
        }
        for name in files { files[name] = files[name]; }
        try { for name in textures { textures.rename(name, name); } } catch {}
        let luxels = 0;
        for face in light.faces() {
            let style = 0;
            for number in face.styles {
                for x in 0..min(face.width, 4) { face.set(x, 0, style, face.get(x, 0, style)); luxels += 1; }
                style += 1;
            }
        }
        for e in entities { for p in e.pairs() { p.value = p.value; p.key = p.key; } }
        report(fields, luxels);"#;
    for map in FAMILIES {
        let (draft, said) = done(map, script);
        assert!(draft.changes().unwrap().is_empty(), "{map}: {:?}", draft.changes());
        let numbers: Vec<usize> = said[0].split(' ').map(|number| number.parse().unwrap()).collect();
        assert!(numbers[0] > 500 && numbers[1] >= 4, "{map}: {numbers:?}");
    }
}

#[test]
fn a_field_is_set_as_by_its_path() {
    let (draft, said) = done(
        "q2/own_rooms.bsp",
        r#"let planes = records("planes");
        planes[3].dist += 8.5; planes[-1].normal[1] = 0.25; planes[4]["normal[2]"] = 1;
        let t = records("texinfo")[2]; t.texture = "own/new"; t.flags = "SKY|NODRAW"; t.value = t.value + 1;
        let v = records("vertexes"); v[0].point = vec(1, 2.5, -3);
        report(planes.len(), planes[3].index(), t.flags, t.texture, v[0].point);"#,
    );
    let map = fixture("q2/own_rooms.bsp");
    let names = map.dialect().game(map.version()).flags;
    let mut other = map.draft();
    let planes = map.table(bspkit::dialect::quake2::PLANES).unwrap();
    let (old, last) = (planes.get(3).unwrap().distance, planes.len() - 1);
    let value = map.table(bspkit::dialect::quake2::TEXINFO).unwrap().get(2).unwrap().value;
    for (place, new) in [
        ("planes[3].distance", (old + 8.5).to_string()),
        (&format!("planes[{last}].normal[1]"), "0.25".to_owned()),
        ("planes[4].normal[2]", "1".to_owned()),
        ("texinfo[2].texture", "own/new".to_owned()),
        ("texinfo[2].flags", "SKY|NODRAW".to_owned()),
        ("texinfo[2].value", (value + 1).to_string()),
        ("vertexes[0]", r#"{"point":[1,2.5,-3]}"#.to_owned()),
    ] {
        let change = FieldChange::parse(&format!("{place}={new}")).unwrap();
        let changed = change.apply_with(&mut other, names, parse_value);
        assert_eq!(changed.unwrap_or_else(|error| panic!("{place}: {error}")), 1);
    }
    assert_eq!(draft.plan(Layout::Keep).unwrap().to_vec(), other.plan(Layout::Keep).unwrap().to_vec());
    assert_eq!(said, [format!("{} 3 132 own/new [1.0,2.5,-3.0]", last + 1)]);
}

#[test]
fn records_that_do_not_fit_are_refused() {
    for (script, message) in [
        ("let r = records(\"planes\"); r[0].no = 1", "there is no field no"),
        ("let r = records(\"planes\"); r[0].kind = 3000000000", "is not a whole number from"),
        ("let r = records(\"planes\"); r[0].kind = 1.5", "is not a whole number"),
        ("let r = records(\"planes\"); r[0].dist = 1e300", "is not a number of 32 bits"),
        ("let r = records(\"planes\"); r[0].dist = \"x\"", "a string is not a number"),
        ("let r = records(\"planes\"); r[0].normal = [1, 2]", "an array of 3 is needed"),
        ("records(\"planes\")[99999]", "there is no record 99999"),
        ("let r = records(\"texinfo\"); r[0].texture = \"0123456789012345678901234567890123\"", "there is room for 32"),
        ("records(\"entities\")", "has no records"),
        ("records(\"no\")", "the map has no lump no"),
        ("let r = records(\"planes\"); lumps[\"planes\"] = bytes(\"\"); r[5].dist = 1", "has become smaller"),
    ] {
        let (draft, said) = run_on("q2/own_rooms.bsp", script);
        let error = said.expect_err(script).to_string();
        assert!(error.contains(message), "{script}: {error}");
        assert!(draft.changes().unwrap().is_empty());
    }
}

#[test]
fn records_are_found_and_changed_by_queries() {
    let (draft, said) = done(
        "q2/own_rooms.bsp",
        r#"let all = records("faces");
        let sky = all.select("[texinfo.texture=own/sky]");
        report(sky.len(), sky.len() < all.len(), sky[0].index());
        let found = map.set("texinfo[texture=own/sky].flags|=0x400");
        report(found, all.select("[texinfo.flags&0x400]").len() == sky.len());
        let t = records("texinfo");
        let first = t.select("[flags&SKY]")[0];
        first.texture = "own/dark";
        report(all.select("[texinfo.texture=own/dark]").len() == sky.len(), t.select("[texture=none]").len());"#,
    );
    assert_eq!(said[1..], ["3 true", "true 0"]);
    assert!(said[0].contains(" true "), "{said:?}");
    assert!(!draft.changes().unwrap().is_empty());
    for (script, message) in [
        ("records(\"faces\").select(\"[3].plane\")", "`faces[3].plane` is a field: select finds records"),
        ("records(\"faces\").select(\"[no=1]\")", "there is no field no"),
        ("records(\"faces\").select(\"[\")", "cannot read the query"),
        ("map.set(\"faces[3].plane\")", "an operator"),
        ("map.set(\"faces[3].plane=x\")", "x"),
    ] {
        let (draft, said) = run_on("q2/own_rooms.bsp", script);
        let error = said.expect_err(script).to_string();
        assert!(error.contains(message), "{script}: {error}");
        assert!(draft.changes().unwrap().is_empty());
    }
}

/// Records, lumps, names and light see each other's edits.
#[test]
fn edits_of_one_kind_are_seen_by_the_others() {
    let (_, said) = done(
        "q2/own_rooms.bsp",
        r#"let t = records("texinfo");
        t[0].texture = "own/first";
        let names = textures.names();
        report("own/first" in names);
        textures.rename("own/first", "own/second");
        report(records("texinfo")[0].texture, t[0].texture);
        let b = lumps["texinfo"];
        b[44] = 120;
        report(t[0].texture);
        lumps["texinfo"] = b;
        report(t[0].texture);
        let face = light.faces()[0];
        face.set(0, 0, vec(1, 0, 0));
        report(lumps["lighting"][0], lumps["lighting"].number(0, "u16"));"#,
    );
    assert_eq!(&said[..2], ["true", "own/second own/second"]);
    assert_eq!(said[2], "own/second");
    assert!(said[3].contains('x'), "{said:?}");
}

#[test]
fn files_are_read_set_renamed_and_removed() {
    let (mut draft, said) = done(
        "source/room_v20.bsp",
        r#"let before = files.names().len();
        files["cfg/new.txt"] = "one\ntwo \\xff";
        files["cfg/raw.bin"] = bytes("\\x00\\x01");
        files.rename("cfg/new.txt", "cfg/other.txt");
        report(files.names().len() - before, files.text("CFG\\\\Other.txt"), files["cfg/no.txt"], files["cfg/raw.bin"]);
        report(files.remove("cfg/*.bin"), files["cfg/raw.bin"] == (), files["cfg/other.txt"].len());
        files["Materials\\\\New.VMT"] = "x";"#,
    );
    assert_eq!(said, ["2 one\ntwo \\xff null 2 bytes", "1 true 9"]);
    let pak = draft.pak().unwrap();
    assert!(pak.iter().any(|file| file.name() == b"materials/new.vmt"), "new names are as engines look them up");
    assert_eq!(&*pak.get(pak.find("cfg/other.txt")[0]).unwrap().data().unwrap(), b"one\ntwo \xff");
    let (_, said) = run_on("q3/own_rooms.bsp", "report(files.names().len()); files[\"a\"] = \"b\"");
    assert!(said.unwrap_err().to_string().contains("have no pakfile"));
}

#[test]
fn textures_are_renamed_as_by_the_library() {
    for (map, old, new) in [
        ("q3/own_rooms.bsp", "textures/own/*", "textures/mine/{1}"),
        ("q2/own_rooms.bsp", "own/*", "mine/{1}"),
        ("goldsrc/own_rooms.bsp", "sky", "nosky"),
    ] {
        let (draft, said) = done(map, &format!("report(textures.rename(\"{old}\", \"{new}\"))"));
        let mut other = fixture(map).draft();
        let renamed = other.texture_names().unwrap().rename(&Renaming::new(old, new).unwrap()).unwrap();
        assert_eq!(said, [renamed.count.to_string()]);
        assert_eq!(draft.plan(Layout::Keep).unwrap().to_vec(), other.plan(Layout::Keep).unwrap().to_vec(), "{map}");
    }
}

#[test]
fn light_is_set_and_scaled_as_by_the_library() {
    for map in FAMILIES {
        let (draft, _) = done(map, "light.scale(0.5)");
        let mut other = fixture(map).draft();
        let half = Adjustment { tint: [0.5; 3], ..Adjustment::default() };
        other.light().unwrap().adjust(&half, |_, _, _| true).unwrap();
        assert_eq!(draft.plan(Layout::Keep).unwrap().to_vec(), other.plan(Layout::Keep).unwrap().to_vec(), "{map}");

        let script = r#"let f = light.faces()[0]; f.set(1, 0, vec(1, 0, 0)); f.scale(vec(0.5, 1, 1));
            report(f.index, f.width, f.height, f.get(1, 0).x > 0.4)"#;
        let (mut draft, said) = done(map, script);
        let (light, before) = (draft.light().unwrap(), fixture(map).light().unwrap());
        let block = &light.sets()[0].blocks()[0];
        let [wide, high] = block.size();
        let image = Image { set: 0, block: 0, style: 0, plane: 0 };
        let is_grey = matches!(light.luxel(image, [1, 0]), Some(Luxel::Grey(_)));
        assert_eq!(said, [format!("{} {wide} {high} {}", block.index(), !is_grey)], "{map}");
        let old = before.luxel(image, [1, 0]).unwrap();
        let expected = half.of(old.with_linear([1.0, 0.0, 0.0]));
        let expected = if is_grey {
            expected
        } else {
            Adjustment { tint: [0.5, 1.0, 1.0], ..half }.of(old.with_linear([1.0, 0.0, 0.0]))
        };
        if !is_grey {
            assert_eq!(light.luxel(image, [1, 0]), Some(expected), "{map}");
        }
        let elsewhere = Image { block: 1, ..image };
        assert!(before.sets()[0].is_pages() || light.bytes(elsewhere) == before.bytes(elsewhere), "{map}");
    }
}

/// Light that a map has twice is edited in both.
#[test]
fn copies_of_light_follow() {
    let (mut draft, said) = done(
        "q1/own_rooms_bspx.bsp",
        "report(light.sets()); let f = light.faces()[3]; f.scale(0); report(light.face(f.index, light.sets()[1]).index)",
    );
    assert!(said[0].starts_with('['), "{said:?}");
    let copy = Image { set: 1, block: 3, style: 0, plane: 0 };
    assert_eq!(draft.light().unwrap().luxel(copy, [0, 0]), Some(Luxel::Rgb([0; 3])));
}

#[test]
fn bytes_have_bounds() {
    for (script, message) in [
        ("bytes(\"abc\")[3]", "there are 3 bytes, and not 1 byte at 3"),
        ("bytes(\"abc\").number(0, \"i32\")", "there are 3 bytes, and not 4 bytes at 0"),
        ("bytes(\"abc\").number(-1, \"i32\")", "there are 3 bytes"),
        ("bytes(\"abc\").slice(1, 9223372036854775807)", "there are 3 bytes"),
        ("let b = bytes(\"abc\"); b[0] = 256", "is not a whole number from 0 to 255"),
        ("let b = bytes(\"abc\"); b.set_number(0, \"f64\", 1)", "is not a form of a number"),
        ("lumps[\"no\"]", "the map has no lump no"),
        ("lumps[\"planes\"] = 5", "is not bytes"),
    ] {
        assert!(error(script).contains(message), "{script}: {}", error(script));
    }
    let script = r#"let b = bytes("\\x01\\x02\\x03\\x04"); let c = b; c[0] = 255; c.set_number(1, "u16", 513);
        report(b[0], c[0], c[1], c[2], b.number(0, "u32"), b == c, c.text(), b.slice(1, 2).len())"#;
    assert_eq!(reports(script), ["1 255 1 2 67305985 false \\xff\\x01\\x02\\x04 2"]);
}

#[test]
fn a_new_entity_text_ends_the_old_handles() {
    let script = r#"let e = entities[3]; let old = lumps["entities"];
        lumps["entities"] = bytes("{\n\"classname\" \"worldspawn\"\n}\n\\x00");
        report(entities.len(), e.exists());
        lumps["entities"] = old;
        report(entities.len(), e.exists());"#;
    let (draft, said) = done("q3/own_rooms.bsp", script);
    assert_eq!(said, ["1 false", "18 false"]);
    assert!(draft.changes().unwrap().is_empty());
}
