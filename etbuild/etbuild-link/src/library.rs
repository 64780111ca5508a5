//! The library beside a binary.

use crate::CompileTarget;

/// The form of a library.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LibraryForm {
    /// A static library for C.
    Static,
    /// A static and a shared library for C, the shared one for apps of Android.
    StaticAndShared,
    /// A module of WebAssembly, for JavaScript.
    Wasm,
}

impl LibraryForm {
    /// The form for a target.
    pub fn of(target: &CompileTarget) -> Self {
        if target.is_android() {
            Self::StaticAndShared
        } else if target.is_wasm() {
            Self::Wasm
        } else {
            Self::Static
        }
    }

    /// The name in action keys.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Static => "static",
            Self::StaticAndShared => "static and shared",
            Self::Wasm => "wasm",
        }
    }

    /// The kinds of crates that Rust makes of the project.
    pub const fn crate_types(self) -> &'static [&'static str] {
        match self {
            Self::Static => &["staticlib"],
            Self::StaticAndShared => &["staticlib", "cdylib", "rlib"],
            Self::Wasm => &["cdylib", "rlib"],
        }
    }

    /// The ending of the file that a process loads, where there is one.
    pub const fn loaded_ending(self) -> Option<&'static str> {
        match self {
            Self::Static => None,
            Self::StaticAndShared => Some("so"),
            Self::Wasm => Some("wasm"),
        }
    }
}
