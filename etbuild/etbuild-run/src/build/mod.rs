//! Code from a program file, for build scripts.
//!
//! ```no_run
//! // build.rs
//! fn main() -> Result<(), etbuild_run::build::Error> {
//!     etbuild_run::build::generate("digits.pte")
//! }
//! ```
//!
//! The module that [`crate::include!`] includes has a struct `Program` with a function for each method. The parameters of the function
//! are the method's inputs, and its result is a struct of the outputs.

mod error;
mod identifier;
mod interface;
mod kernels;
mod rust_type;
mod write;

use std::path::{Path, PathBuf};
use std::{env, fs};

pub use error::Error;

use interface::Interface;

/// Writes the code of a program file, which becomes part of the binary. A relative path begins at the folder of the package.
///
/// # Errors
/// As [`Generator::generate`].
pub fn generate(program: impl Into<PathBuf>) -> Result<(), Error> {
    Generator::new(program).generate()
}

/// Options of generated code.
#[derive(Clone, Debug)]
pub struct Generator {
    program: PathBuf,
    embeds: bool,
}

impl Generator {
    /// The code of a program file.
    pub fn new(program: impl Into<PathBuf>) -> Self {
        Self { program: program.into(), embeds: true }
    }

    /// Leaves the program file out of the binary, which opens the file at run time instead: for large weights.
    #[must_use]
    pub const fn without_file(mut self) -> Self {
        self.embeds = false;
        self
    }

    /// Writes `NAME.rs` to Cargo's folder for generated files, where `NAME` is the name of the program file without its ending, with `_`
    /// in the place of characters that an identifier lacks.
    ///
    /// # Errors
    /// Outside a build script; a file that cannot be read or written; a malformed program file; operators without a kernel, delegates
    /// without a backend, and inputs and outputs without a type in Rust.
    pub fn generate(&self) -> Result<(), Error> {
        let folder = |name: &'static str| env::var_os(name).map(PathBuf::from).ok_or(Error::NoBuildScript(name));
        let program = folder("CARGO_MANIFEST_DIR")?.join(&self.program);
        announce(&program);
        let code = self.code(&program)?;
        let stem = program.file_stem().unwrap_or_default().to_string_lossy();
        let target = folder("OUT_DIR")?.join(format!("{}.rs", identifier::snake(&stem)));
        fs::write(&target, code).map_err(|source| Error::File { path: target, source })
    }

    /// The code for the program file at this path.
    ///
    /// # Errors
    /// As [`Self::generate`].
    pub fn code(&self, program: &Path) -> Result<String, Error> {
        let bytes = fs::read(program).map_err(|source| Error::File { path: program.to_owned(), source })?;
        let interface = Interface::read(&bytes)?;
        Ok(write::module(&interface, self.embeds.then_some(program)))
    }
}

/// Tells Cargo to run the build script again for another program file.
#[expect(clippy::print_stdout, reason = "Cargo reads what a build script prints")]
fn announce(program: &Path) {
    println!("cargo::rerun-if-changed={}", program.display());
}
