//! A graph: tensors, and operators in order.

use std::collections::BTreeSet;

use super::{Array, Kind, Operation};

/// The number of a tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TensorId(pub usize);

/// A tensor.
#[derive(Clone, Debug)]
pub struct Tensor {
    /// The unique name.
    pub name: String,
    /// The type of elements.
    pub kind: Kind,
    /// The sizes.
    pub sizes: Vec<usize>,
    /// The elements of a constant.
    pub data: Option<Vec<u8>>,
}

/// A call of an operation.
#[derive(Debug)]
pub struct Operator {
    /// The operation.
    pub operation: Box<dyn Operation>,
    /// The operands.
    pub inputs: Vec<TensorId>,
    /// The result.
    pub output: TensorId,
}

/// A graph.
#[derive(Debug, Default)]
pub struct Graph {
    /// The tensors by number.
    pub tensors: Vec<Tensor>,
    /// The operators in order.
    pub operators: Vec<Operator>,
    /// The inputs in order.
    pub inputs: Vec<TensorId>,
    /// The outputs in order.
    pub outputs: Vec<TensorId>,
    names: BTreeSet<String>,
}

impl Graph {
    /// The tensor of a number.
    pub fn get(&self, id: TensorId) -> &Tensor {
        &self.tensors[id.0]
    }

    /// Adds a tensor that an operator computes. A taken name gets a number.
    pub fn tensor(&mut self, name: &str, kind: Kind, sizes: &[usize]) -> TensorId {
        let numbered = (1..).map(|number| format!("{name}.{number}"));
        let unique = std::iter::once(name.to_owned()).chain(numbered).find(|name| self.names.insert(name.clone()));
        let name = unique.unwrap_or_default();
        self.tensors.push(Tensor { name, kind, sizes: sizes.to_vec(), data: None });
        TensorId(self.tensors.len() - 1)
    }

    /// Adds an input of the graph.
    pub fn input(&mut self, name: &str, sizes: &[usize]) -> TensorId {
        let id = self.tensor(name, Kind::Int8, sizes);
        self.inputs.push(id);
        id
    }

    /// Adds a constant.
    pub fn constant(&mut self, name: &str, kind: Kind, sizes: &[usize], data: Vec<u8>) -> TensorId {
        let id = self.tensor(name, kind, sizes);
        self.tensors[id.0].data = Some(data);
        id
    }

    /// The results of the graph for inputs.
    ///
    /// # Errors
    /// The name of the first tensor that has no defined elements: wrong sizes, or a sum that exceeds its type.
    pub fn evaluate(&self, inputs: &[Array]) -> Result<Vec<Array>, String> {
        let mut known: Vec<Option<Array>> = self.tensors.iter().map(constant).collect();
        for (id, input) in self.inputs.iter().zip(inputs) {
            known[id.0] = Some(input.clone()).filter(|input| input.sizes == self.get(*id).sizes);
        }
        for Operator { operation, inputs, output } in &self.operators {
            let operands: Option<Vec<&Array>> = inputs.iter().map(|id| known[id.0].as_ref()).collect();
            let result = operands.and_then(|operands| operation.evaluate(&operands));
            let tensor = self.get(*output);
            let fits = |result: &Array| result.sizes == tensor.sizes && result.kind == tensor.kind;
            known[output.0] = Some(result.filter(fits).ok_or_else(|| tensor.name.clone())?);
        }
        self.outputs.iter().map(|id| known[id.0].clone().ok_or_else(|| self.get(*id).name.clone())).collect()
    }
}

fn constant(tensor: &Tensor) -> Option<Array> {
    Array::of_bytes(tensor.kind, &tensor.sizes, tensor.data.as_ref()?)
}
