//! The constants and the state that all methods have, each made once.

mod layouts;
mod list;
mod ordered;
mod stored;

use std::collections::BTreeMap;

use et_core::ScalarType;
use etbuild_ir::{ConstantData, TensorSpec};
use etbuild_weights::{Keeper, Rotation};

pub use list::Listed;
use stored::{Offsets, Rows};

use crate::constant::{Constant, Part, spec, vector_of};
use crate::shards::Tensors;
use crate::{
    Adapter, AttentionTemperature, Cache, CheckpointError, Decoder, Kept, Names, Options, Relative, Rotary, relative,
    rotary, slopes,
};

/// Tensors that follow from the rest though checkpoints store them: frequencies, and causal masks of old checkpoints.
const FOLLOWING: &[&str] =
    &["rotary_emb.inv_freq", ".attn.bias", ".attn.masked_bias", ".attention.bias", ".attention.masked_bias"];

/// The most mistakes in a message.
const ENOUGH: usize = 16;

/// The most elements of a state that is no KV cache: tensors confirm each of its sizes and not their product, which is at most a few
/// millions in published models.
const LARGEST_STATE: usize = 1 << 28;

/// Constants by name. A missing constant is noted and stands as zero bytes, so that all mistakes are found at once; the
/// program is then dropped.
pub struct Weights<'d> {
    pub(super) decoder: &'d Decoder,
    /// The maker of rotated matrices.
    pub(super) keeper: &'d dyn Keeper,
    rotation: Option<Rotation>,
    tensors: Tensors,
    /// The adapter over the linear layers.
    pub(super) adapter: Option<Adapter>,
    made: BTreeMap<String, Constant>,
    errors: Vec<CheckpointError>,
    /// The most tokens of a text.
    pub context: u32,
    /// The most image tokens of a picture, where pictures have several sizes.
    pub image_tokens: u32,
    /// The most tokens of a piece.
    pub piece: u32,
    /// The most tokens of a call: of a piece, or of a tile of a picture.
    most: u32,
    cache: Cache,
    /// Which groups of integers stay.
    keeps: Kept,
}

impl<'d> Weights<'d> {
    /// Weights for texts of at most `context` tokens, and pictures of at most `image_tokens`.
    pub fn new(
        decoder: &'d Decoder,
        (tensors, adapter): (Tensors, Option<Adapter>),
        keeper: &'d dyn Keeper,
        [context, image_tokens]: [u32; 2],
        options: &Options,
    ) -> Self {
        let Options { cache, rotation, .. } = *options;
        // Rotated numbers are others.
        let keeps = if rotation.is_some() { Kept::Nothing } else { options.keeps };
        let piece = options.prefill.last().copied().unwrap_or(1).clamp(1, context);
        let tile = decoder.call(image_tokens).unwrap_or(1);
        let most = piece.max(u32::try_from(tile).unwrap_or(u32::MAX));
        let (made, errors) = (BTreeMap::new(), Vec::new());
        Self {
            decoder,
            keeper,
            rotation,
            tensors,
            adapter,
            made,
            errors,
            context,
            image_tokens,
            piece,
            most,
            cache,
            keeps,
        }
    }

    /// Whether the model is rotated.
    pub const fn rotates(&self) -> bool {
        self.rotation.is_some()
    }

    /// Whether so much is wrong that more would help nobody.
    pub fn gave_up(&self) -> bool {
        self.errors.len() >= ENOUGH
    }

    /// Whether a mistake was found.
    pub(super) fn failed(&self) -> bool {
        !self.errors.is_empty()
    }

    /// The mistakes, and the unused tensors of the checkpoint.
    pub fn finish(mut self) -> Vec<CheckpointError> {
        if self.errors.is_empty() {
            let (tied, table, head) = (self.decoder.tied, self.decoder.names.table(), self.head());
            let vision = self.decoder.vision.as_ref();
            let follows = |name: &str| {
                FOLLOWING.iter().any(|ending| name.ends_with(ending))
                    || (tied && name == head)
                    || self.decoder.source.is_some_and(|source| source.is_unused(name))
                    || vision.is_some_and(|vision| vision.is_unused(name))
            };
            let left = self.tensors.left(follows);
            self.errors.extend((!left.is_empty()).then_some(CheckpointError::TensorsUnknown(left)));
            let of_model = |name: &str| self.tensors.get(if tied && name == head { &table } else { name });
            let mistake = self.adapter.and_then(|adapter| adapter.finish(of_model));
            self.errors.extend(mistake.map(CheckpointError::of_adapter));
        }
        self.errors
    }

