//! Calls of custom operators become the calls of their lowerings.

use std::collections::BTreeMap;
use std::sync::Arc;

use et_core::ScalarType;
use etbuild_ir::{Argument, Graph, IdMap, Interval, Node, ResultRule, Size, TensorSpec, ValueId, ValueKind, compact};

use crate::ImportError;
use crate::custom::CustomSchemas;
use crate::lowering::{Given, Lowering, Name, Step};
use crate::schema::fit;

/// The graph without calls of custom operators that have a lowering. A call with dynamic sizes that the rules cannot follow stays, where
/// a kernel computes the operator.
///
/// # Errors
/// Arguments that an operator of a lowering does not take; results of another type or shape than in the archive.
pub fn lower_custom(mut graph: Graph, schemas: &CustomSchemas) -> Result<Graph, ImportError> {
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use etbuild_ir::text::{parse, print};
    use etbuild_ir::{Aten, AtenProgram, Dialect, Program};

    use super::lower_custom;
    use crate::ImportError;
    use crate::LoweringMistake;
    use crate::custom::CustomSchema;

    const GATE: &str = "mylib::gate(Tensor x, Tensor gate, float alpha=1.0) -> Tensor";
    const BOTH: &str = "mylib::both(Tensor x, int rows) -> (Tensor, Tensor)";

    fn lowered(schema: &str, lines: &[&str], has_kernel: bool) -> Result<CustomSchema, LoweringMistake> {
        let lines = lines.iter().map(|line| (*line).to_owned()).collect();
        CustomSchema::parse(schema).unwrap().lowered(lines, has_kernel)
    }

    /// The program behind the lowering of its calls.
    fn applied(text: &str, schema: CustomSchema) -> Result<String, ImportError> {
        let text = format!("etbuild-ir 1 aten\nmethod forward\n{text}");
        let graph = parse(&text, &mut |_| None).unwrap().1.methods.remove("forward").unwrap();
        let graph = lower_custom(graph, &[schema].into_iter().collect())?;
        let program = AtenProgram::verify(Program { methods: BTreeMap::from([("forward".to_owned(), graph)]) });
        let printed = print(Aten::NAME, program.unwrap().program());
        Ok(printed.lines().skip(2).map(|line| format!("{}\n", line.trim())).collect())
    }

    #[test]
    fn a_call_becomes_the_calls_of_its_lowering() {
        let lines = [
            "scaled = aten::mul.Scalar(gate, alpha)",
            "open = aten::sigmoid(scaled)",
            "return aten::mul.Tensor(x, open)",
        ];
        let text = "  input %x: float32[1..4, 3]
  %a: float32[1..4, 3] = aten.relu.default(%x)
  %b: float32[1..4, 3] = mylib.gate.default(%a, %x, 1.5)
  return %b
";
        let wanted = "input %x: float32[1..4, 3]
%a: float32[1..4, 3] = aten.relu.default(%x)
%b_mul@3: float32[1..4, 3] = aten.mul.Scalar(%x, 1.5)
%b_sigmoid: float32[1..4, 3] = aten.sigmoid.default(%b_mul)
%b@2: float32[1..4, 3] = aten.mul.Tensor(%a, %b_sigmoid)
return %b
";
        assert_eq!(applied(text, lowered(GATE, &lines, false).unwrap()).unwrap(), wanted);
    }

    #[test]
    fn results_may_be_operands_and_sizes_may_be_dynamic() {
        let lines = [
            "count = aten::sym_size.int(x, 0)",
            "width = aten::sym_size.int(x, -1)",
            "flat = aten::reshape(x, [count, width, 1])",
            "joined = aten::cat([flat, flat], dim=1)",
            "return x, joined",
        ];
        let text = "  input %x: float32[1..4, 3]
  (%a: float32[1..4, 3], %b: float32[1..4, 6, 1]) = mylib.both.default(%x, 2)
  %c: float32[1..4, 3] = aten.relu.default(%a)
  return %c, %b
";
        let found = applied(text, lowered(BOTH, &lines, false).unwrap()).unwrap();
        assert!(found.contains("aten.reshape.default(%x, sizes[%a_sym_size, 3, 1])"), "{found}");
        assert!(found.contains("%b@1: float32[1..4, 6, 1] = aten.cat.default"), "{found}");
        assert!(found.contains("aten.relu.default(%x)"), "{found}");
    }

    #[test]
    fn a_call_that_no_rule_follows_stays_with_a_kernel_only() {
        let line = ["return aten::reshape(x, [3, rows]), x"];
        assert!(lowered(BOTH, &line, true).is_err());
        let lines = ["y = aten::reshape(x, [3, rows])", "return y, x"];
        let text = |size: &str| {
            format!(
                "  input %x: float32[{size}, 3]
  (%a: float32[3, 2], %b: float32[{size}, 3]) = mylib.both.default(%x, 2)
  return %a, %b
"
            )
        };
        let kernel = |has_kernel| lowered(BOTH, &lines, has_kernel).unwrap();
        let found = applied(&text("2"), kernel(false)).unwrap();
        assert!(found.contains("= aten.reshape.default(%x, [3, 2])"), "{found}");
        assert!(applied(&text("1..2"), kernel(true)).unwrap().contains("mylib.both.default(%x, 2)"));
        let error = applied(&text("1..2"), kernel(false)).unwrap_err().to_string();
        assert!(error.contains("line 1: `aten::reshape` does not take these arguments"), "{error}");
    }

    #[test]
    fn another_type_or_shape_than_in_the_archive_is_an_error() {
        let text = "  input %x: float32[2, 3]
  %a: float32[2, 3] = mylib.gate.default(%x, %x, 1.0)
  return %a
";
        for (line, words) in [
            ("return aten::sum.dim_IntList(x, [1])", "computes float32 [2], and the exported operator float32 [2, 3]"),
            ("return aten::gt.Tensor(x, gate)", "computes bool [2, 3]"),
            ("return aten::mm(x, gate)", "does not take these arguments"),
        ] {
            let error = applied(text, lowered(GATE, &[line], false).unwrap()).unwrap_err();
            assert!(error.to_string().contains(words), "{error}");
            assert!(matches!(error, ImportError::Lowering { line: 1, .. }));
        }
    }

    #[test]
    fn mistakes_that_show_without_a_program_name_the_line() {
        for (lines, line, words) in [
            (&["return aten::nope(x)"][..], 0, "no operator of torch"),
            (&["return mylib::gate(x, x)"], 0, "custom operator"),
            (&["return aten::relu_(x)"], 0, "writes to an argument"),
            (&["return aten::einsum(\"ij\", [x])"], 0, "no rule for the shapes"),
            (&["y = aten::relu(x)", "return aten::add.Tensor(y, z)"], 1, "`z` is neither"),
            (&["return aten::add.Tensor(x)"], 0, "`other` of `aten::add.Tensor` is missing"),
            (&["return aten::add.Tensor(x, alpha)"], 0, "cannot be `alpha`"),
            (&["return aten::add.Tensor(x, None)"], 0, "cannot be `None`"),
            (&["return aten::relu(x, x)"], 0, "more are given"),
            (&["return aten::relu(self=x, self=x)"], 0, "given twice"),
            (&["return aten::relu(other=x)"], 0, "has no argument `other`"),
            (&["return aten::cat([x, alpha])"], 0, "cannot be `[x, alpha]`"),
            (&["y, z = aten::relu(x)", "return y"], 0, "computes 1, and 2 are named"),
            (&["x = aten::relu(gate)", "return x"], 0, "`x` is named twice"),
            (&["2y = aten::relu(x)", "return x"], 0, "`2y` is no name"),
            (&["aten::relu(x)", "return x"], 0, "a line is"),
            (&["y = aten::relu(x)"], 0, "begins with `return`"),
            (&["return x, gate"], 0, "returns 2 tensors, and the schema has 1"),
            (&["return alpha"], 0, "`alpha` is no tensor"),
            (&["return x", "return x"], 1, "follows `return`"),
            (&[], 0, "begins with `return`"),
        ] {
            let mistake = lowered(GATE, lines, true).unwrap_err();
            assert!(mistake.line == line && mistake.reason.contains(words), "{lines:?}: {mistake:?}");
        }
    }
}
