//! The start of a library in a virtual machine.
#![expect(unsafe_code, reason = "the virtual machine hands over pointers")]

use std::ptr;

use crate::Machine;
use crate::environment::Environment;
use crate::functions::Functions;
use crate::interface::{Argument, VERSION};
use crate::value::number;

/// Registers a library under its name: the implementation of `JNI_OnLoad` in a generated library. The class `etbuild.Native` belongs to the
/// class loader that loads the library. Returns the version of JNI, by which the machine takes the library; a negative number on a failure.
///
/// # Safety
/// `machine` is the argument of `JNI_OnLoad`.
pub unsafe fn loaded(machine: Machine, name: &str, functions: &'static Functions) -> i32 {
    let mut raw = ptr::null_mut();
    // SAFETY: the caller says so, and the place has room for the environment.
    let status = unsafe { ((**machine.0).environment)(machine, &raw mut raw, VERSION) };
    if status != 0 || raw.is_null() {
        return -1;
    }
    // SAFETY: the machine made the pointer for this thread.
    let environment = unsafe { Environment::new(raw) };
    let registered = environment.call_native(c"loaded", c"(Ljava/lang/String;IJ)V", |environment| {
        Ok(vec![
            Argument { object: environment.string(name)? },
            Argument { int: functions.version },
            Argument { long: number(functions) },
        ])
    });
    if registered.is_ok() { VERSION } else { -1 }
}
