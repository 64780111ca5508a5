//! The packed format of blockwise int4 and int8 weights, and the storage formats of block scales.
#![allow(unsafe_code, reason = "scales are read by pointer")]
#![allow(unsafe_op_in_unsafe_fn, reason = "each function is one expression under the contract of the trait")]

use et_core::Half;
use et_simd::{GemmDot, Integer, Simd};

/// The largest u8 scale.
const MOST: f32 = 255.0;

/// The packed format of blockwise int4 or int8 weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockFormat {
    /// Block size: elements of K that share a scale.
    pub group: usize,
    /// The type of the weights.
    pub width: Width,
    /// Whether the panels have a bias row.
    pub is_biased: bool,
    /// The format of the block scales; not [`Scales::Steps`] for int8 weights.
    pub scales: Scales,
}

/// Offsets in a panel, in bytes per column.
impl BlockFormat {
    /// Header bytes per column; the last four are the second-level scale, if the format has one.
    pub(crate) const fn header(self) -> usize {
        let bias = if self.is_biased { 4 } else { 0 };
        let step = if matches!(self.scales, Scales::Steps) { 4 } else { 0 };
        4 + bias + step
    }

    /// Size of the elements of a block.
    pub(crate) const fn elements(self) -> usize {
        self.group / 8 * self.width.bytes()
    }

    /// Size of a unit of scales and elements: one block, or two blocks with u8 scales.
    pub(crate) const fn block(self) -> usize {
        self.scales.span() * (self.scales.size() + self.elements())
    }

    /// Packed size of a column with K = `inner`.
    pub(crate) const fn column(self, inner: usize) -> usize {
        let span = self.scales.span();
        self.header() + (inner / self.group).div_ceil(span) * span * self.scales.size() + inner / 8 * self.width.bytes()
    }

    /// Offset of the scales of a block.
    pub(crate) const fn scales_at(self, group: usize) -> usize {
        let span = self.scales.span();
        self.header() + group / span * self.block() + group % span * self.scales.size()
    }

    /// Offset of the elements of a block.
    pub(crate) const fn elements_at(self, group: usize) -> usize {
        let span = self.scales.span();
        self.header() + group / span * self.block() + span * self.scales.size() + group % span * self.elements()
    }
}

/// The type of blockwise weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Width {
    /// From -8 to 7.
    Int4,
    /// From -128 to 127.
    Int8,
}

impl Width {
    /// The bytes of eight weights.
    pub const fn bytes(self) -> usize {
        match self {
            Self::Int4 => 4,
            Self::Int8 => 8,
        }
    }
}

/// The storage format of block scales.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scales {
    /// An fp16 scale per block.
    Halves,
    /// An `f32` scale per block.
    Floats,
    /// A u8 scale per block and an `f32` second-level scale per column. Requires scales that are exact multiples, as
    /// [`step_of`] checks.
    Steps,
}

impl Scales {
    /// Bytes per block scale.
    pub const fn size(self) -> usize {
        match self {
            Self::Floats => 4,
            Self::Halves => 2,
            Self::Steps => 1,
        }
    }

    /// Blocks whose scales are stored together.
    pub const fn span(self) -> usize {
        match self {
            Self::Floats | Self::Halves => 1,
            Self::Steps => 2,
        }
    }

    /// The second-level scale of a column (1 for other formats than [`Self::Steps`]); `None` if the format cannot represent the scales.
    pub fn unit(self, scales: &[f32]) -> Option<f32> {
        match self {
            Self::Floats | Self::Halves => Some(1.0),
            Self::Steps => step_of(scales),
        }
    }

    /// The stored bytes of a scale (in the first [`Self::size`] bytes), and the stored value.
    pub fn store(self, scale: f32, unit: f32) -> ([u8; 4], f32) {
        match self {
            Self::Floats => (scale.to_le_bytes(), scale),
            Self::Halves => {
                let half = Half::from_f32(scale);
                let [low, high] = half.0.to_le_bytes();
                ([low, high, 0, 0], half.to_f32())
            }
            Self::Steps => {
                let steps = steps(scale, 1.0 / unit);
                ([steps, 0, 0, 0], f32::from(steps))
            }
        }
    }

    /// Decodes a stored scale.
    pub fn number(self, bytes: &[u8]) -> f32 {
        match (self, bytes) {
            (Self::Floats, &[a, b, c, d, ..]) => f32::from_le_bytes([a, b, c, d]),
            (Self::Halves, &[low, high, ..]) => Half(u16::from_le_bytes([low, high])).to_f32(),
            (Self::Steps, &[steps, ..]) => f32::from(steps),
            _ => 0.0,
        }
    }
}

