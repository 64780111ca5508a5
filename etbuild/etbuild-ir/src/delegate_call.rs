//! Delegate calls: a node that runs a whole partition on a backend.
//!
//! `delegate.cpu.default(%blob, [%x, %y])` calls the backend `cpu` with a blob, a `uint8` constant, and inputs. The
//! call computes the outputs of the partition and, where the backend needs scratch memory, a last `uint8` value
//! without meaning after the call. The memory planner places scratch like any value. Only lowered programs have
//! delegate calls. A third argument `[0, 1]` says that the call writes input 0 in place, which is output 1 after the call. A fourth
//! argument is the number of the graph that the call executes, of a blob with the graphs of several calls.

use et_core::ScalarType;

use crate::{Argument, ConstantData, Graph, Node, OperatorName, ValueId};

const NAMESPACE: &str = "delegate";

/// A delegate call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DelegateCall<'a> {
    /// The name of the backend in recipes.
    pub backend: &'a str,
    /// The constant that the delegate executes.
    pub blob: ValueId,
    /// The values that the call reads.
    pub inputs: &'a [Option<ValueId>],
    /// The values that the call writes: results, then scratch memory if needed.
    pub outputs: &'a [ValueId],
    /// The inputs that the call writes in place, and the outputs that they become: pairs of positions.
    pub writes: &'a [i64],
    /// The graph of the blob that the call executes; `None` for a blob of this call alone.
    pub graph: Option<i64>,
}

impl<'a> DelegateCall<'a> {
    /// The delegate call of a node; `None` for nodes of another kind.
    pub fn of(node: &'a Node) -> Option<Self> {
        if node.operator.namespace() != NAMESPACE {
            return None;
        }
        match &node.arguments[..] {
            [Argument::Value(blob), Argument::Values(inputs), rest @ ..] => {
                let (writes, graph): (&[i64], _) = match rest {
                    [] => (&[], None),
                    [Argument::Ints(writes)] => (writes, None),
                    [Argument::Ints(writes), Argument::Int(graph)] => (writes, Some(*graph)),
                    _ => return None,
                };
                Some(Self { backend: node.operator.name(), blob: *blob, inputs, outputs: &node.outputs, writes, graph })
            }
            _ => None,
        }
    }

    /// The inputs that the call writes in place, each with its value after the call.
    pub fn writes_in_place(self) -> impl Iterator<Item = (ValueId, ValueId)> + use<'a> {
        self.writes.chunks(2).filter_map(move |pair| {
            let [input, output] = pair else { return None };
            let input = self.inputs.get(usize::try_from(*input).ok()?)?;
            Some(((*input)?, *self.outputs.get(usize::try_from(*output).ok()?)?))
        })
    }

    /// The node that calls `backend`; `None` where `backend` is not an operator name.
    pub fn node(
        backend: &str,
        blob: ValueId,
        inputs: &[ValueId],
        outputs: Vec<ValueId>,
        writes: Vec<i64>,
    ) -> Option<Node> {
        let operator = OperatorName::parse(&format!("{NAMESPACE}.{backend}.default"))?;
        let mut arguments = vec![Argument::Value(blob), Argument::values(inputs.iter().copied())];
        if !writes.is_empty() {
            arguments.push(Argument::Ints(writes));
        }
        Some(Node { operator, arguments, outputs })
    }

    /// The node with a blob that has the graphs of several calls, of which the node executes `graph`; `None` for other nodes.
    pub fn joined(node: &'a Node, blob: ValueId, graph: i64) -> Option<Node> {
        let Self { inputs, writes, .. } = Self::of(node)?;
        let arguments = vec![
            Argument::Value(blob),
            Argument::Values(inputs.to_vec()),
            Argument::Ints(writes.to_vec()),
            Argument::Int(graph),
        ];
        Some(Node { arguments, ..node.clone() })
    }

    /// The bytes that the delegate executes; `None` where `graph` does not contain the call.
    pub fn blob_data(self, graph: &'a Graph) -> Option<&'a ConstantData> {
        graph.constant(self.blob)
    }

    /// The fault of an invalid call.
    pub(crate) fn mistake(self, graph: &Graph) -> Option<&'static str> {
        let blob = graph.spec(self.blob);
        if graph.constant(self.blob).is_none() || blob.scalar_type != ScalarType::Byte || blob.rank() != 1 {
            return Some("the blob is not a `uint8` constant");
        }
        if self.writes_in_place().count() * 2 != self.writes.len() {
            return Some("a delegate call writes an input in place that it does not have");
        }
        let mut passed = self.inputs.iter().copied().chain(self.outputs.iter().copied().map(Some));
        let is_tensor = |id: Option<ValueId>| id.is_some_and(|id| graph.number(id).is_none());
        (!passed.all(is_tensor)).then_some("a delegate call reads and writes tensors only")
    }
}

