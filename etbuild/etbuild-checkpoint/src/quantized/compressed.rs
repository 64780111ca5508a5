//! Checkpoints of the library compressed-tensors: packed or whole integers, and numbers of 8 bits.

use et_core::ScalarType;
use etbuild_weights::{Affine, Lanes, Packing, Zeros};

use super::gptq::{bits, group_size};
use super::{REALS, WORDS, fp8, modules, optional, part, two_sizes, typed};
use crate::config::Config;
use crate::shards::Tensors;
use crate::{CheckpointError, Decoder};

/// The key of the form of the weights.
const FORMAT: &str = "format";

/// All but FP8.
pub fn stores_integers(config: &Config) -> bool {
    config.optional_text(FORMAT).is_ok_and(|format| format.is_some_and(|format| format != "float-quantized"))
}

pub fn add(config: &Config, _: &mut Decoder, tensors: &mut Tensors) -> Result<(), CheckpointError> {
    match config.optional_text(FORMAT)?.as_deref() {
        Some("pack-quantized") => packed(config, tensors),
        Some("int-quantized" | "naive-quantized") => whole(tensors),
        Some("float-quantized") => fp8::scaled(tensors, "weight_scale"),
        _ => Err(config.unsupported(FORMAT, "`pack-quantized`, `int-quantized`, `naive-quantized`, `float-quantized`")),
    }
}

/// The bits of the weights, which all groups of modules share.
fn bits_of(config: &Config) -> Result<usize, CheckpointError> {
    let groups = config.optional_map("config_groups")?;
    let mut found = None;
    if let Some(groups) = &groups {
        for name in groups.keys() {
            let weights = groups.optional_map(name)?.map(|group| group.optional_map("weights")).transpose()?.flatten();
            let Some(weights) = weights else { continue };
            let bits = bits(&weights, "num_bits")?;
            if found.is_some_and(|found| found != bits) {
                return Err(weights.unsupported("num_bits", "the same number for all modules"));
            }
            found = Some(bits);
        }
    }
    found.ok_or_else(|| config.mistake("config_groups", "names no weights"))
}

/// Words along the columns, of integers that are greater by half of their range.
fn packed(config: &Config, tensors: &mut Tensors) -> Result<(), CheckpointError> {
    let bits = bits_of(config)?;
    for module in modules(tensors, "weight_packed") {
        let [rows, words] = two_sizes(tensors, &module, "weight_packed")?;
        let [_, groups] = two_sizes(tensors, &module, "weight_scale")?;
        let lanes = 32 / bits;
        // The shape is known for columns that do not fill the last word.
        let shape = optional(tensors, &module, "weight_shape").map(Lanes);
        let stated = shape.filter(|shape| shape.0.scalar_type == ScalarType::Long && shape.count() == 2);
        let stated = stated.map(|shape| shape.word(2) as usize);
        let columns = stated.filter(|columns| columns.div_ceil(lanes) == words).unwrap_or(words * lanes);
        let group = group_size(&module, columns, groups)?;
        let integers = typed(part(tensors, &module, "weight_packed", &[rows, words])?, &module, WORDS)?;
        let scales = typed(part(tensors, &module, "weight_scale", &[rows, groups])?, &module, REALS)?;
        let zeros = optional(tensors, &module, "weight_zero_point").map(|zeros| typed(zeros, &module, WORDS));
        let order = optional(tensors, &module, "weight_g_idx").map(|order| typed(order, &module, WORDS)).transpose()?;
        let in_order = |order: &Lanes| (0..columns).all(|column| order.word(column) as usize == column / group);
        let zeros = zeros.transpose()?.filter(|zeros| zeros.count() == rows.div_ceil(lanes) * groups);
        let matrix = Affine {
            name: "pack-quantized",
            integers,
            bits,
            packing: Packing::Rows,
            scales,
            scales_by_row: true,
            // Stored zero points are greater by the same as the integers.
            zeros: zeros.map_or(Zeros::Same(1 << (bits - 1)), Zeros::ByRow),
            groups: order.filter(|order| order.count() == columns && !in_order(order)),
            sizes: [rows, columns, group],
        };
        tensors.add_encoded(format!("{module}.weight"), vec![rows, columns], matrix.encoded())?;
    }
    Ok(())
}

/// Signed bytes with scales of rows or of groups.
fn whole(tensors: &mut Tensors) -> Result<(), CheckpointError> {
    for module in modules(tensors, "weight_scale") {
        let [rows, columns] = two_sizes(tensors, &module, "weight")?;
        let scales = optional(tensors, &module, "weight_scale").map(|scales| typed(scales, &module, REALS));
        let scales = scales.transpose()?.ok_or_else(|| CheckpointError::TensorMissing(module.clone()))?;
        let of_row = scales.count().checked_div(rows).filter(|count| count * rows == scales.count()).unwrap_or(0);
        let group = group_size(&module, columns, of_row)?;
        let integers = typed(part(tensors, &module, "weight", &[rows, columns])?, &module, &[ScalarType::Char])?;
        let matrix = Affine {
            name: "int-quantized",
            integers,
            bits: 8,
            packing: Packing::Bytes,
            scales,
            scales_by_row: true,
            zeros: Zeros::Same(0),
            groups: None,
            sizes: [rows, columns, group],
        };
        tensors.add_encoded(format!("{module}.weight"), vec![rows, columns], matrix.encoded())?;
    }
    Ok(())
}
