//! Numbers of 4 bits (E2M1) in groups of 32 with a power of two as the scale, of gpt-oss's experts: gate and up are one stack, whose
//! rows take turns.

use std::sync::Arc;

use et_core::ScalarType;
use etbuild_weights::{Encoded, Mxfp4, Tensor, reals};

use super::{REALS, modules, optional, part, typed};
use crate::config::Config;
use crate::shards::Tensors;
use crate::{CheckpointError, Decoder};

/// The bytes of a group.
const BYTES: usize = Mxfp4::BYTES;

pub fn add(_: &Config, decoder: &mut Decoder, tensors: &mut Tensors) -> Result<(), CheckpointError> {
    const STACKS: [(&str, &[&str]); 2] = [("gate_up_proj", &["gate_proj", "up_proj"]), ("down_proj", &["down_proj"])];
    for (stack, parts) in STACKS {
        for module in modules(tensors, &format!("{stack}_blocks")) {
            split(tensors, &module, stack, parts)?;
        }
    }
    if let Some(experts) = &mut decoder.experts {
        experts.list();
    }
    Ok(())
}

/// Adds the matrices and the biases of the parts of a stack, of which rows take turns.
fn split(tensors: &mut Tensors, module: &str, stack: &str, parts: &[&str]) -> Result<(), CheckpointError> {
    let blocks = format!("{module}.{stack}_blocks");
    let found = tensors.get(&blocks).map(|tensor| tensor.shape.clone()).unwrap_or_default();
    let [count, all, groups, BYTES] = found[..] else {
        return Err(CheckpointError::Shape { tensor: blocks, found, wanted: vec![0, 0, 0, BYTES] });
    };
    let bytes = &[ScalarType::Byte];
    let codes = typed(part(tensors, module, &format!("{stack}_blocks"), &found)?, module, bytes)?;
    let scales = typed(part(tensors, module, &format!("{stack}_scales"), &[count, all, groups])?, module, bytes)?;
    let bias =
        optional(tensors, module, &format!("{stack}_bias")).map(|bias| typed(bias, module, REALS)).transpose()?;
    let (rows, columns) = (all / parts.len(), groups * Mxfp4::GROUP);
    for (turn, name) in parts.iter().enumerate() {
        for expert in 0..count {
            let place = [expert * all + turn, parts.len(), groups];
            let form = Arc::new(Mxfp4 { codes: codes.clone(), scales: scales.clone(), place, rows });
            let name = format!("{module}.{expert}.{name}.weight");
            tensors.add_encoded(name, vec![rows, columns], Encoded { form, columns })?;
        }
        if let Some(bias) = bias.as_ref().filter(|bias| bias.count() == count * all) {
            let shard = Arc::new(reals::stored(&bias.reals(turn, parts.len())));
            let tensor = Tensor { scalar_type: ScalarType::Float, shape: vec![count, rows], shard, start: 0 };
            tensors.add(format!("{module}.{name}.bias"), tensor)?;
        }
    }
    Ok(())
}
