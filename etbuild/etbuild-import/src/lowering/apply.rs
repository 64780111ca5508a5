//! Calls of custom operators become the calls of their lowerings.

use std::collections::BTreeMap;
use std::sync::Arc;

use et_core::ScalarType;
use etbuild_ir::{Argument, Graph, IdMap, Interval, Node, ResultRule, Size, TensorSpec, ValueId, ValueKind, compact};

use super::{Given, Lowering, Name, Step};
use crate::ImportError;
use crate::pt2::fit;
use crate::schema::CustomSchemas;

/// The graph without calls of custom operators that have a lowering. A call with dynamic sizes that the rules cannot follow stays, where
/// a kernel computes the operator.
///
/// # Errors
/// Arguments that an operator of a lowering does not take; results of another type or shape than in the archive.
pub fn apply(mut graph: Graph, schemas: &CustomSchemas) -> Result<Graph, ImportError> {
    if !schemas.has_lowerings() {
        return Ok(graph);
    }
    let nodes = std::mem::take(&mut graph.nodes);
    let mut replaced: IdMap<ValueId> = IdMap::default();
    for mut node in nodes {
        node.replace_uses(|id| replaced.get(id).copied().unwrap_or(id));
        let Some(lowering) = schemas.lowering(&node.operator) else {
            graph.nodes.push(node);
            continue;
        };
        let first = (graph.nodes.len(), graph.values.len());
        match Calls::of(&mut graph, &node, schemas).all(&lowering) {
            Ok(results) => adopt(&mut graph, &node.outputs, &results, first, &mut replaced),
            Err(_) if is_dynamic(&graph, &node) && schemas.has_kernel(&node.operator) => {
                graph.nodes.truncate(first.0);
                graph.nodes.push(node);
            }
            Err(error) => return Err(error),
        }
    }
    graph.replace_results(|id| replaced.get(id).copied().unwrap_or(id));
    let nodes = std::mem::take(&mut graph.nodes);
    Ok(compact(graph, nodes))
}

fn is_dynamic(graph: &Graph, node: &Node) -> bool {
    node.uses().any(|id| graph.number(id).is_some() || graph.spec(id).is_dynamic())
}

/// Gives results the ids of the outputs of the call; an output that is an operand, or an earlier output, is replaced by that one.
fn adopt(
    graph: &mut Graph,
    outputs: &[ValueId],
    results: &[ValueId],
    (first_node, first_value): (usize, usize),
    replaced: &mut IdMap<ValueId>,
) {
    for (index, (output, result)) in outputs.iter().zip(results).enumerate() {
        let earlier = results[..index].iter().position(|other| other == result);
        let stands = earlier.and_then(|earlier| outputs.get(earlier)).copied();
        match stands.or((result.index() < first_value).then_some(*result)) {
            Some(value) => drop(replaced.insert(*output, replaced.get(value).copied().unwrap_or(value))),
            None => {
                let rename = |id: &mut ValueId| *id = if id == result { *output } else { *id };
                for node in &mut graph.nodes[first_node..] {
                    node.arguments.iter_mut().for_each(|argument| argument.for_each_use_mut(rename));
                    node.outputs.iter_mut().for_each(rename);
                }
            }
        }
    }
}

/// The calls for one call of a custom operator.
struct Calls<'g, 'l> {
    graph: &'g mut Graph,
    node: &'g Node,
    /// The values of names.
    known: BTreeMap<Name<'l>, Argument>,
    /// The beginning of the names of new values, and their module.
    name: String,
    origin: Option<Arc<str>>,
}

impl<'g, 'l> Calls<'g, 'l> {
    fn of(graph: &'g mut Graph, node: &'g Node, schemas: &'l CustomSchemas) -> Self {
        let parameters = schemas.find(&node.operator).map(|schema| schema.parameters).unwrap_or_default();
        let names = parameters.iter().map(|parameter| Name::Written(parameter.name));
        let known = names.zip(node.arguments.iter().cloned()).collect();
        let first = node.outputs.first();
        let name = first.map(|id| graph.value(*id).name.clone()).unwrap_or_default();
        let origin = first.and_then(|id| graph.origins.get(*id).cloned());
        Self { graph, node, known, name, origin }
    }

    /// Adds the calls; the values of the results.
    fn all(&mut self, lowering: &Lowering<'l>) -> Result<Vec<ValueId>, ImportError> {
        lowering.steps.iter().try_for_each(|step| self.step(step).map_err(|reason| self.mistake(step.line, reason)))?;
        let last = lowering.steps.last().map_or(0, |step| step.line);
        let results = lowering.results.iter().zip(&self.node.outputs);
        results.map(|(name, output)| self.result(name, *output).map_err(|reason| self.mistake(last, reason))).collect()
    }

