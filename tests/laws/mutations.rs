//! Planted faults: writers with one mistake each, and the law that has to catch it. A law that has never failed is
//! no law.

mod compare;
mod features;
mod maps;
mod moving;
mod renames;

use crate::{corpus, named};
use bspkit::content::entities::Entities;
use bspkit::dialect::quake2;
use bspkit::dialect::{self, Role};
use bspkit::record::{Cell, Number, RecordInfo, Shape};
use bspkit::verify::{self, Subject, Verdict, Write};
use bspkit::{Bsp, Builder, Draft, Error, Layout, Rope, Slot, SlotId};
use maps::*;

fn write<'a>(draft: &Draft<'a>, layout: Layout) -> Result<Rope<'a>, Error> {
    (Subject::REAL.write)(draft, layout)
}

/// The right file, then a mistake in it.
fn spoiled<'a>(
    draft: &Draft<'a>,
    layout: Layout,
    mistake: impl FnOnce(&Bsp<'_>, &Bsp<'_>, &mut Vec<u8>),
) -> Result<Rope<'a>, Error> {
    let right = write(draft, layout)?.to_data();
    let mut wrong = right.to_vec();
    mistake(draft.bsp(), &Bsp::parse(&right)?, &mut wrong);
    Ok(wrong.into())
}

fn writer(write: Write) -> Subject {
    Subject { write, ..Subject::REAL }
}

/// Where a slot's directory entry keeps its offset: searched, since the words are nobody's business outside.
fn put_back_offsets(old: &Bsp<'_>, new: &Bsp<'_>, file: &mut [u8], of: fn(SlotId) -> bool, entry: usize) {
    for (before, after) in old.slots().iter().zip(new.slots()).filter(|(slot, _)| of(slot.id)) {
        let directory = directory_of(new, after);
        let at = directory + entry;
        assert_eq!(file[at..at + 4], after.offset.to_le_bytes());
        file[at..at + 4].copy_from_slice(&before.offset.to_le_bytes());
    }
}

/// The offset of a nested slot's entry.
fn directory_of(bsp: &Bsp<'_>, slot: &Slot) -> usize {
    match slot.id {
        SlotId::Game(index) => bsp.role(Role::GameLump).unwrap().stored.start + 4 + 16 * index,
        SlotId::Bspx(index) => {
            let bytes = bsp.container().bytes();
            bytes.windows(4).rposition(|window| window == b"BSPX").unwrap() + 8 + 32 * index
        }
        _ => unreachable!("a lump's entry stands in the header"),
    }
}

struct Fault {
    name: &'static str,
    map: fn() -> Vec<u8>,
    subject: Subject,
    caught_by: &'static [&'static str],
}

