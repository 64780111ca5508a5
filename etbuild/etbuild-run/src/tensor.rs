//! Tensors of the caller: arrays, slices with a shape, and tensors that own their elements.
#![allow(unsafe_code, reason = "arrays and slices of elements are read and written as bytes")]

use et_core::{BFloat16, Half, ScalarType};
use et_module::TensorView;

use crate::Error;

#[cfg(target_endian = "big")]
compile_error!("program files are little-endian");

/// The Rust type of the elements of a tensor. Elements of complex tensors have none: [`View::of_bytes`] takes their bytes.
///
/// # Safety
/// The type has no padding, and all bytes are values, but for booleans, of which 0 and 1 are.
pub unsafe trait Element: et_core::Element {}

/// A type of a fixed shape: an element, or an array of such types, `[[f32; 4]; 3]` for the shape `[3, 4]`.
///
/// # Safety
/// The memory consists of elements alone, row-major, as many as the product of the sizes.
pub unsafe trait Fixed: 'static {
    /// The type of the elements.
    type Element: Element;
    /// The number of dimensions.
    const RANK: usize;

    /// Appends the size of each dimension, outermost first.
    fn add_sizes(sizes: &mut Vec<usize>);
}

macro_rules! elements {
    ($($element:ty),*) => { $(
        // SAFETY: a primitive number, or a boolean.
        unsafe impl Element for $element {}

        // SAFETY: an element by itself.
        unsafe impl Fixed for $element {
            type Element = Self;
            const RANK: usize = 0;

            fn add_sizes(_sizes: &mut Vec<usize>) {}
        }
    )* };
}

elements!(u8, i8, i16, i32, i64, f32, f64, bool, Half, BFloat16);

// SAFETY: an array consists of its items, without padding.
unsafe impl<T: Fixed, const N: usize> Fixed for [T; N] {
    type Element = T::Element;
    const RANK: usize = T::RANK + 1;

    fn add_sizes(sizes: &mut Vec<usize>) {
        sizes.push(N);
        T::add_sizes(sizes);
    }
}

/// The sizes of a type of a fixed shape.
pub(crate) fn sizes<T: Fixed>() -> Vec<usize> {
    let mut sizes = Vec::with_capacity(T::RANK);
    T::add_sizes(&mut sizes);
    sizes
}

/// Borrowed elements with a shape: an input of a method.
///
/// ```
/// use etbuild_run::View;
///
/// let image = [[0.0_f32; 8]; 8];
/// let rows: &[[f32; 8]] = &image;
/// assert_eq!(View::from(&image).shape(), View::from(rows).shape());
/// let flat = View::new(image.as_flattened(), &[1, 1, 8, 8])?;
/// assert_eq!(flat.shape(), [1, 1, 8, 8]);
/// # Ok::<(), etbuild_run::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct View<'a>(pub(crate) TensorView<'a>);

impl<'a> View<'a> {
    /// Elements in row-major order with the size of each dimension.
    ///
    /// # Errors
    /// The number of elements is not the product of the sizes.
    pub fn new<E: Element>(elements: &'a [E], shape: &[usize]) -> Result<Self, Error> {
        let wanted = shape.iter().try_fold(1_usize, |product, size| product.checked_mul(*size));
        if wanted != Some(elements.len()) {
            return Err(Error::Argument(format!("a tensor {shape:?} does not take {} elements", elements.len())));
        }
        Ok(Self::of(E::TYPE, shape.to_vec(), bytes(elements)))
    }

    /// Elements in row-major order, little-endian, as many as the shape takes.
    ///
    /// # Errors
    /// The number of bytes is another.
    pub fn of_bytes(scalar_type: ScalarType, shape: impl Into<Vec<usize>>, bytes: &'a [u8]) -> Result<Self, Error> {
        let shape = shape.into();
        let wanted = shape.iter().try_fold(scalar_type.size(), |product, size| product.checked_mul(*size));
        if wanted != Some(bytes.len()) {
            let name = scalar_type.name();
            return Err(Error::Argument(format!("a tensor {shape:?} of {name} does not take {} bytes", bytes.len())));
        }
        Ok(Self::of(scalar_type, shape, bytes))
    }

    const fn of(scalar_type: ScalarType, shape: Vec<usize>, bytes: &'a [u8]) -> Self {
        Self(TensorView { scalar_type, shape, bytes })
    }

    /// The size of each dimension, outermost first.
    pub fn shape(&self) -> &[usize] {
        &self.0.shape
    }

    /// The type of the elements.
    pub const fn scalar_type(&self) -> ScalarType {
        self.0.scalar_type
    }
}

impl<'a, T: Fixed> From<&'a T> for View<'a> {
    fn from(tensor: &'a T) -> Self {
        Self::of(<T::Element as et_core::Element>::TYPE, sizes::<T>(), fixed_bytes(std::slice::from_ref(tensor)))
    }
}

/// The first dimension is the length of the slice.
impl<'a, T: Fixed> From<&'a [T]> for View<'a> {
    fn from(items: &'a [T]) -> Self {
        let mut shape = vec![items.len()];
        T::add_sizes(&mut shape);
        Self::of(<T::Element as et_core::Element>::TYPE, shape, fixed_bytes(items))
    }
}

