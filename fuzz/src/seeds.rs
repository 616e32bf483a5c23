//! Where inputs start: fixtures of the project.

use std::fs;
use std::path::{Path, PathBuf};

use bspkit::content::pak::Pak;
use bspkit::dialect::{self, Dialect, Role};
use bspkit::{Bsp, Builder, Layout, SlotId};
use bspkit_packed::Form;

/// The folder of the project.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Every file below a folder whose name ends so, by name, up to this size in bytes. A path that is not absolute starts at
/// the folder of the project.
pub fn files(folder: impl AsRef<Path>, ends: &[&str], most: u64) -> Vec<Vec<u8>> {
    let (mut found, mut open) = (Vec::new(), vec![root().join(folder)]);
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                open.push(path);
            } else if ends.iter().any(|end| path.to_string_lossy().ends_with(end))
                && entry.metadata().is_ok_and(|file| file.len() <= most)
            {
                found.push(path);
            }
        }
    }
    found.sort();
    found.iter().filter_map(|path| fs::read(path).ok()).collect()
}

/// The maps of the project, which compilers made, and those of at most 256 KiB in the folder that `BSPKIT_FUZZ_MAPS` names.
pub fn compiled() -> Vec<Vec<u8>> {
    let mut all = files("tests/maps", &[".bsp"], 1 << 20);
    if let Some(folder) = std::env::var_os("BSPKIT_FUZZ_MAPS") {
        all.extend(files(folder, &[".bsp"], 1 << 18));
    }
    all.extend(lit_props());
    all
}

/// Before and after the number of a static prop in the names of files with its light.
pub const LIT_PROPS: [(&str, &str); 3] = [("sp_", ".vhv"), ("sp_hdr_", ".vhv"), ("sp_", ".ps3.vhv")];

/// A Source map with eight static props and files of light for most of them, each with a size of its own.
pub fn lit_props() -> Option<Vec<u8>> {
    let own = files("tests/maps/source", &["room_v20.bsp"], 1 << 20).into_iter().next()?;
    let mut draft = Bsp::from_vec(own).ok()?.draft();
    while let len @ 1..8 = draft.records("game:sprp.props").ok()?.len() {
        draft.structure().duplicate_list("game:sprp.props", 0..len.min(8 - len)).ok()?;
    }
    let pak = draft.pak().ok()?;
    for (place, (before, after)) in LIT_PROPS.into_iter().enumerate() {
        for prop in (0..8).filter(|prop| (prop + place) % 4 != 0) {
            pak.add(format!("{before}{prop}{after}"), vec![1; 10 * place + prop + 1]).ok()?;
        }
    }
    Some(draft.plan(Layout::Keep).ok()?.to_vec())
}

/// The maps of the project, and one of each dialect.
pub fn maps() -> Vec<Vec<u8>> {
    let mut all = compiled();
    all.extend(dialect::ALL.iter().filter_map(|dialect| small(dialect)));
    all.extend(physics());
    all.extend(shared_members());
    all.extend(sized_light());
    all
}

/// Maps of Quake with light of other sizes and styles, beside the light of the faces and in its place.
fn sized_light() -> Vec<Vec<u8>> {
    let made = |has_offsets: bool| {
        let own = files("tests/maps/q1", &["own_rooms.bsp"], 1 << 20).into_iter().next()?;
        let map = Bsp::parse(&own).ok()?;
        let faces = map.table(dialect::quake::FACES).ok()?;
        let mut builder = Builder::new(&dialect::QUAKE);
        for slot in map.slots() {
            let SlotId::Lump(lump) = slot.id else { continue };
            builder = builder.lump(lump, map.bytes(slot.id).ok()?.to_vec());
        }
        // A luxel of 32 texels takes less room than there is.
        let builder = builder.bspx("LMSHIFT", vec![5; faces.len()]);
        let styles = [0_u16, u16::MAX, u16::MAX, u16::MAX].map(u16::to_le_bytes).concat().repeat(faces.len());
        let offsets: Vec<u8> = faces.iter().flat_map(|face| face.light_offset.to_le_bytes()).collect();
        match has_offsets {
            true => builder.bspx("LMOFFSET", offsets).bspx("LMSTYLE16", styles).build().ok(),
            false => builder.bspx("LMSTYLE", [0, 255, 255].repeat(faces.len())).build().ok(),
        }
    };
    [true, false].into_iter().filter_map(made).collect()
}

