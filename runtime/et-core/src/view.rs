//! Bounds-checked views of tensor memory, without Rust references to tensor memory.
#![allow(unsafe_code)] // The one place where kernels' loads and stores happen.

use core::cell::Cell;
use core::marker::PhantomData;

use crate::element::sealed::Raw;
use crate::{Element, Plain, ScalarType};

/// Elements to read. Another view may write the same bytes in between.
#[derive(Clone, Copy, Debug)]
pub struct Input<'a, T> {
    start: *const u8,
    len: usize,
    memory: PhantomData<&'a T>,
}

/// Elements to write and read back.
#[derive(Clone, Copy, Debug)]
pub struct Output<'a, T> {
    start: *mut u8,
    len: usize,
    memory: PhantomData<&'a T>,
}

impl<'a, T: Element> Input<'a, T> {
    /// A view of `len` elements.
    ///
    /// # Safety
    /// `start` points to the initialized bytes of `len` elements, which stay readable for `'a`, and other threads do
    /// not write these bytes meanwhile. Any alignment is valid.
    pub(crate) const unsafe fn new(start: *const u8, len: usize) -> Self {
        Self { start, len, memory: PhantomData }
    }

    /// The number of elements.
    #[inline]
    pub const fn len(self) -> usize {
        self.len
    }

    /// Whether the view is empty.
    #[inline]
    pub const fn is_empty(self) -> bool {
        self.len == 0
    }

    /// Element `index`.
    ///
    /// # Panics
    /// If `index` is out of bounds: a bug in the kernel, which checks its shapes first.
    #[inline]
    pub fn get(self, index: usize) -> T {
        check(index < self.len);
        // SAFETY: in bounds by the line above; readable by the constructor's contract; every bit pattern is a value.
        let bits = unsafe { self.start.cast::<T::Bits>().add(index).read_unaligned() };
        T::from_bits(bits)
    }

    /// Elements `start..start + len`.
    ///
    /// # Panics
    /// If the range is out of bounds: a bug in the kernel.
    #[inline]
    pub fn window(self, start: usize, len: usize) -> Self {
        check(start <= self.len && len <= self.len - start);
        // SAFETY: a range of a valid view is valid; the line above checks that the range is within the view.
        unsafe { Self::new(self.start.cast::<T::Bits>().add(start).cast(), len) }
    }

    /// `N` elements: `start`, `start + step` and so on.
    ///
    /// # Panics
    /// If an element is out of bounds: a bug in the kernel.
    #[inline(always)]
    pub fn strided<const N: usize>(self, start: usize, step: usize) -> [T; N] {
        let last = step.saturating_mul(N.saturating_sub(1)).saturating_add(start);
        check(last < self.len);
        core::array::from_fn(|index| {
            // SAFETY: no further than the last, which is in bounds by the lines above; readable as in `get`.
            let bits = unsafe { self.start.cast::<T::Bits>().add(start + index * step).read_unaligned() };
            T::from_bits(bits)
        })
    }

    /// The view as elements of type `U`, if `U` is `T`; for generic code with a specialized path.
    #[inline]
    pub fn of_type<U: Element>(self) -> Option<Input<'a, U>> {
        // SAFETY: `T` and `U` are equal, because each element type has a distinct scalar type.
        if T::TYPE == U::TYPE { Some(unsafe { Input::new(self.start, self.len) }) } else { None }
    }

    /// All elements in memory order.
    #[inline]
    pub fn iter(self) -> impl ExactSizeIterator<Item = T> + use<'a, T> {
        (0..self.len).map(move |index| self.get(index))
    }
}

/// Elements at addresses that are multiples of their size. Processors without unaligned accesses read a byte of other views at a time.
#[derive(Clone, Copy, Debug)]
pub struct Aligned<V>(V);

impl<'a, T: Element> Input<'a, T> {
    /// The view, if its address is a multiple of the size of an element.
    #[inline]
    pub fn aligned(self) -> Option<Aligned<Self>> {
        self.start.cast::<T>().is_aligned().then_some(Aligned(self))
    }
}

impl<'a, T: Element> Output<'a, T> {
    /// The view, if its address is a multiple of the size of an element.
    #[inline]
    pub fn aligned(self) -> Option<Aligned<Self>> {
        self.start.cast::<T>().is_aligned().then_some(Aligned(self))
    }
}

impl<T: Element> Aligned<Input<'_, T>> {
    /// Element `index`; `None` behind the end.
    #[inline]
    pub fn get(self, index: usize) -> Option<T> {
        let Self(view) = self;
        // SAFETY: in bounds by the condition, aligned by the constructor; readable and valid as in `Input::get`.
        (index < view.len).then(|| T::from_bits(unsafe { view.start.cast::<T::Bits>().add(index).read() }))
    }

    /// Elements `index` and `index + 1`; `None` behind the end.
    #[inline]
    pub fn pair(self, index: usize) -> Option<(T, T)> {
        let Self(view) = self;
        if index >= view.len.saturating_sub(1) {
            return None;
        }
        let place = view.start.cast::<T::Bits>();
        // SAFETY: both are in bounds by the lines above, aligned by the constructor; readable and valid as in `Input::get`.
        let (first, second) = unsafe { (place.add(index).read(), place.add(index + 1).read()) };
        Some((T::from_bits(first), T::from_bits(second)))
    }
}

