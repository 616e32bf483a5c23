//! Prints what the crate vbsp says of Source maps, one fact a line, as `read.py` does for readers in Python; after
//! `--values` the values of all records instead.

mod records;

use std::fmt::Debug;
use std::hash::{DefaultHasher, Hash, Hasher};

fn main() {
    let mut arguments = std::env::args().skip(1).peekable();
    let is_for_values = arguments.next_if_eq("--values").is_some();
    let read = if is_for_values { read_values } else { read };
    for path in arguments {
        println!("READ map");
        match read(&path) {
            Ok(()) => println!("READ end"),
            Err(error) => println!("READ failed map {}", error.to_string().replace('\n', " ")),
        }
    }
}

fn read_values(path: &str) -> Result<(), Box<dyn std::error::Error>> {
    records::print(&vbsp::Bsp::read(&std::fs::read(path)?)?);
    Ok(())
}

fn read(path: &str) -> Result<(), Box<dyn std::error::Error>> {
    let map = vbsp::Bsp::read(&std::fs::read(path)?)?;
    println!("READ map {:?}", map.header.version);
    records("TEXDATA", &map.textures_data);
    records("TEXINFO", &map.textures_info);
    records("TEXDATA_STRING_TABLE", &map.texture_string_tables);
    records("TEXDATA_STRING_DATA", &[&map.texture_string_data]);
    records("PLANES", &map.planes);
    records("NODES", &map.nodes);
    records("LEAFS", &map.leaves.iter().collect::<Vec<_>>());
    records("LEAFFACES", &map.leaf_faces);
    records("LEAFBRUSHES", &map.leaf_brushes);
    records("MODELS", &map.models);
    records("BRUSHES", &map.brushes);
    records("BRUSHSIDES", &map.brush_sides);
    records("VERTEXES", &map.vertices);
    records("EDGES", &map.edges);
    records("SURFEDGES", &map.surface_edges);
    records("FACES", &map.faces);
    records("ORIGINALFACES", &map.original_faces);
    records("VISIBILITY", &[&map.vis_data]);
    records("sprp", &map.static_props.props.props);
    records("sprp names", &map.static_props.dict.name);
    records("sprp leafs", &map.static_props.leaf.leaves);
    for (index, entity) in map.entities.iter().enumerate() {
        for (key, value) in entity.properties() {
            println!("READ entity {index} [{key:?}, {value:?}]");
        }
    }
    let names: Vec<String> = {
        let archive = map.pack.clone().into_zip();
        let archive = archive.lock().map_err(|_| "the pakfile is locked")?;
        archive.file_names().map(str::to_owned).collect()
    };
    let mut files = Vec::new();
    for name in names {
        let data = map.pack.get(&name)?.ok_or("a file of the pakfile is not there")?;
        files.push(format!("READ pak {name} {} bytes, {:016x}", data.len(), fingerprint(&data)));
    }
    files.sort();
    files.iter().for_each(|line| println!("{line}"));
    Ok(())
}

fn records<T: Debug>(name: &str, records: &[T]) {
    println!("READ lump {name} {} records, {:016x}", records.len(), fingerprint(&format!("{records:?}")));
}

fn fingerprint(what: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    what.hash(&mut hasher);
    hasher.finish()
}
