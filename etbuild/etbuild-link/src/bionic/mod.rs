//! Android's C library, bionic, without Android's NDK: what a link needs besides Rust's own libraries.
//!
//! Three kinds of files join a project: stub libraries, which name the functions of API level 26 and contain no code; the start
//! code of an executable; and the functions of an unwinder, which programs that abort on panic refer to and never rely on.

mod stub;
mod unwind;

use std::collections::BTreeMap;

use object::Architecture;

use crate::{CompileTarget, LinkError, Linker};

/// The greatest page size of Android devices, in bytes.
pub const PAGE_SIZE: u32 = 16_384;

/// The program that loads executables on 64-bit Android.
pub const LOADER: &str = "/system/bin/linker64";

/// The path of the start code, a module of the binary.
const START: &str = "src/start.rs";

/// An archive without members. Rust's standard library links `liblog`, Android's log, and calls no function of the log.
const EMPTY_ARCHIVE: (&str, &[u8]) = ("liblog.a", b"!<arch>\n");

/// A library of the device with the names that API level 26 has on 64-bit Arm and on x86-64, a line each; `object` follows the
/// name of a variable. Made from `libc/libc.map.txt`, `libdl/libdl.map.txt` and `libm/libm.map.txt` of the Android Open Source
/// Project (platform/bionic, revision 731631f30009): public names whose `introduced` is at most 26.
struct Library {
    file: &'static str,
    names: &'static str,
}

const LIBRARIES: [Library; 3] = [
    Library { file: "libc.so", names: include_str!("libc.txt") },
    Library { file: "libdl.so", names: include_str!("libdl.txt") },
    Library { file: "libm.so", names: include_str!("libm.txt") },
];

/// A processor that Android's C library is linked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bionic(Architecture);

impl Bionic {
    /// The processor of a target that Rust's own linker links for Android; `None` for other targets.
    pub fn of(target: &CompileTarget) -> Option<Self> {
        let architecture = match target.triple.as_str() {
            "aarch64-linux-android" => Architecture::Aarch64,
            "x86_64-linux-android" => Architecture::X86_64,
            _ => return None,
        };
        (target.linker == Linker::RustLld).then_some(Self(architecture))
    }

    /// The files that join a project, by path.
    ///
    /// # Errors
    /// [`LinkError::Image`] for a file that cannot be made, which tests exclude.
    pub fn files(self) -> Result<BTreeMap<String, Vec<u8>>, LinkError> {
        let (empty, no_members) = EMPTY_ARCHIVE;
        let mut files = BTreeMap::from([
            (START.to_owned(), include_bytes!("start.rs").to_vec()),
            (empty.to_owned(), no_members.to_vec()),
            ("libunwind.a".to_owned(), unwind::archive(self.0)?),
        ]);
        for library in &LIBRARIES {
            files.insert(library.file.to_owned(), stub::library(self.0, library.file, library.names)?);
        }
        Ok(files)
    }
}

/// The names that a failed link for Android lacked, as an error of its own; other errors unchanged.
pub fn explained(error: LinkError, bionic: Option<Bionic>) -> LinkError {
    let LinkError::Link(text) = &error else { return error };
    let names = text.lines().filter_map(|line| Some(line.split_once("undefined symbol: ")?.1.trim().to_owned()));
    let names: std::collections::BTreeSet<String> = names.collect();
    if bionic.is_none() || names.is_empty() { error } else { LinkError::SymbolsMissing(names.into_iter().collect()) }
}

fn malformed(error: object::write::Error) -> LinkError {
    LinkError::Image(format!("a file for Android's linker cannot be made: {error}"))
}

#[cfg(test)]
mod tests {
    use object::{Object, ObjectSymbol};

    use super::*;

    fn target(triple: &str, linker: Linker) -> CompileTarget {
        CompileTarget { triple: triple.to_owned(), cpu: None, features: Vec::new(), linker, crt_static: false }
    }

    #[test]
    fn the_ndk_brings_its_own_files() {
        assert!(Bionic::of(&target("aarch64-linux-android", Linker::RustLld)).is_some());
        assert!(Bionic::of(&target("aarch64-linux-android", Linker::Compiler("clang".to_owned()))).is_none());
        assert!(Bionic::of(&target("aarch64-unknown-linux-musl", Linker::RustLld)).is_none());
    }

    #[test]
    fn a_stub_library_names_what_the_level_has_and_nothing_later() {
        let files = Bionic(Architecture::X86_64).files().unwrap();
        let libc = object::File::parse(files["libc.so"].as_slice()).unwrap();
        let names: Vec<&str> = libc.dynamic_symbols().filter_map(|symbol| symbol.name().ok()).collect();
        assert!(names.contains(&"pthread_create") && names.contains(&"__libc_init"));
        // API level 28.
        assert!(!names.contains(&"getrandom") && !names.contains(&"aligned_alloc"));
    }

    #[test]
    fn lists_are_sorted_and_name_nothing_twice() {
        for library in &LIBRARIES {
            let names: Vec<&str> = library.names.lines().collect();
            assert!(names.is_sorted() && names.windows(2).all(|pair| pair[0] != pair[1]), "{}", library.file);
        }
    }

    #[test]
    fn a_later_function_is_named_in_the_error() {
        let text =
            "error: linking with `rust-lld` failed\nrust-lld: error: undefined symbol: getrandom\n>>> referenced by x";
        let error = explained(LinkError::Link(text.to_owned()), Some(Bionic(Architecture::Aarch64)));
        assert!(matches!(&error, LinkError::SymbolsMissing(names) if *names == ["getrandom"]));
        assert!(error.to_string().contains("API level 26"));
        assert!(matches!(explained(LinkError::Link(text.to_owned()), None), LinkError::Link(_)));
    }
}
