//! Programs, graphs, nodes and values.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use crate::{Argument, ConstantData, IdMap, OperatorName, TensorSpec, ValueId};

/// Named methods.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Program {
    /// The methods by name; a model's only method is `forward`.
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
    /// The module of the model's source that computes a value, such as `encoder.0.attention`; for messages only.
    pub origins: IdMap<Arc<str>>,
    /// The names that values have. Only ever asked whether it contains one.
    names: HashSet<String>,
}

/// A tensor of a graph.
#[derive(Clone, Debug, PartialEq)]
pub struct Value {
    /// Unique within the graph. An input's is its name in the exported signature.
    pub name: String,
    /// Type, shape and layout.
    pub spec: TensorSpec,
    /// Where it comes from.
    pub kind: ValueKind,
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
        interface && self.values == other.values && self.nodes == other.nodes
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
        self.values.push(Value { name, spec, kind });
        id
    }

    /// The elements of a constant; `None` for other values.
    pub fn constant(&self, id: ValueId) -> Option<&ConstantData> {
        match &self.value(id).kind {
            ValueKind::Constant { data, .. } => Some(data),
            ValueKind::Input | ValueKind::Computed => None,
        }
    }

    /// All values with their ids.
    pub fn values_with_ids(&self) -> impl Iterator<Item = (ValueId, &Value)> {
        self.values.iter().enumerate().map(|(index, value)| (ValueId(index as u32), value))
    }

    /// Replaces every use of a value, by nodes and as output, according to `replace`.
    pub fn replace_uses(&mut self, mut replace: impl FnMut(ValueId) -> ValueId) {
        for node in &mut self.nodes {
            node.replace_uses(&mut replace);
        }
        self.outputs.iter_mut().for_each(|id| *id = replace(*id));
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

    /// Replaces every value that the node reads according to `replace`.
    pub fn replace_uses(&mut self, mut replace: impl FnMut(ValueId) -> ValueId) {
        for argument in &mut self.arguments {
            argument.for_each_use_mut(|id| *id = replace(*id));
        }
    }
}
