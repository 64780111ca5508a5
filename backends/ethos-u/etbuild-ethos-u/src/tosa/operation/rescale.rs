//! RESCALE: integers of one scale as integers of another.
//!
//! Operands: the tensor, multipliers and shifts (one each, or one for each number along the last dimension), and the zero points of operand
//! and result. A product of number and multiplier is shifted right with one rounding, to nearest, halves up.

use super::{Operation, Value};
use crate::tosa::array::within;
use crate::tosa::{Array, Code, Field, Kind, fields};

/// A factor `multiplier * 2^-shift`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scale {
    pub multiplier: i32,
    /// From 2 to 62.
    pub shift: i8,
}

/// Another scale, and another type.
#[derive(Debug)]
pub struct Rescale {
    /// The type of the result.
    pub to: Kind,
    pub per_channel: bool,
}

impl Scale {
    /// The factor that is nearest to a positive number; `None` for numbers that are too great. Numbers that are too small are 0.
    pub fn of(number: f64) -> Option<Self> {
        if !number.is_finite() || number < 0.0 {
            return None;
        }
        let bits = number.to_bits();
        let exponent = (bits >> 52) as i32;
        let mantissa = bits & ((1 << 52) - 1) | u64::from(exponent > 0) << 52;
        // The mantissa of 53 bits becomes a multiplier in [2^30, 2^31]; a shift above 62 costs further bits.
        let (mut shift, excess) = ((1053 - exponent).min(62), (1053 - exponent - 62).max(0));
        let mut multiplier = (mantissa.checked_shr(21 + excess as u32).unwrap_or(0) + 1) >> 1;
        if multiplier == 1 << 31 {
            (multiplier, shift) = (multiplier >> 1, shift - 1);
        }
        let shift = i8::try_from(shift).ok().filter(|shift| *shift >= 2)?;
        Some(Self { multiplier: i32::try_from(multiplier).ok()?, shift })
    }
}

/// The product of a number and a factor; `None` where the product exceeds int32.
pub fn applied(number: i64, Scale { multiplier, shift }: Scale) -> Option<i64> {
    let round = 1_i64.checked_shl(u32::try_from(shift).ok()?.checked_sub(1)?)?;
    let product = number.checked_mul(i64::from(multiplier))?.checked_add(round)?;
    within(Kind::Int32, product >> shift)
}

impl Operation for Rescale {
    fn code(&self) -> Code {
        fields::RESCALE
    }

    fn attributes(&self) -> Vec<(Field, Value)> {
        vec![
            (fields::rescale::IS_32_BIT, Value::Flag(true)),
            (fields::rescale::ROUNDING, Value::Number(fields::rescale::SINGLE_ROUND)),
            (fields::rescale::PER_CHANNEL, Value::Flag(self.per_channel)),
        ]
    }

    fn evaluate(&self, inputs: &[&Array]) -> Option<Array> {
        let [input, multipliers, shifts, zero, result_zero] = inputs else { return None };
        let (zero, result_zero) = (zero.only()?, result_zero.only()?);
        let (least, most) = self.to.range();
        let channels = input.sizes.last().copied().filter(|_| self.per_channel).unwrap_or(1);
        let each = input.numbers.iter().enumerate().map(|(place, number)| {
            let multiplier = *multipliers.numbers.get(place % channels)? as i32;
            let shift = *shifts.numbers.get(place % channels)? as i8;
            Some((applied(number - zero, Scale { multiplier, shift })? + result_zero).clamp(least, most))
        });
        Some(Array { kind: self.to, sizes: input.sizes.clone(), numbers: each.collect::<Option<_>>()? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factors_are_nearest() {
        for number in [1.0, 0.5, 0.999_999_999_9, 3.75, 1e-6, 1e-12, 2e-19] {
            let Scale { multiplier, shift } = Scale::of(number).unwrap();
            let found = f64::from(multiplier) * 2_f64.powi(-i32::from(shift));
            assert!(
                (found / number - 1.0).abs() < 1e-8 || (found - number).abs() < 2_f64.powi(-62),
                "{number} {found}"
            );
        }
        assert_eq!((Scale::of(f64::NAN), Scale::of(-1.0), Scale::of(1e10)), (None, None, None));
    }

    #[test]
    fn halves_are_rounded_up() {
        let half = Scale { multiplier: 1 << 30, shift: 31 };
        let rounded = [-3, -1, 1, 3].map(|number| applied(number, half).unwrap());
        assert_eq!(rounded, [-1, 0, 1, 2]);
    }
}
