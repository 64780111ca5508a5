//! Chains of element-wise operators: the instruction of one operator, and conversions between dtypes.

use et_cpu::{Elementwise, Opcode, QParams, Step, Stream, Term, Write};
use et_kernels::elementwise::Operation;

use crate::Problem;
use crate::builder::{Builder, place};
use crate::tensor::{Tensor, dense_strides, fused_dims};

/// An operand of an element-wise operator.
#[derive(Clone, Debug)]
pub enum Operand {
    /// A tensor.
    Tensor(Tensor),
    /// A number.
    Number(f32),
}

impl Operand {
    const fn tensor(&self) -> Option<&Tensor> {
        match self {
            Self::Tensor(tensor) => Some(tensor),
            Self::Number(_) => None,
        }
    }
}

impl Builder<'_> {
    /// A tensor with another dtype: int8 dequantized to f32, or quantized to int8.
    pub fn converted(&mut self, tensor: &Tensor, qparams: QParams) -> Result<Tensor, Problem> {
        let once = tensor.without_repetition();
        let sizes = once.sizes.clone();
        let converted = self.computed(&[Operand::Tensor(once)], &sizes, Operation::Copy, qparams)?;
        Ok(converted.expanded(&tensor.sizes))
    }

    /// The output of an element-wise operator with dtype and qparams `qparams`: a chain of one step.
    pub fn computed(
        &mut self,
        operands: &[Operand],
        sizes: &[usize],
        operation: Operation,
        qparams: QParams,
    ) -> Result<Tensor, Problem> {
        let tensors: Vec<&Tensor> = operands.iter().filter_map(Operand::tensor).collect();
        let order = order(&tensors, sizes);
        let output = self.scratch_of(qparams, sizes, &order);
        let expanded = expanded(self, &tensors, sizes)?;
        let (dims, tensors) = match nest(&output, &order, &expanded) {
            Some(nest) => (nest, expanded),
            None => {
                let dense: Vec<Tensor> = expanded.iter().map(|tensor| self.copied(tensor, &order)).collect();
                (nest(&output, &order, &dense).ok_or(Problem::Large)?, dense)
            }
        };
        let (sizes, output_place) = (dims.sizes, Write(place(&output)));
        let mut chain = Elementwise { output: output_place, qparams, sizes, step_count: 1, ..Elementwise::default() };
        chain.stream_count = tensors.len() as u32;
        for (index, (stream, tensor)) in chain.streams.iter_mut().zip(&tensors).enumerate() {
            *stream = Stream { place: place(tensor), strides: dims.strides[index], qparams: tensor.qparams };
        }
        chain.steps[0] = step(operation, operands);
        self.emit(chain);
        Ok(output)
    }
}

/// The operands broadcast to the output's shape. A broadcast int8 tensor is dequantized first.
fn expanded(builder: &mut Builder<'_>, tensors: &[&Tensor], sizes: &[usize]) -> Result<Vec<Tensor>, Problem> {
    let expand = |tensor: &&Tensor| {
        let all = tensor.expanded(sizes);
        let repeats = all.without_repetition().sizes != all.sizes;
        if repeats && all.qparams.is_int8() { builder.converted(&all, QParams::FLOAT) } else { Ok(all) }
    };
    tensors.iter().map(expand).collect()
}

/// A step whose tensor operands are the first registers.
fn step(operation: Operation, operands: &[Operand]) -> Step {
    let mut step = Step { operation: Opcode(operation), ..Step::default() };
    let mut register = 0;
    for (term, operand) in step.terms.iter_mut().zip(operands) {
        *term = match operand {
            Operand::Number(number) => Term::number(*number),
            Operand::Tensor(_) => {
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

/// A loop nest over four dimensions.
struct Nest {
    /// Loop sizes, outermost first.
    sizes: [u32; 4],
    /// The strides of each operand.
    strides: Vec<[u32; 4]>,
}

/// The loop nest over the output in memory order, with neighbouring dimensions fused where all operands allow fusion;
/// `None` for more than four remaining dimensions, or an operand whose innermost stride is neither 1 nor 0.
fn nest(output: &Tensor, order: &[usize], operands: &[Tensor]) -> Option<Nest> {
    let strides = |dim: usize| operands.iter().map(|operand| operand.strides[dim]).collect::<Vec<usize>>();
    let mut dims = fused_dims(order.iter().map(|dim| (output.sizes[*dim], strides(*dim))));
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
