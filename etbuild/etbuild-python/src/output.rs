//! Outputs of a method as objects of Python.
#![allow(unsafe_code)] // Fills in the memory of new arrays.

use et_core::{MAX_RANK, ScalarType, Shape};
use et_module::{Array, Constant, OutputValue};
use etbuild_run::Method;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyTuple;

use crate::dlpack::{CPU, Device, DlTensor, ExchangeApi, ManagedVersioned, VERSION};
use crate::elements;
use crate::failure::{failed, run_failed};
use crate::library::Library;
use crate::loaded::LoadedMethod;
use crate::tensor::{Memory, Tensor};

/// The outputs of the last execution: tensors as arrays of the library, numbers and texts as they are.
pub fn all<'py>(py: Python<'py>, method: &mut LoadedMethod<'_>, library: Library) -> PyResult<Vec<Bound<'py, PyAny>>> {
    let count = method.method.output_count().map_err(|error| run_failed(py, &error))?;
    (0..count).map(|index| output(py, method, index, library)).collect()
}

fn output<'py>(
    py: Python<'py>,
    method: &mut LoadedMethod<'_>,
    index: usize,
    library: Library,
) -> PyResult<Bound<'py, PyAny>> {
    match method.method.output_value(index).map_err(|error| run_failed(py, &error))? {
        OutputValue::Tensor(scalar_type, shape) => tensor(py, method, index, scalar_type, &shape, library),
        OutputValue::Constant(constant) => object(py, constant),
        OutputValue::Numbers(numbers) => array(py, &numbers),
    }
}

/// A tensor with the elements of an array.
pub fn array<'py>(py: Python<'py>, array: &Array) -> PyResult<Bound<'py, PyAny>> {
    let sizes: Vec<i32> = array.shape.iter().map(|size| *size as i32).collect();
    let shape = Shape::new(&sizes).map_err(|error| failed(py, &error.into()))?;
    Tensor::new(py, array.scalar_type, &shape, Memory::of(&array.bytes))
}

fn object(py: Python<'_>, constant: Constant) -> PyResult<Bound<'_, PyAny>> {
    Ok(match constant {
        Constant::None => py.None().into_bound(py),
        Constant::Bool(value) => value.into_pyobject(py)?.to_owned().into_any(),
        Constant::Int(value) => value.into_pyobject(py)?.into_any(),
        Constant::Double(value) => value.into_pyobject(py)?.into_any(),
        Constant::Text(value) => value.into_pyobject(py)?.into_any(),
    })
}

fn tensor<'py>(
    py: Python<'py>,
    method: &mut LoadedMethod<'_>,
    index: usize,
    scalar_type: ScalarType,
    shape: &Shape,
    library: Library,
) -> PyResult<Bound<'py, PyAny>> {
    match library {
        Library::NumPy if elements::format(scalar_type).is_some() => {
            if let Some(empty) = numpy_empty(py) {
                return numpy(empty, method, index, scalar_type, shape);
            }
        }
        Library::Exchange(api) => return exchanged(py, api, &method.method, index, scalar_type, shape),
        _ => {}
    }
    let tensor = Tensor::new(py, scalar_type, shape, copied(py, &method.method, index, scalar_type, shape)?)?;
    match library {
        Library::Torch => py.import("torch")?.call_method1("from_dlpack", (tensor,)),
        _ => Ok(tensor),
    }
}

/// The elements in memory of their own.
fn copied(
    py: Python<'_>,
    method: &Method<'_>,
    index: usize,
    scalar_type: ScalarType,
    shape: &Shape,
) -> PyResult<Memory> {
    let count: usize = (0..shape.rank()).map(|dim| shape.size(dim)).product();
    let mut memory = Memory::zeroed(count * scalar_type.size());
    method.copy_output(index, memory.bytes_mut()).map_err(|error| run_failed(py, &error))?;
    Ok(memory)
}

