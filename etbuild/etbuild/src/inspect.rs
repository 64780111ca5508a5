//! The content of program files, bundled programs and data files, as plain data.

mod body;
mod bundle;
mod constant;
mod difference;
mod fact;
mod method;
mod program;
mod tensor;

pub use bundle::Suite;
pub use constant::Constant;
pub use difference::Difference;
pub use method::{Delegate, Method, Slot};
pub use program::ProgramDescription;

use et_core::Result;
use et_format::{BundledProgram, DATA_IDENTIFIER, DataFile};
use etbuild_store::Digest;
use serde::Serialize;

/// A file, described.
#[derive(Serialize)]
pub struct Description {
    /// Bytes.
    pub size: usize,
    /// The digest of all bytes.
    pub digest: String,
    /// The content.
    #[serde(flatten)]
    pub content: Content,
}

/// The content of a file.
#[derive(Serialize)]
#[serde(rename_all = "lowercase", tag = "kind")]
pub enum Content {
    /// A program file (`.pte`).
    Program(ProgramDescription),
    /// A program file with cases (`.bpte`).
    Bundle {
        /// The cases of each method.
        suites: Vec<Suite>,
        /// The program file.
        program: ProgramDescription,
    },
    /// A data file (`.ptd`).
    Data {
        /// Tensors and blobs by name.
        entries: Vec<Constant>,
    },
}

impl Description {
    /// Describes a file of any of the three kinds, which the file identifier tells apart.
    ///
    /// # Errors
    /// The file is malformed.
    pub fn of(bytes: &[u8]) -> Result<Self> {
        let content = if bytes.get(4..8) == Some(DATA_IDENTIFIER) {
            Content::Data { entries: constant::entries(DataFile::parse(bytes)?)? }
        } else if BundledProgram::has_identifier(bytes) {
            let bundle = BundledProgram::parse(bytes)?;
            Content::Bundle { suites: bundle::suites(bundle)?, program: ProgramDescription::of(bundle.program()?)? }
        } else {
            Content::Program(ProgramDescription::of(bytes)?)
        };
        Ok(Self { size: bytes.len(), digest: Digest::of(bytes).to_string(), content })
    }

    /// The program, of files with a program.
    pub fn program(&self) -> Option<&ProgramDescription> {
        match &self.content {
            Content::Program(program) | Content::Bundle { program, .. } => Some(program),
            Content::Data { .. } => None,
        }
    }
}
