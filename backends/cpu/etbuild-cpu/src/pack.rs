//! Weights in the form that kernels read them in.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use et_cpu::{ALIGNMENT, QParams, SlotNumber, Window};
use et_gemm::{Bias, BlockFormat, BlockGemm, FloatProduct, HalfWeights, Halves, Int8Gemm, Scales, Shape, Weights};
use etbuild_backend::{ByteWeights, floats_of};
use etbuild_ir::{ConstantData, Digest};
use rayon::prelude::*;

use crate::groups::{Groups, Offsets};
use crate::{Architecture, Problem};

/// The weights of a packing job, roughly, and the jobs that run at a time.
const JOB: usize = 1 << 20;
const JOBS: usize = 4;

/// Weights of a product that are packed when the program is written: only then is known what is folded into them.
#[derive(Clone, Debug)]
pub struct Packing {
    /// The shape.
    pub window: Window,
    /// `[columns, channels, height, width]`.
    pub weights: ConstantData,
    /// The packed format.
    pub form: Form,
    /// The name of the weights, if the weights belong to an adapter.
    pub adapter: Option<String>,
}

/// The form of weights.
#[derive(Clone, Debug, PartialEq)]
pub enum Form {
    /// `float32`, and a bias for each column or none.
    Floats(Vec<f32>),
    /// Bytes: the scale of each column's sums, and its bias in steps of them.
    Bytes(Vec<f32>, Vec<i32>),
    /// int8 for dynamically quantized rows, `f32` rows and embedding tables: the scale of each column, and a bias per column or none.
    BytesForRows(Vec<f32>, Vec<f32>),
    /// Blockwise weights.
    Groups(Box<Groups>),
    /// 16-bit weights that hold the `float32` numbers exactly, and a bias for each column or none.
    Halves(Halves, Vec<f32>),
}

impl Form {
    /// The form of the weights of a matrix: 16-bit where all are exact in that type, as those of a checkpoint in `bfloat16` are. Another
    /// adapter's weights may need more.
    #[must_use]
    pub fn narrowed(self, weights: &ConstantData, adapter: Option<&str>) -> Self {
        match self {
            Self::Floats(bias) if adapter.is_none() => match holding(weights) {
                Some(kind) => Self::Halves(kind, bias),
                None => Self::Floats(bias),
            },
            other => other,
        }
    }

    /// Whether a GEMM multiplies int8 rows of K = `inner` with `row_blocks` qparams each, found at run time, by the weights.
    pub fn multiplies_rows(&self, inner: usize, row_blocks: usize) -> bool {
        match self {
            Self::Floats(_) | Self::Halves(..) | Self::Bytes(..) => false,
            Self::BytesForRows(..) => row_blocks == 1,
            Self::Groups(groups) => groups.format.divides_rows(inner, row_blocks),
        }
    }
}

impl Packing {
    /// Bytes of the packed form.
    pub fn size(&self, architecture: Architecture) -> Result<usize, Problem> {
        match &self.form {
            Form::Floats(_) => Ok(self.floats(architecture)?.packed_size()),
            Form::Bytes(..) | Form::BytesForRows(..) => Ok(self.bytes(architecture)?.packed_size()),
            Form::Groups(..) => Ok(self.groups(architecture)?.packed_size()),
            Form::Halves(kind, _) => Ok(self.halves(*kind, architecture)?.packed_size()),
        }
    }

    /// Gives the packed form to `take`.
    pub fn write(&self, architecture: Architecture, take: &mut dyn FnMut(&[u8])) -> Result<(), Problem> {
        if matches!(self.form, Form::Groups(..)) {
            return self.panels(architecture, take);
        }
        let mut packed = vec![0; self.size(architecture)?];
        self.fill(architecture, &mut packed)?;
        take(&packed);
        Ok(())
    }

    fn fill(&self, architecture: Architecture, packed: &mut [u8]) -> Result<(), Problem> {
        let shape = self.shape()?;
        let written = match &self.form {
            Form::Floats(bias) => {
                let elements = floats_of(self.weights.bytes());
                self.floats(architecture)?.pack(&Weights::convolution(&elements, &shape), bias, packed)
            }
            Form::Bytes(scales, bias) => {
                let elements = self.signed();
                let weights = Weights::convolution(&elements, &shape);
                self.bytes(architecture)?.pack(&weights, scales, Bias::Steps(bias), packed)
            }
            Form::BytesForRows(scales, bias) => {
                let elements = self.signed();
                let bias = if bias.is_empty() { Bias::None } else { Bias::Real(bias) };
                self.bytes(architecture)?.pack(&Weights::convolution(&elements, &shape), scales, bias, packed)
            }
            Form::Halves(kind, bias) => {
                self.halves(*kind, architecture)?.pack(&floats_of(self.weights.bytes()), bias, packed)
            }
            Form::Groups(..) => return Err(Problem::Weights),
        };
        written.map_err(|_| Problem::Weights)
    }

