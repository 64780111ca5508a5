//! Integers of 4 bits in the tiles of a GPU's matrix instructions, as torchao stores them for the kernel tinygemm.

use std::sync::Arc;

use et_core::ScalarType;
use etbuild_weights::{Affine, Lanes, Packing, Tensor, Zeros, reals};

use super::place::Place;
use super::{REALS, WORDS, typed};
use crate::CheckpointError;
use crate::shards::Tensors;

/// The rows of a tile, the columns, and the words beside each other.
const TILE: [usize; 3] = [8, 16, 32];

/// The zero point of the stored integers.
const MIDDLE: f32 = 8.0;

/// Words `[rows / 8, columns / (16 * tiles), 32, tiles / 2]`; for each group and row, a scale beside a number that is added to the products.
/// Both are of more rows and columns than the matrix, of which the header states the sizes.
pub fn add(tensors: &mut Tensors, place: &Place<'_>, elements: &str) -> Result<(), CheckpointError> {
    let (words, both) = (place.any(tensors, elements)?, place.any(tensors, "scale_and_zero")?);
    let [of_rows, of_columns, _, halves] = of_words(place, &words)?;
    let all_columns = of_columns.saturating_mul(halves).saturating_mul(2 * TILE[1]);
    let [all_rows, group] = of_groups(place, &both, [of_rows.saturating_mul(TILE[0]), all_columns])?;
    let [rows, columns] = place.class.shape.unwrap_or([all_rows, all_columns]);
    if rows > all_rows || columns > all_columns || !columns.is_multiple_of(group) {
        return Err(place.misfit(&both, &[columns / group, rows, 2]));
    }
    let both = typed(both, place.tensor, REALS)?;
    let numbers = |number: &dyn Fn([f32; 2]) -> f32| {
        let all = (0..rows).flat_map(|row| (0..columns / group).map(move |group| (group * all_rows + row) * 2));
        let numbers: Vec<f32> = all.map(|first| number([first, first + 1].map(|index| both.real(index)))).collect();
        let shard = Arc::new(reals::stored(&numbers));
        Lanes(Tensor { scalar_type: ScalarType::Float, shape: vec![rows, columns / group], shard, start: 0 })
    };
    let matrix = Affine {
        name: "int4 of torchao",
        integers: typed(words, place.tensor, WORDS)?,
        bits: 4,
        packing: Packing::Tiles([of_columns, halves]),
        scales: numbers(&|[scale, _]| scale),
        scales_by_row: true,
        zeros: Zeros::Biases(numbers(&|[scale, more]| more - MIDDLE * scale)),
        groups: None,
        sizes: [rows, columns, group],
    };
    place.add(tensors, matrix)
}

/// The sizes of the words.
fn of_words(place: &Place<'_>, words: &Tensor) -> Result<[usize; 4], CheckpointError> {
    let sizes = <[usize; 4]>::try_from(&words.shape[..]).ok().filter(|[.., beside, _]| *beside == TILE[2]);
    sizes.ok_or_else(|| place.misfit(words, &[0, 0, TILE[2], 0]))
}

/// The rows that have scales, and the columns of a group, of at most so many rows and of so many columns.
fn of_groups(place: &Place<'_>, both: &Tensor, [most, columns]: [usize; 2]) -> Result<[usize; 2], CheckpointError> {
    let sizes = match both.shape[..] {
        [groups, rows, 2] => columns.checked_div(groups).map(|group| (groups, [rows, group])),
        _ => None,
    };
    let fits = |(groups, [rows, group]): &(usize, [usize; 2])| {
        *rows <= most && *group > 0 && group.checked_mul(*groups) == Some(columns)
    };
    sizes.filter(fits).map(|(_, sizes)| sizes).ok_or_else(|| place.misfit(both, &[0, most, 2]))
}
