//! Weights in the form that kernels read them in.

use et_cpu::{Window, byte_isa};
use et_gemm::{Bias, ByteProduct, FloatProduct, NibbleProduct, Shape, Weights};
use etbuild_ir::{ConstantData, Digest};

use crate::{Isa, Problem};

/// Weights of a product that are packed when the program is written: only then is known what is folded into them.
#[derive(Clone, Debug)]
pub struct Packing {
    /// The shape.
    pub window: Window,
    /// `[columns, channels, height, width]`.
    pub weights: ConstantData,
    /// What they are.
    pub form: Form,
}

/// The form of weights.
#[derive(Clone, Debug, PartialEq)]
pub enum Form {
    /// `float32`, and a bias for each column or none.
    Floats(Vec<f32>),
    /// Bytes: the scale of each column's sums, and its bias in steps of them.
    Bytes(Vec<f32>, Vec<i32>),
    /// Bytes for rows that are quantized at run time: the scale of each column, and its bias or none.
    BytesForRows(Vec<f32>, Vec<f32>),
    /// Half bytes: the weights of a group, the scales `[columns, inner / group]`, and a bias for each column or none.
    Groups(usize, Vec<f32>, Vec<f32>),
}

impl Packing {
    /// Bytes of the packed form.
    pub fn size(&self, isa: Isa) -> Result<usize, Problem> {
        match &self.form {
            Form::Floats(_) => Ok(self.floats(isa)?.packed_size()),
            Form::Bytes(..) | Form::BytesForRows(..) => Ok(self.bytes(isa)?.packed_size()),
            Form::Groups(group, _, bias) => Ok(self.groups(*group, !bias.is_empty(), isa)?.packed_size()),
        }
    }

    /// Gives the packed form to `take`.
    pub fn write(&self, isa: Isa, take: &mut dyn FnMut(&[u8])) -> Result<(), Problem> {
        let mut packed = vec![0; self.size(isa)?];
        self.fill(isa, &mut packed)?;
        take(&packed);
        Ok(())
    }

    fn fill(&self, isa: Isa, packed: &mut [u8]) -> Result<(), Problem> {
        let shape = self.shape()?;
        let written = match &self.form {
            Form::Floats(bias) => {
                let elements = floats(self.weights.bytes());
                self.floats(isa)?.pack(&Weights::convolution(&elements, &shape), bias, packed)
            }
            Form::Bytes(scales, bias) => {
                let elements = self.signed();
                let weights = Weights::convolution(&elements, &shape);
                self.bytes(isa)?.pack(&weights, scales, Bias::Steps(bias), packed)
            }
            Form::BytesForRows(scales, bias) => {
                let elements = self.signed();
                let bias = if bias.is_empty() { Bias::None } else { Bias::Real(bias) };
                self.bytes(isa)?.pack(&Weights::convolution(&elements, &shape), scales, bias, packed)
            }
            Form::Groups(group, scales, bias) => {
                self.groups(*group, !bias.is_empty(), isa)?.pack(&self.signed(), scales, bias, packed)
            }
        };
        written.map_err(|_| Problem::Weights)
    }

    /// A text that no packed form of other bytes has.
    pub fn identity(&self, isa: Isa) -> String {
        let Window { kernel, groups, input, output, .. } = self.window;
        // A matrix is packed alike for any number of rows.
        let shape = match kernel {
            [1, 1] => format!("{} {} {groups}", input[2], output[2]),
            _ => format!("{:?}", self.window),
        };
        let layout = match &self.form {
            Form::Groups(group, _, bias) => {
                let product = self.groups(*group, !bias.is_empty(), isa);
                product.map_or_else(|_| String::new(), |product| format!("panels of {}", product.layout()))
            }
            _ => isa.name().to_owned(),
        };
        format!("{layout} {} {shape} {}", self.weights.digest(), self.form.identity())
    }

    fn shape(&self) -> Result<Shape, Problem> {
        et_cpu::shape(&self.window, self.window.input[2] as usize).ok_or(Problem::Weights)
    }

    fn signed(&self) -> Vec<i8> {
        self.weights.bytes().iter().map(|byte| byte.cast_signed()).collect()
    }

    fn groups(&self, group: usize, is_biased: bool, isa: Isa) -> Result<NibbleProduct, Problem> {
        let [_, rows, inner] = self.window.input.map(|size| size as usize);
        let columns = self.window.output[2] as usize;
        NibbleProduct::new([rows, inner, columns], group, is_biased, byte_isa(isa)).map_err(|_| Problem::Weights)
    }

    fn floats(&self, isa: Isa) -> Result<FloatProduct, Problem> {
        FloatProduct::new(self.shape()?, isa).map_err(|_| Problem::Weights)
    }

    fn bytes(&self, isa: Isa) -> Result<ByteProduct, Problem> {
        ByteProduct::new(self.shape()?, byte_isa(isa)).map_err(|_| Problem::Weights)
    }
}

impl Form {
    fn identity(&self) -> String {
        let floats = |numbers: &[f32]| digest(numbers.iter().map(|number| number.to_le_bytes()));
        let integers = |numbers: &[i32]| digest(numbers.iter().map(|number| number.to_le_bytes()));
        match self {
            Self::Floats(bias) => format!("floats {}", floats(bias)),
            Self::Bytes(scales, bias) => format!("bytes {} {}", floats(scales), integers(bias)),
            Self::BytesForRows(scales, bias) => format!("bytes for rows {} {}", floats(scales), floats(bias)),
            Self::Groups(group, scales, bias) => format!("groups of {group} {} {}", floats(scales), floats(bias)),
        }
    }
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

/// Little-endian numbers.
pub fn floats(bytes: &[u8]) -> Vec<f32> {
    bytes.as_chunks::<4>().0.iter().copied().map(f32::from_le_bytes).collect()
}
