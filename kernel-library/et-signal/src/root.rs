//! The square root of a 64-bit number, within 1e-4: a table and two of Newton's steps to the inverse, with 32-bit products.

/// The intervals of the numbers from 1/4 to 1.
const INTERVALS: usize = 48;

/// The inverse roots of the middles of the intervals, with 15 fractional bits.
static INVERSES: [u16; INTERVALS] = table();

/// The square root.
pub fn root(number: u64) -> u32 {
    if number == 0 {
        return 0;
    }
    let zeros = number.leading_zeros() & !1;
    // From 1/4 to 1, with 16 fractional bits; the table has 6 of them.
    let scaled = (number << zeros >> 48) as u32;
    let inverse = INVERSES.get((scaled >> 10) as usize - 16).copied().unwrap_or_default();
    let inverse = refined(scaled, refined(scaled, inverse.into()));
    let root = (scaled * inverse) >> 15;
    // `root` has 16 bits, and the square root of a number without leading zeros has 32.
    (u64::from(root) << 16 >> (zeros / 2)) as u32
}

/// The inverse root after one of Newton's steps: `inverse * (3 - scaled * inverse^2) / 2`.
const fn refined(scaled: u32, inverse: u32) -> u32 {
    let near_one = (scaled * ((inverse * inverse) >> 15)) >> 16;
    let refined = (inverse * (((3 << 15) - near_one) >> 1)) >> 15;
    if refined > 0xffff { 0xffff } else { refined }
}

const fn table() -> [u16; INTERVALS] {
    let mut table = [0; INTERVALS];
    let mut index = 0;
    while index < INTERVALS {
        // The middle is `(2 * index + 33) / 128`.
        let inverse = ((1_u64 << 37) / (2 * index as u64 + 33)).isqrt();
        table[index] = if inverse > 0xffff { 0xffff } else { inverse as u16 };
        index += 1;
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roots_are_within_their_bound() {
        let mut number = 1_u64;
        while number < u64::MAX / 2 {
            for square in [number, number + number / 3, u64::MAX - number] {
                let (exact, got) = ((square as f64).sqrt(), f64::from(root(square)));
                assert!((got - exact).abs() <= 1.0 + exact * 1e-4, "{square}: {got} and not {exact}");
            }
            number += number / 5 + 1;
        }
    }
}