    /// The name of the head's matrix: newer checkpoints have Llama's name in place of the family's.
    pub fn head(&self) -> String {
        let [own, common] = [&self.decoder.names, &Names::LLAMA].map(Names::head_matrix);
        if !self.tensors.has(&own) && self.tensors.has(&common) { common } else { own }
    }

    /// Notes a mistake.
    pub(super) fn mistaken(&mut self, error: CheckpointError) {
        self.errors.push(error);
    }

    /// Rows of a matrix with this number of columns, in the type of the checkpoint.
    pub(super) fn stored_matrix(&mut self, tensor: &str, part: Part, columns: usize) -> Constant {
        self.matrix_with(Offsets::Refused, tensor, part, columns)
    }

    /// The same of a matrix whose reader adds the offsets of groups.
    pub(super) fn stored_with_offsets(&mut self, tensor: &str, part: Part, columns: usize) -> Constant {
        self.matrix_with(Offsets::Own, tensor, part, columns)
    }

    /// The same of a table whose rows are looked up, and which may be the matrix of a linear layer too.
    pub(super) fn stored_table(&mut self, tensor: &str, part: Part, columns: usize, is_matrix: bool) -> Constant {
        self.matrix_with(if is_matrix { Offsets::Both } else { Offsets::Rows }, tensor, part, columns)
    }

    fn matrix_with(&mut self, offsets: Offsets, tensor: &str, part: Part, columns: usize) -> Constant {
        let Part { first, count, all } = part;
        self.rows(part.named(tensor), &Rows { tensor, shape: &[all, columns], offsets, first, count })
    }

    /// A whole tensor of numbers, in the type of the checkpoint.
    pub fn array(&mut self, tensor: &str, shape: &[usize]) -> Constant {
        self.once(tensor.to_owned(), |weights, name| {
            let found = weights.take(name, shape)?;
            let bytes = shape.iter().product::<usize>() * found.scalar_type.size();
            let data = ConstantData::part_of(found.shard.clone(), found.start, bytes);
            let data = data.ok_or_else(|| CheckpointError::TensorMissing(name.to_owned()))?;
            Ok((spec(found.scalar_type, shape), data))
        })
    }

    /// A whole tensor of numbers as a matrix whose rows are along the first dimension, in the type of the checkpoint.
    pub fn flattened(&mut self, tensor: &str, shape: &[usize]) -> Constant {
        let mut matrix = self.array(tensor, shape);
        let rows = shape.first().copied().unwrap_or(1).max(1);
        if matrix.spec.numel() > 0 {
            matrix.spec = spec(matrix.spec.scalar_type, &[rows, shape.iter().product::<usize>() / rows]);
        }
        matrix
    }

    /// Elements of a vector, as `float32`, with `more` added to each.
    pub fn vector(&mut self, tensor: &str, part: Part, more: f32) -> Constant {
        let Part { first, count, all } = part;
        self.once(part.named(tensor), |weights, name| {
            let found = weights.take(tensor, &[all])?;
            let mut floats =
                found.floats(first, count).ok_or_else(|| CheckpointError::TensorMissing(name.to_owned()))?;
            floats.iter_mut().for_each(|element| *element += more);
            Ok(vector_of(&[count], &floats))
        })
    }

    /// A vector of so many elements, which checkpoints have as such or as a matrix of one row, as `float32`.
    pub fn row(&mut self, tensor: &str, count: usize) -> Constant {
        let is_matrix = self.tensors.get(tensor).is_some_and(|found| found.shape.len() == 2);
        let shape = if is_matrix { vec![1, count] } else { vec![count] };
        self.once(tensor.to_owned(), |weights, name| {
            let found = weights.take(name, &shape)?;
            let floats = found.floats(0, count).ok_or_else(|| CheckpointError::TensorMissing(name.to_owned()))?;
            Ok(vector_of(&[count], &floats))
        })
    }

