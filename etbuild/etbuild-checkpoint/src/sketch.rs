//! A graph in the making: one function for each operator that models call.

mod heads;
mod magnitude;
mod mixture;
mod recurrent;
mod relative;

pub use recurrent::{Remembered, Scanned};
use std::collections::BTreeMap;
use std::sync::Arc;

use et_core::ScalarType;
use etbuild_ir::{
    Argument, Graph, IdMap, Interval, Node, OperatorName, SymbolicSize, TensorSpec, Update, ValueId, ValueKind,
};

use crate::constant::{Constant, Groups, spec};
use crate::{Activation, Norm, NormKind};

/// A graph, and the module of the nodes to add.
#[derive(Default)]
pub struct Sketch {
    graph: Graph,
    module: String,
    constants: BTreeMap<String, ValueId>,
    states: BTreeMap<String, ValueId>,
    /// `float32` values of half-precision constants.
    widened: IdMap<ValueId>,
    /// Products of values and the first matrices of adapters.
    narrowed: BTreeMap<(ValueId, ValueId), ValueId>,
    /// Means of groups of so many neighbours.
    means: BTreeMap<(ValueId, usize), ValueId>,
    /// Values that are read again, by name.
    marked: BTreeMap<String, ValueId>,
}

impl Sketch {
    /// The module of the next nodes.
    pub fn module(&self) -> &str {
        &self.module
    }

    /// Adds the next nodes as a part of this module of the model.
    pub fn enter(&mut self, module: impl Into<String>) {
        self.module = module.into();
    }

    /// Keeps a value for [`Self::marked`].
    pub fn mark(&mut self, name: String, value: ValueId) {
        self.marked.insert(name, value);
    }

    /// The value that was kept under a name.
    pub fn marked(&self, name: &str) -> Option<ValueId> {
        self.marked.get(name).copied()
    }

    /// The graph, with these results.
    pub fn finish(mut self, outputs: Vec<ValueId>) -> Graph {
        self.graph.outputs = outputs;
        self.graph
    }

    /// An input of integers.
    pub fn input(&mut self, name: &str, sizes: &[usize]) -> ValueId {
        self.add_input(name, spec(ScalarType::Long, sizes))
    }

    /// An input of numbers.
    pub fn numbers(&mut self, name: &str, sizes: &[usize]) -> ValueId {
        self.add_input(name, spec(ScalarType::Float, sizes))
    }

    /// An input of integers, `[1, n]`, for any `n` from 1 to `most`; the result is the input with `n`.
    pub fn text(&mut self, name: &str, most: usize) -> ValueId {
        self.several(name, spec(ScalarType::Long, &[1, most]), 1, 1)
    }

    /// An input whose dimension has a multiple of `factor` elements, up to those of `most`; inputs of this kind have `n` times the factor.
    pub fn several(&mut self, name: &str, most: TensorSpec, dimension: usize, factor: usize) -> ValueId {
        let (rank, factor) = (most.rank(), i32::try_from(factor).unwrap_or(i32::MAX));
        let mut least = most.sizes.to_vec();
        least.iter_mut().skip(dimension).take(1).for_each(|size| *size = factor);
        let is_single = most.sizes.get(dimension) == Some(&factor);
        let id = self.add_input(name, most.with_least(least));
        let size = SymbolicSize { symbol: Arc::from("n"), factor, offset: 0 };
        if let Some(value) = self.graph.values.get_mut(id.index()) {
            value.symbolic = (0..rank).map(|index| (index == dimension && !is_single).then(|| size.clone())).collect();
        }
        id
    }

    fn add_input(&mut self, name: &str, spec: TensorSpec) -> ValueId {
        let id = self.graph.add_value(name, spec, ValueKind::Input);
        self.graph.inputs.push(id);
        id
    }

    /// The size of the second dimension of a value, as a number from 1 to `most`.
    pub fn length(&mut self, of: ValueId, most: usize) -> ValueId {
        let output = TensorSpec::contiguous(ScalarType::Long, []);
        let number = self.call("aten.sym_size.int", vec![Argument::Value(of), Argument::Int(1)], output);
        if let Some(value) = self.graph.values.get_mut(number.index()) {
            value.number = Some(Interval { least: 1, most: most as i64 });
        }
        number
    }