    /// Packs blockwise weights by panels of columns; the packed form of a matrix is the sequence of its panels.
    fn panels(&self, architecture: Architecture, take: &mut dyn FnMut(&[u8])) -> Result<(), Problem> {
        let [inner, columns] = [self.window.input[2], self.window.output[2]].map(|size| size as usize);
        let step = (JOB / inner.max(1)).max(1).next_multiple_of(self.groups(architecture)?.layout());
        let starts: Vec<usize> = (0..columns).step_by(step).collect();
        for starts in starts.chunks(JOBS) {
            let part = |first: &usize| self.columns(*first..columns.min(first + step), architecture);
            let made: Vec<_> = starts.par_iter().map(part).collect();
            made.into_iter().try_for_each(|packed| packed.map(|packed| take(&packed)))?;
        }
        Ok(())
    }

    /// The packed form of some columns, of which the first begins a panel.
    fn columns(&self, columns: Range<usize>, architecture: Architecture) -> Result<Vec<u8>, Problem> {
        let Form::Groups(groups) = &self.form else { return Err(Problem::Weights) };
        let Groups { format, scales, offsets, bias } = &**groups;
        let inner = self.window.input[2] as usize;
        let part =
            |bytes: &'_ [u8], size: usize| bytes.get(columns.start * size..columns.end * size).map(<[u8]>::to_vec);
        let weights = part(self.weights.bytes(), inner).ok_or(Problem::Weights)?;
        let least = offsets.as_ref().map_or(0, |offsets| offsets.least);
        let weights: Vec<i8> = weights.into_iter().map(|byte| byte.cast_signed().wrapping_sub(least)).collect();
        let (group, count) = (format.group, inner / format.group);
        let of_columns = |offsets: &Offsets| offsets.of_columns(columns.clone(), (scales, group, count));
        let offsets = offsets.as_ref().map(|offsets| of_columns(offsets).ok_or(Problem::Weights));
        let offsets = offsets.transpose()?.unwrap_or_default();
        let scales = part(scales.bytes(), count * size_of::<f32>()).ok_or(Problem::Weights)?;
        let bias = bias.get(columns.clone()).unwrap_or_default();
        let product = BlockGemm::new([1, inner, columns.len()], *format, architecture.baseline());
        let product = product.map_err(|_| Problem::Weights)?;
        let mut packed = vec![0; product.packed_size()];
        let numbers = [&floats_of(&scales)[..], &offsets];
        product.pack(&weights, numbers, bias, &mut packed).map_err(|_| Problem::Weights)?;
        Ok(packed)
    }

    /// A text that no packed form of other bytes has.
    pub fn identity(&self, architecture: Architecture) -> String {
        let Window { kernel, groups, input, output, .. } = self.window;
        // A matrix is packed alike for any number of rows.
        let shape = match kernel {
            [1, 1] => format!("{} {} {groups}", input[2], output[2]),
            _ => format!("{:?}", self.window),
        };
        // Equal weights of an adapter stay apart by name: weights of another adapter may differ.
        let adapter = self.adapter.as_deref().unwrap_or_default();
        format!("{} {adapter}{} {shape} {}", architecture.name(), self.weights.digest(), self.form.identity())
    }

    /// The name of the packed form of an adapter's weights.
    pub fn name(&self, architecture: Architecture) -> Option<String> {
        self.adapter.as_ref().map(|name| format!("{name}@cpu.{}", architecture.name()))
    }

    fn shape(&self) -> Result<Shape, Problem> {
        self.window.shape(self.window.input[2] as usize).ok_or(Problem::Weights)
    }

    fn signed(&self) -> Vec<i8> {
        self.weights.bytes().iter().map(|byte| byte.cast_signed()).collect()
    }

    fn groups(&self, architecture: Architecture) -> Result<BlockGemm, Problem> {
        let Form::Groups(groups) = &self.form else { return Err(Problem::Weights) };
        let [_, rows, inner] = self.window.input.map(|size| size as usize);
        let columns = self.window.output[2] as usize;
        BlockGemm::new([rows, inner, columns], groups.format, architecture.baseline()).map_err(|_| Problem::Weights)
    }

    fn floats(&self, architecture: Architecture) -> Result<FloatProduct, Problem> {
        FloatProduct::new(self.shape()?, architecture.baseline()).map_err(|_| Problem::Weights)
    }

