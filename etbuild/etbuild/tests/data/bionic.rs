//! What musl's C library lacks of Android's, or does otherwise: a library that is loaded ahead, so that musl's loader runs
//! binaries for Android in an emulator.
#![no_std]

use core::ffi::{c_char, c_int, c_long, c_void};

unsafe extern "C" {
    fn __errno_location() -> *mut c_int;
    fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void;
    fn exit(status: c_int) -> !;
}

type Main = extern "C" fn(c_int, *mut *mut c_char, *mut *mut c_char) -> c_int;

/// Musl's loader has called the functions ahead of `main`.
#[unsafe(no_mangle)]
unsafe extern "C" fn __libc_init(stack: *mut usize, _: usize, main: Main, _: usize) -> ! {
    unsafe {
        let count = *stack as usize;
        let arguments = stack.add(1).cast();
        exit(main(count as c_int, arguments, arguments.add(count + 1)))
    }
}

#[unsafe(no_mangle)]
extern "C" fn __errno() -> *mut c_int {
    unsafe { __errno_location() }
}

/// No property is set.
#[unsafe(no_mangle)]
unsafe extern "C" fn __system_property_get(_: *const c_char, value: *mut c_char) -> c_int {
    unsafe { *value = 0 };
    0
}

#[unsafe(no_mangle)]
extern "C" fn android_set_abort_message(_: *const c_char) {}

/// The structures differ: no handler is installed.
#[unsafe(no_mangle)]
unsafe extern "C" fn sigaction(_: c_int, _: *const c_void, old: *mut [usize; 4]) -> c_int {
    if !old.is_null() {
        unsafe { *old = [0; 4] };
    }
    0
}

/// Android's numbers, and musl's: page size, configured and running processors.
const NUMBERS: [(c_int, c_int); 4] = [(39, 30), (40, 30), (96, 83), (97, 84)];

#[unsafe(no_mangle)]
unsafe extern "C" fn sysconf(name: c_int) -> c_long {
    let Some((_, theirs)) = NUMBERS.iter().find(|(ours, _)| *ours == name) else { return -1 };
    // -1 stands for the libraries loaded later.
    let next = unsafe { dlsym(usize::MAX as *mut c_void, c"sysconf".as_ptr()) };
    let next: extern "C" fn(c_int) -> c_long = unsafe { core::mem::transmute(next) };
    next(*theirs)
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {}
}