    /// A constant; the same value at every call.
    pub fn constant(&mut self, constant: &Constant) -> ValueId {
        if let Some(id) = self.constants.get(&constant.name) {
            return *id;
        }
        let kind = ValueKind::Constant { qualified_name: constant.name.clone(), data: constant.data.clone() };
        let id = self.graph.add_value(&identifier(&constant.name), constant.spec.clone(), kind);
        self.constants.insert(constant.name.clone(), id);
        id
    }

    /// A constant as `float32`: integers in groups become numbers.
    pub fn floats(&mut self, constant: &Constant) -> ValueId {
        let id = self.constant(constant);
        if let Some(groups) = &constant.groups {
            return self.dequantized(id, groups);
        }
        if constant.spec.scalar_type == ScalarType::Float {
            return id;
        }
        if let Some(widened) = self.widened.get(id) {
            return *widened;
        }
        let widened = self.widened(id);
        self.widened.insert(id, widened);
        widened
    }

    /// A value as `float32`.
    pub fn widened(&mut self, value: ValueId) -> ValueId {
        let output = TensorSpec { scalar_type: ScalarType::Float, ..self.like(value) };
        if output == self.like(value) {
            return value;
        }
        let arguments = vec![
            Argument::Value(value),
            Argument::Type(ScalarType::Float),
            Argument::None,
            Argument::None,
            Argument::None,
            Argument::Bool(false),
            Argument::None,
        ];
        self.call("aten._to_copy.default", arguments, output)
    }

    /// The numbers of a matrix of integers; the same value at every call.
    fn dequantized(&mut self, integers: ValueId, groups: &Groups) -> ValueId {
        if let Some(numbers) = self.widened.get(integers) {
            return *numbers;
        }
        let scales = self.constant(&groups.scales);
        let output = TensorSpec { scalar_type: ScalarType::Float, ..self.like(integers) };
        let numbers = self.dequantize([integers, scales], groups, output);
        self.widened.insert(integers, numbers);
        numbers
    }

    /// The product of integers and scales, of whole rows of a matrix.
    fn dequantize(&mut self, [integers, scales]: [ValueId; 2], groups: &Groups, output: TensorSpec) -> ValueId {
        let block = (1..output.rank()).map(|_| 1).chain([groups.group as i64]).collect();
        let [least, most] = groups.bounds;
        let arguments = vec![
            Argument::Value(integers),
            Argument::Ints(block),
            Argument::Value(scales),
            Argument::None,
            Argument::Type(ScalarType::Char),
            Argument::Int(least),
            Argument::Int(most),
            Argument::Type(ScalarType::Float),
        ];
        self.call("torchao.dequantize_affine.default", arguments, output)
    }

    /// State that another method writes; the same value at every call.
    pub fn state(&mut self, name: &str, first: &Constant) -> ValueId {
        if let Some(id) = self.states.get(name) {
            return *id;
        }
        let kind = ValueKind::State { qualified_name: name.to_owned(), initial: first.data.clone() };
        let id = self.graph.add_value(&identifier(name), first.spec.clone(), kind);
        self.states.insert(name.to_owned(), id);
        id
    }

    /// State that a node writes: `write` gets the old value and gives the new value, which is kept under the name for [`Self::marked`].
    pub fn update(
        &mut self,
        name: &str,
        first: &Constant,
        write: impl FnOnce(&mut Self, ValueId) -> ValueId,
    ) -> ValueId {
        let target = self.state(name, first);
        let value = write(self, target);
        self.graph.updates.push(Update { target, value });
        self.mark(name.to_owned(), value);
        value
    }

    /// The size of the last dimension of a value.
    fn last(&self, id: ValueId) -> usize {
        self.graph.spec(id).sizes.last().map_or(1, |size| size.unsigned_abs() as usize)
    }

    /// Type and shape of a value.
    pub fn like(&self, id: ValueId) -> TensorSpec {
        self.graph.spec(id).clone()
    }

    /// The same elements in another shape.
    pub fn view(&mut self, of: ValueId, sizes: &[usize]) -> ValueId {
        let dims = Argument::Ints(sizes.iter().map(|size| *size as i64).collect());
        let output = spec(self.graph.spec(of).scalar_type, sizes);
        self.call("aten.view.default", vec![Argument::Value(of), dims], output)
    }

