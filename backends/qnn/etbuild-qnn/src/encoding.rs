//! How the elements of a value are represented, and which representation a node's result should have.

use et_core::ScalarType;
use et_qnn::ScaleOffset;
use et_qnn::build::{DataType, Quantization};
use etbuild_backend::clamp_limits;
use etbuild_ir::{Links, Node, PerTensor, ValueId};

/// Unsigned integers that represent the real numbers `(integer - zero) * scale`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Affine {
    /// `Uint8` or `Uint16`.
    pub data_type: DataType,
    /// The distance of neighbours.
    pub scale: f32,
    /// The integer of 0.0.
    pub zero: i32,
}

/// The representation of a value's elements.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Encoding {
    /// fp16.
    Float,
    /// fp32, at the border of the partition only.
    Single,
    /// Quantized.
    Integer(Affine),
}

impl Affine {
    /// The largest integer.
    pub const fn most(self) -> i32 {
        match self.data_type {
            DataType::Uint16 => 65_535,
            _ => 255,
        }
    }

    /// The real numbers of the smallest and the largest integer.
    pub fn range(self) -> [f32; 2] {
        [0, self.most()].map(|integer| (integer - self.zero) as f32 * self.scale)
    }

    /// The qparams of constants: their range, which 0.0 extends.
    pub fn of_numbers(data_type: DataType, numbers: &[f32]) -> Self {
        let extend = |(least, greatest): (f32, f32), number: &f32| (number.min(least), number.max(greatest));
        let (least, greatest) = numbers.iter().fold((0.0, 0.0), extend);
        let probe = Self { data_type, scale: 1.0, zero: 0 };
        let scale = ((greatest - least) / probe.most() as f32).max(f32::EPSILON);
        Self { zero: (-least / scale).round_ties_even() as i32, scale, data_type }
    }

    /// The qparams of constants with this magnitude, with 0.0 in the middle: what matrix products and norms require of a second operand of 16
    /// bits.
    pub fn symmetric(data_type: DataType, magnitude: f32) -> Self {
        let zero = if data_type == DataType::Uint16 { 32_768 } else { 128 };
        Self { data_type, scale: (magnitude / (zero - 1) as f32).max(f32::EPSILON), zero }
    }

    /// The elements of numbers, in bytes.
    pub fn bytes(self, numbers: &[f32]) -> Vec<u8> {
        let integer =
            |number: f32| (((number / self.scale).round_ties_even() as i32) + self.zero).clamp(0, self.most());
        match self.data_type {
            DataType::Uint16 => numbers.iter().flat_map(|number| (integer(*number) as u16).to_le_bytes()).collect(),
            _ => numbers.iter().map(|number| integer(*number) as u8).collect(),
        }
    }

    /// The quantization of a tensor.
    pub fn quantization(self) -> Quantization {
        Quantization::Tensor(ScaleOffset { scale: self.scale, offset: -self.zero })
    }
}

impl Encoding {
    /// The type and the quantization of a tensor.
    pub fn tensor(self) -> (DataType, Quantization) {
        match self {
            Self::Float => (DataType::Float16, Quantization::None),
            Self::Single => (DataType::Float32, Quantization::None),
            Self::Integer(affine) => (affine.data_type, affine.quantization()),
        }
    }
}

/// What the integers of a type are increased by to become unsigned.
const fn shift(scalar_type: ScalarType) -> Option<(DataType, i32)> {
    match scalar_type {
        ScalarType::Byte => Some((DataType::Uint8, 0)),
        ScalarType::Char => Some((DataType::Uint8, 128)),
        ScalarType::Short => Some((DataType::Uint16, 32_768)),
        _ => None,
    }
}

/// The encoding of integers of the whole range.
fn affine(found: PerTensor) -> Option<Affine> {
    let PerTensor { scale, zero_point, least, most, scalar_type } = found;
    let (data_type, shift) = shift(scalar_type)?;
    let found = Affine { data_type, scale: scale as f32, zero: i32::try_from(zero_point).ok()?.checked_add(shift)? };
    let [least, most] = [least, most].map(|end| end.saturating_add(i64::from(shift)));
    // Ranges that leave out the smallest integer saturate there instead: quantizers of weights use them.
    let is_whole = (0..=1).contains(&least) && most == i64::from(found.most());
    (is_whole && found.scale > 0.0 && found.scale.is_finite()).then_some(found)
}

/// The encoding of a node that quantizes a tensor.
pub fn quantizes(node: &Node) -> Option<Affine> {
    PerTensor::of_quantize(node).and_then(affine)
}

/// The encoding of a node that dequantizes a tensor.
pub fn dequantizes(node: &Node) -> Option<Affine> {
    PerTensor::of_dequantize(node).and_then(affine)
}

/// The qparams that the result of a node should have: those of the quantization that alone reads the result, perhaps behind clamps,
/// which saturation replaces.
pub fn wanted(links: &Links<'_>, id: ValueId) -> Option<Affine> {
    let reader = links.only_reader(id)?;
    match clamp_limits(reader) {
        Some(_) => wanted(links, reader.outputs.first().copied()?),
        None => quantizes(reader),
    }
}

/// The encoding of the integers that a value holds: that of the node that quantizes them, else of the first node that dequantizes them, which
/// only inputs of a partition are searched for.
pub fn of_integers(links: &Links<'_>, id: ValueId) -> Option<Affine> {
    let readers = || links.graph.nodes.iter().filter(|node| node.uses().any(|used| used == id));
    links.maker(id).and_then(quantizes).or_else(|| readers().find_map(dequantizes))
}
