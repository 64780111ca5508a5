//! Constants of a file, deduplicated by content, and first values of state.

use std::collections::BTreeMap;

use etbuild_ir::{ConstantData, Digest, TensorSpec};

use crate::external::External;

/// Constants in order of first use.
#[derive(Default)]
pub struct Constants<'a> {
    bytes: Vec<&'a [u8]>,
    buffers: BTreeMap<Digest, u32>,
    initial_values: Vec<&'a [u8]>,
    /// The buffers of first values of state; 0 for implied zeros.
    initial_buffers: BTreeMap<Digest, u32>,
    /// Whether the runtime initializes state without a first value with zeros.
    implies_zeros: bool,
    /// The constants of the data file, if the constants go to a data file.
    external: Option<External<'a>>,
}

/// The place of a constant.
pub enum ConstantPlace {
    /// In the program file: its data buffer, counted from 1.
    Embedded(u32),
    /// In the data file, under this name.
    External(String),
}

impl<'a> Constants<'a> {
    /// An empty set of constants for a data file.
    pub fn external() -> Self {
        Self { external: Some(External::default()), ..Self::default() }
    }

    /// Places a constant. A constant without elements stays in the program file.
    pub fn place(&mut self, qualified_name: &str, spec: &'a TensorSpec, data: &'a ConstantData) -> ConstantPlace {
        match &mut self.external {
            Some(external) if !data.bytes().is_empty() => {
                ConstantPlace::External(external.add(qualified_name, spec, data))
            }
            _ => ConstantPlace::Embedded(self.buffer(data)),
        }
    }

    /// Leaves out first values that are zeros: the runtime initializes state with zeros.
    pub fn imply_zeros(&mut self) {
        self.implies_zeros = true;
    }

    /// The data buffer of a first value of state, counted from 1; 0 for implied zeros.
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

    /// The contents of the data file.
    pub fn take_external(&mut self) -> External<'a> {
        self.external.take().unwrap_or_default()
    }

    /// The bytes of each data buffer, then of each first value of state.
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
