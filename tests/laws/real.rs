//! All laws on every real map of the corpus (`BSPKIT_CORPUS`, default `tests/corpus`), where there is one.

use crate::corpus;
use std::collections::BTreeMap;

use bspkit::verify::{self, Verdict};
use bspkit::{Bsp, ErrorKind};

#[test]
fn every_law_holds_on_every_map() {
    let (folder, maps) = (corpus::folder(), corpus::maps());
    if maps.is_empty() {
        return;
    }
    let mut broken = Vec::new();
    let mut refused: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let (mut opened, mut skipped) = (0, Vec::new());
    for path in &maps {
        let name = path.strip_prefix(&folder).unwrap_or(path).display().to_string();
        let bytes = std::fs::read(path).unwrap();
        match Bsp::parse(&bytes) {
            Err(error) => {
                let known = matches!(error.kind(), ErrorKind::Unsupported | ErrorKind::NotABsp);
                assert!(known, "{name}: {error:?}");
                refused.entry(error.to_string()).or_default().push(name);
            }
            Ok(bsp) => {
                opened += 1;
                for (law, verdict) in verify::run(&bsp).laws {
                    match verdict {
                        Verdict::Fail(what) => broken.push(format!("{name}: {law}: {what}")),
                        Verdict::Skipped(why) => skipped.push(format!("{name}: {law}: {why}")),
                        _ => {}
                    }
                }
            }
        }
    }
    println!("{opened} of {} maps opened; refused:", maps.len());
    for (reason, names) in &refused {
        println!("  {reason}: {}", names.join(", "));
    }
    println!("laws that do not apply: {}", skipped.join(", "));
    assert!(broken.is_empty(), "{} broken laws:\n{}", broken.len(), broken.join("\n"));
}
