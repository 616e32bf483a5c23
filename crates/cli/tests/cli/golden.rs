//! What people read, word for word: `BLESS=1` writes the files anew.

use std::path::Path;

use super::room::{Room, fixture, with_word};
use super::transcript::check;

#[test]
fn reading() {
    let room = Room::new();
    let lines = [
        "bspkit info q2.bsp q3.bsp goldsrc.bsp",
        "bspkit info source.bsp | head -5",
        "bspkit info q3.bsp --json | head -24",
        "bspkit info source.bsp goldsrc.bsp --limits",
        "bspkit ls q2.bsp",
        "bspkit ls q3.bsp --json | head -24",
        "bspkit cat source.bsp entities",
        "bspkit cat source.bsp game:sprp --json",
        "bspkit ent list q3.bsp 'path_*' -n",
        "bspkit ent list q3.bsp '#13' --json",
        "bspkit ent list q3.bsp 'info_player_*:not([angle=90]),[message~/FIXTURE$/i]' -n",
        "bspkit ent get q3.bsp '[angle>=180]' classname",
        "bspkit ent get q3.bsp worldspawn message",
        "bspkit ent get q3.bsp '[targetname^=p]'",
        "bspkit ent get q3.bsp path_corner target --json",
    ];
    check("reading", &room, &lines);
}