    /// Rows of a constant table as `float32`. Rows of integers, of scales and of offsets are gathered before they become numbers.
    pub fn embed(&mut self, table: &Constant, tokens: ValueId) -> ValueId {
        let Some(groups) = &table.groups else {
            let table = self.floats(table);
            return self.embedding(table, tokens);
        };
        let rows = [table, &groups.scales].map(|table| {
            let table = self.constant(table);
            self.embedding(table, tokens)
        });
        let output = TensorSpec { scalar_type: ScalarType::Float, ..self.like(rows[0]) };
        let numbers = self.dequantize(rows, groups, output);
        groups
            .row_offsets
            .as_ref()
            .map_or(numbers, |offsets| self.add_to_groups(numbers, tokens, (offsets, groups.group)))
    }

    /// Rows of a table with the offsets of their groups, which are rows of another table. The number of tokens is fixed.
    fn add_to_groups(&mut self, rows: ValueId, tokens: ValueId, (offsets, group): (&Constant, usize)) -> ValueId {
        let offsets = self.constant(offsets);
        let offsets = self.embedding(offsets, tokens);
        let sizes = |id: ValueId| self.graph.spec(id).sizes.iter().map(|size| size.unsigned_abs() as usize);
        let (whole, mut one): (Vec<usize>, Vec<usize>) = (sizes(rows).collect(), sizes(offsets).collect());
        let shaped = [&one[..], &[group]].concat();
        one.push(1);
        let (rows, offsets) = (self.view(rows, &shaped), self.view(offsets, &one));
        let sum = self.add(rows, offsets);
        self.view(sum, &whole)
    }

    /// Rows of a table.
    pub fn embedding(&mut self, table: ValueId, tokens: ValueId) -> ValueId {
        let output =
            TensorSpec { scalar_type: self.graph.spec(table).scalar_type, ..self.wider(tokens, self.last(table)) };
        let arguments = [table, tokens].map(Argument::Value).into_iter();
        let rest = [Argument::Int(-1), Argument::Bool(false), Argument::Bool(false)];
        self.call("aten.embedding.default", arguments.chain(rest).collect(), output)
    }

    /// `float32` with the dimensions of a value and a further dimension.
    fn wider(&self, of: ValueId, size: usize) -> TensorSpec {
        let (size, mut spec) = (i32::try_from(size).unwrap_or(i32::MAX), self.like(of));
        spec.sizes.push(size);
        spec.least.push(size);
        TensorSpec::contiguous(ScalarType::Float, spec.sizes).with_least(spec.least)
    }

    /// A matrix times the last dimension.
    pub fn linear(&mut self, input: ValueId, matrix: ValueId, bias: Option<ValueId>) -> ValueId {
        let rows = self.graph.spec(matrix).sizes.first().copied().unwrap_or(0);
        let mut output = self.like(input);
        let _ = output.set_size(output.rank().saturating_sub(1), rows);
        let bias = bias.map_or(Argument::None, Argument::Value);
        self.call("aten.linear.default", vec![Argument::Value(input), Argument::Value(matrix), bias], output)
    }

    /// A constant matrix times the last dimension of `[1, count, columns]`. Offsets of groups of the matrix add their product with the
    /// means of the groups of the input.
    pub fn product(&mut self, input: ValueId, matrix: &Constant, bias: Option<ValueId>) -> ValueId {
        let numbers = self.floats(matrix);
        let made = self.linear(input, numbers, bias);
        let Some((groups, offsets)) = matrix.groups.as_ref().and_then(|all| Some((all, all.offsets.as_ref()?))) else {
            return made;
        };
        let (means, offsets) = (self.means(input, groups.group), self.constant(offsets));
        let more = self.products(means, offsets);
        self.add(made, more)
    }

    /// The means of groups of neighbours of the last dimension; the same value at every call.
    fn means(&mut self, input: ValueId, group: usize) -> ValueId {
        if let Some(known) = self.means.get(&(input, group)) {
            return *known;
        }
        let (count, groups) = (self.size(input, 1), self.last(input) / group.max(1));
        let shaped = self.view(input, &[1, count, groups, group]);
        let output = spec(ScalarType::Float, &[1, count, groups]);
        let arguments = vec![Argument::Value(shaped), Argument::Ints(vec![-1]), Argument::Bool(false), Argument::None];
        let means = self.call("aten.mean.dim", arguments, output);
        self.means.insert((input, group), means);
        means
    }

