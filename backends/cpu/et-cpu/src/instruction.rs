//! What a blob tells the engine to do. Activations lie with channels innermost; counts are in elements, offsets in bytes.

use crate::record::{Record, SlotNumber, Words, records};

records! {
    /// Where an operand begins.
    pub struct Place {
        /// The slot that holds it.
        pub slot: SlotNumber,
        /// Bytes from the slot's begin.
        pub offset: u32,
    }

    /// Rows of a matrix; the elements of a row are neighbours.
    pub struct Rows {
        /// The first element.
        pub place: Place,
        /// Elements from one row to the next.
        pub stride: u32,
    }

    /// What elements stand for: `float32` themselves, or bytes for `scale * (byte - zero_point)`.
    pub struct Numbers {
        /// The distance between two bytes; 0 where elements are `float32`.
        pub scale: f32,
        /// The byte of 0.
        pub zero_point: i32,
    }

    /// What is done to each element of a product.
    pub struct Activation {
        /// The number of an [`ActivationKind`].
        pub kind: u32,
        /// The least result.
        pub low: f32,
        /// The greatest result.
        pub high: f32,
    }

    /// The shape of a sliding window over `[batch, height, width, channels]`.
    pub struct Window {
        /// Images.
        pub batch: u32,
        /// Height, width and channels of an input image.
        pub input: [u32; 3],
        /// Height, width and channels of an output image.
        pub output: [u32; 3],
        /// Height and width of the window.
        pub kernel: [u32; 2],
        /// Rows and columns from one window to the next.
        pub stride: [u32; 2],
        /// Rows and columns before the first window begins.
        pub padding: [u32; 2],
        /// Rows and columns from one element of the window to the next.
        pub dilation: [u32; 2],
        /// Channels are split into so many independent parts.
        pub groups: u32,
    }

    /// `output = activation(windows of input x weights + bias + residual)`: a convolution, of which a product of matrices is
    /// the case with one column of pixels. A row is a pixel.
    pub struct Product {
        /// The images.
        pub input: Rows,
        /// The results.
        pub output: Rows,
        /// Added to the results, if its place is present.
        pub residual: Rows,
        /// The slot of the packed weights and biases.
        pub weights: SlotNumber,
        /// 1 where the residual is added after the activation, 0 before.
        pub residual_last: u32,
        /// The shape.
        pub window: Window,
        /// The activation.
        pub activation: Activation,
    }

    /// A convolution of each channel by itself.
    pub struct Depthwise {
        /// The images.
        pub input: Place,
        /// The results.
        pub output: Place,
        /// The slot of the packed weights.
        pub weights: SlotNumber,
        /// The slot of one number per channel, or none.
        pub bias: SlotNumber,
        /// The shape.
        pub window: Window,
        /// The activation.
        pub activation: Activation,
    }

    /// [`Product`] of bytes with packed bytes.
    pub struct QuantizedProduct {
        /// The images, bytes.
        pub input: Rows,
        /// Scales and zero points of rows that were quantized at run time, if the place is present.
        pub row_scales: Place,
        /// The byte of 0 in the input.
        pub input_zero: i32,
        /// The results.
        pub output: Rows,
        /// What the results stand for.
        pub numbers: Numbers,
        /// 1 where the scales of the weights are divided by that of the results already.
        pub is_divided: u32,
        /// Added to the results, if its place is present.
        pub residual: Rows,
        /// What that stands for.
        pub residual_numbers: Numbers,
        /// The slot of the packed weights, scales and biases.
        pub weights: SlotNumber,
        /// 1 where the residual is added after the activation, 0 before.
        pub residual_last: u32,
        /// The shape.
        pub window: Window,
        /// The activation, of numbers.
        pub activation: Activation,
    }

    /// [`Depthwise`] of bytes with bytes.
    pub struct QuantizedDepthwise {
        /// The images.
        pub input: Place,
        /// The byte of 0 in the input.
        pub input_zero: i32,
        /// The results.
        pub output: Place,
        /// What the results stand for.
        pub numbers: Numbers,
        /// The slot of the weights `[height, width, channels]`.
        pub weights: SlotNumber,
        /// The slot of a bias per channel, in steps of input times weight.
        pub bias: SlotNumber,
        /// The slot of a step's number per channel.
        pub scales: SlotNumber,
        /// The shape.
        pub window: Window,
        /// The activation, of numbers.
        pub activation: Activation,
    }

    /// Rows of numbers as bytes, with a scale and a zero point for each that are found at run time.
    pub struct QuantizeRows {
        /// The rows, dense.
        pub input: Place,
        /// The bytes.
        pub output: Place,
        /// Two words for each row: its scale and its zero point.
        pub row_scales: Place,
        /// Number of rows.
        pub rows: u32,
        /// Elements of a row.
        pub columns: u32,
        /// 1 where all rows have the same scale and zero point.
        pub together: u32,
    }

    /// The numbers that [`QuantizeRows`] made bytes of.
    pub struct DequantizeRows {
        /// The bytes.
        pub input: Place,
        /// Two words for each row: its scale and its zero point.
        pub row_scales: Place,
        /// The numbers.
        pub output: Place,
        /// Number of rows.
        pub rows: u32,
        /// Elements of a row.
        pub columns: u32,
    }

    /// `output = activation(rows x weights + bias)` for rows that [`QuantizeRows`] made and packed weights of half a byte.
    pub struct GroupedProduct {
        /// The rows, bytes.
        pub input: Place,
        /// Two words for each row: its scale and its zero point.
        pub row_scales: Place,
        /// The results.
        pub output: Rows,
        /// The slot of the packed weights.
        pub weights: SlotNumber,
        /// Rows, elements of a row, columns of the result, elements of a group.
        pub sizes: [u32; 4],
        /// 1 where the packed weights have biases.
        pub is_biased: u32,
        /// The activation.
        pub activation: Activation,
    }

    /// `output = activation(rows x weights + bias)` for rows of numbers and packed weights of a byte or half a byte.
    pub struct WideProduct {
        /// The rows, dense.
        pub input: Place,
        /// The results.
        pub output: Rows,
        /// The slot of the packed weights.
        pub weights: SlotNumber,
        /// Rows, elements of a row, columns of the result, elements of a group of half bytes: 0 for bytes.
        pub sizes: [u32; 4],
        /// 1 where packed half bytes have biases.
        pub is_biased: u32,
        /// The activation.
        pub activation: Activation,
    }

    /// The greatest or the mean element of each window.
    pub struct Pool {
        /// The images.
        pub input: Place,
        /// The results.
        pub output: Place,
        /// What both stand for.
        pub numbers: Numbers,
        /// The shape.
        pub window: Window,
        /// 0 for the greatest, 1 for the mean of what is inside the image, 2 for the mean with padding.
        pub kind: u32,
    }

    /// Means over the middle of three dimensions.
    pub struct Mean {
        /// `[outer, reduced, inner]`.
        pub input: Place,
        /// What it stands for.
        pub from: Numbers,
        /// `[outer, inner]`.
        pub output: Place,
        /// What it stands for: either both are `float32`, or none.
        pub to: Numbers,
        /// The dimensions.
        pub sizes: [u32; 3],
    }

    /// Copies elements from one order to another.
    pub struct Copy {
        /// The first element read.
        pub input: Place,
        /// The first element written.
        pub output: Place,
        /// Bytes of an element.
        pub width: u32,
        /// Used dimensions of what follows.
        pub rank: u32,
        /// Sizes.
        pub sizes: [u32; 8],
        /// Elements between neighbours in the input.
        pub input_strides: [u32; 8],
        /// Elements between neighbours in the output.
        pub output_strides: [u32; 8],
    }

    /// Softmax of each row.
    pub struct Softmax {
        /// The rows.
        pub input: Rows,
        /// The results.
        pub output: Rows,
        /// Number of rows.
        pub rows: u32,
        /// Elements of a row.
        pub columns: u32,
    }

    /// Normalization of each row.
    pub struct Normalize {
        /// The rows.
        pub input: Rows,
        /// The results.
        pub output: Rows,
        /// The slot of the factors, or none.
        pub weight: SlotNumber,
        /// The slot of the summands, or none.
        pub bias: SlotNumber,
        /// Number of rows.
        pub rows: u32,
        /// Elements of a row.
        pub columns: u32,
        /// Added to the mean square.
        pub epsilon: f32,
        /// 1 where the mean is subtracted first (layer normalization), 0 where not (root mean square).
        pub centered: u32,
    }

    /// `[batch, heads, tokens, depth]` by strides; neighbours in depth are neighbours in memory.
    pub struct Heads {
        /// The first element.
        pub place: Place,
        /// Elements between batches, heads and tokens.
        pub strides: [u32; 3],
    }

    /// Scaled dot-product attention.
    pub struct Attention {
        /// Queries.
        pub query: Heads,
        /// Keys.
        pub key: Heads,
        /// Values.
        pub value: Heads,
        /// The results.
        pub output: Heads,
        /// Added to the scores `[batch, heads, queries, keys]`, each stride 0 where it is shared; an absent place for none.
        pub bias: Heads,
        /// The second summand of the scores, likewise.
        pub mask: Heads,
        /// Batches, heads, queries, keys and depth.
        pub sizes: [u32; 5],
        /// What the scores are multiplied with.
        pub scale: f32,
        /// 1 where a query sees no later key.
        pub causal: u32,
    }

    /// Which rows of a piece of text there are.
    pub struct Piece {
        /// A 64-bit integer: the position of the first row.
        pub start: Place,
        /// A 64-bit integer: which row is the last that is a token.
        pub last: Place,
    }

    /// Pairs of elements turned by the angles of their row's position.
    pub struct Rotate {
        /// `[rows, heads, depth]`.
        pub input: Place,
        /// Likewise.
        pub output: Place,
        /// The slot of `[positions, pairs]`.
        pub cosines: SlotNumber,
        /// Likewise.
        pub sines: SlotNumber,
        /// The positions of the rows.
        pub piece: Piece,
        /// Rows, heads, depth, positions and pairs.
        pub sizes: [u32; 5],
    }

    /// Attention of a piece of text to a cache, in which position `p` is in slot `p % slots`.
    pub struct AttendCache {
        /// `[rows, heads, depth]`.
        pub query: Place,
        /// `[slots, key heads, depth]`, each row with what is behind it.
        pub keys: Place,
        /// Likewise.
        pub values: Place,
        /// `[rows, heads, depth]`.
        pub output: Place,
        /// The positions of the rows.
        pub piece: Piece,
        /// Rows, heads, heads of keys, depth and slots.
        pub sizes: [u32; 5],
        /// What the scores are multiplied with.
        pub scale: f32,
        /// How many positions a row sees, or 0 for all.
        pub window: u32,
        /// Scores are bent towards this, unless it is 0.
        pub soft_cap: f32,
        /// In what keys and values are kept: 0 for `float32`, 1 for half precision, 2 for bytes with the four bytes of a row's
        /// scale behind its numbers.
        pub kept: u32,
    }

    /// `output[b] = left[b] x right[b]`, where both are computed.
    pub struct BatchMatmul {
        /// `[batches, rows, inner]`: elements between batches and rows; neighbours in a row are neighbours.
        pub left: Matrices,
        /// `[batches, inner, columns]`, of which one of the last two strides is 1.
        pub right: Matrices,
        /// `[batches, rows, columns]`, likewise as `left`.
        pub output: Matrices,
        /// Batches, rows, inner and columns.
        pub sizes: [u32; 4],
    }

    /// Matrices by strides.
    pub struct Matrices {
        /// The first element.
        pub place: Place,
        /// Elements between matrices, rows and columns.
        pub strides: [u32; 3],
    }

    /// Rows of a table by their index.
    pub struct Gather {
        /// The table.
        pub table: Place,
        /// The indices, 64-bit.
        pub indices: Place,
        /// The rows.
        pub output: Place,
        /// Rows of the table.
        pub limit: u32,
        /// Number of indices.
        pub count: u32,
        /// Bytes of a row.
        pub width: u32,
    }

    /// Columns of packed weights of a byte or half a byte by their index: rows of the table whose transpose they are.
    pub struct GatherColumns {
        /// The slot of the packed weights, without biases.
        pub weights: SlotNumber,
        /// The indices, 64-bit.
        pub indices: Place,
        /// The rows, dense.
        pub output: Place,
        /// Indices, elements of a row, rows of the table, elements of a group of half bytes: 0 for bytes.
        pub sizes: [u32; 4],
    }

    /// An operand of [`Elementwise`]: an element is found by the strides of four dimensions, 0 where it is shared.
    pub struct Stream {
        /// The first element.
        pub place: Place,
        /// Elements between neighbours, outermost dimension first; the last is 0 or 1, and 1 for bytes.
        pub strides: [u32; 4],
        /// What elements stand for.
        pub numbers: Numbers,
    }

    /// An operand of a [`Step`].
    pub struct Term {
        /// 0 for a register, 1 for a number.
        pub kind: u32,
        /// The register, or the bits of the number.
        pub bits: u32,
    }

    /// A step of [`Elementwise`]: registers `0..stream_count` are the operands, each step makes the next one.
    pub struct Step {
        /// The number of an [`Operation`](et_kernels::elementwise::Operation).
        pub operation: u32,
        /// The operands.
        pub terms: [Term; 3],
    }

    /// A chain of element-wise functions over four dimensions; the last register is the result.
    pub struct Elementwise {
        /// The result, dense.
        pub output: Place,
        /// What it stands for.
        pub numbers: Numbers,
        /// Sizes, outermost first.
        pub sizes: [u32; 4],
        /// Used entries of what follows.
        pub stream_count: u32,
        /// Used entries of what follows.
        pub step_count: u32,
        /// The operands.
        pub streams: [Stream; 6],
        /// The steps.
        pub steps: [Step; 12],
    }
}

