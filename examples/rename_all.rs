//! Changes the message that players read while a map loads, in all maps of a folder.
//!
//! ```sh
//! cargo run --example rename_all -- maps "The Place"
//! ```

use std::error::Error;

use bspkit::{Bsp, Layout};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(folder), Some(message)) = (arguments.next(), arguments.next()) else {
        return Err("usage: rename_all FOLDER MESSAGE".into());
    };
    for file in std::fs::read_dir(folder)? {
        let path = file?.path();
        if path.extension().is_none_or(|extension| extension != "bsp") {
            continue;
        }
        let mut draft = Bsp::open(&path)?.draft();
        draft.entities()?.first_class("worldspawn")?.set("message", &message)?;
        let plan = draft.plan(Layout::Keep)?;
        if !plan.is_identity() {
            plan.save(&path)?;
            println!("{}: {}", path.display(), plan.report());
        }
    }
    Ok(())
}
