//! Runs of a graph on a sample, with early release: every tensor is dropped after the last read.

use et_ops::call::{OwnedTensor, TensorRef};
use etbuild_ir::{ConstantData, Graph, IdMap, Interruption, Node, ValueId, ValueKind, evaluate};

/// A graph, with the last reader of each tensor.
pub struct Runner<'g> {
    graph: &'g Graph,
    /// The tensors that each node is the last to read.
    last: Vec<Vec<ValueId>>,
}

/// The live tensors of a run.
#[derive(Default)]
pub struct Held<'a> {
    tensors: IdMap<Option<OwnedTensor>>,
    /// Tensors computed before the run, which outlive the run.
    before: Option<&'a Held<'a>>,
}

impl<'a> Held<'a> {
    /// The run with tensors computed before.
    pub fn on(self, before: &'a Held<'a>) -> Self {
        Self { before: Some(before), ..self }
    }

    /// A computed tensor, or an input.
    pub fn get(&self, id: ValueId) -> Option<&OwnedTensor> {
        let own = self.tensors.get(id).and_then(Option::as_ref);
        own.or_else(|| self.before?.get(id))
    }

    /// Adds a tensor.
    pub fn insert(&mut self, id: ValueId, tensor: OwnedTensor) {
        self.tensors.insert(id, Some(tensor));
    }

    /// Removes a tensor.
    pub fn remove(&mut self, id: ValueId) -> Option<OwnedTensor> {
        self.tensors.get_mut(id).and_then(Option::take)
    }
}

impl<'g> Runner<'g> {
    /// Finds the last reader of every tensor.
    pub fn new(graph: &'g Graph) -> Self {
        let mut last: Vec<Vec<ValueId>> = vec![Vec::new(); graph.nodes.len()];
        let mut seen: IdMap<()> = IdMap::default();
        for (index, node) in graph.nodes.iter().enumerate().rev() {
            let touched = node.uses().chain(node.outputs.iter().copied());
            let dropped: Vec<ValueId> = touched.filter(|id| seen.insert(*id, ()).is_none()).collect();
            if let Some(list) = last.get_mut(index) {
                *list = dropped;
            }
        }
        Self { graph, last }
    }

    /// The tensors before the first node.
    pub fn start<'a>(&self, inputs: &[TensorRef<'_>]) -> Held<'a> {
        let mut held = Held::default();
        for (id, tensor) in self.graph.inputs.iter().zip(inputs) {
            let TensorRef { scalar_type, sizes, bytes } = *tensor;
            held.insert(*id, OwnedTensor { scalar_type, sizes: sizes.to_vec(), bytes: bytes.to_vec() });
        }
        held
    }

    /// Runs a node.
    pub fn step(&self, node: &Node, held: &mut Held<'_>) -> Result<(), Interruption> {
        let computed = evaluate(self.graph, node, |id| tensor(self.graph, held, id))
            .map_err(|error| Interruption::Node { operator: node.operator.to_string(), error })?;
        node.outputs.iter().zip(computed).for_each(|(id, tensor)| held.insert(*id, tensor));
        Ok(())
    }

    /// Drops the tensors without later readers.
    pub fn drop_unused(&self, index: usize, held: &mut Held<'_>) {
        self.drop_unused_but(index, &[], held);
    }

    /// Drops the tensors without later readers, except a few kept tensors.
    pub fn drop_unused_but(&self, index: usize, kept: &[ValueId], held: &mut Held<'_>) {
        for id in self.last.get(index).into_iter().flatten().filter(|id| !kept.contains(id)) {
            held.remove(*id);
        }
    }
}

/// A tensor of the run, or a constant of the program.
fn tensor<'a>(graph: &'a Graph, held: &'a Held<'a>, id: ValueId) -> TensorRef<'a> {
    let spec = graph.spec(id);
    let stored = match &graph.value(id).kind {
        ValueKind::Constant { data, .. } | ValueKind::State { initial: data, .. } => data.bytes(),
        ValueKind::Input | ValueKind::Computed => &[],
    };
    let stored = TensorRef { scalar_type: spec.scalar_type, sizes: &spec.sizes, bytes: stored };
    held.get(id).map_or(stored, OwnedTensor::as_ref)
}

/// The elements of a constant of `float32`.
pub fn float_constant(graph: &Graph, id: ValueId) -> Option<&[u8]> {
    let is_float = graph.spec(id).scalar_type == et_core::ScalarType::Float;
    graph.constant(id).filter(|_| is_float).map(ConstantData::bytes)
}
