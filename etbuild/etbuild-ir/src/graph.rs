//! Programs, graphs, nodes and values.

mod argument;
mod symbolic;

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

pub use argument::{Argument, MemoryFormat, Size};
use et_core::ScalarType;
pub use symbolic::SymbolicSize;

use crate::{ConstantData, IdMap, OperatorName, TensorSpec, ValueId};

/// Named methods.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Program {
    /// The methods by name. The only method of an archive is `forward`.
    pub methods: BTreeMap<String, Graph>,
}

/// The body of a method: values, and nodes in execution order. Equality ignores origins.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    /// Every value, by id. Only [`Graph::add_value`] adds values. Values may be unused.
    pub values: Vec<Value>,
    /// The inputs, in the order of the signature.
    pub inputs: Vec<ValueId>,
    /// The outputs, in the order of the signature.
    pub outputs: Vec<ValueId>,
    /// The nodes, each after the nodes that it reads from.
    pub nodes: Vec<Node>,
    /// The new values of state and inputs after an execution.
    pub updates: Vec<Update>,
    /// The module of the model's source that computes a value, such as `encoder.0.attention`. For messages only.
    pub origins: IdMap<Arc<str>>,
    /// The names of the values. Accessed by key only: iteration order is random.
    names: HashSet<String>,
}

/// A new value for state or an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Update {
    /// The state or input.
    pub target: ValueId,
    /// The value after the execution.
    pub value: ValueId,
}

/// A tensor or a number of a graph.
#[derive(Clone, Debug, PartialEq)]
pub struct Value {
    /// Unique within the graph. The name of an input is the name in the exported signature.
    pub name: String,
    /// Type, shape and layout. A number has rank 0.
    pub spec: TensorSpec,
    /// The range of a number such as a size; `None` for a tensor. Numbers need no memory.
    pub number: Option<Interval>,
    /// What the dynamic sizes of an input depend on, for each dimension; empty for other values.
    pub symbolic: Vec<Option<SymbolicSize>>,
    /// Whether a constant is an embedding table and, somewhere in the program, also the weight of a linear layer.
    pub is_tied: bool,
    /// The origin of the value.
    pub kind: ValueKind,
}

/// The integers from `least` to `most`, inclusive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interval {
    /// The smallest.
    pub least: i64,
    /// The largest.
    pub most: i64,
}

/// The origin of a value.
#[derive(Clone, Debug, PartialEq)]
pub enum ValueKind {
    /// The caller.
    Input,
    /// Stored in the program.
    Constant {
        /// The name in the model, such as `conv1.weight`.
        qualified_name: String,
        /// The elements in the order of the spec.
        data: ConstantData,
    },
    /// Memory between executions, with a first value in the program.
    State {
        /// The name in the model, such as `cache.keys`.
        qualified_name: String,
        /// The elements before the first execution.
        initial: ConstantData,
    },
    /// Computed by a node.
    Computed,
}

/// A call of an operator.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// The operator.
    pub operator: OperatorName,
    /// An argument for every parameter of the operator's schema, in order.
    pub arguments: Vec<Argument>,
    /// An output for every tensor that the operator returns.
    pub outputs: Vec<ValueId>,
}

impl PartialEq for Graph {
    fn eq(&self, other: &Self) -> bool {
        let interface = (&self.inputs, &self.outputs) == (&other.inputs, &other.outputs);
        let body = (&self.nodes, &self.updates) == (&other.nodes, &other.updates);
        interface && body && self.values == other.values
    }
}

impl Graph {
    /// The value with this id.
    ///
    /// # Panics
    /// For the id of another graph.
    pub fn value(&self, id: ValueId) -> &Value {
        &self.values[id.index()]
    }

    /// The spec of the value with this id.
    ///
    /// # Panics
    /// Like [`Graph::value`].
    pub fn spec(&self, id: ValueId) -> &TensorSpec {
        &self.value(id).spec
    }

    /// Adds a value. A number is appended to a name that is taken.
    pub fn add_value(&mut self, name: &str, spec: TensorSpec, kind: ValueKind) -> ValueId {
        let id = ValueId(self.values.len() as u32);
        let name = self.claim_name(name);
        self.values.push(Value { name, spec, number: None, symbolic: Vec::new(), is_tied: false, kind });
        id
    }

