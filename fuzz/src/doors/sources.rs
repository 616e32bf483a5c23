//! Sources of maps.

use bspkit::Bsp;
use bspkit_decompile::source::{Format, read, write};
use bspkit_decompile::{Effort, Options, decompile, prove};

use crate::mutate::Random;

/// A map's source in some form: its text is read as an equal value, and is compared with the map.
pub fn sources(bytes: &[u8]) {
    let Ok(map) = Bsp::parse(bytes) else { return };
    let format = Format::ALL.get(Random::of(bytes).below(6)).copied();
    let Ok(found) = decompile(&map, &Options { format, ..Options::default() }) else { return };
    let text = found.text();
    // Values with quotes cannot be written so that they are read as they were; what was read can.
    if let Ok(back) = read(&text, found.format) {
        let again = write(&back, found.format);
        assert!(read(&again, found.format).is_ok_and(|back| write(&back, found.format) == again), "it does not stay");
    }
    let effort = Effort { random_points: 100, faces: 100, ..Effort::default() };
    let _ = prove(&map, &text, found.format, &effort);
}
