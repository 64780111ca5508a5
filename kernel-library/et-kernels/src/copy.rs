//! Strided copies between tensors: permute, slice, roll, concatenate, window partition and window reverse.
//!
//! A copy is a box of elements with strides in both tensors. A roll is a copy per side of the seam, a concatenation is
//! a copy per input. Contiguous runs are copied by `memcpy`, planes by tiled transposition, the rest elementwise.
#![allow(unsafe_code)] // Threads write parts of one output; bounds are checked once for a call.

use et_core::{Error, MAX_RANK, Result};
use et_simd::{Level, Simd, Work};

use crate::check::ensure;

/// A box of elements, with the strides and offsets of both tensors in elements. The copy is fast if the dimensions are in
/// descending order of output strides, and neighbouring dimensions with uniform strides in both tensors are merged.
#[derive(Clone, Copy, Debug)]
pub struct Strided<'a> {
    /// The size of each dimension, at most [`MAX_RANK`] dimensions.
    pub sizes: &'a [usize],
    /// The input strides; 0 broadcasts.
    pub from: &'a [usize],
    /// The offset of the first input element.
    pub from_offset: usize,
    /// The output strides.
    pub to: &'a [usize],
    /// The offset of the first output element.
    pub to_offset: usize,
}

/// A dimension with the strides of both tensors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Dimension {
    /// The size.
    size: usize,
    /// The input stride.
    from: usize,
    /// The output stride.
    to: usize,
}

/// Copies a box of elements.
#[inline]
pub fn copy<T: Copy + Send + Sync>(level: Level, strided: &Strided, input: &[T], output: &mut [T]) -> Result<()> {
    // SAFETY: the exclusive borrow of the output excludes other accesses.
    unsafe { copy_part(level, strided, input, output) }
}

/// Copies a box of elements to an output whose other elements may be written concurrently.
///
/// # Safety
/// `output` is valid for writes, and no other thread accesses the box during the call.
#[inline]
pub unsafe fn copy_part<T: Copy>(level: Level, strided: &Strided, input: &[T], output: *mut [T]) -> Result<()> {
    let Strided { sizes, from, from_offset, to, to_offset } = *strided;
    ensure(sizes.len() <= MAX_RANK && from.len() == sizes.len() && to.len() == sizes.len())?;
    if sizes.contains(&0) {
        return Ok(());
    }
    ensure(reach(sizes, from, from_offset)? < input.len() && reach(sizes, to, to_offset)? < output.len())?;
    let (mut dimensions, mut rank) = ([Dimension::default(); MAX_RANK], 0);
    for ((size, from), to) in sizes.iter().zip(from).zip(to).filter(|((size, _), _)| **size > 1) {
        dimensions[rank] = Dimension { size: *size, from: *from, to: *to };
        rank += 1;
    }
    // SAFETY: the box is within both lengths.
    let (from, to) = unsafe { (input.as_ptr().add(from_offset), output.cast::<T>().add(to_offset)) };
    level.run(CopyBox { dimensions: &dimensions[..rank], from, to });
    Ok(())
}

/// A box validated against both tensors.
struct CopyBox<'d, T> {
    /// The dimensions of more than one element, innermost last.
    dimensions: &'d [Dimension],
    from: *const T,
    to: *mut T,
}

/// Side of the square tiles for elementwise transposition: the rows and columns of both tensors stay in L1.
const SIDE: usize = 16;

impl<T: Copy> Work for CopyBox<'_, T> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self, isa: S) {
        let Some((last, outer)) = self.dimensions.split_last() else {
            // SAFETY: the box has exactly one element.
            unsafe { *self.to = *self.from };
            return;
        };
        // The dimension that is contiguous in the input, if the output is contiguous along another dimension (a
        // transposition).
        let other = outer.iter().rposition(|dimension| dimension.from == 1).filter(|_| last.to == 1 && last.from > 1);
        let Some(other) = other else {
            // SAFETY: `each` yields offsets within the validated box.
            each(
                outer,
                #[inline(always)]
                |from, to| unsafe { line(self.from.add(from), self.to.add(to), *last) },
            );
            return;
        };
        let (mut rest, mut rank) = ([Dimension::default(); MAX_RANK], 0);
        for (index, dimension) in outer.iter().enumerate() {
            if index != other {
                rest[rank] = *dimension;
                rank += 1;
            }
        }
        // SAFETY: `each` yields offsets within the validated box.
        each(
            &rest[..rank],
            #[inline(always)]
            |from, to| unsafe {
                plane(isa, self.from.add(from), self.to.add(to), outer[other], *last);
            },
        );
    }
}

