//! The standard output of C code.

/// Runs `work` while C code prints to standard error in place of standard output. C code on other threads does so too for the moment.
#[cfg(any(all(target_os = "linux", target_env = "gnu"), target_os = "android"))]
pub fn beside<T>(work: impl FnOnce() -> T) -> T {
    use core::ffi::c_void;

    unsafe extern "C" {
        static mut stdout: *mut c_void;
        static mut stderr: *mut c_void;
    }

    // SAFETY: in these C libraries, both names are variables with streams that live as long as the process.
    let before = unsafe { stdout };
    // SAFETY: as above.
    unsafe { stdout = stderr };
    let result = work();
    // SAFETY: as above.
    unsafe { stdout = before };
    result
}

/// Runs `work`. In other C libraries the streams are constants.
#[cfg(not(any(all(target_os = "linux", target_env = "gnu"), target_os = "android")))]
pub fn beside<T>(work: impl FnOnce() -> T) -> T {
    work()
}
