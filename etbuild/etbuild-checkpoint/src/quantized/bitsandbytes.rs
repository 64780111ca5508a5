//! Checkpoints of the library bitsandbytes: 4-bit codes of a table (NF4, FP4) in blocks of a flattened matrix, or signed bytes with a
//! scale for each row.

use std::sync::Arc;

use et_core::ScalarType;
use etbuild_weights::{Affine, Codes, Encoded, Lanes, Nested, Packing, Tensor, Zeros, reals};
use serde_json::Value;

use super::{REALS, modules, optional, part, two_sizes, typed};
use crate::config::Config;
use crate::shards::Tensors;
use crate::{CheckpointError, Decoder};

/// The ending of the description of a matrix with 4-bit codes.
const STATES: [&str; 2] = ["weight.quant_state.bitsandbytes__nf4", "weight.quant_state.bitsandbytes__fp4"];

/// Codes of 4 bits stand for numbers of a table; signed bytes are integers.
pub fn stores_integers(config: &Config) -> bool {
    config.optional_flag("load_in_8bit").is_ok_and(|flag| flag == Some(true))
}

pub fn add(_: &Config, _: &mut Decoder, tensors: &mut Tensors) -> Result<(), CheckpointError> {
    for ending in STATES {
        for module in modules(tensors, ending) {
            codes(tensors, &module, ending)?;
        }
    }
    modules(tensors, "SCB").iter().try_for_each(|module| bytes(tensors, module))
}

/// Signed bytes, whose scales are the largest magnitudes of the rows.
fn bytes(tensors: &mut Tensors, module: &str) -> Result<(), CheckpointError> {
    let [rows, columns] = two_sizes(tensors, module, "weight")?;
    let most = typed(part(tensors, module, "SCB", &[rows])?, module, REALS)?;
    optional(tensors, module, "weight_format");
    let scales: Vec<f32> = most.reals(0, 1).iter().map(|most| most / 127.0).collect();
    let scales = reals::stored(&scales);
    let scales = Tensor { scalar_type: ScalarType::Float, shape: vec![rows, 1], shard: Arc::new(scales), start: 0 };
    let matrix = Affine {
        name: "int8 of bitsandbytes",
        integers: typed(part(tensors, module, "weight", &[rows, columns])?, module, &[ScalarType::Char])?,
        bits: 8,
        packing: Packing::Bytes,
        scales: Lanes(scales),
        scales_by_row: true,
        zeros: Zeros::Same(0),
        groups: None,
        sizes: [rows, columns, columns],
    };
    tensors.add_encoded(format!("{module}.weight"), vec![rows, columns], matrix.encoded())
}

/// Codes of a table, with the largest magnitude of each block, which may be codes of another table.
fn codes(tensors: &mut Tensors, module: &str, ending: &str) -> Result<(), CheckpointError> {
    let malformed = |reason: &str| CheckpointError::ShardMalformed {
        shard: format!("{module}.{ending}"),
        reason: reason.to_owned(),
    };
    let state = optional(tensors, module, ending).map(Lanes).ok_or_else(|| malformed("it is missing"))?;
    let state: Value = serde_json::from_slice(state.bytes()).map_err(|error| malformed(&error.to_string()))?;
    let size = |value: &Value| value.as_u64().and_then(|size| usize::try_from(size).ok()).filter(|size| *size > 0);
    let shape: Option<Vec<usize>> =
        state.get("shape").and_then(Value::as_array).and_then(|shape| shape.iter().map(size).collect());
    let Some([rows, columns]) = shape.as_deref().and_then(|shape| <[usize; 2]>::try_from(shape).ok()) else {
        return Err(malformed("it states no shape of two sizes"));
    };
    let block = state.get("blocksize").and_then(size).ok_or_else(|| malformed("it states no size of blocks"))?;
    let count = rows.checked_mul(columns).ok_or_else(|| malformed("its shape is too large"))?;
    let stored =
        tensors.remove(&format!("{module}.weight")).map(Lanes).ok_or_else(|| malformed("its weights are missing"))?;
    if stored.0.scalar_type != ScalarType::Byte || stored.count() != count.div_ceil(2) {
        let (found, wanted) = (stored.0.shape, vec![count.div_ceil(2), 1]);
        return Err(CheckpointError::Shape { tensor: format!("{module}.weight"), found, wanted });
    }
    let table = typed(part(tensors, module, "weight.quant_map", &[16])?, module, REALS)?;
    let most = tensors
        .remove(&format!("{module}.weight.absmax"))
        .map(Lanes)
        .ok_or_else(|| malformed("its scales are missing"))?;
    if most.count() != count.div_ceil(block) {
        return Err(malformed("its scales are of another number"));
    }
    let nested = match most.0.scalar_type {
        ScalarType::Byte => Some(Nested {
            table: typed(part(tensors, module, "weight.nested_quant_map", &[256])?, module, REALS)?,
            most: tensors
                .remove(&format!("{module}.weight.nested_absmax"))
                .map(Lanes)
                .ok_or_else(|| malformed("it has no `nested_absmax`"))?,
            block: state
                .get("nested_blocksize")
                .and_then(size)
                .ok_or_else(|| malformed("it has no `nested_blocksize`"))?,
            offset: state.get("nested_offset").and_then(Value::as_f64).unwrap_or(0.0) as f32,
        }),
        _ => None,
    };
    let form = Arc::new(Codes { stored, table, most, nested, block, columns });
    tensors.add_encoded(format!("{module}.weight"), vec![rows, columns], Encoded { form, columns })
}
