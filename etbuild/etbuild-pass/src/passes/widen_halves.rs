//! Computes fp16 and bf16 in `float32`: backends without arithmetic in half precision then run the program. Inputs, outputs and
//! state keep their types; the conversions are at the edges of the method.

use et_core::ScalarType;
use etbuild_ir::{Argument, Graph, IdMap, Node, OperatorName, TensorSpec, Value, ValueId, ValueKind};

use crate::Refusal;
use crate::pass::Pass;

/// The pass.
pub static PASS: Pass = Pass {
    name: "widen_halves",
    purpose: "Computes float16 and bfloat16 in float32, with conversions at the edges.",
    run,
};

/// Operators whose third argument asks for a `float32` result of a half-precision operand.
const HALF_TO_FLOAT: &[&str] = &["_softmax", "_log_softmax"];

fn run(mut graph: Graph) -> Result<Graph, Vec<Refusal>> {
    if !is_in_half_precision(&graph) {
        return Ok(graph);
    }
    let nodes = std::mem::take(&mut graph.nodes);
    let mut widening = Widening { graph, wide: IdMap::default(), narrow: IdMap::default() };
    for node in nodes {
        if keeps_types(&node) { widening.keep(node) } else { widening.widen(node) }
    }
    widening.finish()
}

/// Whether inputs, weights, state or results are in half precision. In a model of another type, a conversion to half precision and
/// back rounds on purpose, and stays.
fn is_in_half_precision(graph: &Graph) -> bool {
    let is_edge = |value: &&Value| !matches!(value.kind, ValueKind::Computed);
    let edges = graph.values.iter().filter(is_edge).map(|value| value.spec.scalar_type);
    edges.chain(graph.results().map(|id| graph.spec(id).scalar_type)).any(is_half)
}

const fn is_half(scalar_type: ScalarType) -> bool {
    matches!(scalar_type, ScalarType::Half | ScalarType::BFloat16)
}

/// Whether the node works on the bits of its operands, on types that nested graphs state, or by a kernel for the stated types.
fn keeps_types(node: &Node) -> bool {
    node.operator.runs_graphs()
        || node.operator.is_custom()
        || matches!(node.operator.as_str(), "aten.view.dtype" | "aten.view_copy.dtype")
}

/// A graph during widening.
struct Widening {
    graph: Graph,
    /// The `float32` form of values in half precision.
    wide: IdMap<ValueId>,
    /// The type that a widened value had, and its form in that type where a node or a result reads the form.
    narrow: IdMap<(ScalarType, Option<ValueId>)>,
}

impl Widening {
    /// Appends a node that computes in `float32`.
    fn widen(&mut self, mut node: Node) {
        node.replace_uses(|id| self.wide(id));
        for argument in &mut node.arguments {
            if matches!(argument, Argument::Type(scalar_type) if is_half(*scalar_type)) {
                *argument = Argument::Type(ScalarType::Float);
            }
        }
        if let Some(flag) = node.arguments.get_mut(2).filter(|_| HALF_TO_FLOAT.contains(&node.operator.name())) {
            *flag = Argument::Bool(false);
        }
        for id in &node.outputs {
            let Some(value) = self.graph.values.get_mut(id.index()) else { continue };
            if is_half(value.spec.scalar_type) {
                self.narrow.insert(*id, (value.spec.scalar_type, None));
                value.spec.scalar_type = ScalarType::Float;
            }
        }
        self.graph.nodes.push(node);
    }

    /// Appends a node as it is.
    fn keep(&mut self, mut node: Node) {
        node.replace_uses(|id| self.narrow(id));
        self.graph.nodes.push(node);
    }

    /// Gives the results the types of the original program.
    fn finish(mut self) -> Result<Graph, Vec<Refusal>> {
        let results: Vec<ValueId> = self.graph.results().collect();
        let narrow: Vec<(ValueId, ValueId)> = results.into_iter().map(|id| (id, self.narrow(id))).collect();
        self.graph.replace_results(|id| narrow.iter().find(|(wide, _)| *wide == id).map_or(id, |(_, narrow)| *narrow));
        Ok(self.graph)
    }

    /// The value to compute with in `float32`.
    fn wide(&mut self, id: ValueId) -> ValueId {
        if !is_half(self.graph.spec(id).scalar_type) {
            return id;
        }
        if let Some(wide) = self.wide.get(id) {
            return *wide;
        }
        let wide = self.convert(id, ScalarType::Float);
        self.wide.insert(id, wide);
        wide
    }

    /// The value in the type that it has in the original program.
    fn narrow(&mut self, id: ValueId) -> ValueId {
        match self.narrow.get(id).copied() {
            None => id,
            Some((_, Some(narrow))) => narrow,
            Some((scalar_type, None)) => {
                let narrow = self.convert(id, scalar_type);
                self.narrow.insert(id, (scalar_type, Some(narrow)));
                narrow
            }
        }
    }

    fn convert(&mut self, from: ValueId, to: ScalarType) -> ValueId {
        let spec = TensorSpec { scalar_type: to, ..self.graph.spec(from).clone() };
        let name = format!("{}_{}", self.graph.value(from).name, to.name());
        let output = self.graph.add_value(&name, spec, ValueKind::Computed);
        self.graph.origins.get(from).cloned().map(|origin| self.graph.origins.insert(output, origin));
        let nothing = || Argument::None;
        let rest = [Argument::Type(to), nothing(), nothing(), nothing(), Argument::Bool(false), nothing()];
        let arguments = std::iter::once(Argument::Value(from)).chain(rest).collect();
        let operator = OperatorName::aten("_to_copy", "default");
        self.graph.nodes.push(Node { operator, arguments, outputs: vec![output] });
        output
    }
}
