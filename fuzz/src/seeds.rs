//! Where inputs start: fixtures of the project.

use std::fs;
use std::path::{Path, PathBuf};

use bspkit::dialect::{self, Dialect, Role};
use bspkit::{Bsp, Builder, Layout};

/// The folder of the project.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Every file below a folder of the project whose name ends so, by name, up to this size in bytes.
pub fn files(folder: &str, ends: &[&str], most: u64) -> Vec<Vec<u8>> {
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

/// The maps of the project, which compilers made.
pub fn compiled() -> Vec<Vec<u8>> {
    files("tests/maps", &[".bsp"], 1 << 20)
}

/// The maps of the project, and one of each dialect.
pub fn maps() -> Vec<Vec<u8>> {
    let mut all = compiled();
    all.extend(dialect::ALL.iter().filter_map(|dialect| small(dialect)));
    all
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
pub const SELECTORS: &str = "light[style>=32]\n#3,#5..9\n*:not([classname^=func_])\n[targetname~/^door[0-9]+$/i]\n\
    [origin<1 2 3],light*\nfunc_*:not(#1)[spawnflags&4]\n[message=\"a b\\x41\"]\n:first(light)\nworldspawn";

/// Assignments to keys of entities.
pub const ASSIGNMENTS: &str = "light*=1.5\norigin+=0 0 8\nspawnflags|=4\nmessage=a\\n\\xFF\nangle=~s/([0-9]+)/$1 0/\n\
    key#2-=1\n_color[1]/=3\nspawnflags&=~0x10\ntarget={targetname}_x\nwait%=2";

/// Queries of records, and changes of their fields.
pub const QUERIES: &str = "faces[texinfo.texture=own/sky].light_offset\ntexinfo[texture~/water/i].flags|=WARP\n\
    models[1..].origin+=0 0 8\nplanes[3].normal[2]=-1\nnodes[children<0]\nfaces\nbrushes[0..5,7].side_count";

/// Classes of a game, as editors read them.
pub const FGD: &str = "@BaseClass = Targetname [ targetname(target_source) : \"Name\" ]\n\
    @PointClass base(Targetname) size(-8 -8 -8, 8 8 8) color(0 255 0) studio(\"a.mdl\") = light : \"A light\" + \"x\"\n\
    [\n spawnflags(flags) = [ 1 : \"Off\" : 0 ]\n style(choices) : \"Style\" : 0 = [ 0 : \"Normal\" 10: \"x\" ]\n\
    input TurnOn(void) : \"On\"\n output OnOff(void)\n ]\n@include \"base.fgd\"\n@mapsize(-16384, 16384)\n";
