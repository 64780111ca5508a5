//! How program files are loaded.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use et_module::{DataFiles, Engine, Engines, FileBytes, Observer, checked_threads};

use crate::kernels::KernelSource;
use crate::{Error, Program};

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
    observer: Option<Observed>,
    #[cfg(feature = "text")]
    guesses_from_text: bool,
}

/// What hears of the executions.
struct Observed(Arc<dyn Observer>);

impl std::fmt::Debug for Observed {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("an observer")
    }
}

#[derive(Debug)]
enum Source {
    Path(PathBuf),
    Bytes(FileBytes),
}

/// The data files, of which each tensor is in one.
fn opened(sources: Vec<Source>) -> Result<DataFiles, Error> {
    let opened = sources.into_iter().enumerate().map(|(index, source)| source.open(index));
    Ok(DataFiles::checked(opened.collect::<Result<_, _>>()?)?)
}

impl Source {
    /// The bytes, and the path in messages.
    fn open(self, index: usize) -> Result<(PathBuf, FileBytes), et_module::Error> {
        match self {
            Self::Path(path) => FileBytes::open(&path).map(|bytes| (path, bytes)),
            Self::Bytes(bytes) => Ok((format!("data file {index}").into(), bytes)),
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
            observer: None,
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

    /// An observer, such as [`et_module`]'s recorder, hears when each instruction of a method begins and ends. Language models have none.
    #[must_use]
    pub fn observed_by(mut self, observer: Arc<dyn Observer>) -> Self {
        self.observer = Some(Observed(observer));
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

    /// Uses a program file that is part of the binary in place; weights must begin at multiples of 64 bytes, as in [`Aligned`](crate::Aligned).
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
        let engines = match self.observer {
            Some(Observed(observer)) => engines.observed_by(observer),
            None => engines,
        };
        Program::new(file, data, self.kernels, engines)
    }
}

#[cfg(feature = "catalogue")]
impl Program {
    /// Maps a program file, for the kernels of all operators, the backends of all features, and all physical cores.
    ///
    /// # Errors
    /// A file that cannot be read or is no program file.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, Error> {
        Loader::new().open(path)
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
        Ok((loading, move || Ok(data.clone())))
    }
}
