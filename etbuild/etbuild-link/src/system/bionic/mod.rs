//! Android's C library, bionic, without Android's NDK: what a link needs besides Rust's own libraries.
//!
//! Stub libraries name the functions of API level 26 and contain no code. The start code of an executable is Rust.

mod stub;

use std::collections::BTreeMap;

use object::Architecture;

use super::archive;
use crate::LinkError;

/// The greatest page size of Android devices, in bytes.
pub const PAGE_SIZE: u32 = 16_384;

/// The program that loads executables on 64-bit Android.
pub const LOADER: &str = "/system/bin/linker64";

/// The start code.
pub const START: &[u8] = include_bytes!("start.rs");

/// Android's log, which Rust's standard library links without a call.
const UNUSED: &str = "liblog.a";

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

/// The libraries by path.
///
/// # Errors
/// [`LinkError::Image`] for a file that cannot be made, which tests exclude.
pub fn libraries(architecture: Architecture) -> Result<BTreeMap<String, Vec<u8>>, LinkError> {
    let mut files = BTreeMap::from([(UNUSED.to_owned(), archive::EMPTY.to_vec())]);
    for library in &LIBRARIES {
        files.insert(library.file.to_owned(), stub::library(architecture, library.file, library.names)?);
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    use object::{Object, ObjectSymbol};

    use super::*;

    #[test]
    fn a_stub_library_names_what_the_level_has_and_nothing_later() {
        let files = libraries(Architecture::X86_64).unwrap();
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
}