    fn halves(&self, kind: Halves, architecture: Architecture) -> Result<HalfWeights, Problem> {
        let sizes = [self.window.input[2], self.window.output[2]].map(|size| size as usize);
        HalfWeights::new(sizes, kind, architecture.baseline()).map_err(|_| Problem::Weights)
    }

    fn bytes(&self, architecture: Architecture) -> Result<Int8Gemm, Problem> {
        Int8Gemm::new(self.shape()?, architecture.baseline()).map_err(|_| Problem::Weights)
    }
}

/// The packed weights of several matrices of one shape and form: one matrix for each expert of a mixture.
#[derive(Clone, Debug)]
pub struct Stack(pub Vec<Packing>);

impl Stack {
    /// Bytes of the packed forms, each rounded up to a cache line.
    pub fn size(&self, architecture: Architecture) -> Result<usize, Problem> {
        let size = |packing: &Packing| Ok(packing.size(architecture)?.next_multiple_of(ALIGNMENT));
        self.0.iter().map(size).sum()
    }

    /// Gives the packed forms to `take`.
    pub fn write(&self, architecture: Architecture, take: &mut dyn FnMut(&[u8])) -> Result<(), Problem> {
        for packing in &self.0 {
            packing.write(architecture, take)?;
            let size = packing.size(architecture)?;
            take(&[0; ALIGNMENT][..size.next_multiple_of(ALIGNMENT) - size]);
            packing.weights.release();
        }
        Ok(())
    }

    /// A text that no packed form of other bytes has.
    pub fn identity(&self, architecture: Architecture) -> String {
        let each: Vec<String> = self.0.iter().map(|packing| packing.identity(architecture)).collect();
        format!("stack {} {}", each.len(), Digest::of(each.join("\n").as_bytes()))
    }
}

impl Form {
    /// Gives the forms of a stack one packed format. `None` for forms of several types, and for forms with a bias and without one.
    pub fn unify<'f>(forms: impl Iterator<Item = &'f mut Self>) -> Option<()> {
        let mut forms: Vec<&mut Self> = forms.collect();
        // Steps are no FP16 numbers in general, so that f32 is what holds both.
        let of = |form: &mut Self| if let Self::Groups(groups) = form { Some(groups.format.scales) } else { None };
        let scales: Vec<Scales> = forms.iter_mut().filter_map(|form| of(form)).collect();
        if scales.iter().any(|one| Some(one) != scales.first()) {
            for form in &mut forms {
                if let Self::Groups(groups) = &mut **form {
                    groups.format.scales = Scales::Floats;
                }
            }
        }
        let (first, others) = forms.split_first()?;
        others.iter().all(|form| form.is_like(first)).then_some(())
    }

    /// Whether weights of one shape have equal sizes and layouts in both forms.
    fn is_like(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Floats(_), Self::Floats(_))
            | (Self::Bytes(..), Self::Bytes(..))
            | (Self::BytesForRows(..), Self::BytesForRows(..)) => true,
            (Self::Groups(one), Self::Groups(other)) => one.format == other.format,
            (Self::Halves(one, _), Self::Halves(other, _)) => one == other,
            _ => false,
        }
    }

    /// The operand of weights in this form.
    pub const fn weights(&self, slot: SlotNumber) -> et_cpu::Weights {
        match self {
            Self::Floats(_) => et_cpu::Weights::of_bits(slot, 32),
            Self::Bytes(..) | Self::BytesForRows(..) => et_cpu::Weights::of_bits(slot, 8),
            Self::Groups(groups) => et_cpu::Weights::of_form(slot, groups.format),
            Self::Halves(kind, _) => et_cpu::Weights::of_halves(slot, *kind),
        }
    }

    fn identity(&self) -> String {
        let floats = |numbers: &[f32]| digest(numbers.iter().map(|number| number.to_le_bytes()));
        let integers = |numbers: &[i32]| digest(numbers.iter().map(|number| number.to_le_bytes()));
        match self {
            Self::Floats(bias) => format!("floats {}", floats(bias)),
            Self::Halves(kind, bias) => format!("{kind:?} {}", floats(bias)),
            Self::Bytes(scales, bias) => format!("bytes {} {}", floats(scales), integers(bias)),
            Self::BytesForRows(scales, bias) => {
                format!("bytes for rows {} {}", floats(scales), floats(bias))
            }
            Self::Groups(groups) => {
                let Groups { format, scales, offsets, bias } = &**groups;
                let BlockFormat { group, width, is_biased: _, has_offsets: _, scales: kind } = format;
                let offsets = offsets
                    .as_ref()
                    .map(|offsets| format!("{} {}", offsets.elements.digest(), offsets.least))
                    .unwrap_or_default();
                format!("groups of {group} {width:?} {kind:?} {} {} {offsets}", scales.digest(), floats(bias))
            }
        }
    }
}

