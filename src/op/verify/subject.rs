//! The code that the laws test.

use std::ops::Range;

use indexmap::IndexMap;

use crate::content::entities::Entities;
use crate::dialect::EntityRules;
use crate::draft::Draft;
use crate::error::Result;
use crate::file::Layout;
use crate::record::RecordInfo;

/// The code that the laws test: how drafts are written, entity texts printed, records moved.
///
/// ```
/// use bspkit::op::verify::{Subject, run_on};
/// let bytes = std::fs::read("tests/maps/q3/own_rooms.bsp")?;
/// // A writer that always writes the old file breaks the laws of every edit.
/// let subject = Subject { write: |draft, _, _| Ok(draft.bsp().container().bytes().to_vec()), ..Subject::REAL };
/// let outcome = run_on(&bspkit::Bsp::parse(&bytes)?, &subject);
/// assert!(!outcome.is_ok());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Subject {
    /// Writes the file of a draft; the given buffer may be reused, its bytes have no meaning.
    pub write: fn(&Draft<'_>, Layout, Vec<u8>) -> Result<Vec<u8>>,
    /// Prints an entity text after each value was set to what it is.
    pub reprint: fn(&[u8], EntityRules) -> Result<Vec<u8>>,
    /// Decodes records and encodes them again.
    pub reencode: fn(&RecordInfo, &[u8]) -> Vec<u8>,
    /// Brings the records of a list into another order.
    pub reorder: fn(&mut Draft<'_>, &str, &[usize]) -> Result<()>,
    /// Replaces a range of the records of a list by others.
    pub splice: fn(&mut Draft<'_>, &str, Range<usize>, Vec<u8>) -> Result<()>,
}

impl Subject {
    /// The code of the library.
    pub const REAL: Subject = Subject {
        write: |draft, layout, spare| draft.plan(layout)?.to_vec_in(spare),
        reprint: |text, rules| {
            let mut entities = Entities::parse(text, rules)?;
            for index in 0..entities.len() {
                let pairs: Vec<_> = match entities.get(index) {
                    Some(entity) => {
                        let pairs = entity.pairs().take(MOST_PAIRS);
                        pairs.map(|pair| (pair.key.to_vec(), pair.value.to_vec())).collect()
                    }
                    None => Vec::new(),
                };
                let mut entity = entities.get_mut(index)?;
                let mut seen: IndexMap<Vec<u8>, usize> = IndexMap::new();
                for (key, value) in pairs {
                    let nth = seen.entry(key.to_ascii_lowercase()).or_default();
                    *nth += 1;
                    entity.set_nth(&key, *nth, &value)?;
                }
            }
            Ok(entities.to_bytes())
        },
        reencode: |record, bytes| (record.reencode)(bytes),
        reorder: |draft, list, order| draft.structure().reorder_list(list, order).map(drop),
        splice: |draft, list, range, records| draft.structure().splice_list(list, range, records).map(drop),
    };
}

/// How many pairs of an entity are set to their own value: finding the n-th of equal keys costs n.
const MOST_PAIRS: usize = 256;
