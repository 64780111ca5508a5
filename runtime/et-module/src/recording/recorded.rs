//! The events of executions as data.

use std::borrow::Cow;
use std::collections::BTreeMap;

use et_runtime::Position;

use crate::Array;

/// The events of executions. Times are in nanoseconds since the start of the recorder.
#[derive(Debug, Default, PartialEq)]
pub struct Recording {
    /// The methods, in the order of their first execution.
    pub methods: Vec<MethodFacts>,
    /// The executions.
    pub runs: Vec<Run>,
    /// The tasks of the threads of backends.
    pub tasks: Vec<Task>,
    /// The names of the threads; the first is the caller's.
    pub threads: Vec<String>,
    /// Events and tasks beyond the limit.
    pub left_out: usize,
}

/// What is known about the instructions of a method.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MethodFacts {
    /// The name.
    pub name: String,
    /// The callees, by chain and instruction.
    pub callees: BTreeMap<(u32, u32), String>,
    /// The bytes of the results of an instruction's first execution, by chain, instruction and step.
    pub bytes: BTreeMap<(u32, u32, Option<u32>), usize>,
}

/// An execution of a method.
#[derive(Debug, PartialEq)]
pub struct Run {
    /// The method.
    pub method: usize,
    /// The begin.
    pub begin: u64,
    /// The end.
    pub end: u64,
    /// The instructions in the order of their ends: those of a delegate before the call of the delegate.
    pub events: Vec<Event>,
}

/// An executed instruction.
#[derive(Debug, PartialEq)]
pub struct Event {
    /// The instruction of the method.
    pub at: Position,
    /// The number and the kind of an instruction of a delegate; `None` for the instruction of the method.
    pub step: Option<(u32, Cow<'static, str>)>,
    /// The begin.
    pub begin: u64,
    /// The end.
    pub end: u64,
    /// The tensors that a kernel has written, if kept.
    pub results: Vec<Array>,
    /// The memory that an instruction of a delegate has written, if kept, in the layout of the backend.
    pub memory: Vec<Vec<u8>>,
}

/// A task of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Task {
    /// The thread.
    pub thread: usize,
    /// The begin.
    pub begin: u64,
    /// The end.
    pub end: u64,
}
