//! The environment of a thread of Java, with results for pending exceptions.
#![expect(unsafe_code, reason = "calls functions of the virtual machine")]

use std::ffi::{CStr, CString, c_void};

use crate::failure::{Failure, Result};
use crate::interface::{Argument, Interface, Member, Object, RawEnvironment};

/// The environment of the thread that a native call runs on.
#[repr(transparent)]
#[derive(Clone, Copy)]
pub struct Environment(RawEnvironment);

/// The class of the native methods.
const NATIVE: &CStr = c"etbuild/Native";

impl Default for Object {
    /// No object.
    fn default() -> Self {
        Self(std::ptr::null_mut())
    }
}

impl Object {
    /// Whether the reference is null.
    pub fn is_null(self) -> bool {
        self.0.is_null()
    }
}

impl Environment {
    /// The environment behind a pointer.
    ///
    /// # Safety
    /// The virtual machine made the pointer for this thread, and the value is not used after the native call.
    pub unsafe fn new(raw: RawEnvironment) -> Self {
        Self(raw)
    }

    fn interface(self) -> &'static Interface {
        // SAFETY: the virtual machine calls native methods with the environment of the thread; the table lives as long as the machine.
        unsafe { &**self.0 }
    }

    /// Calls a function of the table, and turns a pending exception into a failure.
    fn checked<T>(self, call: impl FnOnce(RawEnvironment, &Interface) -> T) -> Result<T> {
        let result = call(self.0, self.interface());
        // SAFETY: the function takes any environment.
        let thrown = unsafe { (self.interface().has_exception)(self.0) } != 0;
        if thrown { Err(Failure::Thrown) } else { Ok(result) }
    }

    /// The result of `work`; on a failure an exception is pending, and the result is the type's default, which Java does not see.
    pub fn finish<T: Default>(self, work: impl FnOnce() -> Result<T>) -> T {
        work().unwrap_or_else(|failure| {
            if let Failure::Said(message) = failure {
                // A failure here leaves an exception of the machine pending.
                self.call_native(c"fail", c"(Ljava/lang/String;)V", |environment| {
                    Ok(vec![Argument { object: environment.string(&message)? }])
                })
                .unwrap_or_default();
            }
            T::default()
        })
    }

    /// Calls a static method of `Native` without a result.
    pub fn call_native(
        self,
        name: &CStr,
        signature: &CStr,
        arguments: impl FnOnce(Self) -> Result<Vec<Argument>>,
    ) -> Result<()> {
        // SAFETY: the name is terminated.
        let class = self.checked(|raw, table| unsafe { (table.find_class)(raw, NATIVE.as_ptr()) })?;
        let (name, signature) = (name.as_ptr(), signature.as_ptr());
        // SAFETY: the class is a class, and the names are terminated.
        let method = self.checked(|raw, table| unsafe { (table.find_static_method)(raw, class, name, signature) })?;
        let arguments = arguments(self)?;
        // SAFETY: the caller gives the arguments of the signature.
        self.checked(|raw, table| unsafe { (table.call_static_void)(raw, class, method, arguments.as_ptr()) })
    }

    /// Calls a method that returns a `boolean`.
    pub fn call_boolean(self, object: Object, method: Member, arguments: &[Argument]) -> Result<bool> {
        // SAFETY: the object has the method, and the caller gives the arguments of the method.
        Ok(self.checked(|raw, table| unsafe { (table.call_boolean)(raw, object, method, arguments.as_ptr()) })? != 0)
    }

    /// A method of an object.
    pub fn method(self, object: Object, name: &CStr, signature: &CStr) -> Result<Member> {
        self.member(object, |raw, table, class| {
            // SAFETY: the class is a class, and the names are terminated.
            unsafe { (table.find_method)(raw, class, name.as_ptr(), signature.as_ptr()) }
        })
    }

    fn field(self, object: Object, name: &CStr, signature: &CStr) -> Result<Member> {
        self.member(object, |raw, table, class| {
            // SAFETY: the class is a class, and the names are terminated.
            unsafe { (table.find_field)(raw, class, name.as_ptr(), signature.as_ptr()) }
        })
    }

    fn member(self, object: Object, find: impl FnOnce(RawEnvironment, &Interface, Object) -> Member) -> Result<Member> {
        if object.is_null() {
            return Err("an object is missing".into());
        }
        // SAFETY: the object is not null.
        let class = self.checked(|raw, table| unsafe { (table.class_of)(raw, object) })?;
        let member = self.checked(|raw, table| find(raw, table, class))?;
        self.forget(class);
        Ok(member)
    }

    /// The object in a field; `signature` names the class.
    pub fn object_field(self, object: Object, name: &CStr, signature: &CStr) -> Result<Object> {
        let field = self.field(object, name, signature)?;
        // SAFETY: the object has the field.
        self.checked(|raw, table| unsafe { (table.get_object)(raw, object, field) })
    }

    /// The text in a field; `None` for null.
    pub fn text_field(self, object: Object, name: &CStr) -> Result<Option<CString>> {
        let text = self.object_field(object, name, c"Ljava/lang/String;")?;
        let read = if text.is_null() { None } else { Some(self.text(text)?) };
        self.forget(text);
        Ok(read)
    }

    /// The `boolean` in a field.
    pub fn boolean_field(self, object: Object, name: &CStr) -> Result<bool> {
        let field = self.field(object, name, c"Z")?;
        // SAFETY: the object has the field.
        Ok(self.checked(|raw, table| unsafe { (table.get_boolean)(raw, object, field) })? != 0)
    }

    /// The `int` in a field.
    pub fn int_field(self, object: Object, name: &CStr) -> Result<i32> {
        let field = self.field(object, name, c"I")?;
        // SAFETY: the object has the field.
        self.checked(|raw, table| unsafe { (table.get_int)(raw, object, field) })
    }

    /// The `long` in a field.
    pub fn long_field(self, object: Object, name: &CStr) -> Result<i64> {
        let field = self.field(object, name, c"J")?;
        // SAFETY: the object has the field.
        self.checked(|raw, table| unsafe { (table.get_long)(raw, object, field) })
    }

    /// The `float` in a field.
    pub fn float_field(self, object: Object, name: &CStr) -> Result<f32> {
        let field = self.field(object, name, c"F")?;
        // SAFETY: the object has the field.
        self.checked(|raw, table| unsafe { (table.get_float)(raw, object, field) })
    }

    /// Writes a field of type `long`.
    pub fn set_long_field(self, object: Object, name: &CStr, value: i64) -> Result<()> {
        let field = self.field(object, name, c"J")?;
        // SAFETY: the object has the field.
        self.checked(|raw, table| unsafe { (table.set_long)(raw, object, field, value) })
    }

    /// Writes a field of type `float`.
    pub fn set_float_field(self, object: Object, name: &CStr, value: f32) -> Result<()> {
        let field = self.field(object, name, c"F")?;
        // SAFETY: the object has the field.
        self.checked(|raw, table| unsafe { (table.set_float)(raw, object, field, value) })
    }

    /// A string of Java as a terminated text in UTF-8. Java's own conversion is another encoding.
    pub fn text(self, string: Object) -> Result<CString> {
        if string.is_null() {
            return Err("a text is missing".into());
        }
        // SAFETY: the object is a string, by the signature of the native method or field.
        let length = self.checked(|raw, table| unsafe { (table.string_length)(raw, string) })?;
        let mut units = vec![0; usize::try_from(length)?];
        // SAFETY: the vector has room for all units.
        self.checked(|raw, table| unsafe { (table.read_string)(raw, string, 0, length, units.as_mut_ptr()) })?;
        Ok(CString::new(String::from_utf16_lossy(&units))?)
    }

    /// A string for Java.
    pub fn string(self, text: &str) -> Result<Object> {
        let units: Vec<u16> = text.encode_utf16().collect();
        let length = i32::try_from(units.len())?;
        // SAFETY: the vector has `length` units.
        self.checked(|raw, table| unsafe { (table.new_string)(raw, units.as_ptr(), length) })
    }

    /// What `read` makes of each element of an array of objects.
    pub fn map<T>(self, array: Object, mut read: impl FnMut(Object) -> Result<T>) -> Result<Vec<T>> {
        let mut all = Vec::new();
        for index in 0..self.length(array)? {
            // SAFETY: the object is an array of objects, by the signature of the native method or field, and has the index.
            let element = self.checked(|raw, table| unsafe { (table.array_element)(raw, array, index) })?;
            all.push(read(element)?);
            self.forget(element);
        }
        Ok(all)
    }

    fn length(self, array: Object) -> Result<i32> {
        if array.is_null() {
            return Err("an array is missing".into());
        }
        // SAFETY: the object is an array, by the signature of the native method or field.
        self.checked(|raw, table| unsafe { (table.array_length)(raw, array) })
    }

    /// The elements of an array of `int`.
    pub fn ints(self, array: Object) -> Result<Vec<i32>> {
        let length = self.length(array)?;
        let mut elements = vec![0; usize::try_from(length)?];
        // SAFETY: the vector has room for all elements.
        self.checked(|raw, table| unsafe { (table.read_ints)(raw, array, 0, length, elements.as_mut_ptr()) })?;
        Ok(elements)
    }

    /// The elements of an array of `long`.
    pub fn longs(self, array: Object) -> Result<Vec<i64>> {
        let length = self.length(array)?;
        let mut elements = vec![0; usize::try_from(length)?];
        // SAFETY: the vector has room for all elements.
        self.checked(|raw, table| unsafe { (table.read_longs)(raw, array, 0, length, elements.as_mut_ptr()) })?;
        Ok(elements)
    }

    /// The elements of an array of `float`.
    pub fn floats(self, array: Object) -> Result<Vec<f32>> {
        let length = self.length(array)?;
        let mut elements = vec![0.0; usize::try_from(length)?];
        // SAFETY: the vector has room for all elements.
        self.checked(|raw, table| unsafe { (table.read_floats)(raw, array, 0, length, elements.as_mut_ptr()) })?;
        Ok(elements)
    }

    /// An array of `int` for Java.
    pub fn int_array(self, elements: &[i32]) -> Result<Object> {
        let length = i32::try_from(elements.len())?;
        // SAFETY: the function takes any length.
        let array = self.checked(|raw, table| unsafe { (table.new_int_array)(raw, length) })?;
        // SAFETY: the array has `length` elements.
        self.checked(|raw, table| unsafe { (table.write_ints)(raw, array, 0, length, elements.as_ptr()) })?;
        Ok(array)
    }

    /// An array of `long` for Java.
    pub fn long_array(self, elements: &[i64]) -> Result<Object> {
        let length = i32::try_from(elements.len())?;
        // SAFETY: the function takes any length.
        let array = self.checked(|raw, table| unsafe { (table.new_long_array)(raw, length) })?;
        // SAFETY: the array has `length` elements.
        self.checked(|raw, table| unsafe { (table.write_longs)(raw, array, 0, length, elements.as_ptr()) })?;
        Ok(array)
    }

    /// The first byte and the size of a direct buffer, from the beginning to the capacity.
    pub fn buffer(self, buffer: Object) -> Result<(*mut c_void, usize)> {
        if buffer.is_null() {
            return Err("a buffer is missing".into());
        }
        // SAFETY: the object is a buffer, by the signature of the native method or field.
        let address = self.checked(|raw, table| unsafe { (table.buffer_address)(raw, buffer) })?;
        // SAFETY: the same.
        let size = self.checked(|raw, table| unsafe { (table.buffer_size)(raw, buffer) })?;
        let size = usize::try_from(size).map_err(|_| Failure::from("a buffer is not direct"))?;
        Ok((address, size))
    }

    /// A direct buffer of `size` bytes in memory of ours.
    ///
    /// # Safety
    /// `first` points to `size` bytes for as long as Java uses the buffer.
    pub unsafe fn new_buffer(self, first: *const u8, size: usize) -> Result<Object> {
        let size = i64::try_from(size)?;
        // SAFETY: the caller says so.
        self.checked(|raw, table| unsafe { (table.new_buffer)(raw, first.cast_mut().cast(), size) })
    }

    /// Gives a reference up early: a native call may hold few at once.
    pub fn forget(self, object: Object) {
        // SAFETY: the function takes local references and null, and is allowed while an exception is pending.
        unsafe { (self.interface().delete_local_reference)(self.0, object) }
    }
}
