//! Tensors in other layouts than a matrix of rows: transposed, stacked, with rows in turns, or a vector for each row.

use std::sync::Arc;

use et_core::ScalarType;
use etbuild_ir::{Buffer, ConstantData};
use etbuild_weights::Derived;
use etbuild_weights::transposed::{self, Transposed, Turns, transpose};

use super::Weights;
use super::stored::Whole;
use crate::CheckpointError;
use crate::constant::{Constant, Part, spec, vector_of};

/// Blocks of several tensors of one size in turn.
struct Interleaved {
    parts: Vec<ConstantData>,
    /// The bytes of a block.
    block: usize,
}

impl Derived for Interleaved {
    fn identity(&self) -> String {
        let digests: Vec<String> = self.parts.iter().map(|part| part.digest().to_string()).collect();
        format!("interleaved {} {}", self.block, digests.join(" "))
    }

    fn length(&self) -> usize {
        self.parts.iter().map(|part| part.bytes().len()).sum()
    }

    fn run(&self, take: &mut dyn FnMut(&[u8])) {
        let blocks = self.parts.first().map_or(0, |part| part.bytes().len() / self.block.max(1));
        let turns = (0..blocks).flat_map(|block| self.parts.iter().map(move |part| (part, block * self.block)));
        turns.filter_map(|(part, start)| part.bytes().get(start..start + self.block)).for_each(take);
    }
}

