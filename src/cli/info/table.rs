//! The table of slots. Empty columns are left out.

use super::SlotJson;
use crate::cli::talk::Job;

struct Column {
    name: &'static str,
    is_number: bool,
    cell: fn(&SlotJson<'_>) -> String,
}

const COLUMNS: [Column; 10] = [
    Column { name: "#", is_number: true, cell: |slot| if slot.is_lump { slot.index.to_string() } else { "".into() } },
    Column { name: "name", is_number: false, cell: |slot| slot.name.to_owned() },
    Column { name: "role", is_number: false, cell: |slot| slot.role.unwrap_or_default().to_owned() },
    Column { name: "offset", is_number: true, cell: |slot| slot.offset.to_string() },
    Column { name: "bytes", is_number: true, cell: |slot| slot.bytes.to_string() },
    Column { name: "version", is_number: true, cell: |slot| slot.version.map(|n| n.to_string()).unwrap_or_default() },
    Column { name: "unpacked", is_number: true, cell: |slot| slot.unpacked.map(|n| n.to_string()).unwrap_or_default() },
    Column { name: "count", is_number: true, cell: |slot| slot.count.map(|n| n.to_string()).unwrap_or_default() },
    Column { name: "holds", is_number: false, cell: holds },
    Column { name: "marks", is_number: false, cell: marks },
];

/// The content of a slot.
fn holds(slot: &SlotJson<'_>) -> String {
    let lists: Vec<_> = slot.lists.iter().map(|list| format!("{} {}", list.count, list.name)).collect();
    match (slot.record.or(slot.content), &slot.opaque) {
        (Some(what), _) => what.to_owned(),
        (None, Some(_)) => "bytes".to_owned(),
        (None, None) => lists.join(", "),
    }
}

/// Errors and peculiarities of a slot.
fn marks(slot: &SlotJson<'_>) -> String {
    let mut marks = Vec::new();
    marks.extend(slot.is_damaged.then(|| slot.bounds.clone()));
    marks.extend(slot.over_header.then(|| "covers the header".to_owned()));
    marks.extend((!slot.shared_with.is_empty()).then(|| format!("shares bytes with {}", some(&slot.shared_with))));
    marks.extend(slot.compression_oddity.map(str::to_owned));
    marks.extend(slot.opaque.clone());
    marks.extend(slot.pinned.map(|why| format!("never moves: {why}")));
    marks.join("; ")
}

/// The first few names, and the number of the others.
fn some(names: &[&str]) -> String {
    match names {
        [one, two, three, _, rest @ ..] if !rest.is_empty() => {
            format!("{one}, {two}, {three} and {} more", rest.len() + 1)
        }
        names => names.join(", "),
    }
}

pub(super) fn print(slots: &[SlotJson<'_>], job: &mut Job<'_>) {
    let filled = COLUMNS.iter().map(|column| Filled::new(column, slots));
    let columns: Vec<Filled> = filled.filter(|column| column.cells.iter().any(|cell| !cell.is_empty())).collect();
    let mut row = |cell: &dyn Fn(&Filled) -> String| {
        let line: String = columns.iter().map(|column| column.aligned(&cell(column))).collect();
        job.line(line.trim_end());
    };
    row(&|column| column.name.to_owned());
    for index in 0..slots.len() {
        row(&|column| column.cells[index].clone());
    }
}

/// A column with the cells of every slot.
struct Filled {
    name: &'static str,
    is_number: bool,
    cells: Vec<String>,
    width: usize,
}

impl Filled {
    fn new(column: &Column, slots: &[SlotJson<'_>]) -> Self {
        let cells: Vec<String> = slots.iter().map(column.cell).collect();
        let widths = cells.iter().map(|cell| cell.chars().count());
        let width = widths.chain([column.name.len()]).max().unwrap_or(0);
        Filled { name: column.name, is_number: column.is_number, cells, width }
    }

    fn aligned(&self, text: &str) -> String {
        let width = self.width;
        if self.is_number { format!("{text:>width$}  ") } else { format!("{text:<width$}  ") }
    }
}
