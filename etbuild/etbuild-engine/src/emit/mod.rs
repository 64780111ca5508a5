//! Emitting: the planned program becomes a program file.

mod data_files;
mod failure;
mod interface;
mod pipeline_files;
mod query;
mod reading;
mod texts;

pub use data_files::data_files;
pub use interface::{Interface, InterfaceEngine};
pub use pipeline_files::PipelineOptions;
pub use query::{FileOptions, emitted};
pub use reading::{LabelsFile, ReadingOptions};
