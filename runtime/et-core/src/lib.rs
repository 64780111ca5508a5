//! The shared types of device crates: scalar types, shapes, tensors, values, errors and the kernel signature.
//!
//! No allocation, no dependency, no platform. A tensor's memory may be read-only (a constant in flash) and may overlap
//! another tensor's memory (planned arenas reuse bytes), so no Rust reference points into tensor memory: kernels use
//! [`Input`] and [`Output`], bounds-checked views that load and store single elements.
//! ```
//! use et_core::{Dtypes, ScalarType, Shape};
//!
//! let shape = Shape::new(&[2, 3, 4])?;
//! assert_eq!((shape.numel()?, shape.axis(-1)?), (24, 2));
//! assert!(Dtypes::of(&[ScalarType::Float, ScalarType::Long]).contains(ScalarType::Long));
//! # Ok::<(), et_core::Error>(())
//! ```
#![no_std]

#[cfg(test)]
extern crate std;

mod args;
mod complex;
mod dim_order;
mod element;
mod error;
mod half;
mod list;
mod plain;
mod promise;
mod scalar_type;
mod shape;
mod storage;
mod tensor;
mod text;
mod value;
mod view;

pub use args::{Args, Ints, Kernel, Scalar};
pub use complex::{Complex, Part};
pub use dim_order::DimOrder;
pub use element::{Element, Float, Number};
pub use error::Error;
pub use half::{BFloat16, Half};
pub use list::{Doubles, Indices, Longs};
pub use plain::Plain;
pub use promise::{ROW_MAJOR, STATIC_SHAPES};
pub use scalar_type::{Dtypes, ScalarType};
pub use shape::{MAX_RANK, Shape};
pub use storage::Storage;
pub use tensor::{Access, Tensor, TensorLayout};
pub use text::ascii;
pub use value::Value;
pub use view::{Aligned, Input, Output};

/// The result of a fallible operation on a device.
pub type Result<T> = core::result::Result<T, Error>;
