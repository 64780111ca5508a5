//! Dialects, and programs that a verifier has checked.

use std::fmt;
use std::marker::PhantomData;

use crate::Program;

mod aten;
mod core_aten;
mod edge;
mod structure;

pub use aten::Aten;
pub use core_aten::CoreAten;
pub use edge::{Edge, Lowered};

/// A set of rules for programs.
pub trait Dialect {
    /// The name in printed programs.
    const NAME: &'static str;
    /// The violations of the dialect's rules. Only called for programs with a valid structure.
    fn violations(program: &Program) -> Vec<Violation>;
}

/// A program of dialect `D`. [`Verified::verify`] is the only constructor.
pub struct Verified<D> {
    program: Program,
    dialect: PhantomData<fn() -> D>,
}

/// A captured program: any ATen operator in functional form.
pub type AtenProgram = Verified<Aten>;
/// A program of Core ATen operators.
pub type CoreAtenProgram = Verified<CoreAten>;
/// A program of operators in the kernel catalogue, with the types and shapes that the catalogue infers.
pub type EdgeProgram = Verified<Edge>;
/// An Edge program after partitioning, with control flow as jumps.
pub type LoweredProgram = Verified<Lowered>;

/// A violation of the rules of a dialect.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("method `{method}`, {place}: {reason}")]
pub struct Violation {
    /// The method.
    pub method: String,
    /// The operator of the node, or the name of the value.
    pub place: String,
    /// The reason, without a full stop.
    pub reason: String,
}

impl<D: Dialect> Verified<D> {
    /// Checks the structure of the program and the rules of the dialect.
    pub fn verify(program: Program) -> Result<Self, Vec<Violation>> {
        let mut violations = structure::violations(&program);
        if violations.is_empty() {
            violations = D::violations(&program);
        }
        if violations.is_empty() { Ok(Self { program, dialect: PhantomData }) } else { Err(violations) }
    }

    /// The program.
    pub const fn program(&self) -> &Program {
        &self.program
    }

    /// The program, for changes. The changed program must be verified again.
    pub fn into_program(self) -> Program {
        self.program
    }
}

impl<D> Clone for Verified<D> {
    fn clone(&self) -> Self {
        Self { program: self.program.clone(), dialect: PhantomData }
    }
}

impl<D> PartialEq for Verified<D> {
    fn eq(&self, other: &Self) -> bool {
        self.program == other.program
    }
}

impl<D: Dialect> fmt::Debug for Verified<D> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} {:?}", D::NAME, self.program)
    }
}

/// Calls `judge` for every node; a returned text is the reason of a violation.
fn nodes(program: &Program, judge: impl Fn(&crate::Graph, &crate::Node) -> Option<String>) -> Vec<Violation> {
    let mut found = Vec::new();
    for (method, graph) in &program.methods {
        let mut report = |node: &crate::Node, reason| {
            found.push(Violation { method: method.clone(), place: node.operator.to_string(), reason });
        };
        visit(graph, &judge, &mut report);
    }
    found
}

/// Judges the nodes of a graph and of nested graphs.
fn visit(
    graph: &crate::Graph,
    judge: &impl Fn(&crate::Graph, &crate::Node) -> Option<String>,
    report: &mut impl FnMut(&crate::Node, String),
) {
    for node in &graph.nodes {
        if let Some(reason) = judge(graph, node) {
            report(node, reason);
        }
        node.graphs().for_each(|graph| visit(graph, judge, report));
    }
}

/// Calls `judge` for the operator of every node.
fn operators(program: &Program, judge: impl Fn(&crate::OperatorName) -> Option<String>) -> Vec<Violation> {
    nodes(program, |_, node| judge(&node.operator))
}
