//! A vendor's compiler that lowering uses.

use std::path::{Path, PathBuf};

/// A vendor's compiler, which users install for themselves. Its digest is a part of the action key of delegation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Compiler {
    /// The vendor's name for the kit, for messages.
    pub kit: &'static str,
    /// The environment variable that finds the kit.
    pub variable: &'static str,
    /// What the variable names.
    pub search: Search,
    /// The name of the library or program.
    pub file: &'static str,
    /// The page of the documentation, for messages.
    pub page: &'static str,
}

/// Where a compiler is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Search {
    /// A library in one of these folders of the kit, whose folder the variable names; for this machine.
    Library(&'static [&'static str]),
    /// A program that the variable names, or that is in a folder of `PATH`. Its output for `--version` is a part of the digest.
    Program,
}

impl Compiler {
    /// The places of the file, in the order in which they are tried. `variable` reads an environment variable.
    pub fn places(&self, variable: impl Fn(&str) -> Option<String>) -> Vec<PathBuf> {
        let set = variable(self.variable).filter(|value| !value.is_empty());
        match (self.search, set) {
            (Search::Library(folders), Some(kit)) => {
                folders.iter().map(|folder| Path::new(&kit).join(folder).join(self.file)).collect()
            }
            (Search::Library(_), None) => Vec::new(),
            (Search::Program, Some(program)) => vec![PathBuf::from(program)],
            (Search::Program, None) => {
                let path = variable("PATH").unwrap_or_default();
                let file = format!("{}{}", self.file, std::env::consts::EXE_SUFFIX);
                std::env::split_paths(&path).map(|folder| folder.join(&file)).collect()
            }
        }
    }
}
