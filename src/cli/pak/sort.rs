//! `pak sort`: puts embedded files in another order.

use anyhow::Result;
use bspkit::content::pak::Order;
use clap::ValueEnum;

use crate::cli::context::Context;
use crate::cli::help;
use crate::cli::maps::MapArgs;
use crate::cli::save::{Edited, Save};
use crate::cli::talk::Code;

/// Put embedded files in another order
///
/// The order changes both the zip directory and the place of the files' data; each file keeps all of its bytes. Engines
/// find files by name, so no order is wrong. Each file is compressed by itself, so the size of the map stays, and that
/// of its .bz2 hardly changes. With `type`, materials are together, and a game that reads them reads fewer parts of the
/// map.
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit pak sort map.bsp type -o out.bsp
  bspkit pak sort map.bsp name --in-place --backup"
))]
pub(crate) struct Args {
    #[command(flatten)]
    maps: MapArgs,
    /// The order
    #[arg(value_name = "ORDER")]
    order: OrderName,
    #[command(flatten)]
    save: Save,
}

#[derive(Clone, Copy, ValueEnum)]
enum OrderName {
    /// By name: the files of a folder are together
    Name,
    /// By extension, then by name: the fewest parts to read, and the smallest .bz2 by a little
    Type,
    /// The smallest first
    Size,
}

pub(super) fn run(cx: &Context, args: &Args) -> Result<Code> {
    let order = match args.order {
        OrderName::Name => Order::Name,
        OrderName::Type => Order::Type,
        OrderName::Size => Order::Size,
    };
    args.save.each(cx, args.maps.find(), |draft, _, job| {
        let pak = draft.pak()?;
        let before: Vec<Vec<u8>> = pak.iter().map(|entry| entry.name().to_vec()).collect();
        pak.sort(order)?;
        let moved = pak.iter().zip(&before).filter(|(entry, name)| entry.name() != *name).count();
        if args.save.dry_run && !args.save.json {
            for entry in pak.iter() {
                let name = bspkit::bytes::escaped(entry.name());
                job.line(format!("  #{} {name}, {} bytes", entry.index(), entry.size()));
            }
        }
        let what = format!("{moved} of {} files have another place in the directory", pak.len());
        Ok(Edited::With { what, is_whole: true })
    })
}
