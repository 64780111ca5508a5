//! A graph at chosen sizes of its inputs: every size is static and every number is a literal.

use std::collections::BTreeMap;
use std::sync::Arc;

use et_core::{Scalar, Shape};
use et_ops::call::{self, TensorRef};
use et_ops::{Meta, Operator, PrimitiveResult};

use crate::delegate_call::is_delegate;
use crate::kernel_call::plain_argument;
use crate::{Argument, Control, Graph, IdMap, Node, Size, ValueId};

/// The graph for these values of the symbols of its inputs; nodes and values keep their positions and ids. `None` where a size
/// does not follow from the symbols: an input size without a symbol, control flow, a size that depends on elements, or sizes that
/// do not go together.
pub fn at_sizes(graph: &Graph, symbols: &BTreeMap<Arc<str>, i32>) -> Option<Graph> {
    let mut sized = Sized { graph: graph.clone(), numbers: IdMap::default() };
    graph.inputs.iter().try_for_each(|id| sized.input(*id, symbols))?;
    for index in 0..graph.nodes.len() {
        let mut node = graph.nodes.get(index)?.clone();
        sized.node(&mut node)?;
        *sized.graph.nodes.get_mut(index)? = node;
    }
    Some(sized.graph)
}

struct Sized {
    graph: Graph,
    /// The values of numbers.
    numbers: IdMap<Scalar>,
}

impl Sized {
    fn input(&mut self, id: ValueId, symbols: &BTreeMap<Arc<str>, i32>) -> Option<()> {
        let value = self.graph.values.get_mut(id.index())?;
        let dims: Vec<usize> = value.spec.dynamic_dims().collect();
        for dim in dims {
            let symbolic = value.symbolic.get(dim)?.as_ref()?;
            let size = symbolic.size(*symbols.get(&symbolic.symbol)?)?;
            value.spec.set_size(dim, size)?;
        }
        Some(())
    }

    fn node(&mut self, node: &mut Node) -> Option<()> {
        if Control::of(node).is_some() || node.operator.runs_graphs() {
            return None;
        }
        if let Some(primitive) = node.operator.primitive() {
            let [output] = node.outputs[..] else { return None };
            if primitive.result == PrimitiveResult::Tensor {
                return None;
            }
            let number = call::call_primitive(primitive, &self.arguments(node)).ok()?;
            self.numbers.insert(output, number);
            return Some(());
        }
        let is_dynamic = node.outputs.iter().any(|id| self.graph.spec(*id).is_dynamic());
        if is_dynamic {
            self.infer(node)?;
        }
        node.arguments.iter_mut().try_for_each(|argument| self.inline(argument))
    }

    /// Sets the sizes of a node's outputs by the operator's shape rule.
    fn infer(&mut self, node: &Node) -> Option<()> {
        if is_delegate(node) {
            return None;
        }
        let operator = et_ops::find_functional(&node.operator.qualified())?;
        let metas = exact(operator, &self.arguments(node), node.outputs.len())?;
        for (id, meta) in node.outputs.iter().zip(metas) {
            let spec = &mut self.graph.values.get_mut(id.index())?.spec;
            if meta.shape.sizes().len() != spec.rank() {
                return None;
            }
            spec.sizes = meta.shape.sizes().to_vec();
            spec.least.clone_from(&spec.sizes);
        }
        Some(())
    }

    fn arguments<'n>(&'n self, node: &'n Node) -> Vec<call::Argument<'n>> {
        let tensor = |id: ValueId| {
            let spec = self.graph.spec(id);
            TensorRef { scalar_type: spec.scalar_type, sizes: &spec.sizes, bytes: &[] }
        };
        let number = |id: ValueId| {
            Some(match self.numbers.get(id)? {
                Scalar::Int(value) => call::Argument::Int(*value),
                Scalar::Bool(value) => call::Argument::Bool(*value),
                Scalar::Double(value) => call::Argument::Double(*value),
            })
        };
        node.arguments.iter().map(|argument| plain_argument(argument, tensor, number)).collect()
    }

