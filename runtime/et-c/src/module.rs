//! A loaded method with its inputs and outputs.
#![expect(unsafe_code, reason = "C hands over pointers, and functions that it calls have unmangled names")]

use std::ffi::{CString, c_char, c_int};
use std::path::PathBuf;

use et_core::ScalarType;
use et_module::TensorView;
use et_module::app::AppSpec;
use et_module::{Array, DataFiles, Engines, FileBytes, Kernels, Module, checked_threads};

use crate::failure;
use crate::pointers::{elements, give, object, paths, put, take, text, value};

/// A loaded method: `et_module` in the header.
pub struct Loaded {
    module: Module,
    /// The names of the inputs as C strings.
    names: Vec<CString>,
    /// Whether each input still needs a tensor.
    missing: Vec<bool>,
    /// The outputs of the last execution.
    outputs: Vec<Output>,
}

/// An output that C may look at.
struct Output {
    array: Array,
    shape: Vec<i64>,
}

/// `et_tensor` in the header.
#[repr(C)]
pub struct Tensor {
    /// The number of the type of the elements, as in ExecuTorch's `schema/scalar_type.fbs`.
    pub scalar_type: u8,
    /// The number of dimensions.
    pub rank: usize,
    /// Their sizes, outermost first.
    pub shape: *const i64,
    /// The elements in row-major order.
    pub data: *const u8,
    /// The size in bytes.
    pub bytes: usize,
}

type Result<T, E = Box<dyn std::error::Error>> = std::result::Result<T, E>;

/// Loads a method; the binary's default method if `method` is null. The implementation of `et_module_load` in a
/// generated library.
///
/// # Safety
/// Texts are NUL-terminated, and `data` points to `data_count` elements; `method` may be null.
pub unsafe fn load(
    spec: &'static AppSpec,
    program: *const c_char,
    data: *const *const c_char,
    data_count: usize,
    method: *const c_char,
    threads: usize,
) -> *mut Loaded {
    // SAFETY: the caller says so.
    let file = || Ok(FileBytes::open(unsafe { text(program) }?.as_ref())?);
    // SAFETY: the same.
    unsafe { load_file(spec, file, (data, data_count), method, threads) }
}

/// Loads a method of a program file in memory, which is copied: the implementation of `et_module_load_bytes` in a generated library.
///
/// # Safety
/// As of [`load`]; `program` points to `size` bytes.
pub unsafe fn load_bytes(
    spec: &'static AppSpec,
    program: *const u8,
    size: usize,
    data: *const *const c_char,
    data_count: usize,
    method: *const c_char,
    threads: usize,
) -> *mut Loaded {
    // SAFETY: the caller says so.
    let file = || Ok(FileBytes::copied(unsafe { elements(program, size) }?));
    // SAFETY: the same.
    unsafe { load_file(spec, file, (data, data_count), method, threads) }
}

/// # Safety
/// As of [`load`].
unsafe fn load_file(
    spec: &'static AppSpec,
    file: impl FnOnce() -> Result<FileBytes>,
    (data, data_count): (*const *const c_char, usize),
    method: *const c_char,
    threads: usize,
) -> *mut Loaded {
    let loaded = || -> Result<Loaded> {
        // SAFETY: the caller says so.
        let data = unsafe { paths(data, data_count) }?;
        // SAFETY: the same.
        let method = if method.is_null() { spec.method } else { unsafe { text(method) }? };
        Ok(open(spec, file()?, &data, method, checked_threads(threads)?)?)
    };
    failure::or(loaded().map(give), std::ptr::null_mut())
}

fn open(
    spec: &'static AppSpec,
    file: FileBytes,
    data: &[PathBuf],
    method: &str,
    threads: usize,
) -> Result<Loaded, et_module::Error> {
    let engines = Engines::new(spec.engines, threads);
    let kernels = Kernels::Selected(spec.kernels);
    let module = Module::load_method(file, DataFiles::open(data)?, method, kernels, &engines)?;
    let names = module.stored_input_names().unwrap_or_else(|| module.input_names().to_vec());
    let module = module.with_input_names(&names.iter().map(String::as_str).collect::<Vec<_>>());
    let names = names.into_iter().map(|name| CString::new(name).unwrap_or_default()).collect();
    let is_tensor = |index| module.input_type(index).map(|wanted| wanted.is_some());
    let missing = (0..module.input_names().len()).map(is_tensor).collect::<Result<_, _>>()?;
    Ok(Loaded { module, names, missing, outputs: Vec::new() })
}

