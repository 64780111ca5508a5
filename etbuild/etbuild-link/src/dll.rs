//! The import library of a DLL.

use object::read::pe::PeFile64;
use object::{NameOrOrdinal, Object};

use crate::system::windows::import_library;
use crate::{LibraryForm, LinkError};

/// The prefix of the functions for C. A DLL also exports the symbols of its start code, which an import library leaves out.
const INTERFACE: &[u8] = b"et_";

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_files_are_no_dll() {
        assert!(matches!(dll_library("net", b"MZ"), Err(LinkError::Image(_))));
    }
}
