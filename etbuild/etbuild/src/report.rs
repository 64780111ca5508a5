//! What `etbuild report` tells of a deploy, as plain data: the page shows it, `--output json` prints it.

mod changes;
mod latency;
mod parts;
mod previous;

use etbuild_engine::{ProgramLosses, UnitAnatomy, UnitReport};
use serde::Serialize;

pub use changes::{Change, changes};
pub use latency::{Latency, LayerTime, measure, note as note_step};
pub use parts::{Part, PartKind, Sizes};
pub use previous::{Before, NOTE, note, previous};

/// Everything about one recipe on one target.
#[derive(Serialize)]
pub struct DeployReport {
    /// The page.
    pub page: std::path::PathBuf,
    /// What the deploy did: stages, files, verification, diagnostics.
    pub deploy: UnitReport,
    /// What the result is made of.
    pub anatomy: UnitAnatomy,
    /// What quantization loses; `None` where the recipe does not quantize.
    pub accuracy: Option<ProgramLosses>,
    /// How long each layer takes; `None` where nobody asked for it.
    pub latency: Option<Latency>,
    /// How large everything is; `None` where nothing was built.
    pub sizes: Option<Sizes>,
    /// The same of the deploy before, where it is known.
    pub previous: Option<Sizes>,
    /// In which parts the two differ, the greatest difference first.
    pub changes: Vec<Change>,
}

impl DeployReport {
    /// The report of what was deployed, compared with what was there before.
    pub fn new(
        page: std::path::PathBuf,
        deploy: UnitReport,
        anatomy: UnitAnatomy,
        accuracy: Option<ProgramLosses>,
        (sizes, before): (Option<Sizes>, Before),
    ) -> Self {
        let previous = sizes.as_ref().and_then(|sizes| before.than(sizes));
        let changes = match (&previous, &sizes) {
            (Some(before), Some(now)) => changes(before, now),
            _ => Vec::new(),
        };
        Self { page, deploy, anatomy, accuracy, sizes, previous, changes, latency: None }
    }
}
