//! `ripent`: the verbs of the GoldSrc compilers' program of this name.

use std::ffi::OsString;

use anyhow::Result;

use super::{Does, Plain, Tool, Verb};
use crate::cli::context::Context;
use crate::cli::talk::Code;
use crate::cli::{help, with_table};

const AS_IT_IS: Does = Does::Notice("files are written and read as they are; `ent fmt` formats entities");

pub(super) const TOOL: Tool = Tool {
    name: "ripent",
    combines: true,
    verbs: &[
        Verb { name: "-import", operands: &["BSP"], command: "ent import BSP MAP.ent --in-place" },
        Verb { name: "-export", operands: &["BSP"], command: "ent export BSP -o MAP.ent" },
        Verb { name: "-textureimport", operands: &["BSP"], command: "tex import BSP MAP.wad --in-place --resize" },
        Verb { name: "-textureexport", operands: &["BSP"], command: "tex export BSP MAP.wad --force" },
        Verb { name: "-chart", operands: &["BSP"], command: "info BSP --limits" },
    ],
    options: &[
        Plain { name: "-parse", has_value: false, does: AS_IT_IS },
        Plain { name: "-textureparse", has_value: false, does: AS_IT_IS },
        Plain { name: "-noinfo", has_value: false, does: Does::Nothing },
        Plain { name: "-pause", has_value: false, does: Does::Nothing },
        Plain { name: "-texdata", has_value: true, does: Does::Nothing },
        Plain { name: "-lightdata", has_value: true, does: Does::Nothing },
        Plain { name: "-console", has_value: true, does: Does::Nothing },
        Plain { name: "-lang", has_value: true, does: Does::Nothing },
    ],
};

/// Run a command line of ripent (ZHLT, VHLT, SDHLT, Sven Co-op), for scripts that call it
///
/// If this program, or a link to it, is called `ripent` or `ripent.exe`, the words after that name are such a command
/// line too. Verbs are read in any case and can be combined. The extension of the map may be left out. MAP.ent and
/// MAP.wad are files beside the map with its name; exporting replaces them. Maps of every family are accepted, and
/// several at once. -noinfo, -pause, -console, -lang, -texdata and -lightdata are accepted and have no effect: there
/// are no limits to raise.
///
/// What is different: the map is replaced completely or not at all, and all that is not imported keeps its bytes.
/// Entities with which engines would stop are refused. MAP.wad has only textures with pixels, once each, and has
/// no .tex file; importing goes by names, so that the order of the textures in the map never changes. -parse and
/// -textureparse are accepted, and files are written as they are. The exit status is that of all commands: 2 for an
/// error.
#[derive(clap::Args)]
#[command(after_help = with_table("Verbs, and the commands that do the work", &TOOL.table(), help!(
    "  bspkit ripent -export goldsrc.bsp
  bspkit ripent -import -textureexport goldsrc.bsp
  bspkit ripent -textureimport goldsrc"
)))]
pub(crate) struct Args {
    /// The words after `ripent`
    #[arg(value_name = "WORD", trailing_var_arg = true, allow_hyphen_values = true)]
    words: Vec<OsString>,
}

pub(crate) fn run(cx: &Context, args: &Args) -> Result<Code> {
    TOOL.run(cx, &args.words)
}