    /// A matrix times the last dimension; the same value at every call.
    pub fn narrow(&mut self, input: ValueId, matrix: ValueId) -> ValueId {
        if let Some(known) = self.narrowed.get(&(input, matrix)) {
            return *known;
        }
        let narrow = self.linear(input, matrix, None);
        self.narrowed.insert((input, matrix), narrow);
        narrow
    }

    /// The size of a dimension of a value.
    pub fn size(&self, id: ValueId, dimension: usize) -> usize {
        self.graph.spec(id).sizes.get(dimension).map_or(1, |size| size.unsigned_abs() as usize)
    }

    /// A stack of matrices times another stack of matrices, of as many rows as columns.
    pub fn batch_product(&mut self, left: ValueId, right: ValueId) -> ValueId {
        let output = self.like(left);
        self.call("aten.bmm.default", vec![Argument::Value(left), Argument::Value(right)], output)
    }

    /// Normalization of the last dimension, with weights and biases where present.
    pub fn norm(&mut self, input: ValueId, constants: [Option<ValueId>; 2], norm: Norm) -> ValueId {
        let (size, output) = (self.last(input) as i64, self.like(input));
        let [weight, bias] = constants.map(|constant| constant.map_or(Argument::None, Argument::Value));
        let (size, epsilon) = (Argument::Ints(vec![size]), Argument::Float(norm.epsilon));
        match norm.kind {
            NormKind::RootMeanSquare => {
                self.call("aten.rms_norm.default", vec![Argument::Value(input), size, weight, epsilon], output)
            }
            NormKind::Layer => {
                let arguments = vec![Argument::Value(input), size, weight, bias, epsilon, Argument::Bool(false)];
                self.call("aten.layer_norm.default", arguments, output)
            }
        }
    }

    /// The sum of two values, of one shape or with one element in the second.
    pub fn add(&mut self, left: ValueId, right: ValueId) -> ValueId {
        let output = self.like(left);
        let arguments = vec![Argument::Value(left), Argument::Value(right), Argument::Int(1)];
        self.call("aten.add.Tensor", arguments, output)
    }

    /// The lesser of the elements of two values, of one shape or with one element in the second.
    pub fn least(&mut self, left: ValueId, right: ValueId) -> ValueId {
        let output = self.like(left);
        self.call("aten.minimum.default", vec![Argument::Value(left), Argument::Value(right)], output)
    }

    /// Elements that are at most `most` away from 0.
    pub fn clip(&mut self, value: ValueId, most: f64) -> ValueId {
        let output = self.like(value);
        let arguments = vec![Argument::Value(value), Argument::Float(-most), Argument::Float(most)];
        self.call("aten.clamp.default", arguments, output)
    }

    /// Elements clamped to the limits; an infinite limit does not clamp.
    pub fn within(&mut self, value: ValueId, limits: [f64; 2]) -> ValueId {
        let [least, most] = limits.map(|limit| if limit.is_finite() { Argument::Float(limit) } else { Argument::None });
        let output = self.like(value);
        self.call("aten.clamp.default", vec![Argument::Value(value), least, most], output)
    }

    /// A range of a dimension.
    pub fn slice(&mut self, of: ValueId, dimension: usize, start: usize, end: usize) -> ValueId {
        let mut output = self.like(of);
        let _ = output.set_size(dimension, i32::try_from(end - start).unwrap_or(i32::MAX));
        let numbers = [dimension, start, end, 1].map(|number| Argument::Int(number as i64));
        self.call("aten.slice.Tensor", std::iter::once(Argument::Value(of)).chain(numbers).collect(), output)
    }

    /// The concatenation of values along a dimension.
    pub fn join(&mut self, values: &[ValueId], dimension: usize) -> ValueId {
        let mut output = values.first().map_or_else(|| spec(ScalarType::Float, &[]), |first| self.like(*first));
        let size: usize = values.iter().map(|value| self.size(*value, dimension)).sum();
        let _ = output.set_size(dimension, i32::try_from(size).unwrap_or(i32::MAX));
        let values = Argument::Values(values.iter().copied().map(Some).collect());
        self.call("aten.cat.default", vec![values, Argument::Int(dimension as i64)], output)
    }

