//! The nodes of a graph: the graph of the program, or a nested graph.

use std::sync::Arc;

use et_core::ScalarType;
use etbuild_ir::{Graph, Interval, Node, OperatorName, ValueId, ValueKind};

use super::argument;
use super::model::{self, Argument, GraphBody};
use super::number;
use super::scope::Scope;
use super::spec::{Layout, range};
use super::symbol::Symbols;
use crate::ImportError;
use crate::custom::CustomSchemas;
use crate::functionalize::{Captured, functionalize};
use crate::schema::Schema;

/// A graph under construction.
pub struct Body<'a> {
    model: &'a GraphBody,
    symbols: &'a Symbols,
    schemas: &'a CustomSchemas,
    /// The values by name.
    pub scope: Scope,
    /// The graph so far.
    pub captured: Captured,
}

/// The deepest nesting of graphs.
const DEPTH: usize = 32;

impl<'a> Body<'a> {
    /// A graph without nodes.
    pub fn new(model: &'a GraphBody, symbols: &'a Symbols, schemas: &'a CustomSchemas) -> Self {
        Self { model, symbols, schemas, scope: Scope::default(), captured: Captured::default() }
    }

    /// Defines a tensor with the type and shape in the archive.
    pub fn define(&mut self, name: &str, kind: ValueKind) -> Result<ValueId, ImportError> {
        let meta = self.model.tensor_values.get(name);
        let meta = meta.ok_or_else(|| ImportError::Undefined(name.to_owned()))?;
        let layout = Layout::read(name, meta, self.symbols)?;
        let row_major = layout.is_row_major();
        let symbolic = if matches!(kind, ValueKind::Input) { layout.symbolic } else { Vec::new() };
        let id = self.captured.graph.add_value(name, layout.spec, kind);
        self.captured.graph.values[id.index()].symbolic = symbolic;
        self.captured.row_major.insert(id, row_major);
        self.scope.define(name, id)?;
        Ok(id)
    }

    /// Defines a number.
    fn define_number(&mut self, name: &str, scalar_type: ScalarType, kind: ValueKind) -> Result<ValueId, ImportError> {
        let stated = self.model.sym_int_values.get(name).and_then(|size| range(size, self.symbols));
        let unknown = if scalar_type == ScalarType::Bool { Interval::FLAG } else { Interval::ALL };
        let id = self.captured.graph.add_number(name, scalar_type, stated.unwrap_or(unknown), kind);
        self.scope.define(name, id)?;
        Ok(id)
    }

    /// Defines the results of a node or the inputs of a graph: tensors, or a number.
    fn define_all(&mut self, argument: &Argument, kind: &ValueKind) -> Result<Vec<ValueId>, ImportError> {
        if let Some(name) = argument.number() {
            return Ok(vec![self.define_number(name, number::scalar_type(argument), kind.clone())?]);
        }
        argument.names().map(|name| self.define(name, kind.clone())).collect()
    }

    /// Adds a node.
    pub fn node(&mut self, node: &model::Node, depth: usize) -> Result<(), ImportError> {
        if depth > DEPTH {
            return Err(ImportError::HigherOrder(node.target.clone()));
        }
        if let Some(name) = node.target.strip_prefix("torch.ops.higher_order.") {
            return self.higher_order(name, node, depth + 1);
        }
        if let Some(operator) = number::operator(&node.target) {
            return self.number_node(operator, node);
        }
        let called = operator(self.schemas, &node.target);
        let called = called.map_err(|error| error.with_source_line(node.metadata.source_line()));
        let outputs = self.outputs(node);
        let (operator, schema) = called?;
        if !schema.returns && !schema.parameters.iter().any(|parameter| parameter.written) {
            return Ok(()); // An assertion about what the shapes in the archive already say.
        }
        self.complex_numbers(node)?;
        let arguments = argument::complete(&self.scope, operator.as_str(), &schema, &node.inputs)?;
        let outputs = outputs?;
        if let Some(expected) = self.schemas.results(&operator).filter(|expected| *expected != outputs.len()) {
            return Err(ImportError::Results { operator: operator.to_string(), expected, found: outputs.len() });
        }
        self.push(Node { operator: number::as_primitive(operator), arguments, outputs })
    }

    fn push(&mut self, node: Node) -> Result<(), ImportError> {
        self.captured.graph.nodes.push(node);
        Ok(())
    }

    /// Adds a node that computes a number from numbers.
    fn number_node(&mut self, operator: OperatorName, node: &model::Node) -> Result<(), ImportError> {
        let given = node.inputs.iter();
        let arguments =
            given.map(|input| argument::plain(&self.scope, &node.target, &input.arg)?.ok_or_else(|| wrong(node)));
        let arguments = arguments.collect::<Result<_, _>>()?;
        let outputs = self.outputs(node)?;
        self.push(Node { operator, arguments, outputs })
    }

