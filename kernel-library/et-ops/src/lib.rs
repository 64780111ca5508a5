//! The operator catalogue.
//!
//! The file of an operator holds its whole definition: documentation, schema, accepted dtypes, shape rule, portable
//! kernel and cases. The portable kernels serve as interpreter, as constant folder and as the reference for every
//! faster kernel. A device binary names the kernels that its program calls, with the dtypes of the calls
//! (`et_ops::activations::relu::out::<{ types }>`), and is built without feature `catalogue`, so that no further kernel is
//! compiled: a constant of the catalogue names a kernel for every dtype, which the compiler would have to instantiate.
//! Each folder of operators is a feature, so that a binary compiles only the folders of its kernels.
//!
//! ```
//! use et_core::ScalarType;
//!
//! let relu = et_ops::find_functional("aten::relu").unwrap();
//! assert_eq!(relu.name(), "aten::relu.out");
//! assert!(relu.dtypes.contains(ScalarType::Float) && !relu.cases.is_empty());
//! ```
#![no_std]
// Without feature `catalogue`, items that only catalogue entries refer to are unused.
#![cfg_attr(not(feature = "catalogue"), allow(dead_code, unused_imports, unused_macros))]

#[cfg(any(test, feature = "std"))]
extern crate std;

#[cfg(feature = "std")]
pub mod call;
mod case;
#[cfg(feature = "catalogue")]
mod catalogue;
pub mod family;
pub mod math;
mod operator;
mod prelude;
mod primitive;
mod selection;
pub mod simd;
#[cfg(feature = "catalogue")]
mod upstream;

#[cfg(feature = "activations")]
pub mod activations;
#[cfg(feature = "attention")]
pub mod attention;
#[cfg(feature = "convolutions")]
pub mod convolutions;
#[cfg(feature = "creation")]
pub mod creation;
#[cfg(feature = "elementwise")]
pub mod elementwise;
#[cfg(feature = "etbuild")]
pub mod etbuild;
#[cfg(feature = "fourier")]
pub mod fourier;
#[cfg(feature = "indexing")]
pub mod indexing;
#[cfg(feature = "linalg")]
pub mod linalg;
#[cfg(feature = "normalization")]
pub mod normalization;
#[cfg(feature = "ordering")]
pub mod ordering;
#[cfg(feature = "pooling")]
pub mod pooling;
#[cfg(feature = "prim")]
pub mod prim;
#[cfg(feature = "products")]
pub mod products;
#[cfg(feature = "quantized")]
pub mod quantized;
#[cfg(feature = "recurrent")]
pub mod recurrent;
#[cfg(feature = "reductions")]
pub mod reductions;
#[cfg(feature = "resizing")]
pub mod resizing;
#[cfg(feature = "signal")]
pub mod signal;
#[cfg(feature = "special")]
pub mod special;
#[cfg(feature = "torchao")]
pub mod torchao;
#[cfg(feature = "torchvision")]
pub mod torchvision;
#[cfg(feature = "views")]
pub mod views;

pub use case::{Case, CaseArgument, CaseTensor, Expectation};
#[cfg(feature = "catalogue")]
pub use catalogue::{OPERATORS, find, find_functional, find_kernel};
pub use operator::{ALL, Infer, Meta, Operator, Outs};
#[cfg(feature = "catalogue")]
pub use prim::{PRIMITIVES, find_primitive};
pub use primitive::{Primitive, PrimitiveCase, PrimitiveResult};
pub use selection::selection;
#[cfg(feature = "catalogue")]
pub use upstream::has_upstream;
