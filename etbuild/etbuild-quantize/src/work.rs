//! The quantization of a single weight tensor as a value: results can be stored under its identity and found again.

use et_core::ScalarType;
use etbuild_ir::{ConstantData, Digest};

use crate::compensate;
use crate::elements::Elements;
use crate::factor::Factor;
use crate::weight::{self, Grid};

/// The approximate number of elements in memory.
const PIECE: usize = 1 << 21;

/// The quantization of a weight tensor.
#[derive(Clone, Debug)]
pub struct Work {
    weights: ConstantData,
    scalar_type: ScalarType,
    /// The sizes outside of the block dimension, the number of blocks, and the sizes inside.
    sizes: [usize; 3],
    grid: Grid,
    /// Whether two integers share a byte.
    pairs: bool,
    /// The moments of the activations and the length of rows, for compensated errors.
    moments: Option<(ConstantData, usize)>,
}

/// Integers and scales (`float32`).
#[derive(Clone, Debug)]
pub struct Kept {
    /// In the order of the weights.
    pub integers: ConstantData,
    /// A scale per block, in order.
    pub scales: ConstantData,
}

/// Receives integers and scales as bytes, piece by piece.
pub type Take<'t> = &'t mut (dyn FnMut(&[u8], &[u8]) + Send);

/// Computes and stores quantized weights.
pub trait Keeper {
    /// The quantized weights of the tensor `name`: computed, or stored earlier.
    fn keep(&self, name: &str, work: &Work) -> Kept;
}

/// Computes on every call and keeps results in memory.
#[derive(Clone, Copy, Debug, Default)]
pub struct InMemory;

impl Keeper for InMemory {
    fn keep(&self, _name: &str, work: &Work) -> Kept {
        let (mut integers, mut scales) = (Vec::new(), Vec::new());
        work.run(&mut |made, of_them| {
            integers.extend_from_slice(made);
            scales.extend_from_slice(of_them);
        });
        Kept { integers: ConstantData::new(integers), scales: ConstantData::new(scales) }
    }
}

impl Work {
    /// The quantization of row-major weights with `outer` times `blocks` times `inner` elements and a scale per
    /// block. `None` for another number of elements, or a type that `float32` cannot represent exactly.
    pub fn new(weights: &ConstantData, scalar_type: ScalarType, sizes: [usize; 3], grid: Grid) -> Option<Self> {
        let elements = Elements::new(scalar_type, weights.bytes())?;
        let count = sizes.iter().try_fold(1_usize, |count, size| count.checked_mul(*size))?;
        let whole = sizes[1].is_multiple_of(grid.together());
        let fits = whole && count > 0 && count.checked_mul(scalar_type.size()) == Some(weights.bytes().len());
        (fits && elements.len() == count).then(|| Self {
            weights: weights.clone(),
            scalar_type,
            sizes,
            grid,
            pairs: false,
            moments: None,
        })
    }

    /// The quantization to int4 with two integers per byte, each plus 8, the first in the upper four bits.
    #[must_use]
    pub fn in_pairs(self) -> Self {
        Self { pairs: true, ..self }
    }

    /// The quantization with compensated errors: the rounding error of a weight is compensated in the rest of its row
    /// of `columns` elements. `moments` are the [`crate::Moments`] of the activations. Moments that do not fit the
    /// weights are ignored.
    #[must_use]
    pub fn compensated(self, moments: &ConstantData, columns: usize) -> Self {
        let [outer, blocks, inner] = self.sizes;
        let count = columns.checked_add(1).and_then(|more| more.checked_mul(columns));
        let fits = count.map(|count| count / 2 * size_of::<f32>()) == Some(moments.bytes().len());
        let fits = fits && self.grid.row.is_none_or(|row| row * inner == columns);
        let whole = outer == 1 && columns.is_multiple_of(inner) && (blocks * inner).is_multiple_of(columns.max(1));
        if fits && whole && columns > 0 { Self { moments: Some((moments.clone(), columns)), ..self } } else { self }
    }

