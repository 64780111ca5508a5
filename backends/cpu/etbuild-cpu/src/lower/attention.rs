//! Attention, and batched matmul of activation tensors.

use et_core::ScalarType;
use et_cpu::{Attention, BatchMatmul, Place, Strided, Write};
use etbuild_ir::ValueId;

use crate::Problem;
use crate::builder::{Builder, place};
use crate::lower::find_attention::Match;
use crate::lower::{Lowered, elementwise};
use crate::tensor::Tensor;
use etbuild_backend::Call;

/// The operands of attention.
pub struct Attended {
    /// The query, key and value tensors `[batch, heads, tokens, depth]`.
    pub operands: [Tensor; 3],
    /// The biases and masks of the logits, each expanded to `[batch, heads, queries, keys]`; at most two.
    pub biases: Vec<Tensor>,
    /// The factor of the logits.
    pub scale: f32,
    /// Causal attention: a query sees no later key.
    pub causal: bool,
}

/// `scaled_dot_product_attention`.
pub fn attention(builder: &mut Builder<'_>, call: Call<'_>) -> Lowered {
    let operands = [heads(builder, call.value(0)?)?, heads(builder, call.value(1)?)?, heads(builder, call.value(2)?)?];
    let sizes = [operands[0].sizes[0], operands[0].sizes[1], operands[0].sizes[2], operands[1].sizes[2]];
    let biases = match call.optional_value(3)? {
        Some(mask) => vec![elementwise::mask(builder, mask)?.expanded(&sizes)],
        None => Vec::new(),
    };
    let depth = operands[0].sizes[3] as f64;
    let scale = call.number(6)?.unwrap_or(1.0 / depth.sqrt()) as f32;
    let attended = Attended { operands, biases, scale, causal: call.flag(5)? };
    attend(builder, &call.output_sizes()?, attended).map(Some)
}

/// The output of attention, reshaped to `sizes`.
fn attend(builder: &mut Builder<'_>, sizes: &[usize], attended: Attended) -> Result<Tensor, Problem> {
    let Attended { operands: [query, key, value], biases, scale, causal } = attended;
    let (query, key, value) = (neighbours(builder, query), neighbours(builder, key), neighbours(builder, value));
    let [batch, heads, queries, depth] = query.sizes[..] else { return Err(Problem::Arguments) };
    // With this memory order, joining the heads afterwards is a view.
    let result = builder.scratch(ScalarType::Float, &[batch, heads, queries, depth], &[0, 2, 1, 3]);
    let mut biases = biases.into_iter().map(|bias| strided(&neighbours(builder, bias)));
    let absent = Strided { place: Place::ABSENT, strides: [0; 3] };
    let (bias, mask) = (biases.next().unwrap_or(absent), biases.next().unwrap_or(absent));
    if biases.next().is_some() {
        return Err(Problem::Large);
    }
    drop(biases);
    let sizes_of = [batch, heads, queries, key.sizes[2], depth].map(|size| size as u32);
    let (query, key, value) = (strided(&query), strided(&key), strided(&value));
    let attention =
        Attention { query, key, value, output: Write(strided(&result)), bias, mask, sizes: sizes_of, scale, causal };
    builder.emit(attention);
    builder.viewed(result, sizes)
}

/// Batched matmul of two activation tensors.
pub fn batch_matmul(builder: &mut Builder<'_>, call: Call<'_>) -> Lowered {
    let (left, right) = (builder.tensor(call.value(0)?)?, builder.tensor(call.value(1)?)?);
    let left = neighbours(builder, left);
    let right =
        if right.strides.ends_with(&[1]) || right.strides[1] == 1 { right } else { builder.in_row_major(right) };
    let output = builder.row_major(left.scalar_type, &call.output_sizes()?);
    let sizes = [left.sizes[0], left.sizes[1], left.sizes[2], right.sizes[2]].map(|size| size as u32);
    let product = BatchMatmul { left: strided(&left), right: strided(&right), output: Write(strided(&output)), sizes };
    builder.emit(product);
    Ok(Some(output))
}

/// A four-dimensional tensor.
fn heads(builder: &mut Builder<'_>, id: ValueId) -> Result<Tensor, Problem> {
    let tensor = builder.tensor(id)?;
    if tensor.rank() == 4 { Ok(tensor) } else { Err(Problem::Arguments) }
}

/// The tensor with stride 1 in the last dimension.
fn neighbours(builder: &mut Builder<'_>, tensor: Tensor) -> Tensor {
    let innermost = tensor.sizes.last().zip(tensor.strides.last());
    match innermost {
        Some((size, stride)) if *size > 1 && *stride != 1 => builder.in_row_major(tensor),
        _ => tensor,
    }
}

fn strided(tensor: &Tensor) -> Strided {
    Strided { place: place(tensor), strides: std::array::from_fn(|dim| tensor.strides[dim] as u32) }
}

/// Attention that the graph spells out in several nodes.
pub fn found(builder: &mut Builder<'_>, found: &Match) -> Result<Tensor, Problem> {
    let query = builder.tensor(found.query)?;
    let key = builder.tensor(found.transposed_key)?;
    let value = builder.tensor(found.value)?;
    let (query, key, value) = (with_heads(query)?, with_heads(key)?.permuted(&[0, 1, 3, 2]), with_heads(value)?);
    let shape = [query.sizes[0], query.sizes[1], query.sizes[2], key.sizes[2]];
    if query.sizes[..2] != key.sizes[..2] || query.sizes[..2] != value.sizes[..2] {
        return Err(Problem::Arguments);
    }
    let mut biases = Vec::new();
    for (id, sizes) in &found.biases {
        let sizes: Vec<usize> = sizes.iter().map(|size| usize::try_from(*size).unwrap_or(0)).collect();
        let bias = builder.tensor(*id)?.expanded(&sizes);
        biases.push(builder.viewed(bias, &shape)?);
    }
    let attended = Attended { operands: [query, key, value], biases, scale: found.scale as f32, causal: false };
    let sizes = builder.links.graph.spec(found.output).sizes.iter();
    let sizes: Vec<usize> = sizes.map(|size| usize::try_from(*size).unwrap_or(0)).collect();
    attend(builder, &sizes, attended)
}

/// A batch of matrices as a tensor with one head per batch.
fn with_heads(tensor: Tensor) -> Result<Tensor, Problem> {
    match tensor.sizes[..] {
        [_, _, _, _] => Ok(tensor),
        [batch, rows, columns] => tensor.viewed(&[batch, 1, rows, columns]).ok_or(Problem::Arguments),
        _ => Err(Problem::Arguments),
    }
}
