//! Finalized graphs of context binaries, which are executed.

use core::ptr::null_mut;
use std::sync::Arc;

use et_problem::Outcome;

use super::abi::{self, Handle, function, signature};
use super::context::Context;
use super::library::check;
use super::tensor::{Bound, Kind, text};

/// A finalized graph with its context.
pub struct Executable {
    context: Arc<Context>,
    graph: Handle,
}

impl Executable {
    /// The graph of a context binary.
    ///
    /// # Errors
    /// No graph of this name.
    pub fn retrieve(context: Arc<Context>, name: &str) -> Outcome<Self> {
        let name = text(name)?;
        let retrieve: signature::Retrieve = context.device.library.function(function::GRAPH_RETRIEVE)?;
        let mut graph = null_mut();
        // SAFETY: the context is open, and the name outlives the call; the function writes a handle.
        let status = unsafe { retrieve(context.handle, name.as_ptr(), &mut graph) };
        check(status, "find the graph in the context binary")?;
        Ok(Self { context, graph })
    }

    /// Executes the graph.
    ///
    /// # Safety
    /// `data` of each tensor points to `bytes` bytes, of which those of outputs are writable and unshared, for the time of the call.
    ///
    /// # Errors
    /// The library's.
    pub unsafe fn execute(&self, inputs: &[Bound<'_>], outputs: &[Bound<'_>]) -> Outcome<()> {
        let inputs: Vec<abi::Tensor> = inputs.iter().map(|bound| bound.tensor(Kind::Input)).collect();
        let mut outputs: Vec<abi::Tensor> = outputs.iter().map(|bound| bound.tensor(Kind::Output)).collect();
        let execute: signature::Execute = self.context.device.library.function(function::GRAPH_EXECUTE)?;
        let (count, results) = (inputs.len() as u32, outputs.len() as u32);
        let (inputs, outputs) = (inputs.as_ptr(), outputs.as_mut_ptr());
        // SAFETY: the graph is finalized and its context open, and the lists have the stated lengths; the caller answers for the memory.
        let status = unsafe { execute(self.graph, inputs, count, outputs, results, null_mut(), null_mut()) };
        check(status, "execute the graph")
    }
}
