//! Programs, graphs, nodes and values.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use et_core::ScalarType;

use crate::{Argument, ConstantData, IdMap, OperatorName, TensorSpec, ValueId};

/// Named methods.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Program {
    /// The methods by name; an archive's only method is `forward`.
    pub methods: BTreeMap<String, Graph>,
}

/// The body of a method: values, and the nodes that compute them in execution order. Graphs that compute the same in the
/// same way are equal, whatever part of the model's source they come from.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    /// Every value, by id; made by [`Graph::add_value`] only. Some may be unused.
    pub values: Vec<Value>,
    /// The values that the caller provides, in the order of the signature.
    pub inputs: Vec<ValueId>,
    /// The values that the caller receives, in the order of the signature.
    pub outputs: Vec<ValueId>,
    /// The computation, each node after those that it reads from.
    pub nodes: Vec<Node>,
    /// What state and inputs hold once the outputs are computed.
    pub updates: Vec<Update>,
    /// The module of the model's source that computes a value, such as `encoder.0.attention`; for messages only.
    pub origins: IdMap<Arc<str>>,
    /// The names that values have. Only ever asked whether it contains one.
    names: HashSet<String>,
}

/// A new value for memory that outlives an execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Update {
    /// State, or an input.
    pub target: ValueId,
    /// What it holds from then on.
    pub value: ValueId,
}

/// A tensor or a number of a graph.
#[derive(Clone, Debug, PartialEq)]
pub struct Value {
    /// Unique within the graph. An input's is its name in the exported signature.
    pub name: String,
    /// Type, shape and layout. A number has rank 0.
    pub spec: TensorSpec,
    /// What the value can be where it is not a tensor but a number, such as a size: it lies in no memory.
    pub number: Option<Interval>,
    /// Where it comes from.
    pub kind: ValueKind,
}

/// The integers from `least` to `most`, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interval {
    /// The smallest.
    pub least: i64,
    /// The largest.
    pub most: i64,
}

/// Where a value comes from.
#[derive(Clone, Debug, PartialEq)]
pub enum ValueKind {
    /// The caller.
    Input,
    /// The program itself.
    Constant {
        /// The name that the model's author knows it by, such as `conv1.weight`.
        qualified_name: String,
        /// The elements in the order that the spec says.
        data: ConstantData,
    },
    /// The last execution; before the first, the program itself.
    State {
        /// The name that the model's author knows it by, such as `cache.keys`.
        qualified_name: String,
        /// The elements before the first execution.
        initial: ConstantData,
    },
    /// A node.
    Computed,
}

/// A call of an operator.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// What is called.
    pub operator: OperatorName,
    /// One for every argument of the operator's schema, in order.
    pub arguments: Vec<Argument>,
    /// One for every tensor that the operator returns.
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
    /// When the id belongs to another graph: ids are made by [`Graph::add_value`] only.
    pub fn value(&self, id: ValueId) -> &Value {
        &self.values[id.index()]
    }

    /// The spec of the value with this id.
    ///
    /// # Panics
    /// As [`Graph::value`].
    pub fn spec(&self, id: ValueId) -> &TensorSpec {
        &self.value(id).spec
    }

    /// Adds a value. A name that is taken gets a number at its end.
    pub fn add_value(&mut self, name: &str, spec: TensorSpec, kind: ValueKind) -> ValueId {
        let id = ValueId(self.values.len() as u32);
        let name = self.claim_name(name);
        self.values.push(Value { name, spec, number: None, kind });
        id
    }

    /// Adds a number of type `int64`, `float64` or `bool`. A name that is taken gets a number at its end.
    pub fn add_number(&mut self, name: &str, scalar_type: ScalarType, range: Interval, kind: ValueKind) -> ValueId {
        let id = self.add_value(name, TensorSpec::contiguous(scalar_type, []), kind);
        self.values[id.index()].number = Some(range);
        id
    }

    /// What a number can be; `None` for a tensor.
    pub fn number(&self, id: ValueId) -> Option<Interval> {
        self.value(id).number
    }

    /// Whether the value lies in memory that an execution needs: neither a constant nor a number.
    pub fn needs_memory(&self, id: ValueId) -> bool {
        let value = self.value(id);
        value.number.is_none() && !matches!(value.kind, ValueKind::Constant { .. })
    }

    /// The elements of a constant; `None` for other values.
    pub fn constant(&self, id: ValueId) -> Option<&ConstantData> {
        match &self.value(id).kind {
            ValueKind::Constant { data, .. } => Some(data),
            ValueKind::Input | ValueKind::State { .. } | ValueKind::Computed => None,
        }
    }

    /// Visits the bytes of every constant and of every first value of state, also in the graphs that nodes run.
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

    /// Adds a value like one of another graph. A name that is taken gets a number at its end.
    pub fn add_like(&mut self, value: &Value) -> ValueId {
        let id = self.add_value(&value.name, value.spec.clone(), value.kind.clone());
        self.values[id.index()].number = value.number;
        id
    }

    /// Replaces every use of a value, by nodes and as result, according to `replace`.
    pub fn replace_uses(&mut self, mut replace: impl FnMut(ValueId) -> ValueId) {
        for node in &mut self.nodes {
            node.replace_uses(&mut replace);
        }
        self.replace_results(replace);
    }

    /// Replaces outputs and the values of updates according to `replace`.
    pub fn replace_results(&mut self, mut replace: impl FnMut(ValueId) -> ValueId) {
        self.outputs.iter_mut().for_each(|id| *id = replace(*id));
        self.updates.iter_mut().for_each(|update| update.value = replace(update.value));
    }

    /// What must be computed although no node reads it: the outputs and the updates.
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
    /// The values that the node reads, in argument order.
    pub fn uses(&self) -> impl Iterator<Item = ValueId> + '_ {
        self.arguments.iter().flat_map(Argument::uses)
    }

    /// The graphs that the node's operator runs.
    pub fn graphs(&self) -> impl Iterator<Item = &Graph> {
        self.arguments.iter().filter_map(|argument| match argument {
            Argument::Graph(graph) => Some(&**graph),
            _ => None,
        })
    }

    /// The graphs that the node's operator runs, to change.
    pub fn graphs_mut(&mut self) -> impl Iterator<Item = &mut Graph> {
        self.arguments.iter_mut().filter_map(|argument| match argument {
            Argument::Graph(graph) => Some(&mut **graph),
            _ => None,
        })
    }

    /// Replaces every value that the node reads according to `replace`.
    pub fn replace_uses(&mut self, mut replace: impl FnMut(ValueId) -> ValueId) {
        for argument in &mut self.arguments {
            argument.for_each_use_mut(|id| *id = replace(*id));
        }
    }
}

impl Interval {
    /// Every integer.
    pub const ALL: Self = Self { least: i64::MIN, most: i64::MAX };

    /// What a condition can be.
    pub const FLAG: Self = Self { least: 0, most: 1 };
}
