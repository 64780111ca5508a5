//! The packed format of blockwise int4, int6 and int8 weights, and the storage formats of block scales.
#![allow(unsafe_code, reason = "scales are read by pointer")]
#![allow(unsafe_op_in_unsafe_fn, reason = "each function is one expression under the contract of the trait")]

use et_core::Half;
use et_simd::{GemmDot, Integer, Simd};

/// The largest u8 scale.
const MOST: f32 = 255.0;

/// Elements of a super-block, whose blocks share second-level scales.
const SUPER_BLOCK: usize = 256;

/// The packed format of blockwise weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockFormat {
    /// Block size: elements of K that share a scale.
    pub group: usize,
    /// The type of the weights.
    pub width: Width,
    /// Whether the panels have a bias row.
    pub is_biased: bool,
    /// Whether blocks have an offset beside the scale: a weight is `integer * scale + offset`. int4 and int6 are then unsigned.
    pub has_offsets: bool,
    /// The format of the block scales and of the offsets.
    pub scales: Scales,
}

/// Places in a panel, in bytes per column.
impl BlockFormat {
    /// Whether kernels exist for a GEMM of this format with K = `inner`.
    pub fn fits(self, inner: usize) -> bool {
        let Self { group, width, has_offsets, scales, .. } = self;
        let has_kernels = match (width, scales) {
            (Width::Int4, _) | (Width::Int8, Scales::Floats | Scales::Halves) => true,
            (Width::Int6, Scales::Floats | Scales::SuperBlocks) => true,
            (Width::Int6, Scales::Halves | Scales::Steps) | (Width::Int8, Scales::Steps | Scales::SuperBlocks) => false,
        };
        let divides = |of: usize| of.is_multiple_of(group);
        let are_whole = scales != Scales::SuperBlocks || divides(SUPER_BLOCK) && inner.is_multiple_of(SUPER_BLOCK);
        let has_places = group > 0 && group.is_multiple_of(width.step()) && divides(inner) && are_whole;
        has_places && has_kernels && !(has_offsets && scales == Scales::Steps)
    }

    /// Whether each of `blocks` equal parts of a row of K = `inner`, with a scale of its own, is whole blocks of weights.
    pub const fn divides_rows(self, inner: usize, blocks: usize) -> bool {
        let groups = inner / self.group;
        blocks == 1 || blocks > 0 && groups > 0 && groups.is_multiple_of(blocks)
    }

    /// Header bytes per column; the last four are the second-level scale of a column, if the format has one.
    pub(crate) const fn header(self) -> usize {
        let bias = if self.is_biased { 4 } else { 0 };
        let step = if matches!(self.scales, Scales::Steps) { 4 } else { 0 };
        4 + bias + step
    }

    /// Blocks whose scales are stored together: a span.
    pub(crate) const fn span(self) -> usize {
        self.scales.span(self.group)
    }

    /// Size of the elements of a block.
    pub(crate) const fn elements(self) -> usize {
        self.group / self.width.step() * self.width.bytes()
    }

    /// Size of the scales of some blocks of a column.
    pub const fn scale_bytes(self, blocks: usize) -> usize {
        blocks.div_ceil(self.span()) * self.set()
    }

    /// Size of the scales of a span, or of the offsets.
    pub(crate) const fn set(self) -> usize {
        self.scales.head() + self.span() * self.scales.size()
    }

    /// Size of the scales and offsets of a span.
    pub(crate) const fn sets(self) -> usize {
        if self.has_offsets { 2 * self.set() } else { self.set() }
    }

    /// Packed size of a column with K = `inner`.
    pub(crate) const fn column(self, inner: usize) -> usize {
        let groups = inner / self.group;
        self.header() + groups.div_ceil(self.span()) * self.sets() + groups * self.elements()
    }

    /// The scales of the span of a block.
    pub(crate) const fn set_at(self, group: usize) -> usize {
        let span = self.span();
        self.header() + group / span * (self.sets() + span * self.elements())
    }

    /// The scale of a block.
    pub(crate) const fn scale_at(self, group: usize) -> usize {
        self.set_at(group) + self.scales.head() + group % self.span() * self.scales.size()
    }

    /// The elements of a block.
    pub(crate) const fn elements_at(self, group: usize) -> usize {
        self.set_at(group) + self.sets() + group % self.span() * self.elements()
    }

