//! The greatest or least elements of rows, in order. NaN is greatest, and of equal elements the first comes first.

use et_core::{Error, Result};

/// Writes the best `count` elements of each row of `columns` elements, and their indices: `is_largest` says whether the greatest are best.
///
/// # Errors
/// [`Error::InvalidArgument`] for more elements than a row has, and for results of other sizes.
pub fn topk(
    input: &[f32],
    columns: usize,
    is_largest: bool,
    (values, indices): (&mut [f32], &mut [i64]),
    count: usize,
) -> Result<()> {
    let rows = input.len().checked_div(columns).ok_or(Error::InvalidArgument)?;
    let fits = rows.checked_mul(count).is_some_and(|size| [size; 2] == [values.len(), indices.len()]);
    if !fits || count > columns {
        return Err(Error::InvalidArgument);
    }
    let results = values.chunks_exact_mut(count.max(1)).zip(indices.chunks_exact_mut(count.max(1)));
    for (row, (values, indices)) in input.chunks_exact(columns).zip(results) {
        let mut found = 0;
        for (index, element) in row.iter().enumerate() {
            let better = |other: &f32| beats(*element, *other, is_largest);
            // Later elements do not go before equal ones.
            let place = values[..found].iter().rposition(|other| !better(other)).map_or(0, |last| last + 1);
            if place < count {
                found = (found + 1).min(count);
                values.copy_within(place..found - 1, place + 1);
                indices.copy_within(place..found - 1, place + 1);
                (values[place], indices[place]) = (*element, index as i64);
            }
        }
    }
    Ok(())
}

/// Groups of neighbouring elements of a row, of which the elements of the best groups are chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Groups {
    /// The groups of a row.
    pub count: usize,
    /// The groups that elements are chosen from.
    pub kept: usize,
    /// The greatest elements of a group whose sum says how good the group is.
    pub judged: usize,
}

impl Groups {
    /// The scratch elements that [`topk_within`] needs.
    pub const fn scratch(self, columns: usize) -> usize {
        columns.saturating_add(self.count)
    }
}

/// As [`topk`] for the greatest elements, of the best groups and by elements plus `biases`, of which there may be none; the values are
/// without biases.
///
/// # Errors
/// As for [`topk`], and for groups that do not divide a row, that are too few for `count` elements, or have no `judged` elements.
pub fn topk_within(
    input: &[f32],
    (biases, groups): (&[f32], Groups),
    (values, indices): (&mut [f32], &mut [i64]),
    count: usize,
    scratch: &mut [f32],
    columns: usize,
) -> Result<()> {
    let size = columns.checked_div(groups.count).filter(|size| size * groups.count == columns);
    let size = size.ok_or(Error::InvalidArgument)?;
    let fits = groups.judged <= size && groups.kept <= groups.count && count <= groups.kept * size && count > 0;
    let is_biased = biases.is_empty() || biases.len() == columns;
    let (corrected, scores) = scratch.split_at_mut_checked(columns).ok_or(Error::InvalidArgument)?;
    let scores = scores.get_mut(..groups.count).ok_or(Error::InvalidArgument)?;
    if !fits || !is_biased || columns == 0 {
        return Err(Error::InvalidArgument);
    }
    let results = values.chunks_exact_mut(count).zip(indices.chunks_exact_mut(count));
    for (row, (values, indices)) in input.chunks_exact(columns).zip(results) {
        corrected.copy_from_slice(row);
        corrected.iter_mut().zip(biases).for_each(|(element, bias)| *element += bias);
        for (score, group) in scores.iter_mut().zip(corrected.chunks_exact(size)) {
            *score = sum_of_greatest(group, groups.judged);
        }
        for (index, group) in corrected.chunks_exact_mut(size).enumerate() {
            if rank(scores, index) >= groups.kept {
                group.fill(f32::NEG_INFINITY);
            }
        }
        topk(corrected, columns, true, (values, indices), count)?;
        for (value, index) in values.iter_mut().zip(indices.iter()) {
            *value = row.get(*index as usize).copied().unwrap_or_default();
        }
    }
    Ok(())
}

