//! Numbers of 4 bits (E2M1) in groups of 32 with a power of two as the scale, of gpt-oss's experts: gate and up are one stack, whose
//! rows take turns.

use std::sync::Arc;

use et_core::ScalarType;

use super::affine::{REALS, typed};
use super::lanes::Lanes;
use super::{modules, optional, part};
use crate::config::Config;
use crate::encoded::{Encoded, Form};
use crate::shards::{Tensor, Tensors};
use crate::{CheckpointError, Decoder, ExpertNames, Storage, reals, small_floats};

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
        let ExpertNames { gate, up, down, .. } = ExpertNames::QWEN;
        experts.names = ExpertNames { gate, up, down, ..experts.names };
        experts.storage = Storage::Listed;
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

    fn decode(&self, first: usize, numbers: &mut [f32]) {
        let [start, step, groups] = self.place;
        for (row, numbers) in (first..).zip(numbers.chunks_exact_mut((groups * GROUP).max(GROUP))) {
            let stored = start + row * step;
            for (group, numbers) in numbers.chunks_exact_mut(GROUP).enumerate() {
                let index = stored * groups + group;
                let scale = small_floats::power(self.scales.byte(index));
                for (lane, pair) in numbers.chunks_exact_mut(2).enumerate() {
                    let code = self.codes.byte(index * BYTES + lane);
                    pair.copy_from_slice(&[code & 15, code >> 4].map(|code| small_floats::e2m1(code) * scale));
                }
            }
        }
    }
}
