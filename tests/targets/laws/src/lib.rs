//! What the library does with a map, as lines of text, which must be the same on every machine.

use std::fmt::Write;

use bspkit::verify;
use bspkit::{Bsp, Layout};
use bspkit_ops::check;

/// The laws, the findings, all records as numbers, and the sums of an edited map in all layouts.
pub fn report(name: &str, bytes: &[u8]) -> String {
    let mut text = String::new();
    if let Err(error) = tell(name, bytes, &mut text) {
        let _ = writeln!(text, "{name} error: {error}");
    }
    text
}

fn tell(name: &str, bytes: &[u8], text: &mut String) -> bspkit::Result<()> {
    let map = Bsp::parse(bytes)?;
    let mut line = |what: &str| {
        // Writing into a string cannot fail.
        let _ = writeln!(text, "{name} {what}");
    };
    line(&format!("{} {} slots", map.dialect().name, map.slots().len()));
    let outcome = verify::run(&map);
    for (law, verdict) in &outcome.laws {
        line(&format!("{law}: {verdict:?}"));
    }
    line(&format!("records: {:?}", outcome.records));
    for finding in check::run(&map, &check::Options::default())? {
        line(&format!("{finding:?}"));
    }
    let mut draft = map.draft();
    draft.entities()?.first_class("worldspawn")?.set("message", "The Place")?;
    for layout in [Layout::Keep, Layout::Append, Layout::Repack] {
        let new = draft.plan(layout)?.to_vec();
        line(&format!("{layout:?}: {} bytes {:016x}", new.len(), sum(&new)));
    }
    Ok(())
}

/// FNV-1a.
fn sum(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |sum, byte| (sum ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3))
}

/// The functions of the module, for a host without files. Texts and maps are passed as addresses and sizes.
#[cfg(all(target_family = "wasm", target_os = "unknown"))]
mod host {
    use std::cell::RefCell;

    thread_local! {
        static INPUT: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
        static OUTPUT: RefCell<String> = const { RefCell::new(String::new()) };
    }

    /// Room for a map of this size.
    #[unsafe(no_mangle)]
    extern "C" fn input(size: usize) -> *mut u8 {
        INPUT.with_borrow_mut(|input| {
            *input = vec![0; size];
            input.as_mut_ptr()
        })
    }

    /// Reports on the map in the input, whose name is a number, and returns the size of the report.
    #[unsafe(no_mangle)]
    extern "C" fn report(number: u32) -> usize {
        let text = INPUT.with_borrow(|input| super::report(&number.to_string(), input));
        OUTPUT.with_borrow_mut(|output| {
            *output = text;
            output.len()
        })
    }

    /// The text of the last report.
    #[unsafe(no_mangle)]
    extern "C" fn output() -> *const u8 {
        OUTPUT.with_borrow(|output| output.as_ptr())
    }
}
