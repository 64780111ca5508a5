//! The files of a system that a link needs besides Rust's own libraries, where Rust's own linker links for a system that is not here:
//! Android without its NDK, Windows without MinGW.
//!
//! Three kinds of files join a project: libraries that name the functions of the system and contain no code; the start code of an
//! executable; and the functions of an unwinder, which programs that abort on panic refer to and never rely on.

mod archive;
pub mod bionic;
mod unwind;
pub mod windows;

pub use archive::EMPTY as EMPTY_ARCHIVE;

use std::collections::{BTreeMap, BTreeSet};

use object::{Architecture, BinaryFormat};

use crate::{CompileTarget, LinkError, Linker};

/// The path of the start code, a module of the binary.
const START: &str = "src/start.rs";

/// The file of the unwinder.
const UNWINDER: &str = "libunwind.a";

/// A system whose libraries and start code etbuild makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SystemFiles {
    /// Android, for a processor.
    Bionic(Architecture),
    /// Windows on x86-64.
    Windows,
}

impl SystemFiles {
    /// The system of a target that Rust's own linker links; `None` for other targets.
    pub fn of(target: &CompileTarget) -> Option<Self> {
        let system = match target.triple.as_str() {
            "aarch64-linux-android" => Self::Bionic(Architecture::Aarch64),
            "x86_64-linux-android" => Self::Bionic(Architecture::X86_64),
            "x86_64-pc-windows-gnullvm" => Self::Windows,
            _ => return None,
        };
        (target.linker == Linker::RustLld).then_some(system)
    }

    /// The files that join a project, by path.
    ///
    /// # Errors
    /// [`LinkError::Image`] for a file that cannot be made, which tests exclude.
    pub fn files(self) -> Result<BTreeMap<String, Vec<u8>>, LinkError> {
        let (format, architecture, start, mut files) = match self {
            Self::Bionic(architecture) => {
                (BinaryFormat::Elf, architecture, bionic::START, bionic::libraries(architecture)?)
            }
            Self::Windows => {
                let mut files = windows::libraries();
                files.extend(windows::LIBRARY_START.map(|(path, text)| (path.to_owned(), text.to_vec())));
                (BinaryFormat::Coff, Architecture::X86_64, windows::START, files)
            }
        };
        files.insert(START.to_owned(), start.to_vec());
        files.insert(UNWINDER.to_owned(), unwind::archive(format, architecture)?);
        Ok(files)
    }

    /// The system in messages.
    const fn name(self) -> &'static str {
        match self {
            Self::Bionic(_) => "Android's C library of API level 26",
            Self::Windows => "the list of functions that etbuild links of Windows",
        }
    }
}

/// The names that a failed link lacked in the system's libraries, as an error of its own; other errors unchanged.
pub fn explained(error: LinkError, system: Option<SystemFiles>) -> LinkError {
    let (LinkError::Link(text), Some(system)) = (&error, system) else { return error };
    let names = text.lines().filter_map(|line| Some(line.split_once("undefined symbol: ")?.1.trim().to_owned()));
    let names: BTreeSet<String> = names.collect();
    if names.is_empty() {
        return error;
    }
    LinkError::SymbolsMissing { system: system.name(), names: names.into_iter().collect() }
}

fn malformed(error: object::write::Error) -> LinkError {
    LinkError::Image(format!("a file of the system cannot be made: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(triple: &str, linker: Linker) -> CompileTarget {
        CompileTarget { triple: triple.to_owned(), cpu: None, features: Vec::new(), linker, crt_static: false }
    }

    #[test]
    fn a_compiler_of_the_system_brings_its_own_files() {
        let of = |triple, linker| SystemFiles::of(&target(triple, linker));
        assert_eq!(of("aarch64-linux-android", Linker::RustLld), Some(SystemFiles::Bionic(Architecture::Aarch64)));
        assert_eq!(of("aarch64-linux-android", Linker::Compiler("clang".to_owned())), None);
        assert_eq!(of("aarch64-unknown-linux-musl", Linker::RustLld), None);
        assert_eq!(of("x86_64-pc-windows-gnullvm", Linker::RustLld), Some(SystemFiles::Windows));
    }

    #[test]
    fn a_function_that_the_system_lacks_is_named_in_the_error() {
        let text =
            "error: linking with `rust-lld` failed\nrust-lld: error: undefined symbol: getrandom\n>>> referenced by x";
        let error = explained(LinkError::Link(text.to_owned()), Some(SystemFiles::Bionic(Architecture::Aarch64)));
        assert!(matches!(&error, LinkError::SymbolsMissing { names, .. } if *names == ["getrandom"]));
        assert!(error.to_string().contains("API level 26"));
        assert!(matches!(explained(LinkError::Link(text.to_owned()), None), LinkError::Link(_)));
    }
}
