//! The median of a lane; the lower of two middle elements. A lane that contains NaN has the median NaN, as in PyTorch.

use et_core::{Error, Input, Number, Result};

use crate::family::reduce::Lane;

/// The median and its index in the lane; the first of equal elements.
pub fn find<T: Number>(from: Input<'_, T>, lane: &Lane) -> Result<(T, usize)> {
    let elements = || lane.clone().map(|offset| from.get(offset)).enumerate();
    if let Some((index, element)) = elements().find(|(_, element)| element.is_nan()) {
        return Ok((element, index));
    }
    let rank = elements().count().checked_sub(1).ok_or(Error::InvalidArgument)? / 2;
    let (mut above, mut below) = (None, None);
    let mut left_out = 0;
    loop {
        // The bounds close in on the element of this rank, so an element remains between the bounds.
        let inside =
            |element: T| above.is_none_or(|bound| element > bound) && below.is_none_or(|bound| element < bound);
        let count = elements().filter(|(_, element)| inside(*element)).count();
        // As a pivot, the middle candidate divides sorted input well.
        let pivot = elements().filter(|(_, element)| inside(*element)).nth(count / 2);
        let (_, pivot) = pivot.ok_or(Error::Internal)?;
        let less = elements().filter(|(_, element)| inside(*element) && *element < pivot).count();
        let equal = elements().filter(|(_, element)| *element == pivot).count();
        if rank < left_out + less {
            below = Some(pivot);
        } else if rank < left_out + less + equal {
            let first = elements().find(|(_, element)| *element == pivot);
            return first.map(|(index, element)| (element, index)).ok_or(Error::Internal);
        } else {
            left_out += less + equal;
            above = Some(pivot);
        }
    }
}
