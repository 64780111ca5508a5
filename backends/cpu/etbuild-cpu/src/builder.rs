//! Collects the instructions of a backend program: the tensors of graph values, and emission of instructions and copies.

use et_core::ScalarType;
use et_cpu::{Copy, DequantizeRows, Instruction, Place, QParams, RowScales, Rows, SlotNumber, Write};
use etbuild_backend::constant_of;
use etbuild_ir::{ConstantData, IdMap, Links, TensorSpec, ValueId};
use etbuild_weights::reals;

use crate::program::{Program, Storage};
use crate::tensor::{Buffer, Tensor, dense_strides, fused_dims};
use crate::{Architecture, Problem};

/// A backend program under construction.
pub struct Builder<'g> {
    /// The program.
    pub program: Program<'g>,
    /// The node being lowered.
    pub node: usize,
    /// The producer and the consumers of each value.
    pub links: &'g Links<'g>,
    /// The tensors of values in the dtype of their memory.
    tensors: IdMap<Tensor>,
    /// The f32 tensors of int8 values that a consumer reads as f32.
    dequantized: IdMap<Tensor>,
}

impl<'g> Builder<'g> {
    /// A builder with the inputs of the partition.
    pub fn new(links: &'g Links<'g>, architecture: Architecture) -> Self {
        let program = Program::new(links.graph, architecture);
        let mut builder = Self { program, node: 0, links, tensors: IdMap::default(), dequantized: IdMap::default() };
        for (position, id) in (0..).zip(&links.graph.inputs) {
            let spec = links.graph.spec(*id);
            let buffer = builder.program.buffer(Storage::Input(position), spec.nbytes());
            builder.tensors.insert(*id, Tensor::of_spec(buffer, spec));
        }
        builder
    }

    /// Appends an instruction of the node being lowered.
    pub fn emit(&mut self, instruction: impl Into<Instruction>) {
        self.program.push(instruction.into(), self.node);
    }

