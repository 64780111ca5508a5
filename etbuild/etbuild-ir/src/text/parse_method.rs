//! The parser of one method.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use et_core::ScalarType;

use super::lex::{Cursor, Result};
use super::parse::Constants;
use super::word::MEMORY_FORMATS;
use crate::{Argument, Digest, Graph, Node, OperatorName, TensorSpec, Value, ValueId, ValueKind};

/// A method in the making: the lines after `method NAME`, `return` included.
pub(super) struct MethodParser<'p, 't, 'c> {
    cursor: &'p mut Cursor<'t>,
    constants: &'p mut Constants<'c>,
    ids: HashMap<Cow<'t, str>, ValueId>,
    values: BTreeMap<ValueId, Value>,
    origins: BTreeMap<ValueId, Arc<str>>,
    /// The id of the next definition unless it states another.
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

    /// Adds the values in the order of their ids.
    fn finish(mut self) -> Result<Graph> {
        if self.values.last_key_value().is_some_and(|(last, _)| last.index() + 1 != self.values.len()) {
            return self.cursor.error("the numbers of the values have a gap");
        }
        for value in self.values.into_values() {
            self.graph.add_value(&value.name, value.spec, value.kind);
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
            "constant" => self.constant()?,
            "unused" => self.unused()?,
            _ => return self.cursor.error("expected `input`, `constant`, `unused`, `return` or a node"),
        }
        Ok(())
    }

    fn unused(&mut self) -> Result<()> {
        let kind = if self.cursor.accept_word("input") { ValueKind::Input } else { ValueKind::Computed };
        self.definition(kind).map(drop)
    }

    fn constant(&mut self) -> Result<()> {
        let id = self.definition(ValueKind::Computed)?;
        self.cursor.expect('=')?;
        let qualified_name = self.cursor.quoted()?.into_owned();
        self.cursor.expect_word("b3")?;
        self.cursor.expect(':')?;
        let Some(digest) = Digest::parse(self.cursor.word()?) else {
            return self.cursor.error("expected 64 hexadecimal digits");
        };
        let Some(data) = (self.constants)(digest) else {
            return self.cursor.error("there is no constant with this digest");
        };
        if let Some(value) = self.values.get_mut(&id) {
            value.kind = ValueKind::Constant { qualified_name, data };
        }
        Ok(())
    }

    fn node(&mut self) -> Result<()> {
        let outputs = self.node_outputs()?;
        self.cursor.expect('=')?;
        let Some(operator) = OperatorName::parse(&self.cursor.name()?) else {
            return self.cursor.error("expected an operator such as `aten.relu.default`");
        };
        self.cursor.expect('(')?;
        let ids = &self.ids;
        let arguments = self.cursor.list(')', |cursor| argument(cursor, ids))?;
        self.graph.nodes.push(Node { operator, arguments, outputs });
        Ok(())
    }

    fn node_outputs(&mut self) -> Result<Vec<ValueId>> {
        if !self.cursor.accept('(') {
            return Ok(vec![self.definition(ValueKind::Computed)?]);
        }
        let mut outputs = Vec::new();
        while !self.cursor.accept(')') {
            if !outputs.is_empty() {
                self.cursor.expect(',')?;
            }
            outputs.push(self.definition(ValueKind::Computed)?);
        }
        Ok(outputs)
    }

    fn definition(&mut self, kind: ValueKind) -> Result<ValueId> {
        self.cursor.expect('%')?;
        let name = self.cursor.name()?;
        let id = ValueId(if self.cursor.accept('@') { self.cursor.number()? } else { self.next });
        let Some(next) = id.0.checked_add(1) else { return self.cursor.error("the number of the value is too large") };
        self.next = next;
        self.cursor.expect(':')?;
        let value = Value { name: name.clone().into_owned(), spec: spec(self.cursor)?, kind };
        self.origin(id)?;
        if self.ids.insert(name, id).is_some() || self.values.insert(id, value).is_some() {
            return self.cursor.error("there is another value of this name or number");
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

fn spec(cursor: &mut Cursor<'_>) -> Result<TensorSpec> {
    let Some(scalar_type) = ScalarType::from_name(cursor.word()?) else {
        return cursor.error("expected a scalar type such as `float32`");
    };
    cursor.expect('[')?;
    let mut spec = TensorSpec::contiguous(scalar_type, cursor.list(']', Cursor::number)?);
    if cursor.accept('{') {
        spec.dim_order = cursor.list('}', Cursor::number)?;
    }
    Ok(spec)
}

fn value_use(cursor: &mut Cursor<'_>, ids: &HashMap<Cow<'_, str>, ValueId>) -> Result<ValueId> {
    cursor.expect('%')?;
    let name = cursor.name()?;
    ids.get(&name).copied().map_or_else(|| cursor.error(format!("`{name}` is not defined above")), Ok)
}

fn argument(cursor: &mut Cursor<'_>, ids: &HashMap<Cow<'_, str>, ValueId>) -> Result<Argument> {
    match cursor.peek() {
        Some('%') => value_use(cursor, ids).map(Argument::Value),
        Some('"') => cursor.quoted().map(|text| Argument::Text(text.into_owned())),
        _ if cursor.accept('[') => cursor.list(']', Cursor::number).map(Argument::Ints),
        _ => word_argument(cursor, ids),
    }
}

fn word_argument(cursor: &mut Cursor<'_>, ids: &HashMap<Cow<'_, str>, ValueId>) -> Result<Argument> {
    let word = cursor.word()?;
    if cursor.accept('[') {
        return match word {
            "floats" => cursor.list(']', Cursor::number).map(Argument::Floats),
            "bools" => cursor.list(']', Cursor::number).map(Argument::Bools),
            "values" => cursor.list(']', |cursor| optional_use(cursor, ids)).map(Argument::Values),
            _ => cursor.error(format!("there are no lists of `{word}`")),
        };
    }
    literal(word).map_or_else(|| cursor.error(format!("`{word}` is not an argument")), Ok)
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
