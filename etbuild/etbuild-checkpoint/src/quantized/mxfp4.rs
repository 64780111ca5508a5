//! Numbers of 4 bits (E2M1) in groups of 32 with a power of two as the scale, of gpt-oss's experts: gate and up are one stack, whose
//! rows take turns.

use std::sync::Arc;

use et_core::ScalarType;

use super::affine::{REALS, typed};
use super::lanes::Lanes;
use super::{modules, optional, part};
use crate::config::Config;
use crate::encoded::{Encoded, Form, Grid, Split};
use crate::shards::{Tensor, Tensors};
use crate::{CheckpointError, Decoder, reals, small_floats};

/// The elements of a group.
const GROUP: usize = 32;
/// The bytes of a group.
const BYTES: usize = 16;

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
    let (rows, columns) = (all / parts.len(), groups * GROUP);
    for (turn, name) in parts.iter().enumerate() {
        for expert in 0..count {
            let place = [expert * all + turn, parts.len(), groups];
            let form = Arc::new(Turns { codes: codes.clone(), scales: scales.clone(), place, rows });
            let name = format!("{module}.{expert}.{name}.weight");
            tensors.add_encoded(name, vec![rows, columns], Encoded { form, columns })?;
        }
        if let Some(bias) = bias.as_ref().filter(|bias| bias.count() == count * all) {
            let own = (0..count * all).skip(turn).step_by(parts.len()).map(|index| bias.real(index));
            let shard = Arc::new(reals::stored(own));
            let tensor = Tensor { scalar_type: ScalarType::Float, shape: vec![count, rows], shard, start: 0 };
            tensors.add(format!("{module}.{name}.bias"), tensor)?;
        }
    }
    Ok(())
}

/// Some rows of a stack.
struct Turns {
    codes: Lanes,
    scales: Lanes,
    /// The first row, the distance of rows, and the groups of a row.
    place: [usize; 3],
    rows: usize,
}

impl Turns {
    /// The groups of the rows from a row on, by their place in the stack.
    fn groups_from(&self, row: usize) -> impl Iterator<Item = usize> + '_ {
        let [start, step, groups] = self.place;
        (row..self.rows).flat_map(move |row| (start + row * step) * groups..(start + row * step + 1) * groups)
    }

    /// The scale of a group's integers.
    fn scale(&self, group: usize) -> f32 {
        small_floats::power(self.scales.byte(group)) / 2.0
    }

    /// Twice the numbers of a group's codes.
    fn integers(&self, group: usize) -> impl Iterator<Item = i8> + '_ {
        let codes = (0..BYTES).map(move |lane| self.codes.byte(group * BYTES + lane));
        codes.flat_map(|code| [code & 15, code >> 4]).map(small_floats::twice_e2m1)
    }
}

impl Form for Turns {
    fn name(&self) -> &'static str {
        "MXFP4"
    }

    fn identity(&self) -> String {
        let Self { codes, scales, place: [first, step, groups], rows } = self;
        // The digest of an expert's rows, and not that of the stack for each expert.
        let range = |lanes: &Lanes, width: usize| {
            let bytes = lanes.bytes().get(first * width..).unwrap_or_default();
            etbuild_ir::Digest::of(bytes.get(..rows * step * width).unwrap_or(bytes))
        };
        format!("{} {} {step} {groups}", range(codes, groups * BYTES), range(scales, *groups))
    }

    /// The numbers are halves of integers.
    fn grid(&self) -> Option<Grid> {
        Some(Grid::signed(8, GROUP))
    }

    fn split(&self, first: usize, parts: &mut Split<'_>) {
        let integers = parts.integers.chunks_exact_mut(GROUP).zip(parts.scales.iter_mut());
        for (group, (integers, scale)) in self.groups_from(first).zip(integers) {
            *scale = self.scale(group);
            integers.iter_mut().zip(self.integers(group)).for_each(|(place, integer)| *place = integer);
        }
    }
}