fn faults() -> Vec<Fault> {
    let decoder = |reencode| Subject { reencode, ..Subject::REAL };
    let printer = |reprint| Subject { reprint, ..Subject::REAL };
    vec![
        Fault {
            name: "BSPX offsets are not rebased",
            map: with_bspx,
            subject: writer(|draft, layout| {
                spoiled(draft, layout, |old, new, file| {
                    put_back_offsets(old, new, file, |id| matches!(id, SlotId::Bspx(_)), 24);
                })
            }),
            caught_by: &["keep", "append"],
        },
        Fault {
            name: "BSPX does not follow the last lump",
            map: with_bspx,
            subject: writer(|draft, layout| {
                spoiled(draft, layout, |old, new, file| {
                    // Not where nothing changes, nor where a law has removed the block.
                    let light = new.slot("bspx:RGBLIGHTING").ok();
                    if let Some(light) = light.filter(|_| file[..] != *old.container().bytes()) {
                        let block = directory_of(new, light) - 8;
                        file.splice(block..block, [0; 4]);
                    }
                })
            }),
            caught_by: &["keep", "append", "repack"],
        },
        Fault {
            name: "game lump offsets are not rebased",
            map: source,
            subject: writer(|draft, layout| {
                spoiled(draft, layout, |old, new, file| {
                    put_back_offsets(old, new, file, |id| matches!(id, SlotId::Game(_)), 8);
                })
            }),
            caught_by: &["repack"],
        },
        Fault {
            name: "the game lump moves with everything else",
            map: source,
            subject: writer(|draft, layout| match layout {
                Layout::Keep => write(draft, Layout::Repack),
                layout => write(draft, layout),
            }),
            caught_by: &["keep", "identity"],
        },
        Fault {
            name: "a word of a console's map is written in the order of PCs",
            map: console,
            subject: writer(|draft, layout| {
                spoiled(draft, layout, |old, _, file| {
                    // The length of the entities, where it is another one.
                    if file[12..16] != old.container().bytes()[12..16] {
                        file[12..16].reverse();
                    }
                })
            }),
            caught_by: &["keep", "append", "repack"],
        },
        Fault {
            name: "offsets in a console's game lump are counted from the start of the file",
            map: console,
            subject: writer(|draft, layout| {
                spoiled(draft, layout, |old, new, file| {
                    let lump = new.role(Role::GameLump).unwrap();
                    if lump.offset != old.role(Role::GameLump).unwrap().offset {
                        let word = lump.stored.start + 12;
                        file[word..word + 4].copy_from_slice(&new.slot("game:sprp").unwrap().offset.to_be_bytes());
                    }
                })
            }),
            caught_by: &["keep", "repack"],
        },
        Fault {
            name: "the trailer of Bloodlines keeps the old offset",
            map: bloodlines,
            subject: writer(|draft, layout| {
                spoiled(draft, layout, |old, _, file| {
                    let (size, bytes) = (file.len(), old.container().bytes());
                    file[size - 10..size - 6].copy_from_slice(&bytes[bytes.len() - 10..bytes.len() - 6]);
                    // A place where the entities are not.
                    file[size - 10] ^= u8::from(*file != *bytes);
                })
            }),
            caught_by: &["keep", "append"],
        },
        Fault {
            name: "bytes between lumps are zeroed",
            map: source,
            subject: writer(|draft, layout| {
                spoiled(draft, layout, |_, _, file| {
                    if let Some(at) = file.windows(5).position(|window| window == b"stale") {
                        file[at..at + 5].fill(0);
                    }
                })
            }),
            caught_by: &["identity", "keep", "append"],
        },
        Fault {
            name: "the q3map2 marker is dropped",
            map: quake_live,
            subject: writer(|draft, layout| {
                spoiled(draft, layout, |_, _, file| {
                    let at = file.windows(6).position(|window| window == b"I LOVE");
                    at.into_iter().for_each(|at| file[at..at + 6].fill(0));
                })
            }),
            caught_by: &["identity", "keep", "append"],
        },
        Fault {
            name: "the 18th entry is dropped",
            map: quake_live,
            subject: writer(|draft, layout| spoiled(draft, layout, |_, _, file| file[144..152].fill(0))),
            caught_by: &["identity", "keep", "append", "repack"],
        },
        Fault {
            name: "what stands behind the last lump is cut off",
            map: quake_live,
            subject: writer(|draft, layout| {
                spoiled(draft, layout, |_, new, file| {
                    file.truncate(new.slots().iter().map(|slot| slot.stored.end).max().unwrap());
                })
            }),
            caught_by: &["identity", "keep", "append", "repack"],
        },
        Fault {
            name: "a NaN is normalised",
            map: source,
            subject: writer(|draft, layout| {
                spoiled(draft, layout, |_, new, file| {
                    let planes = new.slots()[1].stored.clone();
                    for field in file[planes].chunks_exact_mut(4) {
                        let float = f32::from_le_bytes(field.try_into().unwrap());
                        if float.is_nan() {
                            field.copy_from_slice(&f32::NAN.to_le_bytes());
                        }
                    }
                })
            }),
            caught_by: &["identity", "keep", "append", "repack"],
        },
        Fault {
            name: "a lump's odd version is reset",
            map: source,
            subject: writer(|draft, layout| {
                spoiled(draft, layout, |_, _, file| file[8 + 56 * 16 + 8..8 + 56 * 16 + 12].fill(0))
            }),
            caught_by: &["identity", "keep", "append", "repack"],
        },
        Fault {
            name: "the pakfile loses its alignment",
            map: source,
            subject: writer(|draft, layout| {
                spoiled(draft, layout, |_, new, file| {
                    // The same bytes four further, and the word says so.
                    let pak = new.slots()[40].clone();
                    file.splice(pak.stored.start..pak.stored.start, [0; 4]);
                    let word = 8 + 40 * 16;
                    file[word..word + 4].copy_from_slice(&(pak.offset + 4).to_le_bytes());
                })
            }),
            caught_by: &["identity", "keep", "repack"],
        },
        Fault {
            name: "a shared slot is edited in place",
            map: shared,
            subject: writer(|draft, layout| {
                let mut file = write(draft, layout)?.to_data().to_vec();
                let new = Bsp::parse(&file)?;
                let entities = new.slots()[0].clone();
                if draft.changes()?.is_empty() {
                    return Ok(file.into());
                }
                // The other slot follows the edit.
                file[8 + 16 * 8..8 + 17 * 8]
                    .copy_from_slice(&[entities.offset.to_le_bytes(), entities.length.to_le_bytes()].concat());
                Ok(file.into())
            }),
            caught_by: &["keep", "append", "repack"],
        },
        Fault {
            name: "a compressed lump says its old size",
            map: compressed,
            subject: writer(|draft, layout| {
                spoiled(draft, layout, |old, _, file| file[20..24].copy_from_slice(&old.container().bytes()[20..24]))
            }),
            caught_by: &["keep", "append", "repack"],
        },
        Fault {
            name: "an edit is never written",
            map: with_bspx,
            subject: writer(|draft, _| Ok(draft.bsp().container().bytes().to_vec().into())),
            caught_by: &["keep", "append", "repack"],
        },
        Fault {
            name: "an edit that was taken back is written",
            map: with_bspx,
            subject: writer(|draft, layout| {
                // A writer that ignores what was reverted: it always writes something.
                let mut draft = draft.clone();
                if draft.changes()?.is_empty() && layout == Layout::Keep {
                    draft.set(SlotId::Lump(0), b"{}".to_vec())?;
                }
                write(&draft, layout)
            }),
            caught_by: &["identity", "revert"],
        },
        Fault {
            name: "the last zero of the file is eaten at the second save",
            map: with_bspx,
            subject: writer(|draft, layout| {
                let first = draft.bsp().container().bytes().len() == with_bspx().len();
                let file = write(draft, layout)?;
                let spoiled = |byte: &u8| if *byte == 8 { 0 } else { *byte };
                Ok(if first { file } else { file.to_data().iter().map(spoiled).collect::<Vec<u8>>().into() })
            }),
            caught_by: &["undo"],
        },
        appender("a writer that appends and looks at nothing else strands BSPX", with_bspx),
        appender("it feeds a BSPX entry that is cut off", with_cut_bspx),
        appender("it feeds a member of the game lump that is cut off", with_cut_member),
        Fault {
            name: "of duplicate keys one is kept",
            map: source,
            subject: printer(|text, rules| {
                let mut entities = Entities::parse(text, rules)?;
                for index in 0..entities.len() {
                    let _ = entities.get_mut(index)?.unset_nth("OnUser1", 2);
                }
                Ok(entities.to_bytes())
            }),
            caught_by: &["entities"],
        },
        Fault {
            name: "the text is reprinted in canonical form",
            map: with_bspx,
            subject: printer(|text, rules| Entities::parse(text, rules)?.canonical()),
            caught_by: &["entities"],
        },
        Fault {
            name: "the text's NUL is dropped",
            map: with_bspx,
            subject: printer(|text, _| Ok(text.strip_suffix(b"\0").unwrap_or(text).to_vec())),
            caught_by: &["entities"],
        },
        Fault {
            name: "what is behind the NUL of a name is cleared",
            map: with_junk,
            subject: decoder(|record, bytes| {
                spoil_records(record, bytes, |shape, field| {
                    let end = field.iter().position(|byte| *byte == 0).filter(|_| matches!(shape, Shape::Name(_)));
                    end.into_iter().for_each(|end| field[end..].fill(0));
                })
            }),
            caught_by: &["records"],
        },
        Fault {
            name: "NaNs are normalised",
            map: with_junk,
            subject: decoder(|record, bytes| {
                spoil_records(record, bytes, |shape, field| {
                    let is_nan = |field: &[u8]| f32::from_le_bytes(field.try_into().unwrap()).is_nan();
                    if shape == Shape::Number(Number::F32) && is_nan(field) {
                        field.copy_from_slice(&f32::NAN.to_le_bytes());
                    }
                })
            }),
            caught_by: &["records"],
        },
        Fault {
            name: "flags without a name are dropped",
            map: with_junk,
            subject: decoder(|record, bytes| {
                let mut bytes = (record.reencode)(bytes);
                if record.name == "TexInfo" {
                    bytes.chunks_exact_mut(record.size).for_each(|texinfo| texinfo[34] &= 0x03);
                }
                bytes
            }),
            caught_by: &["records"],
        },
        Fault {
            name: "records move, and nothing follows",
            map: || std::fs::read("tests/maps/q2/own_rooms.bsp").unwrap(),
            subject: Subject { reorder: moving::alone, ..Subject::REAL },
            caught_by: &["references"],
        },
        Fault {
            name: "on the way back nothing follows",
            map: || std::fs::read("tests/maps/q2/own_rooms.bsp").unwrap(),
            subject: Subject { reorder: moving::back_alone, ..Subject::REAL },
            caught_by: &["reorder"],
        },
        Fault {
            name: "a removed record is not removed",
            map: || std::fs::read("tests/maps/q2/own_rooms.bsp").unwrap(),
            subject: Subject {
                splice: |draft, list, range, records| match records.is_empty() {
                    true => Ok(()),
                    false => (Subject::REAL.splice)(draft, list, range, records),
                },
                ..Subject::REAL
            },
            caught_by: &["splice"],
        },
    ]
}