impl<'a, E: Element> From<&'a Tensor<E>> for View<'a> {
    fn from(tensor: &'a Tensor<E>) -> Self {
        Self::of(E::TYPE, tensor.shape.clone(), bytes(&tensor.elements))
    }
}

/// A tensor of a shape that is known at run time.
#[derive(Clone, Debug, PartialEq)]
pub struct Tensor<E> {
    shape: Vec<usize>,
    elements: Vec<E>,
}

impl<E: Element> Tensor<E> {
    /// Elements in row-major order with the size of each dimension.
    ///
    /// # Errors
    /// The number of elements is not the product of the sizes.
    pub fn new(elements: Vec<E>, shape: &[usize]) -> Result<Self, Error> {
        View::new(&elements, shape)?;
        Ok(Self { shape: shape.to_vec(), elements })
    }

    /// A tensor that `read` fills in.
    pub(crate) fn read(shape: Vec<usize>, read: impl FnOnce(&mut [u8]) -> Result<(), Error>) -> Result<Self, Error> {
        let count = shape.iter().try_fold(1_usize, |product, size| product.checked_mul(*size));
        let count = count.ok_or(et_core::Error::InvalidProgram)?;
        let mut elements = vec![E::from_i64(0); count];
        fill(&mut elements, read)?;
        Ok(Self { shape, elements })
    }

    /// The size of each dimension, outermost first.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// The elements in row-major order.
    pub fn elements(&self) -> &[E] {
        &self.elements
    }

    /// The elements in row-major order.
    pub fn into_elements(self) -> Vec<E> {
        self.elements
    }
}

/// A new value of a fixed shape that `read` fills in, on the heap.
pub(crate) fn boxed<T: Fixed>(read: impl FnOnce(&mut [u8]) -> Result<(), Error>) -> Result<Box<T>, Error> {
    let elements = Tensor::<T::Element>::read(sizes::<T>(), read)?.elements.into_boxed_slice();
    // SAFETY: `T` has as many elements as the slice and nothing else, so that size, alignment and content are those of `T`.
    Ok(unsafe { Box::from_raw(Box::into_raw(elements).cast::<T>()) })
}

/// Lets `read` write elements as bytes.
pub(crate) fn fill<E: Element>(
    elements: &mut [E],
    read: impl FnOnce(&mut [u8]) -> Result<(), Error>,
) -> Result<(), Error> {
    let size = size_of_val(elements);
    // SAFETY: elements have no padding, and all bytes are numbers; those of booleans are made 0 or 1 below, before the slice is read.
    let bytes = unsafe { std::slice::from_raw_parts_mut(elements.as_mut_ptr().cast::<u8>(), size) };
    let done = read(bytes);
    if E::TYPE == ScalarType::Bool {
        bytes.iter_mut().for_each(|byte| *byte = u8::from(*byte != 0));
    }
    done
}

fn bytes<E: Element>(elements: &[E]) -> &[u8] {
    // SAFETY: elements have no padding.
    unsafe { std::slice::from_raw_parts(elements.as_ptr().cast(), size_of_val(elements)) }
}

fn fixed_bytes<T: Fixed>(items: &[T]) -> &[u8] {
    // SAFETY: the items consist of elements, which have no padding.
    unsafe { std::slice::from_raw_parts(items.as_ptr().cast(), size_of_val(items)) }
}

/// Elements in row-major order as a type of a fixed shape, in place.
///
/// ```
/// let flat = vec![0.5_f32; 64];
/// let image: &[[f32; 8]; 8] = etbuild_run::as_fixed(&flat)?;
/// assert_eq!(image[7][7], 0.5);
/// assert!(etbuild_run::as_fixed::<[[f32; 8]; 9]>(&flat).is_err());
/// # Ok::<(), etbuild_run::Error>(())
/// ```
///
/// # Errors
/// The number of elements is another than that of `T`.
pub fn as_fixed<T: Fixed>(elements: &[T::Element]) -> Result<&T, Error> {
    let shape = sizes::<T>();
    View::new(elements, &shape)?;
    // SAFETY: the elements are as many as those of `T`, which has nothing else, and have the alignment of `T`.
    Ok(unsafe { &*elements.as_ptr().cast::<T>() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_that_are_no_booleans_become_booleans() {
        let write = |bytes: &mut [u8]| {
            bytes.copy_from_slice(&[0, 1, 2, 255]);
            Ok(())
        };
        assert_eq!(*boxed::<[[bool; 2]; 2]>(write).unwrap(), [[false, true], [true, true]]);
    }

    #[test]
    fn a_shape_with_another_number_of_elements_is_an_error() {
        assert!(View::new(&[1_u8, 2], &[usize::MAX, 2]).is_err());
        assert!(View::of_bytes(ScalarType::Int, [2], &[0; 7]).is_err());
        assert!(Tensor::new(vec![1_i64, 2, 3], &[2, 2]).is_err());
        assert_eq!(View::from(&[[1_i64, 2], [3, 4]]).0.bytes.len(), 32);
    }
}
