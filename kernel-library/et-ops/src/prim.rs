//! Primitives: arithmetic on sizes, conditions, and the few operators that connect tensors with numbers.
//!
//! The numbers are Python's: integers and floating-point numbers mix as they do there, and quotients round as they do there.
//! What Python refuses, such as a quotient by 0, is refused; integers wrap around where Python's grow.

pub mod arithmetic;
pub mod compare;
pub mod copy_index;
pub mod integer;
#[cfg(feature = "catalogue")]
mod list;
pub mod logic;
mod number;
pub mod quotient;
pub mod size;
pub mod view;

#[cfg(feature = "catalogue")]
pub use list::{PRIMITIVES, find_primitive};
