//! Graphs of TOSA 1.0, profile INT: the input of Arm's compiler for Ethos-U.
//!
//! TOSA is a public specification: <https://www.mlplatform.org/tosa/tosa_spec.html>. A graph has tensors and operators in order. Every
//! operator is a file of [`operation`] with its attributes and its arithmetic; [`write()`] makes the file format of a graph.

mod array;
mod fields;
mod graph;
pub mod operation;
mod text;
mod write;

pub use array::Array;
pub use fields::{Code, Field, Kind};
pub use graph::{Graph, Operator, Tensor, TensorId};
pub use operation::Operation;
pub use write::write;