#[test]
fn records() {
    let room = Room::new();
    let lines = [
        "bspkit dump q2.bsp models",
        "bspkit dump q2.bsp texinfo --format csv | head -3",
        "bspkit get q2.bsp planes[0].normal[2] texinfo[0].texture texinfo[1].flags faces[12].styles models[0]",
        "bspkit get q2.bsp planes[0].normal texinfo[1].flags --json",
        "bspkit set q2.bsp 'texinfo[1].flags=SKY|0x400' 'planes[0].normal=[0,-0.0,0.5]' -o out.bsp",
        "bspkit get out.bsp texinfo[1].flags planes[0].normal",
        "bspkit get q2.bsp texinfo[1].flags --flag-names kingpin",
        "bspkit set q2.bsp texinfo[1].flags=METAL --flag-names kingpin --dry-run",
        "bspkit set q2.bsp texinfo[1].flags=METAL --dry-run",
        "bspkit get q2.bsp planes[99999]",
        "bspkit get q2.bsp planes[0].nromal",
        "bspkit get q2.bsp planes[0].normal[3]",
        "bspkit get q2.bsp entities[0]",
        "bspkit get q2.bsp planes.0",
        "bspkit get q2.bsp 'texinfo[texture~/WATER/i].flags' 'faces[texinfo.texture=own/sky].light_offset'",
        "bspkit get q2.bsp 'planes[2..4]' 'planes[normal=-1],[1].distance' 'models[*]:not([0])[face_count>6].origin'",
        "bspkit get q2.bsp 'texinfo[flags&SKY|WARP].texture' --format json",
        "bspkit get goldsrc.bsp 'texinfo[texture~/sky/i]' --format csv",
        "bspkit get goldsrc.bsp 'faces[texture=sky].texture' 'faces[texture=sky].texinfo.texture' 'texinfo[0].texture.name'",
        "bspkit get q3.bsp 'faces[texture~/sky/].texture' --json | head -12",
        "bspkit get q2.bsp 'planes[distance>9999]' 'planes[0].kind'",
        "bspkit get q2.bsp 'planes[distance>9999]'",
        "bspkit get q2.bsp planes[0] planes[1] --format csv",
        "bspkit set q2.bsp 'texinfo[texture~/water/i].flags^=WARP|0x400' 'models[1..3].origin+=0 0 8' -o out.bsp",
        "bspkit get out.bsp 'texinfo[texture~/water/].flags' 'models[..4].origin'",
        "bspkit set q2.bsp 'faces[texinfo.texture=own/sky].light_offset=-1' 'faces[texinfo.flags&SKY].texinfo.value=7' -o out.bsp",
        "bspkit get out.bsp 'faces[light_offset<0].texinfo.value'",
        "bspkit set q2.bsp 'planes[distance>9999].kind=1' -o no.bsp",
        "bspkit set q2.bsp 'planes[kind!=1].kind=1' -o no.bsp",
        "bspkit set q2.bsp 'planes[0].distance:=1' -o no.bsp",
        "bspkit set q2.bsp 'planes[0].distance' -o no.bsp",
        "bspkit set q2.bsp 'planes[0].distance+=x' -o no.bsp",
        "bspkit set q2.bsp 'planes[0].distance|=1' -o no.bsp",
        "bspkit set q2.bsp 'planes[2].distance*=1e39' -o no.bsp",
        "bspkit set q2.bsp 'planes[2..].distance*=1e37' -o no.bsp",
        "bspkit set q2.bsp 'planes[0].kind*=1.3' -o no.bsp",
        "bspkit set q2.bsp 'planes[0].normal+=1 2' -o no.bsp",
        "bspkit set q2.bsp 'texinfo[0].flags+=1' -o no.bsp",
        "bspkit set q2.bsp 'faces[0].texinfo.texture.name=x' -o no.bsp",
        "bspkit set goldsrc.bsp 'faces[0].texture=x' -o no.bsp",
        "bspkit get q2.bsp 'models[0].first_face.plane'",
        "bspkit get q2.bsp 'nodes[children.plane=1]'",
        "bspkit get q2.bsp 'planes[~/a/]'",
        "bspkit get q2.bsp 'planes[nope=1]'",
        "bspkit get q2.bsp 'planes[distance~/(/]'",
        "bspkit set q2.bsp faces[0].plane=65536 --dry-run",
        "bspkit set q2.bsp planes[0].distance=nan --dry-run",
        "bspkit dump q2.bsp entities --format csv",
        "bspkit unpack q2.bsp -o folder && ls -A folder folder/original",
        "bspkit unpack q2.bsp -o folder",
        "bspkit pack folder -o same.bsp && cmp q2.bsp same.bsp",
        "bspkit dump q2.bsp planes | head -3 | bspkit load q2.bsp planes - -o no.bsp",
        "bspkit dump q2.bsp planes | sed '2s/distance/dist/' | bspkit load q2.bsp planes - -o no.bsp",
        "bspkit dump q2.bsp planes | sed '2s/0,0,1/0,0/' | bspkit load q2.bsp planes - -o no.bsp",
        "bspkit dump q2.bsp planes | sed '2s/\"kind\":2/\"kind\":2.5/' | bspkit load q2.bsp planes - -o no.bsp",
        "bspkit dump q2.bsp faces --format csv | sed '3s/^0,/x,/' | bspkit load q2.bsp faces - --format csv -o no.bsp",
        "bspkit dump q2.bsp faces --format csv | sed '1s/side/sides/' | bspkit load q2.bsp faces - --format csv -o no.bsp",
        "bspkit load q2.bsp entities folder/01_PLANES.jsonl -o no.bsp",
        "ls no.bsp",
        "bspkit verify q2.bsp q3.bsp --stats",
    ];
    check("records", &room, &lines);
}

