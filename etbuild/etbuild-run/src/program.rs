//! A program file with the loaded methods.
#![allow(unsafe_code, reason = "promises that the parts of a program stay together")]

use std::path::{Path, PathBuf};
use std::rc::Rc;

use et_module::{DataFiles, Engine, Engines, FileBytes, Module, checked_threads, is_bundled, program_in};

use crate::describe::{self, MethodFacts};
use crate::kernels::KernelSource;
use crate::{Error, Method};

/// How a program file is loaded.
///
/// ```no_run
/// let mut program = etbuild_run::Loader::new().threads(2).data("weights.ptd").open("model.pte")?;
/// let forward = program.method("forward")?;
/// println!("{:?}", forward.input_names());
/// # Ok::<(), etbuild_run::Error>(())
/// ```
#[derive(Debug)]
pub struct Loader {
    kernels: KernelSource,
    engines: &'static [Engine],
    threads: usize,
    data: Vec<Source>,
    #[cfg(feature = "text")]
    guesses_from_text: bool,
}

#[derive(Debug)]
enum Source {
    Path(PathBuf),
    Bytes(FileBytes),
}

/// The data files, of which each tensor is in one.
fn opened(sources: Vec<Source>) -> Result<Vec<Rc<FileBytes>>, Error> {
    let path = |source: &Source| match source {
        Source::Path(path) => Some(path.clone()),
        Source::Bytes(_) => None,
    };
    DataFiles::open(&sources.iter().filter_map(path).collect::<Vec<PathBuf>>())?;
    Ok(sources.into_iter().map(|source| source.open().map(Rc::new)).collect::<Result<_, _>>()?)
}

impl Source {
    fn open(self) -> Result<FileBytes, et_module::Error> {
        match self {
            Self::Path(path) => FileBytes::open(&path),
            Self::Bytes(bytes) => Ok(bytes),
        }
    }
}

#[cfg(feature = "catalogue")]
impl Default for Loader {
    fn default() -> Self {
        Self::new()
    }
}

impl Loader {
    /// The kernels of all operators and the backends of all features, for any program file.
    #[cfg(feature = "catalogue")]
    pub const fn new() -> Self {
        Self::with(KernelSource::Catalogue, crate::backends::ALL)
    }

    /// These kernels and backends: generated code calls this function.
    pub const fn with(kernels: KernelSource, engines: &'static [Engine]) -> Self {
        Self {
            kernels,
            engines,
            threads: 0,
            data: Vec::new(),
            #[cfg(feature = "text")]
            guesses_from_text: false,
        }
    }

    /// The most threads of the backends, the caller's thread included, up to 256; 0, the default, is one for each physical core, at
    /// most 16.
    #[must_use]
    pub const fn threads(mut self, threads: usize) -> Self {
        self.threads = threads;
        self
    }

    /// A data file (`.ptd`) with tensors of the program, which is mapped.
    #[must_use]
    pub fn data(mut self, path: impl Into<PathBuf>) -> Self {
        self.data.push(Source::Path(path.into()));
        self
    }

    /// The bytes of a data file.
    #[must_use]
    pub fn data_bytes(mut self, bytes: &[u8]) -> Self {
        self.data.push(Source::Bytes(FileBytes::copied(bytes)));
        self
    }

    /// Maps a program file.
    ///
    /// # Errors
    /// A file that cannot be read or is no program file; too many threads.
    pub fn open(self, path: impl AsRef<Path>) -> Result<Program, Error> {
        let file = FileBytes::open(path.as_ref())?;
        self.load(file)
    }

    /// Copies a program file from bytes.
    ///
    /// # Errors
    /// Bytes that are no program file; a data file that cannot be read; too many threads.
    pub fn copy(self, bytes: &[u8]) -> Result<Program, Error> {
        self.load(FileBytes::copied(bytes))
    }

    /// Uses a program file that is part of the binary in place; weights must begin at multiples of 64 bytes, as in [`Aligned`].
    ///
    /// # Errors
    /// As [`Self::copy`].
    pub fn embedded(self, bytes: &'static [u8]) -> Result<Program, Error> {
        self.load(FileBytes::embedded(bytes))
    }

    fn load(self, file: FileBytes) -> Result<Program, Error> {
        let threads = checked_threads(self.threads).map_err(Error::Argument)?;
        let data = opened(self.data)?;
        let engines = Engines::new(self.engines, threads);
        let program = Program { file: Rc::new(file), data, kernels: self.kernels, engines, methods: Vec::new() };
        // A file that is no program is refused here, and not at its first method.
        program.method_names()?;
        Ok(program)
    }
}

