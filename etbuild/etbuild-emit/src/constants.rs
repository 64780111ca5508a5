//! The constants of a file: each content once.

use std::collections::BTreeMap;

use etbuild_ir::{ConstantData, Digest};

/// Constants in the order of their first use.
#[derive(Default)]
pub struct Constants<'a> {
    bytes: Vec<&'a [u8]>,
    buffers: BTreeMap<Digest, u32>,
}

impl<'a> Constants<'a> {
    /// The data buffer of a constant, counted from 1.
    pub fn buffer(&mut self, data: &'a ConstantData) -> u32 {
        *self.buffers.entry(data.digest()).or_insert_with(|| {
            self.bytes.push(data.bytes());
            self.bytes.len() as u32
        })
    }

    /// The bytes of each data buffer.
    pub fn into_bytes(self) -> Vec<&'a [u8]> {
        self.bytes
    }
}