/// The 16-bit type that holds all numbers exactly. Methods and sizes of inputs share weights, which are read once.
fn holding(weights: &ConstantData) -> Option<Halves> {
    static KNOWN: Mutex<BTreeMap<Digest, Option<Halves>>> = Mutex::new(BTreeMap::new());
    let known = || KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let digest = weights.digest();
    if let Some(kind) = known().get(&digest) {
        return *kind;
    }
    let kind = searched(weights);
    known().insert(digest, kind);
    kind
}

fn searched(weights: &ConstantData) -> Option<Halves> {
    let numbers = weights.bytes().as_chunks::<4>().0;
    let holds = |kind: Halves| {
        numbers.par_chunks(JOB).all(|part| part.iter().all(|number| kind.bits(f32::from_le_bytes(*number)).is_some()))
    };
    Halves::ALL.into_iter().find(|kind| holds(*kind))
}

fn digest(words: impl Iterator<Item = [u8; 4]>) -> Digest {
    Digest::of(&words.flatten().collect::<Vec<u8>>())
}

/// Weights `[channels, 1, height, width]` of a convolution of each channel by itself: `[height, width, channels]`.
pub fn depthwise<T: Copy>(weights: &[T], window: &Window) -> Result<Vec<T>, Problem> {
    let (channels, taps) = (window.output[2] as usize, (window.kernel[0] * window.kernel[1]) as usize);
    let element = |index: usize| weights.get(index % channels * taps + index / channels).copied();
    (0..channels * taps).map(element).collect::<Option<_>>().ok_or(Problem::Weights)
}

/// f32 numbers as little-endian bytes.
pub fn little_endian(numbers: &[f32]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}

/// The int32 bias of a channel in units of the channel's accumulator scale.
pub fn int32_bias(bias: &[f32], scales: &[f32]) -> Vec<i32> {
    let bias = |channel: usize| f64::from(bias.get(channel).copied().unwrap_or(0.0));
    let quantized = |(channel, scale): (usize, &f32)| (bias(channel) / f64::from(*scale)).round_ties_even() as i32;
    scales.iter().enumerate().map(quantized).collect()
}

/// The scales of int32 accumulators, by channel.
pub fn accumulator_scales(weights: &ByteWeights, input: QParams) -> Vec<f32> {
    weights.scales.iter().map(|scale| scale * input.scale).collect()
}

#[cfg(test)]
mod tests {
    use et_gemm::Width;

    use super::*;

    #[test]
    fn what_is_packed_in_parts_is_what_is_packed_at_once() {
        let (inner, columns, group) = (32, (JOBS + 1) * JOB / 32 + 5, 16);
        let weights: Vec<u8> =
            (0..inner * columns).map(|index| ((index * 7919 % 251 % 16) as u8).wrapping_sub(8)).collect();
        let steps = |index: usize| if index.is_multiple_of(inner / group) { 255 } else { index % 77 };
        let scales: Vec<f32> = (0..columns * inner / group).map(|index| steps(index) as f32 / 64.0).collect();
        let bias: Vec<f32> = (0..columns).map(|index| index as f32).collect();
        let signed: Vec<i8> = weights.iter().map(|byte| byte.cast_signed()).collect();
        let scale_bytes: Vec<u8> = scales.iter().flat_map(|scale| scale.to_le_bytes()).collect();
        let (weights, scale_bytes) = (ConstantData::new(weights), ConstantData::new(scale_bytes));
        for kind in [Scales::Halves, Scales::Steps] {
            let format = BlockFormat { group, width: Width::Int4, is_biased: true, has_offsets: false, scales: kind };
            let groups = Groups { format, scales: scale_bytes.clone(), offsets: None, bias: bias.clone() };
            let form = Form::Groups(Box::new(groups));
            let window = Window::matrix(1, inner, columns);
            let packing = Packing { window, weights: weights.clone(), form, adapter: None };
            let architecture = Architecture::Portable;
            let mut parts = Vec::new();
            packing.write(architecture, &mut |part| parts.extend_from_slice(part)).unwrap();
            let product = packing.groups(architecture).unwrap();
            let mut whole = vec![0; packing.size(architecture).unwrap()];
            product.pack(&signed, [&scales, &[]], &bias, &mut whole).unwrap();
            assert!(parts == whole);
        }
    }
}
