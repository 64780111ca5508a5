//! Numbers of 8 bits (E4M3) with one scale, a scale for each row, or a scale for each block of rows and columns.

use std::sync::Arc;

use et_core::ScalarType;
use etbuild_weights::{Encoded, Fp8};

use super::{REALS, modules, optional, part, two_sizes, typed};
use crate::config::Config;
use crate::shards::Tensors;
use crate::{CheckpointError, Decoder};

/// Endings of scales: the factor of the numbers, whatever the name says.
const SCALES: [&str; 2] = ["weight_scale_inv", "weight_scale"];

pub fn add(config: &Config, _: &mut Decoder, tensors: &mut Tensors) -> Result<(), CheckpointError> {
    if config.optional_text("fmt")?.is_some_and(|format| format != "e4m3") {
        return Err(config.unsupported("fmt", "`e4m3`"));
    }
    let blocks = config.optional_counts("weight_block_size")?;
    let block = match blocks.as_deref() {
        None => None,
        Some([rows, columns]) if *rows > 0 && *columns > 0 => Some([*rows, *columns]),
        Some(_) => return Err(config.unsupported("weight_block_size", "two sizes")),
    };
    SCALES.iter().try_for_each(|ending| matrices(tensors, ending, block))
}

/// The matrices with scales of this ending.
pub fn scaled(tensors: &mut Tensors, ending: &str) -> Result<(), CheckpointError> {
    matrices(tensors, ending, None)
}

fn matrices(tensors: &mut Tensors, ending: &str, block: Option<[usize; 2]>) -> Result<(), CheckpointError> {
    for module in modules(tensors, ending) {
        let [rows, columns] = two_sizes(tensors, &module, "weight")?;
        let found = optional(tensors, &module, ending).map(|scales| typed(scales, &module, REALS)).transpose()?;
        let scales = found.ok_or_else(|| CheckpointError::TensorMissing(format!("{module}.{ending}")))?;
        let block =
            block.unwrap_or(if scales.count() == 1 { [rows, columns] } else { [1, columns] }).map(|size| size.max(1));
        let wanted = [rows.div_ceil(block[0]), columns.div_ceil(block[1])];
        if scales.count() != wanted[0] * wanted[1] {
            let (found, wanted) = (scales.0.shape, wanted.to_vec());
            return Err(CheckpointError::Shape { tensor: format!("{module}.{ending}"), found, wanted });
        }
        let codes = typed(part(tensors, &module, "weight", &[rows, columns])?, &module, &[ScalarType::Byte])?;
        let form = Arc::new(Fp8 { codes, scales, block, columns });
        tensors.add_encoded(format!("{module}.weight"), vec![rows, columns], Encoded { form, columns })?;
    }
    Ok(())
}
