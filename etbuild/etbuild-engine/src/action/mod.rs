//! Running a stage: the inputs and the work of an action, the look-up by key, the artifacts.

mod artifact;
mod keyed;
pub mod made_once;
mod outcome;
mod products;
pub mod program;
mod run;
mod slices;
mod text_files;

pub use artifact::{ArtifactKind, ArtifactRef, Artifacts};
pub use keyed::{Action, Keyed};
pub use outcome::{Blocked, Failed, Missing, StageResult, Staged};
pub use products::Products;
pub use program::StoredProgram;
pub use run::{run, run_discovering};
pub use text_files::text_files;
