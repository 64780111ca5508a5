//! The inputs of queries: files outside of the store, each by digest.

mod adapter_files;
mod checkpoint_failure;
mod checkpoint_files;
mod db;
pub mod file_digest;
pub mod fixed_value;
pub mod hashed_file;
pub mod mapped_file;
pub mod model_file;
mod pickled_hint;

pub use checkpoint_failure::checkpoint;
pub use checkpoint_files::{hears, picture_sizes, reads_pictures, reads_texts, stores_integers};
pub use db::{
    AdapterFolder, Archive, ArchiveOrigin, CheckpointFolder, DataFile, Db, EngineDatabase, ModelSource, PythonCall,
    PythonModel,
};
pub use hashed_file::HashedFile;
