//! Delegate calls: a node that runs a whole partition on a backend.
//!
//! `delegate.cpu.default(%blob, [%x, %y])` calls the backend `cpu` with a blob, a `uint8` constant, and inputs. The
//! call computes the outputs of the partition and, where the backend needs scratch memory, a last `uint8` value
//! without meaning after the call. The memory planner places scratch like any value. Only lowered programs have
//! delegate calls.

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
}

impl<'a> DelegateCall<'a> {
    /// The delegate call of a node; `None` for nodes of another kind.
    pub fn of(node: &'a Node) -> Option<Self> {
        if node.operator.namespace() != NAMESPACE {
            return None;
        }
        match &node.arguments[..] {
            [Argument::Value(blob), Argument::Values(inputs)] => {
                Some(Self { backend: node.operator.name(), blob: *blob, inputs, outputs: &node.outputs })
            }
            _ => None,
        }
    }

    /// The node that calls `backend`; `None` where `backend` is not an operator name.
    pub fn node(backend: &str, blob: ValueId, inputs: &[ValueId], outputs: Vec<ValueId>) -> Option<Node> {
        let operator = OperatorName::parse(&format!("{NAMESPACE}.{backend}.default"))?;
        let arguments = vec![Argument::Value(blob), Argument::values(inputs.iter().copied())];
        Some(Node { operator, arguments, outputs })
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
    use crate::{Dialect, Edge, EdgeProgram, Lowered, LoweredProgram, Program};

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
    fn a_call_is_printed_and_read_back() {
        let program = program(TEXT);
        assert_eq!(print(Lowered::NAME, &program), TEXT);
        let graph = &program.methods["forward"];
        let call = DelegateCall::of(&graph.nodes[0]).unwrap();
        assert_eq!((call.backend, call.inputs, call.outputs.len()), ("cpu", &[Some(ValueId(0))][..], 2));
        assert_eq!(
            DelegateCall::node("cpu", call.blob, &[ValueId(0)], call.outputs.to_vec()).as_ref(),
            graph.nodes.first()
        );
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