/// The sum of the `count` greatest elements, added in order.
fn sum_of_greatest(elements: &[f32], count: usize) -> f32 {
    let (mut sum, mut last) = (0.0, None);
    for _ in 0..count {
        last = (0..elements.len())
            .filter(|index| last.is_none_or(|last| precedes(elements, last, *index)))
            .reduce(|best, index| if precedes(elements, index, best) { index } else { best });
        sum += last.map_or(0.0, |index| elements[index]);
    }
    sum
}

/// How many elements come before one in order.
fn rank(elements: &[f32], index: usize) -> usize {
    (0..elements.len()).filter(|other| precedes(elements, *other, index)).count()
}

fn precedes(elements: &[f32], left: usize, right: usize) -> bool {
    let (one, other) = (elements[left], elements[right]);
    beats(one, other, true) || (!beats(other, one, true) && left < right)
}

fn beats(left: f32, right: f32, is_largest: bool) -> bool {
    match is_largest {
        true => left > right || (left.is_nan() && !right.is_nan()),
        false => left < right || (right.is_nan() && !left.is_nan()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn best<const N: usize>(row: &[f32], is_largest: bool) -> ([f32; N], [i64; N]) {
        let (mut values, mut indices) = ([0.0; N], [0; N]);
        topk(row, row.len(), is_largest, (&mut values, &mut indices), N).unwrap();
        (values, indices)
    }

    #[test]
    fn equal_elements_keep_their_order_and_nan_is_greatest() {
        assert_eq!(best(&[1.0, 3.0, 2.0, 3.0, -1.0], true), ([3.0, 3.0, 2.0], [1, 3, 2]));
        assert_eq!(best(&[1.0, 3.0, 1.0, 0.0], false), ([0.0, 1.0, 1.0], [3, 0, 2]));
        let (values, indices) = best::<2>(&[1.0, f32::NAN, 2.0], true);
        assert!(values[0].is_nan() && values[1] == 2.0 && indices == [1, 2]);
        assert_eq!(best(&[f32::NAN, 2.0], false).1, [1, 0]);
    }

    #[test]
    fn more_elements_than_a_row_has_are_an_error() {
        let (mut values, mut indices) = ([0.0; 3], [0; 3]);
        assert!(topk(&[1.0, 2.0], 2, true, (&mut values, &mut indices), 3).is_err());
        assert!(topk(&[], 0, true, (&mut values, &mut indices), 3).is_err());
    }

    #[test]
    fn elements_of_the_best_groups_are_chosen_by_biased_numbers() {
        let (input, biases) = ([0.5, 0.5, 0.75, 0.0, 0.25, 0.5, 0.1, 0.2], [0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0]);
        let groups = Groups { count: 4, kept: 2, judged: 2 };
        let (mut values, mut indices, mut scratch) = ([0.0; 3], [0; 3], [f32::NAN; 12]);
        topk_within(&input, (&biases, groups), (&mut values, &mut indices), 3, &mut scratch, 8).unwrap();
        assert_eq!((values, indices), ([0.5, 0.5, 0.5], [5, 0, 1]));
        let groups = Groups { judged: 1, ..groups };
        topk_within(&input, (&[], groups), (&mut values, &mut indices), 3, &mut scratch, 8).unwrap();
        assert_eq!((values, indices), ([0.75, 0.5, 0.5], [2, 0, 1]));
    }

    #[test]
    fn groups_that_do_not_fit_are_refused() {
        let (mut values, mut indices, mut scratch) = ([0.0; 3], [0; 3], [0.0; 12]);
        for (count, kept, judged) in [(3, 1, 1), (4, 1, 1), (4, 5, 1), (4, 2, 3), (0, 0, 0)] {
            let groups = Groups { count, kept, judged };
            let results = (&mut values[..], &mut indices[..]);
            assert!(topk_within(&[0.0; 8], (&[], groups), results, 3, &mut scratch, 8).is_err(), "{groups:?}");
        }
    }
}
