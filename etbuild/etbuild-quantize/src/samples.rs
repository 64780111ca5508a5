//! Calibration data: tensors by input name, split into samples.

use std::collections::BTreeMap;

use et_ops::call::{OwnedTensor, TensorRef};
use etbuild_ir::{Graph, TensorSpec, Value};

use crate::QuantizeError;

/// Tensors by name. The first dimension of a tensor counts samples.
pub type Tensors = BTreeMap<String, OwnedTensor>;

/// The inputs of a graph, sample by sample.
pub struct Samples<'a> {
    /// The spec and the tensor of each input.
    inputs: Vec<(TensorSpec, &'a OwnedTensor)>,
    count: usize,
}

impl<'a> Samples<'a> {
    /// The samples for the inputs of `graph`.
    ///
    /// # Errors
    /// An input without a tensor or with a tensor of another type or shape, inputs with different numbers of samples.
    pub fn of(graph: &Graph, tensors: &'a Tensors) -> Result<Self, QuantizeError> {
        let mut samples = Self { inputs: Vec::new(), count: 0 };
        for id in &graph.inputs {
            let value = graph.value(*id);
            let tensor = tensors.get(&value.name).ok_or_else(|| missing(value, tensors))?;
            let found = count(&value.spec, tensor).ok_or_else(|| other_shape(value, tensor))?;
            if !samples.inputs.is_empty() && found != samples.count {
                return Err(QuantizeError::OtherCount { name: value.name.clone(), found, wanted: samples.count });
            }
            samples.count = found;
            samples.inputs.push((value.spec.clone(), tensor));
        }
        samples.count = if graph.inputs.is_empty() { 1 } else { samples.count };
        Ok(samples)
    }

    /// The number of samples.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether the number of samples is 0.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The inputs of a sample, in the order of the signature.
    pub fn inputs(&self, sample: usize) -> Vec<TensorRef<'_>> {
        self.inputs.iter().map(|input| part(input, sample)).collect()
    }
}

fn part<'s>((spec, tensor): &'s (TensorSpec, &OwnedTensor), sample: usize) -> TensorRef<'s> {
    let start = sample * spec.nbytes();
    let bytes = tensor.bytes.get(start..start + spec.nbytes()).unwrap_or_default();
    TensorRef { scalar_type: spec.scalar_type, sizes: &spec.sizes, bytes }
}

/// The number of samples of a tensor: a single sample, or several along the first dimension.
fn count(spec: &TensorSpec, tensor: &OwnedTensor) -> Option<usize> {
    let rest = |sizes: &[i32]| sizes.get(1..).map(<[i32]>::to_vec);
    let same = tensor.sizes == spec.sizes;
    let stacked = tensor.sizes.len() == spec.sizes.len() && rest(&tensor.sizes) == rest(&spec.sizes);
    let fits = tensor.scalar_type == spec.scalar_type && (same || stacked) && spec.nbytes() > 0;
    let whole = fits && tensor.bytes.len().is_multiple_of(spec.nbytes()) && !tensor.bytes.is_empty();
    whole.then(|| tensor.bytes.len() / spec.nbytes())
}

fn missing(value: &Value, tensors: &Tensors) -> QuantizeError {
    QuantizeError::MissingInput { name: value.name.clone(), found: tensors.keys().cloned().collect() }
}

fn other_shape(value: &Value, tensor: &OwnedTensor) -> QuantizeError {
    let text = |scalar_type: et_core::ScalarType, sizes: &[i32]| format!("{} {sizes:?}", scalar_type.name());
    QuantizeError::OtherShape {
        name: value.name.clone(),
        found: text(tensor.scalar_type, &tensor.sizes),
        wanted: format!(
            "{}, or several samples along the first dimension",
            text(value.spec.scalar_type, &value.spec.sizes)
        ),
    }
}