#[test]
fn textures() {
    let room = Room::new();
    let path = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join("tests/maps/src");
    for (name, source) in [("own.wad", "own_hl.wad"), ("water.wal", "q2/textures/own/water.wal")] {
        room.write(name, &std::fs::read(path.join(source)).unwrap());
    }
    room.write("colormap.pcx", &std::fs::read(path.join("q2/pics/colormap.pcx")).unwrap());
    room.write("v20.bsp", &fixture("source/room_v20"));
    let lines = [
        "bspkit tex list goldsrc.bsp",
        "bspkit tex list goldsrc.bsp --only '{*' --json",
        "bspkit tex list q2.bsp v20.bsp",
        "bspkit tex list q3.bsp --only '*wall' --json",
        "bspkit tex list water.wal",
        "bspkit tex list goldsrc.bsp --only none",
        "bspkit tex export goldsrc.bsp -o images --mips && ls images | head -4",
        "bspkit tex export water.wal -o water.png --palette colormap.pcx",
        "bspkit tex export q2.bsp -o images",
        "cp images/sky.mip1.png images/sky.png; bspkit tex import goldsrc.bsp images -o no.bsp",
        "bspkit tex import goldsrc.bsp images/sky.png --any-size -o out.bsp",
        "bspkit tex import goldsrc.bsp -o out.bsp",
        "bspkit tex rename q2.bsp 'own/*' 'mine/{1}' -o out.bsp",
        "bspkit tex rename q2.bsp 'own/*' 'a/very/long/name/indeed/of/{1}' -o no.bsp",
        "bspkit tex rename q2.bsp 'own/*' '{2}' -o no.bsp",
        "bspkit tex strip goldsrc.bsp -o small.bsp && bspkit tex embed small.bsp own.wad -o out.bsp && cmp goldsrc.bsp out.bsp",
        "bspkit tex embed goldsrc.bsp -o no.bsp",
        "bspkit tex embed small.bsp 'sky*' -o no.bsp",
    ];
    check("textures", &room, &lines);
}

#[test]
fn visibility() {
    let room = Room::new();
    let lines = [
        "bspkit vis stat q2.bsp q3.bsp goldsrc.bsp",
        "bspkit vis stat q2.bsp --json",
        "bspkit vis stat source.bsp",
        "bspkit vis export q2.bsp -o v.pbm",
        "bspkit vis export source.bsp -o w.pbm",
        "bspkit vis import q2.bsp v.pbm -o out.bsp",
        "bspkit vis fill q2.bsp -o out.bsp",
        "bspkit vis fill source.bsp --dry-run",
    ];
    check("visibility", &room, &lines);
}

#[test]
fn light() {
    let room = Room::new();
    room.write("lit.bsp", &fixture("source/room_v20"));
    let lines = [
        "bspkit light stat q2.bsp",
        "bspkit light stat q3.bsp goldsrc.bsp source.bsp | grep -v '^    '",
        "bspkit light stat lit.bsp",
        "bspkit light stat lit.bsp --json | head -60",
        "bspkit light export q2.bsp -o pages && ls pages && head -30 pages/light.json",
        "bspkit light export q2.bsp -o pages",
        "bspkit light import q2.bsp pages -o same.bsp && cmp q2.bsp same.bsp",
        "bspkit light export lit.bsp -o lit && find lit -type f | sort",
        "bspkit light export lit.bsp -o faces --by face --faces 4 --set ldr && find faces -type f | sort && cat faces/light.json",
        "bspkit light import lit.bsp faces -o same.bsp && cmp lit.bsp same.bsp",
        "bspkit light export lit.bsp -o none --faces 4,99 --set ldr --by face",
        "bspkit light export lit.bsp -o none --set sdr",
        "bspkit light export source.bsp -o none",
        "rm faces/ldr/faces/00004_s0.hdr faces/ldr/faces/00004_s0.png && bspkit light import lit.bsp faces -o no.bsp",
        "cp pages/page_000.png faces/ldr/faces/00004_s0.png && bspkit light import lit.bsp faces -o no.bsp",
        "bspkit light import lit.bsp faces --force -o same.bsp; cmp lit.bsp same.bsp",
        "bspkit light import q3.bsp pages -o no.bsp 2>&1 | tail -2",
        "bspkit light import q2.bsp nowhere -o no.bsp",
        "echo '{}' > pages/light.json; bspkit light import q2.bsp pages -o no.bsp",
        "bspkit light adjust lit.bsp --gain 2 --set ldr -o out.bsp && bspkit light stat out.bsp | head -5",
        "bspkit light adjust q2.bsp --tint 1,0.5,0.25 --styles 0 --dry-run",
        "bspkit light adjust q2.bsp --gain 1 --in-place",
        "bspkit light adjust q2.bsp --gamma 0 --dry-run",
        "bspkit light adjust q2.bsp --tint 1,1 --dry-run",
        "bspkit set q2.bsp faces[3].light_offset=46600 faces[4].texinfo=99 -o bad.bsp --force && bspkit light stat bad.bsp | head -1",
        "bspkit light export bad.bsp -o bad && bspkit light import bad.bsp bad -o no.bsp",
        "ls no.bsp none",
    ];
    check("light", &room, &lines);
}

