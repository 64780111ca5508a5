//! Collects the instructions of a delegate blob and the buffers of their operand tensors.

use std::collections::BTreeMap;

use et_core::ScalarType;
use et_cpu::{Copy, Instruction, Numbers, Place, Rows, SlotNumber};
use etbuild_ir::{ConstantData, Graph, IdMap, Links, TensorSpec, ValueId};

use crate::lower::dynamic::RoundedRows;
use crate::lower::elementwise;
use crate::pack::{Form, Packing};
use crate::tensor::{Buffer, Tensor, dense_strides};
use crate::uses::Uses;
use crate::{Architecture, Problem, constant};

/// The storage of a buffer.
#[derive(Clone, Debug)]
pub enum Storage {
    /// An input of the delegate call, by position.
    Input(u32),
    /// An output of the delegate call, by position.
    Output(u32),
    /// The scratch arena.
    Scratch,
    /// A constant of the model.
    Model(ConstantData),
    /// A constant computed by lowering.
    Made(Vec<u8>),
    /// Weights packed when the blob is written.
    Packed(Packing),
}

/// A buffer with a size in bytes.
#[derive(Clone, Debug)]
pub struct Memory {
    /// The storage.
    pub storage: Storage,
    /// The size in bytes.
    pub size: usize,
}

/// A delegate blob under construction.
pub struct Builder<'g> {
    /// The partition.
    pub graph: &'g Graph,
    /// The architecture of the packing.
    pub architecture: Architecture,
    /// All buffers; a [`Buffer`] is an index.
    pub buffers: Vec<Memory>,
    /// The instructions; `None` where an instruction was fused into a later instruction.
    pub instructions: Vec<Option<Instruction>>,
    /// The graph node of each instruction; the first node of a fused instruction.
    pub origins: Vec<usize>,
    /// The node being lowered.
    pub node: usize,
    /// The number of reads of each value's memory.
    pub uses: Uses,
    /// The producer and the consumers of each value.
    pub links: &'g Links<'g>,
    tensors: IdMap<Tensor>,
    /// Dynamically quantized values.
    rounded: IdMap<RoundedRows>,
    makers: BTreeMap<Buffer, usize>,
    /// The origin of the instruction removed by fusion, for the next instruction.
    taken: Option<usize>,
}

impl<'g> Builder<'g> {
    /// A builder with the inputs and constants of the partition.
    pub fn new(links: &'g Links<'g>, architecture: Architecture) -> Self {
        let graph = links.graph;
        let (buffers, instructions) = (Vec::new(), Vec::new());
        let uses = Uses::of(graph);
        let (tensors, rounded, makers) = (IdMap::default(), IdMap::default(), BTreeMap::new());
        let (origins, node, taken) = (Vec::new(), 0, None);
        let mut builder = Self {
            graph,
            architecture,
            buffers,
            instructions,
            origins,
            node,
            uses,
            links,
            tensors,
            rounded,
            makers,
            taken,
        };
        for (position, id) in (0..).zip(&graph.inputs) {
            let buffer = builder.buffer(Storage::Input(position), graph.spec(*id).nbytes());
            builder.tensors.insert(*id, Tensor::of_spec(buffer, graph.spec(*id)));
        }
        builder
    }

    /// A new buffer of `size` bytes.
    pub fn buffer(&mut self, storage: Storage, size: usize) -> Buffer {
        self.buffers.push(Memory { storage, size });
        Buffer(self.buffers.len() as u32 - 1)
    }

    /// A constant computed by lowering.
    pub fn made(&mut self, bytes: Vec<u8>) -> Buffer {
        let size = bytes.len();
        self.buffer(Storage::Made(bytes), size)
    }

    /// The slot of weights packed when the blob is written; equal weights are packed once.
    pub fn packed(&mut self, packing: Packing) -> Result<SlotNumber, Problem> {
        let size = packing.size(self.architecture)?;
        Ok(SlotNumber(self.buffer(Storage::Packed(packing), size).0))
    }

    /// A new tensor in scratch memory; `order` is the memory order of the dimensions.
    pub fn scratch(&mut self, scalar_type: ScalarType, sizes: &[usize], order: &[usize]) -> Tensor {
        let numel: usize = sizes.iter().product();
        let buffer = self.buffer(Storage::Scratch, numel * scalar_type.size());
        let strides = dense_strides(sizes, order.iter().copied());
        Tensor { buffer, offset: 0, scalar_type, numbers: Numbers::REAL, sizes: sizes.to_vec(), strides }
    }

    /// A new row-major tensor.
    pub fn row_major(&mut self, scalar_type: ScalarType, sizes: &[usize]) -> Tensor {
        let order: Vec<usize> = (0..sizes.len()).collect();
        self.scratch(scalar_type, sizes, &order)
    }

