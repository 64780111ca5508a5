//! The system libraries of Windows on x86-64, without MinGW: what a link needs besides Rust's own libraries.
//!
//! Import libraries name functions of the system's DLLs and contain no code. The start code of an executable is Rust.

use std::collections::BTreeMap;

use super::archive::{EMPTY, Member, archive};

/// The start code of an executable.
pub const START: &[u8] = include_bytes!("start.rs");

/// The start code of a DLL, and what both have in common, by path.
pub const LIBRARY_START: [(&str, &[u8]); 2] =
    [("src/library_start.rs", include_bytes!("library_start.rs")), ("src/system.rs", include_bytes!("system.rs"))];

/// A DLL of Windows 10 and later, the library by whose name Rust asks for it, and the functions that the standard library, kernels and
/// this crate's start code call, a line each. The names are those of Microsoft's documentation.
struct Library {
    file: &'static str,
    dll: &'static str,
    names: &'static str,
}

const LIBRARIES: [Library; 6] = [
    Library { file: "libadvapi32.a", dll: "advapi32.dll", names: include_str!("advapi32.txt") },
    Library { file: "libkernel32.a", dll: "kernel32.dll", names: include_str!("kernel32.txt") },
    // The C library of Windows 10: the older msvcrt.dll lacks functions of C99.
    Library { file: "libmsvcrt.a", dll: "ucrtbase.dll", names: include_str!("ucrtbase.txt") },
    Library { file: "libntdll.a", dll: "ntdll.dll", names: include_str!("ntdll.txt") },
    Library { file: "libuserenv.a", dll: "userenv.dll", names: include_str!("userenv.txt") },
    Library { file: "libws2_32.a", dll: "ws2_32.dll", names: include_str!("ws2_32.txt") },
];

/// Libraries that Rust asks for and of which it calls no function.
const UNUSED: [&str; 4] = ["libdbghelp.a", "libmingw32.a", "libmingwex.a", "libuser32.a"];

/// The libraries by path.
pub fn libraries() -> BTreeMap<String, Vec<u8>> {
    let unused = UNUSED.iter().map(|&file| (file.to_owned(), EMPTY.to_vec()));
    let imports =
        LIBRARIES.iter().map(|library| (library.file.to_owned(), import_library(library.dll, library.names.lines())));
    unused.chain(imports).collect()
}

/// The import library of functions of a DLL: linkers of Microsoft, LLVM and GNU read the format.
pub fn import_library<'n>(dll: &str, names: impl Iterator<Item = &'n str>) -> Vec<u8> {
    let member = |name: &str| Member {
        // The name of the DLL is in the content.
        name: "import".to_owned(),
        bytes: import(name, dll),
        symbols: vec![name.to_owned(), format!("__imp_{name}")],
    };
    archive(&names.map(member).collect::<Vec<_>>())
}

/// The short form of an import, of which linkers make the tables of an executable: "Import Header" in Microsoft's PE format.
fn import(name: &str, dll: &str) -> Vec<u8> {
    const X86_64: u16 = 0x8664;
    // A function, which is looked up by the name of the symbol.
    const FUNCTION_BY_NAME: u16 = 1 << 2;
    let content = [name.as_bytes(), &[0], dll.as_bytes(), &[0]].concat();
    let mut bytes: Vec<u8> = [0, 0xffff, 0, X86_64, 0, 0].into_iter().flat_map(u16::to_le_bytes).collect();
    bytes.extend((content.len() as u32).to_le_bytes());
    bytes.extend([0, FUNCTION_BY_NAME].into_iter().flat_map(u16::to_le_bytes));
    bytes.extend(content);
    bytes
}

#[cfg(test)]
mod tests {
    use object::read::coff::ImportFile;

    use super::*;

    #[test]
    fn an_import_names_function_and_library() {
        let bytes = import("ExitProcess", "kernel32.dll");
        let file = ImportFile::parse(bytes.as_slice()).unwrap();
        assert_eq!((file.symbol(), file.dll()), (&b"ExitProcess"[..], &b"kernel32.dll"[..]));
    }

    #[test]
    fn lists_are_sorted_and_name_nothing_twice() {
        for library in &LIBRARIES {
            let names: Vec<&str> = library.names.lines().collect();
            assert!(names.is_sorted() && names.windows(2).all(|pair| pair[0] != pair[1]), "{}", library.file);
        }
    }
}
