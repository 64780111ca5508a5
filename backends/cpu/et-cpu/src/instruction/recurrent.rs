//! Recurrent layers: LSTM, GRU and the simple layer.

use et_record::{Write, numbered, records};

use super::conv2d::Conv2d;
use super::operand::Place;

records! {
    /// A direction of a recurrent layer, behind the GEMM of the inputs of all time steps. A step is a GEMM of the hidden states, whose
    /// packed weights are read once for all sequences of the batch, then the functions of the gates.
    pub struct RecurrentLayer {
        /// The kind of the layer.
        pub cell: RecurrentCell,
        /// The GEMM of a step: `hidden` by the recurrent weights, to the sums `[batch, gates * units]`.
        pub gemm: Conv2d,
        /// The sums of the gates over the inputs.
        pub inputs: Place,
        /// The distances of `inputs`.
        pub input_strides: SequenceStrides,
        /// The hidden states ahead of the first step, `[batch, units]`.
        pub hidden_before: Place,
        /// The cell states of an LSTM ahead of the first step; absent for other layers.
        pub cells_before: Place,
        /// The hidden states, at last behind the last step.
        pub hidden: Write<Place>,
        /// The cell states of an LSTM, at last behind the last step; absent for other layers.
        pub cells: Write<Place>,
        /// The hidden states behind every step.
        pub output: Write<Place>,
        /// The distances of `output`.
        pub output_strides: SequenceStrides,
        /// Time steps.
        pub steps: u32,
        /// Sequences.
        pub batch: u32,
        /// Units of a hidden state.
        pub units: u32,
        /// Whether the last time step is the first.
        pub is_reversed: bool,
    }

    /// The distances between rows of sequences, in elements.
    pub struct SequenceStrides {
        /// From a time step to the next.
        pub step: u32,
        /// From a sequence of the batch to the next.
        pub sequence: u32,
    }
}

numbered! {
    /// The kind of a recurrent layer.
    pub enum RecurrentCell {
        /// Long short-term memory.
        Lstm,
        /// Gated recurrent units.
        Gru,
        /// A single gate with `tanh`.
        Tanh,
        /// A single gate with ReLU.
        Relu,
    }
}
