//! The operator catalogue.
//!
//! The file of an operator holds its whole definition: documentation, schema, accepted dtypes, shape rule, portable
//! kernel and cases. The portable kernels serve as interpreter, as constant folder and as the reference for every
//! faster kernel. Firmware names the kernels that its program calls, with the dtypes of the calls
//! (`et_ops::relu::out::<{ types }>`), and is built without feature `catalogue`, so that no further kernel is compiled:
//! a constant of the catalogue names a kernel for every dtype, which the compiler would have to instantiate.
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
pub mod prim;
mod primitive;
mod selection;
pub mod simd;
#[cfg(feature = "catalogue")]
mod upstream;

pub mod abs;
pub mod acos;
pub mod acosh;
pub mod adaptive_avg_pool2d;
pub mod adaptive_avg_pool3d;
pub mod adaptive_max_pool2d;
pub mod adaptive_max_pool3d;
pub mod add;
pub mod addmm;
pub mod alias_copy;
pub mod amax;
pub mod amin;
pub mod any;
pub mod arange;
pub mod argmax;
pub mod argmin;
pub mod as_strided_copy;
pub mod asin;
pub mod asinh;
pub mod atan;
pub mod atan2;
pub mod atanh;
pub mod avg_pool2d;
pub mod avg_pool3d;
pub mod bitwise_and;
pub mod bitwise_left_shift;
pub mod bitwise_not;
pub mod bitwise_or;
pub mod bitwise_right_shift;
pub mod bitwise_xor;
pub mod bmm;
pub mod bucketize;
pub mod cat;
pub mod cdist_forward;
pub mod ceil;
pub mod clamp;
pub mod clone;
pub mod clone_dim_order;
pub mod conj_physical;
pub mod constant_pad_nd;
pub mod convolution;
pub mod convolution_backward;
pub mod copy;
pub mod cos;
pub mod cosh;
pub mod cumsum;
pub mod d2h_copy;
pub mod detach_copy;
pub mod diagonal_copy;
pub mod div;
pub mod elu;
pub mod embedding;
pub mod embedding_bag;
pub mod empty;
pub mod empty_dim_order;
pub mod eq;
pub mod erf;
pub mod etbuild;
pub mod exp;
pub mod expand_copy;
pub mod expm1;
pub mod fft_c2r;
pub mod fft_r2c;
pub mod fill;
pub mod flip;
pub mod floor;
pub mod floor_divide;
pub mod fmod;
pub mod full;
pub mod full_like;
pub mod gather;
pub mod ge;
pub mod gelu;
pub mod glu;
pub mod grid_sampler_2d;
pub mod group_norm;
pub mod gru;
pub mod gt;
pub mod h2d_copy;
pub mod hardsigmoid;
pub mod hardswish;
pub mod hardtanh;
pub mod index;
pub mod index_put;
pub mod index_select;
pub mod isinf;
pub mod isnan;
pub mod layer_norm;
pub mod le;
pub mod leaky_relu;
pub mod lerp;
pub mod lift_fresh_copy;
pub mod linear;
pub mod log;
pub mod log10;
pub mod log1p;
pub mod log2;
pub mod log_sigmoid;
pub mod log_softmax;
pub mod logical_and;
pub mod logical_not;
pub mod logical_or;
pub mod logical_xor;
pub mod logit;
pub mod lstm;
pub mod lt;
pub mod masked_fill;
pub mod masked_scatter;
pub mod masked_select;
pub mod max;
pub mod max_pool2d_with_indices;
pub mod max_pool2d_with_indices_backward;
pub mod max_pool3d_with_indices;
pub mod maximum;
pub mod mean;
pub mod median;
pub mod min;
pub mod minimum;
pub mod mish;
pub mod mm;
pub mod mul;
pub mod narrow_copy;
pub mod native_batch_norm_legit;
pub mod native_batch_norm_legit_no_training;
pub mod native_dropout;
pub mod native_group_norm;
pub mod native_layer_norm;
pub mod ne;
pub mod neg;
pub mod nonzero;
pub mod ones;
pub mod pdist_forward;
pub mod permute_copy;
pub mod pixel_shuffle;
pub mod pixel_unshuffle;
pub mod pow;
pub mod prod;
pub mod quantized;
pub mod rand;
pub mod randn;
pub mod reciprocal;
pub mod reflection_pad1d;
pub mod reflection_pad2d;
pub mod reflection_pad3d;
pub mod relu;
pub mod remainder;
pub mod repeat;
pub mod repeat_interleave;
pub mod replication_pad1d;
pub mod replication_pad2d;
pub mod replication_pad3d;
pub mod rms_norm;
pub mod rnn_relu;
pub mod rnn_tanh;
pub mod roll;
pub mod round;
pub mod rsqrt;
pub mod rsub;
pub mod scalar_tensor;
pub mod scaled_dot_product_attention;
pub mod scatter;
pub mod scatter_add;
pub mod select_copy;
pub mod select_scatter;
pub mod sigmoid;
pub mod sign;
pub mod silu;
pub mod sin;
pub mod sinh;
pub mod slice_copy;
pub mod slice_scatter;
pub mod softmax;
pub mod softplus;
pub mod sort;
pub mod split_copy;
pub mod split_with_sizes_copy;
pub mod sqrt;
pub mod squeeze_copy;
pub mod stack;
pub mod sub;
pub mod sum;
pub mod t_copy;
pub mod tan;
pub mod tanh;
pub mod to_copy;
pub mod to_dim_order_copy;
pub mod topk;
pub mod torchao;
pub mod transpose_copy;
pub mod tril;
pub mod triu;
pub mod trunc;
pub mod unbind_copy;
pub mod unfold_copy;
pub mod unsqueeze_copy;
pub mod upsample_bilinear2d;
pub mod upsample_bilinear2d_aa;
pub mod upsample_linear1d;
pub mod upsample_nearest1d;
pub mod upsample_nearest2d;
pub mod upsample_nearest3d;
pub mod upsample_trilinear3d;
pub mod var;
pub mod var_mean;
pub mod view_as_real_copy;
pub mod view_copy;
pub mod where_self;
pub mod zeros;

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