    /// The identity: a text that determines the result.
    pub fn identity(&self) -> String {
        let Self { weights, scalar_type, sizes, grid, pairs, moments } = self;
        let Grid { bounds, observer, row, most, least } = grid;
        let least: Vec<u8> = least.iter().flat_map(|scale| scale.to_le_bytes()).collect();
        let (weights, least, name) = (weights.digest(), Digest::of(&least), scalar_type.name());
        let [lowest, highest] = [bounds.lowest, bounds.highest];
        let plain =
            format!("{weights} {name} {sizes:?} {lowest} {highest} {observer:?} {row:?} {most} {least} {pairs}");
        match moments {
            Some((moments, columns)) => format!("{plain} {columns} {}", moments.digest()),
            None => plain,
        }
    }

    /// The number of bytes of the integers and of the scales.
    pub fn lengths(&self) -> [usize; 2] {
        let [outer, blocks, inner] = self.sizes;
        let integers = outer * blocks * inner;
        [if self.pairs { integers.div_ceil(2) } else { integers }, blocks * size_of::<f32>()]
    }

    /// Passes integers and scales to `take`, piece by piece in order. Releases the memory of the weights.
    pub fn run(&self, take: Take<'_>) {
        if let Some(elements) = Elements::new(self.scalar_type, self.weights.bytes()) {
            match self.sizes {
                [1, blocks, inner] => self.in_pieces(elements, blocks, inner, take),
                _ => self.turned(take),
            }
        }
        self.weights.release();
    }

    /// Computes a piece while `take` receives the previous piece.
    fn in_pieces(&self, elements: Elements<'_>, blocks: usize, inner: usize, take: Take<'_>) {
        let columns = self.moments.as_ref().map_or(inner * self.grid.together(), |(_, columns)| *columns);
        let factor = self.moments.as_ref().and_then(|(moments, columns)| Factor::of(moments.bytes(), *columns));
        self.moments.iter().for_each(|(moments, _)| moments.release());
        // Neither rows nor pairs cross pieces.
        let step = (PIECE / columns).max(1).next_multiple_of(2) * (columns / inner);
        let make = |first: usize, (integers, scales): &mut Piece| {
            let count = step.min(blocks - first);
            integers.resize(count * inner, 0);
            scales.resize(count, 0.0);
            let part = elements.part(first * inner, count * inner);
            let out = (&mut integers[..], &mut scales[..]);
            match &factor {
                Some(factor) => compensate::quantize(part, ([columns, inner], first), (&self.grid, factor), out),
                None => weight::quantize(part, (inner, first), &self.grid, out),
            }
        };
        let (mut made, mut next) = (Piece::default(), Piece::default());
        make(0, &mut made);
        for first in (step..blocks).step_by(step) {
            rayon::join(|| make(first, &mut next), || self.hand_on(&made.0, &made.1, take));
            std::mem::swap(&mut made, &mut next);
        }
        self.hand_on(&made.0, &made.1, take);
    }

    /// Gathers blocks that are not contiguous, all at once.
    fn turned(&self, take: Take<'_>) {
        let ([outer, blocks, inner], size) = (self.sizes, self.scalar_type.size());
        let count = outer * blocks * inner;
        let stored = |at: usize| self.weights.bytes().get(at * size..(at + 1) * size).unwrap_or_default();
        let turned: Vec<u8> = (0..count).flat_map(|at| stored(source(at, self.sizes))).copied().collect();
        let Some(elements) = Elements::new(self.scalar_type, &turned) else { return };
        let (mut made, mut scales) = (vec![0; count], vec![0.0; blocks]);
        weight::quantize(elements, (outer * inner, 0), &self.grid, (&mut made, &mut scales));
        let mut integers = vec![0; count];
        for (at, integer) in made.iter().enumerate() {
            if let Some(place) = integers.get_mut(source(at, self.sizes)) {
                *place = *integer;
            }
        }
        self.hand_on(&integers, &scales, take);
    }