#[cfg(feature = "text")]
impl Loader {
    /// Lets a language model guess tokens from its text, and verify several in one call: needs a program with `export.speculate`.
    #[must_use]
    pub const fn guess_from_text(mut self) -> Self {
        self.guesses_from_text = true;
        self
    }

    pub(crate) const fn guesses_from_text(&self) -> bool {
        self.guesses_from_text
    }

    /// The parts of a language model by the features, and what opens the data files.
    pub(crate) fn language<'g>(
        self,
        guesses: Option<&'g et_llm::Guesses>,
    ) -> Result<(et_llm::Loading<'g>, impl Fn() -> Result<DataFiles, et_module::Error>), Error> {
        let loading = et_llm::Loading {
            kernels: self.kernels.kernels(),
            engines: self.engines,
            threads: checked_threads(self.threads).map_err(Error::Argument)?,
            guesses,
            text: Some(et_text::make),
            #[cfg(feature = "constrain")]
            constrain: Some(et_constrain::make),
            #[cfg(not(feature = "constrain"))]
            constrain: None,
            #[cfg(feature = "media")]
            vision: Some(et_llm::Vision { open: et_vision::open, read: et_media::tiles }),
            #[cfg(not(feature = "media"))]
            vision: None,
            #[cfg(feature = "media")]
            hearing: Some(et_llm::Hearing { open: et_hearing::open, read: et_media::sound }),
            #[cfg(not(feature = "media"))]
            hearing: None,
            observer: None,
        };
        let data = opened(self.data)?;
        Ok((loading, move || Ok(DataFiles::of(data.iter().map(FileBytes::shared).collect()))))
    }
}

/// A program file with the methods that were loaded. A program moves between threads; one thread at a time runs a method.
pub struct Program {
    file: Rc<FileBytes>,
    data: Vec<Rc<FileBytes>>,
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
    /// Maps a program file, for the kernels of all operators, the backends of all features, and all physical cores.
    ///
    /// # Errors
    /// A file that cannot be read or is no program file.
    #[cfg(feature = "catalogue")]
    pub fn open(path: impl AsRef<Path>) -> Result<Self, Error> {
        Loader::new().open(path)
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
        if self.shares_state()? {
            for other in self.method_names()? {
                self.add(&other, true)?;
            }
        }
        match self.position(name) {
            Some(index) => Ok(index),
            None => self.add(name, false).map(|()| self.methods.len() - 1),
        }
    }

    fn read(&self) -> Result<et_runtime::Program<'_>, Error> {
        Ok(et_runtime::Program::new(program_in(&self.file)?)?)
    }

    fn position(&self, name: &str) -> Option<usize> {
        self.methods.iter().position(|method| method.name == name)
    }

    /// Whether the methods have common state: a first arena of the same size, beside arenas of their own.
    fn shares_state(&self) -> Result<bool, Error> {
        let program = self.read()?;
        let size = |index| {
            let plan = program.method_at(index)?;
            if plan.arena_count()? < 2 { Ok(0) } else { plan.arena_size(0) }
        };
        let sizes: et_core::Result<Vec<usize>> = (0..program.method_count()?).map(size).collect();
        let sizes = sizes?;
        Ok(sizes.len() > 1 && sizes[0] > 0 && sizes.iter().all(|size| *size == sizes[0]))
    }

    fn add(&mut self, name: &str, beside: bool) -> Result<(), Error> {
        let file = FileBytes::shared(&self.file);
        let data = DataFiles::of(self.data.iter().map(FileBytes::shared).collect());
        let kernels = self.kernels.kernels();
        let module = match self.methods.first().filter(|_| beside) {
            Some(first) => first.module.load_beside(file, data, name, kernels, &self.engines)?,
            None => Module::load_method(file, data, name, kernels, &self.engines)?,
        };
        self.methods.push(Loaded { name: name.to_owned(), module: only_results(named(module)) });
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

/// The module without the new values of mutated inputs: these values come before the results, whose number the file holds.
fn only_results(module: Module) -> Module {
    match module.output_tree().ok().flatten().map(describe::results) {
        Some(results) => module.with_last_outputs(results),
        None => module,
    }
}

/// Bytes that begin at a multiple of 64, for program files that are part of the binary:
/// `static FILE: Aligned<{ include_bytes!("model.pte").len() }> = Aligned(*include_bytes!("model.pte"));`.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Aligned<const N: usize>(pub [u8; N]);
