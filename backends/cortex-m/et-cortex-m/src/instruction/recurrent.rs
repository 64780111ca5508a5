//! Recurrent layers.

use et_record::records;

use super::Place;

/// The fractional bits of the operands of sigmoid and tanh: int16 from -8 to 8, as TensorFlow Lite has them.
pub const GATE_FRACTION: u32 = 12;

/// The fractional bits of the cell state: int16 from -16 to 16.
pub const CELL_FRACTION: u32 = 11;

records! {
    /// A direction of an LSTM or GRU, int8 to int8. States are 0 at the start; within a layer, the hidden state is int16 with 15 fractional
    /// bits. Gates are in PyTorch's order.
    pub struct Recurrent {
        /// int8 `[time, batches, features]`.
        pub input: Place,
        /// int8 `[time, batches, width]`, in steps of a 128th.
        pub output: Place,
        /// Scratch for the input of a step, int16 `[features]`, rounded up to a block of products.
        pub columns: Place,
        /// Scratch for the hidden state, int16 `[hidden]`, rounded up to a block of products, and the cell state, int16 `[hidden]`.
        pub state: Place,
        /// Scratch for the operands of the gates from the input and from the hidden state, int16 `[2][gates][hidden]`.
        pub sums: Place,
        /// The gates: 4 of an LSTM, 3 of a GRU.
        pub gates: u32,
        /// Steps.
        pub time: u32,
        /// Sequences.
        pub batches: u32,
        /// Elements of an input row.
        pub features: u32,
        /// Elements of the hidden state.
        pub hidden: u32,
        /// Elements of an output row, for all directions.
        pub width: u32,
        /// The first element of the direction in an output row.
        pub first: u32,
        /// Whether sequences are the first dimension, before time.
        pub batch_first: bool,
        /// Whether time runs backwards.
        pub backward: bool,
        /// Packed weights of the input, as of [`super::Convolution16`].
        pub input_weights: u32,
        /// A [`super::Channel16`] per row: to [`GATE_FRACTION`].
        pub input_channels: u32,
        /// Packed weights of the hidden state.
        pub hidden_weights: u32,
        /// A [`super::Channel16`] per row.
        pub hidden_channels: u32,
        /// 513 int16 with 15 fractional bits, as of [`super::Table16`], of numbers with [`GATE_FRACTION`].
        pub sigmoid: u32,
        /// As `sigmoid`.
        pub tanh: u32,
    }
}
