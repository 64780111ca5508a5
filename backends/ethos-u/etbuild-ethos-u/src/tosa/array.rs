//! Tensors as numbers, for the interpreter.

use super::Kind;

/// The elements of a tensor in row-major order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Array {
    /// The type of elements.
    pub kind: Kind,
    /// The sizes.
    pub sizes: Vec<usize>,
    /// The elements.
    pub numbers: Vec<i64>,
}

impl Array {
    /// An array of zeros.
    pub fn zeros(kind: Kind, sizes: &[usize]) -> Self {
        Self { kind, sizes: sizes.to_vec(), numbers: vec![0; sizes.iter().product()] }
    }

    /// The array of little-endian elements; `None` for too few or too many bytes.
    pub fn of_bytes(kind: Kind, sizes: &[usize], bytes: &[u8]) -> Option<Self> {
        let numbers: Vec<i64> = bytes.chunks(kind.width()).map(number).collect();
        let fits = bytes.len() == sizes.iter().product::<usize>() * kind.width();
        fits.then(|| Self { kind, sizes: sizes.to_vec(), numbers })
    }

    /// The elements in little-endian order.
    pub fn bytes(&self) -> Vec<u8> {
        let width = self.kind.width();
        self.numbers.iter().flat_map(|number| number.to_le_bytes().into_iter().take(width)).collect()
    }

    /// The only element of an array of one.
    pub fn only(&self) -> Option<i64> {
        self.numbers.first().copied().filter(|_| self.numbers.len() == 1)
    }

    /// The sizes of a tensor of rank 4.
    pub fn image(&self) -> Option<[usize; 4]> {
        self.sizes.clone().try_into().ok()
    }

    /// The numbers as sizes.
    pub fn as_sizes(&self) -> Option<Vec<usize>> {
        self.numbers.iter().map(|number| usize::try_from(*number).ok()).collect()
    }

    /// This array with each number replaced; `None` where a number is not in the range of the type.
    pub fn map(&self, kind: Kind, each: impl Fn(i64) -> i64) -> Option<Self> {
        let numbers = self.numbers.iter().map(|number| within(kind, each(*number))).collect::<Option<_>>()?;
        Some(Self { kind, sizes: self.sizes.clone(), numbers })
    }
}

/// The number, if the type has it.
pub fn within(kind: Kind, number: i64) -> Option<i64> {
    let (least, most) = kind.range();
    (least..=most).contains(&number).then_some(number)
}

/// The distance between neighbours along each dimension.
pub fn strides(sizes: &[usize]) -> Vec<usize> {
    let mut strides = vec![1; sizes.len()];
    for dim in (1..sizes.len()).rev() {
        strides[dim - 1] = strides[dim] * sizes[dim];
    }
    strides
}

/// The index of each element along each dimension, in row-major order.
pub fn positions(sizes: &[usize]) -> impl Iterator<Item = Vec<usize>> {
    let (sizes, strides) = (sizes.to_vec(), strides(sizes));
    let count: usize = sizes.iter().product();
    (0..count).map(move |flat| sizes.iter().zip(&strides).map(|(size, stride)| flat / stride % size).collect())
}

/// A little-endian integer of up to eight bytes.
fn number(bytes: &[u8]) -> i64 {
    let negative = bytes.last().is_some_and(|byte| byte.cast_signed() < 0);
    let mut wide = [if negative { 0xff } else { 0 }; 8];
    wide.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
    i64::from_le_bytes(wide)
}