    /// The cosines and the sines of a rotary, for queries of this attention temperature multiplied by the factor of the position.
    pub fn rotary(&mut self, index: usize, temperature: Option<AttentionTemperature>) -> [Constant; 2] {
        let (context, rotary) = (self.context, self.decoder.rotaries.get(index));
        let Some(rotary) = rotary else { return ["cosines", "sines"].map(|name| self.nothing(name)) };
        match temperature.filter(|temperature| context as usize > temperature.period) {
            Some(temperature) => self.turns(&format!("rotary.{index}.queries"), rotary, context, Some(temperature)),
            None => self.angles(&format!("rotary.{index}"), rotary, context),
        }
    }

    /// The cosines and the sines of so many positions.
    pub fn angles(&mut self, name: &str, rotary: &Rotary, positions: u32) -> [Constant; 2] {
        self.turns(name, rotary, positions, None)
    }

    /// The same of pairs whose wavelengths are between those of the rotary's pairs.
    pub fn angles_between(&mut self, name: &str, rotary: &Rotary, positions: u32) -> [Constant; 2] {
        let all = Rotary { pairs: 2 * rotary.pairs, ..rotary.clone() };
        if !self.errors.is_empty() {
            return ["cosines", "sines"].map(|name| self.nothing(name));
        }
        let shape = [positions as usize, rotary.pairs];
        let mut kinds = ["cosines", "sines"].into_iter().zip(rotary::tables(&all, positions));
        std::array::from_fn(|_| {
            let (kind, table) = kinds.next().unwrap_or_default();
            let between: Vec<f32> = table.into_iter().skip(1).step_by(2).collect();
            self.once(format!("{name}.{kind}"), |_, _| Ok(vector_of(&shape, &between)))
        })
    }

    fn turns(
        &mut self,
        name: &str,
        rotary: &Rotary,
        positions: u32,
        temperature: Option<AttentionTemperature>,
    ) -> [Constant; 2] {
        // Sizes that no tensor has confirmed are not allocated.
        if !self.errors.is_empty() {
            return ["cosines", "sines"].map(|name| self.nothing(name));
        }
        let names = ["cosines", "sines"].map(|kind| format!("{name}.{kind}"));
        if let [Some(cosines), Some(sines)] = names.each_ref().map(|name| self.made.get(name)) {
            return [cosines.clone(), sines.clone()];
        }
        let mut tables = rotary::tables(rotary, positions);
        if let Some(temperature) = temperature {
            tables.iter_mut().for_each(|table| rotary::scale_queries(table, rotary.pairs, temperature));
        }
        let shape = [positions as usize, rotary.pairs];
        let mut pairs = names.into_iter().zip(tables);
        std::array::from_fn(|_| {
            let (name, table) = pairs.next().unwrap_or_default();
            self.once(name, |_, _| Ok(vector_of(&shape, &table)))
        })
    }

    /// The first value of a KV cache of layers with this attention window, with so many heads of so many elements: zeros. The cache of a sliding
    /// window has the capacity of the window and a call, and is a ring buffer.
    pub fn cache(&mut self, window: Option<usize>, sizes: [usize; 2]) -> Constant {
        let context = self.context as usize;
        let slots = window.map_or(context, |window| context.min(window.saturating_add(self.most as usize - 1)));
        self.memory(slots, sizes)
    }

    /// The first value of the earlier rows that a convolution over time reads, a ring buffer as that of a sliding window: zeros.
    pub fn earlier_rows(&mut self, channels: usize, kernel: usize) -> Constant {
        if !self.errors.is_empty() {
            return self.nothing("");
        }
        let slots = (self.context as usize).min(kernel + self.most as usize - 1);
        self.once(format!("rows of {slots} by {channels}"), |_, _| {
            let spec = spec(ScalarType::Float, &[1, slots, 1, channels]);
            let data = ConstantData::new(vec![0; spec.nbytes()]);
            Ok((spec, data))
        })
    }

    /// The first value of a state that is no KV cache: zeros.
    pub fn recurrent(&mut self, sizes: [usize; 3]) -> Constant {
        if !self.errors.is_empty() {
            return self.nothing("");
        }
        self.once(format!("state of {sizes:?}"), |_, _| {
            if sizes.iter().product::<usize>() > LARGEST_STATE {
                return Err(CheckpointError::StateTooLarge(sizes));
            }
            let spec = spec(ScalarType::Float, &sizes);
            let data = ConstantData::new(vec![0; spec.nbytes()]);
            Ok((spec, data))
        })
    }