#[test]
fn props() {
    let room = Room::empty();
    room.write("plain.bsp", &fixture("source/room_v19"));
    room.write("packed.bsp", &fixture("source/room_v20_lzma"));
    let lines = [
        "bspkit info plain.bsp | grep -e name -e game:",
        "bspkit info packed.bsp | grep -e name -e game:",
        "bspkit info packed.bsp --json | grep -A 16 game:sprp",
    ];
    check("props", &room, &lines);
}

#[test]
fn marks() {
    let room = Room::empty();
    let map = fixture("q2/own_rooms");
    let lumps = [(1, 1, 1 << 30), (2, 0, 1 << 30), (3, 1, -8), (4, 0, 16), (5, 0, 6800)];
    let bad = lumps.into_iter().fold(map, |map, (lump, field, word)| with_word(map, lump, field, word));
    room.write("bad.bsp", &[&bad[..], b"appended text"].concat());
    check("marks", &room, &["bspkit info bad.bsp", "bspkit ls bad.bsp", "bspkit cat bad.bsp planes | head -c0"]);
}

#[test]
fn errors_of_files() {
    let room = Room::new();
    let map = fixture("q2/own_rooms");
    let files: [(&str, &[u8]); 8] = [
        ("empty.bsp", b""),
        ("short.bsp", &map[..6]),
        ("header.bsp", &map[..100]),
        ("garbage.bsp", &[0xa5; 5000]),
        ("text.map", b"// entity 0\n{\n}\n"),
        ("dm4.pk3", b"PK\x03\x04rest of it"),
        ("titan.bsp", b"rBSP\x25\0\0\0"),
        ("newer.bsp", b"VBSP\xff\0\0\0"),
    ];
    let mut lines: Vec<String> = vec!["bspkit info none.bsp".into(), "bspkit ent diff q3.bsp .".into()];
    for (name, bytes) in files {
        room.write(Path::new("bad").join(name), bytes);
        lines.push(format!("bspkit info bad/{name}"));
    }
    lines.push("mkdir none && bspkit verify none".into());
    lines.push("bspkit verify q3.bsp bad/empty.bsp --json | tail -1".into());
    check("errors_of_files", &room, &lines.iter().map(String::as_str).collect::<Vec<_>>());
}

#[test]
fn findings() {
    let room = Room::new();
    let damaged = with_word(with_word(fixture("q2/own_rooms"), 6, 1, 2300), 18, 0, 1 << 30);
    room.write("damaged.bsp", &damaged);
    room.write("maps/a.bsp", &fixture("q3/own_rooms"));
    room.write("unended.bsp", &with_word(fixture("q2/own_rooms"), 0, 1, 1757));
    let lines = [
        "bspkit check q2.bsp",
        "bspkit check damaged.bsp",
        "bspkit check damaged.bsp -q --allow lump-outside --allow model-faces --allow index-range --allow run-range",
        "bspkit check damaged.bsp --json | head -24",
        "bspkit check unended.bsp",
        "bspkit check unended.bsp --deny warning -q",
        "bspkit check unended.bsp --deny entity-nul -q",
        "bspkit check unended.bsp --deny entity-model -q",
        "bspkit check maps q2.bsp --json",
        "bspkit check maps/a.bsp --json",
        "bspkit check q2.bsp none.bsp --engine q2pro",
        "bspkit check q2.bsp --engine quake9",
        "bspkit check q2.bsp --deny nonsense",
        "bspkit check",
        "bspkit check --codes",
    ];
    check("findings", &room, &lines);
}

