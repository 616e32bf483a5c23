//! The speed of reading and editing pakfiles, compared with copies of the same bytes and with the raw copy of the crate
//! zip in the same run: `cargo bench --bench pak`.
//!
//! The pakfile of 5,000 files and 200 MB is made for the bench. Tables are Markdown; the last lines state which targets
//! are met.

#[allow(dead_code)]
#[path = "core/harness.rs"]
mod harness;

use std::fs::{self, File};
use std::io::{Cursor, Read, Write};
use std::path::Path;
use std::thread::available_parallelism;

use bspkit::content::pak::Pak;
use bspkit::dialect::SOURCE;
use bspkit::{Bsp, Builder, Data, Layout};

use harness::{Group, Outcome, Work, in_time, three_digits};

/// The amount of work.
struct Effort {
    turns: usize,
    files: usize,
    /// The size of each file.
    size: usize,
    /// How many files are compressed.
    packed: usize,
}

fn main() -> Outcome {
    let effort = if std::env::args().any(|argument| argument == "--bench") {
        Effort { turns: 15, files: 5000, size: 40_000, packed: 200 }
    } else {
        println!("Without --bench everything runs once, to see that it runs; the figures mean nothing.");
        Effort { turns: 1, files: 50, size: 4000, packed: 5 }
    };
    // Not the folder for temporary files, which may be in memory.
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR"))?;
    let path = folder.path().join("map.bsp");
    let builder = Builder::new(&SOURCE).lump(0, "{\n\"classname\" \"worldspawn\"\n}\n\0").lump(40, zip(&effort)?);
    fs::write(&path, builder.build()?)?;
    let map = Bsp::open_mapped(&path, None)?;
    let bytes = map.bytes(map.slot("pakfile")?.id)?;

    let mut aims = Vec::new();
    list(&bytes, &effort, &mut aims)?;
    extract(&bytes, folder.path(), &effort)?;
    in_memory(&bytes, &effort, &mut aims)?;
    on_disk(&path, folder.path(), &effort, &mut aims)?;
    compress(&bytes, &effort)?;
    println!();
    aims.iter().for_each(|aim| println!("aim: {aim}"));
    Ok(())
}

/// A pakfile of files that are neither random nor all the same.
fn zip(effort: &Effort) -> Outcome<Vec<u8>> {
    let mut pak = Pak::new(&Pak::XZP1);
    let mut state = 1_u32;
    for index in 0..effort.files {
        let size = effort.size / 2 + index * effort.size / effort.files;
        let mut data = Vec::with_capacity(size + 40);
        while data.len() < size {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            write!(data, "\"$basetexture\" \"maps/{}\" ", state >> 20)?;
            data.extend(state.to_le_bytes());
        }
        pak.add(format!("materials/maps/folder_{}/file_{index}.vtf", index % 50), data)?;
    }
    Ok(pak.to_rope()?.to_data().to_vec())
}

fn aim(aims: &mut Vec<String>, what: &str, found: f64, most: f64) {
    let verdict = if found <= most { "met" } else { "missed" };
    aims.push(format!("{what} within {}: {}, {verdict}", three_digits(most), three_digits(found)));
}

/// Listing reads the directory only.
fn list(bytes: &Data<'_>, effort: &Effort, aims: &mut Vec<String>) -> Outcome {
    let mut group = Group::new(format!("Listing {} files", effort.files));
    let other = group.reference("the zip crate", Work::Once, || {
        let mut zip = zip::ZipArchive::new(Cursor::new(&**bytes))?;
        Ok((0..zip.len()).map(|index| zip.by_index_raw(index).map_or(0, |file| file.size())).sum::<u64>())
    });
    let own = group.row("`Pak::parse`, every name and size", Work::Once, other, || {
        let pak = Pak::parse(bytes.clone())?;
        Ok(pak.iter().map(|entry| entry.size() + entry.name().len()).sum::<usize>())
    });
    let seconds = group.measure(effort.turns)?.seconds(own);
    aims.push(format!("{} files are listed without their data: {}", effort.files, in_time(seconds)));
    Ok(())
}

/// Reads all files with their checksums, and writes them to the disk.
fn extract(bytes: &Data<'_>, folder: &Path, effort: &Effort) -> Outcome {
    let work = Work::Bytes(bytes.len());
    let mut group = Group::new("Reading every file, checksums included".to_owned());
    let memcpy = group.reference("memcpy", work, || Ok(bytes.to_vec()));
    group.row("`Entry::data`, checked", work, memcpy, || {
        let pak = Pak::parse(bytes.clone())?;
        let right = |entry: &bspkit::content::pak::Entry<'_, '_>| Ok(entry.has_crc_of(&entry.data()?));
        Ok(pak.iter().map(|entry| right(&entry)).collect::<Result<Vec<bool>, bspkit::Error>>()?.len())
    });
    group.row("the zip crate", work, memcpy, || {
        let mut zip = zip::ZipArchive::new(Cursor::new(&**bytes))?;
        let mut data = Vec::new();
        for index in 0..zip.len() {
            data.clear();
            zip.by_index(index)?.read_to_end(&mut data)?;
        }
        Ok(data.len())
    });
    group.measure(effort.turns)?;

    let target = folder.join("files");
    fs::create_dir(&target)?;
    let pak = Pak::parse(bytes.clone())?;
    let write = |checked: bool| -> Outcome {
        for entry in pak.iter() {
            let data = entry.data()?;
            fs::write(target.join(entry.index().to_string()), &data)?;
            if checked && !entry.has_crc_of(&data) {
                return Err("a checksum".into());
            }
        }
        Ok(())
    };
    let mut group = Group::new("Writing every file to disk".to_owned());
    let plain = group.reference("`fs::write` of each", work, || write(false));
    group.row("checked", work, plain, || write(true));
    group.measure(effort.turns.min(5))?;
    Ok(())
}

