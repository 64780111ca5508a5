//! A program file with the loaded methods.
#![allow(unsafe_code, reason = "promises that the parts of a program stay together")]

use std::rc::Rc;

use et_module::{DataFiles, Engines, FileBytes, Module, is_bundled, program_in};

use crate::describe::{self, MethodFacts};
use crate::kernels::KernelSource;
use crate::sharing::sharing;
use crate::{Error, Method};

/// A program file with the methods that were loaded. A program moves between threads; one thread at a time runs a method.
pub struct Program {
    file: Rc<FileBytes>,
    data: DataFiles,
    kernels: KernelSource,
    engines: Engines,
    methods: Vec<Loaded>,
}

/// A loaded method.
struct Loaded {
    name: String,
    module: Module,
}

// SAFETY: the counters (the file and the data files, and the arena that methods share) have their holders in this struct alone: no
// function gives a module out, and `Method` borrows the struct. Cells and pointers of methods and delegates lead to memory that the
// methods own. No data belongs to a thread: the thread pool takes calls from any thread.
unsafe impl Send for Program {}

impl Program {
    /// A program of which no method is loaded.
    pub(crate) fn new(
        file: FileBytes,
        data: DataFiles,
        kernels: KernelSource,
        engines: Engines,
    ) -> Result<Self, Error> {
        let program = Self { file: Rc::new(file), data, kernels, engines, methods: Vec::new() };
        // A file that is no program is refused here, and not at its first method.
        program.method_names()?;
        Ok(program)
    }

    /// The names of the methods, in the order of the file.
    ///
    /// # Errors
    /// A malformed file.
    pub fn method_names(&self) -> Result<Vec<String>, Error> {
        Ok(describe::names(self.read()?.file())?)
    }

    /// Whether the file is a bundled program, which has test cases.
    pub fn is_bundled(&self) -> bool {
        is_bundled(&self.file)
    }

    /// The names and types of a method's inputs and outputs.
    ///
    /// # Errors
    /// A malformed file, or a file without the method.
    pub fn describe(&self, method: &str) -> Result<MethodFacts, Error> {
        Ok(MethodFacts::read(&self.file, method)?)
    }

    /// The method of this name, which is loaded at the first call. Methods with common state are loaded together, because loading
    /// writes the first values.
    ///
    /// # Errors
    /// A program without the method; operators without kernels, blobs without backends; a malformed file.
    pub fn method(&mut self, name: &str) -> Result<Method<'_>, Error> {
        let index = self.load(name)?;
        let missing = || Error::Argument(format!("the method {name} is not loaded"));
        self.loaded(index).ok_or_else(missing)
    }

    /// The method of this number, if it is loaded: the numbers count the methods in the order of their loads.
    pub fn loaded(&mut self, index: usize) -> Option<Method<'_>> {
        self.methods.get_mut(index).map(|loaded| Method::new(&mut loaded.module))
    }

    /// Loads a method, unless the method is loaded; returns the number of the method.
    ///
    /// # Errors
    /// As [`Self::method`].
    pub fn load(&mut self, name: &str) -> Result<usize, Error> {
        if let Some(index) = self.position(name) {
            return Ok(index);
        }
        self.load_together(&sharing(&self.read()?, name)?)?;
        match self.position(name) {
            Some(index) => Ok(index),
            None => self.add(name, None).map(|()| self.methods.len() - 1),
        }
    }

    /// Loads all methods with common state or none: a method that is loaded beside others begins with the first values of their state.
    fn load_together(&mut self, sharing: &[String]) -> Result<(), Error> {
        let loaded = self.methods.len();
        for name in sharing {
            if let Err(error) = self.add(name, Some(loaded)) {
                self.methods.truncate(loaded);
                return Err(error);
            }
        }
        Ok(())
    }

    fn read(&self) -> Result<et_runtime::Program<'_>, Error> {
        Ok(et_runtime::Program::new(program_in(&self.file)?)?)
    }

    fn position(&self, name: &str) -> Option<usize> {
        self.methods.iter().position(|method| method.name == name)
    }

    /// Adds a method, with the state of the method number `beside` if that is loaded.
    fn add(&mut self, name: &str, beside: Option<usize>) -> Result<(), Error> {
        let file = FileBytes::shared(&self.file);
        let data = self.data.clone();
        let kernels = self.kernels.kernels();
        let module = match beside.and_then(|index| self.methods.get(index)) {
            Some(first) => first.module.load_beside(file, data, name, kernels, &self.engines)?,
            None => Module::load_method(file, data, name, kernels, &self.engines)?,
        };
        self.methods.push(Loaded { name: name.to_owned(), module: named(module).with_only_results() });
        Ok(())
    }
}

impl std::fmt::Debug for Program {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Program")
            .field("file", &self.file)
            .field("engines", &self.engines)
            .finish_non_exhaustive()
    }
}

/// The module with the names of inputs that the file has.
fn named(module: Module) -> Module {
    let names = module.stored_input_names().unwrap_or_default();
    module.with_input_names(&names.iter().map(String::as_str).collect::<Vec<_>>())
}

/// Bytes that begin at a multiple of 64, for program files that are part of the binary:
/// `static FILE: Aligned<{ include_bytes!("model.pte").len() }> = Aligned(*include_bytes!("model.pte"));`.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Aligned<const N: usize>(pub [u8; N]);
