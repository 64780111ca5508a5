//! From a graph to an execution plan.

use std::collections::BTreeMap;

use et_format::write::{Allocation, Chain, EValue, ExecutionPlan, Instruction, Operator, Tensor};
use et_ops::Outs;
use etbuild_ir::{Argument, Graph, IdMap, MemoryPlan, Node, ValueId, ValueKind, aliases};

use crate::EmitError;
use crate::constants::Constants;
use crate::container::container;
use crate::kernels::Kernels;
use crate::schema::argument_types;
use crate::values::{ConstantValue, ValueTable};

/// A method in the making.
pub struct MethodEmitter<'a, 's> {
    graph: &'a Graph,
    plan: &'a MemoryPlan,
    constants: &'s mut Constants<'a>,
    kernels: &'s mut Kernels,
    values: ValueTable,
    tensors: IdMap<i32>,
    operators: Vec<Operator>,
    operator_indices: BTreeMap<&'static str, i32>,
}

impl<'a, 's> MethodEmitter<'a, 's> {
    pub fn new(
        graph: &'a Graph,
        plan: &'a MemoryPlan,
        constants: &'s mut Constants<'a>,
        kernels: &'s mut Kernels,
    ) -> Self {
        let (values, tensors) = (ValueTable::default(), IdMap::default());
        let (operators, operator_indices) = (Vec::new(), BTreeMap::new());
        Self { graph, plan, constants, kernels, values, tensors, operators, operator_indices }
    }

