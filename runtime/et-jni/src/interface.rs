//! The declarations of JNI, as far as the crate needs declarations.
//!
//! Source: Java Native Interface Specification, chapter 4 (function table) and chapter 5 (invocation interface). The index of a function in its
//! table is fixed for ever.

use std::ffi::{c_char, c_void};
use std::mem::{offset_of, size_of};

/// The version that the functions belong to: 1.6.
pub const VERSION: i32 = 0x0001_0006;

/// A reference to an object of Java; null for none. A local reference, which is valid during the native call.
#[repr(transparent)]
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Object(pub *mut c_void);

/// The environment of a thread.
pub type RawEnvironment = *mut *const Interface;

/// A method or a field of a class.
pub type Member = *mut c_void;

/// An argument of a method of Java.
#[repr(C)]
#[derive(Clone, Copy)]
pub union Argument {
    /// An object.
    pub object: Object,
    /// An `int`.
    pub int: i32,
    /// A `long`.
    pub long: i64,
    /// A `double`.
    pub double: f64,
}

type Find = unsafe extern "system" fn(RawEnvironment, Object, *const c_char, *const c_char) -> Member;
type Call<T> = unsafe extern "system" fn(RawEnvironment, Object, Member, *const Argument) -> T;
type Get<T> = unsafe extern "system" fn(RawEnvironment, Object, Member) -> T;
type Set<T> = unsafe extern "system" fn(RawEnvironment, Object, Member, T);
type Of<T> = unsafe extern "system" fn(RawEnvironment, Object) -> T;

/// The functions of a thread's environment.
#[repr(C)]
pub struct Interface {
    _first: [usize; 6],
    pub find_class: unsafe extern "system" fn(RawEnvironment, *const c_char) -> Object,
    _references: [usize; 16],
    pub delete_local_reference: unsafe extern "system" fn(RawEnvironment, Object),
    _objects: [usize; 7],
    pub class_of: Of<Object>,
    _instances: [usize; 1],
    pub find_method: Find,
    _object_methods: [usize; 5],
    pub call_boolean: Call<u8>,
    _methods: [usize; 54],
    pub find_field: Find,
    pub get_object: Get<Object>,
    pub get_boolean: Get<u8>,
    _get_small: [usize; 3],
    pub get_int: Get<i32>,
    pub get_long: Get<i64>,
    pub get_float: Get<f32>,
    _set_small: [usize; 7],
    pub set_long: Set<i64>,
    pub set_float: Set<f32>,
    _set_double: [usize; 1],
    pub find_static_method: Find,
    _static_methods: [usize; 29],
    pub call_static_void: Call<()>,
    _static_fields: [usize; 19],
    pub new_string: unsafe extern "system" fn(RawEnvironment, *const u16, i32) -> Object,
    pub string_length: Of<i32>,
    _strings: [usize; 6],
    pub array_length: Of<i32>,
    _new_objects: [usize; 1],
    pub array_element: unsafe extern "system" fn(RawEnvironment, Object, i32) -> Object,
    _new_arrays: [usize; 5],
    pub new_int_array: unsafe extern "system" fn(RawEnvironment, i32) -> Object,
    pub new_long_array: unsafe extern "system" fn(RawEnvironment, i32) -> Object,
    _elements: [usize; 22],
    pub read_ints: unsafe extern "system" fn(RawEnvironment, Object, i32, i32, *mut i32),
    pub read_longs: unsafe extern "system" fn(RawEnvironment, Object, i32, i32, *mut i64),
    pub read_floats: unsafe extern "system" fn(RawEnvironment, Object, i32, i32, *mut f32),
    _regions: [usize; 5],
    pub write_ints: unsafe extern "system" fn(RawEnvironment, Object, i32, i32, *const i32),
    pub write_longs: unsafe extern "system" fn(RawEnvironment, Object, i32, i32, *const i64),
    _monitors: [usize; 7],
    pub read_string: unsafe extern "system" fn(RawEnvironment, Object, i32, i32, *mut u16),
    _critical: [usize; 7],
    pub has_exception: unsafe extern "system" fn(RawEnvironment) -> u8,
    pub new_buffer: unsafe extern "system" fn(RawEnvironment, *mut c_void, i64) -> Object,
    pub buffer_address: Of<*mut c_void>,
    pub buffer_size: Of<i64>,
}

/// Checks the index of each function that follows a gap.
const _: () = {
    let indices = [
        (offset_of!(Interface, find_class), 6),
        (offset_of!(Interface, delete_local_reference), 23),
        (offset_of!(Interface, class_of), 31),
        (offset_of!(Interface, find_method), 33),
        (offset_of!(Interface, call_boolean), 39),
        (offset_of!(Interface, find_field), 94),
        (offset_of!(Interface, get_int), 100),
        (offset_of!(Interface, set_long), 110),
        (offset_of!(Interface, find_static_method), 113),
        (offset_of!(Interface, call_static_void), 143),
        (offset_of!(Interface, new_string), 163),
        (offset_of!(Interface, array_length), 171),
        (offset_of!(Interface, array_element), 173),
        (offset_of!(Interface, new_int_array), 179),
        (offset_of!(Interface, read_ints), 203),
        (offset_of!(Interface, write_ints), 211),
        (offset_of!(Interface, read_string), 220),
        (offset_of!(Interface, has_exception), 228),
        (offset_of!(Interface, buffer_size), 231),
    ];
    let mut place = 0;
    while place < indices.len() {
        let (offset, index) = indices[place];
        assert!(offset == index * size_of::<usize>());
        place += 1;
    }
};

/// A virtual machine of Java: the argument of `JNI_OnLoad`.
#[repr(transparent)]
#[derive(Clone, Copy)]
pub struct Machine(pub *mut *const Invocation);

/// The functions of a virtual machine.
#[repr(C)]
pub struct Invocation {
    _first: [usize; 6],
    pub environment: unsafe extern "system" fn(Machine, *mut RawEnvironment, i32) -> i32,
}
