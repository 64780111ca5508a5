//! The middle element of a lane: the lower of two. NaN is the middle of everything that it is in, as in PyTorch.

use et_core::{Error, Input, Number, Result};

use super::reduce::Lane;

/// The middle element and its index in the lane, the first of equals.
pub fn find<T: Number>(from: Input<'_, T>, lane: &Lane) -> Result<(T, usize)> {
    let elements = || lane.clone().map(|offset| from.get(offset)).enumerate();
    if let Some((index, element)) = elements().find(|(_, element)| element.is_nan()) {
        return Ok((element, index));
    }
    let rank = elements().count().checked_sub(1).ok_or(Error::InvalidArgument)? / 2;
    let (mut above, mut below) = (None, None);
    let mut left_out = 0;
    loop {
        // The bounds close in on the element of this rank, so there is one between them.
        let inside =
            |element: T| above.is_none_or(|bound| element > bound) && below.is_none_or(|bound| element < bound);
        let count = elements().filter(|(_, element)| inside(*element)).count();
        // One from the middle of those that are left divides them well where they come in order.
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
