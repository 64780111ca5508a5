//! DLPack 1.3: the structures that array libraries exchange tensors in.
//!
//! <https://dmlc.github.io/dlpack/latest/c_api.html>
#![allow(unsafe_code)] // Tables of libraries are shared between threads.

use std::ffi::{c_int, c_void};

use pyo3::ffi::PyObject;

/// `kDLCPU`: memory of the process.
pub const CPU: c_int = 1;

/// The version of the structures that this module makes.
pub const VERSION: Version = Version { major: 1, minor: 1 };

/// `DLPackVersion`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Version {
    pub major: u32,
    pub minor: u32,
}

/// `DLDevice`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Device {
    pub kind: c_int,
    pub index: i32,
}

/// `DLDataType`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct DataType {
    pub code: u8,
    pub bits: u8,
    pub lanes: u16,
}

/// `DLTensor`: a tensor in memory of another owner.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct DlTensor {
    pub data: *mut c_void,
    pub device: Device,
    pub rank: i32,
    pub data_type: DataType,
    /// `rank` sizes.
    pub shape: *mut i64,
    /// `rank` distances in elements; null for row-major order.
    pub strides: *mut i64,
    /// The bytes to add to `data`.
    pub byte_offset: u64,
}

/// `DLManagedTensor`: a tensor with the function that frees the tensor, before version 1.
#[repr(C)]
pub struct Managed {
    pub tensor: DlTensor,
    pub context: *mut c_void,
    pub delete: Option<unsafe extern "C" fn(*mut Self)>,
}

/// `DLManagedTensorVersioned`.
#[repr(C)]
pub struct ManagedVersioned {
    pub version: Version,
    pub context: *mut c_void,
    pub delete: Option<unsafe extern "C" fn(*mut Self)>,
    pub flags: u64,
    pub tensor: DlTensor,
}

/// `DLPackExchangeAPI`: functions of an array library, without a detour through Python. PyTorch has the functions from 2.10 on.
#[repr(C)]
pub struct ExchangeApi {
    pub version: Version,
    pub previous: *const Self,
    pub allocate: *const c_void,
    pub from_object: *const c_void,
    pub to_object: Option<unsafe extern "C" fn(*mut ManagedVersioned, *mut *mut PyObject) -> c_int>,
    /// Fills in a tensor that borrows from the object, until control returns to Python.
    pub borrow: Option<unsafe extern "C" fn(*mut PyObject, *mut DlTensor) -> c_int>,
    pub current_stream: *const c_void,
}

// SAFETY: a library never changes the table, and the functions may be called from any thread that has the interpreter's lock.
unsafe impl Sync for ExchangeApi {}

impl DlTensor {
    /// A tensor without memory.
    pub const EMPTY: Self = Self {
        data: std::ptr::null_mut(),
        device: Device { kind: CPU, index: 0 },
        rank: 0,
        data_type: DataType { code: 0, bits: 0, lanes: 0 },
        shape: std::ptr::null_mut(),
        strides: std::ptr::null_mut(),
        byte_offset: 0,
    };
}
