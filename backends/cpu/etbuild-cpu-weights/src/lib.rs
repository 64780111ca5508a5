//! Weights in the form that kernels of the cpu backend read them in.
//!
//! A release compiles this crate for speed, with the packing of the GEMM kernels, which the crate that calls it compiles; `etbuild-cpu`, which
//! reads graphs and makes instructions, is compiled fast.
//!
//! ```
//! use et_cpu::Window;
//! use et_gemm::Architecture;
//! use etbuild_cpu_weights::{Form, Packing};
//! use etbuild_ir::ConstantData;
//!
//! let weights = ConstantData::new([1.0_f32, 2.0, 3.0, 4.0].map(f32::to_le_bytes).concat());
//! let form = Form::Floats(Vec::new()).narrowed(&weights, None);
//! let packing = Packing { window: Window::matrix(1, 2, 2), weights, form, adapter: None };
//! let mut packed = 0;
//! packing.write(Architecture::Portable, &mut |part| packed += part.len()).unwrap();
//! assert_eq!(packed, packing.size(Architecture::Portable).unwrap());
//! ```

#![deny(clippy::iter_over_hash_type, reason = "the order of a hash map reaches no result")]

mod form;
mod groups;
mod packing;

pub use form::Form;
pub use groups::{GroupedWeights, Groups, Offsets, factors_of_means};
pub use packing::{Packing, Stack};

/// Weights that do not fit their shape or form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("weights could not be packed")]
pub struct NotPacked;