    /// Adds a node with nested graphs.
    fn higher_order(&mut self, name: &str, node: &model::Node, depth: usize) -> Result<(), ImportError> {
        let name = match name {
            "cond" | "scan" | "while_loop" => name,
            "map_impl" | "map" => "map",
            "wrap_with_set_grad_enabled" | "wrap_with_autocast" | "hints_wrapper" => return self.inline(node, depth),
            _ => return Err(ImportError::HigherOrder(format!("higher_order.{name}"))),
        };
        let mut arguments = Vec::new();
        for input in &node.inputs {
            arguments.push(match &input.arg {
                Argument::AsGraph(nested) => etbuild_ir::Argument::Graph(Box::new(self.nested(&nested.graph, depth)?)),
                given => argument::plain(&self.scope, &node.target, given)?.ok_or_else(|| wrong(node))?,
            });
        }
        if !arguments.iter().any(|argument| matches!(argument, etbuild_ir::Argument::Graph(_))) {
            return Err(wrong(node));
        }
        let outputs = self.outputs(node)?;
        let operator = OperatorName::parse(&format!("higher_order.{name}.default"));
        self.push(Node { operator: operator.ok_or_else(|| wrong(node))?, arguments, outputs })
    }

    /// A nested graph. Values are not shared with this graph.
    fn nested(&self, model: &GraphBody, depth: usize) -> Result<Graph, ImportError> {
        let mut body = Body::new(model, self.symbols, self.schemas);
        for input in &model.inputs {
            let ids = body.define_all(input, &ValueKind::Input)?;
            body.captured.graph.inputs.extend(ids);
        }
        model.nodes.iter().try_for_each(|node| body.node(node, depth))?;
        for name in model.outputs.iter().flat_map(named) {
            let id = body.scope.find(name)?;
            body.captured.graph.outputs.push(id);
        }
        let graph = functionalize(body.captured, self.schemas)?;
        if graph.updates.is_empty() {
            Ok(graph)
        } else {
            Err(ImportError::HigherOrder("a nested graph with writes".into()))
        }
    }

    /// Inlines a nested graph that runs exactly once.
    fn inline(&mut self, node: &model::Node, depth: usize) -> Result<(), ImportError> {
        let position = node.inputs.iter().position(|input| matches!(input.arg, Argument::AsGraph(_)));
        let (nested, operands) =
            position.and_then(|at| node.inputs.split_at(at).1.split_first()).ok_or_else(|| wrong(node))?;
        let Argument::AsGraph(nested) = &nested.arg else { return Err(wrong(node)) };
        let operands = operands.iter().flat_map(|operand| named(&operand.arg)).map(|name| self.scope.find(name));
        let operands = operands.collect::<Result<Vec<_>, _>>()?;
        let captured = std::mem::take(&mut self.captured);
        let mut body = Body { model: &nested.graph, scope: Scope::default(), captured, ..*self };
        let inlined = body.inlined(&operands, depth);
        self.captured = body.captured;
        let results = inlined?;
        let names = node.outputs.iter().flat_map(named);
        names.zip(results).try_for_each(|(name, id)| self.scope.define(name, id))
    }

    fn inlined(&mut self, operands: &[ValueId], depth: usize) -> Result<Vec<ValueId>, ImportError> {
        let model = self.model;
        let names = model.inputs.iter().flat_map(named);
        names.zip(operands).try_for_each(|(name, id)| self.scope.define(name, *id))?;
        model.nodes.iter().try_for_each(|node| self.node(node, depth))?;
        model.outputs.iter().flat_map(named).map(|name| self.scope.find(name)).collect()
    }

    fn outputs(&mut self, node: &model::Node) -> Result<Vec<ValueId>, ImportError> {
        let origin = node.metadata.nn_module_stack.as_deref().and_then(module_path);
        let mut ids = Vec::new();
        for output in &node.outputs {
            ids.extend(self.define_all(output, &ValueKind::Computed)?);
        }
        for (id, origin) in ids.iter().zip(std::iter::repeat(origin)) {
            origin.map(|origin| self.captured.graph.origins.insert(*id, Arc::from(origin)));
        }
        Ok(ids)
    }
}

/// The names of the values in an argument: tensors or a number.
fn named(argument: &Argument) -> impl Iterator<Item = &str> {
    argument.names().chain(argument.number())
}

fn wrong(node: &model::Node) -> ImportError {
    ImportError::HigherOrder(node.target.trim_start_matches("torch.ops.").to_owned())
}

/// The operator of a node.
fn operator<'a>(schemas: &'a CustomSchemas, target: &str) -> Result<(OperatorName, Schema<'a>), ImportError> {
    let unknown = || ImportError::UnknownOperator { operator: target.to_owned(), source_line: None };
    let name = target.strip_prefix("torch.ops.").ok_or_else(unknown)?;
    let operator = OperatorName::parse(name).ok_or_else(unknown)?;
    let schema = schemas.find(&operator).ok_or_else(unknown)?;
    Ok((operator, schema))
}

/// The path of the innermost module of a stack `key,path,class;key,path,class`; `None` for the model itself.
fn module_path(stack: &str) -> Option<&str> {
    let innermost = stack.rsplit(';').next()?;
    innermost.split(',').nth(1).filter(|path| !path.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_innermost_module_is_named() {
        let stack = "L__self__,,__main__.Digits;L__self__conv1,conv1,torch.nn.modules.conv.Conv2d";
        assert_eq!(module_path(stack), Some("conv1"));
        assert_eq!(module_path("L__self__,,__main__.Digits"), None);
    }

    #[test]
    fn an_unknown_target_is_an_error_with_its_name() {
        let missing = "torch.ops.mylib.secret.default";
        assert_eq!(
            operator(&CustomSchemas::default(), missing).unwrap_err(),
            ImportError::UnknownOperator { operator: missing.into(), source_line: None }
        );
    }
}
