//! The operator catalogue.
//!
//! One file per operator holds everything that etbuild knows about it: documentation, schema, accepted types, shape rule,
//! portable kernel and cases. The portable kernel is the interpreter, the constant folder and the oracle of every
//! faster one. Firmware names the kernels that its program calls, with the types that it calls them on
//! (`et_ops::relu::out::<{ types }>`) and is built without feature `catalogue`, so that nothing else is even compiled.
#![no_std]

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
pub mod prim;
mod primitive;
mod selection;

pub mod abs;
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
pub mod bitwise_and;
pub mod bitwise_not;
pub mod bitwise_or;
pub mod bitwise_xor;
pub mod bmm;
pub mod cat;
pub mod ceil;
pub mod clamp;
pub mod clone;
pub mod clone_dim_order;
pub mod constant_pad_nd;
pub mod convolution;
pub mod copy;
pub mod cos;
pub mod cumsum;
pub mod div;
pub mod elu;
pub mod embedding;
pub mod eq;
pub mod erf;
pub mod exp;
pub mod expand_copy;
pub mod fill;
pub mod flip;
pub mod floor;
pub mod full;
pub mod full_like;
pub mod gather;
pub mod ge;
pub mod gelu;
pub mod gt;
pub mod hardtanh;
pub mod index_select;
pub mod isinf;
pub mod isnan;
pub mod le;
pub mod leaky_relu;
pub mod linear;
pub mod log;
pub mod log_softmax;
pub mod logical_and;
pub mod logical_not;
pub mod logical_or;
pub mod logical_xor;
pub mod lt;
pub mod max;
pub mod max_pool2d_with_indices;
pub mod maximum;
pub mod mean;
pub mod min;
pub mod minimum;
pub mod mm;
pub mod mul;
pub mod native_batch_norm_legit_no_training;
pub mod native_group_norm;
pub mod native_layer_norm;
pub mod ne;
pub mod neg;
pub mod permute_copy;
pub mod pow;
pub mod reciprocal;
pub mod relu;
pub mod repeat;
pub mod round;
pub mod rsqrt;
pub mod rsub;
pub mod select_copy;
pub mod sigmoid;
pub mod sign;
pub mod sin;
pub mod slice_copy;
pub mod softmax;
pub mod sqrt;
pub mod squeeze_copy;
pub mod stack;
pub mod sub;
pub mod sum;
pub mod t_copy;
pub mod tanh;
pub mod to_copy;
pub mod to_dim_order_copy;
pub mod topk;
pub mod transpose_copy;
pub mod trunc;
pub mod unsqueeze_copy;
pub mod var;
pub mod view_copy;
pub mod where_self;

pub use case::{Case, CaseArgument, CaseTensor, Expectation};
#[cfg(feature = "catalogue")]
pub use catalogue::{OPERATORS, find, find_functional, find_kernel};
pub use operator::{ALL, Infer, Meta, Operator};
#[cfg(feature = "catalogue")]
pub use prim::{PRIMITIVES, find_primitive};
pub use primitive::{Primitive, PrimitiveCase, PrimitiveResult};
pub use selection::selection;
