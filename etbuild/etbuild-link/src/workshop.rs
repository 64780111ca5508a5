//! The place of builds, and the variables of the environment that no build sees.

use std::ffi::OsString;
use std::path::Path;

use etbuild_system::Slots;

/// Where projects are built.
#[derive(Clone, Copy, Debug)]
pub struct Workshop<'a> {
    /// The folder that compilers work in.
    pub folder: &'a Path,
    /// Whether third-party crates come from the user's cache alone.
    pub offline: bool,
    /// Places for working processes, compilers among them.
    pub slots: &'a Slots,
}

/// Variables of the user's environment that would change the work of cargo.
pub fn removed_variables() -> Vec<OsString> {
    REMOVED.iter().map(Into::into).collect()
}

/// Their names.
pub const REMOVED: &[&str] = &[
    "RUSTFLAGS",
    "RUSTDOCFLAGS",
    "RUSTC_BOOTSTRAP",
    "RUSTUP_TOOLCHAIN",
    "CARGO_BUILD_BUILD_DIR",
    "CARGO_BUILD_DEP_INFO_BASEDIR",
    "CARGO_BUILD_JOBS",
    "CARGO_BUILD_RUSTC",
    "CARGO_BUILD_RUSTC_WRAPPER",
    "CARGO_BUILD_RUSTC_WORKSPACE_WRAPPER",
    "CARGO_BUILD_RUSTFLAGS",
    "CARGO_BUILD_TARGET",
    "CARGO_BUILD_TARGET_DIR",
    "CARGO_MAKEFLAGS",
    "MAKEFLAGS",
    "SOURCE_DATE_EPOCH",
    // The least versions of Apple's systems, which the compiler writes into objects.
    "IPHONEOS_DEPLOYMENT_TARGET",
    "MACOSX_DEPLOYMENT_TARGET",
];
