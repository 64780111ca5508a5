//! The weights that a blob reads as further inputs of the call.

use std::collections::BTreeMap;
use std::sync::Arc;

use etbuild_backend::{Content, Weights};
use etbuild_cpu_weights::{Packing, Stack};
use etbuild_ir::{ConstantData, Digest, Graph, ValueKind};

use crate::{Architecture, Problem};

/// Packed weights in the order of their positions; equal weights share a position.
pub struct Shared {
    architecture: Architecture,
    first: usize,
    /// The names of the constants in the model.
    names: BTreeMap<Digest, String>,
    weights: Vec<Weights>,
    positions: BTreeMap<String, usize>,
}

impl Shared {
    /// No weights yet; the first weights are the input of the call behind the inputs of the partition.
    pub fn new(graph: &Graph, architecture: Architecture) -> Self {
        let (first, names) = (graph.inputs.len(), names(graph));
        Self { architecture, first, names, weights: Vec::new(), positions: BTreeMap::new() }
    }

    /// The input position of weights whose packed form has `size` bytes.
    pub fn position(&mut self, packing: &Packing, size: usize) -> usize {
        let architecture = self.architecture;
        let content = || -> Arc<Content> {
            let packing = packing.clone();
            Arc::new(move |take| Ok(packing.write(architecture, take).map_err(Problem::from)?))
        };
        let origin = self.names.get(&packing.weights.digest()).cloned();
        self.add(packing.identity(architecture), packing.name(architecture), origin, size, content)
    }

    /// The input position of a stack of weights whose packed forms have `size` bytes.
    pub fn stack(&mut self, stack: &Stack, size: usize) -> usize {
        let architecture = self.architecture;
        let content = || -> Arc<Content> {
            let stack = stack.clone();
            Arc::new(move |take| Ok(stack.write(architecture, take).map_err(Problem::from)?))
        };
        let first = stack.0.first().map(|packing| packing.weights.digest());
        let origin = first.and_then(|digest| self.names.get(&digest).cloned());
        self.add(stack.identity(architecture), None, origin, size, content)
    }

    /// The position among the inputs of elements that are read as the model has them.
    pub fn as_is(&mut self, data: &ConstantData) -> usize {
        let (identity, size) = (format!("as it is {}", data.digest()), data.bytes().len());
        let origin = self.names.get(&data.digest()).cloned();
        let content = || -> Arc<Content> {
            let data = data.clone();
            Arc::new(move |take| {
                take(data.bytes());
                Ok(())
            })
        };
        self.add(identity, None, origin, size, content)
    }

    fn add(
        &mut self,
        identity: String,
        name: Option<String>,
        origin: Option<String>,
        size: usize,
        content: impl FnOnce() -> Arc<Content>,
    ) -> usize {
        if let Some(position) = self.positions.get(&identity) {
            return *position;
        }
        let position = self.first + self.weights.len();
        self.positions.insert(identity.clone(), position);
        self.weights.push(Weights { identity, name, origin, size, content: content() });
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

fn names(graph: &Graph) -> BTreeMap<Digest, String> {
    let named = graph.values.iter().filter_map(|value| match &value.kind {
        ValueKind::Constant { qualified_name, data } if !qualified_name.is_empty() => {
            Some((data.digest(), qualified_name.clone()))
        }
        _ => None,
    });
    named.collect()
}
