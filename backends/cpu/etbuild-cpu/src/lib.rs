//! Lowers partitions to delegate blobs for SIMD processors: views become strides, element-wise operators fuse into the epilogue
//! of their producer, and weights are packed for the GEMM micro-kernels.
//!
//! ```
//! use etbuild_backend::{Backend, TargetFacts};
//!
//! let target = TargetFacts { architecture: "x86_64".to_owned(), features: vec!["avx2".to_owned()], hosted: true, ..TargetFacts::default() };
//! let backend: &dyn Backend = &etbuild_cpu::BACKEND;
//! assert_eq!((backend.name(), backend.device_crate()), ("cpu", "et-cpu"));
//! assert!(!backend.facts(&target).is_empty(), "lowering reads the architecture of the target");
//! ```

mod backend;
mod builder;
mod capability;
mod chain;
mod channels;
mod constant;
mod fuse;
mod lower;
mod memory;
mod problem;
mod program;
mod shared;
mod sizes;
mod tensor;
mod text;
mod write;

pub use backend::{BACKEND, Cpu, fusion_names, program_text};
pub use et_gemm::Architecture;
pub use problem::Problem;
