//! Quantized checkpoints in Hugging Face's layout: `quantization_config` says how several tensors of a module make its matrix.
//!
//! A method finds the modules by the names of their tensors, and adds the matrix of each under the name of a plain one.

mod awq;
mod bitsandbytes;
mod compressed;
mod fp8;
mod gptq;
mod mlx;
mod mxfp4;
mod place;
mod tiles;
mod torchao;

use std::collections::BTreeSet;

use et_core::ScalarType;
use etbuild_weights::{Lanes, Tensor};

use crate::config::Config;
use crate::shards::Tensors;
use crate::{CheckpointError, Decoder};

pub use torchao::assemble;

/// The key of the configuration.
pub const KEY: &str = "quantization_config";

/// A method of quantization.
pub struct Method {
    /// The value of `quant_method`.
    pub name: &'static str,
    /// Adds the matrices of all modules, and changes the description to fit.
    pub add: fn(&Config, &mut Decoder, &mut Tensors) -> Result<(), CheckpointError>,
    /// Whether a configuration says that weights are integers, with scales.
    pub stores_integers: fn(&Config) -> bool,
}

/// Every supported method.
const METHODS: &[Method] = &[
    Method { name: "awq", add: awq::add, stores_integers: always },
    Method { name: "bitsandbytes", add: bitsandbytes::add, stores_integers: bitsandbytes::stores_integers },
    Method { name: "compressed-tensors", add: compressed::add, stores_integers: compressed::stores_integers },
    Method { name: "fbgemm_fp8", add: fp8::add, stores_integers: never },
    Method { name: "fp8", add: fp8::add, stores_integers: never },
    Method { name: "gptq", add: gptq::add, stores_integers: always },
    Method { name: "mxfp4", add: mxfp4::add, stores_integers: always },
    Method { name: "torchao", add: torchao::add, stores_integers: torchao::stores_integers },
];

/// MLX's, which has a key of its own and no name.
const MLX: Method = Method { name: "mlx", add: mlx::add, stores_integers: always };

const fn always(_: &Config) -> bool {
    true
}

const fn never(_: &Config) -> bool {
    false
}

/// Whether the configuration is that of a checkpoint whose matrices are integers in groups.
pub fn stores_integers(config: &Config) -> bool {
    let found = method(config).ok().flatten();
    found.is_some_and(|(of, method)| (method.stores_integers)(&of))
}

/// The method of a configuration, if any.
///
/// # Errors
/// A method that is not known.
pub fn method(config: &Config) -> Result<Option<(Config, &'static Method)>, CheckpointError> {
    let (of, of_mlx) = (config.optional_map(KEY)?, config.optional_map(mlx::KEY)?);
    let name = of.as_ref().map(|of| of.optional_text("quant_method")).transpose()?.flatten();
    // MLX writes the same map under both keys.
    if let Some(of_mlx) = of_mlx.filter(|_| name.is_none()) {
        return Ok(Some((of_mlx, &MLX)));
    }
    let (Some(of), name) = (of, name.unwrap_or_default()) else { return Ok(None) };
    match METHODS.iter().find(|method| method.name == name) {
        Some(method) => Ok(Some((of, method))),
        None => {
            let known: Vec<String> = METHODS.iter().map(|method| format!("`{}`", method.name)).collect();
            Err(of.unsupported("quant_method", known.join(", ")))
        }
    }
}

/// The modules with a tensor of this ending.
fn modules(tensors: &Tensors, ending: &str) -> Vec<String> {
    let names = tensors.names().filter_map(|name| name.strip_suffix(ending)?.strip_suffix('.'));
    names.map(str::to_owned).collect::<BTreeSet<String>>().into_iter().collect()
}

/// Takes a tensor of a module out, which must have this shape.
fn part(tensors: &mut Tensors, module: &str, ending: &str, shape: &[usize]) -> Result<Tensor, CheckpointError> {
    let name = format!("{module}.{ending}");
    let tensor = tensors.remove(&name).ok_or_else(|| CheckpointError::TensorMissing(name.clone()))?;
    if tensor.shape == shape {
        return Ok(tensor);
    }
    Err(CheckpointError::Shape { tensor: name, found: tensor.shape, wanted: shape.to_vec() })
}

/// Takes a tensor of a module out, if present.
fn optional(tensors: &mut Tensors, module: &str, ending: &str) -> Option<Tensor> {
    tensors.remove(&format!("{module}.{ending}"))
}

/// The shape of a tensor of a module: two sizes.
fn two_sizes(tensors: &Tensors, module: &str, ending: &str) -> Result<[usize; 2], CheckpointError> {
    let name = format!("{module}.{ending}");
    let tensor = tensors.get(&name).ok_or_else(|| CheckpointError::TensorMissing(name.clone()))?;
    let wanted = || CheckpointError::Shape { tensor: name.clone(), found: tensor.shape.clone(), wanted: vec![0, 0] };
    tensor.shape[..].try_into().map_err(|_| wanted())
}

/// The types of scales.
const REALS: &[ScalarType] = &[ScalarType::Float, ScalarType::Half, ScalarType::BFloat16];
/// The type of words.
const WORDS: &[ScalarType] = &[ScalarType::Int];

/// The elements of a tensor of a module, which must have one of these types.
fn typed(tensor: Tensor, module: &str, types: &[ScalarType]) -> Result<Lanes, CheckpointError> {
    if types.contains(&tensor.scalar_type) {
        return Ok(Lanes(tensor));
    }
    Err(CheckpointError::ElementType { tensor: module.to_owned(), found: tensor.scalar_type.name() })
}
