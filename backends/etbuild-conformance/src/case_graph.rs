//! A case of the operator catalogue as a program with one node.

use std::collections::BTreeMap;

use et_conformance::tensor_of;
use et_ops::{Case, CaseArgument, CaseTensor, Operator};
use etbuild_ir::{
    Argument, ConstantData, Graph, LoweredProgram, Node, OperatorName, Program, TensorSpec, ValueId, ValueKind,
};

/// Which tensors of a case are constants of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Constants {
    /// No constants: the caller supplies all tensors.
    None,
    /// All but the first, as weights are.
    AllButFirst,
}

/// A program with one operator call, and the caller's inputs.
pub struct CaseProgram {
    /// The program.
    pub program: LoweredProgram,
    /// The inputs in order, as bytes.
    pub inputs: Vec<Vec<u8>>,
}

/// The program of a case with these outputs; `None` for a case that a program cannot express.
pub fn case_program(
    operator: &Operator,
    case: &Case,
    outputs: &[CaseTensor],
    constants: Constants,
) -> Option<CaseProgram> {
    let mut builder = Builder { graph: Graph::default(), inputs: Vec::new(), constants };
    let arguments = case.arguments.iter().map(|argument| builder.argument(argument)).collect();
    let Builder { mut graph, inputs, .. } = builder;
    let computed = |(index, tensor): (usize, &CaseTensor)| {
        graph.add_value(&format!("out_{index}"), spec(tensor), ValueKind::Computed)
    };
    let outputs: Vec<ValueId> = outputs.iter().enumerate().map(computed).collect();
    let node = Node { operator: name(operator)?, arguments, outputs: outputs.clone() };
    (graph.nodes, graph.outputs) = (vec![node], outputs);
    let program = Program { methods: BTreeMap::from([("forward".to_owned(), graph)]) };
    let program = LoweredProgram::verify(program).ok()?;
    (!inputs.is_empty()).then_some(CaseProgram { program, inputs })
}

fn name(operator: &Operator) -> Option<OperatorName> {
    let (namespace, rest) = operator.functional.split_once("::")?;
    let (name, overload) = rest.split_once('.').unwrap_or((rest, "default"));
    OperatorName::parse(&format!("{namespace}.{name}.{overload}"))
}

struct Builder {
    graph: Graph,
    inputs: Vec<Vec<u8>>,
    constants: Constants,
}

impl Builder {
    fn argument(&mut self, argument: &CaseArgument) -> Argument {
        match argument {
            CaseArgument::None => Argument::None,
            CaseArgument::Int(value) => Argument::Int(*value),
            CaseArgument::Bool(value) => Argument::Bool(*value),
            CaseArgument::Double(value) => Argument::Float(*value),
            CaseArgument::Text(text) => Argument::Text((*text).to_owned()),
            CaseArgument::Ints(items) => Argument::Ints(items.to_vec()),
            CaseArgument::Doubles(items) => Argument::Floats(items.to_vec()),
            CaseArgument::Bools(items) => Argument::Bools(items.to_vec()),
            CaseArgument::Type(scalar_type) => Argument::Type(*scalar_type),
            CaseArgument::Tensor(tensor) => Argument::Value(self.tensor(tensor)),
            CaseArgument::Tensors(tensors) => {
                Argument::Values(tensors.iter().map(|tensor| Some(self.tensor(tensor))).collect())
            }
            CaseArgument::OptionalTensors(tensors) => {
                let tensors = tensors.iter().map(|tensor| tensor.as_ref().map(|tensor| self.tensor(tensor)));
                Argument::Values(tensors.collect())
            }
        }
    }

    fn tensor(&mut self, tensor: &CaseTensor) -> ValueId {
        let (bytes, name) = (tensor_of(tensor).bytes, format!("in_{}", self.graph.values.len()));
        if self.constants == Constants::AllButFirst && !self.inputs.is_empty() {
            let kind = ValueKind::Constant { qualified_name: name.clone(), data: ConstantData::new(bytes) };
            return self.graph.add_value(&name, spec(tensor), kind);
        }
        let id = self.graph.add_value(&name, spec(tensor), ValueKind::Input);
        self.graph.inputs.push(id);
        self.inputs.push(bytes);
        id
    }
}

fn spec(tensor: &CaseTensor) -> TensorSpec {
    TensorSpec::contiguous(tensor.scalar_type, tensor.sizes)
}
