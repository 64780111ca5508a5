//! Lowers int8 partitions for microcontrollers: patterns of dequantization, operator and quantization become integer kernels,
//! weights are packed and requantization factors computed at build time.
//!
//! ```
//! use etbuild_backend::{Backend, TargetFacts};
//!
//! let features = vec!["dsp".to_owned()];
//! let board = TargetFacts { architecture: "thumb".to_owned(), features, hosted: false, ..TargetFacts::default() };
//! let backend: &dyn Backend = &etbuild_cortex_m::BACKEND;
//! assert!(backend.runs_on(&board));
//! assert_eq!((backend.name(), backend.device_crate()), ("cortex-m", "et-cortex-m"));
//! ```

mod backend;
mod capability;
mod lower;
mod pack;
mod program;

pub use backend::{BACKEND, CortexM};
