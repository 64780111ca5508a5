//! What makes the binary of a unit: a Rust toolchain, or without one a prebuilt runtime.

use etbuild_diagnostic::Diagnostic;

use super::prebuilt::{self, Prebuilt};
use super::{BinarySource, Tools, tools};
use crate::input::Db;

/// What makes a binary.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Maker {
    /// A toolchain compiles what the program needs.
    Compiler(Tools),
    /// A runtime with all kernels is there.
    Prebuilt(Prebuilt),
}

/// What makes the binary, or the missing part of the toolchain and the way to install it.
pub fn maker(db: &dyn Db, source: &BinarySource) -> Result<Maker, Box<Diagnostic>> {
    let missing = match tools(db.world(), &source.link.target) {
        Ok(tools) => return Ok(Maker::Compiler(tools)),
        Err(missing) => missing,
    };
    prebuilt::find(db, source).map(Maker::Prebuilt).map_err(|reason| Box::new(missing.note(reason)))
}
