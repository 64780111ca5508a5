//! Element-wise operators: fused into the epilogue of the GEMM or convolution that computes the operand where possible, else
//! fused with the element-wise chain of the operand, else a separate chain.

use et_cpu::{Elementwise, Instruction, Numbers, Place, Step, Stream, Term};
use et_kernels::elementwise::Operation;
use etbuild_ir::{Argument, ValueId};

use crate::Problem;
use crate::builder::{Builder, place};
use crate::call::Call;
use crate::lower::{Lowered, fold};
use crate::tensor::{Tensor, dense_strides};

/// An operand of an element-wise operator.
#[derive(Clone, Debug)]
pub enum Operand {
    /// The tensor of a graph value.
    Tensor(ValueId, Tensor),
    /// A tensor computed by lowering, without a graph value.
    Whole(Tensor),
    /// A number.
    Number(f32),
}

impl Operand {
    const fn tensor(&self) -> Option<&Tensor> {
        match self {
            Self::Tensor(_, tensor) | Self::Whole(tensor) => Some(tensor),
            Self::Number(_) => None,
        }
    }
}

/// A unary operator with optional number arguments.
pub fn unary(builder: &mut Builder<'_>, call: Call<'_>, operation: Operation, numbers: &[f32]) -> Lowered {
    let id = call.value(0)?;
    let input = builder.lying(id)?;
    if fold::activation(builder, &call, id, &input, operation, numbers)? {
        return Ok(());
    }
    let numbers = numbers.iter().map(|number| Operand::Number(*number));
    let operands: Vec<Operand> = [Operand::Tensor(id, input)].into_iter().chain(numbers).collect();
    chain(builder, &call, &operands, operation)
}

/// An operator on two tensors, or on a tensor and a number.
pub fn binary(builder: &mut Builder<'_>, call: Call<'_>, operation: Operation) -> Lowered {
    let (left, right) = (operand(builder, &call, 0)?, operand(builder, &call, 1)?);
    let alpha = match operation {
        Operation::Add | Operation::Sub => call.number(2)?.unwrap_or(1.0) as f32,
        _ => 1.0,
    };
    if let (Operand::Tensor(left, a), Operand::Tensor(right, b)) = (&left, &right)
        && operation == Operation::Add
        && alpha == 1.0
        && fold::residual(builder, &call, (*left, a), (*right, b))?
    {
        return Ok(());
    }
    let right = scaled(builder, right, alpha)?;
    chain(builder, &call, &[left, right], operation)
}

/// The operand times `alpha`.
fn scaled(builder: &mut Builder<'_>, operand: Operand, alpha: f32) -> Result<Operand, Problem> {
    match operand {
        Operand::Number(number) => Ok(Operand::Number(number * alpha)),
        Operand::Tensor(id, tensor) if alpha != 1.0 => {
            let sizes = tensor.sizes.clone();
            let operands = [Operand::Tensor(id, tensor), Operand::Number(alpha)];
            Ok(Operand::Whole(new_chain(builder, &operands, &sizes, Operation::Mul)?))
        }
        unscaled => Ok(unscaled),
    }
}

/// The tensor or number argument at a position.
pub fn operand(builder: &mut Builder<'_>, call: &Call<'_>, index: usize) -> Result<Operand, Problem> {
    match call.node.arguments.get(index) {
        Some(Argument::Value(id)) => Ok(Operand::Tensor(*id, builder.lying(*id)?)),
        _ => call.number(index)?.map(|number| Operand::Number(number as f32)).ok_or(Problem::Arguments),
    }
}

/// The operator as a chain, fused with the chains of operands that have no other consumer.
fn chain(builder: &mut Builder<'_>, call: &Call<'_>, operands: &[Operand], operation: Operation) -> Lowered {
    let sizes = call.output_sizes()?;
    let output = new_chain(builder, operands, &sizes, operation)?;
    for operand in operands {
        if let Operand::Tensor(id, _) = operand {
            fold::join(builder, &output, *id);
        }
    }
    builder.set(call.output()?, output);
    Ok(())
}

/// A chain of one operator.
fn new_chain(
    builder: &mut Builder<'_>,
    operands: &[Operand],
    sizes: &[usize],
    operation: Operation,
) -> Result<Tensor, Problem> {
    computed(builder, operands, sizes, operation, Numbers::REAL)
}

/// A tensor with another dtype: int8 dequantized to f32, or quantized to int8.
pub fn converted(builder: &mut Builder<'_>, tensor: &Tensor, numbers: Numbers) -> Result<Tensor, Problem> {
    let once = tensor.without_repetition();
    let sizes = once.sizes.clone();
    let converted = computed(builder, &[Operand::Whole(once)], &sizes, Operation::Copy, numbers)?;
    Ok(converted.expanded(&tensor.sizes))
}

