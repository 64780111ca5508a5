//! Array libraries: where arguments come from and outputs go to.
#![allow(unsafe_code)] // Follows the pointer of a capsule, which points to a table of the library.

use std::sync::{Mutex, PoisonError};

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyCapsule, PyCapsuleMethods, PyType};

use crate::dlpack::ExchangeApi;

/// The library of an argument.
#[derive(Clone, Copy)]
pub enum Library {
    /// NumPy, and all other objects with the buffer protocol.
    NumPy,
    /// A library with an exchange table, such as PyTorch.
    Exchange(&'static ExchangeApi),
    /// PyTorch before version 2.10.
    Torch,
    /// Another library with DLPack.
    Other,
}

impl Library {
    /// The library of an argument that has `__dlpack__` and no exchange table.
    pub fn of(argument: &Bound<'_, PyAny>) -> PyResult<Self> {
        let module = argument.get_type().module()?;
        Ok(if module.to_str()?.starts_with("torch") { Self::Torch } else { Self::Other })
    }
}

/// Types with their exchange tables. Types stay alive, so that no other type gets an address of the list.
type Known = Vec<(Py<PyType>, &'static ExchangeApi)>;

static KNOWN: PyOnceLock<Mutex<Known>> = PyOnceLock::new();

/// The exchange table of the argument's library, if the library has a table of a version that this module understands.
pub fn exchange_api(argument: &Bound<'_, PyAny>) -> PyResult<Option<&'static ExchangeApi>> {
    let py = argument.py();
    let list = KNOWN.get_or_init(py, || Mutex::new(Vec::new()));
    // SAFETY: an object has a type, which lives as long as the object.
    let address = unsafe { pyo3::ffi::Py_TYPE(argument.as_ptr()) };
    {
        let known = list.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, api)) = known.iter().find(|(kind, _)| kind.as_ptr() == address.cast()) {
            return Ok(Some(api));
        }
    }
    let kind = argument.get_type();
    let Some(capsule) = kind.getattr_opt("__dlpack_c_exchange_api__")? else { return Ok(None) };
    let Ok(capsule) = capsule.cast::<PyCapsule>() else { return Ok(None) };
    let table = capsule.pointer_checked(Some(c"dlpack_exchange_api"))?.cast::<ExchangeApi>();
    // SAFETY: the name says what the pointer points to, and DLPack demands that the table lives as long as the process.
    let api = unsafe { table.as_ref() };
    if api.version.major != 1 || api.borrow.is_none() || api.to_object.is_none() {
        return Ok(None);
    }
    list.lock().unwrap_or_else(PoisonError::into_inner).push((kind.unbind(), api));
    Ok(Some(api))
}
