//! The library of the NPU backend and its table of functions.

use core::ffi::CStr;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use et_core::Error;
use et_problem::{Outcome, Problem};

use super::abi::{FUNCTIONS, HTP, Interface, Status, Version, function, signature};
use super::{log, output};

/// The file name of the backend for the NPU.
pub const FILE: &str = "libQnnHtp.so";

/// The variable that names the folder of the vendor's software development kit.
pub const ROOT: &str = "QNN_SDK_ROOT";

/// The oldest version of the interface that is known to work, without corrections.
const OLDEST: (u32, u32) = (2, 14);

/// Folders of a kit that hold the library, for the machine that executes this code.
#[cfg(target_arch = "aarch64")]
pub const FOLDERS: &[&str] = &["lib/aarch64-android", "lib/aarch64-oe-linux-gcc11.2", ""];
/// Folders of a kit that hold the library, for the machine that executes this code.
#[cfg(not(target_arch = "aarch64"))]
pub const FOLDERS: &[&str] = &["lib/x86_64-linux-clang", ""];

/// The loaded library, which stays loaded until the process ends, because its threads outlive its handles.
pub struct Library {
    interface: &'static Interface,
    /// The version of the vendor's kit, such as `v2.51.0`.
    pub build: String,
}

// SAFETY: the table is constant, and the functions of the interface may be called on any thread.
unsafe impl Send for Library {}
// SAFETY: as above.
unsafe impl Sync for Library {}

/// The library in a kit's folder; `None` where the folder has none.
fn find(root: &Path) -> Option<PathBuf> {
    FOLDERS.iter().map(|folder| root.join(folder).join(FILE)).find(|path| path.is_file())
}

/// The library of this process: of the kit that [`ROOT`] names, else of the system.
///
/// # Errors
/// No library, or one that this code does not know.
pub fn library() -> Outcome<&'static Library> {
    static LIBRARY: OnceLock<Outcome<Library>> = OnceLock::new();
    let opened = LIBRARY.get_or_init(|| {
        let root = std::env::var_os(ROOT).map(PathBuf::from);
        match root {
            Some(root) => match find(&root) {
                Some(path) => Library::open(path.as_os_str()),
                None => Err(Problem::unsupported(format!("`{ROOT}` names {}, which has no {FILE}", root.display()))),
            },
            None => Library::open(OsStr::new(FILE)),
        }
    });
    opened.as_ref().map_err(Clone::clone)
}

/// The version of the vendor's kit on this machine, such as `v2.51.0`.
///
/// # Errors
/// No library, or one that this code does not know.
pub fn kit() -> Outcome<&'static str> {
    library().map(|library| library.build.as_str())
}

impl Library {
    /// Loads the library and checks its versions.
    fn open(path: &OsStr) -> Outcome<Self> {
        let interface = load(path)?;
        let Version { major, minor, .. } = interface.core;
        if major != OLDEST.0 || minor < OLDEST.1 {
            let wanted = format!("{}.{}", OLDEST.0, OLDEST.1);
            let sentence = format!(
                "{FILE} has version {major}.{minor} of the interface, and version {wanted} or later is required"
            );
            return Err(Problem::unsupported(sentence));
        }
        if interface.backend != HTP {
            return Err(Problem::unsupported(format!("{FILE} is the library of another processor than the NPU")));
        }
        let mut library = Self { interface, build: String::new() };
        library.build = library.build_id().unwrap_or_default();
        Ok(library)
    }

    fn build_id(&self) -> Outcome<String> {
        let mut text = core::ptr::null();
        let function: signature::BuildId = self.function(function::BACKEND_BUILD_ID)?;
        // SAFETY: the function writes a pointer to a string of the library.
        let status = unsafe { function(&mut text) };
        check(status, "state its version")?;
        // SAFETY: a string of the library that lives as long as the library, which is never unloaded.
        let text = (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) });
        Ok(text.map(|text| text.to_string_lossy().into_owned()).unwrap_or_default())
    }

    /// A function of the table. `F` must be the type of the function at the position.
    pub(super) fn function<F: Copy>(&self, position: usize) -> Outcome<F> {
        const { assert!(size_of::<F>() == size_of::<unsafe extern "C" fn()>(), "F is not a function") };
        let entry = self.interface.functions.get(position).copied().flatten();
        let entry = entry.ok_or_else(|| Problem::unsupported(format!("{FILE} lacks function {position}")))?;
        // SAFETY: all functions have the size of a pointer, and callers name the type of the position.
        Ok(unsafe { core::mem::transmute_copy(&entry) })
    }
}

/// Opens the library and finds the table.
fn load(path: &OsStr) -> Outcome<&'static Interface> {
    let absent = |error: libloading::Error| {
        let path = Path::new(path).display();
        Problem::unsupported(format!("the NPU's library {path} cannot be loaded: {error}"))
    };
    // The library's initializers print a line, which would be a part of the caller's output.
    // SAFETY: loading runs the library's initializers, which is what the user asks for by naming it.
    let library = output::beside(|| unsafe { libloading::Library::new(path) }).map_err(absent)?;
    // Never unloaded.
    let library: &'static libloading::Library = Box::leak(Box::new(library));
    // SAFETY: the name belongs to a function of this type in all versions of the interface.
    let providers = unsafe { library.get::<signature::Providers>(b"QnnInterface_getProviders\0") }.map_err(absent)?;
    let (mut list, mut count) = (core::ptr::null(), 0);
    // SAFETY: the function writes a list of pointers and its length.
    let status = unsafe { providers(&mut list, &mut count) };
    check(status, "list its interfaces")?;
    if count == 0 || list.is_null() {
        return Err(Problem::unsupported(format!("{FILE} provides no interface")));
    }
    // SAFETY: the list has at least one pointer, to a table of the library, which is never unloaded; tables of the accepted
    // versions have at least `FUNCTIONS` functions.
    let interface = unsafe { (*list).as_ref() };
    const { assert!(FUNCTIONS <= 72) };
    interface.ok_or_else(|| Problem::unsupported(format!("{FILE} provides no interface")))
}

/// Turns a status into the failure to do `what`, with the last message of the library.
pub(super) fn check(status: Status, what: &str) -> Outcome<()> {
    match status {
        0 => Ok(()),
        _ => {
            let reason = log::take().unwrap_or_else(|| format!("error {}", status & 0xffff));
            Err(Problem::new(Error::DelegateInvalidHandle, format!("the NPU's library failed to {what}: {reason}")))
        }
    }
}
