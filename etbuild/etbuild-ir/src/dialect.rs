//! Dialects, and programs that are known to be of one.

use std::fmt;
use std::marker::PhantomData;

use crate::Program;

mod aten;
mod core_aten;
mod edge;
mod structure;

pub use aten::Aten;
pub use core_aten::CoreAten;
pub(crate) use edge::plain_argument;
pub use edge::{Edge, Lowered};

/// A rule for what a program may contain.
pub trait Dialect {
    /// The name in printed programs.
    const NAME: &'static str;
    /// Everything in the program that the dialect does not allow. Structure has been checked before.
    fn violations(program: &Program) -> Vec<Violation>;
}

/// A program of dialect `D`: only [`Verified::verify`] makes one.
pub struct Verified<D> {
    program: Program,
    dialect: PhantomData<fn() -> D>,
}

/// A program as captured: any operator of ATen, in its functional form.
pub type AtenProgram = Verified<Aten>;
/// A program of the canonical operators only.
pub type CoreAtenProgram = Verified<CoreAten>;
/// A program of the kernel catalogue's operators only, with every type as the catalogue infers it.
pub type EdgeProgram = Verified<Edge>;
/// An Edge program whose partitions have been carved out.
pub type LoweredProgram = Verified<Lowered>;

/// Something that a program must not contain.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("method `{method}`, {place}: {reason}")]
pub struct Violation {
    /// The method.
    pub method: String,
    /// The node's operator or the value's name.
    pub place: String,
    /// What is wrong, as a sentence without a full stop.
    pub reason: String,
}

impl<D: Dialect> Verified<D> {
    /// Checks the program's structure and the dialect's rules.
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

    /// The program, to change; it must be verified again.
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

/// Asks `judge` about every node; what it answers is a reason why the node is not allowed.
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

/// Judges the nodes of a graph and of the graphs that they run.
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

/// Asks `judge` about the operator of every node.
fn operators(program: &Program, judge: impl Fn(&crate::OperatorName) -> Option<String>) -> Vec<Violation> {
    nodes(program, |_, node| judge(&node.operator))
}
