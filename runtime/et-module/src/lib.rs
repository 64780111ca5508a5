//! Program files on a hosted machine.
//!
//! [`Module`] maps a file, gets the memory that its method asks for, and runs it on arrays; [`safetensors`] reads and
//! writes the files that arrays travel in; [`app`] is the whole command line of a generated binary. No third-party crate,
//! so that generated projects build without a registry.
//!
//! ```
//! use et_module::safetensors::{SafeTensors, write};
//! use et_module::{Array, Named};
//!
//! let array = Array::floats(&[2, 2], &[1.0, 2.0, 3.0, 4.0]).unwrap();
//! let mut file = Vec::new();
//! write(&Named::from([("x".to_owned(), array)]), &mut file)?;
//! let read = SafeTensors::parse(&file).unwrap();
//! assert_eq!(read.tensors["x"].shape, [2, 2]);
//! # Ok::<(), std::io::Error>(())
//! ```

mod adapter;
pub mod app;
mod array;
mod attribute;
pub mod base64;
mod bench;
mod bundle;
mod bundled_file;
mod byte_letter;
mod callee;
mod cases;
mod classes;
mod closeness;
mod constant;
mod data_files;
mod engine;
mod error;
mod events;
mod execute_while;
mod file;
mod labels;
mod lent;
mod media;
mod media_format;
mod module;
mod named;
pub mod npy;
mod order;
mod output_tree;
mod output_value;
mod outputs;
mod owned;
mod pool;
pub mod preprocess;
pub mod recording;
pub mod safetensors;
mod tensor_file;
mod threads;

pub use adapter::Adapter;
pub use array::{Array, TensorView};
pub use bench::{Bench, Effort, peak_rss_mib};
pub use bundle::{CaseResult, run_bundled};
pub use bundled_file::{is_bundled, named_data, program_in};
pub use byte_letter::byte_letter;
pub use cases::run_cases;
pub use classes::{Class, ClassesError, DEFAULT_TOP_K, class_lines, top_classes};
pub use closeness::{Tolerance, difference};
pub use constant::Constant;
pub use data_files::DataFiles;
pub use engine::{Engine, Engines, Host, MakeDelegate};
pub use error::Error;
pub use et_runtime::{DelegateEvent, Position};
pub use events::{Observed, Observer};
pub use file::FileBytes;
pub use labels::LABELS_KEY;
pub use lent::{Lend, State};
pub use media::{ReadMedia, read_media};
pub use media_format::MediaFormat;
pub use module::{Kernels, Module, TensorType};
pub use named::Named;
pub use output_tree::result_count;
pub use output_value::OutputValue;
pub use outputs::Outputs;
pub use pool::Pool;
pub use tensor_file::{TensorFileError, is_npy, read_tensors, write_tensors};
pub use threads::{MOST_THREADS, checked_threads, default_threads, parse_threads};
