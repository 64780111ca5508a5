//! `--trace FILE`: a binary records its own executions. A binary without the feature `events` has neither the option nor the recorder.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::recording::{Keep, Recorder};
use crate::{Error, Observer};

/// The name of the option.
const OPTION: &str = "--trace";

/// The help text of the option, whose name takes `width` columns; empty in a binary that records nothing.
#[inline]
pub fn trace_help(width: usize) -> String {
    if !cfg!(feature = "events") {
        return String::new();
    }
    format!("  {:<width$} record when each operator runs, for `etbuild trace MODEL --recording FILE`\n", "--trace FILE")
}

/// A recording that a process makes of its executions.
pub struct Tracing {
    recorder: Arc<Recorder>,
    observer: Arc<dyn Observer>,
    path: PathBuf,
}

impl Tracing {
    /// Sets the option, if `name` is its name; false for another name, and in a binary that records nothing.
    ///
    /// # Errors
    /// A missing value.
    #[inline]
    pub fn set(
        path: &mut Option<PathBuf>,
        name: &str,
        value: &mut dyn FnMut() -> Result<OsString, String>,
    ) -> Result<bool, String> {
        if !cfg!(feature = "events") || name != OPTION {
            return Ok(false);
        }
        *path = Some(value()?.into());
        Ok(true)
    }

    /// A recording for the file that the command line names; `None` without the option.
    #[inline]
    pub fn of(path: Option<&Path>) -> Option<Self> {
        if cfg!(feature = "events") { path.map(Self::new) } else { None }
    }

    /// Runs with an observer that records into the file that the command line names; without the option, and without the observer.
    ///
    /// # Errors
    /// As of `run`; [`Error::File`] for a file that cannot be written.
    #[inline]
    pub fn around<T, E: From<Error>>(
        path: Option<&Path>,
        run: impl FnOnce(Option<&Arc<dyn Observer>>) -> Result<T, E>,
    ) -> Result<T, E> {
        let Some(tracing) = Self::of(path) else { return run(None) };
        let done = run(Some(&tracing.observer))?;
        tracing.finish()?;
        Ok(done)
    }

    fn new(path: &Path) -> Self {
        let recorder = Arc::new(Recorder::new(Keep::Times));
        Self { observer: recorder.clone(), recorder, path: path.to_owned() }
    }

    /// What hears of the executions.
    pub const fn observer(&self) -> &Arc<dyn Observer> {
        &self.observer
    }

    /// Forgets the executions so far.
    pub fn restart(&self) {
        self.recorder.take();
    }

    /// Writes the file.
    ///
    /// # Errors
    /// [`Error::File`] for a file that cannot be written.
    pub fn finish(self) -> Result<(), Error> {
        let written = std::fs::write(&self.path, self.recorder.take().to_bytes());
        written.map_err(|source| Error::File { path: self.path, source })
    }
}