/// `numpy.empty`, if NumPy is installed.
fn numpy_empty(py: Python<'_>) -> Option<&Bound<'_, PyAny>> {
    static EMPTY: PyOnceLock<Option<Py<PyAny>>> = PyOnceLock::new();
    let find = || py.import("numpy").and_then(|numpy| numpy.getattr("empty")).ok().map(Bound::unbind);
    EMPTY.get_or_init(py, find).as_ref().map(|empty| empty.bind(py))
}

/// A new array of NumPy with a copy of the elements.
fn numpy<'py>(
    empty: &Bound<'py, PyAny>,
    method: &mut LoadedMethod<'_>,
    index: usize,
    scalar_type: ScalarType,
    shape: &Shape,
) -> PyResult<Bound<'py, PyAny>> {
    let py = empty.py();
    let slot = method.memory.arrays.get_mut(index);
    let known = slot.as_deref().and_then(Option::as_ref).filter(|(known, _)| known.sizes() == shape.sizes());
    let array = match known {
        Some((_, arguments)) => empty.call1(arguments.bind(py))?,
        None => {
            let sizes = PyTuple::new(py, shape.sizes())?;
            let dtype = py.import("numpy")?.getattr("dtype")?.call1((scalar_type.name(),))?;
            let arguments = PyTuple::new(py, [sizes.into_any(), dtype])?;
            if let Some(slot) = slot {
                *slot = Some((*shape, arguments.clone().unbind()));
            }
            empty.call1(arguments)?
        }
    };
    let mut view = ffi::Py_buffer::new();
    // SAFETY: the array is alive, and the view stays at the address until the release.
    if unsafe { ffi::PyObject_GetBuffer(array.as_ptr(), &raw mut view, ffi::PyBUF_WRITABLE) } != 0 {
        return Err(PyErr::fetch(py));
    }
    let len = usize::try_from(view.len).unwrap_or(0);
    let bytes: &mut [u8] = match len {
        0 => &mut [],
        // SAFETY: the array is new, so no other reference to the `len` bytes exists.
        len => unsafe { std::slice::from_raw_parts_mut(view.buf.cast(), len) },
    };
    let done = method.method.copy_output(index, bytes);
    // SAFETY: the view was filled in.
    unsafe { ffi::PyBuffer_Release(&raw mut view) };
    done.map(|_| array).map_err(|error| run_failed(py, &error))
}

/// A tensor that a library takes over with its memory.
struct Given {
    managed: ManagedVersioned,
    shape: [i64; MAX_RANK],
    strides: [i64; MAX_RANK],
    memory: Memory,
}

/// A new tensor of a library with an exchange table.
fn exchanged<'py>(
    py: Python<'py>,
    api: &ExchangeApi,
    method: &Method<'_>,
    index: usize,
    scalar_type: ScalarType,
    shape: &Shape,
) -> PyResult<Bound<'py, PyAny>> {
    let Some(to_object) = api.to_object else { return Err(pyo3::exceptions::PyBufferError::new_err("no conversion")) };
    let memory = copied(py, method, index, scalar_type, shape)?;
    let (mut sizes, mut strides, mut stride) = ([0; MAX_RANK], [0; MAX_RANK], 1);
    for dim in (0..shape.rank()).rev() {
        let size = shape.size(dim) as i64;
        if let (Some(slot), Some(distance)) = (sizes.get_mut(dim), strides.get_mut(dim)) {
            (*slot, *distance) = (size, stride);
        }
        stride *= size;
    }
    let tensor = DlTensor {
        device: Device { kind: CPU, index: 0 },
        rank: shape.rank() as i32,
        data_type: elements::to_dlpack(scalar_type),
        ..DlTensor::EMPTY
    };
    let managed =
        ManagedVersioned { version: VERSION, context: std::ptr::null_mut(), delete: Some(delete), flags: 0, tensor };
    let given = Box::into_raw(Box::new(Given { managed, shape: sizes, strides, memory }));
    // SAFETY: the box was just made; the pointers into it stay valid until `delete`.
    unsafe {
        (*given).managed.context = given.cast();
        (*given).managed.tensor.data = (*given).memory.start();
        (*given).managed.tensor.shape = (&raw mut (*given).shape).cast();
        (*given).managed.tensor.strides = (&raw mut (*given).strides).cast();
    }
    let mut object = std::ptr::null_mut();
    // SAFETY: the library takes over the tensor, with the function that frees it.
    match unsafe { to_object(&raw mut (*given).managed, &raw mut object) } {
        // SAFETY: the library gives a new reference.
        0 => Ok(unsafe { Bound::from_owned_ptr(py, object) }),
        _ => Err(PyErr::fetch(py)),
    }
}

/// Frees a tensor that a library has taken over.
unsafe extern "C" fn delete(managed: *mut ManagedVersioned) {
    // SAFETY: the context is the box that `exchanged` made, and a library calls this function once.
    drop(unsafe { Box::from_raw((*managed).context.cast::<Given>()) });
}