    /// The product of two values; the shape of the second is that of the first, or the end of that.
    pub fn multiply(&mut self, left: ValueId, right: ValueId) -> ValueId {
        let output = self.like(left);
        self.call("aten.mul.Tensor", vec![Argument::Value(left), Argument::Value(right)], output)
    }

    /// A value times a number.
    pub fn scale(&mut self, value: ValueId, factor: f64) -> ValueId {
        let output = self.like(value);
        self.call("aten.mul.Scalar", vec![Argument::Value(value), Argument::Float(factor)], output)
    }

    /// A value and a number.
    pub fn more(&mut self, value: ValueId, number: f64) -> ValueId {
        self.own("aten.add.Scalar", &[value], &[Argument::Float(number), Argument::Int(1)])
    }

    /// `tanh(value / cap) * cap`.
    pub fn cap(&mut self, value: ValueId, cap: f64) -> ValueId {
        let output = self.like(value);
        let small = self.call("aten.div.Scalar", vec![Argument::Value(value), Argument::Float(cap)], output.clone());
        let bent = self.call("aten.tanh.default", vec![Argument::Value(small)], output);
        self.scale(bent, cap)
    }

    /// An activation.
    pub fn activate(&mut self, value: ValueId, activation: Activation) -> ValueId {
        let output = self.like(value);
        let (operator, text) = match activation {
            Activation::QuickGelu => return self.quick_gelu(value),
            Activation::Silu => ("aten.silu.default", None),
            Activation::Relu | Activation::ReluSquared => ("aten.relu.default", None),
            Activation::Gelu => ("aten.gelu.default", Some("none")),
            Activation::GeluTanh => ("aten.gelu.default", Some("tanh")),
        };
        let text = text.map(|text| Argument::Text(text.to_owned()));
        let made = self.call(operator, std::iter::once(Argument::Value(value)).chain(text).collect(), output);
        if activation == Activation::ReluSquared { self.multiply(made, made) } else { made }
    }

    /// `x sigmoid(1.702 x)`.
    fn quick_gelu(&mut self, value: ValueId) -> ValueId {
        let steeper = self.scale(value, 1.702);
        let share = self.own("aten.sigmoid.default", &[steeper], &[]);
        self.multiply(value, share)
    }

    /// A row of the second dimension.
    pub fn row(&mut self, of: ValueId, row: ValueId) -> ValueId {
        self.select(of, 1, row)
    }

    /// A part of a dimension, of size 1.
    pub fn select(&mut self, of: ValueId, dimension: usize, index: ValueId) -> ValueId {
        let mut output = self.like(of);
        let _ = output.set_size(dimension, 1);
        let arguments = vec![Argument::Value(of), Argument::Int(dimension as i64), Argument::Value(index)];
        self.call("aten.index_select.default", arguments, output)
    }

    /// A call whose single output is like the first value of `read`.
    pub fn own(&mut self, operator: &str, read: &[ValueId], rest: &[Argument]) -> ValueId {
        let output = read.first().map_or_else(|| spec(ScalarType::Float, &[]), |id| self.like(*id));
        let arguments = read.iter().copied().map(Argument::Value).chain(rest.iter().cloned()).collect();
        self.call(operator, arguments, output)
    }

    /// A call with a single output.
    pub fn call(&mut self, operator: &str, arguments: Vec<Argument>, output: TensorSpec) -> ValueId {
        let [output] = self.call_many(operator, arguments, [output]);
        output
    }

    fn call_many<const N: usize>(
        &mut self,
        operator: &str,
        arguments: Vec<Argument>,
        outputs: [TensorSpec; N],
    ) -> [ValueId; N] {
        let Some(operator) = OperatorName::parse(operator) else { return [ValueId(u32::MAX); N] };
        let ids = outputs.map(|output| {
            let id = self.graph.add_value(operator.name(), output, ValueKind::Computed);
            self.graph.origins.insert(id, Arc::from(self.module.as_str()));
            id
        });
        self.graph.nodes.push(Node { operator, arguments, outputs: ids.to_vec() });
        ids
    }
}

/// A name in the form of programs.
fn identifier(name: &str) -> String {
    name.chars().map(|character| if character.is_ascii_alphanumeric() { character } else { '_' }).collect()
}
