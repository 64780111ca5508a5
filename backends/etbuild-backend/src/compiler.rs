//! A vendor's compiler that lowering loads.

use std::path::{Path, PathBuf};

/// A vendor's compiler, a library that users install for themselves. Its digest is a part of the action key of delegation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Compiler {
    /// The vendor's name for the kit, for messages.
    pub kit: &'static str,
    /// The environment variable with the kit's folder.
    pub variable: &'static str,
    /// The folders of the kit that may hold the file, for this machine.
    pub folders: &'static [&'static str],
    /// The name of the library.
    pub file: &'static str,
}

impl Compiler {
    /// The places of the library in a kit, in the order in which they are tried.
    pub fn places(&self, kit: &Path) -> impl Iterator<Item = PathBuf> {
        self.folders.iter().map(move |folder| kit.join(folder).join(self.file))
    }
}
