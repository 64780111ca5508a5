//! One tracked query per stage. The work of a stage is in the stage's crate; here are the inputs, and so the key.

mod checkpoint;
mod delegate;
mod emit;
mod export;
mod import;
mod link;
mod lower;
mod measure;
mod moments;
mod plan;
mod quantize;
mod recipe;
mod select;
mod verify;

pub use delegate::{PartitionOptions, delegated, finished};
pub use emit::{FileOptions, emitted};
pub use export::{export_reads, export_tools, exported};
pub use import::imported;
pub use link::linked;
pub use lower::{LowerOptions, lower_options, lowered};
pub use measure::{MeasureOptions, labelled, losses, measured, read, samples, unlabelled};
pub use plan::{PlanOptions, planned};
pub use quantize::{Method, QuantizeOptions, no_data, prepared};
pub use recipe::recipes;
pub use select::{read_interface, selected};
pub use verify::verified;
