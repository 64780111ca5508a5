//! AWQ (Lin et al. 2023): words of 4 bits along the rows, in the order of a GEMM kernel, groups of columns, zero points.

use etbuild_weights::{Affine, Packing, Zeros};

use super::gptq::group_size;
use super::{REALS, WORDS, modules, part, two_sizes, typed};
use crate::config::Config;
use crate::shards::Tensors;
use crate::{CheckpointError, Decoder};

/// The integers of a word.
const LANES: usize = 8;

pub fn add(config: &Config, _: &mut Decoder, tensors: &mut Tensors) -> Result<(), CheckpointError> {
    if config.optional_size("bits")?.or(config.optional_size("w_bit")?) != Some(4) {
        return Err(config.unsupported("bits", "`4`"));
    }
    if config.optional_text("version")?.is_some_and(|version| !version.eq_ignore_ascii_case("gemm")) {
        return Err(config.unsupported("version", "`gemm`"));
    }
    for module in modules(tensors, "qweight") {
        let [columns, words] = two_sizes(tensors, &module, "qweight")?;
        let [groups, rows] = two_sizes(tensors, &module, "scales")?;
        let group = group_size(&module, columns, groups)?;
        if words * LANES != rows {
            let (found, wanted) = (vec![columns, words], vec![columns, rows / LANES]);
            return Err(CheckpointError::Shape { tensor: format!("{module}.qweight"), found, wanted });
        }
        let integers = typed(part(tensors, &module, "qweight", &[columns, words])?, &module, WORDS)?;
        let zeros = typed(part(tensors, &module, "qzeros", &[groups, words])?, &module, WORDS)?;
        let scales = typed(part(tensors, &module, "scales", &[groups, rows])?, &module, REALS)?;
        let matrix = Affine {
            name: "AWQ",
            integers,
            bits: 4,
            packing: Packing::RowsInTurns,
            scales,
            scales_by_row: false,
            zeros: Zeros::InTurns(zeros),
            groups: None,
            sizes: [rows, columns, group],
        };
        tensors.add_encoded(format!("{module}.weight"), vec![rows, columns], matrix.encoded())?;
    }
    Ok(())
}