#[test]
fn errors_of_arguments() {
    let room = Room::new();
    let lines = [
        "bspkit",
        "bspkit inof q3.bsp",
        "bspkit info",
        "bspkit info q3.bsp --dialect quake9",
        "bspkit info q3.bsp -j 0",
        "bspkit cat q3.bsp pakfile",
        "bspkit cat q3.bsp 99",
        "bspkit ent list q3.bsp '[style'",
        "bspkit ent list q3.bsp ''",
        "bspkit ent list q3.bsp light,",
        "bspkit ent list q3.bsp 'worldspawn[message~/(a/]'",
        "bspkit ent list q3.bsp 'light:not([wait>x])'",
        "bspkit ent get q3.bsp worldspawn 'a#0'",
        "bspkit ent set q3.bsp worldspawn",
        "bspkit ent set q3.bsp worldspawn message",
        "bspkit ent set q3.bsp worldspawn =x",
        "bspkit ent set q3.bsp worldspawn --pair x",
        "bspkit ent set q3.bsp worldspawn a=b",
        "bspkit ent set q3.bsp worldspawn a=b -o x --in-place",
        "bspkit ent add q3.bsp 'a#2=b' -o x",
        "bspkit ent mv q3.bsp worldspawn -o x",
    ];
    check("errors_of_arguments", &room, &lines);
}

#[test]
fn errors_of_edits() {
    let room = Room::new();
    room.write("odd.ent", b"{ classname worldspawn // a comment\n}\0");
    let lines = [
        "bspkit ent set q3.bsp light a=b -o x",
        "bspkit ent unset q3.bsp worldspawn one two -o x",
        "bspkit ent rename-key q3.bsp worldspawn one two -o x",
        "bspkit ent set q3.bsp worldspawn 'message=say \"hi\"' -o x",
        "bspkit ent set q3.bsp worldspawn 'message=}' -o x",
        "bspkit ent set source.bsp logic_auto 'OnTrigger#9=x' -o x",
        "bspkit ent set q3.bsp worldspawn classname=light -o x",
        "bspkit ent rm q3.bsp '*' -o x",
        "bspkit ent mv q3.bsp '#1' --after path_corner -o x",
        "bspkit ent mv q3.bsp '#1' --after light -o x",
        "bspkit ent mv q3.bsp '#1' --after '#1' -o x",
        "bspkit ent import q3.bsp none.ent -o x",
        "bspkit ent import q3.bsp odd.ent -o odd.bsp",
        "bspkit ent fmt odd.bsp -o x",
        "test -e x",
    ];
    check("errors_of_edits", &room, &lines);
}

#[test]
fn errors_of_saves() {
    let room = Room::new();
    let damaged = with_word(fixture("q2/own_rooms"), 1, 0, 1 << 30);
    room.write("damaged.bsp", &damaged);
    room.write("folder/q3.bsp", &fixture("q3/own_rooms"));
    let lines = [
        "bspkit ent set q3.bsp worldspawn a=b -o ./q3.bsp",
        "bspkit ent set q3.bsp worldspawn a=b -o no/such/out.bsp",
        "bspkit ent set q3.bsp worldspawn a=b -o /dev/null",
        "bspkit ent set folder worldspawn a=b -o q2.bsp",
        "bspkit ent set folder worldspawn a=b -o folder",
        "bspkit ent set damaged.bsp worldspawn a=b -o out.bsp",
        "bspkit ent set damaged.bsp worldspawn a=b --dry-run",
        "bspkit ent export q3.bsp -o q3.bsp",
        "bspkit ent export q3.bsp -o no/such/text",
        "trap '' XFSZ; ulimit -f 20; bspkit ent set q3.bsp worldspawn a=b -o out.bsp",
        "ls",
    ];
    check("errors_of_saves", &room, &lines);
}

