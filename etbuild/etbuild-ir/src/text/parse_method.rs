//! The parser of methods.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::str::FromStr;
use std::sync::Arc;

use et_core::ScalarType;

use super::lex::{Cursor, Result};
use super::word::MEMORY_FORMATS;
use crate::{
    Argument, ConstantData, Digest, Graph, Interval, Node, OperatorName, Size, SymbolicSize, TensorSpec, Update, Value,
    ValueId, ValueKind,
};

/// Looks up the bytes of constants.
pub(super) type Constants<'c> = dyn FnMut(Digest) -> Option<ConstantData> + 'c;

/// A method under construction: the lines after `method NAME`, up to `return`.
pub(super) struct MethodParser<'p, 't, 'c> {
    cursor: &'p mut Cursor<'t>,
    constants: &'p mut Constants<'c>,
    ids: HashMap<Cow<'t, str>, ValueId>,
    values: BTreeMap<ValueId, Value>,
    origins: BTreeMap<ValueId, Arc<str>>,
    /// The id of the next definition without a number.
    next: u32,
    graph: Graph,
}

impl<'p, 't, 'c> MethodParser<'p, 't, 'c> {
    pub(super) fn new(cursor: &'p mut Cursor<'t>, constants: &'p mut Constants<'c>) -> Self {
        let (ids, values, origins) = (HashMap::new(), BTreeMap::new(), BTreeMap::new());
        Self { cursor, constants, ids, values, origins, next: 0, graph: Graph::default() }
    }

    pub(super) fn parse(mut self) -> Result<Graph> {
        while !self.cursor.accept_word("return") {
            self.line()?;
            self.cursor.end_of_line()?;
        }
        while self.cursor.peek() == Some('%') {
            let id = value_use(self.cursor, &self.ids)?;
            self.graph.outputs.push(id);
            if !self.cursor.accept(',') {
                break;
            }
        }
        self.cursor.end_of_line()?;
        self.finish()
    }

    /// Adds the values in the order of ids.
    fn finish(mut self) -> Result<Graph> {
        if self.values.last_key_value().is_some_and(|(last, _)| last.index() + 1 != self.values.len()) {
            return self.cursor.error("the numbers of the values have a gap");
        }
        for value in self.values.into_values() {
            self.graph.add_like(&value);
        }
        self.graph.origins = self.origins.into_iter().collect();
        Ok(self.graph)
    }

    fn line(&mut self) -> Result<()> {
        if matches!(self.cursor.peek(), Some('%' | '(')) {
            return self.node();
        }
        match self.cursor.word()? {
            "input" => {
                let id = self.definition(ValueKind::Input)?;
                self.graph.inputs.push(id);
            }
            "constant" => {
                let (id, qualified_name, data) = self.data()?;
                self.set_kind(id, ValueKind::Constant { qualified_name, data });
            }
            "state" => {
                let (id, qualified_name, initial) = self.data()?;
                self.set_kind(id, ValueKind::State { qualified_name, initial });
            }
            "update" => {
                let target = value_use(self.cursor, &self.ids)?;
                let value = value_use(self.cursor, &self.ids)?;
                self.graph.updates.push(Update { target, value });
            }
            "unused" => self.unused()?,
            _ => {
                let known = "expected `input`, `constant`, `state`, `unused`, `update`, `return` or a node";
                return self.cursor.error(known);
            }
        }
        Ok(())
    }

    fn unused(&mut self) -> Result<()> {
        let kind = if self.cursor.accept_word("input") { ValueKind::Input } else { ValueKind::Computed };
        self.definition(kind).map(drop)
    }

    fn data(&mut self) -> Result<(ValueId, String, ConstantData)> {
        let id = self.definition(ValueKind::Computed)?;
        self.cursor.expect('=')?;
        let qualified_name = self.cursor.quoted()?.into_owned();
        self.cursor.expect_word("b3")?;
        self.cursor.expect(':')?;
        let Some(digest) = Digest::parse(self.cursor.word()?) else {
            return self.cursor.error("expected 64 hexadecimal digits");
        };
        let Some(data) = (self.constants)(digest) else {
            return self.cursor.error("no constant has this digest");
        };
        Ok((id, qualified_name, data))
    }

