//! A program with what Python remembers of the loaded methods.
#![allow(unsafe_code)] // Promises that the parts of a program stay together.

use std::sync::Arc;

use et_core::Shape;
use et_module::recording::Recorder;
use etbuild_run::{Error, Method, Program};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::exclusive::Whole;
use crate::library::Library;

/// A program file with the loaded methods.
pub struct Loaded {
    pub program: Program,
    /// The observer of the executions, for an ETDump.
    pub recorder: Option<Arc<Recorder>>,
    /// A row per loaded method.
    memories: Vec<Memory>,
}

/// What Python remembers of a method between calls.
pub struct Memory {
    /// The library of the inputs that were set last.
    pub library: Option<Library>,
    /// The arguments of `numpy.empty` for each output, with the shape that the arguments are for.
    pub arrays: Vec<Option<(Shape, Py<PyTuple>)>>,
}

/// A loaded method.
pub struct LoadedMethod<'l> {
    pub method: Method<'l>,
    pub recorder: Option<&'l Recorder>,
    pub memory: &'l mut Memory,
}

// SAFETY: programs and references to Python's objects move between threads.
unsafe impl Whole for Loaded {}

impl Loaded {
    pub const fn new(program: Program, recorder: Option<Arc<Recorder>>) -> Self {
        Self { program, recorder, memories: Vec::new() }
    }

    pub fn method(&mut self, index: usize) -> Option<LoadedMethod<'_>> {
        let memory = self.memories.get_mut(index)?;
        let recorder = self.recorder.as_deref();
        self.program.loaded(index).map(|method| LoadedMethod { method, recorder, memory })
    }

    /// Loads a method, unless the method is loaded; returns the number of the method.
    pub fn load(&mut self, name: &str) -> Result<usize, Error> {
        let index = self.program.load(name)?;
        while let Some(method) = self.program.loaded(self.memories.len()) {
            let arrays = (0..method.output_count()?).map(|_| None).collect();
            self.memories.push(Memory { library: None, arrays });
        }
        Ok(index)
    }
}
