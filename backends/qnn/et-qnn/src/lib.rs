//! The NPU delegate: executes a partition as a context binary of Qualcomm's compiler.
//!
//! The vendor's library `libQnnHtp.so` is loaded at run time: from the kit that `QNN_SDK_ROOT` names, else from where the
//! system finds libraries. A [`Blob`] holds the context binary and the graph's tensors; a delegate call executes the graph on the memory of
//! the call's tensors. [`build`] makes context binaries on a build machine.

#[allow(unsafe_code)]
mod api;
mod blob;
pub mod build;
mod delegate;
mod session;
mod soc;
mod tokens;

pub use api::abi::ScaleOffset;
pub use blob::{ALL_ROWS, Binding, Blob, Header, MAGIC, Port, Ports, Ring, Role, SizedPort, Span, VERSION, graph_name};
pub use delegate::delegate;
pub use et_problem::{Outcome, Problem, problem};
pub use session::Session;
pub use soc::{SOCS, Soc, soc};

/// The delegate id in program files.
pub const ID: &str = "EtbuildQnn";
