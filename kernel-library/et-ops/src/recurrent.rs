//! LSTM, GRU and simple recurrent layers.

mod steps;

pub mod gru;
pub mod lstm;
pub mod rnn_relu;
pub mod rnn_tanh;
