//! Arguments of a call: objects of Python as inputs of a method.
#![allow(unsafe_code)] // Reads memory of array libraries through the buffer protocol and DLPack.

use std::borrow::Cow;
use std::ffi::{CStr, c_int};

use et_core::{MAX_RANK, ScalarType};
use et_module::Constant;
use etbuild_run::{Method, View};
use pyo3::exceptions::{PyBufferError, PyTypeError};
use pyo3::ffi;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyCapsule, PyCapsuleMethods, PyDict, PyFloat, PyInt, PyString};

use crate::dlpack::{CPU, DlTensor, Managed, ManagedVersioned};
use crate::elements;
use crate::failure::{input_error, run_failed};
use crate::library::{Library, exchange_api};

/// Sets input `index` of a method; returns the library of the argument, or `None` for a number or text.
///
/// # Errors
/// The argument is no tensor, number or text, or does not fit the input.
pub fn set(method: &mut Method<'_>, index: usize, argument: &Bound<'_, PyAny>) -> PyResult<Option<Library>> {
    let py = argument.py();
    let count = method.input_names().len();
    if index >= count {
        return Err(input_error(py, &format!("more than {count} inputs were given, the method has {count}")));
    }
    // SAFETY: the object is alive.
    if unsafe { ffi::PyObject_CheckBuffer(argument.as_ptr()) } == 1 {
        let buffer = Buffer::get(argument)?;
        return buffer.tensor()?.set(py, method, index).map(|()| Some(Library::NumPy));
    }
    if let Some(api) = exchange_api(argument)?
        && let Some(borrow) = api.borrow
    {
        let plain = plain(argument)?;
        let argument = &plain;
        let mut tensor = DlTensor::EMPTY;
        // SAFETY: the function belongs to the type of the object. The borrowed memory is copied before control returns to Python.
        let status = unsafe { borrow(argument.as_ptr(), &raw mut tensor) };
        if status != 0 {
            return Err(not_here(argument, PyErr::fetch(py)));
        }
        // SAFETY: the library filled in the tensor.
        return unsafe { Strided::of_dlpack(&tensor)? }.set(py, method, index).map(|()| Some(Library::Exchange(api)));
    }
    if argument.hasattr("__dlpack__")? {
        let argument = &plain(argument)?;
        let capsule = Capsule::get(argument).map_err(|error| not_here(argument, error))?;
        capsule.tensor()?.set(py, method, index)?;
        return Library::of(argument).map(Some);
    }
    method.confirm(index, &constant(argument)?).map_err(|error| run_failed(py, &error)).map(|()| None)
}

/// The tensor whose memory has the elements: PyTorch negates and conjugates lazily, with a bit that DLPack does not have.
fn plain<'py>(argument: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let py = argument.py();
    let is_set = |name: &Bound<'py, PyString>| -> PyResult<bool> {
        // Only PyTorch has the bits.
        argument.getattr_opt(name)?.map_or(Ok(false), |question| question.call0()?.is_truthy())
    };
    let mut plain = argument.clone();
    if is_set(intern!(py, "is_neg"))? {
        plain = plain.call_method0(intern!(py, "resolve_neg"))?;
    }
    if is_set(intern!(py, "is_conj"))? {
        plain = plain.call_method0(intern!(py, "resolve_conj"))?;
    }
    Ok(plain)
}

/// The error for a tensor that its library does not lend: on another device in plain words, else in the first line of the library.
fn not_here(argument: &Bound<'_, PyAny>, error: PyErr) -> PyErr {
    let py = argument.py();
    let device = argument.getattr("device").and_then(|device| device.str()).map(|device| device.to_string());
    match device {
        Ok(device) if device != "cpu" => {
            let message = format!("an input is on device {device}: move the tensor to the CPU first");
            input_error(py, &message)
        }
        _ => {
            let problem = error.value(py).to_string();
            let problem = problem.lines().next().unwrap_or_default();
            input_error(py, &format!("the library of an input does not lend the elements: {problem}"))
        }
    }
}

fn constant(argument: &Bound<'_, PyAny>) -> PyResult<Constant> {
    Ok(if argument.is_none() {
        Constant::None
    } else if argument.is_instance_of::<PyBool>() {
        Constant::Bool(argument.extract()?)
    } else if argument.is_instance_of::<PyInt>() {
        Constant::Int(argument.extract()?)
    } else if argument.is_instance_of::<PyFloat>() {
        Constant::Double(argument.extract()?)
    } else if argument.is_instance_of::<PyString>() {
        Constant::Text(argument.extract()?)
    } else {
        let kind = argument.get_type().name()?;
        let message = format!("an input is an array, a tensor, a number, a text or None, not {kind}");
        return Err(input_error(argument.py(), &message));
    })
}