/// A fault: new entities go behind everything, and only their words are written.
fn appender(name: &'static str, map: fn() -> Vec<u8>) -> Fault {
    let write: Write = |draft, layout| {
        if draft.changes()?.is_empty() {
            return write(draft, layout);
        }
        let mut file = draft.bsp().container().bytes().to_vec();
        let text = draft.bytes(SlotId::Lump(0))?;
        let offset = file.len().next_multiple_of(4);
        file.resize(offset, 0);
        file.extend_from_slice(&text);
        let word = |number: usize| u32::try_from(number).unwrap().to_le_bytes();
        file[8..16].copy_from_slice(&[word(offset), word(text.len())].concat());
        Ok(file.into())
    };
    Fault { name, map, subject: writer(write), caught_by: &["keep", "append"] }
}

/// The last entry of BSPX claims four bytes more than the file has.
fn with_cut_bspx() -> Vec<u8> {
    let mut map = with_bspx();
    map.truncate(map.len() - 4);
    map
}

/// A member of the game lump claims as much.
fn with_cut_member() -> Vec<u8> {
    let builder = Builder::new(&dialect::SOURCE).lump(1, [1; 40]).lump(0, long_text());
    let mut map = builder.game_lump(*b"sprp", 6, [5; 12]).order(&[1, 0, 35]).build().unwrap();
    map.truncate(map.len() - 4);
    map
}

