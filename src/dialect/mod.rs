//! The dialects of the BSP family, as data.

mod text;

pub use text::EntityRules;