    /// A new NHWC tensor with shape `[batch, channels, height, width]`.
    pub fn image(&mut self, scalar_type: ScalarType, sizes: &[usize; 4]) -> Tensor {
        self.scratch(scalar_type, sizes, &[0, 2, 3, 1])
    }

    /// A new tensor as of [`Self::scratch`], int8 where `numbers` has qparams.
    pub fn scratch_of(&mut self, numbers: Numbers, sizes: &[usize], order: &[usize]) -> Tensor {
        let scalar_type = if numbers.are_bytes() { ScalarType::Char } else { ScalarType::Float };
        Tensor { numbers, ..self.scratch(scalar_type, sizes, order) }
    }

    /// The tensor of a value in f32; an int8 tensor is dequantized.
    pub fn tensor(&mut self, id: ValueId) -> Result<Tensor, Problem> {
        let tensor = self.lying(id)?;
        if !tensor.numbers.are_bytes() {
            return Ok(tensor);
        }
        let real = elementwise::converted(self, &tensor, Numbers::REAL)?;
        self.tensors.insert(id, real.clone());
        Ok(real)
    }

    /// The tensor of a computed value, input or constant in the dtype of its memory: int8 for
    /// quantized values.
    pub fn lying(&mut self, id: ValueId) -> Result<Tensor, Problem> {
        if let Some(tensor) = self.tensors.get(id) {
            return Ok(tensor.clone());
        }
        if let Some(rounded) = self.rounded.get(id).cloned() {
            let real = rounded.real(self);
            self.tensors.insert(id, real.clone());
            return Ok(real);
        }
        let data = constant::of(self.links, id).ok_or(Problem::Order)?;
        let buffer = self.buffer(Storage::Model(data.clone()), data.bytes().len());
        let tensor = Tensor::of_spec(buffer, self.graph.spec(id));
        self.tensors.insert(id, tensor.clone());
        Ok(tensor)
    }

    /// The dynamically quantized rows of a value.
    pub fn rounded(&self, id: ValueId) -> Option<&RoundedRows> {
        self.rounded.get(id)
    }

    /// Records the dynamically quantized rows of a value.
    pub fn set_rounded(&mut self, id: ValueId, rounded: RoundedRows) {
        self.rounded.insert(id, rounded);
    }

    /// Records the tensor of a value.
    pub fn set(&mut self, id: ValueId, tensor: Tensor) {
        self.tensors.insert(id, tensor);
    }

    /// Appends an instruction that writes a whole buffer.
    pub fn make(&mut self, buffer: Buffer, instruction: impl Into<Instruction>) {
        self.makers.insert(buffer, self.instructions.len());
        self.push(instruction);
    }

    /// Appends an instruction that writes part of a buffer.
    pub fn push(&mut self, instruction: impl Into<Instruction>) {
        self.instructions.push(Some(instruction.into()));
        self.origins.push(self.taken.take().unwrap_or(self.node));
    }

    /// The instruction that writes a whole buffer, with the position of the instruction.
    pub fn maker(&self, buffer: Buffer) -> Option<(usize, &Instruction)> {
        let position = *self.makers.get(&buffer)?;
        Some((position, self.instructions.get(position)?.as_ref()?))
    }

    /// Divides requantization scales by the output scale, in a computed constant or before packing.
    pub fn divide_scales(&mut self, slot: SlotNumber, by: f32) {
        let Some(memory) = self.buffers.get_mut(slot.0 as usize) else { return };
        match &mut memory.storage {
            Storage::Packed(Packing { form: Form::Bytes(scales, _), .. }) => {
                scales.iter_mut().for_each(|scale| *scale /= by);
            }
            Storage::Made(bytes) => {
                for scale in bytes.as_chunks_mut::<4>().0 {
                    *scale = (f32::from_le_bytes(*scale) / by).to_le_bytes();
                }
            }
            _ => {}
        }
    }

    /// The position of the last remaining instruction before `position`. Calls for all remaining instructions take linear time
    /// in total.
    pub fn before(&self, position: usize) -> Option<usize> {
        self.instructions.get(..position)?.iter().rposition(Option::is_some)
    }

    /// Removes an instruction for fusion; a fused instruction is appended later.
    pub fn take(&mut self, position: usize) {
        self.instructions[position] = None;
        self.taken = Some(self.taken.map_or(self.origins[position], |taken| taken.min(self.origins[position])));
    }

    /// Puts a fused instruction at the position of a removed instruction; the removed producers are fused parts.
    pub fn place_taken(&mut self, position: usize, instruction: impl Into<Instruction>) {
        self.take(position);
        self.instructions[position] = Some(instruction.into());
        self.origins[position] = self.taken.take().unwrap_or(self.origins[position]);
    }

