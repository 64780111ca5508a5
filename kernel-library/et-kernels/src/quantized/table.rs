//! int8 lookup tables: any elementwise function of a single int8 input.

use et_core::Result;
use et_simd::{Isa, Level, Work};

use super::Quantization;
use crate::check::ensure;

/// The int8 results for the inputs from -128 to 127.
pub type Table = [i8; 256];

/// Tabulates an `f32` function for the given qparams.
pub fn table(from: Quantization, to: Quantization, function: impl Fn(f32) -> f32) -> Table {
    core::array::from_fn(|index| {
        let number = (index as f32 - 128.0 - from.zero_point as f32) * from.scale;
        let byte = function(number) / to.scale;
        // Rounds to the nearest int8, ties to even. NaN becomes the zero point.
        let rounded = (byte.clamp(-1024.0, 1024.0) + 12_582_912.0) - 12_582_912.0;
        (rounded as i32).saturating_add(to.zero_point).clamp(-128, 127) as i8
    })
}

/// Applies the table to each int8.
#[inline]
pub fn look_up(level: Level, table: &Table, input: &[i8], output: &mut [i8]) -> Result<()> {
    ensure(input.len() == output.len())?;
    level.run(LookUp { table, input, output });
    Ok(())
}

struct LookUp<'a> {
    table: &'a Table,
    input: &'a [i8],
    output: &'a mut [i8],
}

impl Work for LookUp<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Isa>(self, isa: S) {
        isa.look_up(self.table, self.input, self.output);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_function_is_a_table() {
        let from = Quantization { scale: 0.1, zero_point: 3 };
        let to = Quantization { scale: 1.0 / 256.0, zero_point: -128 };
        let sigmoid = |x: f32| 1.0 / (1.0 + (-x).exp());
        let table = table(from, to, sigmoid);
        let input: [i8; 256] = core::array::from_fn(|index| index as u8 as i8);
        for level in Level::available() {
            let mut output = [0; 256];
            look_up(level, &table, &input, &mut output).unwrap();
            for (input, output) in input.iter().zip(output) {
                let exact = sigmoid((f32::from(*input) - 3.0) * 0.1) * 256.0 - 128.0;
                assert!((f32::from(output) - exact.min(127.0)).abs() <= 0.501, "{} {input} {output}", level.name());
            }
        }
    }
}
