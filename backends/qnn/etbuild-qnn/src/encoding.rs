//! How the elements of a value are represented, and which representation a node's result should have.

use et_core::ScalarType;
use et_qnn::ScaleOffset;
use et_qnn::build::{DataType, Quantization};
use etbuild_ir::{Argument, Links, Node, ValueId};

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

    /// The qparams of constants with this range, which 0.0 extends.
    pub fn of_range(data_type: DataType, least: f32, greatest: f32) -> Self {
        let (least, greatest) = (least.min(0.0), greatest.max(0.0));
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

const QUANTIZE: &str = "quantized_decomposed.quantize_per_tensor.default";
const DEQUANTIZE: &str = "quantized_decomposed.dequantize_per_tensor.default";

/// What the integers of a type are increased by to become unsigned.
const fn shift(scalar_type: ScalarType) -> Option<(DataType, i32)> {
    match scalar_type {
        ScalarType::Byte => Some((DataType::Uint8, 0)),
        ScalarType::Char => Some((DataType::Uint8, 128)),
        ScalarType::Short => Some((DataType::Uint16, 32_768)),
        _ => None,
    }
}

/// The qparams of `(tensor, scale, zero point, least, most, type, ...)` for integers of the whole range.
fn affine(node: &Node) -> Option<Affine> {
    let [
        _,
        Argument::Float(scale),
        Argument::Int(zero),
        Argument::Int(least),
        Argument::Int(most),
        Argument::Type(ty),
        ..,
    ] = &node.arguments[..]
    else {
        return None;
    };
    let (data_type, shift) = shift(*ty)?;
    let found = Affine { data_type, scale: *scale as f32, zero: i32::try_from(*zero).ok()?.checked_add(shift)? };
    let (least, most) = (least + i64::from(shift), most + i64::from(shift));
    // Ranges that leave out the smallest integer saturate there instead: quantizers of weights use them.
    let is_whole = (0..=1).contains(&least) && most == i64::from(found.most());
    (is_whole && found.scale > 0.0 && found.scale.is_finite()).then_some(found)
}

/// The qparams of a node that quantizes a tensor.
pub fn quantizes(node: &Node) -> Option<Affine> {
    affine(node).filter(|_| node.operator.as_str() == QUANTIZE)
}

/// The qparams of a node that dequantizes a tensor.
pub fn dequantizes(node: &Node) -> Option<Affine> {
    affine(node).filter(|_| node.operator.as_str() == DEQUANTIZE)
}

/// The limits of a clamp.
pub fn clamp(node: &Node) -> Option<[f32; 2]> {
    let number = |position: usize| match node.arguments.get(position) {
        Some(Argument::Float(number)) => Some(*number as f32),
        Some(Argument::Int(number)) => Some(*number as f32),
        _ => None,
    };
    match node.operator.as_str() {
        "aten.relu.default" => Some([0.0, f32::INFINITY]),
        "aten.clamp.default" => Some([number(1).unwrap_or(f32::NEG_INFINITY), number(2).unwrap_or(f32::INFINITY)]),
        "aten.hardtanh.default" => Some([number(1).unwrap_or(-1.0), number(2).unwrap_or(1.0)]),
        _ => None,
    }
}

/// The qparams that the result of a node should have: those of the quantization that alone reads the result, perhaps behind clamps,
/// which saturation replaces.
pub fn wanted(links: &Links<'_>, id: ValueId) -> Option<Affine> {
    let reader = links.only_reader(id)?;
    match clamp(reader) {
        Some(_) => wanted(links, reader.outputs.first().copied()?),
        None => quantizes(reader),
    }
}

/// The qparams of the integers of a value that the partition gets: those with which its first reader dequantizes it.
pub fn of_input(links: &Links<'_>, id: ValueId) -> Option<Affine> {
    links.graph.nodes.iter().filter(|node| node.uses().any(|used| used == id)).find_map(dequantizes)
}
