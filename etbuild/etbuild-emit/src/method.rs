//! From a graph to an execution plan.

use std::collections::BTreeMap;

use et_core::{Dtypes, ScalarType};
use et_format::write::{Allocation, Chain, EValue, ExecutionPlan, ExtraTensorInfo, Instruction, Operator, Tensor};
use et_ops::{Outs, Primitive, PrimitiveResult};
use etbuild_ir::{
    Argument, Control, DelegateCall, Graph, IdMap, MemoryPlan, Node, Size, Update, ValueId, ValueKind, aliases,
    copied_updates, is_elided,
};

use crate::EmitError;
use crate::constants::{ConstantPlace, Constants};
use crate::container::container;
use crate::control::Line;
use crate::delegates::Delegates;
use crate::kernels::Kernels;
use crate::schema::argument_types;
use crate::values::{ConstantValue, ValueTable};

/// The operator that copies into an input or into state.
const COPY: &str = "aten::copy_";

/// The initial entry of the value table for a number.
const fn zero(scalar_type: ScalarType) -> EValue {
    match scalar_type {
        ScalarType::Bool => EValue::Bool(false),
        ScalarType::Double => EValue::Double(0.0),
        _ => EValue::Int(0),
    }
}

/// A method under construction.
pub struct MethodEmitter<'a, 's> {
    graph: &'a Graph,
    plan: &'a MemoryPlan,
    constants: &'s mut Constants<'a>,
    kernels: &'s mut Kernels,
    values: ValueTable,
    tensors: IdMap<i32>,
    operators: Vec<Operator>,
    operator_indices: BTreeMap<String, i32>,
    delegates: Delegates<'a>,
}

impl<'a, 's> MethodEmitter<'a, 's> {
    pub fn new(
        graph: &'a Graph,
        plan: &'a MemoryPlan,
        constants: &'s mut Constants<'a>,
        kernels: &'s mut Kernels,
        delegates: Delegates<'a>,
    ) -> Self {
        let (values, tensors) = (ValueTable::default(), IdMap::default());
        let (operators, operator_indices) = (Vec::new(), BTreeMap::new());
        Self { graph, plan, constants, kernels, values, tensors, operators, operator_indices, delegates }
    }

