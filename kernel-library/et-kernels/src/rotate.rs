//! Rotary position embedding (RoPE).

use et_core::Result;
use et_simd::{Float, Level, Simd, Work};

use crate::check::ensure;

/// Which elements of a head are a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pairing {
    /// Element `i` with element `i + pairs`: the order of Hugging Face's models.
    Halves,
    /// Element `2 i` with element `2 i + 1`: the order of the publication.
    Neighbours,
}

/// Applies RoPE to the heads of a token. Elements from `2 * pairs` on are copied (partial RoPE).
///
/// "RoFormer: Enhanced Transformer with Rotary Position Embedding" (Su et al., 2021). `cosines` and `sines` have an element per pair for the token's position; `input` and `output` are
/// heads of `width` elements.
#[inline]
pub fn rotate(
    level: Level,
    pairing: Pairing,
    input: &[f32],
    [cosines, sines]: [&[f32]; 2],
    output: &mut [f32],
    width: usize,
) -> Result<()> {
    ensure(cosines.len() == sines.len() && 2 * cosines.len() <= width && input.len() == output.len())?;
    ensure(width > 0 && input.len().is_multiple_of(width))?;
    let rotate = Rotate { input, cosines, sines, output, width };
    match pairing {
        Pairing::Halves => level.run(rotate),
        Pairing::Neighbours => rotate.neighbours(),
    }
    Ok(())
}

struct Rotate<'a> {
    input: &'a [f32],
    cosines: &'a [f32],
    sines: &'a [f32],
    output: &'a mut [f32],
    width: usize,
}

impl Rotate<'_> {
    /// Turns pairs of neighbours. The tables and a head stay in the first cache, and matrices take the time of a model.
    fn neighbours(self) {
        let heads = self.input.chunks_exact(self.width).zip(self.output.chunks_exact_mut(self.width));
        for (input, output) in heads {
            let (turned, rest) = input.split_at(2 * self.cosines.len());
            let (to_turned, to_rest) = output.split_at_mut(turned.len());
            let pairs = turned.as_chunks::<2>().0.iter().zip(to_turned.as_chunks_mut::<2>().0);
            for (([left, right], to), (cosine, sine)) in pairs.zip(self.cosines.iter().zip(self.sines)) {
                *to = [left * cosine - right * sine, right * cosine + left * sine];
            }
            to_rest.copy_from_slice(rest);
        }
    }
}

impl Work for Rotate<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self, isa: S) {
        let pairs = self.cosines.len();
        let heads = self.input.chunks_exact(self.width).zip(self.output.chunks_exact_mut(self.width));
        for (input, output) in heads {
            let ((left, rest), (to_left, to_rest)) = (input.split_at(pairs), output.split_at_mut(pairs));
            let ((right, rest), (to_right, to_rest)) = (rest.split_at(pairs), to_rest.split_at_mut(pairs));
            for at in (0..pairs).step_by(S::LANES) {
                let (cosine, sine) = (isa.load(self.cosines, at), isa.load(self.sines, at));
                let (one, other) = (isa.load(left, at), isa.load(right, at));
                isa.store(to_left, at, other.neg_mul_add(sine, one * cosine));
                isa.store(to_right, at, one.mul_add(sine, other * cosine));
            }
            to_rest.copy_from_slice(rest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test::{check, numbers};
    use std::vec::Vec;

    #[test]
    fn pairs_turn_and_the_rest_stays() {
        for (width, pairs) in [(2, 1), (8, 3), (64, 32), (96, 24), (128, 64)] {
            let (input, cosines, sines) = (numbers(3 * width, 1), numbers(pairs, 2), numbers(pairs, 3));
            let mut expected: Vec<f64> = input.iter().copied().map(f64::from).collect();
            let mut neighbours = expected.clone();
            let turn = |head: &mut [f64], pair: usize, [first, second]: [usize; 2]| {
                let [cosine, sine] = [cosines[pair], sines[pair]].map(f64::from);
                let [left, right] = [head[first], head[second]];
                (head[first], head[second]) = (left * cosine - right * sine, right * cosine + left * sine);
            };
            for pair in 0..pairs {
                expected.chunks_mut(width).for_each(|head| turn(head, pair, [pair, pair + pairs]));
                neighbours.chunks_mut(width).for_each(|head| turn(head, pair, [2 * pair, 2 * pair + 1]));
            }
            for (pairing, expected) in [(Pairing::Halves, &expected), (Pairing::Neighbours, &neighbours)] {
                check("heads", expected, 1e-6, |level, output| {
                    rotate(level, pairing, &input, [&cosines, &sines], output, width)
                });
            }
        }
    }

    #[test]
    fn more_pairs_than_numbers_are_refused() {
        assert!(rotate(Level::Portable, Pairing::Halves, &[1.0], [&[1.0], &[1.0]], &mut [0.0], 1).is_err());
    }
}
