//! `inputs:`.

use schemars::JsonSchema;
use serde::Deserialize;

use etbuild_yaml::Spanned;

use super::{Features, Fraction, Number, OneOrMany};

/// The preprocessing of an input: exactly one of the following keys.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Input {
    /// The input is a picture, PNG or JPEG: `color`, `resize`, `filter`, `crop`, `scale`, `mean`, `std` and `layout`, in this order. `{}` only divides by 255.
    Image(Box<ImageInput>),
    /// The input is a recording, WAV, whose channels are mixed to one: `rate` and `length`.
    Audio(AudioInput),
}

/// The steps from a picture to the input.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ImageInput {
    /// The channels and their order; `rgb` if omitted.
    #[serde(default)]
    pub color: Color,
    /// The size after resizing: the shorter side, or `[height, width]`; if omitted, the size is kept.
    #[serde(default)]
    pub resize: Option<Spanned<OneOrMany<u32>>>,
    /// The filter of the resizing, with antialiasing as in Pillow; `bilinear` if omitted.
    #[serde(default)]
    pub filter: Filter,
    /// The size of the center that is kept: a side, or `[height, width]`; if omitted, the picture is kept whole.
    #[serde(default)]
    pub crop: Option<Spanned<OneOrMany<u32>>>,
    /// The factor of the 8-bit values; `1/255` if omitted. An input of `uint8` takes the values as they are.
    #[serde(default)]
    pub scale: Fraction,
    /// What is subtracted after scaling: a number, or a number per channel; 0 if omitted.
    #[serde(default)]
    pub mean: Option<Spanned<OneOrMany<Number>>>,
    /// What the differences are divided by: a number, or a number per channel; 1 if omitted.
    #[serde(default)]
    pub std: Option<Spanned<OneOrMany<Number>>>,
    /// The order of the dimensions; `nchw` if omitted.
    #[serde(default)]
    pub layout: Layout,
    /// The height and the width of a camera's picture. The input of the program is then the camera's bytes, and the program takes the steps in fixed point.
    #[serde(default)]
    pub frame: Option<Spanned<OneOrMany<u32>>>,
    /// The pixels of the camera; `rgb888` if omitted, or `gray8` with `color: gray`.
    #[serde(default)]
    pub pixels: Option<Spanned<CameraPixels>>,
}

/// The steps from a recording to the input.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AudioInput {
    /// The sampling rate of the model in hertz, such as 16000.
    pub rate: Spanned<u32>,
    /// The number of samples: a longer recording is cut, a shorter recording gets zeros at the end; if omitted, the size of the input's last dimension, or the samples of its features.
    #[serde(default)]
    pub length: Option<Spanned<u32>>,
    /// The features that the model gets instead of samples. The program computes the features in fixed point, and its input is int16 samples.
    #[serde(default)]
    pub features: Option<Box<Features>>,
    /// Whether an execution takes the next samples of a sound without an end: `length` samples, a multiple of `hop_length`. The program keeps the samples and the features before. `false` if omitted.
    #[serde(default)]
    pub stream: Option<Spanned<bool>>,
}

/// The bytes of a camera's pixel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum CameraPixels {
    /// Red, green, blue.
    Rgb888,
    /// 5 bits of red, 6 of green, 5 of blue, in two bytes, the byte with red first.
    Rgb565,
    /// Luma.
    Gray8,
}

/// The channels of a picture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Color {
    /// Red, green, blue.
    #[default]
    Rgb,
    /// Blue, green, red, as in OpenCV.
    Bgr,
    /// A single channel, the luma.
    Gray,
}

impl Color {
    /// The number of channels.
    pub const fn channels(self) -> usize {
        match self {
            Self::Rgb | Self::Bgr => 3,
            Self::Gray => 1,
        }
    }
}

/// The filter of a resizing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Filter {
    /// Linear interpolation.
    #[default]
    Bilinear,
    /// Cubic interpolation.
    Bicubic,
    /// Lanczos.
    Lanczos,
    /// The mean of the covered pixels.
    Box,
    /// The nearest pixel, without antialiasing.
    Nearest,
}

/// The order of the dimensions of a picture's tensor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Layout {
    /// Channels, rows, columns: PyTorch's.
    #[default]
    Nchw,
    /// Rows, columns, channels.
    Nhwc,
}
