//! A tensor of this module, for users without NumPy and for other array libraries.
#![allow(unsafe_code)] // Lends memory to array libraries through the buffer protocol and DLPack.

use std::cell::UnsafeCell;
use std::ffi::{c_int, c_void};
use std::ptr::null_mut;

use et_core::{ScalarType, Shape};
use pyo3::exceptions::PyBufferError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyTuple};

use crate::dlpack::{CPU, Device, DlTensor, Managed, ManagedVersioned, VERSION};
use crate::elements;

/// Bytes at a multiple of 16, which array libraries may write.
pub struct Memory {
    words: Box<[UnsafeCell<u128>]>,
    len: usize,
}

// SAFETY: Rust reads and writes the bytes through `&mut` only; afterwards only their address is given out.
unsafe impl Sync for Memory {}

impl Memory {
    pub fn zeroed(len: usize) -> Self {
        let words = vec![0_u128; len.div_ceil(size_of::<u128>())].into_boxed_slice();
        // SAFETY: a cell has the layout of its content.
        let words = unsafe { Box::from_raw(Box::into_raw(words) as *mut [UnsafeCell<u128>]) };
        Self { words, len }
    }

    pub fn of(bytes: &[u8]) -> Self {
        let mut memory = Self::zeroed(bytes.len());
        memory.bytes_mut().copy_from_slice(bytes);
        memory
    }

    pub const fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: the words have at least `len` bytes, all initialized, and are borrowed exclusively.
        unsafe { std::slice::from_raw_parts_mut(self.words.as_mut_ptr().cast(), self.len) }
    }

    pub const fn start(&self) -> *mut c_void {
        self.words.as_ptr().cast_mut().cast()
    }
}

/// A dense tensor in row-major order, with the buffer protocol and DLPack.
#[pyclass(frozen, module = "etbuild._native")]
pub struct Tensor {
    scalar_type: ScalarType,
    memory: Memory,
    shape: Box<[isize]>,
    /// Distances in bytes.
    strides: Box<[isize]>,
}

impl Tensor {
    #[expect(clippy::new_ret_no_self, reason = "an object of Python")]
    pub fn new<'py>(
        py: Python<'py>,
        scalar_type: ScalarType,
        shape: &Shape,
        memory: Memory,
    ) -> PyResult<Bound<'py, PyAny>> {
        let shape: Box<[isize]> = shape.sizes().iter().map(|size| *size as isize).collect();
        let mut stride = scalar_type.size() as isize;
        let mut strides = vec![0; shape.len()].into_boxed_slice();
        for (slot, size) in strides.iter_mut().zip(&shape).rev() {
            *slot = stride;
            stride = stride.wrapping_mul(*size);
        }
        Ok(Bound::new(py, Self { scalar_type, memory, shape, strides })?.into_any())
    }
}

#[pymethods]
impl Tensor {
    /// The sizes.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, &self.shape)
    }

    /// The name of the type of the elements in PyTorch, such as `float32`.
    #[getter]
    const fn dtype(&self) -> &'static str {
        self.scalar_type.name()
    }

    /// The size in bytes.
    #[getter]
    const fn nbytes(&self) -> usize {
        self.memory.len
    }

    fn __repr__(&self) -> String {
        format!("etbuild.Tensor({}{:?})", self.dtype(), self.shape)
    }

    /// The tensor as an array of NumPy over the same memory.
    fn numpy<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("numpy")?.call_method1("asarray", (slf,))
    }

    /// The tensor as a tensor of PyTorch over the same memory.
    fn torch<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("torch")?.call_method1("from_dlpack", (slf,))
    }

    /// The device for DLPack: the CPU.
    const fn __dlpack_device__(&self) -> (c_int, c_int) {
        (CPU, 0)
    }

    /// The tensor for DLPack, over the same memory.
    #[pyo3(signature = (*, stream = None, max_version = None, dl_device = None, copy = None))]
    fn __dlpack__<'py>(
        slf: &Bound<'py, Self>,
        stream: Option<&Bound<'py, PyAny>>,
        max_version: Option<(u32, u32)>,
        dl_device: Option<(c_int, c_int)>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let py = slf.py();
        if stream.is_some() || copy == Some(true) || dl_device.is_some_and(|device| device != (CPU, 0)) {
            return Err(PyBufferError::new_err(
                "a tensor of etbuild is given out on the CPU, without a stream and without a copy",
            ));
        }
        let lent = Lent::new(slf);
        if max_version.is_some_and(|(major, _)| major >= 1) {
            let managed = ManagedVersioned {
                version: VERSION,
                context: null_mut(),
                delete: Some(delete_versioned),
                flags: 0,
                tensor: lent.tensor,
            };
            let managed = Box::into_raw(Box::new((managed, lent)));
            // SAFETY: the pair is at its final address; the destructor frees the pair unless a library took over the pair.
            return unsafe {
                (*managed).0.context = managed.cast();
                capsule(py, (&raw mut (*managed).0).cast(), c"dltensor_versioned", drop_versioned)
            };
        }
        let managed = Managed { tensor: lent.tensor, context: null_mut(), delete: Some(delete) };
        let managed = Box::into_raw(Box::new((managed, lent)));
        // SAFETY: as above.
        unsafe {
            (*managed).0.context = managed.cast();
            capsule(py, (&raw mut (*managed).0).cast(), c"dltensor", drop_unversioned)
        }
    }

    /// # Safety
    /// As the buffer protocol says.
    unsafe fn __getbuffer__(slf: Bound<'_, Self>, view: *mut ffi::Py_buffer, flags: c_int) -> PyResult<()> {
        let this = slf.get();
        let format = elements::format(this.scalar_type);
        let format = format.ok_or_else(|| PyBufferError::new_err("a buffer has no bfloat16: use `torch()`"))?;
        let wants = |flag: c_int| flags & flag == flag;
        let filled = ffi::Py_buffer {
            buf: this.memory.start(),
            len: this.memory.len as isize,
            itemsize: this.scalar_type.size() as isize,
            ndim: this.shape.len() as c_int,
            format: if wants(ffi::PyBUF_FORMAT) { format.as_ptr().cast_mut() } else { null_mut() },
            shape: if wants(ffi::PyBUF_ND) { this.shape.as_ptr().cast_mut() } else { null_mut() },
            strides: if wants(ffi::PyBUF_STRIDES) { this.strides.as_ptr().cast_mut() } else { null_mut() },
            obj: slf.as_ptr(),
            ..ffi::Py_buffer::new()
        };
        // SAFETY: the caller gives a place for a view, which takes over the reference to the object.
        unsafe { view.write(filled) };
        std::mem::forget(slf);
        Ok(())
    }
}

