//! The weights that the variants of a blob read as further inputs of the call.

use std::collections::BTreeMap;
use std::sync::Arc;

use etbuild_backend::{Content, Refusal, Weights};

use crate::Isa;
use crate::pack::Packing;

/// Weights in the order of their positions; equal ones have one.
pub struct Shared {
    first: usize,
    weights: Vec<Weights>,
    positions: BTreeMap<String, usize>,
}

/// Weights for an instruction set.
struct Packed {
    packing: Packing,
    isa: Isa,
}

impl Content for Packed {
    fn write(&self, take: &mut dyn FnMut(&[u8])) -> Result<(), Refusal> {
        Ok(self.packing.write(self.isa, take)?)
    }
}

impl Shared {
    /// None yet; the first is the input of the call at position `first`.
    pub const fn new(first: usize) -> Self {
        Self { first, weights: Vec::new(), positions: BTreeMap::new() }
    }

    /// The position among the inputs of weights whose packed form has `size` bytes.
    pub fn position(&mut self, packing: &Packing, isa: Isa, size: usize) -> usize {
        let identity = packing.identity(isa);
        if let Some(position) = self.positions.get(&identity) {
            return *position;
        }
        let position = self.first + self.weights.len();
        self.positions.insert(identity.clone(), position);
        let content = Arc::new(Packed { packing: packing.clone(), isa });
        self.weights.push(Weights { identity, size, content });
        position
    }

    /// The number of inputs of the call.
    pub const fn inputs(&self) -> usize {
        self.first + self.weights.len()
    }

    /// The weights.
    pub fn into_weights(self) -> Vec<Weights> {
        self.weights
    }
}
