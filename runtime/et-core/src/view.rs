//! Bounds-checked windows onto tensor memory that never form a reference to it.
#![allow(unsafe_code)] // The one place where kernels' loads and stores happen.

use core::marker::PhantomData;

use crate::element::sealed::Raw;
use crate::{Element, ScalarType};

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
    /// `start` points to `len` elements' worth of initialized bytes that stay readable for `'a`; other threads do not
    /// write them meanwhile. Alignment does not matter.
    pub(crate) const unsafe fn new(start: *const u8, len: usize) -> Self {
        Self { start, len, memory: PhantomData }
    }

    /// The number of elements.
    #[inline]
    pub const fn len(self) -> usize {
        self.len
    }

    /// Whether there is none.
    #[inline]
    pub const fn is_empty(self) -> bool {
        self.len == 0
    }

    /// Element `index`.
    ///
    /// # Panics
    /// When `index` is out of bounds: a bug in the kernel, which checks its shapes first.
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
    /// When they are not all there: a bug in the kernel.
    #[inline]
    pub fn window(self, start: usize, len: usize) -> Self {
        check(start <= self.len && len <= self.len - start);
        // SAFETY: a part of a valid view is one; the offset stays within it by the line above.
        unsafe { Self::new(self.start.cast::<T::Bits>().add(start).cast(), len) }
    }

    /// Elements `start`, `start + step` and so on, `N` of them.
    ///
    /// # Panics
    /// When they are not all there: a bug in the kernel.
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

    /// The same view where `U` is `T`, for code that is written for one type.
    #[inline]
    pub fn of_type<U: Element>(self) -> Option<Input<'a, U>> {
        // SAFETY: the types are the same, for each element has a scalar type of its own.
        if T::TYPE == U::TYPE { Some(unsafe { Input::new(self.start, self.len) }) } else { None }
    }

    /// All elements in memory order.
    #[inline]
    pub fn iter(self) -> impl ExactSizeIterator<Item = T> + use<'a, T> {
        (0..self.len).map(move |index| self.get(index))
    }
}

impl<'a> Input<'a, u8> {
    /// A view of bytes that nothing else writes.
    pub const fn of(bytes: &'a [u8]) -> Self {
        // SAFETY: a shared reference's bytes are initialized, and stay so and unwritten while it lives.
        unsafe { Self::new(bytes.as_ptr(), bytes.len()) }
    }
}

impl<'a> Output<'a, u8> {
    /// A view of bytes that nothing else reads or writes.
    pub const fn of(bytes: &'a mut [u8]) -> Self {
        // SAFETY: the exclusive reference stays borrowed for `'a`.
        unsafe { Self::new(bytes.as_mut_ptr(), bytes.len()) }
    }
}

impl<'a, T: Element> Output<'a, T> {
    /// A view of `len` elements.
    ///
    /// # Safety
    /// As for [`Input::new`], and the bytes stay writable for `'a`; no Rust reference to them exists meanwhile.
    pub(crate) const unsafe fn new(start: *mut u8, len: usize) -> Self {
        Self { start, len, memory: PhantomData }
    }

    /// The number of elements.
    #[inline]
    pub const fn len(self) -> usize {
        self.len
    }

    /// Whether there is none.
    #[inline]
    pub const fn is_empty(self) -> bool {
        self.len == 0
    }

    /// Stores element `index`.
    ///
    /// # Panics
    /// When `index` is out of bounds: a bug in the kernel, which checks its shapes first.
    #[inline]
    pub fn set(self, index: usize, value: T) {
        check(index < self.len);
        // SAFETY: in bounds by the line above; writable by the constructor's contract.
        unsafe { self.start.cast::<T::Bits>().add(index).write_unaligned(value.into_bits()) }
    }

    /// Elements `start..start + len`.
    ///
    /// # Panics
    /// When they are not all there: a bug in the kernel.
    #[inline]
    pub fn window(self, start: usize, len: usize) -> Self {
        check(start <= self.len && len <= self.len - start);
        // SAFETY: a part of a valid view is one; the offset stays within it by the line above.
        unsafe { Self::new(self.start.cast::<T::Bits>().add(start).cast(), len) }
    }

    /// The same view where `U` is `T`, for code that is written for one type.
    #[inline]
    pub fn of_type<U: Element>(self) -> Option<Output<'a, U>> {
        // SAFETY: the types are the same, for each element has a scalar type of its own.
        if T::TYPE == U::TYPE { Some(unsafe { Output::new(self.start, self.len) }) } else { None }
    }

    /// The same elements, to read.
    #[inline]
    pub const fn as_input(self) -> Input<'a, T> {
        // SAFETY: what may be written may be read.
        unsafe { Input::new(self.start, self.len) }
    }

    /// Stores all elements of `source`, which has as many and starts here or overlaps nothing.
    ///
    /// # Panics
    /// When the lengths differ: a bug in the caller, which checks shapes first.
    #[inline]
    pub fn copy_from(self, source: Input<'_, T>) {
        check(self.len == source.len);
        if cfg!(target_os = "none") || T::TYPE == ScalarType::Bool {
            source.iter().enumerate().for_each(|(index, value)| self.set(index, value));
        } else {
            // SAFETY: as many bytes as the views have, readable there and writable here by their constructors' contracts; of
            // all types but booleans every bit pattern is stored as it is.
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

/// Stops where a kernel would leave its tensor. All checks share one exit, so that each takes two instructions and no text.
#[inline]
fn check(is_inside: bool) {
    if !is_inside {
        outside();
    }
}

#[cold]
#[inline(never)]
fn outside() -> ! {
    panic!("outside the tensor")
}

/// Elements lie back to back in their in-memory form.
const _: () = assert!(size_of::<<f32 as Raw>::Bits>() == 4 && size_of::<<bool as Raw>::Bits>() == 1);
