//! The query engine.
//!
//! [`resolve`] turns a request into units, a recipe for a target each; the queries compute a unit's stages, each looked
//! up in the store first; [`deploy`] runs the units side by side, [`plan`] only looks. No other crate sees
//! salsa, or knows both recipes and stages.

mod adapter_files;
mod anatomy;
mod artifact;
mod board_report;
mod budget;
mod calibration_tokens;
mod checkpoint_files;
mod db;
mod deploy;
mod engine_report;
mod engine_weights;
mod environment;
mod event;
mod failure;
mod fallback;
mod file_digest;
mod guard;
mod inputs;
mod interface;
mod judge;
mod kept_rotations;
mod kept_weights;
mod link_facts;
mod losses;
mod made_once;
mod materials;
mod model_file;
mod operators;
mod package;
mod partition_report;
mod partitions;
mod plan;
mod process;
mod program_artifact;
mod program_file;
mod python;
mod quantization;
mod quantize_options;
mod query;
mod remote;
mod report;
mod resolve;
mod schedule;
mod search;
mod slices;
mod stage;
mod target_facts;
mod texts;
mod tool_check;
mod unchanged;
mod unit;
mod verify_data;
mod version;
mod widen;
mod worker;
mod world;

pub use anatomy::{ArenaUse, EngineBlob, MethodMemory, Placed, PlannedCall, UnitAnatomy, Weight, anatomy};
pub use artifact::{ArtifactKind, ArtifactRef, Artifacts};
pub use db::{Db, EngineDatabase};
pub use deploy::{Goal, deploy};
pub use engine_report::PackedWeight;
pub use etbuild_emit::PRODUCER_KEY;
pub use etbuild_link::{CodePart, SizeReport};
pub use etbuild_remote::{Access as RemoteAccess, Execution as RemoteExecution, Options as RemoteOptions};
pub use event::Event;
pub use fallback::{Fallback, FallbackReason};
pub use inputs::inputs;
pub use judge::Judgement;
pub use losses::{Answers, LayerLoss};
pub use materials::{Materials, Role, Source as SourceFile, materials};
pub use operators::{KernelCalls, Missing, ProgramOperators, operators};
pub use partition_report::{EngineRefusal, NodePlace};
pub use partitions::{UnitPartition, partitions};
pub use plan::{PlanRow, PlanState, UnitPlan, plan};
pub use program_file::{ProgramFiles, program_file, program_files};
pub use quantization::{ProgramLosses, quantization};
pub use report::{OutputFile, StageRow, UnitReport, Verification};
pub use resolve::{Request, catalogue, resolve, unit_folders};
pub use search::{AllowedLoss, KeptLayer, LayerProposal, Reached, propose_layers};
pub use stage::{Source, Stage, Staged};
pub use tool_check::{ToolCheck, check_tools};
pub use unit::Unit;
pub use world::{Mode, World};

/// The version of etbuild: the stamp of program files and binaries.
pub const PRODUCER: &str = concat!("etbuild ", env!("CARGO_PKG_VERSION"));
