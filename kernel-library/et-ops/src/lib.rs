//! The operator catalogue.
//!
//! One file per operator holds everything that etbuild knows about it: documentation, schema, accepted types, shape rule,
//! portable kernel and cases. The portable kernel is the interpreter, the constant folder and the oracle of every
//! faster one. Firmware names the kernels that its program calls, with the types that it calls them on
//! (`et_ops::relu::out::<{ types }>`); the linker drops the rest, this list included.
#![no_std]

#[cfg(any(test, feature = "std"))]
extern crate std;

#[cfg(feature = "std")]
pub mod call;
mod case;
mod catalogue;
pub mod family;
pub mod math;
mod operator;
mod prelude;
mod selection;

pub mod adaptive_avg_pool2d;
pub mod add;
pub mod addmm;
pub mod amax;
pub mod amin;
pub mod any;
pub mod arange;
pub mod argmax;
pub mod argmin;
pub mod avg_pool2d;
pub mod bmm;
pub mod cat;
pub mod constant_pad_nd;
pub mod convolution;
pub mod cumsum;
pub mod embedding;
pub mod expand_copy;
pub mod flip;
pub mod gather;
pub mod index_select;
pub mod linear;
pub mod log_softmax;
pub mod max;
pub mod max_pool2d_with_indices;
pub mod mean;
pub mod min;
pub mod mm;
pub mod native_batch_norm_legit_no_training;
pub mod native_group_norm;
pub mod native_layer_norm;
pub mod permute_copy;
pub mod relu;
pub mod repeat;
pub mod select_copy;
pub mod slice_copy;
pub mod softmax;
pub mod squeeze_copy;
pub mod stack;
pub mod sum;
pub mod t_copy;
pub mod topk;
pub mod transpose_copy;
pub mod unsqueeze_copy;
pub mod var;
pub mod view_copy;

pub use case::{Case, CaseArgument, CaseTensor, Expectation};
pub use catalogue::{OPERATORS, find, find_functional};
pub use operator::{ALL, Infer, Meta, Operator};
pub use selection::selection;
