//! Operator fusion: element-wise consumers are fused into the epilogue of a GEMM or convolution, and chains are fused with chains.
//!
//! Fusion removes the producer instruction and appends the fused instruction. The output of the producer has no other consumer, so
//! no instruction between both positions reads the output, and the producer's operands are unchanged.

use et_core::ScalarType;
use et_cpu::{Activation, ActivationKind, Elementwise, Instruction, Numbers, QuantizedProduct, Rows, Step, Term};
use et_kernels::elementwise::Operation;
use etbuild_ir::ValueId;

use crate::Problem;
use crate::builder::{Builder, lie_alike, place};
use crate::call::Call;
use crate::lower::elementwise::{as_chain, dense_in, is_start, numel};
use crate::tensor::Tensor;

/// Fuses an activation into the GEMM or convolution that computes the operand; false where fusion is not possible.
pub fn activation(
    builder: &mut Builder<'_>,
    call: &Call<'_>,
    id: ValueId,
    input: &Tensor,
    operation: Operation,
    numbers: &[f32],
) -> Result<bool, Problem> {
    let Some((position, mut instruction)) = maker(builder, id, input) else { return Ok(false) };
    let (own, residual_last) = match &mut instruction {
        Instruction::Product(product) => (&mut product.activation, product.residual_last == 1),
        Instruction::QuantizedProduct(product) => (&mut product.activation, product.residual_last == 1),
        Instruction::QuantizedDepthwise(depthwise) if is_of_depthwise(operation) => (&mut depthwise.activation, false),
        Instruction::GroupedProduct(product) => (&mut product.activation, false),
        Instruction::WideProduct(product) => (&mut product.activation, false),
        Instruction::Depthwise(depthwise) if is_of_depthwise(operation) => (&mut depthwise.activation, false),
        _ => return Ok(false),
    };
    let Some(followed) = followed_by(*own, operation, numbers).filter(|_| !residual_last) else { return Ok(false) };
    *own = followed;
    replace(builder, position, input, instruction);
    builder.set(call.output()?, input.clone());
    Ok(true)
}

/// Whether the epilogue of depthwise convolution kernels has this activation.
const fn is_of_depthwise(operation: Operation) -> bool {
    matches!(operation, Operation::Relu | Operation::Clamp | Operation::Hardswish)
}

/// Fuses an addition into the GEMM or convolution that computes an operand; false where fusion is not possible.
pub fn residual(
    builder: &mut Builder<'_>,
    call: &Call<'_>,
    left: (ValueId, &Tensor),
    right: (ValueId, &Tensor),
) -> Result<bool, Problem> {
    for ((id, tensor), (_, other)) in [(left, right), (right, left)] {
        let same = tensor.sizes == other.sizes && tensor.sizes == call.output_sizes()?;
        let Some((position, mut instruction)) = maker(builder, id, tensor).filter(|_| same) else { continue };
        if !lie_alike(tensor, other) || other.buffer == tensor.buffer || !add(&mut instruction, other) {
            continue;
        }
        replace(builder, position, tensor, instruction);
        builder.set(call.output()?, tensor.clone());
        return Ok(true);
    }
    Ok(false)
}

/// Adds a residual tensor to the epilogue of a GEMM; false where fusion is not possible.
fn add(instruction: &mut Instruction, other: &Tensor) -> bool {
    let numbers = other.numbers;
    let (residual, last, activation, columns) = match instruction {
        Instruction::Product(product) if !numbers.are_bytes() => {
            let columns = product.window.output[2];
            (&mut product.residual, &mut product.residual_last, product.activation, columns)
        }
        Instruction::QuantizedProduct(product) if !product.residual.place.is_present() => {
            product.residual_numbers = numbers;
            let columns = product.window.output[2];
            (&mut product.residual, &mut product.residual_last, product.activation, columns)
        }
        _ => return false,
    };
    if residual.place.is_present() {
        return false;
    }
    *residual = Rows { place: place(other), stride: columns };
    *last = u32::from(activation != UNLIMITED);
    true
}

/// Fuses quantization into the instruction that computes `id`, where the f32 tensor has no other consumer; the int8 tensor if fused.
pub fn quantize(builder: &mut Builder<'_>, id: ValueId, input: &Tensor, numbers: Numbers) -> Option<Tensor> {
    let (position, mut instruction) = maker(builder, id, input)?;
    match &mut instruction {
        Instruction::QuantizedProduct(product) => {
            product.numbers = numbers;
            product.is_divided = u32::from(can_divide(product));
            if product.is_divided == 1 {
                builder.divide_scales(product.weights, numbers.scale);
            }
        }
        Instruction::QuantizedDepthwise(depthwise) => {
            depthwise.numbers = numbers;
            if depthwise.activation.kind == ActivationKind::Identity as u32 {
                builder.divide_scales(depthwise.scales, numbers.scale);
            }
        }
        Instruction::Elementwise(chain) => chain.numbers = numbers,
        Instruction::Mean(mean) if mean.from.are_bytes() => mean.to = numbers,
        _ => return None,
    }
    let bytes = Tensor { scalar_type: ScalarType::Char, numbers, ..input.clone() };
    builder.buffers[input.buffer.0 as usize].size = bytes.numel();
    replace(builder, position, &bytes, instruction);
    Some(bytes)
}

/// Whether requantization scales may include the output scale: the epilogue has only clamp limits after the accumulators.
fn can_divide(product: &QuantizedProduct) -> bool {
    let adds_real = product.residual.place.is_present() && !product.residual_numbers.are_bytes();
    let is_limited = product.activation.kind == ActivationKind::Identity as u32 && product.residual_last == 0;
    is_limited && !adds_real && !product.row_scales.is_present()
}

