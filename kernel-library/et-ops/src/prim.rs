//! Primitives: arithmetic on sizes, conditions, and the few operators that connect tensors with numbers.
//!
//! Numbers follow Python: integers and floating-point numbers mix, and quotients round, as in Python. A call that
//! Python refuses, such as a division by 0, is refused; integers wrap around instead of growing.

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
