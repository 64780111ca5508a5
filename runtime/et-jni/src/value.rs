//! Numbers by which Java knows libraries and objects, and the failures of functions of C.
#![expect(unsafe_code, reason = "the numbers are pointers")]

use std::ffi::{CStr, CString, c_char, c_int};
use std::ptr;

use crate::environment::Environment;
use crate::failure::{Failure, Result};
use crate::functions::Functions;
use crate::interface::Object;

/// The number of a pointer.
pub fn number<T>(pointer: *const T) -> i64 {
    pointer.expose_provenance() as i64
}

/// The pointer with a number.
pub fn pointer<T>(number: i64) -> *mut T {
    ptr::with_exposed_provenance_mut(number as usize)
}

/// The functions of a library.
///
/// # Safety
/// The number names a table that [`crate::loaded`] registered.
pub unsafe fn functions(library: i64) -> &'static Functions {
    // SAFETY: the caller says so, and libraries are never unloaded: the table is a constant of the library.
    unsafe { &*pointer::<Functions>(library) }
}

/// The room for elements in the first call of a function: a second call would tokenize a text again.
const ROOM: usize = 4096;

impl Functions {
    /// The message of the last failure on this thread.
    pub fn failure(&self) -> Failure {
        // SAFETY: the message is a terminated text, and no other function of the library is called meanwhile.
        Failure::Said(unsafe { CStr::from_ptr((self.error_message)()) }.to_string_lossy().into_owned())
    }

    /// Success, or the failure behind a status.
    pub fn status(&self, status: c_int) -> Result<()> {
        if status == 0 { Ok(()) } else { Err(self.failure()) }
    }

    /// The elements that a function writes: `write` is told room for elements, and where their number belongs.
    pub fn elements<T: Copy + Default>(&self, write: impl Fn(*mut T, usize, *mut usize) -> c_int) -> Result<Vec<T>> {
        let (mut elements, mut count) = (vec![T::default(); ROOM], 0);
        self.status(write(elements.as_mut_ptr(), ROOM, &raw mut count))?;
        if count > ROOM {
            elements.resize(count, T::default());
            self.status(write(elements.as_mut_ptr(), count, &raw mut count))?;
        }
        elements.truncate(count);
        Ok(elements)
    }

    /// The number of an object, or the failure behind a null pointer.
    pub fn object<T>(&self, object: *mut T) -> Result<i64> {
        if object.is_null() { Err(self.failure()) } else { Ok(number(object)) }
    }
}

/// Texts, and pointers to them for C.
pub struct Texts {
    _texts: Vec<CString>,
    pointers: Vec<*const c_char>,
}

impl Texts {
    /// The strings of an array.
    pub fn read(environment: Environment, array: Object) -> Result<Self> {
        let texts = environment.map(array, |text| environment.text(text))?;
        let pointers = texts.iter().map(|text| text.as_ptr()).collect();
        Ok(Self { _texts: texts, pointers })
    }

    /// The first pointer.
    pub fn first(&self) -> *const *const c_char {
        self.pointers.as_ptr()
    }

    /// The number of texts.
    pub fn count(&self) -> usize {
        self.pointers.len()
    }
}

/// The pointer to a text; null for none.
pub fn or_null(text: Option<&CString>) -> *const c_char {
    text.map_or(ptr::null(), |text| text.as_ptr())
}
