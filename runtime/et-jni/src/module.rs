//! The native methods of `Module`.
//!
//! Each function has the arguments that `Native.kt` declares: `library` is the number of a table, `module` the number of an object which
//! the library made. Kotlin passes numbers of objects that live, and calls with one object come one after the other.
#![expect(unsafe_code, reason = "Java calls the functions by their names, with numbers of pointers")]
#![allow(non_snake_case, reason = "JNI makes names of the names in Java")]

use std::ffi::CStr;
use std::ptr;

use et_c::module::Tensor;

use crate::environment::Environment;
use crate::failure::{Failure, Result};
use crate::functions::Functions;
use crate::interface::Object;
use crate::value::{Texts, functions, or_null, pointer};

const NO_PROGRAM: &str = "the library is one of a language model: load `LanguageModel`";

/// Loads a method of a program file; of a null name, the default method.
#[unsafe(no_mangle)]
extern "system" fn Java_etbuild_Native_moduleLoad(
    environment: Environment,
    _class: Object,
    library: i64,
    program: Object,
    data: Object,
    method: Object,
    threads: i32,
) -> i64 {
    environment.finish(|| {
        // SAFETY: the number names a table.
        let functions = unsafe { functions(library) };
        let load = functions.module_load.ok_or(NO_PROGRAM)?;
        let (program, data) = (environment.text(program)?, Texts::read(environment, data)?);
        let method = if method.is_null() { None } else { Some(environment.text(method)?) };
        let (method, threads) = (or_null(method.as_ref()), usize::try_from(threads)?);
        // SAFETY: texts are terminated, and live until the call returns.
        functions.object(unsafe { load(program.as_ptr(), data.first(), data.count(), method, threads) })
    })
}

/// Loads a method of a program file in a direct buffer.
#[unsafe(no_mangle)]
extern "system" fn Java_etbuild_Native_moduleLoadBytes(
    environment: Environment,
    _class: Object,
    library: i64,
    program: Object,
    data: Object,
    method: Object,
    threads: i32,
) -> i64 {
    environment.finish(|| {
        // SAFETY: the number names a table.
        let functions = unsafe { functions(library) };
        let load = functions.module_load_bytes.ok_or(NO_PROGRAM)?;
        let ((program, size), data) = (environment.buffer(program)?, Texts::read(environment, data)?);
        let method = if method.is_null() { None } else { Some(environment.text(method)?) };
        let (method, threads) = (or_null(method.as_ref()), usize::try_from(threads)?);
        // SAFETY: the buffer and the texts live until the call returns.
        functions.object(unsafe { load(program.cast(), size, data.first(), data.count(), method, threads) })
    })
}

/// Frees a method.
#[unsafe(no_mangle)]
extern "system" fn Java_etbuild_Native_moduleFree(_: Environment, _class: Object, library: i64, module: i64) {
    // SAFETY: the numbers name a table and an object, which Kotlin forgets.
    unsafe { (functions(library).module_free)(pointer(module)) }
}

/// The number of inputs.
#[unsafe(no_mangle)]
extern "system" fn Java_etbuild_Native_moduleInputs(_: Environment, _class: Object, library: i64, module: i64) -> i32 {
    // SAFETY: the numbers name a table and an object.
    unsafe { (functions(library).module_input_count)(pointer(module)) as i32 }
}

/// The name of an input.
#[unsafe(no_mangle)]
extern "system" fn Java_etbuild_Native_moduleInputName(
    environment: Environment,
    _class: Object,
    library: i64,
    module: i64,
    index: i32,
) -> Object {
    environment.finish(|| {
        let index = usize::try_from(index)?;
        // SAFETY: the numbers name a table and an object.
        let name = unsafe { (functions(library).module_input_name)(pointer(module), index) };
        if name.is_null() {
            return Err("there is no such input".into());
        }
        // SAFETY: the name is terminated, and lives as long as the object.
        environment.string(&unsafe { CStr::from_ptr(name) }.to_string_lossy())
    })
}

/// Copies the elements of a direct buffer into an input.
#[unsafe(no_mangle)]
extern "system" fn Java_etbuild_Native_moduleSetInput(
    environment: Environment,
    _class: Object,
    library: i64,
    module: i64,
    index: i32,
    element: i32,
    shape: Object,
    elements: Object,
) {
    environment.finish(|| {
        // SAFETY: the number names a table.
        let functions = unsafe { functions(library) };
        let (shape, (data, bytes)) = (environment.longs(shape)?, environment.buffer(elements)?);
        let (index, scalar_type) = (usize::try_from(index)?, u8::try_from(element)?);
        let tensor = Tensor { scalar_type, rank: shape.len(), shape: shape.as_ptr(), data: data.cast(), bytes };
        // SAFETY: the number names an object, and shape and elements live until the call returns.
        functions.status(unsafe { (functions.module_set_input)(pointer(module), index, &raw const tensor) })
    });
}

/// Executes the method; returns the number of outputs.
#[unsafe(no_mangle)]
extern "system" fn Java_etbuild_Native_moduleExecute(
    environment: Environment,
    _class: Object,
    library: i64,
    module: i64,
) -> i32 {
    environment.finish(|| {
        // SAFETY: the number names a table.
        let functions = unsafe { functions(library) };
        // SAFETY: the number names an object.
        functions.status(unsafe { (functions.module_execute)(pointer(module)) })?;
        // SAFETY: the same.
        Ok(i32::try_from(unsafe { (functions.module_output_count)(pointer(module)) })?)
    })
}

/// The type of the elements of an output, by its number.
#[unsafe(no_mangle)]
extern "system" fn Java_etbuild_Native_moduleOutputType(
    environment: Environment,
    _class: Object,
    library: i64,
    module: i64,
    index: i32,
) -> i32 {
    environment.finish(|| Ok(i32::from(output(library, module, index)?.scalar_type)))
}

/// The shape of an output.
#[unsafe(no_mangle)]
extern "system" fn Java_etbuild_Native_moduleOutputShape(
    environment: Environment,
    _class: Object,
    library: i64,
    module: i64,
    index: i32,
) -> Object {
    environment.finish(|| {
        let tensor = output(library, module, index)?;
        let shape = if tensor.rank == 0 {
            &[]
        } else {
            // SAFETY: the shape lives until the next execution.
            unsafe { std::slice::from_raw_parts(tensor.shape, tensor.rank) }
        };
        environment.long_array(shape)
    })
}

/// The elements of an output, in memory of the object: Kotlin copies the elements before the next execution.
#[unsafe(no_mangle)]
extern "system" fn Java_etbuild_Native_moduleOutput(
    environment: Environment,
    _class: Object,
    library: i64,
    module: i64,
    index: i32,
) -> Object {
    environment.finish(|| {
        let tensor = output(library, module, index)?;
        // SAFETY: the elements live until the next execution.
        unsafe { environment.new_buffer(tensor.data, tensor.bytes) }
    })
}

/// The description of an output.
fn output(library: i64, module: i64, index: i32) -> Result<Tensor> {
    // SAFETY: the number names a table.
    let functions: &Functions = unsafe { functions(library) };
    let index = usize::try_from(index).map_err(|_| Failure::from("there is no such output"))?;
    let mut tensor = Tensor { scalar_type: 0, rank: 0, shape: ptr::null(), data: ptr::null(), bytes: 0 };
    // SAFETY: the number names an object, and the place has room for the description.
    functions.status(unsafe { (functions.module_output)(pointer(module), index, &raw mut tensor) })?;
    Ok(tensor)
}