    /// The execution plan of the method `name`.
    pub fn emit(mut self, name: &str) -> Result<ExecutionPlan<'a>, EmitError> {
        let graph = self.graph;
        let inputs = graph.inputs.iter().map(|id| self.tensor(*id)).collect();
        let aliases = aliases(graph);
        let mut line = Line::default();
        for node in graph.nodes.iter().filter(|node| !is_elided(node, &aliases)) {
            match Control::of(node) {
                Some(control) => self.control(control, &mut line),
                None => line.push(self.call(node)?),
            }
        }
        for update in copied_updates(graph, &aliases) {
            line.push(self.update(*update));
        }
        let instructions = line.finish().ok_or_else(|| EmitError::Label(name.to_owned()))?;
        let outputs = graph.outputs.iter().map(|id| self.tensor(*id)).collect();
        Ok(ExecutionPlan {
            name: name.to_owned(),
            container: container(graph.inputs.len(), graph.outputs.len()),
            values: self.values.into_values(),
            inputs,
            outputs,
            chains: vec![Chain { instructions }],
            operators: self.operators,
            delegates: self.delegates.into_list(),
            arena_sizes: self.plan.arenas.iter().map(|arena| arena.size.cast_signed()).collect(),
        })
    }

    fn control(&mut self, control: Control, line: &mut Line) {
        match control {
            Control::Label(label) => line.place(label),
            Control::Jump(label) => line.jump(self.values.constant(ConstantValue::Bool(false)), label),
            Control::JumpIfFalse(condition, label) => line.jump(self.tensor(condition), label),
            Control::Move(from, to) => {
                let (from, to) = (self.tensor(from), self.tensor(to));
                line.push(Instruction::MoveCall { from, to });
            }
        }
    }

    /// The instruction that stores the new value of state or of an input.
    fn update(&mut self, update: Update) -> Instruction {
        let scalar_type = |id| self.graph.spec(id).scalar_type;
        self.kernels.add(COPY, Dtypes::of(&[scalar_type(update.value), scalar_type(update.target)]));
        let (target, value) = (self.tensor(update.target), self.tensor(update.value));
        let blocking = self.values.constant(ConstantValue::Bool(false));
        Instruction::KernelCall { operator: self.operator(COPY), arguments: vec![target, value, blocking, target] }
    }

    /// A call of a primitive: arguments in schema order, then the result.
    fn primitive_call(&mut self, primitive: &'static Primitive, node: &Node) -> Instruction {
        let mut arguments: Vec<i32> = node.arguments.iter().map(|argument| self.argument(argument, "Scalar")).collect();
        match primitive.result {
            PrimitiveResult::Tensor => {}
            _ => arguments.extend(node.outputs.iter().map(|id| self.tensor(*id))),
        }
        self.kernels.add(primitive.name(), Dtypes::NONE);
        Instruction::KernelCall { operator: self.operator(primitive.name()), arguments }
    }

    fn call(&mut self, node: &'a Node) -> Result<Instruction, EmitError> {
        if let Some(primitive) = node.operator.primitive() {
            return Ok(self.primitive_call(primitive, node));
        }
        if let Some(call) = DelegateCall::of(node) {
            return self.delegate_call(call);
        }
        if node.operator.is_custom() {
            return Ok(self.custom_call(node));
        }
        let functional = node.operator.qualified();
        let operator = et_ops::find_functional(&functional).ok_or(EmitError::OperatorMissing(functional))?;
        let arguments = self.call_arguments(node, operator);
        let arguments = arguments.ok_or_else(|| EmitError::Arity(operator.name().to_owned()))?;
        Ok(self.kernel_call(node, operator.name(), operator.dtypes, arguments))
    }

    /// A call of a custom operator, whose arguments are those of the schema.
    fn custom_call(&mut self, node: &Node) -> Instruction {
        let mut arguments: Vec<i32> =
            node.arguments.iter().map(|argument| self.argument(argument, "Tensor[]")).collect();
        let count = Outs::Tensors(node.outputs.len());
        arguments.extend(self.written(node, count, None).unwrap_or_default());
        self.kernel_call(node, &node.operator.out_variant(), Dtypes::STORED, arguments)
    }

    /// The call of a kernel for some of these dtypes.
    fn kernel_call(&mut self, node: &Node, name: &str, dtypes: Dtypes, arguments: Vec<i32>) -> Instruction {
        let type_of = |id: ValueId| self.graph.spec(id).scalar_type;
        let outputs = node.outputs.iter().copied().map(type_of);
        let tensors = node.uses().filter(|id| self.graph.number(*id).is_none());
        self.kernels.add(name, et_ops::selection(dtypes, tensors.map(type_of), outputs));
        Instruction::KernelCall { operator: self.operator(name), arguments }
    }

    /// A delegate call: inputs, then outputs, then scratch.
    fn delegate_call(&mut self, call: DelegateCall<'a>) -> Result<Instruction, EmitError> {
        let delegate = self.delegates.index(call, self.graph)?;
        let passed = call.inputs.iter().flatten().chain(call.outputs);
        Ok(Instruction::DelegateCall { delegate, arguments: passed.map(|id| self.tensor(*id)).collect() })
    }

    /// The arguments in schema order, then out tensors and the returned value; `None` where the schema has another
    /// number.
    fn call_arguments(&mut self, node: &Node, operator: &et_ops::Operator) -> Option<Vec<i32>> {
        let declared = argument_types(operator.schema).take(operator.in_count());
        let same_number = operator.in_count() == node.arguments.len();
        let pairs = same_number.then(|| node.arguments.iter().zip(declared))?;
        let mut arguments: Vec<i32> = pairs.map(|(argument, declared)| self.argument(argument, declared)).collect();
        let written = self.written(node, operator.outs(), arguments.first().copied())?;
        arguments.extend(written);
        Some(arguments)
    }

    /// The out tensors, then the returned value: again the out tensor or out list, or a list of several out tensors.
    /// An operand that the kernel writes in place is only returned.
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
            Argument::Sizes(items) => return self.sizes(items),
            Argument::Values(ids) => self.tensors(ids, declared),
            Argument::None => ConstantValue::Null,
            // A kernel with a `float` parameter does not accept an integer; a `Scalar` parameter distinguishes
            // integer and float.
            Argument::Int(number) if declared.starts_with("float") => ConstantValue::Double((*number as f64).to_bits()),
            Argument::Int(number) => ConstantValue::Int(*number),
            Argument::Float(number) => ConstantValue::Double(number.to_bits()),
            Argument::Floats(items) => ConstantValue::DoubleList(items.iter().map(|item| item.to_bits()).collect()),
            Argument::Bool(flag) => ConstantValue::Bool(*flag),
            Argument::Bools(items) => ConstantValue::BoolList(items.clone()),
            Argument::Text(text) => ConstantValue::Text(text.clone()),
            Argument::Type(scalar_type) => ConstantValue::Int(i64::from(*scalar_type as u8)),
            Argument::MemoryFormat(format) => ConstantValue::Int(format.number()),
            Argument::Place | Argument::Graph(_) => ConstantValue::Null,
        };
        self.values.constant(value)
    }

    fn sizes(&mut self, sizes: &[Size]) -> i32 {
        let mut item = |size: &Size| match size {
            Size::Fixed(number) => self.values.constant(ConstantValue::Int(*number)),
            Size::Value(id) => self.tensor(*id),
        };
        let items = sizes.iter().map(|size| i64::from(item(size))).collect();
        self.values.constant(ConstantValue::IntList(items))
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

    /// The index of a tensor or number in the value table.
    fn tensor(&mut self, id: ValueId) -> i32 {
        if let Some(index) = self.tensors.get(id) {
            return *index;
        }
        let value = match self.graph.number(id) {
            Some(_) => zero(self.graph.spec(id).scalar_type),
            None => EValue::Tensor(self.tensor_value(id)),
        };
        let index = self.values.add(value);
        self.tensors.insert(id, index);
        index
    }

    fn tensor_value(&mut self, id: ValueId) -> Tensor {
        let graph = self.graph;
        let (spec, place) = (graph.spec(id), self.plan.allocations.get(id));
        let (data_buffer, extra) = self.data(id);
        Tensor {
            scalar_type: spec.scalar_type,
            sizes: spec.sizes.clone(),
            dim_order: spec.dim_order.clone(),
            data_buffer,
            allocation: place.map(|place| Allocation { memory_id: place.memory_id, offset: place.offset }),
            dynamic: spec.is_dynamic(),
            extra,
        }
    }

    /// The data buffer of a tensor, 0 for no data, and the name of an external constant.
    fn data(&mut self, id: ValueId) -> (u32, Option<ExtraTensorInfo>) {
        let graph = self.graph;
        match &graph.value(id).kind {
            ValueKind::Constant { data, qualified_name } => {
                match self.constants.place(qualified_name, graph.spec(id), data) {
                    ConstantPlace::Embedded(buffer) => (buffer, None),
                    ConstantPlace::External(fully_qualified_name) => {
                        (0, Some(ExtraTensorInfo { fully_qualified_name, external: true }))
                    }
                }
            }
            ValueKind::State { initial, qualified_name } => match self.constants.initial_value(initial) {
                0 => (0, Some(ExtraTensorInfo { fully_qualified_name: qualified_name.clone(), external: false })),
                buffer => (buffer, None),
            },
            ValueKind::Input | ValueKind::Computed => (0, None),
        }
    }

    fn operator(&mut self, name: &str) -> i32 {
        *self.operator_indices.entry(name.to_owned()).or_insert_with(|| {
            let (name, overload) = name.split_once('.').unwrap_or((name, ""));
            self.operators.push(Operator { name: name.to_owned(), overload: overload.to_owned() });
            self.operators.len() as i32 - 1
        })
    }
}