    /// A new tensor in scratch memory; `order` is the memory order of the dimensions.
    pub fn scratch(&mut self, scalar_type: ScalarType, sizes: &[usize], order: &[usize]) -> Tensor {
        let numel: usize = sizes.iter().product();
        let buffer = self.program.buffer(Storage::Scratch, numel * scalar_type.size());
        Tensor::dense(buffer, scalar_type, sizes.to_vec(), order.iter().copied())
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

    /// A new tensor as of [`Self::scratch`], int8 where `qparams` has a scale.
    pub fn scratch_of(&mut self, qparams: QParams, sizes: &[usize], order: &[usize]) -> Tensor {
        let scalar_type = if qparams.is_int8() { ScalarType::Char } else { ScalarType::Float };
        Tensor { qparams, ..self.scratch(scalar_type, sizes, order) }
    }

    /// The tensor of a value in f32; an int8 tensor is dequantized.
    pub fn tensor(&mut self, id: ValueId) -> Result<Tensor, Problem> {
        let tensor = self.stored(id)?;
        if !tensor.qparams.is_int8() {
            return Ok(tensor);
        }
        if let Some(dequantized) = self.dequantized.get(id) {
            return Ok(dequantized.clone());
        }
        let dequantized = self.converted(&tensor, QParams::FLOAT)?;
        self.dequantized.insert(id, dequantized.clone());
        Ok(dequantized)
    }

    /// The tensor of a computed value, input or constant in the dtype of its memory: int8 for values with per-tensor qparams. Rows with
    /// per-token qparams are dequantized.
    pub fn stored(&mut self, id: ValueId) -> Result<Tensor, Problem> {
        if let Some(dequantized) = self.quantized_rows(id).cloned() {
            return Ok(self.dequantized_rows(id, &dequantized));
        }
        if let Some(tensor) = self.tensors.get(id) {
            return Ok(Tensor { row_scales: None, ..tensor.clone() });
        }
        let data = constant_of(self.links, id).ok_or(Problem::Order)?;
        let buffer = self.program.buffer(Storage::Model(data.clone()), data.bytes().len());
        let tensor = Tensor::of_spec(buffer, self.links.graph.spec(id));
        self.tensors.insert(id, tensor.clone());
        Ok(tensor)
    }

    /// The int8 tensor with per-token qparams behind an f32 value; `None` for other values.
    pub fn quantized_rows(&self, id: ValueId) -> Option<&Tensor> {
        let is_float = self.links.graph.spec(id).scalar_type == ScalarType::Float;
        self.tensors.get(id).filter(|tensor| is_float && tensor.row_scales.is_some())
    }

    /// The int8 tensor of a quantized value with the address of its per-token qparams, if any.
    pub fn quantized(&self, id: ValueId) -> Option<&Tensor> {
        self.tensors.get(id)
    }

    fn dequantized_rows(&mut self, id: ValueId, rows: &Tensor) -> Tensor {
        if let Some(dequantized) = self.dequantized.get(id) {
            return dequantized.clone();
        }
        let output = self.row_major(ScalarType::Float, &rows.sizes);
        let [count, columns] = rows.rows_and_columns().map(|size| size as u32);
        let RowScales { place: row_scales, blocks } = rows.row_scales.unwrap_or(RowScales::ABSENT);
        let [count, columns] = [count * blocks, columns.checked_div(blocks).unwrap_or(0)];
        self.emit(DequantizeRows {
            input: place(rows),
            row_scales,
            output: Write(place(&output)),
            rows: count,
            columns,
        });
        self.dequantized.insert(id, output.clone());
        output
    }

    /// Records the tensor of a computed value.
    pub fn set(&mut self, id: ValueId, tensor: Tensor) {
        self.program.tensors.push((id, tensor.clone()));
        self.tensors.insert(id, tensor);
    }

    /// The tensor in row-major order, copied from other strides.
    pub fn in_row_major(&mut self, tensor: Tensor) -> Tensor {
        if tensor.is_row_major() {
            return Tensor { strides: dense_strides(&tensor.sizes, 0..tensor.rank()), ..tensor };
        }
        let order: Vec<usize> = (0..tensor.rank()).collect();
        self.copied(&tensor, &order)
    }

    /// The tensor of a value in f32 and row-major order.
    pub fn dense(&mut self, id: ValueId) -> Result<Tensor, Problem> {
        let tensor = self.tensor(id)?;
        Ok(self.in_row_major(tensor))
    }

    /// The place of a value in f32 and row-major order; absent for no value.
    pub fn optional(&mut self, id: Option<ValueId>) -> Result<Place, Problem> {
        id.map_or(Ok(Place::ABSENT), |id| Ok(place(&self.dense(id)?)))
    }

    /// A constant row-major f32 tensor.
    pub fn constant(&mut self, numbers: impl Iterator<Item = f32>, sizes: &[usize]) -> Tensor {
        let data = ConstantData::new(reals::stored(&numbers.collect::<Vec<f32>>()));
        let length = data.bytes().len();
        let buffer = self.program.buffer(Storage::Model(data), length);
        Tensor::dense(buffer, ScalarType::Float, sizes.to_vec(), 0..sizes.len())
    }

    /// The reshaped tensor, copied where strides cannot express the shape.
    pub fn viewed(&mut self, tensor: Tensor, sizes: &[usize]) -> Result<Tensor, Problem> {
        match tensor.viewed(sizes) {
            Some(viewed) => Ok(viewed),
            None => self.in_row_major(tensor).viewed(sizes).ok_or(Problem::Arguments),
        }
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
        let copy = Tensor { qparams: tensor.qparams, ..self.scratch(tensor.scalar_type, &tensor.sizes, order) };
        self.copy(tensor, &copy);
        copy
    }

    /// Makes a tensor the output `position` of the call: the tensor's buffer becomes the output where strides and size agree;
    /// otherwise the tensor is copied.
    pub fn result(&mut self, position: u32, tensor: &Tensor, spec: &TensorSpec) {
        let wanted = Tensor::of_spec(tensor.buffer, spec);
        let memory = &mut self.program.buffers[tensor.buffer.0 as usize];
        let agrees = tensor.offset == 0 && has_strides_of(tensor, &wanted) && memory.size == spec.nbytes();
        if agrees && matches!(memory.storage, Storage::Scratch) {
            memory.storage = Storage::Output(position);
        } else {
            let buffer = self.program.buffer(Storage::Output(position), spec.nbytes());
            self.copy(tensor, &Tensor::of_spec(buffer, spec));
        }
    }

    /// Copies a tensor.
    pub fn copy(&mut self, from: &Tensor, to: &Tensor) {
        self.emit(copy(from, to));
    }
}

/// The address of a tensor.
pub fn place(tensor: &Tensor) -> Place {
    Place { slot: SlotNumber(tensor.buffer.0), offset: (tensor.offset * tensor.scalar_type.size()) as u32 }
}

/// Whether two tensors have equal strides.
fn has_strides_of(left: &Tensor, right: &Tensor) -> bool {
    let mut dims = left.sizes.iter().zip(left.strides.iter().zip(&right.strides));
    left.sizes == right.sizes && dims.all(|(size, (left, right))| *size <= 1 || left == right)
}

/// The slot of a tensor.
pub const fn slot(tensor: &Tensor) -> SlotNumber {
    let Buffer(slot) = tensor.buffer;
    SlotNumber(slot)
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
        Copy { input: place(from), output: Write(place(to)), width: from.scalar_type.size() as u32, ..Copy::default() };
    let strided = |dim: usize| (to.sizes[dim], [from.strides[dim], to.strides[dim]]);
    let dims = fused_dims(to.order().into_iter().map(strided));
    copy.rank = dims.len() as u32;
    for (position, (size, [input, output])) in dims.into_iter().enumerate().take(copy.sizes.len()) {
        copy.sizes[position] = size as u32;
        copy.input_strides[position] = input as u32;
        copy.output_strides[position] = output as u32;
    }
    copy
}