    /// The tensor in row-major order, copied from other strides.
    pub fn in_row_major(&mut self, tensor: Tensor) -> Tensor {
        if tensor.is_row_major() {
            return Tensor { strides: dense_strides(&tensor.sizes, 0..tensor.rank()), ..tensor };
        }
        let order: Vec<usize> = (0..tensor.rank()).collect();
        self.copied(&tensor, &order)
    }

    /// The tensor in NHWC order, copied from other strides.
    pub fn in_channels_last(&mut self, tensor: Tensor) -> Tensor {
        let order = [0, 2, 3, 1];
        if tensor.is_channels_last() {
            return Tensor { strides: dense_strides(&tensor.sizes, order.into_iter()), ..tensor };
        }
        self.copied(&tensor, &order)
    }

    /// A copy with the dimensions in memory order `order`.
    pub fn copied(&mut self, tensor: &Tensor, order: &[usize]) -> Tensor {
        let copy = Tensor { numbers: tensor.numbers, ..self.scratch(tensor.scalar_type, &tensor.sizes, order) };
        self.copy(tensor, &copy, true);
        copy
    }

    /// Makes a tensor the output `position` of the call: the tensor's buffer becomes the output where strides and size agree;
    /// otherwise the tensor is copied.
    pub fn result(&mut self, position: u32, tensor: &Tensor, spec: &TensorSpec) {
        let wanted = Tensor::of_spec(tensor.buffer, spec);
        let memory = &mut self.buffers[tensor.buffer.0 as usize];
        let lies_so = tensor.offset == 0 && lie_alike(tensor, &wanted) && memory.size == spec.nbytes();
        if lies_so && matches!(memory.storage, Storage::Scratch) {
            memory.storage = Storage::Output(position);
        } else {
            let buffer = self.buffer(Storage::Output(position), spec.nbytes());
            self.copy(tensor, &Tensor::of_spec(buffer, spec), true);
        }
    }

    /// Copies a tensor; `whole` where the copy fills the output's buffer.
    pub fn copy(&mut self, from: &Tensor, to: &Tensor, whole: bool) {
        let instruction = copy(from, to);
        if whole {
            self.make(to.buffer, instruction);
        } else {
            self.push(instruction);
        }
    }
}

/// The address of a tensor.
pub fn place(tensor: &Tensor) -> Place {
    Place { slot: SlotNumber(tensor.buffer.0), offset: (tensor.offset * tensor.scalar_type.size()) as u32 }
}

/// Whether two tensors have equal strides.
pub fn lie_alike(left: &Tensor, right: &Tensor) -> bool {
    let mut dims = left.sizes.iter().zip(left.strides.iter().zip(&right.strides));
    left.sizes == right.sizes && dims.all(|(size, (left, right))| *size <= 1 || left == right)
}

/// The matrix rows of a tensor whose leading dimensions have a uniform stride; `None` for other strides.
pub fn rows(tensor: &Tensor) -> Option<(Rows, usize, usize)> {
    let columns = tensor.sizes.last().copied().unwrap_or(1);
    let count = tensor.numel().checked_div(columns)?;
    let matrix = tensor.viewed(&[count, columns])?;
    let stride = if count == 1 { columns } else { matrix.strides[0] };
    let is_dense = columns == 1 || matrix.strides[1] == 1;
    is_dense.then(|| (Rows { place: place(&matrix), stride: stride as u32 }, count, columns))
}

/// A copy with uniformly strided dimensions fused, and the output's innermost dimension last.
fn copy(from: &Tensor, to: &Tensor) -> Copy {
    let mut copy =
        Copy { input: place(from), output: place(to), width: from.scalar_type.size() as u32, ..Copy::default() };
    let mut dims: Vec<(usize, usize, usize)> = Vec::new();
    for dim in to.order().into_iter().filter(|dim| to.sizes[*dim] != 1) {
        let (size, input, output) = (to.sizes[dim], from.strides[dim], to.strides[dim]);
        match dims.last_mut() {
            Some((length, outer, outer_output)) if *outer == size * input && *outer_output == size * output => {
                (*length, *outer, *outer_output) = (*length * size, input, output);
            }
            _ => dims.push((size, input, output)),
        }
    }
    copy.rank = dims.len() as u32;
    for (position, (size, input, output)) in dims.into_iter().enumerate().take(copy.sizes.len()) {
        copy.sizes[position] = size as u32;
        copy.input_strides[position] = input as u32;
        copy.output_strides[position] = output as u32;
    }
    copy
}
