//! The query engine.
//!
//! [`resolve`] turns a request into units, a recipe for a target each; the queries of [`query`] compute a unit's stages,
//! each looked up in the store first; [`deploy`] runs the units side by side, [`plan`] only looks. This is the one crate
//! that sees salsa, and the one that knows both recipes and stages.

mod artifact;
mod db;
mod event;
mod failure;
mod file_digest;
mod program_artifact;
mod query;
mod stage;
mod version;
mod world;

pub use artifact::{ArtifactKind, ArtifactRef, Artifacts};
pub use db::{DataFile, Db, EngineDatabase, TextFile};
pub use event::{Event, Observer};
pub use stage::{Blocked, Source, Stage, StageResult, Staged};
pub use world::{Mode, World};
