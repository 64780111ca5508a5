//! Construction of nodes and constants.

use std::sync::Arc;

use et_core::ScalarType;
use etbuild_ir::{Argument, ConstantData, Graph, Node, OperatorName, TensorSpec, ValueId, ValueKind};

/// A graph under conversion.
pub struct Builder {
    /// The graph.
    pub graph: Graph,
    /// The module of new values.
    origin: Option<Arc<str>>,
}

impl Builder {
    /// A builder of this graph.
    pub fn new(graph: Graph) -> Self {
        Self { graph, origin: None }
    }

    /// Sets the module of new values to the module of `node`.
    pub fn set_origin(&mut self, node: &Node) {
        self.origin = node.outputs.first().and_then(|id| self.graph.origins.get(*id)).cloned();
    }

    /// Adds a call. Outputs are named after the operator.
    pub fn call<const N: usize>(
        &mut self,
        operator: &str,
        arguments: Vec<Argument>,
        outputs: [TensorSpec; N],
    ) -> [ValueId; N] {
        let Some(operator) = OperatorName::parse(operator) else { return [ValueId(0); N] };
        let outputs = outputs.map(|spec| self.computed(operator.name(), spec));
        self.graph.nodes.push(Node { operator, arguments, outputs: outputs.to_vec() });
        outputs
    }

    fn computed(&mut self, name: &str, spec: TensorSpec) -> ValueId {
        let id = self.graph.add_value(name, spec, ValueKind::Computed);
        if let Some(origin) = self.origin.clone() {
            self.graph.origins.insert(id, origin);
        }
        id
    }

    /// Adds a constant derived from `of`, with a derived name.
    pub fn constant(&mut self, of: ValueId, role: &str, spec: TensorSpec, data: ConstantData) -> ValueId {
        let qualified_name = data.distinct_name(&format!("{}.{role}", self.qualified_name(of)));
        let name = format!("{}_{role}", self.graph.value(of).name);
        self.graph.add_value(&name, spec, ValueKind::Constant { qualified_name, data })
    }

    /// The name of a constant in the model.
    pub fn qualified_name(&self, id: ValueId) -> &str {
        let value = self.graph.value(id);
        match &value.kind {
            ValueKind::Constant { qualified_name, .. } => qualified_name,
            _ => &value.name,
        }
    }

    /// The spec of a value with another element type.
    pub fn like(&self, id: ValueId, scalar_type: ScalarType) -> TensorSpec {
        TensorSpec { scalar_type, ..self.graph.spec(id).clone() }
    }
}