/// Edits, from bytes to bytes.
fn in_memory(bytes: &Data<'_>, effort: &Effort, aims: &mut Vec<String>) -> Outcome {
    const MOST: f64 = 1.15;
    let work = Work::Bytes(bytes.len());
    let new = vec![7; effort.size];
    let mut group = Group::new("One edit, in memory".to_owned());
    let memcpy = group.reference("memcpy", work, || Ok(bytes.to_vec()));
    let replace = group.row("replace one file, to one buffer", work, memcpy, || {
        let mut pak = Pak::parse(bytes.clone())?;
        pak.replace(effort.files / 2, new.clone())?;
        Ok(pak.to_rope()?.to_data())
    });
    let add = group.row("add one file, to one buffer", work, memcpy, || {
        let mut pak = Pak::parse(bytes.clone())?;
        pak.add("materials/new.vmt", new.clone())?;
        Ok(pak.to_rope()?.to_data())
    });
    group.row("replace one file, as parts", work, memcpy, || {
        let mut pak = Pak::parse(bytes.clone())?;
        pak.replace(effort.files / 2, new.clone())?;
        Ok(pak.to_rope()?)
    });
    group.row("the zip crate: raw copies, one new", work, memcpy, || {
        let mut zip = zip::ZipArchive::new(Cursor::new(&**bytes))?;
        let mut out = zip::ZipWriter::new(Cursor::new(Vec::with_capacity(bytes.len() + new.len())));
        for index in 0..zip.len() {
            let file = zip.by_index_raw(index)?;
            if index == effort.files / 2 {
                let options = zip::write::SimpleFileOptions::default();
                out.start_file(file.name()?, options.compression_method(zip::CompressionMethod::Stored))?;
                out.write_all(&new)?;
            } else {
                out.raw_copy_file(file)?;
            }
        }
        Ok(out.finish()?)
    });
    let measured = group.measure(effort.turns)?;
    aim(aims, "replacing one file, of memcpy,", measured.ratio(replace, memcpy), MOST);
    aim(aims, "adding one file, of memcpy,", measured.ratio(add, memcpy), MOST);
    Ok(())
}

/// Edits, from the map on disk to the edited one.
fn on_disk(from: &Path, folder: &Path, effort: &Effort, aims: &mut Vec<String>) -> Outcome {
    const MOST: f64 = 1.15;
    let size = usize::try_from(fs::metadata(from)?.len())?;
    let work = Work::Bytes(size);
    let targets = ["copied", "added", "replaced"].map(|name| folder.join(name).with_extension("bsp"));
    for target in &targets {
        copy(from, target)?;
    }
    let [copied, added, replaced] = &targets;
    let new = vec![7; effort.size];
    let mut group = Group::new("One edit of the map, saved".to_owned());
    let cp = group.reference("cp + fsync", work, || copy(from, copied));
    let add = group.row("open, add one file, save", work, cp, || {
        let mut draft = Bsp::open_mapped(from, None)?.draft();
        draft.pak()?.add("materials/new.vmt", new.clone())?;
        Ok(draft.plan(Layout::Keep)?.save(added)?)
    });
    let replace = group.row("open, replace one file, save", work, cp, || {
        let mut draft = Bsp::open_mapped(from, None)?.draft();
        draft.pak()?.replace(effort.files / 2, new.clone())?;
        Ok(draft.plan(Layout::Keep)?.save(replaced)?)
    });
    let measured = group.measure(effort.turns)?;
    aim(aims, "adding one file to the map, of cp,", measured.ratio(add, cp), MOST);
    aim(aims, "replacing one file of the map, of cp,", measured.ratio(replace, cp), MOST);
    Ok(())
}

/// Like `cp` on a file system that cannot copy by itself.
fn copy(from: &Path, to: &Path) -> Outcome {
    let (mut from, mut to) = (File::open(from)?, File::create(to)?);
    let mut buffer = vec![0; 128 << 10];
    loop {
        match from.read(&mut buffer)? {
            0 => return Ok(to.sync_data()?),
            length => to.write_all(&buffer[..length])?,
        }
    }
}

/// Compression, on one thread and on all.
fn compress(bytes: &Data<'_>, effort: &Effort) -> Outcome {
    let all = available_parallelism().map_or(1, usize::from);
    let pak = Pak::parse(bytes.clone())?;
    let few: Vec<usize> = (0..effort.packed).collect();
    let size = few.iter().filter_map(|index| pak.get(*index)).map(|entry| entry.size()).sum();
    let run =
        |threads: usize| -> Outcome<usize> { Ok(pak.clone().compress(&few, threads, Default::default())?.bytes.1) };
    let packed = run(all)?;
    let title = format!("Compressing {} files, {size} bytes to {packed}", few.len());
    let mut group = Group::new(title);
    let one = group.reference("one thread", Work::Bytes(size), || run(1));
    group.row("all threads", Work::Bytes(size), one, || run(all));
    group.measure(effort.turns.min(3))?;

    let mut packed = pak.clone();
    packed.compress(&few, all, Default::default())?;
    let mut group = Group::new("Decompressing them".to_owned());
    let run = |threads: usize| -> Outcome<usize> { Ok(packed.clone().store(&few, threads)?.bytes.1) };
    let one = group.reference("one thread", Work::Bytes(size), || run(1));
    group.row("all threads", Work::Bytes(size), one, || run(all));
    group.measure(effort.turns.min(5))?;
    Ok(())
}