/// Frees a method with its outputs.
///
/// # Safety
/// `module` is null or was loaded, and is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn et_module_free(module: *mut Loaded) {
    // SAFETY: the caller says so.
    unsafe { take(module) }
}

/// The number of inputs.
///
/// # Safety
/// `module` is null or was loaded.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn et_module_input_count(module: *mut Loaded) -> usize {
    // SAFETY: the caller says so.
    unsafe { object(module) }.map_or(0, |loaded| loaded.names.len())
}

/// The name of an input; null for an index out of range.
///
/// # Safety
/// `module` is null or was loaded.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn et_module_input_name(module: *mut Loaded, index: usize) -> *const c_char {
    // SAFETY: the caller says so.
    let name = unsafe { object(module) }.ok().and_then(|loaded| loaded.names.get(index));
    name.map_or(std::ptr::null(), |name| name.as_ptr())
}

/// Copies a tensor into an input.
///
/// # Safety
/// `module` is null or was loaded; `tensor` is null or as the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn et_module_set_input(module: *mut Loaded, index: usize, tensor: *const Tensor) -> c_int {
    // SAFETY: the caller says so.
    let set = || unsafe { set_input(object(module)?, index, value(tensor)?) };
    failure::number::<Box<dyn std::error::Error>>(set())
}

/// # Safety
/// The tensor's pointers match its counts.
unsafe fn set_input(loaded: &mut Loaded, index: usize, tensor: &Tensor) -> Result<()> {
    let scalar_type = ScalarType::from_number(tensor.scalar_type).ok_or("there is no such type of elements")?;
    // SAFETY: the caller says so.
    let (shape, bytes) = unsafe { (elements(tensor.shape, tensor.rank)?, elements(tensor.data, tensor.bytes)?) };
    let size = |size: &i64| usize::try_from(*size).map_err(|_| format!("a tensor has no size of {size}"));
    let shape: Vec<usize> = shape.iter().map(size).collect::<Result<_, _>>()?;
    let wanted = shape.iter().try_fold(scalar_type.size(), |product, size| product.checked_mul(*size));
    if wanted != Some(bytes.len()) {
        return Err(format!("a tensor {shape:?} of {} does not take {} bytes", scalar_type.name(), bytes.len()).into());
    }
    loaded.module.set_input(index, &TensorView { scalar_type, shape, bytes })?;
    if let Some(missing) = loaded.missing.get_mut(index) {
        *missing = false;
    }
    Ok(())
}

/// Executes the method, of which each input was set. Pointers of earlier outputs become invalid.
///
/// # Safety
/// `module` is null or was loaded.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn et_module_execute(module: *mut Loaded) -> c_int {
    // SAFETY: the caller says so.
    let done = || execute(unsafe { object(module) }?);
    failure::number(done())
}

fn execute(loaded: &mut Loaded) -> Result<()> {
    loaded.outputs.clear();
    if let Some(index) = loaded.missing.iter().position(|missing| *missing) {
        let name = loaded.module.input_names().get(index).map_or("", String::as_str);
        return Err(format!("the input `{name}` was not set: et_module_set_input({index})").into());
    }
    loaded.module.execute()?;
    for index in 0..loaded.module.output_count()? {
        let array = loaded.module.output(index)?;
        let shape = array.shape.iter().map(|size| *size as i64).collect();
        loaded.outputs.push(Output { array, shape });
    }
    Ok(())
}

/// How many outputs the last execution gave.
///
/// # Safety
/// `module` is null or was loaded.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn et_module_output_count(module: *mut Loaded) -> usize {
    // SAFETY: the caller says so.
    unsafe { object(module) }.map_or(0, |loaded| loaded.outputs.len())
}

/// Points to an output, until the next execution.
///
/// # Safety
/// `module` is null or was loaded; `tensor` is null or may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn et_module_output(module: *mut Loaded, index: usize, tensor: *mut Tensor) -> c_int {
    // SAFETY: the caller says so.
    let outputs = unsafe { object(module) }.map(|loaded| &loaded.outputs);
    let output = outputs.and_then(|outputs| outputs.get(index).ok_or("there is no such output"));
    failure::number(output.map(|Output { array, shape }| {
        let (scalar_type, rank) = (array.scalar_type as u8, shape.len());
        let (shape, data, bytes) = (shape.as_ptr(), array.bytes.as_ptr(), array.bytes.len());
        // SAFETY: the caller says so.
        unsafe { put(tensor, Tensor { scalar_type, rank, shape, data, bytes }) }
    }))
}