    /// What packing adds to the integers, which packed int4 and int6 are unsigned by; `of_bytes` for int8.
    pub(crate) const fn offset(self, of_bytes: i32) -> i32 {
        match self.width {
            Width::Int4 | Width::Int6 if self.has_offsets => 0,
            Width::Int4 => 8,
            Width::Int6 => 32,
            Width::Int8 => of_bytes,
        }
    }
}

/// The type of blockwise weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Width {
    /// From -8 to 7, or from 0 to 15.
    Int4,
    /// From -32 to 31, or from 0 to 63.
    Int6,
    /// From -128 to 127.
    Int8,
}

impl Width {
    /// Elements of a column that are packed together.
    pub const fn step(self) -> usize {
        match self {
            Self::Int4 | Self::Int8 => 8,
            Self::Int6 => 16,
        }
    }

    /// The bytes of [`Self::step`] elements.
    pub const fn bytes(self) -> usize {
        match self {
            Self::Int4 => 4,
            Self::Int6 => 12,
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
    /// [`Scales::holds`] checks.
    Steps,
    /// An i8 scale per block and an `f32` second-level scale per super-block of 256 elements. Requires scales that are exact multiples,
    /// as [`Scales::holds`] checks.
    SuperBlocks,
}

impl Scales {
    /// Bytes per block scale.
    pub const fn size(self) -> usize {
        match self {
            Self::Floats => 4,
            Self::Halves => 2,
            Self::Steps | Self::SuperBlocks => 1,
        }
    }

    /// Bytes of the second-level scale before the scales of a span.
    pub const fn head(self) -> usize {
        if matches!(self, Self::SuperBlocks) { 4 } else { 0 }
    }

    /// Blocks of `group` elements whose scales are stored together.
    pub const fn span(self, group: usize) -> usize {
        match self {
            Self::Floats | Self::Halves => 1,
            Self::Steps => 2,
            Self::SuperBlocks => SUPER_BLOCK / group,
        }
    }

    /// Whether the format holds the `scales` of a column, or the offsets, of blocks of `group` elements exactly.
    pub fn holds(self, scales: &[f32], group: usize) -> bool {
        match self {
            Self::Floats => true,
            Self::Halves => scales.iter().all(|scale| Half::from_f32(*scale).to_f32() == *scale),
            Self::Steps => step_of(scales).is_some(),
            Self::SuperBlocks => scales.chunks(self.span(group)).all(|span| super_step_of(span).is_some()),
        }
    }

    /// The second-level scale of the scales that share one: those of a column, or of a span (1 for formats without second-level scales);
    /// `None` if the format cannot represent the scales.
    pub fn unit(self, scales: &[f32]) -> Option<f32> {
        match self {
            Self::Floats | Self::Halves => Some(1.0),
            Self::Steps => step_of(scales),
            Self::SuperBlocks => super_step_of(scales),
        }
    }

    /// The stored bytes of a scale (in the first [`Self::size`] bytes).
    pub fn store(self, scale: f32, unit: f32) -> [u8; 4] {
        match self {
            Self::Floats => scale.to_le_bytes(),
            Self::Halves => {
                let [low, high] = Half::from_f32(scale).0.to_le_bytes();
                [low, high, 0, 0]
            }
            Self::Steps => [steps(scale, 1.0 / unit), 0, 0, 0],
            Self::SuperBlocks => [signed_steps(scale, unit).cast_unsigned(), 0, 0, 0],
        }
    }

    /// Decodes a stored scale, in units of the second-level scale.
    pub fn number(self, bytes: &[u8]) -> f32 {
        match (self, bytes) {
            (Self::Floats, &[a, b, c, d, ..]) => f32::from_le_bytes([a, b, c, d]),
            (Self::Halves, &[low, high, ..]) => Half(u16::from_le_bytes([low, high])).to_f32(),
            (Self::Steps, &[steps, ..]) => f32::from(steps),
            (Self::SuperBlocks, &[steps, ..]) => f32::from(steps.cast_signed()),
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

/// The second-level scale of which every scale of a super-block is an exact multiple, from -128 to 127 times; `None` if there is none.
pub fn super_step_of(scales: &[f32]) -> Option<f32> {
    let most = scales.iter().fold(0.0_f32, |most, scale| if scale.abs() > most.abs() { *scale } else { most });
    if most == 0.0 {
        return scales.iter().all(|scale| *scale == 0.0).then_some(0.0);
    }
    // First the multiples that quantizers give the largest scale: the ends of the ranges of 8, 6, 5 and 4 bits.
    let counts = [128, 63, 32, 31, 15].into_iter().chain((1..=127).rev());
    let steps = counts.map(|count| -most / count as f32);
    let holds = |step: &f32| scales.iter().all(|scale| step * f32::from(signed_steps(*scale, *step)) == *scale);
    steps.into_iter().find(holds)
}

/// The nearest i8 multiple of a step.
fn signed_steps(scale: f32, step: f32) -> i8 {
    let count = scale / step;
    (count + 0.5f32.copysign(count)) as i8
}

/// A type of weights and a format of scales, at compile time.
pub trait Form {
    /// The type of the weights.
    const WIDTH: Width;
    /// The format of the scales.
    const SCALES: Scales;

    /// Loads eight K elements of a vector of columns: the first four, and the last four. Rows of words are `row` bytes apart; `eight` chooses
    /// among those of a step.
    ///
    /// # Safety
    ///
    /// The CPU has the ISA of `D`, and `from` is valid for the elements of a step.
    #[inline(always)]
    unsafe fn weights<D: GemmDot>(from: *const u8, row: usize, eight: usize) -> [D::Weights; 2] {
        match Self::WIDTH {
            Width::Int4 => D::unpack_int4(from),
            Width::Int6 => D::unpack_int6(from.add(eight * row), from.add(2 * row), eight == 1),
            Width::Int8 => [D::load(from), D::load(from.add(row))],
        }
    }

    /// Loads the stored block scales of a vector of columns.
    ///
    /// # Safety
    ///
    /// `from` is valid for a vector of stored scales.
    unsafe fn load<S: Simd>(isa: S, from: *const u8) -> S::F32;

    /// Multiplies a vector by the second-level scales of the columns, if the format has those.
    ///
    /// # Safety
    ///
    /// For formats with second-level scales of columns, `units` is valid for a vector.
    unsafe fn scaled<S: Simd>(isa: S, value: S::F32, units: *const f32) -> S::F32;
}

/// int4 with [`Scales::Halves`] (fp16).
pub struct Int4Halves;

/// int4 with [`Scales::Steps`] (u8 with second-level scales).
pub struct Int4Steps;

/// int4 with [`Scales::Floats`].
pub struct Int4Floats;

/// int4 with [`Scales::SuperBlocks`].
pub struct Int4SuperBlocks;

/// int6 with [`Scales::Floats`].
pub struct Int6Floats;

/// int6 with [`Scales::SuperBlocks`].
pub struct Int6SuperBlocks;

/// int8 with [`Scales::Halves`].
pub struct Int8Halves;

/// int8 with [`Scales::Floats`].
pub struct Int8Floats;

/// Forms without second-level scales of a column.
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
    Int4SuperBlocks: Int4, SuperBlocks, |isa, from| isa.read_i8(from.cast()).to_float();
    Int6Floats: Int6, Floats, |isa, from| isa.read(from.cast());
    Int6SuperBlocks: Int6, SuperBlocks, |isa, from| isa.read_i8(from.cast()).to_float();
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
            (Width::Int4, Scales::SuperBlocks) => {
                type $form = forms::Int4SuperBlocks;
                $made
            }
            (Width::Int6, Scales::SuperBlocks) => {
                type $form = forms::Int6SuperBlocks;
                $made
            }
            // `BlockFormat::fits` refuses the other formats of int6 and int8.
            (Width::Int6, _) => {
                type $form = forms::Int6Floats;
                $made
            }
            (Width::Int8, Scales::Floats) => {
                type $form = forms::Int8Floats;
                $made
            }
            (Width::Int8, _) => {
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
    fn scales_of_a_super_block_are_signed_multiples() {
        assert_eq!(super_step_of(&[0.5, -64.0, 63.5]), Some(0.5));
        assert_eq!(super_step_of(&[64.0, -63.5]), Some(-0.5));
        assert_eq!(super_step_of(&[63.0 * 0.375, 0.0, 0.375]), Some(-0.375));
        assert_eq!(super_step_of(&[61.0 * 0.7, 3.0 * 0.7]), Some(-0.35));
        assert_eq!(super_step_of(&[64.0, -64.0, 0.5]), None);
        assert_eq!(super_step_of(&[1.0, 0.3, 0.7771, 0.123]), None);
        assert_eq!(super_step_of(&[0.0, 0.0]), Some(0.0));
        assert_eq!(super_step_of(&[f32::NAN, 1.0]), None);
        assert_eq!(super_step_of(&[f32::INFINITY, 1.0]), None);
    }

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