/// A chain of one operator, with an output of dtype and qparams `numbers`.
pub fn computed(
    builder: &mut Builder<'_>,
    operands: &[Operand],
    sizes: &[usize],
    operation: Operation,
    numbers: Numbers,
) -> Result<Tensor, Problem> {
    let tensors: Vec<&Tensor> = operands.iter().filter_map(Operand::tensor).collect();
    let order = order(&tensors, sizes);
    let output = builder.scratch_of(numbers, sizes, &order);
    let expanded = expanded(builder, &tensors, sizes)?;
    let (dims, tensors) = match nest(&output, &order, &expanded) {
        Some(nest) => (nest, expanded),
        None => {
            let dense = dense(builder, &expanded, &order);
            (nest(&output, &order, &dense).ok_or(Problem::Large)?, dense)
        }
    };
    let (sizes, place_of_output) = (dims.sizes, place(&output));
    let mut made = Elementwise { output: place_of_output, numbers, sizes, step_count: 1, ..Elementwise::default() };
    made.stream_count = tensors.len() as u32;
    for (index, (stream, tensor)) in made.streams.iter_mut().zip(&tensors).enumerate() {
        *stream = Stream { place: place(tensor), strides: dims.strides[index], numbers: tensor.numbers };
    }
    made.steps[0] = step(operation, operands);
    builder.make(output.buffer, made);
    Ok(output)
}

/// The operands broadcast to the output's shape. A broadcast int8 tensor is dequantized first.
fn expanded(builder: &mut Builder<'_>, tensors: &[&Tensor], sizes: &[usize]) -> Result<Vec<Tensor>, Problem> {
    let expand = |tensor: &&Tensor| {
        let all = tensor.expanded(sizes);
        let repeats = all.without_repetition().sizes != all.sizes;
        if repeats && all.numbers.are_bytes() { converted(builder, &all, Numbers::REAL) } else { Ok(all) }
    };
    tensors.iter().map(expand).collect()
}

/// A step whose tensor operands are the first registers.
fn step(operation: Operation, operands: &[Operand]) -> Step {
    let mut step = Step { operation: operation as u32, ..Step::default() };
    let mut register = 0;
    for (term, operand) in step.terms.iter_mut().zip(operands) {
        *term = match operand {
            Operand::Number(number) => Term::number(*number),
            Operand::Tensor(..) | Operand::Whole(_) => {
                register += 1;
                Term::register(register - 1)
            }
        };
    }
    step
}

/// The memory order of the output: the order of the first operand that is not broadcast, else row-major.
fn order(tensors: &[&Tensor], sizes: &[usize]) -> Vec<usize> {
    let is_whole = |tensor: &&&Tensor| tensor.sizes == sizes && tensor.without_repetition().sizes == sizes;
    let whole = tensors.iter().find(is_whole);
    whole.map_or_else(|| (0..sizes.len()).collect(), |tensor| tensor.order())
}

/// Copies of the operands in the memory order of the output.
fn dense(builder: &mut Builder<'_>, operands: &[Tensor], order: &[usize]) -> Vec<Tensor> {
    let copy = |tensor: &Tensor| builder.copied(tensor, order);
    operands.iter().map(copy).collect()
}

/// A loop nest over four dimensions.
pub struct Nest {
    /// Loop sizes, outermost first.
    pub sizes: [u32; 4],
    /// The strides of each operand.
    pub strides: Vec<[u32; 4]>,
}

/// The loop nest over the output in memory order, with neighbouring dimensions fused where all operands allow fusion;
/// `None` for more than four remaining dimensions, or an operand whose innermost stride is neither 1 nor 0.
fn nest(output: &Tensor, order: &[usize], operands: &[Tensor]) -> Option<Nest> {
    let mut dims: Vec<(usize, Vec<usize>)> = Vec::new();
    for dim in order.iter().filter(|dim| output.sizes[**dim] != 1) {
        let size = output.sizes[*dim];
        let strides: Vec<usize> = operands.iter().map(|operand| operand.strides[*dim]).collect();
        match dims.last_mut() {
            Some((length, outer)) if outer.iter().zip(&strides).all(|(outer, own)| *outer == own * size) => {
                (*length, *outer) = (*length * size, strides);
            }
            _ => dims.push((size, strides)),
        }
    }
    if dims.is_empty() {
        dims.push((1, vec![0; operands.len()]));
    }
    let inner_fits = dims.last().is_some_and(|(_, strides)| strides.iter().all(|stride| *stride <= 1));
    let skipped = 4_usize.checked_sub(dims.len()).filter(|_| inner_fits)?;
    let mut nest = Nest { sizes: [1; 4], strides: vec![[0; 4]; operands.len()] };
    for (position, (size, strides)) in dims.into_iter().enumerate() {
        nest.sizes[skipped + position] = size as u32;
        for (own, stride) in nest.strides.iter_mut().zip(strides) {
            own[skipped + position] = stride as u32;
        }
    }
    Some(nest)
}

/// The strides of a contiguous operand in a loop nest of these sizes.
pub fn dense_in(sizes: [u32; 4]) -> [u32; 4] {
    let strides = dense_strides(&sizes.map(|size| size as usize), 0..4);
    std::array::from_fn(|dim| if sizes[dim] == 1 { 0 } else { strides[dim] as u32 })
}

/// The number of elements of a chain.
pub fn numel(chain: &Elementwise) -> usize {
    chain.sizes.iter().map(|size| *size as usize).product()
}

/// The chain of an element-wise instruction.
pub const fn as_chain(instruction: &Instruction) -> Option<&Elementwise> {
    match instruction {
        Instruction::Elementwise(chain) => Some(chain),
        _ => None,
    }
}

/// Whether an operand begins at the start of a buffer.
pub const fn is_start(place: Place) -> bool {
    place.offset == 0
}