/// A Source map with collision models: of the world with two solids, of a model without a text, and of displacements.
fn physics() -> Option<Vec<u8>> {
    let numbers = |numbers: &[i32]| numbers.iter().flat_map(|number| number.to_le_bytes()).collect::<Vec<_>>();
    let text = b"solid { \"index\" \"0\" }\0";
    let solids = [numbers(&[4]), b"VPHY".to_vec(), numbers(&[8]), b"VPHYmore".to_vec()].concat();
    let one = [numbers(&[0, 20, 25, 2]), solids, text.to_vec(), b"\0\0\0".to_vec()].concat();
    let other = [numbers(&[1, 8, 0, 1]), numbers(&[4]), b"VPHY".to_vec()].concat();
    let lump = [&one[..], &other, &numbers(&[-1, -1, 0, 0])].concat();
    let disp = [&[3, 0, 4, 0, 0xFF, 0xFF, 2, 0][..], b"VPHYab"].concat();
    let text = "{\n\"classname\" \"worldspawn\"\n}\n\0";
    let map = Builder::new(&dialect::SOURCE).lump(0, text).lump(29, lump.clone()).lump(28, disp).lump(49, lump);
    map.build().ok()
}

/// A Source map whose game lump has two members with the same bytes, one within these, and one of its own.
fn shared_members() -> Option<Vec<u8>> {
    let text = "{\n\"classname\" \"worldspawn\"\n}\n\0";
    let map = Builder::new(&dialect::SOURCE).lump(0, text).lump(1, [1; 40]).game_lump(*b"aaaa", 1, [1; 40]);
    let map = map.game_lump(*b"bbbb", 1, [2; 60]).game_lump(*b"cccc", 1, [3; 40]).game_lump(*b"dddd", 1, [4; 40]);
    let mut bytes = map.build().ok()?;
    let open = Bsp::parse(&bytes).ok()?;
    let entries = open.role(Role::GameLump)?.stored.start + 4;
    let first = i32::try_from(open.slot("game:aaaa").ok()?.stored.start).ok()?;
    for (member, offset, length) in [(1, first, 40), (2, first + 8, 24)] {
        let place = [offset, length].map(i32::to_le_bytes).concat();
        bytes[entries + 16 * member + 8..entries + 16 * member + 16].copy_from_slice(&place);
    }
    Some(bytes)
}

/// A map of a dialect with an entity, and three records in each lump that has records: of small numbers, so that most of
/// them refer to records that are there.
fn small(dialect: &'static Dialect) -> Option<Vec<u8>> {
    let text = "{\n\"classname\" \"worldspawn\"\n}\n{\n\"classname\" \"light\"\n\"origin\" \"0 0 0\"\n}\n\0";
    let builder = Builder::new(dialect).role(Role::Entities, text).ok()?;
    let map = Bsp::from_data(builder.build().ok()?.into(), Some(dialect)).ok()?;
    let mut draft = map.draft();
    for slot in map.slots().iter().filter(|slot| slot.length == 0) {
        let Some(record) = map.row(slot).ok().and_then(|row| row.record()) else { continue };
        let mut bytes = vec![0; 3 * record.size];
        for (index, record_bytes) in bytes.chunks_exact_mut(record.size).enumerate() {
            for field in record.fields {
                record_bytes[field.offset] = index.to_le_bytes()[0];
            }
        }
        let _ = draft.set_little_endian(slot.id, bytes);
    }
    Some(draft.plan(Layout::Keep).ok()?.to_vec())
}

/// Texts, one a line.
pub fn lines(text: &str) -> Vec<Vec<u8>> {
    text.lines().map(|line| line.as_bytes().to_vec()).collect()
}

/// Selectors.
pub const SELECTORS: &str = "light[style>=32]\n#3,#5\n*:not([classname^=func_])\n[targetname~/^door[0-9]+$/i]\n\
    [origin<1],light*\nfunc_*:not(#1)[spawnflags>4]\n[message=\"a b\\x41\"]\nworldspawn\n*:not([style]):not(info_*)\n\
    [light$=0][_color*=1 ],trigger_?*[wait<=2]\n[targetname]:not(light,#0):not(:not([origin]))\n[a#2=1]";

