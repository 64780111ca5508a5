//! The library beside a binary.

use crate::CompileTarget;

/// The form of a library.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LibraryForm {
    /// A static library for C.
    Static,
    /// A static and a shared library for C, the shared one also for Java: Android, and Linux with the C library of the machine.
    StaticAndShared,
    /// A DLL of Windows for C, with an import library.
    Dll,
    /// A module of WebAssembly, for JavaScript.
    Wasm,
}

impl LibraryForm {
    /// The form for a target.
    pub fn of(target: &CompileTarget) -> Self {
        if target.is_android() || target.is_linux_with_loader() {
            Self::StaticAndShared
        } else if target.is_windows() {
            Self::Dll
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
            Self::Dll => "dll",
            Self::Wasm => "wasm",
        }
    }

    /// The kinds of crates that Rust makes of the project.
    pub const fn crate_types(self) -> &'static [&'static str] {
        match self {
            Self::Static => &["staticlib"],
            Self::StaticAndShared => &["staticlib", "cdylib", "rlib"],
            Self::Dll | Self::Wasm => &["cdylib", "rlib"],
        }
    }

    /// The name of the file that a process loads, where there is one.
    pub fn loaded_name(self, name: &str) -> Option<String> {
        match self {
            Self::Static => None,
            Self::StaticAndShared => Some(format!("lib{name}.so")),
            Self::Dll => Some(format!("{name}.dll")),
            Self::Wasm => Some(format!("lib{name}.wasm")),
        }
    }

    /// Whether the shared library has functions for Java.
    pub const fn is_for_java(self) -> bool {
        matches!(self, Self::StaticAndShared)
    }

    /// The name of the file that a linker reads.
    pub fn linked_name(self, name: &str) -> String {
        match self {
            Self::Dll => format!("{name}.lib"),
            Self::Static | Self::StaticAndShared | Self::Wasm => format!("lib{name}.a"),
        }
    }
}