/// The second-level scale of which every block scale of a column is an exact multiple, the largest by 255; `None` if a
/// scale is not an exact multiple.
pub fn step_of(scales: &[f32]) -> Option<f32> {
    let step = scales.iter().fold(0.0, |most: f32, scale| most.max(*scale)) / MOST;
    let each = 1.0 / step;
    let is_multiple = |scale: &f32| step * f32::from(steps(*scale, each)) == *scale;
    scales.iter().all(is_multiple).then_some(step)
}

/// The nearest u8 multiple, given the reciprocal of the second-level scale.
fn steps(scale: f32, each: f32) -> u8 {
    (scale * each + 0.5) as u8
}

/// A type of weights and a format of scales, at compile time.
pub trait Form {
    /// The type of the weights.
    const WIDTH: Width;
    /// The format of the scales.
    const SCALES: Scales;

    /// Loads eight K elements of a vector of columns: the first four, and the last four. Rows of four int8 elements are
    /// `row` bytes apart.
    ///
    /// # Safety
    ///
    /// The CPU has the ISA of `D`, and `from` is valid for the elements.
    #[inline(always)]
    unsafe fn weights<D: GemmDot>(from: *const u8, row: usize) -> [D::Weights; 2] {
        match Self::WIDTH {
            Width::Int4 => D::unpack_int4(from),
            Width::Int8 => [D::load(from), D::load(from.add(row))],
        }
    }

    /// Loads the stored block scales of a vector of columns.
    ///
    /// # Safety
    ///
    /// `from` is valid for a vector of stored scales.
    unsafe fn load<S: Simd>(isa: S, from: *const u8) -> S::F32;

    /// Multiplies a vector by the second-level scales of the columns, if the format has second-level scales.
    ///
    /// # Safety
    ///
    /// For formats with second-level scales, `units` is valid for a vector.
    unsafe fn scaled<S: Simd>(isa: S, value: S::F32, units: *const f32) -> S::F32;
}

/// int4 with [`Scales::Halves`] (fp16).
pub struct Int4Halves;

/// int4 with [`Scales::Steps`] (u8 with second-level scales).
pub struct Int4Steps;

/// int4 with [`Scales::Floats`].
pub struct Int4Floats;

/// int8 with [`Scales::Halves`].
pub struct Int8Halves;

/// int8 with [`Scales::Floats`].
pub struct Int8Floats;

/// Forms without second-level scales.
macro_rules! forms {
    ($($form:ident: $width:ident, $scales:ident, |$isa:ident, $from:ident| $load:expr;)*) => {$(
        impl Form for $form {
            const WIDTH: Width = Width::$width;
            const SCALES: Scales = Scales::$scales;
            #[inline(always)]
            unsafe fn load<S: Simd>($isa: S, $from: *const u8) -> S::F32 {
                $load
            }
            #[inline(always)]
            unsafe fn scaled<S: Simd>(_: S, value: S::F32, _: *const f32) -> S::F32 {
                value
            }
        }
    )*};
}

forms! {
    Int4Halves: Int4, Halves, |isa, from| isa.read_halves(from.cast());
    Int4Floats: Int4, Floats, |isa, from| isa.read(from.cast());
    Int8Halves: Int8, Halves, |isa, from| isa.read_halves(from.cast());
    Int8Floats: Int8, Floats, |isa, from| isa.read(from.cast());
}

impl Form for Int4Steps {
    const WIDTH: Width = Width::Int4;
    const SCALES: Scales = Scales::Steps;
    #[inline(always)]
    unsafe fn load<S: Simd>(isa: S, from: *const u8) -> S::F32 {
        isa.read_u8(from).to_float()
    }
    #[inline(always)]
    unsafe fn scaled<S: Simd>(isa: S, value: S::F32, units: *const f32) -> S::F32 {
        value * isa.read(units)
    }
}

/// Evaluates an expression with the form of a packed format as a type.
macro_rules! by_form {
    ($format:expr, $form:ident => $made:expr) => {{
        use forms::{Scales, Width};
        use $crate::kernels::block_format as forms;
        match ($format.width, $format.scales) {
            (Width::Int4, Scales::Floats) => {
                type $form = forms::Int4Floats;
                $made
            }
            (Width::Int4, Scales::Halves) => {
                type $form = forms::Int4Halves;
                $made
            }
            (Width::Int4, Scales::Steps) => {
                type $form = forms::Int4Steps;
                $made
            }
            (Width::Int8, Scales::Floats) => {
                type $form = forms::Int8Floats;
                $made
            }
            // No GEMM has int8 with steps.
            (Width::Int8, Scales::Halves | Scales::Steps) => {
                type $form = forms::Int8Halves;
                $made
            }
        }
    }};
}
pub(crate) use by_form;

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