/// Declares the instructions with their numbers.
macro_rules! instructions {
    ($($number:literal => $name:ident,)*) => {
        /// An instruction of a blob.
        #[derive(Clone, Copy, Debug, PartialEq)]
        #[allow(missing_docs, reason = "the records say what they are")]
        #[allow(clippy::large_enum_variant, reason = "one is read at a time")]
        pub enum Instruction { $($name($name),)* }

        impl Record for Instruction {
            fn read(words: &mut Words<'_>) -> Option<Self> {
                let (number, length) = (words.word()?, words.word()?);
                let mut fields = words.take(length as usize)?;
                let read = match number {
                    $($number => Self::$name($name::read(&mut fields)?),)*
                    _ => return None,
                };
                fields.is_empty().then_some(read)
            }

            fn write(&self, put: &mut dyn FnMut(u32)) {
                let number = match self { $(Self::$name(_) => $number,)* };
                let mut length = 0;
                self.write_fields(&mut |_| length += 1);
                put(number);
                put(length);
                self.write_fields(put);
            }

            fn visit_slots(&self, visit: &mut dyn FnMut(u32)) {
                match self { $(Self::$name(fields) => fields.visit_slots(visit),)* }
            }
        }

        impl Instruction {
            fn write_fields(&self, put: &mut dyn FnMut(u32)) {
                match self { $(Self::$name(fields) => fields.write(put),)* }
            }
        }

        $(impl From<$name> for Instruction {
            fn from(fields: $name) -> Self {
                Self::$name(fields)
            }
        })*
    };
}