    fn mistake(&self, line: usize, reason: String) -> ImportError {
        ImportError::Lowering { operator: self.node.operator.qualified(), line: line + 1, reason }
    }

    fn step(&mut self, step: &Step<'l>) -> Result<(), String> {
        let given = step.arguments.iter().zip(&step.parameters).map(|(given, parameter)| {
            let found = fit(self.given(given)?, parameter);
            found.ok_or_else(|| {
                format!("argument `{}` of `{}` is of another type", parameter.name, step.operator.qualified())
            })
        });
        let arguments: Vec<Argument> = given.collect::<Result<_, String>>()?;
        let Some(rule) = ResultRule::of(&step.operator) else { return self.size(step, arguments) };
        let refused =
            |reason: String| format!("`{}` does not take these arguments: {reason}", step.operator.qualified());
        let specs = rule.specs(self.graph, &arguments).map_err(refused)?;
        let outputs =
            specs.into_iter().map(|spec| self.graph.add_value(&self.of_step(step), spec, ValueKind::Computed));
        let outputs: Vec<ValueId> = outputs.collect();
        for id in &outputs {
            self.origin.iter().for_each(|origin| drop(self.graph.origins.insert(*id, origin.clone())));
        }
        let named = step.names.iter().cloned().zip(&outputs);
        self.known.extend(named.map(|(name, id)| (name, Argument::Value(*id))));
        self.graph.nodes.push(Node { operator: step.operator.clone(), arguments, outputs });
        Ok(())
    }

    /// A size of a tensor: a literal, if static.
    fn size(&mut self, step: &Step<'l>, arguments: Vec<Argument>) -> Result<(), String> {
        let [Argument::Value(tensor), Argument::Int(dim)] = arguments[..] else {
            return Err("a size is that of a tensor and of a literal dimension".to_owned());
        };
        let spec = self.graph.spec(tensor);
        let rank = spec.rank() as i64;
        let place = usize::try_from(if dim < 0 { dim + rank } else { dim }).ok().filter(|dim| *dim < spec.rank());
        let place = place.ok_or_else(|| format!("a tensor of {rank} dimensions has no dimension {dim}"))?;
        let [least, most] = [&spec.least, &spec.sizes].map(|sizes| sizes.get(place).map_or(0, |size| i64::from(*size)));
        let size = if least == most {
            Argument::Int(most)
        } else {
            let name = self.of_step(step);
            let id = self.graph.add_number(&name, ScalarType::Long, Interval { least, most }, ValueKind::Computed);
            self.graph.nodes.push(Node { operator: step.operator.clone(), arguments, outputs: vec![id] });
            Argument::Value(id)
        };
        self.known.extend(step.names.first().map(|name| (name.clone(), size)));
        Ok(())
    }

    fn of_step(&self, step: &Step<'_>) -> String {
        format!("{}_{}", self.name, step.operator.name().trim_start_matches('_'))
    }

    /// The argument of a call.
    fn given(&self, given: &Given<'l>) -> Result<Argument, String> {
        match given {
            Given::Literal(argument) => Ok(argument.clone()),
            Given::Name(name) => Ok(self.known.get(name).cloned().unwrap_or(Argument::None)),
            Given::List(items) => {
                let items: Vec<Argument> = items.iter().map(|item| self.given(item)).collect::<Result<_, _>>()?;
                self.list(&items).ok_or_else(|| "a list has items of different types".to_owned())
            }
        }
    }

    /// A list of tensors or of sizes.
    fn list(&self, items: &[Argument]) -> Option<Argument> {
        let tensor = |item: &Argument| match item {
            Argument::Value(id) if self.graph.number(*id).is_none() => Some(*id),
            _ => None,
        };
        let size = |item: &Argument| match item {
            Argument::Int(size) => Some(Size::Fixed(*size)),
            Argument::Value(id) => self.graph.number(*id).map(|_| Size::Value(*id)),
            _ => None,
        };
        let tensors: Option<Vec<ValueId>> = items.iter().map(tensor).collect();
        let sizes = || items.iter().map(size).collect::<Option<Vec<Size>>>().map(Argument::sizes);
        tensors.map(Argument::values).or_else(sizes)
    }

    /// The value of a result, which has the type and the shape that the archive states.
    fn result(&self, name: &Name<'l>, output: ValueId) -> Result<ValueId, String> {
        let Some(Argument::Value(id)) = self.known.get(name) else {
            return Err("a result of the lowering is no tensor".to_owned());
        };
        let (found, stated) = (self.graph.spec(*id), self.graph.spec(output));
        if found.rank() == stated.rank() && found.agrees_with(stated) {
            return Ok(*id);
        }
        let of = |spec: &TensorSpec| format!("{} {:?}", spec.scalar_type.name(), spec.sizes);
        Err(format!("the lowering computes {}, and the exported operator {}", of(found), of(stated)))
    }
}
