//! The query engine.
//!
//! Each stage of the pipeline has a folder: [`export`], [`import`], [`lower`], [`quantize`], [`partition`], [`memory`], [`emit`],
//! [`link`], [`verify`]. `query.rs` in the folder has the tracked query and the [`Action`]: the inputs of the stage, which are the key,
//! and the work. Below the stages are [`action`], [`input`], [`session`] and [`pipeline`]; above are [`mod@unit`], [`request`],
//! [`mod@deploy`] and [`dry_run`]. A module imports the modules below; `arrows.toml` has the table.
//!
//! [`resolve`] turns a request into units, a recipe for a target each; [`deploy()`] runs the units side by side, [`plan`] only looks.
//! No other crate sees salsa, or knows both recipes and stages.

#![deny(clippy::iter_over_hash_type, reason = "the order of a hash map reaches no result")]

pub mod action;
pub mod deploy;
pub mod device;
pub mod dry_run;
pub mod emit;
pub mod export;
pub mod failure;
pub mod import;
pub mod input;
pub mod link;
pub mod lower;
pub mod memory;
pub mod partition;
pub mod pipeline;
pub mod program_source;
pub mod quantize;
pub mod request;
pub mod session;
pub mod unit;
pub mod verify;

pub use action::{Action, ArtifactKind, ArtifactRef, Artifacts, Staged};
pub use deploy::{Goal, OutputFile, StageRow, UnitReport, Verification, deploy};
pub use dry_run::{PlanRow, PlanState, UnitPlan, inputs, plan};
pub use etbuild_emit::PRODUCER_KEY;
pub use etbuild_import::Format;
pub use etbuild_link::{CodePart, SizeReport, StackUse, kernel_crates};
pub use etbuild_remote::{Access as RemoteAccess, Execution as RemoteExecution, Options as RemoteOptions};
pub use input::{Db, EngineDatabase};
pub use partition::{EngineRefusal, Fallback, FallbackReason, NodePlace};
pub use pipeline::{Source, Stage};
pub use quantize::{Answers, LayerLoss};
pub use request::{
    ProgramFiles, Request, Subject, catalogue, file_format, foreign, is_encoder, program_file,
    program_file_with_fallback, program_files, resolve, subject, unit_folders,
};
pub use session::{AbsentBackend, Event, Mode, Revisions, World};
pub use unit::Unit;
pub use verify::Judgement;

/// The version of etbuild: the stamp of program files and binaries.
pub const PRODUCER: &str = concat!("etbuild ", env!("CARGO_PKG_VERSION"));