const UNLIMITED: Activation = Activation::clamp(f32::NEG_INFINITY, f32::INFINITY);

/// Fuses the chain that computes `id` into the chain that computes `output`, if the strides agree.
pub fn join(builder: &mut Builder<'_>, output: &Tensor, id: ValueId) {
    let Ok(input) = builder.lying(id) else { return };
    let (Some((first_position, first)), Some((position, last))) =
        (maker(builder, id, &input), builder.maker(output.buffer))
    else {
        return;
    };
    let (Some(first), Some(last)) = (as_chain(&first), as_chain(last)) else { return };
    let Some(joined) = joined(first, last) else { return };
    builder.take(first_position);
    builder.take(position);
    builder.make(output.buffer, joined);
}

/// The instruction that computes a tensor, where the tensor fills a whole buffer and has one consumer.
fn maker(builder: &Builder<'_>, id: ValueId, tensor: &Tensor) -> Option<(usize, Instruction)> {
    let size = builder.buffers.get(tensor.buffer.0 as usize)?.size;
    let is_real = !tensor.numbers.are_bytes();
    let is_whole =
        is_real && tensor.offset == 0 && tensor.numel() * tensor.scalar_type.size() == size && is_dense(tensor);
    let (position, instruction) = builder.maker(tensor.buffer)?;
    (is_whole && builder.uses.is_read_once(id)).then_some((position, *instruction))
}

fn replace(builder: &mut Builder<'_>, position: usize, tensor: &Tensor, instruction: Instruction) {
    builder.take(position);
    builder.make(tensor.buffer, instruction);
}

/// Whether the tensor is contiguous in memory, without broadcast dimensions.
fn is_dense(tensor: &Tensor) -> bool {
    tensor.permuted(&tensor.order()).is_row_major()
}

/// The activation equal to `own` followed by an operator; `None` where the epilogue has no such activation.
fn followed_by(own: Activation, operation: Operation, numbers: &[f32]) -> Option<Activation> {
    let limits = |low: f32, high: f32| {
        let is_identity = own.kind == ActivationKind::Identity as u32;
        is_identity.then(|| Activation::clamp(own.low.max(low).min(high), own.high.min(high).max(low)))
    };
    let plain = own == UNLIMITED;
    let kind = match (operation, numbers) {
        (Operation::Clamp, [low, high]) => return limits(*low, *high),
        (Operation::Relu, []) => return limits(0.0, f32::INFINITY),
        (Operation::Hardswish, []) => ActivationKind::Hardswish,
        (Operation::Hardsigmoid, []) => ActivationKind::Hardsigmoid,
        (Operation::Silu, []) => ActivationKind::Silu,
        (Operation::Gelu, []) => ActivationKind::Gelu,
        (Operation::GeluTanh, []) => ActivationKind::GeluTanh,
        (Operation::Sigmoid, []) => ActivationKind::Sigmoid,
        _ => return None,
    };
    plain.then(|| Activation::of(kind))
}

/// The fused chain of two chains; the second reads the output of the first with equal strides.
fn joined(first: &Elementwise, last: &Elementwise) -> Option<Elementwise> {
    if numel(first) != numel(last) || first.numbers.are_bytes() {
        return None;
    }
    let mut chain = in_loops(first, last.sizes)?;
    let mut registers = Vec::new();
    let own_steps = first.step_count as usize;
    let own_streams = first.stream_count as usize;
    let mut streams: Vec<_> = chain.streams[..own_streams].to_vec();
    for stream in &last.streams[..last.stream_count as usize] {
        let is_result = stream.place.slot == first.output.slot;
        if is_result && !(is_start(stream.place) && stream.strides == dense_in(last.sizes)) {
            return None;
        }
        registers.push(if is_result { None } else { Some(streams.len()) });
        if !is_result {
            streams.push(*stream);
        }
    }
    let shift = streams.len() - own_streams;
    let steps = own_steps + last.step_count as usize;
    if streams.len() > chain.streams.len() || steps > chain.steps.len() {
        return None;
    }
    let result = streams.len() + own_steps - 1;
    let moved = |step: &Step| moved(step, |register| if register < own_streams { register } else { register + shift });
    let mut made: Vec<Step> = first.steps[..own_steps].iter().map(moved).collect();
    let of_last = |register: usize| match registers.get(register) {
        Some(Some(stream)) => *stream,
        Some(None) => result,
        None => register - registers.len() + result + 1,
    };
    made.extend(last.steps[..last.step_count as usize].iter().map(|step| self::moved(step, of_last)));
    chain.streams[..streams.len()].copy_from_slice(&streams);
    chain.steps[..steps].copy_from_slice(&made);
    (chain.stream_count, chain.step_count) = (streams.len() as u32, steps as u32);
    (chain.output, chain.numbers) = (last.output, last.numbers);
    Some(chain)
}

fn moved(step: &Step, to: impl Fn(usize) -> usize) -> Step {
    let term = |term: Term| if term.kind == 0 { Term::register(to(term.bits as usize)) } else { term };
    Step { terms: step.terms.map(term), ..*step }
}

/// The chain in a loop nest of these sizes, if the strides of the operands allow the nest.
fn in_loops(chain: &Elementwise, sizes: [u32; 4]) -> Option<Elementwise> {
    if chain.sizes == sizes {
        return Some(*chain);
    }
    let own = dense_in(chain.sizes);
    let streams = chain.streams.iter().take(chain.stream_count as usize);
    let is_dense = streams.clone().all(|stream| stream.strides == own);
    let mut other = Elementwise { sizes, ..*chain };
    for stream in other.streams.iter_mut().take(chain.stream_count as usize) {
        stream.strides = dense_in(sizes);
    }
    is_dense.then_some(other)
}
