//! The intermediate representation: programs as graphs of operators.
//!
//! A [`Program`] has named methods, each a [`Graph`]: values, and nodes in execution order. A dialect limits the
//! operators and types of a program, and only the verifier of a dialect constructs the type that later stages accept:
//! [`AtenProgram`] as captured, [`CoreAtenProgram`] after decomposition, [`EdgeProgram`] with a kernel for every
//! operator and explicit types, [`LoweredProgram`] after partitioning, [`PlannedProgram`] with a memory plan.

#![deny(clippy::iter_over_hash_type, reason = "the order of a hash map reaches no result")]

mod adapter;
mod at_sizes;
mod compact;
mod constant;
pub mod control;
mod delegate_call;
mod dialect;
mod evaluate;
mod graph;
mod id;
mod in_place;
mod interpret;
mod kernel_call;
mod lifetime;
mod links;
mod name;
mod plan;
mod quantization;
mod result_specs;
mod spec;
pub mod text;

pub use adapter::{adapter_name, is_of_adapter};
pub use at_sizes::at_sizes;
pub use compact::compact;
pub use constant::{Buffer, ConstantData, Digest};
pub use control::Control;
pub use delegate_call::DelegateCall;
pub use dialect::{
    Aten, AtenProgram, CoreAten, CoreAtenProgram, Dialect, Edge, EdgeProgram, Lowered, LoweredProgram, Verified,
    Violation,
};
pub use evaluate::{evaluate, evaluate_constant};
pub use graph::{Argument, Graph, Interval, MemoryFormat, Node, Program, Size, SymbolicSize, Update, Value, ValueKind};
pub use id::{IdMap, ValueId};
pub use in_place::{in_place, stepped_states};
pub use interpret::{Interruption, interpret};
pub use lifetime::{Lifetime, lifetimes};
pub use links::Links;
pub use name::OperatorName;
pub use plan::{Allocation, Arena, MemoryPlan, PlannedProgram, aliases, copied_updates, is_elided};
pub use quantization::{DequantizeAffine, PerTensor};
pub use result_specs::ResultRule;
pub use spec::TensorSpec;
