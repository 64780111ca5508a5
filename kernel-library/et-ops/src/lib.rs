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

pub mod add;
pub mod relu;

pub use case::{Case, CaseArgument, CaseTensor, Expectation};
pub use catalogue::{OPERATORS, find, find_functional};
pub use operator::{ALL, Infer, Meta, Operator};
