//! Tensors and operators of the graph under construction.

use et_core::ScalarType;
use etbuild_backend::Refusal;
use etbuild_backend::int8::pattern::{self, Operand};
use etbuild_ir::ValueId;

use super::{Done, Lowering, Output, Target, cut};
use crate::tosa::operation::{Clamp, Rescale, Reshape, Scale, Transpose};
use crate::tosa::{Kind, Operation, Operator, TensorId};

/// The order of the elements of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// The order of the value.
    RowMajor,
    /// `[batch, height, width, channels]`; images of one dimension have height 1.
    Nhwc,
}

/// An int8 tensor.
#[derive(Clone, Copy, Debug)]
pub struct Stored {
    pub tensor: TensorId,
    pub order: Order,
}

/// The name, the type and the sizes of a result.
pub type Named<'a> = (&'a str, Kind, &'a [usize]);

/// Integers of one scale as integers of another.
#[derive(Clone, Debug)]
pub struct Rescaling {
    pub zero: i32,
    /// A factor, or a factor for each channel.
    pub scales: Vec<Scale>,
    pub to: Kind,
    pub to_zero: i32,
}

impl<'g> Lowering<'g> {
    /// The name of a value.
    pub fn name(&self, id: ValueId) -> &'g str {
        &self.links.graph.value(id).name
    }

    /// The sizes of a value.
    pub fn sizes(&self, id: ValueId) -> Vec<usize> {
        self.links.graph.spec(id).sizes.iter().map(|size| usize::try_from(*size).unwrap_or(0)).collect()
    }

    /// The sizes of a tensor.
    pub fn sizes_of(&self, tensor: TensorId) -> Vec<usize> {
        self.graph.get(tensor).sizes.clone()
    }

    /// Adds an input of the partition.
    pub(super) fn input(&mut self, id: ValueId) -> Done {
        if self.links.graph.spec(id).scalar_type != ScalarType::Char {
            return Err(cut());
        }
        let tensor = self.graph.input(self.name(id), &self.sizes(id));
        self.stored.insert(id, Stored { tensor, order: Order::RowMajor });
        Ok(())
    }

    /// Adds an output of the partition.
    pub(super) fn output(&mut self, id: ValueId) -> Result<Output, Refusal> {
        let operand = pattern::operand(self.links, id).filter(|_| self.stored.get(id).is_none());
        let tensor = self.ordered(operand.map_or(id, |operand| operand.id), Order::RowMajor)?;
        if self.graph.inputs.contains(&tensor) {
            return Err(cut());
        }
        let known = self.graph.outputs.iter().position(|output| *output == tensor);
        let position = known.unwrap_or_else(|| {
            self.graph.outputs.push(tensor);
            self.graph.outputs.len() - 1
        });
        Ok(Output { position, dequantized: operand.map(|operand| operand.qparams) })
    }

    /// The int8 tensor of a value.
    ///
    /// # Errors
    /// A value that is computed elsewhere.
    pub(super) fn stored(&mut self, id: ValueId) -> Result<Stored, Refusal> {
        if self.is_check && self.stored.get(id).is_none() {
            self.input(id)?;
        }
        self.stored.get(id).copied().ok_or_else(cut)
    }

    /// The int8 tensor of a value in an order.
    ///
    /// # Errors
    /// As [`Self::stored`]; images of another rank than 3 or 4.
    pub fn ordered(&mut self, id: ValueId, order: Order) -> Result<TensorId, Refusal> {
        let stored = self.stored(id)?;
        if stored.order == order {
            return Ok(stored.tensor);
        }
        let (name, sizes) = (self.name(id), self.sizes(id));
        let [batch, channels, height, width] = etbuild_backend::image_sizes(&sizes)?;
        let tensor = match order {
            Order::Nhwc => {
                let planes = self.reshaped(stored.tensor, &[batch, channels, height, width], name);
                self.permuted(planes, &[0, 2, 3, 1], &format!("{name}.nhwc"))
            }
            Order::RowMajor => {
                let planes = self.permuted(stored.tensor, &[0, 3, 1, 2], &format!("{name}.nchw"));
                self.reshaped(planes, &sizes, name)
            }
        };
        // The first reader decides: later readers of the same order find the copy.
        self.stored.insert(id, Stored { tensor, order });
        Ok(tensor)
    }

    /// Adds an operator.
    pub fn emit(&mut self, operation: impl Operation + 'static, inputs: &[TensorId], named: Named<'_>) -> TensorId {
        let output = self.graph.tensor(named.0, named.1, named.2);
        self.graph.operators.push(Operator { operation: Box::new(operation), inputs: inputs.to_vec(), output });
        output
    }

    /// Adds an int8 constant.
    pub fn bytes(&mut self, name: &str, sizes: &[usize], data: Vec<u8>) -> TensorId {
        self.constant(name, Kind::Int8, sizes, data)
    }

    /// Adds a constant of one number.
    pub fn number(&mut self, name: &str, kind: Kind, number: i32) -> TensorId {
        self.constant(name, kind, &[1], number.to_le_bytes()[..kind.width()].to_vec())
    }

    /// Adds a constant of int32 numbers.
    pub fn integers(&mut self, name: &str, numbers: &[i32]) -> TensorId {
        let bytes = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
        self.constant(name, Kind::Int32, &[numbers.len()], bytes)
    }

    /// Adds sizes as a constant.
    pub fn shape(&mut self, name: &str, sizes: &[usize]) -> TensorId {
        let bytes = sizes.iter().flat_map(|size| (*size as i64).to_le_bytes()).collect();
        self.constant(name, Kind::Shape, &[sizes.len()], bytes)
    }

    /// Equal constants are one tensor.
    fn constant(&mut self, name: &str, kind: Kind, sizes: &[usize], data: Vec<u8>) -> TensorId {
        let is_equal = |tensor: &crate::tosa::Tensor| {
            tensor.kind == kind && tensor.sizes == sizes && tensor.data.as_ref() == Some(&data)
        };
        match self.graph.tensors.iter().position(is_equal) {
            Some(position) => TensorId(position),
            None => self.graph.constant(name, kind, sizes, data),
        }
    }

    /// The tensor in other sizes.
    pub fn reshaped(&mut self, tensor: TensorId, sizes: &[usize], name: &str) -> TensorId {
        if self.sizes_of(tensor) == sizes {
            return tensor;
        }
        let kind = self.graph.get(tensor).kind;
        let shape = self.shape(&format!("{name}.shape"), sizes);
        self.emit(Reshape, &[tensor, shape], (name, kind, sizes))
    }

    /// The tensor with dimensions in another order: a change of sizes where only dimensions of size 1 move.
    pub fn permuted(&mut self, tensor: TensorId, order: &[usize], name: &str) -> TensorId {
        let from = self.sizes_of(tensor);
        let sizes: Vec<usize> = order.iter().map(|dim| from.get(*dim).copied().unwrap_or(0)).collect();
        let moved: Vec<usize> = order.iter().copied().filter(|dim| from.get(*dim) != Some(&1)).collect();
        if moved.is_sorted() {
            return self.reshaped(tensor, &sizes, name);
        }
        let kind = self.graph.get(tensor).kind;
        self.emit(Transpose { order: order.to_vec() }, &[tensor], (name, kind, &sizes))
    }

    /// The tensor in another scale.
    pub fn rescaled(&mut self, tensor: TensorId, rescaling: &Rescaling, name: &str) -> TensorId {
        let Rescaling { zero, scales, to, to_zero } = rescaling;
        let from = self.graph.get(tensor).kind;
        let multipliers: Vec<i32> = scales.iter().map(|scale| scale.multiplier).collect();
        let shifts: Vec<u8> = scales.iter().map(|scale| scale.shift.cast_unsigned()).collect();
        let inputs = [
            tensor,
            self.integers(&format!("{name}.multiplier"), &multipliers),
            self.bytes(&format!("{name}.shift"), &[shifts.len()], shifts),
            self.number(&format!("{name}.zero_in"), from, *zero),
            self.number(&format!("{name}.zero_out"), *to, *to_zero),
        ];
        let sizes = self.sizes_of(tensor);
        let operation = Rescale { to: *to, per_channel: scales.len() > 1 };
        self.emit(operation, &inputs, (name, *to, &sizes))
    }

    /// The int8 result of a pattern, from int32 sums with a factor for all or each of the channels.
    pub fn finish(&mut self, sums: TensorId, scales: Vec<Scale>, target: &Target) -> TensorId {
        let name = self.name(target.id);
        let rescaling = Rescaling { zero: 0, scales, to: Kind::Int8, to_zero: target.qparams.zero };
        let result = self.rescaled(sums, &rescaling, name);
        self.limited(result, target)
    }

    /// The int8 result of a pattern within its limits.
    pub fn limited(&mut self, tensor: TensorId, target: &Target) -> TensorId {
        let [least, most] = target.limits;
        if target.limits == [i8::MIN, i8::MAX] {
            return tensor;
        }
        let (name, sizes) = (self.name(target.id), self.sizes_of(tensor));
        self.emit(Clamp { least, most }, &[tensor], (&format!("{name}.clamp"), Kind::Int8, &sizes))
    }

    /// Lets a value be a tensor.
    pub fn store(&mut self, target: &Target, tensor: TensorId, order: Order) {
        self.stored.insert(target.id, Stored { tensor, order });
    }

    /// The tensor of an operand, row-major.
    pub fn row_major(&mut self, operand: Operand) -> Result<TensorId, Refusal> {
        self.ordered(operand.id, Order::RowMajor)
    }
}
