//! Building context binaries, with the library of this machine.

pub use crate::api::context::Context;
pub use crate::api::device::{Device, open};
pub use crate::api::graph::{Created, Graph, OperationSpec, Parameter};
pub use crate::api::library::{FILE, FOLDERS, ROOT, kit};
pub use crate::api::tensor::{DataType, Kind, Quantization, TensorSpec};