/// Elements in memory of somebody else, with distances in bytes.
struct Strided {
    start: *const u8,
    scalar_type: ScalarType,
    shape: Vec<usize>,
    strides: [isize; MAX_RANK],
}

impl Strided {
    /// # Safety
    /// The tensor is as DLPack says.
    unsafe fn of_dlpack(tensor: &DlTensor) -> PyResult<Self> {
        if tensor.device.kind != CPU {
            return Err(PyBufferError::new_err("an input is on another device: move the tensor to the CPU first"));
        }
        let scalar_type = elements::of_dlpack(tensor.data_type)
            .ok_or_else(|| PyBufferError::new_err("no program has elements of the tensor's type"))?;
        let rank = checked_rank(tensor.rank)?;
        // SAFETY: the caller says so.
        let size = |dim: usize| unsafe { *tensor.shape.add(dim) };
        let shape = (0..rank).map(|dim| usize::try_from(size(dim)));
        let shape = shape.collect::<Result<Vec<usize>, _>>().map_err(|_| malformed())?;
        let mut strides = row_major(&shape, scalar_type.size());
        if !tensor.strides.is_null() {
            for (dim, stride) in strides.iter_mut().enumerate().take(rank) {
                // SAFETY: the caller says so.
                let elements = unsafe { *tensor.strides.add(dim) } as isize;
                *stride = elements.wrapping_mul(scalar_type.size() as isize);
            }
        }
        let start = tensor.data.cast::<u8>().cast_const().wrapping_add(tensor.byte_offset as usize);
        Ok(Self { start, scalar_type, shape, strides })
    }

    fn set(mut self, py: Python<'_>, method: &mut Method<'_>, index: usize) -> PyResult<()> {
        if self.start.is_null() && !self.shape.contains(&0) {
            // As of a tensor that stands for another while PyTorch traces.
            return Err(input_error(py, "an input has no elements in memory: give the tensor itself"));
        }
        let (bytes, scalar_type) = (self.bytes().ok_or_else(malformed)?, self.scalar_type);
        let view = View::of_bytes(scalar_type, std::mem::take(&mut self.shape), &bytes);
        view.and_then(|view| method.set_at(index, view)).map_err(|error| run_failed(py, &error))
    }

    /// The elements in row-major order: in place, or gathered.
    fn bytes<'m>(&self) -> Option<Cow<'m, [u8]>> {
        let size = self.scalar_type.size();
        let count = self.shape.iter().try_fold(1_usize, |count, size| count.checked_mul(*size))?;
        let len = count.checked_mul(size)?;
        if len == 0 {
            return Some(Cow::Borrowed(&[]));
        }
        if self.is_row_major() {
            // SAFETY: the owner of the memory promises the elements. The bytes are copied while this thread has the interpreter's
            // lock; a thread without the lock that writes meanwhile breaks the promise of the buffer protocol.
            return Some(Cow::Borrowed(unsafe { std::slice::from_raw_parts(self.start, len) }));
        }
        let mut bytes = Vec::with_capacity(len);
        self.gather(0, self.start, &mut bytes);
        Some(Cow::Owned(bytes))
    }

    fn is_row_major(&self) -> bool {
        let dense = row_major(&self.shape, self.scalar_type.size());
        // The distance along a dimension of one element does not matter.
        let dims = self.shape.iter().zip(self.strides.iter().zip(&dense));
        dims.into_iter().all(|(size, (stride, dense))| *size == 1 || stride == dense)
    }

    /// Appends the elements of the dimensions from `dim` on.
    fn gather(&self, dim: usize, start: *const u8, bytes: &mut Vec<u8>) {
        let Some((count, stride)) = self.shape.get(dim).zip(self.strides.get(dim)) else {
            // SAFETY: as above.
            bytes.extend_from_slice(unsafe { std::slice::from_raw_parts(start, self.scalar_type.size()) });
            return;
        };
        for index in 0..*count {
            self.gather(dim + 1, start.wrapping_offset((index as isize).wrapping_mul(*stride)), bytes);
        }
    }
}

