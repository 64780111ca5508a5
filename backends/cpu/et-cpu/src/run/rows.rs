//! Operators on matrix rows: softmax, normalization, means, dynamic quantization and dequantization.
#![allow(unsafe_code, reason = "tasks write disjoint rows of two results")]

use et_core::{Error, Result};
use et_gemm::{FloatRows, Mapping, RowScale, quantize_rows};
use et_kernels::normalize::{Normalization, normalize as normalize_rows};
use et_kernels::pool::{Divisor, average_pool_bytes};
use et_kernels::quantized::{self, Quantization};
use et_kernels::softmax::softmax as softmax_rows;
use et_kernels::topk::{Groups, topk as best_of_rows, topk_within as best_of_groups};
use et_kernels::window::{Image, Window};

use crate::memory::Operands;
use crate::run::attention::numbers;
use crate::run::window::quantization;
use crate::split::{self, Chunks, Context, Elements, count};
use crate::{DequantizeRows, Mean, Normalize, QuantizeRows, Rows, Softmax, TopK, TopKWithin};

/// The minimum elements of a task of softmax and normalization.
const LEAST: usize = 1 << 13;
/// The minimum elements of a task of quantization.
const LEAST_QUANTIZED: usize = 1 << 14;
/// The minimum elements of a task that finds the greatest of each row.
const LEAST_ORDERED: usize = 1 << 11;

/// Softmax of each row.
pub fn softmax(context: &Context<'_, '_, '_>, fields: &Softmax) -> Result<()> {
    let Softmax { input, output, rows, columns } = fields;
    let (level, operands) = (context.level, context.memory.operands());
    dense_rows(context, operands, [*input, **output], [*rows, *columns], |input, output, columns| {
        softmax_rows(level, input, output, columns)
    })
}

/// The kernel's normalization: LayerNorm or RMSNorm.
pub fn normalization<'m>(fields: &Normalize, operands: &mut Operands<'m, '_, '_>) -> Result<Normalization<'m>> {
    let (weight, bias) = (operands.read_optional(fields.weight)?, operands.read_optional(fields.bias)?);
    Ok(Normalization { centered: fields.centered, epsilon: fields.epsilon, weight, bias })
}

/// LayerNorm or RMSNorm of each row.
pub fn normalize(context: &Context<'_, '_, '_>, fields: &Normalize) -> Result<()> {
    let (level, mut operands) = (context.level, context.memory.operands());
    let normalization = normalization(fields, &mut operands)?;
    let Normalize { input, output, rows, columns, .. } = fields;
    dense_rows(context, operands, [*input, **output], [*rows, *columns], |input, output, columns| {
        normalize_rows(level, input, &normalization, output, columns)
    })
}

/// Partitions contiguous f32 rows among tasks. Fails for other row strides. All other operands must be read before this call.
fn dense_rows(
    context: &Context<'_, '_, '_>,
    mut operands: Operands<'_, '_, '_>,
    [from, to]: [Rows; 2],
    sizes: [u32; 2],
    kernel: impl Fn(&[f32], &mut [f32], usize) -> Result<()> + Sync,
) -> Result<()> {
    let [rows, columns] = sizes.map(|size| size as usize);
    if rows > 1 && [from.stride, to.stride] != [sizes[1]; 2] {
        return Err(Error::InvalidProgram);
    }
    let input = operands.read::<f32>(from.place, count(&[rows, columns])?)?;
    let output = operands.write::<f32>(to.place, input.len())?;
    split::runs(context, output, columns, LEAST / columns.max(1), |rows, output, _| {
        kernel(&input[rows.start * columns..rows.end * columns], output, columns)
    })
}

/// The mean over the middle dimension.
pub fn mean(context: &Context<'_, '_, '_>, fields: &Mean) -> Result<()> {
    let sizes @ [outer, reduced, inner] = fields.sizes.map(|size| size as usize);
    let (elements, means) = (count(&sizes)?, count(&[outer, inner])?);
    let mut operands = context.memory.operands();
    if fields.from.is_int8() {
        if !cfg!(feature = "byte-pools") {
            return Err(Error::NotSupported);
        }
        let input = operands.read::<i8>(fields.input, elements)?;
        let output = operands.write::<i8>(*fields.output, means)?.slice();
        return mean_of_bytes(context, fields, input, output);
    }
    let input = operands.read::<f32>(fields.input, elements)?;
    let output = operands.write::<f32>(*fields.output, means)?.slice();
    et_kernels::mean::mean(context.level, input, [outer, reduced, inner], output)
}

/// The int8 mean: average pooling with a window of the image's shape.
fn mean_of_bytes(context: &Context<'_, '_, '_>, fields: &Mean, input: &[i8], output: &mut [i8]) -> Result<()> {
    let [_, reduced, channels] = fields.sizes.map(|size| size as usize);
    let (from, to) = (quantization(fields.from), quantization(fields.to));
    let (shape, divisor) = ([1, reduced], Divisor::Fixed(reduced as f32));
    let window =
        Window { input: shape, output: [1; 2], kernel: shape, stride: [1; 2], padding: [0; 2], dilation: [1; 2] };
    let images = input.chunks_exact((reduced * channels).max(1)).zip(output.chunks_exact_mut(channels.max(1)));
    images.into_iter().try_for_each(|(input, output)| {
        let image = Image { window: &window, channels, input, rows: 0..1, output };
        average_pool_bytes(context.level, image, from, divisor, to)
    })
}

