//! How the scales of groups are stored.
#![allow(unsafe_code, reason = "scales are read by pointer")]
#![allow(unsafe_op_in_unsafe_fn, reason = "each function is one expression under the contract of the trait")]

use et_core::Half;

use crate::lanes::Lanes;

/// The most steps of a scale.
const MOST: f32 = 255.0;

/// The form of the scales of groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scales {
    /// `float16`.
    Halves,
    /// A byte for each, which counts steps, and the size of a step, `f32`, for each column. Only scales that [`step_of`] finds a
    /// step of are stored so.
    Steps,
}

impl Scales {
    /// Bytes of a scale.
    pub const fn size(self) -> usize {
        match self {
            Self::Halves => 2,
            Self::Steps => 1,
        }
    }

    /// Groups whose scales lie side by side: those of all columns take two bytes a column either way.
    pub const fn span(self) -> usize {
        2 / self.size()
    }

    /// What numbers that are stored for the scales of a column are multiplied with; `None` for scales that are not of the form.
    pub fn unit(self, scales: &[f32]) -> Option<f32> {
        match self {
            Self::Halves => Some(1.0),
            Self::Steps => step_of(scales),
        }
    }

    /// What is stored for a scale, in the first bytes, and the number that this is.
    pub fn store(self, scale: f32, unit: f32) -> ([u8; 2], f32) {
        match self {
            Self::Halves => {
                let half = Half::from_f32(scale);
                (half.0.to_le_bytes(), half.to_f32())
            }
            Self::Steps => {
                let steps = steps(scale, 1.0 / unit);
                ([steps, 0], f32::from(steps))
            }
        }
    }

    /// The number that is stored in so many bytes.
    pub fn number(self, bytes: &[u8]) -> f32 {
        match (self, bytes) {
            (Self::Halves, &[low, high, ..]) => Half(u16::from_le_bytes([low, high])).to_f32(),
            (Self::Steps, &[steps, ..]) => f32::from(steps),
            _ => 0.0,
        }
    }
}

/// The step of which the scales of a column are exact multiples, the largest 255 times; `None` where there is none.
pub fn step_of(scales: &[f32]) -> Option<f32> {
    let step = scales.iter().fold(0.0, |most: f32, scale| most.max(*scale)) / MOST;
    let each = 1.0 / step;
    let is_multiple = |scale: &f32| step * f32::from(steps(*scale, each)) == *scale;
    scales.iter().all(is_multiple).then_some(step)
}

/// The nearest number of steps, from 0 to 255, for the inverse of a step.
fn steps(scale: f32, each: f32) -> u8 {
    (scale * each + 0.5) as u8
}

/// A form of scales in a kernel.
pub trait ScaleForm {
    /// The form.
    const SCALES: Scales;

    /// Reads what is stored for a vector of columns.
    ///
    /// # Safety
    ///
    /// The processor has the instructions of `L`; `from` is valid for so many scales.
    unsafe fn load<L: Lanes>(from: *const u8) -> L;

    /// A vector times the units of its columns.
    ///
    /// # Safety
    ///
    /// The processor has the instructions of `L`; where there are units, `units` is valid for so many.
    unsafe fn scaled<L: Lanes>(value: L, units: *const f32) -> L;
}

/// [`Scales::Halves`].
pub struct HalfScales;

/// [`Scales::Steps`].
pub struct StepScales;

impl ScaleForm for HalfScales {
    const SCALES: Scales = Scales::Halves;
    #[inline(always)]
    unsafe fn load<L: Lanes>(from: *const u8) -> L {
        L::load_halves(from.cast())
    }
    #[inline(always)]
    unsafe fn scaled<L: Lanes>(value: L, _: *const f32) -> L {
        value
    }
}

impl ScaleForm for StepScales {
    const SCALES: Scales = Scales::Steps;
    #[inline(always)]
    unsafe fn load<L: Lanes>(from: *const u8) -> L {
        L::load_unsigned(from)
    }
    #[inline(always)]
    unsafe fn scaled<L: Lanes>(value: L, units: *const f32) -> L {
        value.multiply(L::load(units))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_multiples_of_a_step_have_one() {
        assert_eq!(step_of(&[0.5, 255.0 * 0.5, 63.0 * 0.5]), Some(0.5));
        assert_eq!(step_of(&[0.75, 255.0 * 0.5]), None);
        assert_eq!(step_of(&[0.0, 255.0]), Some(1.0));
        assert_eq!(step_of(&[256.0, 255.0]), None);
        assert_eq!(step_of(&[-1.0, 255.0]), None);
        assert_eq!(step_of(&[f32::NAN, 255.0]), None);
        assert_eq!(step_of(&[f32::INFINITY, 255.0]), None);
        assert_eq!(step_of(&[0.0]), Some(0.0));
        assert_eq!(step_of(&[]), Some(0.0));
    }
}