instructions! {
    1 => Product,
    2 => Depthwise,
    3 => Pool,
    4 => Mean,
    5 => Copy,
    6 => Softmax,
    7 => Normalize,
    8 => Attention,
    9 => BatchMatmul,
    10 => Gather,
    11 => Elementwise,
    12 => QuantizedProduct,
    13 => QuantizedDepthwise,
    14 => QuantizeRows,
    15 => DequantizeRows,
    16 => GroupedProduct,
    17 => Rotate,
    18 => AttendCache,
    19 => GatherColumns,
    20 => WideProduct,
}

/// What an element of a product becomes, before it is kept between the limits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u32)]
pub enum ActivationKind {
    /// Itself.
    #[default]
    Identity,
    /// `x * clamp(x + 3, 0, 6) / 6`.
    Hardswish,
    /// `clamp(x + 3, 0, 6) / 6`.
    Hardsigmoid,
    /// `x * sigmoid(x)`.
    Silu,
    /// `x * Phi(x)` by the error function.
    Gelu,
    /// The same by a hyperbolic tangent.
    GeluTanh,
    /// `1 / (1 + exp(-x))`.
    Sigmoid,
}

impl ActivationKind {
    const ALL: [Self; 7] =
        [Self::Identity, Self::Hardswish, Self::Hardsigmoid, Self::Silu, Self::Gelu, Self::GeluTanh, Self::Sigmoid];

