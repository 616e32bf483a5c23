//! Real maps, if they are there: every one is read, and what is in the graph fits together.

use bspkit::{Bsp, ErrorKind};
use bspkit_game::assets::{Files, PakFiles};
use bspkit_game::needs::{self, Found, Options, Referrer};

use super::corpus;

#[test]
fn references_of_real_maps_fit_together() {
    let mut files = 0;
    let maps = corpus::maps();
    for path in &maps {
        let Ok(map) = Bsp::open(path) else { continue };
        let name = path.file_stem().unwrap().as_encoded_bytes();
        let needs = match needs::find(&map, &Options::new(name)) {
            Ok(needs) => needs,
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::Unsupported, "{}: {error}", path.display());
                continue;
            }
        };
        files += needs.files.len();
        let pak = map.pak().ok();
        let packed = pak.as_deref().map(PakFiles::new);
        for need in &needs.files {
            assert!(!need.references.is_empty());
            let is_packed = packed.as_ref().is_some_and(|packed| packed.has(&need.name));
            assert_eq!(need.found == Found::Packed, is_packed);
            for reference in &need.references {
                if let Referrer::File { index, .. } = reference.referrer {
                    assert_eq!(needs.files[index].found, Found::Packed, "only files of the map were there to read");
                }
            }
        }
        let strings = map.texture_strings().map_or(0, |strings| strings.len());
        assert!(strings == 0 || !needs.files.is_empty() || !needs.faults.is_empty(), "{}", path.display());
    }
    assert!(files > 0 || maps.is_empty());
}
