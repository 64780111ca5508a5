//! The files beside a DLL: the import library, and a file for CMake.

use object::read::pe::PeFile64;
use object::{NameOrOrdinal, Object};
use serde::Serialize;

use crate::embedded::LIBRARY;
use crate::render::fill_in_with;
use crate::symbol::symbol;
use crate::system::windows::import_library;
use crate::{LibraryForm, LinkError};

/// The prefix of the functions for C. A DLL also exports the symbols of its start code, which an import library leaves out.
const INTERFACE: &[u8] = b"et_";

/// The path of the template for CMake.
const CMAKE: &str = "dll.cmake.tera";

#[derive(Serialize)]
struct Variables<'a> {
    name: &'a str,
    symbol: String,
    dll: String,
    library: String,
}

/// The import library of the DLL of the model `name`.
///
/// # Errors
/// [`LinkError::Image`] for bytes that are no DLL.
pub fn dll_library(name: &str, dll: &[u8]) -> Result<Vec<u8>, LinkError> {
    let malformed = |error| LinkError::Image(format!("the DLL cannot be read: {error}"));
    let file = PeFile64::parse(dll).map_err(malformed)?;
    let mut names = Vec::new();
    for export in file.exports().map_err(malformed)? {
        if let NameOrOrdinal::Name(name) = export.map_err(malformed)?.into_name()
            && name.starts_with(INTERFACE)
        {
            names.push(String::from_utf8_lossy(&name).into_owned());
        }
    }
    names.sort_unstable();
    Ok(import_library(&LibraryForm::Dll.loaded_name(name).unwrap_or_default(), names.iter().map(String::as_str)))
}

/// The file that makes the DLL of the model `name` a target of CMake.
///
/// # Errors
/// [`LinkError::Template`], which a test excludes.
pub fn dll_cmake(name: &str) -> Result<Vec<u8>, LinkError> {
    let dll = LibraryForm::Dll.loaded_name(name).unwrap_or_default();
    let variables = Variables { name, symbol: symbol(name), dll, library: LibraryForm::Dll.linked_name(name) };
    let template = LIBRARY.iter().find_map(|folder| folder.file(CMAKE));
    fill_in_with(template.ok_or_else(|| LinkError::Template(format!("`{CMAKE}` is missing")))?, &variables)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_of_cmake_names_both_files() {
        let text = String::from_utf8(dll_cmake("tiny-net").unwrap()).unwrap();
        for part in ["add_library(tiny_net SHARED IMPORTED)", "/tiny-net.dll\"", "/tiny-net.lib\""] {
            assert!(text.contains(part), "{text}");
        }
    }

    #[test]
    fn other_files_are_no_dll() {
        assert!(matches!(dll_library("net", b"MZ"), Err(LinkError::Image(_))));
    }
}
