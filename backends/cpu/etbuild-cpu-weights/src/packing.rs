//! Weights in the form that kernels read them in.

use std::ops::Range;

use et_cpu::{ALIGNMENT, Window};
use et_gemm::{Architecture, Bias, BlockGemm, FloatProduct, HalfWeights, Halves, Int8Gemm, Shape, Weights};
use etbuild_ir::{ConstantData, Digest};
use etbuild_weights::{integers, reals};
use rayon::prelude::*;

use crate::NotPacked;
use crate::form::Form;
use crate::groups::{Groups, Offsets};

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

impl Packing {
    /// Bytes of the packed form.
    pub fn size(&self, architecture: Architecture) -> Result<usize, NotPacked> {
        match &self.form {
            Form::Floats(_) => Ok(self.floats(architecture)?.packed_size()),
            Form::Bytes(..) | Form::BytesForRows(..) => Ok(self.bytes(architecture)?.packed_size()),
            Form::Groups(..) => Ok(self.groups(architecture)?.packed_size()),
            Form::Halves(kind, _) => Ok(self.halves(*kind, architecture)?.packed_size()),
        }
    }

    /// Gives the packed form to `take`.
    pub fn write(&self, architecture: Architecture, take: &mut dyn FnMut(&[u8])) -> Result<(), NotPacked> {
        if matches!(self.form, Form::Groups(..)) {
            return self.panels(architecture, take);
        }
        let mut packed = vec![0; self.size(architecture)?];
        self.fill(architecture, &mut packed)?;
        take(&packed);
        Ok(())
    }

    fn fill(&self, architecture: Architecture, packed: &mut [u8]) -> Result<(), NotPacked> {
        let shape = self.shape()?;
        let written = match &self.form {
            Form::Floats(bias) => {
                let elements = reals::floats(self.weights.bytes());
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
                self.halves(*kind, architecture)?.pack(&reals::floats(self.weights.bytes()), bias, packed)
            }
            Form::Groups(..) => return Err(NotPacked),
        };
        written.map_err(|_| NotPacked)
    }

    /// Packs blockwise weights by panels of columns; the packed form of a matrix is the sequence of its panels.
    fn panels(&self, architecture: Architecture, take: &mut dyn FnMut(&[u8])) -> Result<(), NotPacked> {
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
    fn columns(&self, columns: Range<usize>, architecture: Architecture) -> Result<Vec<u8>, NotPacked> {
        let Form::Groups(groups) = &self.form else { return Err(NotPacked) };
        let Groups { format, scales, offsets, bias } = &**groups;
        let inner = self.window.input[2] as usize;
        let range = |size: usize| columns.start * size..columns.end * size;
        let weights = self.weights.bytes().get(range(inner)).ok_or(NotPacked)?;
        let least = offsets.as_ref().map_or(0, |offsets| offsets.least);
        let weights = integers::less(weights, least);
        let (group, count) = (format.group, inner / format.group);
        let of_columns = |offsets: &Offsets| offsets.of_columns(columns.clone(), (scales, group, count));
        let offsets = offsets.as_ref().map(|offsets| of_columns(offsets).ok_or(NotPacked));
        let offsets = offsets.transpose()?.unwrap_or_default();
        let scales = scales.bytes().get(range(count * size_of::<f32>())).ok_or(NotPacked)?;
        let bias = bias.get(columns.clone()).unwrap_or_default();
        let product = BlockGemm::new([1, inner, columns.len()], *format, architecture.baseline());
        let product = product.map_err(|_| NotPacked)?;
        let mut packed = vec![0; product.packed_size()];
        let numbers = [&reals::floats(scales)[..], &offsets];
        product.pack(&weights, numbers, bias, &mut packed).map_err(|_| NotPacked)?;
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

    fn shape(&self) -> Result<Shape, NotPacked> {
        self.window.shape(self.window.input[2] as usize).ok_or(NotPacked)
    }

    fn signed(&self) -> Vec<i8> {
        integers::less(self.weights.bytes(), 0)
    }

    fn groups(&self, architecture: Architecture) -> Result<BlockGemm, NotPacked> {
        let Form::Groups(groups) = &self.form else { return Err(NotPacked) };
        let [_, rows, inner] = self.window.input.map(|size| size as usize);
        let columns = self.window.output[2] as usize;
        BlockGemm::new([rows, inner, columns], groups.format, architecture.baseline()).map_err(|_| NotPacked)
    }

    fn floats(&self, architecture: Architecture) -> Result<FloatProduct, NotPacked> {
        FloatProduct::new(self.shape()?, architecture.baseline()).map_err(|_| NotPacked)
    }

    fn halves(&self, kind: Halves, architecture: Architecture) -> Result<HalfWeights, NotPacked> {
        let sizes = [self.window.input[2], self.window.output[2]].map(|size| size as usize);
        HalfWeights::new(sizes, kind, architecture.baseline()).map_err(|_| NotPacked)
    }

    fn bytes(&self, architecture: Architecture) -> Result<Int8Gemm, NotPacked> {
        Int8Gemm::new(self.shape()?, architecture.baseline()).map_err(|_| NotPacked)
    }
}

/// The packed weights of several matrices of one shape and form: one matrix for each expert of a mixture.
#[derive(Clone, Debug)]
pub struct Stack(pub Vec<Packing>);

impl Stack {
    /// Bytes of the packed forms, each rounded up to a cache line.
    pub fn size(&self, architecture: Architecture) -> Result<usize, NotPacked> {
        let size = |packing: &Packing| Ok(packing.size(architecture)?.next_multiple_of(ALIGNMENT));
        self.0.iter().map(size).sum()
    }

    /// Gives the packed forms to `take`.
    pub fn write(&self, architecture: Architecture, take: &mut dyn FnMut(&[u8])) -> Result<(), NotPacked> {
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

#[cfg(test)]
mod tests {
    use et_gemm::{BlockFormat, Scales, Width};

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
