//! The printer.

use std::collections::HashSet;
use std::fmt::{self, Display, Formatter};

use super::VERSION;
use super::word::{MEMORY_FORMATS, Name, Quoted};
use crate::{
    Argument, ConstantData, Graph, MemoryFormat, Node, Program, Size, SymbolicSize, TensorSpec, Value, ValueId,
    ValueKind,
};

/// The program as text. A verified program parses back to an equal program.
///
/// # Panics
/// For a program with the id of another graph.
pub fn print(dialect: &str, program: &Program) -> String {
    ProgramText { dialect, program }.to_string()
}

struct ProgramText<'a> {
    dialect: &'a str,
    program: &'a Program,
}

impl Display for ProgramText<'_> {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        writeln!(formatter, "etbuild-ir {VERSION} {}", Name(self.dialect))?;
        for (name, graph) in &self.program.methods {
            writeln!(formatter, "method {}", Name(name))?;
            GraphPrinter::new(graph, formatter).print()?;
        }
        Ok(())
    }
}

struct GraphPrinter<'a, 'f, 'o> {
    graph: &'a Graph,
    /// The id of the next definition without a number.
    next: u32,
    defined: HashSet<ValueId>,
    formatter: &'f mut Formatter<'o>,
}

impl<'a, 'f, 'o> GraphPrinter<'a, 'f, 'o> {
    fn new(graph: &'a Graph, formatter: &'f mut Formatter<'o>) -> Self {
        Self { graph, next: 0, defined: HashSet::new(), formatter }
    }

    fn print(mut self) -> fmt::Result {
        self.graph.inputs.iter().try_for_each(|id| self.line("input ", *id))?;
        self.values_without_definition()?;
        self.graph.nodes.iter().try_for_each(|node| self.node(node))?;
        for update in &self.graph.updates {
            writeln!(self.formatter, "  update {} {}", Use(self.graph, update.target), Use(self.graph, update.value))?;
        }
        let names = self.graph.outputs.iter().map(|id| Use(self.graph, *id));
        let space = if self.graph.outputs.is_empty() { "" } else { " " };
        writeln!(self.formatter, "  return{space}{}", List(names))
    }

    /// Constants, state, and unused values.
    fn values_without_definition(&mut self) -> fmt::Result {
        let computed = self.graph.nodes.iter().flat_map(|node| &node.outputs);
        let defined: HashSet<ValueId> = self.graph.inputs.iter().chain(computed).copied().collect();
        for (id, value) in self.graph.values_with_ids().filter(|(id, _)| !defined.contains(id)) {
            match &value.kind {
                ValueKind::Constant { qualified_name, data } => self.data("constant", id, qualified_name, data)?,
                ValueKind::State { qualified_name, initial } => self.data("state", id, qualified_name, initial)?,
                ValueKind::Computed => self.line("unused ", id)?,
                ValueKind::Input => self.line("unused input ", id)?,
            }
        }
        Ok(())
    }

    fn data(&mut self, keyword: &str, id: ValueId, name: &str, data: &ConstantData) -> fmt::Result {
        write!(self.formatter, "  {keyword} ")?;
        self.definition(id)?;
        writeln!(self.formatter, " = {} b3:{}", Quoted(name), data.digest())
    }

    fn line(&mut self, keyword: &str, id: ValueId) -> fmt::Result {
        write!(self.formatter, "  {keyword}")?;
        self.definition(id)?;
        writeln!(self.formatter)
    }

    fn node(&mut self, node: &Node) -> fmt::Result {
        write!(self.formatter, "  ")?;
        self.node_outputs(&node.outputs)?;
        let arguments = node.arguments.iter().map(|argument| ArgumentText(self.graph, argument));
        writeln!(self.formatter, " = {}({})", Name(node.operator.as_str()), List(arguments))
    }

    fn node_outputs(&mut self, outputs: &[ValueId]) -> fmt::Result {
        if let [only] = outputs {
            return self.definition(*only);
        }
        write!(self.formatter, "(")?;
        for (index, id) in outputs.iter().enumerate() {
            write!(self.formatter, "{}", if index == 0 { "" } else { ", " })?;
            self.definition(*id)?;
        }
        write!(self.formatter, ")")
    }

    /// The value, with the type at the first occurrence.
    fn definition(&mut self, id: ValueId) -> fmt::Result {
        let value = self.graph.value(id);
        write!(self.formatter, "%{}", Name(&value.name))?;
        if !self.defined.insert(id) {
            return Ok(());
        }
        if id.0 != self.next {
            write!(self.formatter, "@{}", id.0)?;
        }
        self.next = id.0 + 1;
        write!(self.formatter, ": {}", Type(value))?;
        let origin = self.graph.origins.get(id);
        origin.map_or(Ok(()), |origin| write!(self.formatter, " from {}", Name(origin)))
    }
}