/// A capsule that `drop` frees.
///
/// # Safety
/// `drop` fits the pointer.
unsafe fn capsule<'py>(
    py: Python<'py>,
    pointer: *mut c_void,
    name: &'static std::ffi::CStr,
    drop: ffi::PyCapsule_Destructor,
) -> PyResult<Bound<'py, PyCapsule>> {
    let pointer = std::ptr::NonNull::new(pointer).ok_or_else(|| PyBufferError::new_err("no tensor"))?;
    // SAFETY: the caller says so.
    unsafe { PyCapsule::new_with_pointer_and_destructor(py, pointer, name, Some(drop)) }
}

/// The sizes of a tensor that a library borrows, and the owner of the elements.
struct Lent {
    tensor: DlTensor,
    _sizes: Box<[i64]>,
    _owner: Py<Tensor>,
}

impl Lent {
    fn new(owner: &Bound<'_, Tensor>) -> Self {
        let tensor = owner.get();
        let size = tensor.scalar_type.size() as i64;
        let strides = tensor.strides.iter().map(|stride| *stride as i64 / size);
        let mut sizes: Box<[i64]> = tensor.shape.iter().map(|size| *size as i64).chain(strides).collect();
        let lent = DlTensor {
            data: tensor.memory.start(),
            device: Device { kind: CPU, index: 0 },
            rank: tensor.shape.len() as i32,
            data_type: elements::to_dlpack(tensor.scalar_type),
            shape: sizes.as_mut_ptr(),
            strides: sizes.as_mut_ptr().wrapping_add(tensor.shape.len()),
            byte_offset: 0,
        };
        Self { tensor: lent, _sizes: sizes, _owner: owner.clone().unbind() }
    }
}

unsafe extern "C" fn delete_versioned(managed: *mut ManagedVersioned) {
    // SAFETY: the context is the pair that `__dlpack__` made, and a library calls this function once.
    drop(unsafe { Box::from_raw((*managed).context.cast::<(ManagedVersioned, Lent)>()) });
}

unsafe extern "C" fn delete(managed: *mut Managed) {
    // SAFETY: as above.
    drop(unsafe { Box::from_raw((*managed).context.cast::<(Managed, Lent)>()) });
}

/// Frees the tensor of a capsule that no library took over: a library renames the capsule.
unsafe extern "C" fn drop_versioned(capsule: *mut ffi::PyObject) {
    // SAFETY: Python calls this function for the capsule.
    unsafe {
        if ffi::PyCapsule_IsValid(capsule, c"dltensor_versioned".as_ptr()) == 1 {
            delete_versioned(ffi::PyCapsule_GetPointer(capsule, c"dltensor_versioned".as_ptr()).cast());
        }
    }
}

unsafe extern "C" fn drop_unversioned(capsule: *mut ffi::PyObject) {
    // SAFETY: as above.
    unsafe {
        if ffi::PyCapsule_IsValid(capsule, c"dltensor".as_ptr()) == 1 {
            delete(ffi::PyCapsule_GetPointer(capsule, c"dltensor".as_ptr()).cast());
        }
    }
}
