//! `bspzip`: the verbs of Valve's program of this name.

use std::ffi::OsString;

use anyhow::Result;

use super::{Does, Plain, Tool, Verb};
use crate::cli::context::Context;
use crate::cli::talk::Code;
use crate::cli::{help, with_table};

pub(super) const TOOL: Tool = Tool {
    name: "bspzip",
    combines: false,
    verbs: &[
        Verb { name: "-extract", operands: &["BSP", "ZIP"], command: "cat BSP pakfile -o ZIP" },
        Verb { name: "-extractfiles", operands: &["BSP", "DIR"], command: "pak extract BSP DIR --force" },
        Verb { name: "-dir", operands: &["BSP"], command: "pak list BSP --names" },
        Verb { name: "-addfile", operands: &["BSP", "NAME", "FILE", "NEW"], command: "pak add BSP NAME=FILE -o NEW" },
        Verb {
            name: "-addfiles",
            operands: &["BSP", "PREFIX", "LIST", "NEW"],
            command: "pak add BSP PREFIX+NAME=FILE... -o NEW",
        },
        Verb { name: "-addlist", operands: &["BSP", "LIST", "NEW"], command: "pak add BSP --list LIST -o NEW" },
        Verb { name: "-addorupdatelist", operands: &["BSP", "LIST", "NEW"], command: "pak add BSP --list LIST -o NEW" },
        Verb { name: "-deletefile", operands: &["BSP", "NAME", "NEW"], command: "pak rm BSP =NAME -o NEW" },
        Verb { name: "-deletelist", operands: &["BSP", "LIST", "NEW"], command: "pak rm BSP =NAME... -o NEW" },
        Verb { name: "-deletecubemaps", operands: &["BSP"], command: "cubemap strip BSP --in-place" },
        Verb {
            name: "-extractcubemaps",
            operands: &["BSP", "DIR"],
            command: "pak extract BSP DIR =CUBEMAP... --force",
        },
        Verb { name: "-repack -compress", operands: &["BSP"], command: "compress BSP --all --pak --in-place" },
        Verb { name: "-repack", operands: &["BSP"], command: "decompress BSP --pak --in-place" },
    ],
    options: &[
        Plain { name: "-game", has_value: true, does: Does::Nothing },
        Plain { name: "-v", has_value: false, does: Does::Verbose },
        Plain { name: "-verbose", has_value: false, does: Does::Verbose },
        Plain { name: "-threads", has_value: true, does: Does::Threads },
        Plain { name: "-compress", has_value: false, does: Does::Verb },
    ],
};

/// Run a command line of Valve's bspzip, for scripts that call it
///
/// If this program, or a link to it, is called `bspzip` or `bspzip.exe`, the words after that name are such a command
/// line too. Verbs are read in any case. -game DIR is accepted and has no effect, since no game is needed; -v and
/// -verbose print the command, -threads N is --jobs N. A path without extension gets .bsp or .zip, and \ in a path is
/// / where there is no such file. NEW may be BSP. A list has pairs of lines, a name in the map and a file; the lists
/// of -addfiles and -deletelist have one file or name in each line. Lines may end with CRLF.
///
/// What is different: nothing is written if a list has an odd number of lines, names an absent file, or gives two
/// files one name, where bspzip does a part of the work. A map is replaced completely or not at all. Lumps that are
/// not named here keep their bytes and places; bspzip rewrites the file and drops what it does not know. -addlist
/// replaces a file of the same name, where bspzip adds a second one. Names are stored in lower case and with /, as by
/// bspzip; files that were embedded before keep their names. -deletecubemaps and -extractcubemaps mean the images of
/// cube maps, and bspzip all .vtf files; default images are not deleted. -repack compresses what bspzip compresses,
/// but not mp3, wav, ogg, ani and vcs files, which engines cannot read compressed. Messages go to stderr; stdout has
/// only the names of -dir. The exit status is that of all commands: 1 if there is nothing to delete, 2 for an error,
/// where bspzip may exit with 0.
#[derive(clap::Args)]
#[command(after_help = with_table("Verbs, and the commands that do the work", &TOOL.table(), help!(
    "  bspkit bspzip -addlist map.bsp list.txt out.bsp
  bspkit bspzip -dir map.bsp
  bspkit bspzip -game tf -extractfiles map.bsp files
  bspkit bspzip -repack -compress map.bsp"
)))]
pub(crate) struct Args {
    /// The words after `bspzip`
    #[arg(value_name = "WORD", trailing_var_arg = true, allow_hyphen_values = true)]
    words: Vec<OsString>,
}

pub(crate) fn run(cx: &Context, args: &Args) -> Result<Code> {
    TOOL.run(cx, &args.words)
}