/// The greatest or least elements of each row.
pub fn topk(context: &Context<'_, '_, '_>, fields: &TopK) -> Result<()> {
    let wanted = fields.count as usize;
    each_row(context, context.memory.operands(), fields, |input, columns, results, _| {
        best_of_rows(input, columns, fields.is_largest, results, wanted)
    })
}

/// The greatest elements of each row, from the best groups.
pub fn topk_within(context: &Context<'_, '_, '_>, fields: &TopKWithin) -> Result<()> {
    let (groups, wanted) = (groups(fields), fields.rows.count as usize);
    let mut operands = context.memory.operands();
    let biases = operands.read_present::<f32>(fields.biases, fields.rows.sizes[1] as usize)?.unwrap_or_default();
    each_row(context, operands, &fields.rows, |input, columns, results, scratch| {
        best_of_groups(input, (biases, groups), results, wanted, scratch, columns)
    })
}

fn groups(fields: &TopKWithin) -> Groups {
    let [count, kept, judged] = [fields.groups, fields.kept, fields.judged].map(|number| number as usize);
    Groups { count, kept, judged }
}

/// The workspace size per thread, in bytes.
pub fn workspace(fields: &TopKWithin) -> usize {
    groups(fields).scratch(fields.rows.sizes[1] as usize).saturating_mul(size_of::<f32>())
}

/// Gives `find` some rows, the columns of a row, the place of values and indices, and the workspace of a thread.
fn each_row(
    context: &Context<'_, '_, '_>,
    mut operands: Operands<'_, '_, '_>,
    fields: &TopK,
    find: impl Fn(&[f32], usize, (&mut [f32], &mut [i64]), &mut [f32]) -> Result<()> + Sync,
) -> Result<()> {
    let ([rows, columns], wanted) = (fields.sizes.map(|size| size as usize), fields.count as usize);
    let input = operands.read::<f32>(fields.input, count(&[rows, columns])?)?;
    let values = operands.write::<f32>(*fields.values, count(&[rows, wanted])?)?;
    let indices = operands.write::<i64>(*fields.indices, rows * wanted)?;
    let (values, indices) = (Elements::new(&values), Elements::new(&indices));
    split::tasks(context, Chunks::new(context, rows, LEAST_ORDERED / columns.max(1) + 1), |chunk| {
        let part = chunk.range(rows);
        let input = &input[part.start * columns..part.end * columns];
        let results = part.start * wanted..part.end * wanted;
        // SAFETY: tasks have disjoint rows of both results, which are accessed here alone.
        let results = unsafe { (values.part(results.clone()), indices.part(results)) };
        if part.is_empty() { Ok(()) } else { find(input, columns, results, numbers(chunk.workspace)) }
    })
}

/// Quantizes f32 rows to int8.
pub fn quantize(context: &Context<'_, '_, '_>, fields: &QuantizeRows) -> Result<()> {
    let (rows, columns) = (fields.rows as usize, fields.columns as usize);
    let mut operands = context.memory.operands();
    let input = operands.read::<f32>(fields.input, count(&[rows, columns])?)?;
    let bytes = operands.write::<i8>(*fields.output, input.len())?;
    let scales = operands.write::<RowScale>(*fields.row_scales, rows)?;
    let (isa, mapping) = (context.isa, if fields.is_symmetric { Mapping::Symmetric } else { Mapping::Asymmetric });
    if fields.together {
        let scales = scales.slice();
        let (first, _) = scales.split_at_mut_checked(1).ok_or(Error::InvalidProgram)?;
        let rows = FloatRows { elements: input, length: input.len(), mapping };
        quantize_rows(isa, &rows, bytes.slice(), first)?;
        let found = first.first().copied().ok_or(Error::InvalidProgram)?;
        scales.fill(found);
        return Ok(());
    }
    let (bytes, scales) = (Elements::new(&bytes), Elements::new(&scales));
    split::tasks(context, Chunks::new(context, rows, LEAST_QUANTIZED / columns.max(1) + 1), |chunk| {
        let part = chunk.range(rows);
        // SAFETY: tasks have disjoint rows of both output tensors, and `part` is the only access to the rows of a task.
        let (bytes, scales) =
            unsafe { (bytes.part(part.start * columns..part.end * columns), scales.part(part.clone())) };
        let elements = &input[part.start * columns..part.end * columns];
        quantize_rows(isa, &FloatRows { elements, length: columns, mapping }, bytes, scales)
    })
}

/// Dequantizes int8 rows to f32.
pub fn dequantize(context: &Context<'_, '_, '_>, fields: &DequantizeRows) -> Result<()> {
    let (rows, columns) = (fields.rows as usize, fields.columns as usize);
    let mut operands = context.memory.operands();
    let bytes = operands.read::<i8>(fields.input, count(&[rows, columns])?)?;
    let scales = operands.read::<RowScale>(fields.row_scales, rows)?;
    let output = operands.write::<f32>(*fields.output, bytes.len())?;
    let level = context.level;
    split::runs(context, output, columns, LEAST_QUANTIZED / columns.max(1) + 1, |part, output, _| {
        let bytes = bytes.get(part.start * columns..part.end * columns).ok_or(Error::InvalidProgram)?;
        let rows = bytes.chunks_exact(columns.max(1)).zip(output.chunks_exact_mut(columns.max(1)));
        rows.zip(&scales[part]).try_for_each(|((bytes, output), scale)| {
            let from = Quantization { scale: scale.scale, zero_point: scale.zero_point };
            quantized::dequantize(level, bytes, from, output)
        })
    })
}