/// Whether the node is in the namespace of delegate calls.
pub(crate) fn is_delegate(node: &Node) -> bool {
    node.operator.namespace() == NAMESPACE
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::{parse, print};
    use crate::{Dialect, Edge, EdgeProgram, Lowered, LoweredProgram, Program, aliases, in_place};

    const TEXT: &str = "etbuild-ir 1 lowered
method forward
  input %x: float32[2]
  constant %blob: uint8[4] = \"\" b3:ec2bd03bf86b935fa34d71ad7ebb049f1f10f87d343e521511d8f9e6625620cd
  (%y: float32[2], %scratch: uint8[64]) = delegate.cpu.default(%blob, values[%x])
  return %y
";

    fn program(text: &str) -> Program {
        parse(text, &mut |_| Some(ConstantData::new(vec![0_u8; 4]))).unwrap().1
    }

    #[test]
    fn a_call_of_a_graph_of_several_is_printed_and_read_back() {
        let text = TEXT.replace("values[%x])", "values[%x], [], 3)");
        let program = program(&text);
        assert_eq!(print(Lowered::NAME, &program), text);
        let node = &program.methods["forward"].nodes[0];
        let call = DelegateCall::of(node).unwrap();
        assert_eq!(call.graph, Some(3));
        assert_eq!(DelegateCall::joined(node, call.blob, 3).as_ref(), Some(node));
    }

    #[test]
    fn a_call_is_printed_and_read_back() {
        let program = program(TEXT);
        assert_eq!(print(Lowered::NAME, &program), TEXT);
        let graph = &program.methods["forward"];
        let call = DelegateCall::of(&graph.nodes[0]).unwrap();
        assert_eq!((call.backend, call.inputs, call.outputs.len()), ("cpu", &[Some(ValueId(0))][..], 2));
        assert_eq!(
            DelegateCall::node("cpu", call.blob, &[ValueId(0)], call.outputs.to_vec(), Vec::new()).as_ref(),
            graph.nodes.first()
        );
    }

    #[test]
    fn an_input_may_be_an_output_in_the_same_memory() {
        let text = TEXT.replace("values[%x])", "values[%x], [0, 0])").replace("return %y", "update %x %y\n  return %y");
        let program = program(&text);
        assert_eq!(print(Lowered::NAME, &program), text);
        let graph = &program.methods["forward"];
        assert_eq!(in_place(&graph.nodes[0]), [(graph.inputs[0], graph.outputs[0])]);
        assert_eq!(aliases(graph).get(graph.outputs[0]), Some(&graph.inputs[0]));
        assert!(LoweredProgram::verify(program).is_ok());
        for (from, to) in [("[0, 0]", "[1, 0]"), ("[0, 0]", "[0]"), ("update %x %y\n", "")] {
            assert!(LoweredProgram::verify(self::program(&text.replace(from, to))).is_err(), "{to}");
        }
    }

    #[test]
    fn only_lowered_programs_have_delegate_calls() {
        assert!(LoweredProgram::verify(program(TEXT)).is_ok());
        assert!(EdgeProgram::verify(program(TEXT)).is_err());
        assert_eq!(Edge::NAME, "edge");
    }

    #[test]
    fn blob_and_inputs_of_a_call_are_checked() {
        for (from, to) in [
            ("(%blob, values[%x])", "(%x, values[%x])"),
            ("(%blob, values[%x])", "(%blob, %x)"),
            ("values[%x]", "values[%x, none]"),
        ] {
            let program = program(&TEXT.replace(from, to));
            assert!(LoweredProgram::verify(program).is_err(), "{to}");
        }
    }
}