/// Calls `call` with the offsets of each position, in the order of the output.
#[inline(always)]
fn each(dimensions: &[Dimension], mut call: impl FnMut(usize, usize)) {
    let mut position = [0; MAX_RANK];
    let (mut from, mut to) = (0, 0);
    loop {
        call(from, to);
        let mut index = dimensions.len();
        loop {
            if index == 0 {
                return;
            }
            index -= 1;
            let dimension = dimensions[index];
            position[index] += 1;
            if position[index] < dimension.size {
                from += dimension.from;
                to += dimension.to;
                break;
            }
            position[index] = 0;
            from -= dimension.from * (dimension.size - 1);
            to -= dimension.to * (dimension.size - 1);
        }
    }
}

/// # Safety
/// The dimension is within both tensors.
#[inline(always)]
unsafe fn line<T: Copy>(from: *const T, to: *mut T, dimension: Dimension) {
    // SAFETY: the caller guarantees the dimension; input and output are separate slices.
    unsafe {
        if dimension.from == 1 && dimension.to == 1 && dimension.size * size_of::<T>() >= 64 {
            return core::ptr::copy_nonoverlapping(from, to, dimension.size);
        }
        if dimension.from == 1 && dimension.to == 1 {
            for index in 0..dimension.size {
                *to.add(index) = *from.add(index);
            }
            return;
        }
        for index in 0..dimension.size {
            *to.add(index * dimension.to) = *from.add(index * dimension.from);
        }
    }
}

/// Transposes a plane: the input is contiguous along `rows`, the output along `columns`.
///
/// # Safety
/// Both dimensions are within both tensors.
#[inline(always)]
unsafe fn plane<S: Simd, T: Copy>(isa: S, from: *const T, to: *mut T, rows: Dimension, columns: Dimension) {
    // SAFETY: the caller guarantees both dimensions.
    unsafe {
        match (columns.size, rows.to) {
            (2, 2) => return interleave::<T, 2>(from, columns.from, to, rows.size),
            (3, 3) => return interleave::<T, 3>(from, columns.from, to, rows.size),
            (4, 4) => return interleave::<T, 4>(from, columns.from, to, rows.size),
            _ => {}
        }
    }
    let side = if size_of::<T>() == 4 && align_of::<T>() == 4 { S::LANES } else { SIDE };
    // SAFETY: the caller guarantees both dimensions, and tiles end within the plane. 4-byte elements of any type are
    // moved as `f32`.
    unsafe {
        for column in (0..columns.size).step_by(side) {
            for row in (0..rows.size).step_by(side) {
                let (from, to) = (from.add(column * columns.from + row), to.add(row * rows.to + column));
                let (height, width) = (side.min(rows.size - row), side.min(columns.size - column));
                if size_of::<T>() == 4 && align_of::<T>() == 4 && height == side && width == side {
                    isa.transpose(from.cast(), columns.from, to.cast(), rows.to);
                    continue;
                }
                for row in 0..height {
                    for column in 0..width {
                        *to.add(row * rows.to + column) = *from.add(column * columns.from + row);
                    }
                }
            }
        }
    }
}

/// Interleaves `N` rows: NCHW channel planes to NHWC pixels.
///
/// # Safety
/// `from` has `N` rows of `count` elements, `step` apart, and `to` room for `N * count` elements.
#[inline(always)]
unsafe fn interleave<T: Copy, const N: usize>(from: *const T, step: usize, to: *mut T, count: usize) {
    // SAFETY: the caller guarantees rows and room; input and output are separate slices.
    unsafe {
        let rows: [_; N] = core::array::from_fn(
            #[inline(always)]
            |row| core::slice::from_raw_parts(from.add(row * step), count),
        );
        for index in 0..count {
            for (column, row) in rows.iter().enumerate() {
                *to.add(index * N + column) = *row.get_unchecked(index);
            }
        }
    }
}