#[test]
fn saving() {
    let room = Room::new();
    room.write("q3.aas", b"");
    room.write("maps/a.bsp", &fixture("q2/own_rooms"));
    room.write("maps/deep/b.bsp", &fixture("q3/own_rooms"));
    let lines = [
        "bspkit ent set q3.bsp worldspawn message='The Place' -o out.bsp",
        "bspkit ent set goldsrc.bsp worldspawn message='The Place, which is a longer name than it had' -o out.bsp",
        "bspkit ent set q2.bsp worldspawn message='The Place, a longer name' own=1 --layout append -o out.bsp --backup",
        "bspkit ent set q3.bsp worldspawn message=x --dry-run",
        "bspkit ent set q3.bsp worldspawn message=x --dry-run --json -o out.bsp",
        "bspkit ent set q3.bsp worldspawn message='rooms (q3), own fixture' --in-place",
        "bspkit ent set q3.bsp worldspawn message='rooms (q3), own fixture' -o out.bsp",
        "bspkit ent set source.bsp logic_auto OnTrigger=c -o out.bsp",
        "bspkit ent add q2.bsp own=1 -o out.bsp",
        "bspkit ent unset maps worldspawn gridsize -o edited",
        "bspkit ent get maps worldspawn message",
        "bspkit ent export q2.bsp -o q2.ent",
        "printf '{ \"classname\" \"worldspawn\" // odd\\n' | bspkit ent import q2.bsp - -o out.bsp",
    ];
    check("saving", &room, &lines);
}

