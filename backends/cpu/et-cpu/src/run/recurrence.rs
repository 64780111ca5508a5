//! Recurrences and short convolutions.
#![allow(unsafe_code, reason = "tasks write disjoint rows of one state")]

use et_core::{Error, Result};
use et_kernels::recurrence::{self, Before, Rule, Sizes, step_rows};
use et_kernels::short_convolution::{self, ShortConvolution};

use crate::run::conv2d::LEAST;
use crate::run::text::positions;
use crate::split::{self, Chunks, Context, Elements, count};
use crate::{ConvCache, Recurrence};

/// Executes a recurrence.
pub fn run(context: &Context<'_, '_, '_>, fields: &Recurrence) -> Result<()> {
    let [rows, heads, groups, depth, width] = fields.sizes.map(|size| size as usize);
    let sizes = Sizes { rows, heads, groups, depth, width };
    let mut operands = context.memory.operands();
    let [start, last] = [fields.piece.start, fields.piece.last].map(|place| operands.read::<i64>(place, 1));
    let (start, last) = (start?[0], last?[0]);
    let tokens = last.checked_add(1).and_then(|tokens| usize::try_from(tokens).ok());
    let tokens = tokens.filter(|tokens| *tokens <= rows && start >= 0).ok_or(Error::InvalidArgument)?;
    let (of_rows, elements) = (count(&[rows, heads])?, count(&[heads, depth, width])?);
    let keys = count(&[rows, groups, width])?;
    let shares = operands.read_present(fields.shares, of_rows)?;
    let skips = operands.read_present(fields.skips, heads)?;
    let before = match start {
        0 => Before::Zeros,
        _ if operands.are_one(fields.before, *fields.behind)? => Before::InPlace,
        _ => Before::State(operands.read(fields.before, elements)?),
    };
    let recurrence = recurrence::Recurrence {
        sizes,
        tokens,
        rule: shares.map_or(Rule::Scan { skips }, |shares| Rule::Delta { shares }),
        values: operands.read(fields.values, count(&[of_rows, depth])?)?,
        keys: operands.read(fields.keys, keys)?,
        queries: operands.read(fields.queries, keys)?,
        steps: operands.read(fields.steps, of_rows)?,
        biases: operands.read_present(fields.biases, heads)?,
        rates: operands.read(fields.rates, count(&[heads, fields.rates_of_head as usize])?)?,
        before,
    };
    let behind = operands.write::<f32>(*fields.behind, elements)?;
    let output = operands.write::<f32>(*fields.output, recurrence.values.len())?;
    let (level, state_rows) = (context.level, sizes.state_rows());
    let (behind, output) = (Elements::new(&behind), Elements::new(&output));
    let (to_behind, to_output) = (elements, recurrence.values.len());
    let work = elements.saturating_mul(tokens.max(1));
    split::tasks(context, Chunks::new(context, work, LEAST).at_most(state_rows), |chunk| {
        let behind = core::ptr::slice_from_raw_parts_mut(behind.start(), to_behind);
        let output = core::ptr::slice_from_raw_parts_mut(output.start(), to_output);
        // SAFETY: the written tensors overlap no operand, and tasks have disjoint rows of the state.
        unsafe { step_rows(level, &recurrence, output, behind, chunk.range(state_rows)) }
    })
}

/// Executes a short convolution.
pub fn convolve(context: &Context<'_, '_, '_>, fields: &ConvCache) -> Result<()> {
    let [rows, channels, length, slots] = fields.sizes.map(|size| size as usize);
    let mut operands = context.memory.operands();
    let (start, last) = positions(&mut operands, &fields.piece, rows)?;
    let work = ShortConvolution {
        rows: operands.read(fields.rows, count(&[rows, channels])?)?,
        cache: operands.read(fields.cache, count(&[slots, channels])?)?,
        weights: operands.read(fields.weights, count(&[length, channels])?)?,
        bias: operands.read_present(fields.bias, channels)?,
        channels,
        span: [start, last],
    };
    let output = operands.write::<f32>(*fields.output, work.rows.len())?;
    let (level, least) = (context.level, LEAST / count(&[length, channels])?.max(1) + 1);
    split::runs(context, output, channels, least, |range, output, _| {
        short_convolution::convolve(level, &work, range, output)
    })
}
