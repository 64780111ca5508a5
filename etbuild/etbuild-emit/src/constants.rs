//! The constants of a file, each content once, and what its state is at first.

use std::collections::BTreeMap;

use etbuild_ir::{ConstantData, Digest};

/// Constants in the order of their first use.
#[derive(Default)]
pub struct Constants<'a> {
    bytes: Vec<&'a [u8]>,
    buffers: BTreeMap<Digest, u32>,
    initial_values: Vec<&'a [u8]>,
}

impl<'a> Constants<'a> {
    /// The data buffer of a constant, counted from 1.
    pub fn buffer(&mut self, data: &'a ConstantData) -> u32 {
        *self.buffers.entry(data.digest()).or_insert_with(|| {
            self.bytes.push(data.bytes());
            self.bytes.len() as u32
        })
    }

    /// The data buffer of a first value of state, counted from 1 among those of state.
    pub fn initial_value(&mut self, data: &'a ConstantData) -> u32 {
        self.initial_values.push(data.bytes());
        self.initial_values.len() as u32
    }

    /// The bytes of each data buffer, and of each first value of state.
    pub fn into_bytes(self) -> (Vec<&'a [u8]>, Vec<&'a [u8]>) {
        (self.bytes, self.initial_values)
    }
}