#[test]
fn patches() {
    let room = Room::new();
    room.write("empty.json", b"{}");
    room.write("odd.json", br#"{"bspkit_patch": 1, "operations": [{"op": "remove", "on": {"selct": "light"}}]}"#);
    room.write("sel.json", br#"{"bspkit_patch": 1, "operations": [{"op": "remove", "on": {"select": "a[b"}}]}"#);
    let lines = [
        "bspkit ent set q3.bsp worldspawn 'message=caf\\xe9' new=1 -o 1.bsp -q && bspkit ent rm 1.bsp '#4' -o 2.bsp -q",
        "bspkit ent mv 2.bsp '#3' --after '#1' -o 3.bsp -q",
        "bspkit ent add 3.bsp classname=info_null origin='0 0 64' -o new.bsp -q",
        "bspkit ent diff q3.bsp new.bsp",
        "bspkit ent diff q3.bsp new.bsp -o changes.json",
        "bspkit ent patch q3.bsp changes.json --dry-run",
        "bspkit ent patch q3.bsp changes.json -o out.bsp && bspkit ent diff new.bsp out.bsp -o none.json",
        "bspkit ent patch new.bsp changes.json -o same.bsp",
        "bspkit ent set new.bsp worldspawn message=third -o third.bsp -q && bspkit ent patch third.bsp changes.json -o no.bsp",
        "bspkit ent patch q2.bsp changes.json -o no.bsp 2>&1 | head -4",
        "bspkit ent patch q3.bsp empty.json -o no.bsp",
        "bspkit ent patch q3.bsp odd.json -o no.bsp",
        "bspkit ent patch q3.bsp sel.json -o no.bsp",
        "bspkit ent patch q3.bsp nothing.json -o no.bsp",
        "ls no.bsp",
    ];
    check("patches", &room, &lines);
}

#[test]
fn embedded_files() {
    let room = Room::new();
    room.write("wall.vmt", &b"LightmappedGeneric ".repeat(20));
    room.write("list.txt", b"a.vmt\r\nwall.vmt\r\nb.vmt\r\n");
    let lines = [
        "bspkit pak add source.bsp materials/wall.vmt=wall.vmt sound\\\\hit.wav=wall.vmt -o map.bsp",
        "bspkit pak add map.bsp MATERIALS/wall.vmt=list.txt ../up=wall.vmt -o out.bsp",
        "bspkit pak add map.bsp MATERIALS/wall.vmt=list.txt -o out.bsp",
        "bspkit pak add map.bsp --list list.txt -o out.bsp",
        "bspkit pak add map.bsp a=wall.vmt A=list.txt -o out.bsp",
        "bspkit pak list map.bsp",
        "bspkit pak list map.bsp '*.wav' --json",
        "bspkit pak verify map.bsp",
        "bspkit pak verify map.bsp --json",
        "bspkit pak compress map.bsp -o packed.bsp",
        "bspkit pak list packed.bsp",
        "bspkit pak store packed.bsp nope -o out.bsp",
        "bspkit pak rm map.bsp '**/hit.wav' nope -o one.bsp",
        "bspkit pak mv map.bsp '#1' Materials/Wall.vmt -o out.bsp",
        "bspkit pak mv map.bsp nope x -o out.bsp",
        "bspkit pak mv map.bsp '*/*' 'own/{1}/{2}' --dry-run",
        "bspkit pak mv map.bsp '**' all.vmt -o out.bsp",
        "bspkit pak sort map.bsp size --dry-run",
        "bspkit pak set-time map.bsp 2013-06-20 '*.vmt' --dry-run",
        "bspkit pak diff map.bsp one.bsp",
        "bspkit pak extract map.bsp -o files",
        "echo mine >files/materials/wall.vmt; bspkit pak extract map.bsp -o files '*.vmt'",
        "echo hi >files/New.txt; touch files/Thumbs.db; bspkit pak sync map.bsp files --dry-run",
        "bspkit pak list q3.bsp",
        "bspkit pak add map.bsp nothing -o out.bsp",
    ];
    check("embedded_files", &room, &lines);
}

#[test]
fn rules() {
    let room = Room::new();
    let examples = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join("examples/rules");
    for name in ["global_filters.cfg", "maps/own.cfg", "maps/own_rooms.cfg"] {
        room.write(format!("stripper/{name}"), &std::fs::read(examples.join("stripper").join(name)).unwrap());
    }
    room.write("own_rooms.bsp", &fixture("q2/own_rooms"));
    room.write("clean.cfg", b"filter:\n{\n\"classname\" \"monster_soldier\"\n}\n");
    let long = format!(
        "add:\n{{\n\"classname\" \"a\" // lamp\n\"b\" \"\"\n\"c\" \"/d/\"\n;{}\n}}\nAdd:\n{{\n",
        "x".repeat(300)
    );
    room.write("odd.cfg", long.as_bytes());
    room.write("bad.cfg", b"{\n\"classname\" \"/^(?!light)/\"\n\"origin\" \"/*/\"\n}\n");
    let lines = [
        "bspkit ent apply own_rooms.bsp --rules stripper -o out.bsp",
        "bspkit ent apply own_rooms.bsp --rules stripper -o out.bsp -v | head -5",
        "bspkit ent apply own_rooms.bsp source.bsp --rules stripper --dry-run",
        "bspkit ent apply own_rooms.bsp --rules bad.cfg -o no.bsp",
        "bspkit ent apply own_rooms.bsp --rules bad.cfg -o no.bsp --mode strict",
        "bspkit ent apply own_rooms.bsp --rules none.cfg -o no.bsp",
        "bspkit rules lint stripper own_rooms.bsp source.bsp",
        "bspkit rules lint bad.cfg own_rooms.bsp",
        "bspkit rules lint bad.cfg --json",
        "bspkit rules lint odd.cfg -v",
        "bspkit rules lint clean.cfg",
        "bspkit rules convert clean.cfg --to patch",
        "bspkit rules convert stripper/global_filters.cfg --to patch -o no.json",
        "bspkit rules convert bad.cfg --to patch",
        "bspkit rules convert clean.cfg --to patch | sed s/mon/item/ >p.json; bspkit rules convert p.json --to stripper",
        "bspkit rules convert clean.cfg --to patch -o clean.cfg",
        "bspkit ent diff own_rooms.bsp out.bsp --as stripper",
        "bspkit ent diff own_rooms.bsp out.bsp --as stripper -o d.cfg -q; bspkit ent apply own_rooms.bsp --rules d.cfg -o 2.bsp -q; bspkit ent diff out.bsp 2.bsp --as stripper",
        "bspkit ent set out.bsp worldspawn message= -o 2.bsp -q; bspkit ent diff own_rooms.bsp 2.bsp --as stripper -o d.cfg",
    ];
    check("rules", &room, &lines);
}
