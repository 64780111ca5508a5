//! The functions of an unwinder, for a program whose panics abort.
//!
//! Rust's library refers to an unwinder for backtraces and for panics that unwind. Device binaries abort on panic, so the functions
//! only say that there is no frame: a backtrace is empty. A C++ app that links the static library brings a real unwinder.

use object::write::{Object, StandardSection, Symbol, SymbolSection};
use object::{Architecture, BinaryFormat, Endianness, SymbolFlags, SymbolKind, SymbolScope};

use super::archive::{self, Member};
use super::malformed;
use crate::LinkError;

/// The functions of the Itanium C++ ABI that Rust's library calls; each returns 5, `_URC_END_OF_STACK`, or the address 5 of no frame.
const FUNCTIONS: [&str; 13] = [
    "_Unwind_Backtrace",
    "_Unwind_DeleteException",
    "_Unwind_FindEnclosingFunction",
    "_Unwind_GetCFA",
    "_Unwind_GetDataRelBase",
    "_Unwind_GetIP",
    "_Unwind_GetIPInfo",
    "_Unwind_GetLanguageSpecificData",
    "_Unwind_GetRegionStart",
    "_Unwind_GetTextRelBase",
    "_Unwind_RaiseException",
    "_Unwind_SetGR",
    "_Unwind_SetIP",
];

/// The function that never returns: execution stops there.
const RESUME: &str = "_Unwind_Resume";

/// The function of Windows that runs an unwinder of this kind.
const ON_WINDOWS: &str = "_GCC_specific_handler";

/// The archive of the unwinder with a single member.
pub fn archive(format: BinaryFormat, architecture: Architecture) -> Result<Vec<u8>, LinkError> {
    let object = object(format, architecture);
    let symbols = functions(format).chain([RESUME]).map(str::to_owned).collect();
    let bytes = object.write().map_err(malformed)?;
    Ok(archive::archive(&[Member { name: "unwind.o".to_owned(), bytes, symbols }]))
}

fn functions(format: BinaryFormat) -> impl Iterator<Item = &'static str> {
    FUNCTIONS.into_iter().chain((format == BinaryFormat::Coff).then_some(ON_WINDOWS))
}

fn object(format: BinaryFormat, architecture: Architecture) -> Object<'static> {
    let (ends, stops) = code(architecture);
    let mut object = Object::new(format, architecture, Endianness::Little);
    let text = object.section_id(StandardSection::Text);
    let end = object.append_section_data(text, ends, 16);
    let stop = object.append_section_data(text, stops, 16);
    let functions = functions(format).map(|name| (name, end, ends.len())).chain([(RESUME, stop, stops.len())]);
    for (name, value, size) in functions {
        object.add_symbol(Symbol {
            name: name.as_bytes().to_vec(),
            value,
            size: size as u64,
            kind: SymbolKind::Text,
            scope: SymbolScope::Linkage,
            weak: false,
            section: SymbolSection::Section(text),
            flags: SymbolFlags::None,
        });
    }
    object
}

/// The instructions of a function that returns 5, and of one that stops.
fn code(architecture: Architecture) -> (&'static [u8], &'static [u8]) {
    match architecture {
        // mov w0, #5; ret. brk #1.
        Architecture::Aarch64 => (&[0xa0, 0x00, 0x80, 0x52, 0xc0, 0x03, 0x5f, 0xd6], &[0x20, 0x00, 0x20, 0xd4]),
        // mov eax, 5; ret. ud2.
        _ => (&[0xb8, 0x05, 0x00, 0x00, 0x00, 0xc3], &[0x0f, 0x0b]),
    }
}
