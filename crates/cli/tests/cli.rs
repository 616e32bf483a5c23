//! The program's contract: what each command prints, writes and exits with.
//!
//! What it says to people is in `golden`; `BLESS=1` writes those files anew, to be reviewed.
//!
//! Modules for Unix alone run lines of shell that [`shell`] does not know, make links or send signals, or have files with
//! names that Windows does not allow. Golden files are compared on all systems.
#![allow(clippy::unwrap_used, clippy::expect_used)]

#[path = "cli/applied.rs"]
mod applied;
#[path = "cli/beside.rs"]
mod beside;
#[path = "cli/bounds.rs"]
mod bounds;
#[path = "cli/checksum.rs"]
mod checksum;
#[cfg(unix)]
#[path = "cli/ci.rs"]
mod ci;
#[path = "cli/collection.rs"]
mod collection;
#[path = "cli/commands.rs"]
mod commands;
#[path = "cli/compress.rs"]
mod compress;
#[path = "cli/config.rs"]
mod config;
#[path = "../../../tests/common/corpus.rs"]
mod corpus;
#[path = "cli/decompile.rs"]
mod decompile;
#[path = "cli/diff.rs"]
mod diff;
#[cfg(unix)]
#[path = "cli/doors.rs"]
mod doors;
#[path = "cli/edit.rs"]
mod edit;
#[cfg(target_os = "linux")]
#[path = "cli/faults.rs"]
mod faults;
#[path = "cli/files.rs"]
mod files;
#[path = "cli/folder.rs"]
mod folder;
#[cfg(unix)]
#[path = "cli/git.rs"]
mod git;
#[path = "cli/golden.rs"]
mod golden;
#[path = "cli/help.rs"]
mod help;
#[path = "cli/light.rs"]
mod light;
#[path = "cli/light_files.rs"]
mod light_files;
#[path = "cli/lists.rs"]
mod lists;
#[path = "cli/lmp.rs"]
mod lmp;
#[path = "cli/many.rs"]
mod many;
#[path = "cli/near.rs"]
mod near;
#[path = "cli/output.rs"]
mod output;
#[path = "cli/packed.rs"]
mod packed;
#[path = "cli/pak.rs"]
mod pak;
#[path = "cli/pak_folder.rs"]
mod pak_folder;
#[path = "cli/pak_game.rs"]
mod pak_game;
#[path = "cli/pak_names.rs"]
mod pak_names;
#[path = "cli/patch.rs"]
mod patch;
#[path = "cli/planned.rs"]
mod planned;
#[path = "cli/policy.rs"]
mod policy;
#[path = "cli/races.rs"]
mod races;
#[path = "cli/read.rs"]
mod read;
#[path = "cli/records.rs"]
mod records;
#[path = "cli/rename.rs"]
mod rename;
#[path = "cli/res.rs"]
mod res;
#[path = "cli/returned.rs"]
mod returned;
#[path = "cli/room.rs"]
mod room;
#[path = "cli/rules.rs"]
mod rules;
#[path = "cli/run.rs"]
mod run;
#[path = "cli/save.rs"]
mod save;
#[path = "cli/schema.rs"]
mod schema;
#[cfg(feature = "see")]
#[path = "cli/see.rs"]
mod see;
#[path = "cli/shell.rs"]
mod shell;
#[cfg(unix)]
#[path = "cli/shortened.rs"]
mod shortened;
#[cfg(unix)]
#[path = "cli/stop.rs"]
mod stop;
#[cfg(unix)]
#[path = "cli/targets.rs"]
mod targets;
#[cfg(unix)]
#[path = "cli/terminal.rs"]
mod terminal;
#[path = "cli/tex.rs"]
mod tex;
#[path = "cli/tex_faults.rs"]
mod tex_faults;
#[path = "cli/transcript.rs"]
mod transcript;
#[path = "cli/unpacked.rs"]
mod unpacked;
#[cfg(unix)]
#[path = "cli/verbs.rs"]
mod verbs;
#[path = "cli/vis.rs"]
mod vis;
#[path = "../../../tests/common/vpk.rs"]
mod vpk;
#[path = "cli/wad.rs"]
mod wad;
#[path = "cli/words.rs"]
mod words;
#[path = "cli/xml.rs"]
mod xml;