    fn set_kind(&mut self, id: ValueId, kind: ValueKind) {
        if let Some(value) = self.values.get_mut(&id) {
            value.kind = kind;
        }
    }

    fn node(&mut self) -> Result<()> {
        let outputs = self.node_outputs()?;
        self.cursor.expect('=')?;
        let Some(operator) = OperatorName::parse(&self.cursor.name()?) else {
            return self.cursor.error("expected an operator such as `aten.relu.default`");
        };
        self.cursor.expect('(')?;
        let (ids, constants) = (&self.ids, &mut *self.constants);
        let arguments = self.cursor.list(')', |cursor| argument(cursor, ids, constants))?;
        self.graph.nodes.push(Node { operator, arguments, outputs });
        Ok(())
    }

    fn node_outputs(&mut self) -> Result<Vec<ValueId>> {
        if !self.cursor.accept('(') {
            return Ok(vec![self.node_output()?]);
        }
        let mut outputs = Vec::new();
        while !self.cursor.accept(')') {
            if !outputs.is_empty() {
                self.cursor.expect(',')?;
            }
            outputs.push(self.node_output()?);
        }
        Ok(outputs)
    }

    /// The output of a node, possibly also the output of an earlier node.
    fn node_output(&mut self) -> Result<ValueId> {
        self.cursor.expect('%')?;
        let name = self.cursor.name()?;
        match self.ids.get(&name) {
            Some(id) if !matches!(self.cursor.peek(), Some(':' | '@')) => Ok(*id),
            _ => self.named_definition(name, ValueKind::Computed),
        }
    }

    fn definition(&mut self, kind: ValueKind) -> Result<ValueId> {
        self.cursor.expect('%')?;
        let name = self.cursor.name()?;
        self.named_definition(name, kind)
    }

    fn named_definition(&mut self, name: Cow<'t, str>, kind: ValueKind) -> Result<ValueId> {
        let id = ValueId(if self.cursor.accept('@') { self.cursor.number()? } else { self.next });
        let Some(next) = id.0.checked_add(1) else { return self.cursor.error("the number of the value is too large") };
        self.next = next;
        self.cursor.expect(':')?;
        let (spec, number) = spec(self.cursor)?;
        let symbolic = symbolic(self.cursor)?;
        let is_tied = self.cursor.accept_word("tied");
        let value = Value { name: name.clone().into_owned(), spec, number, symbolic, is_tied, kind };
        self.origin(id)?;
        if self.ids.insert(name, id).is_some() || self.values.insert(id, value).is_some() {
            return self.cursor.error("the name or number of the value is defined twice");
        }
        Ok(id)
    }

    fn origin(&mut self, id: ValueId) -> Result<()> {
        if self.cursor.accept_word("from") {
            let origin = self.cursor.name()?;
            self.origins.insert(id, origin.into());
        }
        Ok(())
    }
}

/// The type of a tensor, or the type and range of a number.
fn spec(cursor: &mut Cursor<'_>) -> Result<(TensorSpec, Option<Interval>)> {
    let Some(scalar_type) = ScalarType::from_name(cursor.word()?) else {
        return cursor.error("expected a scalar type such as `float32`");
    };
    if !cursor.accept('[') {
        let (least, most) = range(cursor)?;
        return Ok((TensorSpec::contiguous(scalar_type, []), Some(Interval { least, most })));
    }
    let ranges: Vec<(i32, i32)> = cursor.list(']', range)?;
    let (least, sizes): (Vec<i32>, Vec<i32>) = ranges.into_iter().unzip();
    let mut spec = TensorSpec::contiguous(scalar_type, sizes).with_least(least);
    if cursor.accept('{') {
        spec.dim_order = cursor.list('}', Cursor::number)?;
    }
    Ok((spec, None))
}

