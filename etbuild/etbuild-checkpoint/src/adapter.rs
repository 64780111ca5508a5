//! Low-rank adapters (Hu et al. 2021, LoRA) in the form of Hugging Face's PEFT: a configuration that says which layers of a model
//! they are over, and two matrices for each of these.

mod description;
mod expression;
mod targets;

use std::collections::BTreeMap;
use std::sync::Arc;

use etbuild_ir::Buffer;
use etbuild_weights::Tensor;

use crate::CheckpointError;
use crate::shards::Tensors;
use description::Description;

/// The configuration file of an adapter.
pub const ADAPTER_CONFIG: &str = "adapter_config.json";
/// The file with the tensors.
pub const ADAPTER_SHARD: &str = "adapter_model.safetensors";
/// The file with the tensors as PEFT wrote it before safetensors, with `torch.save`.
pub const PICKLED_ADAPTER: &str = "adapter_model.bin";

/// PEFT's prefix of the names of a model's modules.
const PREFIX: &str = "base_model.model.";

/// An adapter's files, in memory or mapped.
#[derive(Clone)]
pub struct AdapterFiles {
    /// The contents of [`ADAPTER_CONFIG`].
    pub config: Arc<dyn Buffer>,
    /// The name of the file with the tensors: [`ADAPTER_SHARD`] or [`PICKLED_ADAPTER`].
    pub name: &'static str,
    /// The contents of this file.
    pub shard: Arc<dyn Buffer>,
}

/// An adapter, which is asked for each layer of the model.
pub struct Adapter {
    description: Description,
    tensors: Tensors,
    /// The layers that the adapter was asked for, and whether the adapter covers each.
    asked: BTreeMap<String, bool>,
}

/// How an adapter is over a layer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Over {
    /// The elements between the two matrices.
    pub rank: usize,
    /// The factor of the product.
    pub factor: f64,
}

impl Adapter {
    /// Reads the configuration, and where the tensors lie.
    pub fn open(files: &AdapterFiles) -> Result<Self, Vec<CheckpointError>> {
        let description = Description::parse(files.config.bytes()).map_err(|error| vec![error])?;
        let shards = BTreeMap::from([(files.name.to_owned(), files.shard.clone())]);
        Ok(Self { description, tensors: Tensors::open(&shards)?, asked: BTreeMap::new() })
    }

    /// The adapter's matrices for the linear layer `module`, if covered.
    pub fn layer(&mut self, module: &str) -> Result<Option<Over>, CheckpointError> {
        let over = self.description.layer(module)?;
        self.asked.insert(module.to_owned(), over.is_some());
        Ok(over)
    }

    /// A matrix for a layer.
    pub fn take(&mut self, module: &str, matrix: &str, shape: &[usize]) -> Result<Tensor, CheckpointError> {
        self.tensors.take(&format!("{PREFIX}{module}.{matrix}.weight"), shape)
    }

    /// The mistake after every layer was asked for: the adapter covers no layer, or has tensors for other layers. PEFT may store the
    /// model's own weights beside the weights of an adapter over the head; both must be equal to the weights of the `model`.
    pub fn finish<'m>(&self, model: impl Fn(&str) -> Option<&'m Tensor>) -> Option<CheckpointError> {
        if !self.asked.values().any(|over| *over) {
            let known = self.asked.keys().next().cloned().unwrap_or_default();
            return Some(CheckpointError::AdapterTargets { known });
        }
        let is_of_model = |name: &str| {
            let own = name.strip_prefix(PREFIX).map(|name| name.replace(".base_layer.", "."));
            let pair = own.and_then(|own| Some((self.tensors.get(name)?, model(&own)?)));
            pair.is_some_and(|(stored, of_model)| stored.has_numbers_of(of_model))
        };
        let left = self.tensors.left(is_of_model);
        (!left.is_empty()).then_some(CheckpointError::AdapterTensors(left))
    }
}