/// The offset of the last element.
fn reach(sizes: &[usize], strides: &[usize], offset: usize) -> Result<usize> {
    let steps = sizes.iter().zip(strides);
    steps
        .map(|(size, stride)| (size - 1).checked_mul(*stride))
        .try_fold(offset, |reach, step| reach.checked_add(step?))
        .ok_or(Error::InvalidArgument)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test::{bytes, numbers};
    use std::vec;
    use std::vec::Vec;

    /// Reference copy, element by element.
    fn plain<T: Copy>(strided: &Strided, input: &[T], output: &mut [T]) {
        let count: usize = strided.sizes.iter().product();
        for mut index in 0..count {
            let (mut from, mut to) = (strided.from_offset, strided.to_offset);
            for axis in (0..strided.sizes.len()).rev() {
                from += index % strided.sizes[axis] * strided.from[axis];
                to += index % strided.sizes[axis] * strided.to[axis];
                index /= strided.sizes[axis];
            }
            output[to] = input[from];
        }
    }

    fn check(strided: &Strided, input: usize, output: usize) {
        let (floats, small) = (numbers(input, 1), bytes(input, 2));
        let (mut expected, mut expected_bytes) = (vec![9.0; output], vec![9; output]);
        plain(strided, &floats, &mut expected);
        plain(strided, &small, &mut expected_bytes);
        for level in Level::available() {
            let (mut actual, mut actual_bytes) = (vec![9.0; output], vec![9; output]);
            copy(level, strided, &floats, &mut actual).unwrap();
            copy(level, strided, &small, &mut actual_bytes).unwrap();
            assert_eq!(actual, expected, "{strided:?} {}", level.name());
            assert_eq!(actual_bytes, expected_bytes, "{strided:?} {}", level.name());
        }
    }

    /// Row-major strides.
    fn steps(sizes: &[usize]) -> Vec<usize> {
        (0..sizes.len()).map(|axis| sizes[axis + 1..].iter().product()).collect()
    }

    #[test]
    fn dimensions_can_be_permuted() {
        for sizes in
            [[1, 1, 1, 1], [2, 3, 4, 5], [1, 17, 16, 33], [3, 1, 40, 7], [2, 16, 16, 16], [1, 3, 9, 5], [5, 8, 1, 64]]
        {
            for order in [[0, 1, 2, 3], [0, 2, 3, 1], [0, 3, 1, 2], [3, 2, 1, 0], [0, 2, 1, 3], [1, 0, 3, 2]] {
                let permuted = order.map(|axis| sizes[axis]);
                let input_steps = steps(&sizes);
                let from = order.map(|axis| input_steps[axis]);
                let count = sizes.iter().product();
                let to = steps(&permuted);
                check(&Strided { sizes: &permuted, from: &from, from_offset: 0, to: &to, to_offset: 0 }, count, count);
            }
        }
    }

    #[test]
    fn boxes_of_tensors_can_be_copied() {
        check(&Strided { sizes: &[3, 5], from: &[10, 2], from_offset: 4, to: &[7, 1], to_offset: 1 }, 60, 30);
        check(&Strided { sizes: &[4, 96], from: &[100, 1], from_offset: 4, to: &[96, 1], to_offset: 0 }, 500, 400);
        check(&Strided { sizes: &[6, 20], from: &[0, 1], from_offset: 0, to: &[20, 1], to_offset: 0 }, 20, 120);
        check(&Strided { sizes: &[6, 20], from: &[1, 0], from_offset: 0, to: &[20, 1], to_offset: 0 }, 20, 120);
        check(&Strided { sizes: &[], from: &[], from_offset: 2, to: &[], to_offset: 1 }, 3, 2);
        check(&Strided { sizes: &[0, 2], from: &[2, 1], from_offset: 2, to: &[2, 1], to_offset: 1 }, 3, 2);
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let strided = Strided { sizes: &[2, 2], from: &[2, 1], from_offset: 0, to: &[2, 1], to_offset: 0 };
        assert!(copy(Level::Portable, &Strided { from: &[usize::MAX, 1], ..strided }, &[0; 4], &mut [0; 4]).is_err());
        assert!(copy(Level::Portable, &strided, &[0; 3], &mut [0; 4]).is_err());
        assert!(copy(Level::Portable, &strided, &[0; 4], &mut [0; 3]).is_err());
        assert!(copy(Level::Portable, &Strided { from: &[1], ..strided }, &[0; 4], &mut [0; 4]).is_err());
    }
}