    /// Adds a number of type `int64`, `float64` or `bool`. A number is appended to a name that is taken.
    pub fn add_number(&mut self, name: &str, scalar_type: ScalarType, range: Interval, kind: ValueKind) -> ValueId {
        let id = self.add_value(name, TensorSpec::contiguous(scalar_type, []), kind);
        self.values[id.index()].number = Some(range);
        id
    }

    /// The range of a number; `None` for a tensor.
    pub fn number(&self, id: ValueId) -> Option<Interval> {
        self.value(id).number
    }

    /// Whether the value needs memory: true for tensors that are not constants.
    pub fn needs_memory(&self, id: ValueId) -> bool {
        let value = self.value(id);
        value.number.is_none() && !matches!(value.kind, ValueKind::Constant { .. })
    }

    /// The elements of a constant; `None` for values of another kind.
    pub fn constant(&self, id: ValueId) -> Option<&ConstantData> {
        match &self.value(id).kind {
            ValueKind::Constant { data, .. } => Some(data),
            ValueKind::Input | ValueKind::State { .. } | ValueKind::Computed => None,
        }
    }

    /// Visits the bytes of every constant and of every first value of state, nested graphs included.
    pub fn for_each_data<'g>(&'g self, visit: &mut impl FnMut(&'g ConstantData)) {
        for value in &self.values {
            match &value.kind {
                ValueKind::Constant { data, .. } | ValueKind::State { initial: data, .. } => visit(data),
                ValueKind::Input | ValueKind::Computed => {}
            }
        }
        self.nodes.iter().flat_map(Node::graphs).for_each(|graph| graph.for_each_data(visit));
    }

    /// All values with their ids.
    pub fn values_with_ids(&self) -> impl Iterator<Item = (ValueId, &Value)> {
        self.values.iter().enumerate().map(|(index, value)| (ValueId(index as u32), value))
    }

    /// Adds a copy of a value of another graph. A number is appended to a name that is taken.
    pub fn add_like(&mut self, value: &Value) -> ValueId {
        let id = self.add_value(&value.name, value.spec.clone(), value.kind.clone());
        self.values[id.index()].number = value.number;
        self.values[id.index()].symbolic.clone_from(&value.symbolic);
        self.values[id.index()].is_tied = value.is_tied;
        id
    }

    /// Replaces every use of a value, by nodes and as result.
    pub fn replace_uses(&mut self, mut replace: impl FnMut(ValueId) -> ValueId) {
        for node in &mut self.nodes {
            node.replace_uses(&mut replace);
        }
        self.replace_results(replace);
    }

    /// Replaces outputs and the new values of updates.
    pub fn replace_results(&mut self, mut replace: impl FnMut(ValueId) -> ValueId) {
        self.outputs.iter_mut().for_each(|id| *id = replace(*id));
        self.updates.iter_mut().for_each(|update| update.value = replace(update.value));
    }

    /// The results of an execution: outputs, then new values of updates.
    pub fn results(&self) -> impl Iterator<Item = ValueId> + '_ {
        self.outputs.iter().copied().chain(self.updates.iter().map(|update| update.value))
    }

    fn claim_name(&mut self, wanted: &str) -> String {
        let mut name = wanted.to_owned();
        let mut number = self.values.len();
        while !self.names.insert(name.clone()) {
            name = format!("{wanted}_{number}");
            number += 1;
        }
        name
    }
}

impl Node {
    /// The values that the node reads, in the order of arguments.
    pub fn uses(&self) -> impl Iterator<Item = ValueId> + '_ {
        self.arguments.iter().flat_map(Argument::uses)
    }

    /// The nested graphs.
    pub fn graphs(&self) -> impl Iterator<Item = &Graph> {
        self.arguments.iter().filter_map(|argument| match argument {
            Argument::Graph(graph) => Some(&**graph),
            _ => None,
        })
    }

    /// The nested graphs, for changes.
    pub fn graphs_mut(&mut self) -> impl Iterator<Item = &mut Graph> {
        self.arguments.iter_mut().filter_map(|argument| match argument {
            Argument::Graph(graph) => Some(&mut **graph),
            _ => None,
        })
    }

    /// Replaces the values that the node reads.
    pub fn replace_uses(&mut self, mut replace: impl FnMut(ValueId) -> ValueId) {
        for argument in &mut self.arguments {
            argument.for_each_use_mut(|id| *id = replace(*id));
        }
    }
}

impl Interval {
    /// All integers.
    pub const ALL: Self = Self { least: i64::MIN, most: i64::MAX };

    /// The range of a condition.
    pub const FLAG: Self = Self { least: 0, most: 1 };
}
