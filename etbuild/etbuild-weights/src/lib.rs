//! Stored weights: the forms of quantized matrices in checkpoints, decoded to numbers or to integers with scales, and the other loops over
//! elements of weights.
//!
//! A release compiles this crate for speed, and the crates that read configurations and graphs fast. A loop over the elements of a weight is
//! therefore here, in a function that is not generic: the crate that calls a generic function compiles it. Sizes are checked by the callers,
//! which know the names of tensors; elements beyond the end of a file are zeros.
//!
//! ```
//! use etbuild_weights::{Decoded, Derived, Want, gguf};
//!
//! // A block of Q8_0: the scale 1 in half precision, and 32 bytes.
//! let file: Vec<u8> = [0x00, 0x3c].into_iter().chain(0..32).collect();
//! let format = gguf::all().find(|format| format.name == "Q8_0").unwrap();
//! let matrix = gguf::matrix(format, std::sync::Arc::new(file), 0, [1, 32]);
//! let mut bytes = Vec::new();
//! Decoded { matrix: &matrix, rows: 0..1, want: Want::Numbers }.run(&mut |piece| bytes.extend_from_slice(piece));
//! assert_eq!(bytes[4 * 31..], 31_f32.to_le_bytes());
//! ```

#![deny(clippy::iter_over_hash_type, reason = "the order of a hash map reaches no result")]

mod affine;
mod angles;
mod codes;
mod derived;
mod encoded;
mod fp8;
pub mod gguf;
pub mod integers;
mod lanes;
mod mxfp4;
pub mod reals;
mod rotated;
mod rotation;
mod small_floats;
pub mod strided;
mod tensor;
pub mod transposed;

pub use affine::{Affine, Packing, Zeros};
pub use angles::angles;
pub use codes::{Codes, Nested};
pub use derived::{Derived, InMemory, Keeper};
pub use encoded::{Decoded, Encoded, Form, Grid, Joined, Split, Want};
pub use fp8::Fp8;
pub use lanes::Lanes;
pub use mxfp4::Mxfp4;
pub use rotated::Rotated;
pub use rotation::{Rotation, Space};
pub use tensor::Tensor;
