//! The constants of a file, each content once, and what its state is at first.

use std::collections::BTreeMap;

use etbuild_ir::{ConstantData, Digest, TensorSpec};

use crate::external::External;

/// Constants in the order of their first use.
#[derive(Default)]
pub struct Constants<'a> {
    bytes: Vec<&'a [u8]>,
    buffers: BTreeMap<Digest, u32>,
    initial_values: Vec<&'a [u8]>,
    /// The buffers of first values; 0 for those that are not stored.
    initial_buffers: BTreeMap<Digest, u32>,
    /// Whether state that begins with zeros needs no first value.
    implies_zeros: bool,
    /// The constants that lie in a data file, where there is one.
    external: Option<External<'a>>,
}

/// Where a constant is.
pub enum ConstantPlace {
    /// In the program file: its data buffer, counted from 1.
    Embedded(u32),
    /// In the data file, under this name.
    External(String),
}

impl<'a> Constants<'a> {
    /// No constants yet; those to come go to a data file.
    pub fn external() -> Self {
        Self { external: Some(External::default()), ..Self::default() }
    }

    /// Puts a constant where constants go. One without elements stays in the program file.
    pub fn place(&mut self, qualified_name: &str, spec: &'a TensorSpec, data: &'a ConstantData) -> ConstantPlace {
        match &mut self.external {
            Some(external) if !data.bytes().is_empty() => {
                ConstantPlace::External(external.add(qualified_name, spec, data))
            }
            _ => ConstantPlace::Embedded(self.buffer(data)),
        }
    }

    /// Says that what loads the file begins state with zeros where there is no first value.
    pub fn imply_zeros(&mut self) {
        self.implies_zeros = true;
    }

    /// The data buffer of a first value of state, counted from 1 among those of state; 0 for zeros that are implied.
    pub fn initial_value(&mut self, data: &'a ConstantData) -> u32 {
        let Self { initial_values, initial_buffers, implies_zeros, .. } = self;
        *initial_buffers.entry(data.digest()).or_insert_with(|| {
            if *implies_zeros && data.bytes().iter().all(|byte| *byte == 0) {
                return 0;
            }
            initial_values.push(data.bytes());
            initial_values.len() as u32
        })
    }

    /// What a data file holds.
    pub fn take_external(&mut self) -> External<'a> {
        self.external.take().unwrap_or_default()
    }

    /// The bytes of each data buffer, and of each first value of state.
    pub fn take_bytes(&mut self) -> (Vec<&'a [u8]>, Vec<&'a [u8]>) {
        (std::mem::take(&mut self.bytes), std::mem::take(&mut self.initial_values))
    }

    fn buffer(&mut self, data: &'a ConstantData) -> u32 {
        *self.buffers.entry(data.digest()).or_insert_with(|| {
            self.bytes.push(data.bytes());
            self.bytes.len() as u32
        })
    }
}
