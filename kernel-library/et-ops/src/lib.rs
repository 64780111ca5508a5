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

pub mod abs;
pub mod add;
pub mod bitwise_and;
pub mod bitwise_not;
pub mod bitwise_or;
pub mod bitwise_xor;
pub mod ceil;
pub mod clamp;
pub mod clone;
pub mod clone_dim_order;
pub mod copy;
pub mod cos;
pub mod div;
pub mod elu;
pub mod eq;
pub mod erf;
pub mod exp;
pub mod fill;
pub mod floor;
pub mod full;
pub mod full_like;
pub mod ge;
pub mod gelu;
pub mod gt;
pub mod hardtanh;
pub mod isinf;
pub mod isnan;
pub mod le;
pub mod leaky_relu;
pub mod log;
pub mod logical_and;
pub mod logical_not;
pub mod logical_or;
pub mod logical_xor;
pub mod lt;
pub mod maximum;
pub mod minimum;
pub mod mul;
pub mod ne;
pub mod neg;
pub mod pow;
pub mod reciprocal;
pub mod relu;
pub mod round;
pub mod rsqrt;
pub mod rsub;
pub mod sigmoid;
pub mod sign;
pub mod sin;
pub mod sqrt;
pub mod sub;
pub mod tanh;
pub mod to_copy;
pub mod to_dim_order_copy;
pub mod trunc;
pub mod where_self;

pub use case::{Case, CaseArgument, CaseTensor, Expectation};
pub use catalogue::{OPERATORS, find, find_functional};
pub use operator::{ALL, Infer, Meta, Operator};