/// The distances of elements in row-major order, in bytes.
fn row_major(shape: &[usize], size: usize) -> [isize; MAX_RANK] {
    let mut strides = [0; MAX_RANK];
    let mut stride = size;
    for (slot, size) in strides.iter_mut().zip(shape).rev() {
        *slot = stride as isize;
        stride = stride.wrapping_mul(*size);
    }
    strides
}

fn checked_rank(rank: i32) -> PyResult<usize> {
    let rank = usize::try_from(rank).ok().filter(|rank| *rank <= MAX_RANK);
    rank.ok_or_else(|| PyBufferError::new_err(format!("a tensor has at most {MAX_RANK} dimensions")))
}

fn malformed() -> PyErr {
    PyBufferError::new_err("the sizes of the tensor are malformed")
}

/// A buffer, released at the end of the life of this value.
struct Buffer(Box<ffi::Py_buffer>);

impl Buffer {
    fn get(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        let mut view = Box::new(ffi::Py_buffer::new());
        const WANTED: c_int = ffi::PyBUF_FORMAT | ffi::PyBUF_STRIDES;
        // SAFETY: the object is alive, and the view is at its final address.
        match unsafe { ffi::PyObject_GetBuffer(object.as_ptr(), &raw mut *view, WANTED) } {
            0 => Ok(Self(view)),
            _ => Err(PyErr::fetch(object.py())),
        }
    }

    fn tensor(&self) -> PyResult<Strided> {
        let view = &self.0;
        // SAFETY: a format is terminated; without a format, elements are bytes.
        let format = if view.format.is_null() { c"B" } else { unsafe { CStr::from_ptr(view.format) } };
        let size = usize::try_from(view.itemsize).unwrap_or(0);
        let scalar_type = elements::of_format(format.to_bytes(), size).ok_or_else(|| {
            let format = format.to_string_lossy();
            PyTypeError::new_err(format!("no program has elements of the format `{format}` of {size} bytes"))
        })?;
        let rank = checked_rank(view.ndim)?;
        // SAFETY: the view has `ndim` sizes and distances, as `PyBUF_STRIDES` asks for.
        let (size, stride) = (|dim| unsafe { *view.shape.add(dim) }, |dim| unsafe { *view.strides.add(dim) });
        let shape = (0..rank).map(|dim| size(dim).unsigned_abs()).collect();
        let mut strides = [0; MAX_RANK];
        strides.iter_mut().enumerate().take(rank).for_each(|(dim, slot)| *slot = stride(dim));
        Ok(Strided { start: view.buf.cast::<u8>().cast_const(), scalar_type, shape, strides })
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        // SAFETY: the view was filled in, and is released once, in a thread with the interpreter's lock.
        unsafe { ffi::PyBuffer_Release(&raw mut *self.0) };
    }
}

/// A capsule of `__dlpack__`, which frees its tensor at the end of the life of the object.
struct Capsule<'py>(Bound<'py, PyCapsule>);

impl<'py> Capsule<'py> {
    fn get(object: &Bound<'py, PyAny>) -> PyResult<Self> {
        let py = object.py();
        let options = PyDict::new(py);
        options.set_item("max_version", (1, 0))?;
        let given = match object.call_method("__dlpack__", (), Some(&options)) {
            // A library from before version 1 does not know the option.
            Err(error) if error.is_instance_of::<PyTypeError>(py) => object.call_method0("__dlpack__"),
            given => given,
        };
        Ok(Self(given?.cast_into::<PyCapsule>()?))
    }

    fn tensor(&self) -> PyResult<Strided> {
        if self.0.is_valid_checked(Some(c"dltensor_versioned")) {
            let managed = self.0.pointer_checked(Some(c"dltensor_versioned"))?.cast::<ManagedVersioned>();
            // SAFETY: the name states the type behind the pointer. The capsule keeps the tensor, and the name stays, so the capsule frees the tensor.
            let managed = unsafe { managed.as_ref() };
            if managed.version.major != 1 {
                return Err(PyBufferError::new_err("the tensor has a version of DLPack other than 1"));
            }
            // SAFETY: the library filled in the tensor.
            return unsafe { Strided::of_dlpack(&managed.tensor) };
        }
        let managed = self.0.pointer_checked(Some(c"dltensor"))?.cast::<Managed>();
        // SAFETY: as above.
        unsafe { Strided::of_dlpack(&managed.as_ref().tensor) }
    }
}