    /// Replaces a number by its value.
    fn inline(&self, argument: &mut Argument) -> Option<()> {
        match argument {
            Argument::Value(id) if self.graph.number(*id).is_some() => {
                *argument = match self.numbers.get(*id)? {
                    Scalar::Int(value) => Argument::Int(*value),
                    Scalar::Bool(value) => Argument::Bool(*value),
                    Scalar::Double(value) => Argument::Float(*value),
                };
            }
            Argument::Sizes(sizes) => {
                let size = |size: &Size| match size {
                    Size::Fixed(value) => Some(*value),
                    Size::Value(id) => self.numbers.get(*id).map(|number| number.to_i64()),
                };
                *argument = Argument::Ints(sizes.iter().map(size).collect::<Option<_>>()?);
            }
            _ => {}
        }
        Some(())
    }
}

/// The types and shapes of the outputs; `None` where the rule follows the caller's wish, because the sizes depend on elements.
pub(crate) fn exact(operator: &Operator, arguments: &[call::Argument<'_>], count: usize) -> Option<Vec<Meta>> {
    let metas = call::infer(operator, arguments, &vec![None; count]).ok()?;
    let smaller = |meta: &Meta| {
        let sizes: Vec<i32> = meta.shape.sizes().iter().map(|size| (*size).min(1)).collect();
        Some(Meta { shape: Shape::new(&sizes).ok()?, ..*meta })
    };
    let wishes: Vec<Option<Meta>> = metas.iter().map(smaller).collect();
    (call::infer(operator, arguments, &wishes).ok()? == metas).then_some(metas)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::{parse, print};
    use crate::{Dialect, Edge, Program};

    const TEXT: &str = "etbuild-ir 1 edge
method forward
  input %x: float32[1..8, 3, 9..64] sizes [s0, none, \"2*s1+1\"]
  %batch: int64 1..8 = aten.sym_size.int(%x, 0)
  %y: float32[1..8, 27..192] = aten.view_copy.default(%x, sizes[%batch, -1])
  return %y
";

    fn program(text: &str) -> Program {
        parse(text, &mut |_| None).unwrap().1
    }

    fn at(text: &str, symbols: &[(&str, i32)]) -> Option<Graph> {
        let symbols = symbols.iter().map(|(name, value)| ((*name).into(), *value)).collect();
        at_sizes(&program(text).methods["forward"], &symbols)
    }

    #[test]
    fn symbols_are_printed_and_read_back() {
        assert_eq!(print(Edge::NAME, &program(TEXT)), TEXT);
        assert!(parse(&TEXT.replace("2*s1+1", "0*s1"), &mut |_| None).is_err());
    }

    #[test]
    fn sizes_follow_from_the_symbols_and_numbers_become_literals() {
        let sized = at(TEXT, &[("s0", 5), ("s1", 20)]).unwrap();
        let sizes: Vec<&[i32]> = sized.values.iter().map(|value| &value.spec.sizes[..]).collect();
        assert_eq!(sizes, [&[5, 3, 41][..], &[], &[5, 123]]);
        assert!(sized.values.iter().all(|value| !value.spec.is_dynamic()));
        assert_eq!(sized.nodes[1].arguments[1], Argument::Ints(vec![5, -1]));
    }

    #[test]
    fn sizes_that_do_not_follow_are_none() {
        assert!(at(TEXT, &[("s0", 5)]).is_none());
        assert!(at(&TEXT.replace("[s0, ", "[none, "), &[("s1", 20)]).is_none());
        let by_elements = "etbuild-ir 1 edge
method forward
  input %x: float32[1..8] sizes [s0]
  %y: int64[0..8, 1] = aten.nonzero.default(%x)
  return %y
";
        assert!(at(by_elements, &[("s0", 5)]).is_none());
    }
}