    fn hand_on(&self, integers: &[u8], scales: &[f32], take: Take<'_>) {
        let scales: Vec<u8> = scales.iter().flat_map(|scale| scale.to_le_bytes()).collect();
        if self.pairs { take(&packed(integers), &scales) } else { take(integers, &scales) }
    }
}

/// Integers and scales.
type Piece = (Vec<u8>, Vec<f32>);

/// The source index of the element at `at` of the block-major order.
const fn source(at: usize, [outer, blocks, inner]: [usize; 3]) -> usize {
    let (block, rest) = (at / (outer * inner), at % (outer * inner));
    (rest / inner * blocks + block) * inner + rest % inner
}

/// Packs pairs of integers from -8 to 7 into bytes, each plus 8, the first in the upper four bits.
fn packed(integers: &[u8]) -> Vec<u8> {
    let half = |integer: u8| integer.wrapping_add(8) & 15;
    integers.as_chunks::<2>().0.iter().map(|[first, second]| half(*first) << 4 | half(*second)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Observer;
    use crate::parameters::Bounds;

    fn work(reals: &[f32], sizes: [usize; 3], bounds: Bounds) -> Work {
        let bytes: Vec<u8> = reals.iter().flat_map(|real| real.to_le_bytes()).collect();
        Work::new(&ConstantData::new(bytes), ScalarType::Float, sizes, Grid::new(bounds, Observer::MinMax)).unwrap()
    }

    fn floats(data: &ConstantData) -> Vec<f32> {
        data.bytes().as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect()
    }

    #[test]
    fn blocks_need_not_be_contiguous() {
        let kept = InMemory.keep("", &work(&[1.0, 254.0, -127.0, 2.0], [2, 2, 1], Bounds::WEIGHT8));
        assert_eq!((floats(&kept.scales), kept.integers.bytes()), (vec![1.0, 2.0], &[1, 127, 129, 1][..]));
    }

    #[test]
    fn the_first_of_two_int4_is_in_the_high_bits() {
        let kept = InMemory.keep("", &work(&[-8.0, 7.0, 0.0, -8.0], [1, 1, 4], Bounds::WEIGHT4).in_pairs());
        assert_eq!(kept.integers.bytes(), [15, 128]);
    }

    #[test]
    fn half_precision_weights_quantize_like_their_float32_values_in_any_number_of_pieces() {
        let bits = |index: usize| (0x3d00 + (index * 7919 % 509)) as u16 | ((index % 2) << 15) as u16;
        let count = PIECE + PIECE / 2;
        let halves: Vec<u8> = (0..count).flat_map(|index| bits(index).to_le_bytes()).collect();
        let reals: Vec<f32> = (0..count).map(|index| f32::from_bits(u32::from(bits(index)) << 16)).collect();
        let grid = Grid::new(Bounds::WEIGHT4, Observer::MinMax);
        let sizes = [1, count / 64, 64];
        let of_halves = Work::new(&ConstantData::new(halves), ScalarType::BFloat16, sizes, grid).unwrap();
        let [left, right] = [of_halves, work(&reals, sizes, Bounds::WEIGHT4)].map(|work| {
            let kept = InMemory.keep("", &work);
            assert_eq!(work.lengths(), [&kept.integers, &kept.scales].map(|data| data.bytes().len()));
            kept
        });
        assert_eq!((left.integers, left.scales), (right.integers, right.scales));
    }

    #[test]
    fn the_number_of_weights_must_match_the_sizes() {
        let data = ConstantData::new(vec![0; 16]);
        let made = |sizes, scalar_type| {
            Work::new(&data, scalar_type, sizes, Grid::new(Bounds::WEIGHT8, Observer::MinMax)).is_some()
        };
        assert!(made([1, 2, 2], ScalarType::Float) && made([1, 2, 4], ScalarType::Half));
        assert!(!made([1, 2, 2], ScalarType::Half) && !made([1, 0, 2], ScalarType::Float));
        assert!(!made([1, 2, 1], ScalarType::Double) && !made([usize::MAX, 2, 4], ScalarType::Float));
    }
}