impl Weights<'_> {
    /// Rows of a matrix that is stored transposed, `[columns, all]`, in the type of the checkpoint.
    pub fn transposed_matrix(&mut self, tensor: &str, part: Part, columns: usize) -> Constant {
        let Part { first, count, all } = part;
        self.once(format!("{}.transposed", part.named(tensor)), |weights, name| {
            let found = weights.take(tensor, &[columns, all])?;
            let size = found.scalar_type.size();
            let stored = found.shard.bytes().get(found.start..found.start + columns * all * size);
            let stored = stored.ok_or_else(|| CheckpointError::TensorMissing(name.to_owned()))?;
            let bytes = transposed::rows(stored, size, columns, Turns { first, step: 1, count, all });
            Ok((spec(found.scalar_type, &[count, columns]), ConstantData::new(bytes)))
        })
    }

    /// Blocks of rows of a matrix `[all, columns]`, each transposed to `[columns, rows]`, in the type of the checkpoint. Blocks are of one size.
    pub fn transposed_blocks(&mut self, tensor: &str, blocks: &[Part], columns: usize) -> Vec<Constant> {
        let Some(Part { count, all, .. }) = blocks.first().copied() else { return Vec::new() };
        let whole = self.once(format!("{tensor}.blocks"), |weights, name| {
            let found = weights.take(tensor, &[all, columns])?;
            let row = columns * found.scalar_type.size();
            let mut bytes = Vec::with_capacity(blocks.len() * count * row);
            for block in blocks {
                let start = found.start + block.first * row;
                let stored = found.shard.bytes().get(start..start + count * row);
                let stored = stored.ok_or_else(|| CheckpointError::TensorMissing(name.to_owned()))?;
                transpose(stored, [count, columns], found.scalar_type.size(), &mut bytes);
            }
            Ok((spec(found.scalar_type, &[blocks.len() * columns, count]), ConstantData::new(bytes)))
        });
        if self.failed() {
            return Vec::new();
        }
        let (scalar_type, size) = (whole.spec.scalar_type, columns * count * whole.spec.scalar_type.size());
        let owner: Arc<dyn Buffer> = Arc::new(Whole(whole.data));
        let names = blocks.iter().map(|block| format!("{}.transposed", block.named(tensor)));
        names
            .enumerate()
            .map(|(index, name)| {
                self.once(name, |_, name| {
                    let data = ConstantData::part_of(owner.clone(), index * size, size);
                    let data = data.ok_or_else(|| CheckpointError::TensorMissing(name.to_owned()))?;
                    Ok((spec(scalar_type, &[columns, count]), data))
                })
            })
            .collect()
    }

    /// Rows of a transposed matrix in a stack `[matrices, columns, all]`, in the type of the checkpoint.
    pub fn transposed_of_stack(
        &mut self,
        tensor: &str,
        [index, matrices]: [usize; 2],
        rows: Turns,
        columns: usize,
    ) -> Constant {
        let Turns { first, count, all, .. } = rows;
        self.once(format!("{tensor}.{index}.{first}"), |weights, name| {
            let found = weights.take(tensor, &[matrices, columns, all])?;
            let (size, matrix) = (found.scalar_type.size(), columns * all * found.scalar_type.size());
            let stored = ConstantData::part_of(found.shard.clone(), found.start + index * matrix, matrix);
            let stored = stored.ok_or_else(|| CheckpointError::TensorMissing(name.to_owned()))?;
            let data = weights.keep(name, &Transposed { stored, size, columns, rows });
            Ok((spec(found.scalar_type, &[count, columns]), data))
        })
    }

    /// The kernels of a convolution over frames as a matrix with a row for each output, `[outputs, channels * frames * pixels]`, of kernels for
    /// each frame, `[outputs, channels, ..]`: those of later frames have the number of the frame behind the name. The type is that of the checkpoint.
    pub fn joined_frames(&mut self, tensor: &str, frames: usize, shape: &[usize]) -> Constant {
        let rows = shape.first().copied().unwrap_or(1).max(1);
        let channels = shape.get(1).copied().unwrap_or(1).max(1);
        let numbers = shape.iter().product::<usize>();
        self.once(format!("{tensor}.frames"), |weights, name| {
            let (mut parts, mut scalar_type) = (Vec::new(), None);
            for frame in 0..frames {
                let of_frame = if frame == 0 { tensor.to_owned() } else { format!("{tensor}.{frame}") };
                let found = weights.take(&of_frame, shape)?;
                let wanted = *scalar_type.get_or_insert(found.scalar_type);
                if found.scalar_type != wanted {
                    let found = found.scalar_type.name();
                    return Err(CheckpointError::ElementType { tensor: of_frame, found });
                }
                let part = ConstantData::part_of(found.shard.clone(), found.start, numbers * wanted.size());
                parts.push(part.ok_or(CheckpointError::TensorMissing(of_frame))?);
            }
            let scalar_type = scalar_type.unwrap_or(ScalarType::Float);
            let block = numbers / (rows * channels) * scalar_type.size();
            let data = weights.keep(name, &Interleaved { parts, block });
            Ok((spec(scalar_type, &[rows, frames * numbers / rows]), data))
        })
    }

    /// A matrix whose columns are those of each channel in turn, for each of the patches of a square; the result has the columns of each patch
    /// in turn. The type is that of the checkpoint.
    pub fn by_patch(&mut self, tensor: &str, rows: usize, [channels, patches]: [usize; 2]) -> Constant {
        self.once(format!("{tensor}.by_patch"), |weights, name| {
            let columns = channels * patches;
            let found = weights.take(tensor, &[rows, columns])?;
            let size = found.scalar_type.size();
            let stored = found.shard.bytes().get(found.start..found.start + rows * columns * size);
            let stored = stored.ok_or_else(|| CheckpointError::TensorMissing(name.to_owned()))?;
            let mut bytes = Vec::with_capacity(stored.len());
            stored
                .chunks_exact((columns * size).max(1))
                .for_each(|row| transpose(row, [channels, patches], size, &mut bytes));
            Ok((spec(found.scalar_type, &[rows, columns]), ConstantData::new(bytes)))
        })
    }

    /// Whether a tensor has this shape.
    pub fn has_shape(&self, tensor: &str, shape: &[usize]) -> bool {
        self.tensors.get(tensor).is_some_and(|found| found.shape == shape)
    }

    /// Columns of a table `[rows, all]`, as `float32`.
    pub fn columns(&mut self, tensor: &str, rows: usize, columns: Turns) -> Constant {
        let Turns { first, step, count, all } = columns;
        self.once(format!("{tensor}.{first}"), |weights, name| {
            let found = weights.take(tensor, &[rows, all])?;
            let floats = found.floats(0, rows * all);
            let floats = floats.ok_or_else(|| CheckpointError::TensorMissing(name.to_owned()))?;
            let floats: Vec<f32> = floats.into_iter().skip(first).step_by(step).collect();
            Ok(vector_of(&[rows, count], &floats))
        })
    }

    /// The kernels of a depthwise convolution over time, stored as `[channels, 1, kernel]` or in GGUF as `[channels, kernel]`, as `float32`,
    /// `[channels, kernel]`.
    pub fn kernels(&mut self, tensor: &str, sizes: [usize; 2]) -> Constant {
        let is_flat = self.tensors.get(tensor).is_some_and(|found| found.shape.len() == 2);
        let shape = if is_flat { sizes.to_vec() } else { vec![sizes[0], 1, sizes[1]] };
        self.once(tensor.to_owned(), |weights, name| {
            let found = weights.take(tensor, &shape)?;
            let floats = found.floats(0, sizes[0] * sizes[1]);
            Ok(vector_of(&sizes, &floats.ok_or_else(|| CheckpointError::TensorMissing(name.to_owned()))?))
        })
    }

    /// The rates of a state space, of which checkpoints store the logarithms of the absolute values, as `float32`, `[heads, width]`:
    /// a vector of one rate for each head, or a matrix of rates for each state of a head.
    pub fn rates(&mut self, tensor: &str, heads: usize, states: Option<usize>) -> Constant {
        let sizes = [heads, states.unwrap_or(1)];
        self.once(tensor.to_owned(), |weights, name| {
            let stored = if states.is_none() { &sizes[..1] } else { &sizes[..] };
            let found = weights.take(tensor, stored)?;
            let floats = found.floats(0, sizes[0] * sizes[1]);
            let floats = floats.ok_or_else(|| CheckpointError::TensorMissing(name.to_owned()))?;
            let rates: Vec<f32> = floats.into_iter().map(|logarithm| -logarithm.exp()).collect();
            Ok(vector_of(&sizes, &rates))
        })
    }

    /// A table of so many rows and columns, as `float32`.
    pub fn table(&mut self, tensor: &str, sizes: [usize; 2]) -> Constant {
        self.once(tensor.to_owned(), |weights, name| {
            let found = weights.take(tensor, &sizes)?;
            let floats = found.floats(0, sizes[0] * sizes[1]);
            Ok(vector_of(&sizes, &floats.ok_or_else(|| CheckpointError::TensorMissing(name.to_owned()))?))
        })
    }

    /// The vectors of these tensors, each of `count` elements, as the rows of a `float32` table.
    pub fn stacked(&mut self, name: &str, tensors: &[String], count: usize) -> Constant {
        self.once(name.to_owned(), |weights, name| {
            let mut rows = Vec::new();
            for tensor in tensors {
                let found = weights.take(tensor, &[count])?;
                let row = found.floats(0, count);
                rows.extend(row.ok_or_else(|| CheckpointError::TensorMissing(name.to_owned()))?);
            }
            Ok(vector_of(&[tensors.len(), count], &rows))
        })
    }
}