impl<'a, T: Element + Plain> Aligned<Output<'a, T>> {
    /// The elements as cells, which other views may read and write in between.
    pub const fn cells(self) -> &'a [Cell<T>] {
        let Self(view) = self;
        if view.len == 0 {
            return &[];
        }
        // SAFETY: aligned by the constructor; readable and writable for `'a` by the contract of `Output::new`, of one thread. Cells may be
        // shared with pointers, and every bit pattern of a plain type is a value.
        unsafe { core::slice::from_raw_parts(view.start.cast::<Cell<T>>(), view.len) }
    }
}

impl<'a> Input<'a, u8> {
    /// A view of bytes that are not written meanwhile.
    pub const fn of(bytes: &'a [u8]) -> Self {
        // SAFETY: the bytes of a shared reference are initialized and not written during `'a`.
        unsafe { Self::new(bytes.as_ptr(), bytes.len()) }
    }
}

impl<'a> Output<'a, u8> {
    /// A view of bytes with exclusive access.
    pub const fn of(bytes: &'a mut [u8]) -> Self {
        // SAFETY: the exclusive reference stays borrowed for `'a`.
        unsafe { Self::new(bytes.as_mut_ptr(), bytes.len()) }
    }
}

impl<'a, T: Element> Output<'a, T> {
    /// A view of `len` elements.
    ///
    /// # Safety
    /// The same as of [`Input::new`], and the bytes stay writable for `'a` without a Rust reference to these bytes.
    pub(crate) const unsafe fn new(start: *mut u8, len: usize) -> Self {
        Self { start, len, memory: PhantomData }
    }

    /// The number of elements.
    #[inline]
    pub const fn len(self) -> usize {
        self.len
    }

    /// Whether the view is empty.
    #[inline]
    pub const fn is_empty(self) -> bool {
        self.len == 0
    }

    /// Stores element `index`.
    ///
    /// # Panics
    /// If `index` is out of bounds: a bug in the kernel, which checks its shapes first.
    #[inline]
    pub fn set(self, index: usize, value: T) {
        check(index < self.len);
        // SAFETY: in bounds by the line above; writable by the constructor's contract.
        unsafe { self.start.cast::<T::Bits>().add(index).write_unaligned(value.into_bits()) }
    }

    /// Elements `start..start + len`.
    ///
    /// # Panics
    /// If the range is out of bounds: a bug in the kernel.
    #[inline]
    pub fn window(self, start: usize, len: usize) -> Self {
        check(start <= self.len && len <= self.len - start);
        // SAFETY: a range of a valid view is valid; the line above checks that the range is within the view.
        unsafe { Self::new(self.start.cast::<T::Bits>().add(start).cast(), len) }
    }

    /// The view as elements of type `U`, if `U` is `T`; for generic code with a specialized path.
    #[inline]
    pub fn of_type<U: Element>(self) -> Option<Output<'a, U>> {
        // SAFETY: `T` and `U` are equal, because each element type has a distinct scalar type.
        if T::TYPE == U::TYPE { Some(unsafe { Output::new(self.start, self.len) }) } else { None }
    }

    /// The same elements, to read.
    #[inline]
    pub const fn as_input(self) -> Input<'a, T> {
        // SAFETY: writable bytes of a tensor are readable.
        unsafe { Input::new(self.start, self.len) }
    }

    /// Stores all elements of `source`, which has the same length and either starts at the same address or does not
    /// overlap.
    ///
    /// # Panics
    /// If the lengths differ: a bug in the caller, which checks shapes first.
    #[inline]
    pub fn copy_from(self, source: Input<'_, T>) {
        check(self.len == source.len);
        if cfg!(target_os = "none") || T::TYPE == ScalarType::Bool {
            source.iter().enumerate().for_each(|(index, value)| self.set(index, value));
        } else {
            // SAFETY: the views have equal lengths; by their constructors' contracts `source` is readable and `self` is
            // writable. Every bit pattern is valid in memory for all types except booleans, whose bits are copied from
            // a valid view.
            unsafe { core::ptr::copy(source.start, self.start, self.len * size_of::<T::Bits>()) }
        }
    }

    /// Element `index`, as last stored.
    ///
    /// # Panics
    /// When `index` is out of bounds: a bug in the kernel.
    #[inline]
    pub fn get(self, index: usize) -> T {
        self.as_input().get(index)
    }
}

/// Stops a kernel before an access out of bounds. All checks share this function, so a check is two instructions
/// without a message.
#[inline]
fn check(is_inside: bool) {
    if !is_inside {
        outside();
    }
}

#[cold]
#[inline(never)]
fn outside() -> ! {
    // A message and the machinery of panics would take flash for a mistake that only a wrong kernel makes: a board gets a fault.
    // SAFETY: the instruction is undefined, so the processor goes to the handler of faults and nothing behind it runs.
    #[cfg(all(target_os = "none", target_arch = "arm"))]
    unsafe {
        core::arch::asm!("udf #0", options(nomem, nostack, noreturn))
    }
    // SAFETY: as above.
    #[cfg(all(target_os = "none", target_arch = "riscv32"))]
    unsafe {
        core::arch::asm!("unimp", options(nomem, nostack, noreturn))
    }
    #[cfg(not(all(target_os = "none", any(target_arch = "arm", target_arch = "riscv32"))))]
    panic!("outside the tensor")
}

/// Elements lie back to back in their in-memory form.
const _: () = assert!(size_of::<<f32 as Raw>::Bits>() == 4 && size_of::<<bool as Raw>::Bits>() == 1);
