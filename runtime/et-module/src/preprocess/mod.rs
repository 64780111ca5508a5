//! The steps from a picture or a recording to the input of a model, which a program file states for its inputs.

mod media;
mod numbers;
mod text;
mod tiles;

pub use media::Media;
pub use text::{PREPROCESS_KEY, from_text, to_text};
pub use tiles::{Grid, ReadSound, ReadTiles, TileSteps, Tiles};

/// The steps for an input.
#[derive(Clone, Debug, PartialEq)]
pub enum Preprocess {
    /// The input is a picture.
    Image(ImageSteps),
    /// The input is a recording.
    Audio(AudioSteps),
}

/// The steps from a picture to a tensor, in the order of the fields.
#[derive(Clone, Debug, PartialEq)]
pub struct ImageSteps {
    /// The channels and their order.
    pub color: Color,
    /// The size after resizing; `None` keeps the size.
    pub resize: Option<Resize>,
    /// The filter of the resizing.
    pub filter: Filter,
    /// Height and width of the center that is kept; a smaller picture gets a black border. `None` keeps the picture.
    pub crop: Option<[usize; 2]>,
    /// The factor of the 8-bit values.
    pub scale: Scale,
    /// The mean, which is subtracted from the scaled values: one number, or one per channel.
    pub mean: Vec<f32>,
    /// The standard deviation, which divides the differences: one number, or one per channel.
    pub std: Vec<f32>,
    /// The order of the dimensions.
    pub layout: Layout,
}

/// A factor as a fraction, so that `1/255` divides as PyTorch does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale {
    /// The multiplier.
    pub numerator: f32,
    /// The divisor.
    pub denominator: f32,
}

/// The size of a resized picture, in pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resize {
    /// The shorter side; the longer side keeps the aspect ratio.
    Shorter(usize),
    /// Height and width.
    Exact([usize; 2]),
    /// Sides that are multiples of a factor, near the aspect ratio, of a picture of so many pixels (Qwen2-VL).
    Within {
        /// The factor of each side.
        factor: usize,
        /// The least pixels of the picture.
        least: usize,
        /// The most pixels of the picture.
        most: usize,
    },
    /// The next multiples of a factor, of sides up to a longest side, in a picture of so many squares of the factor (Pixtral).
    Aligned {
        /// The factor of each side.
        factor: usize,
        /// The longest side, which keeps the aspect ratio.
        longest: usize,
        /// The most squares of the picture.
        most: usize,
    },
    /// Multiples of a factor near the aspect ratio, of a picture of as many squares of the factor as there may be (Gemma 4).
    Filling {
        /// The factor of each side.
        factor: usize,
        /// The most squares of the picture.
        most: usize,
    },
}

/// The steps from a recording to a tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AudioSteps {
    /// The sampling rate of the model in hertz.
    pub rate: u32,
    /// The number of samples: a longer recording is cut, a shorter one gets zeros at the end. `None` takes the length from the
    /// input's shape.
    pub length: Option<usize>,
}

/// Makes an enum of words with the text of each.
macro_rules! words {
    ($(#[$about:meta])* $name:ident { $($(#[$word_about:meta])* $word:ident = $text:literal,)* }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name {
            $($(#[$word_about])* $word,)*
        }

        impl $name {
            /// The word.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$word => $text,)*
                }
            }

            /// The value of a word.
            pub fn of(word: &str) -> Option<Self> {
                [$(Self::$word),*].into_iter().find(|value| value.name() == word)
            }
        }
    };
}

words! {
    /// The channels of a picture.
    Color {
        /// Red, green, blue.
        Rgb = "rgb",
        /// Blue, green, red.
        Bgr = "bgr",
        /// Luma of ITU-R 601.
        Gray = "gray",
    }
}

words! {
    /// The filter of a resizing; all but `Nearest` average over the pixels that a smaller picture leaves out (antialiasing).
    Filter {
        /// Linear interpolation.
        Bilinear = "bilinear",
        /// Cubic interpolation, a = -0.5.
        Bicubic = "bicubic",
        /// Lanczos, of three lobes.
        Lanczos = "lanczos",
        /// The mean of the covered pixels.
        Box = "box",
        /// The nearest pixel.
        Nearest = "nearest",
    }
}

words! {
    /// The order of the dimensions of a picture's tensor.
    Layout {
        /// Channels before rows.
        Nchw = "nchw",
        /// Channels last.
        Nhwc = "nhwc",
    }
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
