//! Pakfiles: whatever is edited, all else keeps its bytes; and every zip reader reads what is written.

mod bad;
mod built;
mod faults;
mod law;
mod order;
mod readers;
mod real;
mod rules;
mod zip;

use crate::{corpus, random};

/// The hazardous names once more, each alone: a row that is missing in the library is missed here.
#[test]
fn each_hazard_of_names_on_a_disk_is_seen() {
    let programs = "bat cmd com cpl dll exe hta library-ms lnk msc msi pif ps1 scf scr url vbe vbs wsf wsh";
    let devices = "con prn aux nul conin$ conout$";
    let ports = (1..10).flat_map(|digit| [format!("com{digit}"), format!("lpt{digit}")]);
    let programs = programs.split(' ').map(|extension| format!("a.{extension}"));
    let read_unasked = ["autorun.inf", "desktop.ini"].map(str::to_owned);
    for name in programs.chain(devices.split(' ').map(str::to_owned)).chain(ports).chain(read_unasked) {
        for name in [name.clone(), name.to_uppercase()] {
            assert!(bspkit::file::names::hazard(name.as_bytes()).is_some(), "{name}");
            assert!(bspkit::file::names::hazard(format!("x{name}x").as_bytes()).is_none(), "x{name}x");
        }
    }
}
