//! The content of `etbuild report` as plain data: the page shows the data, `--output json` prints the data.

mod changes;
mod latency;
mod parts;
mod previous;

use etbuild_engine::UnitReport;
use etbuild_inspect::{ProgramLosses, UnitAnatomy};
use serde::Serialize;

pub use changes::{Change, changes};
pub use latency::{Latency, LayerTime, measure};
pub use parts::{Part, PartKind, Sizes};
pub use previous::{Before, NOTE, note, previous};

/// The report of a recipe on a target.
#[derive(Serialize)]
pub struct DeployReport {
    /// The page.
    pub page: std::path::PathBuf,
    /// The deploy: stages, files, verification, diagnostics.
    pub deploy: UnitReport,
    /// The anatomy of the result.
    pub anatomy: UnitAnatomy,
    /// The loss of quantization; `None` for a recipe without quantization.
    pub accuracy: Option<ProgramLosses>,
    /// The latency of each layer; `None` without `--latency`.
    pub latency: Option<Latency>,
    /// The sizes; `None` without a build.
    pub sizes: Option<Sizes>,
    /// The sizes of the deploy before, where known.
    pub previous: Option<Sizes>,
    /// In which parts the two differ, the greatest difference first.
    pub changes: Vec<Change>,
}

impl DeployReport {
    /// The report of a deploy, compared with the deploy before.
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