/// `sizes [s7, none, "2*s8"]`, or nothing.
fn symbolic(cursor: &mut Cursor<'_>) -> Result<Vec<Option<SymbolicSize>>> {
    if !cursor.accept_word("sizes") {
        return Ok(Vec::new());
    }
    cursor.expect('[')?;
    cursor.list(']', |cursor| match &*cursor.name()? {
        "none" => Ok(None),
        text => text.parse().map(Some).or_else(|()| cursor.error("expected a size such as `s7` or `\"2*s7+1\"`")),
    })
}

/// `2..64`, or `3` for `3..3`.
fn range<T: FromStr + Copy>(cursor: &mut Cursor<'_>) -> Result<(T, T)> {
    let word = cursor.word()?;
    let (least, most) = word.split_once("..").unwrap_or((word, word));
    match (least.parse(), most.parse()) {
        (Ok(least), Ok(most)) => Ok((least, most)),
        _ => cursor.error("expected a size such as `3` or `2..64`"),
    }
}

fn value_use(cursor: &mut Cursor<'_>, ids: &HashMap<Cow<'_, str>, ValueId>) -> Result<ValueId> {
    cursor.expect('%')?;
    let name = cursor.name()?;
    ids.get(&name).copied().map_or_else(|| cursor.error(format!("`{name}` is not defined above")), Ok)
}

fn argument(
    cursor: &mut Cursor<'_>,
    ids: &HashMap<Cow<'_, str>, ValueId>,
    constants: &mut Constants<'_>,
) -> Result<Argument> {
    if cursor.accept_word("graph") {
        return graph(cursor, constants);
    }
    match cursor.peek() {
        Some('%') => value_use(cursor, ids).map(Argument::Value),
        Some('"') => cursor.quoted().map(|text| Argument::Text(text.into_owned())),
        _ if cursor.accept('[') => cursor.list(']', Cursor::number).map(Argument::Ints),
        _ => word_argument(cursor, ids),
    }
}

/// A nested graph between braces, on separate lines.
fn graph(cursor: &mut Cursor<'_>, constants: &mut Constants<'_>) -> Result<Argument> {
    cursor.expect('{')?;
    cursor.end_of_line()?;
    let graph = MethodParser::new(cursor, constants).parse()?;
    cursor.expect('}')?;
    Ok(Argument::Graph(Box::new(graph)))
}

fn word_argument(cursor: &mut Cursor<'_>, ids: &HashMap<Cow<'_, str>, ValueId>) -> Result<Argument> {
    let word = cursor.word()?;
    if cursor.accept('[') {
        return match word {
            "floats" => cursor.list(']', Cursor::number).map(Argument::Floats),
            "sizes" => cursor.list(']', |cursor| size(cursor, ids)).map(Argument::Sizes),
            "bools" => cursor.list(']', Cursor::number).map(Argument::Bools),
            "values" => cursor.list(']', |cursor| optional_use(cursor, ids)).map(Argument::Values),
            _ => cursor.error(format!("`{word}` is not a kind of list")),
        };
    }
    literal(word).map_or_else(|| cursor.error(format!("`{word}` is not an argument")), Ok)
}

fn size(cursor: &mut Cursor<'_>, ids: &HashMap<Cow<'_, str>, ValueId>) -> Result<Size> {
    if cursor.peek() == Some('%') { value_use(cursor, ids).map(Size::Value) } else { cursor.number().map(Size::Fixed) }
}

fn optional_use(cursor: &mut Cursor<'_>, ids: &HashMap<Cow<'_, str>, ValueId>) -> Result<Option<ValueId>> {
    if cursor.accept_word("none") { Ok(None) } else { value_use(cursor, ids).map(Some) }
}

fn literal(word: &str) -> Option<Argument> {
    match word {
        "none" => Some(Argument::None),
        "cpu" => Some(Argument::Place),
        "true" => Some(Argument::Bool(true)),
        "false" => Some(Argument::Bool(false)),
        _ => None,
    }
    .or_else(|| ScalarType::from_name(word).map(Argument::Type))
    .or_else(|| {
        MEMORY_FORMATS.iter().find(|(_, name)| *name == word).map(|(format, _)| Argument::MemoryFormat(*format))
    })
    .or_else(|| word.parse().ok().map(Argument::Int))
    .or_else(|| word.parse().ok().map(Argument::Float))
}