/// A map whose first plane is not a number, and whose first texture has a flag without a name and a name with more
/// behind its end.
fn with_junk() -> Vec<u8> {
    let bytes = std::fs::read("tests/maps/q2/own_rooms.bsp").unwrap();
    let mut draft = Bsp::parse(&bytes).unwrap().draft();
    draft.update(quake2::PLANES, 0, |plane| plane.normal[1] = f32::from_bits(0xFFC0_1234)).unwrap();
    let junk = *b"own/floor\0left from another name";
    draft.update(quake2::TEXINFO, 0, |texinfo| (texinfo.texture.0, texinfo.flags) = (junk, 0x0010_0000)).unwrap();
    draft.plan(Layout::Keep).unwrap().to_vec()
}

/// Encodes records with something done to each of their numbers and names.
fn spoil_records(record: &RecordInfo, bytes: &[u8], spoil: impl Fn(Shape, &mut [u8])) -> Vec<u8> {
    let mut bytes = (record.reencode)(bytes);
    for record_bytes in bytes.chunks_exact_mut(record.size) {
        for cell in Cell::all(record.fields) {
            spoil(cell.shape, &mut record_bytes[cell.place.clone()]);
        }
    }
    bytes
}

#[test]
fn every_planted_fault_is_caught_by_its_law() {
    for Fault { name, map, subject, caught_by } in faults() {
        let bytes = map();
        let map = Bsp::parse(&bytes).unwrap();
        let right = verify::run(&map);
        assert!(right.is_ok(), "{name}: the right writer fails: {right:?}");
        let wrong = verify::run_on(&map, &subject);
        for law in caught_by {
            assert!(matches!(wrong.law(law), Some(Verdict::Fail(_))), "{name}: {law} does not see it: {wrong:?}");
        }
    }
}

#[test]
fn every_law_is_shown_to_fail() {
    let caught: Vec<_> = faults().iter().flat_map(|fault| fault.caught_by).copied().collect();
    let bytes = source();
    for law in verify::run(&Bsp::parse(&bytes).unwrap()).laws.iter().map(|(law, _)| law) {
        // The law of cover has no writer; its fault is below.
        assert!(*law == "cover" || caught.contains(law), "no planted fault makes {law} fail");
    }
}

#[test]
fn segments_that_forget_a_slot_or_a_byte_are_caught() {
    let bytes = source();
    let map = Bsp::parse(&bytes).unwrap();
    let segments = map.container().segments();
    let covers = |segments: &[_]| verify::covers(segments, map.slots(), bytes.len());
    assert_eq!(covers(&segments), Ok(()));
    for index in 0..segments.len() {
        let mut without = segments.clone();
        without.remove(index);
        assert!(covers(&without).is_err(), "segment {index} is missing");
        let mut forgetful = segments.clone();
        if forgetful[index].slots.pop().is_some() {
            assert!(covers(&forgetful).is_err(), "segment {index} forgets a slot");
        }
    }
}
