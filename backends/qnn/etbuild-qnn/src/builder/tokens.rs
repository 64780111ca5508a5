//! Language models: the positions of a call's tokens, and the KV cache. The device makes these inputs from the numbers of the call.

use et_core::ScalarType;
use et_qnn::build::{DataType, Quantization};
use et_qnn::{ALL_ROWS, Binding, Ring, Role, Span};
use etbuild_backend::{Refusal, RefusalKind, integers};
use etbuild_ir::{Argument, Node, ValueId};

use crate::encoding::{self, Affine, Encoding};
use crate::program::{Parameter, TensorId};

use super::{Builder, FLOAT, Form, Order, Step};

/// A KV cache and the rows that the partition writes to it.
#[derive(Clone, Copy)]
pub struct Cache {
    /// The KV cache before the call, an input.
    state: ValueId,
    /// The rows of the call.
    rows: ValueId,
    /// The tokens of the rows.
    pub span: Span,
    /// The slots.
    pub ring: Ring,
}

impl Builder<'_> {
    /// The tokens of `rows` rows, from the position of the first row and the index of the last row that holds a token.
    ///
    /// # Errors
    /// Numbers that the device cannot read.
    pub fn span(&self, [start, last]: [ValueId; 2], rows: usize) -> Step<Span> {
        let last = match integers(self.links, last) {
            Some(number) if number == [rows as i64 - 1] => ALL_ROWS,
            Some(_) => return Err(Refusal::new(RefusalKind::Argument, "a constant number of rows holds tokens")),
            None => self.argument(last)?,
        };
        if self.links.graph.constant(start).is_some() {
            return Err(Refusal::new(RefusalKind::Constant, "the position of the tokens is a constant"));
        }
        Ok(Span { start: self.argument(start)?, last, rows: rows as u32 })
    }

    /// The rows of a constant table at the positions of tokens, in fp16.
    ///
    /// # Errors
    /// A table that is not constant.
    pub fn at_positions(&mut self, table: ValueId, span: Span) -> Step<TensorId> {
        if let Some((.., tensor)) = self.selected.iter().find(|(of, at, _)| (*of, *at) == (table, span)) {
            return Ok(*tensor);
        }
        let mut sizes = self.sizes(table, Order::RowMajor);
        let ring = Ring { slots: sizes.first().copied().unwrap_or(0), ..Ring::default() };
        let binding = Binding { role: Role::Positions, span, ring, ..Binding::default() };
        let positions = self.number_input("positions", span.rows, binding);
        let source = self.operand(table, FLOAT)?;
        sizes.splice(..1, [span.rows]);
        let selected = self.temporary(table, Encoding::Float, sizes);
        self.operation("Gather", vec![("axis", Parameter::Int32(0))], vec![source, positions], selected);
        self.selected.push((table, span, selected));
        Ok(selected)
    }

    /// The index of the last row that holds a token.
    pub fn last_row(&mut self, span: Span) -> TensorId {
        self.number_input("last", 1, Binding { role: Role::Last, span, ..Binding::default() })
    }

    /// What is added to the scores of rows and keys: `[1, 1, rows, read + rows]`, in fp16.
    pub fn mask(&mut self, span: Span, ring: Ring) -> TensorId {
        let binding = Binding { role: Role::Mask, span, ring, ..Binding::default() };
        let sizes = vec![1, 1, span.rows, ring.read + span.rows];
        self.shared_input("mask", Encoding::Float.tensor(), sizes, binding)
    }

    fn number_input(&mut self, name: &str, count: u32, binding: Binding) -> TensorId {
        self.shared_input(name, (DataType::Int32, Quantization::None), vec![count], binding)
    }

    /// An input that all nodes share.
    fn shared_input(
        &mut self,
        name: &str,
        tensor: (DataType, Quantization),
        sizes: Vec<u32>,
        binding: Binding,
    ) -> TensorId {
        let known = self.program.inputs.iter().find(|(_, other)| *other == binding).map(|(tensor, _)| *tensor);
        known.unwrap_or_else(|| self.bound_input(name, tensor, sizes, binding))
    }

    /// The KV cache behind a value: written in the partition, and perhaps dequantized.
    ///
    /// # Errors
    /// A value that is no KV cache, or a KV cache in a form that the NPU lacks.
    pub fn cache(&self, id: ValueId) -> Step<Cache> {
        let dequantized = self.links.maker(id).filter(|node| encoding::dequantizes(node).is_some());
        let id = dequantized.and_then(|node| node.uses().next()).unwrap_or(id);
        let written = self.links.maker(id).and_then(|node| self.write(node).transpose());
        written.unwrap_or_else(|| {
            Err(Refusal::new(RefusalKind::Partition, "the keys and values are not written in the partition"))
        })
    }

    /// What a node writes to a KV cache; `None` for other nodes.
    ///
    /// # Errors
    /// A KV cache in a form that the NPU lacks.
    pub fn write(&self, node: &Node) -> Step<Option<Cache>> {
        let [Argument::Value(state), Argument::Value(rows), Argument::Value(start), Argument::Value(last)] =
            node.arguments[..]
        else {
            return Ok(None);
        };
        if node.operator.as_str() != "etbuild.write_cache.default" {
            return Ok(None);
        }
        let [kept, new] = [state, rows].map(|id| self.sizes(id, Order::RowMajor));
        let ([1, slots, heads, depth], [1, count, of_rows, width]) = (&kept[..], &new[..]) else {
            return Err(Refusal::new(RefusalKind::Shape, "the KV cache has several sequences"));
        };
        if [heads, depth] != [of_rows, width] {
            return Err(Refusal::new(RefusalKind::Quantization, "the KV cache has a scale for each row"));
        }
        let span = self.span([start, last], *count as usize)?;
        let ring = Ring { slots: *slots, read: self.context.min(*slots), ..Ring::default() };
        Ok(Some(Cache { state, rows, span, ring }))
    }

    /// Whether the rows that are written to a KV cache have the encoding in which it is read.
    ///
    /// # Errors
    /// Another encoding.
    pub fn check_encoding(&mut self, Cache { rows, .. }: Cache, affine: Affine) -> Step<()> {
        if self.form(rows)?.encoding == Encoding::Integer(affine) {
            return Ok(());
        }
        Err(Refusal::new(RefusalKind::Quantization, "the KV cache is dequantized with another scale"))
    }

    /// The rows that an output of the partition writes to a KV cache, and the binding of the output without its argument; `None` for
    /// other outputs.
    pub(super) fn written(&self, id: ValueId) -> Step<Option<(ValueId, Binding)>> {
        let Some(node) = self.links.maker(id) else { return Ok(None) };
        let binding =
            |Cache { rows, span, ring, .. }| (rows, Binding { role: Role::Rows, span, ring, ..Binding::default() });
        Ok(self.write(node)?.map(binding))
    }

    /// The keys or values that the rows of a call see: those of the slots before the call, then those of the call,
    /// `[1, heads, read + rows, depth]`, in fp16.
    ///
    /// # Errors
    /// A KV cache whose elements the NPU cannot read.
    pub fn keys(&mut self, Cache { state, rows, span, ring }: Cache) -> Step<TensorId> {
        let encoding = match self.links.graph.spec(state).scalar_type {
            ScalarType::Float | ScalarType::Half => Encoding::Float,
            _ => self.form(rows)?.encoding,
        };
        let form = Form { encoding, order: Order::RowMajor };
        if self.stored.get(state).is_none() {
            let affine = if let Encoding::Integer(affine) = encoding { Some(affine) } else { None };
            self.past(state, affine, Binding { role: Role::Past, span, ring, ..Binding::default() })?;
        }
        let parts = vec![self.read(state, form)?, self.read(rows, form)?];
        let sizes = self.sizes(rows, Order::RowMajor);
        let [_, _, heads, depth] = sizes[..] else {
            return Err(Refusal::new(RefusalKind::Shape, "the rows of the KV cache are not made of heads"));
        };
        let all = ring.read + span.rows;
        let joined = self.temporary(rows, encoding, vec![1, all, heads, depth]);
        self.operation("Concat", vec![("axis", Parameter::Uint32(1))], parts, joined);
        let by_head = self.temporary(rows, encoding, vec![1, heads, all, depth]);
        let permutation = Parameter::Integers(vec![4], vec![0, 2, 1, 3]);
        self.operation("Transpose", vec![("perm", permutation)], vec![joined], by_head);
        if encoding == Encoding::Float {
            return Ok(by_head);
        }
        let numbers = self.temporary(rows, Encoding::Float, vec![1, heads, all, depth]);
        self.operation("Dequantize", Vec::new(), vec![by_head], numbers);
        Ok(numbers)
    }
}