struct Type<'a>(&'a Value);

impl Display for Type<'_> {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        let spec = &self.0.spec;
        match self.0.number {
            Some(range) => write!(formatter, "{} {}..{}", spec.scalar_type.name(), range.least, range.most),
            None => Spec(spec).fmt(formatter),
        }?;
        if !self.0.symbolic.is_empty() {
            write!(formatter, " sizes [{}]", List(self.0.symbolic.iter().map(Symbolic)))?;
        }
        formatter.write_str(if self.0.is_tied { " tied" } else { "" })
    }
}

struct Spec<'a>(&'a TensorSpec);

impl Display for Spec<'_> {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        let sizes = self.0.sizes.iter().zip(&self.0.least).map(|(most, least)| Range(*least, *most));
        write!(formatter, "{}[{}]", self.0.scalar_type.name(), List(sizes))?;
        if self.0.is_contiguous() && self.0.dim_order.len() == self.0.rank() {
            return Ok(());
        }
        write!(formatter, "{{{}}}", List(self.0.dim_order.iter()))
    }
}

/// A static size, or the minimum and maximum of a dynamic size.
struct Range(i32, i32);

impl Display for Range {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        if self.0 == self.1 { self.1.fmt(formatter) } else { write!(formatter, "{}..{}", self.0, self.1) }
    }
}

/// A size as a function of a symbol, or `none`.
struct Symbolic<'a>(&'a Option<SymbolicSize>);

impl Display for Symbolic<'_> {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(size) => Name(&size.to_string()).fmt(formatter),
            None => formatter.write_str("none"),
        }
    }
}

struct Use<'a>(&'a Graph, ValueId);

impl Display for Use<'_> {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        write!(formatter, "%{}", Name(&self.0.value(self.1).name))
    }
}

struct ArgumentText<'a>(&'a Graph, &'a Argument);

impl Display for ArgumentText<'_> {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        match self.1 {
            Argument::None => formatter.write_str("none"),
            Argument::Place => formatter.write_str("cpu"),
            Argument::Value(id) => Use(self.0, *id).fmt(formatter),
            Argument::Int(number) => number.fmt(formatter),
            Argument::Float(number) => Float(*number).fmt(formatter),
            Argument::Bool(flag) => flag.fmt(formatter),
            Argument::Text(text) => Quoted(text).fmt(formatter),
            Argument::Type(scalar_type) => formatter.write_str(scalar_type.name()),
            Argument::MemoryFormat(format) => formatter.write_str(memory_format(*format)),
            Argument::Ints(items) => write!(formatter, "[{}]", List(items.iter())),
            Argument::Sizes(items) => {
                let items = items.iter().map(|size| SizeText(self.0, *size));
                write!(formatter, "sizes[{}]", List(items))
            }
            Argument::Graph(graph) => {
                writeln!(formatter, "graph {{")?;
                GraphPrinter::new(graph, formatter).print()?;
                formatter.write_str("  }")
            }
            Argument::Floats(items) => write!(formatter, "floats[{}]", List(items.iter().copied().map(Float))),
            Argument::Bools(items) => write!(formatter, "bools[{}]", List(items.iter())),
            Argument::Values(items) => {
                let items = items.iter().map(|item| item.map(|id| Use(self.0, id)));
                write!(formatter, "values[{}]", List(items.map(OrNone)))
            }
        }
    }
}

struct SizeText<'a>(&'a Graph, Size);

impl Display for SizeText<'_> {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        match self.1 {
            Size::Fixed(size) => size.fmt(formatter),
            Size::Value(id) => Use(self.0, id).fmt(formatter),
        }
    }
}

fn memory_format(format: MemoryFormat) -> &'static str {
    MEMORY_FORMATS.iter().find(|(known, _)| *known == format).map_or("preserve", |(_, word)| word)
}

struct OrNone<T>(Option<T>);

impl<T: Display> Display for OrNone<T> {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Some(item) => item.fmt(formatter),
            None => formatter.write_str("none"),
        }
    }
}

/// The shortest decimal form that parses to the same number, with a point, exponent or name as in no integer.
struct Float(f64);

impl Display for Float {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        if self.0.is_nan() { formatter.write_str("nan") } else { fmt::Debug::fmt(&self.0, formatter) }
    }
}

/// Items separated by commas.
struct List<I>(I);

impl<I: Iterator<Item: Display> + Clone> Display for List<I> {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        let mut separator = "";
        for item in self.0.clone() {
            write!(formatter, "{separator}{item}")?;
            separator = ", ";
        }
        Ok(())
    }
}
