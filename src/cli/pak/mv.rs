//! `pak mv`: renames an embedded file.

use std::ffi::OsString;

use anyhow::Result;
use bspkit::ErrorKind;

use super::names_of;
use crate::cli::choose::Choice;
use crate::cli::context::Context;
use crate::cli::help;
use crate::cli::maps::MapArgs;
use crate::cli::save::{Edited, Save};
use crate::cli::talk::Code;

/// Rename an embedded file
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit pak mv map.bsp materials/my/wall.vmt materials/my/floor.vmt -o out.bsp
  bspkit pak mv map.bsp '#0' materials/my/Wall.vmt -o out.bsp"
))]
pub(crate) struct Args {
    #[command(flatten)]
    maps: MapArgs,
    /// The file: its name in any case, or `#` and its index
    #[arg(value_name = "OLD")]
    old: OsString,
    /// The new name, byte for byte
    #[arg(value_name = "NEW")]
    new: OsString,
    #[command(flatten)]
    save: Save,
}

pub(super) fn run(cx: &Context, args: &Args) -> Result<Code> {
    args.save.each(cx, args.maps.find(), |draft, _, _| {
        let pak = draft.pak()?;
        let index = match Choice::new(args.old.as_encoded_bytes()) {
            Choice::Index(index) if index < pak.len() => Ok(index),
            _ => pak.one(args.old.as_encoded_bytes()),
        };
        match index {
            Ok(index) => pak.rename(index, args.new.as_encoded_bytes())?,
            Err(error) if error.kind() == ErrorKind::NotFound => {
                return Ok(Edited::Nothing(names_of(pak).nothing(std::slice::from_ref(&args.old))));
            }
            Err(error) => return Err(error.into()),
        }
        Ok(Edited::Done)
    })
}