    /// The first value of the keys, or of the values, of so many positions, with so many heads of so many elements: zeros.
    pub fn memory(&mut self, slots: usize, [heads, depth]: [usize; 2]) -> Constant {
        if !self.errors.is_empty() {
            return self.nothing("");
        }
        self.once(format!("cache of {slots} by {heads} by {depth}"), |weights, _| {
            let spec = spec(weights.cache.scalar_type(), &[1, slots, heads, weights.cache.row(depth)]);
            let data = ConstantData::new(vec![0; spec.nbytes()]);
            Ok((spec, data))
        })
    }

    /// The slopes of so many heads.
    pub fn slopes(&mut self, heads: usize) -> Constant {
        self.once("slopes".to_owned(), |_, _| Ok(vector_of(&[heads], &slopes::of(heads))))
    }

    /// What each head adds to the scores, `[heads, distances]`, up to the distance from which on nothing changes.
    pub fn by_distance(&mut self, relative: Relative, heads: usize) -> Constant {
        let Relative { table, buckets, farthest } = relative;
        self.once(format!("{table}.by_distance"), |weights, name| {
            let found = weights.take(table, &[buckets, heads])?;
            let rows = found.floats(0, buckets * heads);
            let rows = rows.ok_or_else(|| CheckpointError::TensorMissing(name.to_owned()))?;
            let of = |head: usize, distance: usize| {
                rows.get(relative::bucket(distance, buckets, farthest) * heads + head).copied().unwrap_or(0.0)
            };
            let numbers = (0..heads).flat_map(|head| (0..=farthest).map(move |distance| (head, distance)));
            let numbers: Vec<f32> = numbers.map(|(head, distance)| of(head, distance)).collect();
            Ok(vector_of(&[heads, farthest + 1], &numbers))
        })
    }

    /// A number, `[1]`.
    pub fn number(&mut self, number: f64) -> Constant {
        self.once(format!("number.{number}"), |_, _| Ok(vector_of(&[1], &[number as f32])))
    }

    /// A vector of ranges of equal numbers, as long as rows of a tensor that was found.
    pub fn ranges(&mut self, name: &str, ranges: impl Iterator<Item = (f64, usize)>) -> Constant {
        if !self.errors.is_empty() {
            return self.nothing(name);
        }
        let numbers: Vec<f32> = ranges.flat_map(|(number, count)| std::iter::repeat_n(number as f32, count)).collect();
        self.once(name.to_owned(), |_, _| Ok(vector_of(&[numbers.len()], &numbers)))
    }

    /// Integers.
    pub fn integers(&mut self, name: &str, values: &[i64]) -> Constant {
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        self.once(name.to_owned(), |_, _| Ok((spec(ScalarType::Long, &[values.len()]), ConstantData::new(bytes))))
    }

    /// The numbers from 0 to `count` in each of so many rows.
    pub fn in_order(&mut self, rows: usize, count: usize) -> Constant {
        let numbers: Vec<i64> = (0..rows).flat_map(|_| (0..).take(count)).collect();
        let numbers = self.integers(&format!("in order.{rows}.{count}"), &numbers);
        Constant { spec: spec(ScalarType::Long, &[rows, count]), ..numbers }
    }

    pub(super) fn once(
        &mut self,
        name: String,
        make: impl FnOnce(&mut Self, &str) -> Result<(TensorSpec, ConstantData), CheckpointError>,
    ) -> Constant {
        self.once_constant(name, |weights, name| {
            let (spec, data) = make(weights, name)?;
            Ok(Constant::plain(name, spec, data))
        })
    }

    fn once_constant(
        &mut self,
        name: String,
        make: impl FnOnce(&mut Self, &str) -> Result<Constant, CheckpointError>,
    ) -> Constant {
        if let Some(made) = self.made.get(&name) {
            return made.clone();
        }
        let made = match make(self, &name) {
            Ok(constant) => constant,
            Err(error) => {
                self.errors.push(error);
                self.nothing(&name)
            }
        };
        self.made.insert(name, made.clone());
        made
    }

    /// A constant in place of a missing constant.
    fn nothing(&self, name: &str) -> Constant {
        Constant::plain(name, spec(ScalarType::Float, &[0]), ConstantData::new(Vec::new()))
    }
}
