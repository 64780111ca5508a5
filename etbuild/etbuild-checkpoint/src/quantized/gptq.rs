//! GPTQ (Frantar et al. 2022): words of 4 or 8 bits along the columns, groups by column, zero points.

use etbuild_weights::{Affine, Lanes, Packing, Zeros};

use super::{REALS, WORDS, modules, optional, part, two_sizes, typed};
use crate::config::Config;
use crate::shards::Tensors;
use crate::{CheckpointError, Decoder};

pub fn add(config: &Config, _: &mut Decoder, tensors: &mut Tensors) -> Result<(), CheckpointError> {
    let bits = bits(config, "bits")?;
    // The first form of files stores zero points less one.
    let more = match config.optional_text("checkpoint_format")?.as_deref() {
        None | Some("gptq") => 1,
        Some("gptq_v2") => 0,
        Some(_) => return Err(config.unsupported("checkpoint_format", "`gptq`, `gptq_v2`")),
    };
    for module in modules(tensors, "qweight") {
        let [words, rows] = two_sizes(tensors, &module, "qweight")?;
        let [groups, _] = two_sizes(tensors, &module, "scales")?;
        let (lanes, columns) = (32 / bits, words * 32 / bits);
        let group = group_size(&module, columns, groups)?;
        let integers = typed(part(tensors, &module, "qweight", &[words, rows])?, &module, WORDS)?;
        let zeros = part(tensors, &module, "qzeros", &[groups, rows.div_ceil(lanes)])?;
        let scales = typed(part(tensors, &module, "scales", &[groups, rows])?, &module, REALS)?;
        let order = optional(tensors, &module, "g_idx").map(|order| typed(order, &module, WORDS)).transpose()?;
        let in_order = |order: &Lanes| (0..columns).all(|column| order.word(column) as usize == column / group);
        let order = order.filter(|order| order.count() == columns && !in_order(order));
        let matrix = Affine {
            name: "GPTQ",
            integers,
            bits,
            packing: Packing::Columns,
            scales,
            scales_by_row: false,
            zeros: Zeros::Packed(typed(zeros, &module, WORDS)?, more),
            groups: order,
            sizes: [rows, columns, group],
        };
        tensors.add_encoded(format!("{module}.weight"), vec![rows, columns], matrix.encoded())?;
    }
    Ok(())
}

/// The bits of an integer, of which words hold some.
pub fn bits(config: &Config, key: &str) -> Result<usize, CheckpointError> {
    match config.optional_size(key)? {
        Some(bits @ (4 | 8)) => Ok(bits),
        _ => Err(config.unsupported(key, "`4`, `8`")),
    }
}

/// The columns of a group, of which a row has `groups`.
pub fn group_size(module: &str, columns: usize, groups: usize) -> Result<usize, CheckpointError> {
    if groups > 0 && columns > 0 && columns.is_multiple_of(groups) {
        return Ok(columns / groups);
    }
    let (found, wanted) = (vec![groups], vec![columns]);
    Err(CheckpointError::Shape { tensor: format!("{module}.scales"), found, wanted })
}
