//! Lowerings of custom operators: the calls of torch's operators that compute what a custom operator computes, as a crate states them.
//!
//! A line is a call: `y = aten::mul.Tensor(x, gate)`, or `return aten::sigmoid(y)`. Arguments are those of the custom operator, results of
//! earlier lines, and literals of Python.

mod parse;

pub use parse::parse;

use etbuild_ir::{Argument, OperatorName};

use crate::schema::Parameter;

/// A mistake in a lowering.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoweringMistake {
    /// The index of the line; that of the last line for a mistake of the whole.
    pub line: usize,
    /// The reason, as a sentence without a full stop.
    pub reason: String,
}

/// A lowering that was read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lowering<'l> {
    /// The calls in order.
    pub steps: Vec<Step<'l>>,
    /// The names of the results.
    pub results: Vec<Name<'l>>,
}

/// A call.
#[derive(Clone, Debug, PartialEq)]
pub struct Step<'l> {
    /// The index of the line.
    pub line: usize,
    /// The operator.
    pub operator: OperatorName,
    /// An argument for each parameter.
    pub arguments: Vec<Given<'l>>,
    /// The parameters.
    pub parameters: Vec<Parameter<'static>>,
    /// The names of the results, or of the first ones.
    pub names: Vec<Name<'l>>,
}

/// The name of an argument of the custom operator or of a result.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Name<'l> {
    /// As written.
    Written(&'l str),
    /// The result of the call behind `return`, with the index.
    Returned(usize),
}

/// An argument.
#[derive(Clone, Debug, PartialEq)]
pub enum Given<'l> {
    /// A named value.
    Name(Name<'l>),
    /// A list with named values.
    List(Vec<Given<'l>>),
    /// A literal, or a default.
    Literal(Argument),
}
