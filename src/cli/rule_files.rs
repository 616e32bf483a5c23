//! How commands read rule files.

use bspkit::face::rules::Reading;
use bspkit::op::rules::{Format, Mode};
use clap::ValueEnum;

// How rule files are read. (A doc comment would become the help of the command.)
#[derive(clap::Args)]
pub(crate) struct RuleArgs {
    /// How Stripper files are read: as the plug-in does; strictly, so that whatever the plug-in would ignore is an
    /// error and every pair of a filter has to match; or as Lumper does
    #[arg(long, value_name = "MODE", default_value = "plugin")]
    mode: ModeName,
    /// The format [default: by the extension: .cfg, .ini, .rule, .jsonc]
    #[arg(long, value_name = "FORMAT")]
    format: Option<FormatName>,
}

#[derive(Clone, Copy, ValueEnum)]
enum FormatName {
    /// Stripper:Source
    Stripper,
    /// stripper_qmm, for Quake III
    Qmm,
    /// Lazyripent2, for GoldSrc
    Lazyripent,
    /// StripperCS2
    Cs2,
}

#[derive(Clone, Copy, ValueEnum)]
enum ModeName {
    Plugin,
    Strict,
    Lumper,
}

impl RuleArgs {
    pub(crate) fn reading(&self) -> Reading {
        let mode = match self.mode {
            ModeName::Plugin => Mode::Plugin,
            ModeName::Strict => Mode::Strict,
            ModeName::Lumper => Mode::Lumper,
        };
        let format = self.format.map(|name| match name {
            FormatName::Stripper => Format::Stripper,
            FormatName::Qmm => Format::Qmm,
            FormatName::Lazyripent => Format::Lazyripent,
            FormatName::Cs2 => Format::Cs2,
        });
        Reading { mode, format }
    }
}