/// Assignments to keys of entities.
pub const ASSIGNMENTS: &str = "light*=1.5\norigin+=0 0 8\nspawnflags-=4\nmessage=a\\n\\xFF\nangle~s/([0-9]+)/{1}0/gi\n\
    key#2=1\n_color/=3\ntarget={targetname}_x\\{y}\norigin={origin}\nwait+=-2.25\n\
    targetname~s/^(.)(.*)$/{2}{1}{classname}/\n\
    classname=info_null\nlight+=1 2 3\nlight/=0\norigin*=1e30";

/// Removals of pairs.
pub const REMOVALS: &str = "message\nmessage#2\nlight=300\norigin~/^-?[0-9]/i\nwait>2\nlight<=200\nclassname^=func_\n\
    target$=1\n_color*=0";

/// Queries of records, and changes of their fields.
pub const QUERIES: &str = "faces[texinfo.texture=own/sky].light_offset\ntexinfo[texture~/water/i].flags|=WARP\n\
    models[1..].origin+=0 0 8\nplanes[3].normal[2]=-1\nnodes[children<0]\nfaces[*]\nbrushes[0..5],[7].side_count\n\
    texinfo[flags&SKY],[texture^=own]:not([value>0])\nfaces[3..9][side=1]:not([plane=2])\nbrushsides[texinfo]\n\
    texinfo[*].flags&=~SKY\ntexinfo[0].texture=own/new\nplanes[*].normal=0 0 1\nvertexes[*].point*=2\n\
    leafs[..3].contents|=0x10\nfaces[styles=32].styles[0]=1\nmodels[*].mins-=1 1 1\nedges[3].vertexes[1]=2\n\
    faces[texinfo.texture$=1].texinfo.flags^=1\nshaders[name*=a].flags=0\nplanes[*].type\nsurfaces[shader=0]\n\
    leaffaces[0..2]\nsurfedges[*].edge=-1";

/// Classes of a game, as editors read them.
pub const FGD: &str = "@BaseClass = Targetname [ targetname(target_source) : \"Name\" ]\n\
    @PointClass base(Targetname) size(-8 -8 -8, 8 8 8) color(0 255 0) studio(\"a.mdl\") = light : \"A light\" + \"x\"\n\
    [\n spawnflags(flags) = [ 1 : \"Off\" : 0 ]\n style(choices) : \"Style\" : 0 = [ 0 : \"Normal\" 10: \"x\" ]\n\
    input TurnOn(void) : \"On\"\n output OnOff(void)\n ]\n@include \"base.fgd\"\n@mapsize(-16384, 16384)\n";

/// A small map in each form of compression.
pub fn compressed() -> Vec<Vec<u8>> {
    let map = small(&dialect::QUAKE2).unwrap_or_default();
    let packed = |form: Form| {
        let mut bytes = Vec::new();
        form.pack(&map, &mut bytes).ok().map(|()| bytes)
    };
    [Form::Gzip, Form::Bzip2, Form::Zstd].into_iter().filter_map(packed).collect()
}

/// A small map in an archive of each kind: an embedded pakfile, which is a ZIP file, and a PAK file.
pub fn archives() -> Vec<Vec<u8>> {
    let map = small(&dialect::QUAKE).unwrap_or_default();
    let mut zip = Pak::new(b"");
    let zip = zip.add("maps/a.bsp", map.clone()).and_then(|_| zip.to_rope()).map(|rope| rope.to_data().to_vec());
    let mut entry = [0; 64];
    entry[..10].copy_from_slice(b"maps/a.bsp");
    let length = u32::try_from(map.len()).unwrap_or_default();
    entry[56..60].copy_from_slice(&12_u32.to_le_bytes());
    entry[60..].copy_from_slice(&length.to_le_bytes());
    let place = [(12 + length).to_le_bytes(), 64_u32.to_le_bytes()].concat();
    zip.into_iter().chain([[b"PACK", &place[..], &map, &entry].concat()]).collect()
}