    /// The kind with this number.
    pub fn from_number(number: u32) -> Option<Self> {
        Self::ALL.get(number as usize).copied()
    }
}

impl Activation {
    /// The results of a function, whatever they are.
    pub const fn of(kind: ActivationKind) -> Self {
        Self { kind: kind as u32, low: f32::NEG_INFINITY, high: f32::INFINITY }
    }

    /// Itself, kept between two limits.
    pub const fn clamp(low: f32, high: f32) -> Self {
        Self { kind: ActivationKind::Identity as u32, low, high }
    }
}

impl Numbers {
    /// Elements are `float32`.
    pub const REAL: Self = Self { scale: 0.0, zero_point: 0 };

    /// Whether elements are bytes.
    pub fn are_bytes(&self) -> bool {
        self.scale != 0.0
    }
}

impl Term {
    /// A register.
    pub const fn register(index: usize) -> Self {
        Self { kind: 0, bits: index as u32 }
    }

    /// A number.
    pub const fn number(number: f32) -> Self {
        Self { kind: 1, bits: number.to_bits() }
    }
}

impl Place {
    /// An operand that is absent.
    pub const ABSENT: Self = Self { slot: SlotNumber::NONE, offset: 0 };

    /// Whether there is an operand.
    pub const fn is_present(&self) -> bool {
        self.slot.0 != SlotNumber::NONE.0
    }
}