    /// The execution plan of the method `name`.
    pub fn emit(mut self, name: &str) -> Result<ExecutionPlan<'a>, EmitError> {
        let graph = self.graph;
        let inputs = graph.inputs.iter().map(|id| self.tensor(*id)).collect();
        let aliases = aliases(graph);
        let elided = |node: &&Node| node.outputs.iter().any(|id| aliases.get(*id).is_some());
        let calls = graph.nodes.iter().filter(|node| !elided(node));
        let instructions = calls.map(|node| self.call(node)).collect::<Result<_, _>>()?;
        let outputs = graph.outputs.iter().map(|id| self.tensor(*id)).collect();
        Ok(ExecutionPlan {
            name: name.to_owned(),
            container: container(graph.inputs.len(), graph.outputs.len()),
            values: self.values.into_values(),
            inputs,
            outputs,
            chains: vec![Chain { instructions }],
            operators: self.operators,
            delegates: Vec::new(),
            arena_sizes: self.plan.arenas.iter().map(|arena| arena.size.cast_signed()).collect(),
        })
    }

    fn call(&mut self, node: &Node) -> Result<Instruction, EmitError> {
        let functional = node.operator.qualified();
        let operator = et_ops::find_functional(&functional).ok_or(EmitError::OperatorMissing(functional))?;
        let arguments = self.call_arguments(node, operator);
        let arguments = arguments.ok_or_else(|| EmitError::Arity(operator.name().to_owned()))?;
        let type_of = |id: ValueId| self.graph.spec(id).scalar_type;
        let outputs = node.outputs.iter().copied().map(type_of);
        self.kernels.add(operator.name(), et_ops::selection(node.uses().map(type_of), outputs));
        Ok(Instruction::KernelCall { operator: self.operator(operator.name()), arguments })
    }

    /// Arguments in schema order, then what the kernel writes and returns; `None` where the schema has another number.
    fn call_arguments(&mut self, node: &Node, operator: &et_ops::Operator) -> Option<Vec<i32>> {
        let declared = argument_types(operator.schema).take(operator.in_count());
        let same_number = operator.in_count() == node.arguments.len();
        let pairs = same_number.then(|| node.arguments.iter().zip(declared))?;
        let mut arguments: Vec<i32> = pairs.map(|(argument, declared)| self.argument(argument, declared)).collect();
        let written = self.written(node, operator.outs(), arguments.first().copied())?;
        arguments.extend(written);
        Some(arguments)
    }

    /// The out tensors, then the returned value: the one out tensor or out list again, or the list of several. What a
    /// kernel writes in place is only returned.
    fn written(&mut self, node: &Node, outs: Outs, first_argument: Option<i32>) -> Option<Vec<i32>> {
        if outs.count().is_some_and(|count| count != node.outputs.len()) {
            return None;
        }
        if let (Outs::FirstArgument, [output], Some(written)) = (outs, &node.outputs[..], first_argument) {
            self.tensors.insert(*output, written);
            return Some(vec![written]);
        }
        let mut tensors: Vec<i32> = node.outputs.iter().map(|id| self.tensor(*id)).collect();
        match (outs, &tensors[..]) {
            (Outs::List, _) => Some(vec![self.list(tensors); 2]),
            (_, [output]) => Some(vec![*output; 2]),
            _ => {
                let list = self.list(tensors.clone());
                tensors.push(list);
                Some(tensors)
            }
        }
    }

    fn argument(&mut self, argument: &Argument, declared: &str) -> i32 {
        let value = match argument {
            Argument::Value(id) => return self.tensor(*id),
            Argument::Ints(items) => return self.values.integers(items),
            Argument::Values(ids) => self.tensors(ids, declared),
            Argument::None => ConstantValue::Null,
            // A kernel that takes a `float` does not accept an integer; one that takes a `Scalar` tells them apart.
            Argument::Int(number) if declared.starts_with("float") => ConstantValue::Double((*number as f64).to_bits()),
            Argument::Int(number) => ConstantValue::Int(*number),
            Argument::Float(number) => ConstantValue::Double(number.to_bits()),
            Argument::Floats(items) => ConstantValue::DoubleList(items.iter().map(|item| item.to_bits()).collect()),
            Argument::Bool(flag) => ConstantValue::Bool(*flag),
            Argument::Bools(items) => ConstantValue::BoolList(items.clone()),
            Argument::Text(text) => ConstantValue::Text(text.clone()),
            Argument::Type(scalar_type) => ConstantValue::Int(i64::from(*scalar_type as u8)),
            Argument::MemoryFormat(format) => ConstantValue::Int(format.number()),
            Argument::Place => ConstantValue::Null,
        };
        self.values.constant(value)
    }

    fn tensors(&mut self, ids: &[Option<ValueId>], declared: &str) -> ConstantValue {
        let indices = ids.iter().map(|id| id.map_or(-1, |id| self.tensor(id))).collect();
        if declared.starts_with("Tensor[") {
            ConstantValue::TensorList(indices)
        } else {
            ConstantValue::OptionalTensorList(indices)
        }
    }

    fn list(&mut self, tensors: Vec<i32>) -> i32 {
        self.values.constant(ConstantValue::TensorList(tensors))
    }

    fn tensor(&mut self, id: ValueId) -> i32 {
        if let Some(index) = self.tensors.get(id) {
            return *index;
        }
        let graph = self.graph;
        let (spec, place) = (graph.spec(id), self.plan.allocations.get(id));
        let tensor = Tensor {
            scalar_type: spec.scalar_type,
            sizes: spec.sizes.clone(),
            dim_order: spec.dim_order.clone(),
            data_buffer: match &graph.value(id).kind {
                ValueKind::Constant { data, .. } => self.constants.buffer(data),
                ValueKind::Input | ValueKind::Computed => 0,
            },
            allocation: place.map(|place| Allocation { memory_id: place.memory_id, offset: place.offset }),
            dynamic: false,
            extra: None,
        };
        let index = self.values.add(EValue::Tensor(tensor));
        self.tensors.insert(id, index);
        index
    }

    fn operator(&mut self, name: &'static str) -> i32 {
        *self.operator_indices.entry(name).or_insert_with(|| {
            let (name, overload) = name.split_once('.').unwrap_or((name, ""));
            self.operators.push(Operator { name: name.to_owned(), overload: overload.to_owned() });
            self.operators.len() as i32 - 1
        })
    }
}
