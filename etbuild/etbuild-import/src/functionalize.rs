//! Functionalization: a graph with in-place writes becomes a graph without.
//!
//! A tensor of the captured program is memory, possibly shared with views. Each write becomes a new value, which is
//! carried through the views of the written tensor up to the owner of the memory. Later reads of another view of the
//! memory create the view again. Weights that are written become state; the final value of state and of written
//! inputs becomes an update.

mod view;

use et_core::ScalarType;
use etbuild_ir::{Argument, Graph, IdMap, Node, OperatorName, TensorSpec, Update, ValueId, ValueKind};

use crate::ImportError;
use crate::custom::CustomSchemas;
use crate::lower_custom::lower_custom;
use crate::schema::{self, Schema};
use view::{Apply, Inverse, View};

/// A captured graph.
#[derive(Default)]
pub struct Captured {
    /// The graph. Nodes may write to their first argument.
    pub graph: Graph,
    /// The values that are row-major without gaps.
    pub row_major: IdMap<bool>,
}

/// The largest growth of the node count: each write may be carried through many views.
const GROWTH: usize = 64;

/// The graph without in-place writes, and without custom operators that have a lowering.
///
/// # Errors
/// Writes without a functional equivalent; a lowering that does not fit a call.
pub fn functionalize(captured: Captured, schemas: &CustomSchemas) -> Result<Graph, ImportError> {
    let Captured { mut graph, row_major } = captured;
    let nodes = std::mem::take(&mut graph.nodes);
    let limit = nodes.len().saturating_mul(GROWTH);
    let mut state = Functionalizer {
        schemas,
        graph,
        row_major,
        memories: IdMap::default(),
        tensors: IdMap::default(),
        same: IdMap::default(),
        limit,
    };
    for node in nodes {
        state.node(node)?;
    }
    state.results()?;
    lower_custom(state.graph, schemas)
}

struct Functionalizer<'s> {
    schemas: &'s CustomSchemas,
    graph: Graph,
    row_major: IdMap<bool>,
    /// The number of writes to the memory of each owner.
    memories: IdMap<usize>,
    /// Views, and tensors with writes.
    tensors: IdMap<Tensor>,
    /// The written argument behind the value that an in-place operator returns.
    same: IdMap<ValueId>,
    limit: usize,
}

/// The state of a tensor of the captured program.
#[derive(Clone)]
struct Tensor {
    /// The value with the elements after `writes` writes.
    latest: ValueId,
    /// The number of writes to the memory that `latest` includes.
    writes: usize,
    /// The tensor that owns the memory.
    owner: ValueId,
    /// The source of the view, and the kind of view.
    source: Option<(ValueId, View)>,
}

impl Functionalizer<'_> {
    fn node(&mut self, mut node: Node) -> Result<(), ImportError> {
        if node.operator.runs_graphs() || node.operator.primitive().is_some() {
            self.read_arguments(&mut node)?;
            return self.push(node);
        }
        let schema = self.schemas.find(&node.operator);
        let schema = schema
            .ok_or_else(|| ImportError::UnknownOperator { operator: node.operator.to_string(), source_line: None })?;
        if schema.parameters.iter().any(|parameter| parameter.written) {
            return self.write(node, &schema);
        }
        for (output, view) in view::views(&self.graph, &self.row_major, &node, &schema) {
            self.add_view(&node, output, view);
        }
        self.read_arguments(&mut node)?;
        self.push(node)
    }

    /// Reads the outputs, and the final values of state and inputs.
    fn results(&mut self) -> Result<(), ImportError> {
        for index in 0..self.graph.outputs.len() {
            self.graph.outputs[index] = self.read(self.graph.outputs[index])?;
        }
        for index in 0..self.graph.updates.len() {
            self.graph.updates[index].value = self.read(self.graph.updates[index].value)?;
        }
        let written: Vec<ValueId> = self.memories.iter().map(|(owner, _)| owner).collect();
        let kept = written.into_iter().filter(|owner| !matches!(self.graph.value(*owner).kind, ValueKind::Computed));
        for target in kept.collect::<Vec<_>>() {
            let value = self.read(target)?;
            self.graph.updates.push(Update { target, value });
        }
        for update in self.graph.updates.clone() {
            self.make_state(update.target);
        }
        Ok(())
    }

    /// Turns a constant into state with the constant as first value.
    fn make_state(&mut self, id: ValueId) {
        let Some(value) = self.graph.values.get_mut(id.index()) else { return };
        if let ValueKind::Constant { qualified_name, data } = &value.kind {
            value.kind = ValueKind::State { qualified_name: qualified_name.clone(), initial: data.clone() };
        }
    }

    fn add_view(&mut self, node: &Node, output: ValueId, view: View) {
        let Some(Argument::Value(source)) = node.arguments.first() else { return };
        let source = self.resolve(*source);
        let owner = self.tensors.get(source).map_or(source, |tensor| tensor.owner);
        let writes = self.writes(owner);
        self.tensors.insert(output, Tensor { latest: output, writes, owner, source: Some((source, view)) });
    }

    /// The written tensor, for the value that an in-place operator returns.
    fn resolve(&self, id: ValueId) -> ValueId {
        self.same.get(id).copied().unwrap_or(id)
    }

    fn writes(&self, owner: ValueId) -> usize {
        self.memories.get(owner).copied().unwrap_or(0)
    }

    fn read_arguments(&mut self, node: &mut Node) -> Result<(), ImportError> {
        let mut failure = Ok(());
        node.replace_uses(|id| {
            self.read(id).unwrap_or_else(|error| {
                failure = Err(error);
                id
            })
        });
        failure
    }

    /// The value with the current elements of a tensor. A view is created again if the source was written since.
    fn read(&mut self, id: ValueId) -> Result<ValueId, ImportError> {
        let mut stale = Vec::new();
        let mut at = self.resolve(id);
        let mut value = loop {
            let Some(tensor) = self.tensors.get(at) else { break at };
            match &tensor.source {
                Some((source, _)) if tensor.writes != self.writes(tensor.owner) => {
                    stale.push(at);
                    at = *source;
                }
                _ => break tensor.latest,
            }
        };
        for tensor in stale.into_iter().rev() {
            value = self.view_again(tensor, value)?;
        }
        Ok(value)
    }

    fn view_again(&mut self, id: ValueId, source: ValueId) -> Result<ValueId, ImportError> {
        let Some(Tensor { owner, source: Some((_, view)), .. }) = self.tensors.get(id).cloned() else {
            return Ok(source);
        };
        let name = self.graph.value(id).name.clone();
        let value = match view.apply(self.graph.spec(id)) {
            Apply::Unknown => return Err(ImportError::Aliased(name)),
            Apply::Same => source,
            Apply::Call(operator, rest) => self.call(operator, with_first(source, rest), id, &name)?,
        };
        self.update(id, value, self.writes(owner));
        Ok(value)
    }

    fn update(&mut self, id: ValueId, latest: ValueId, writes: usize) {
        match self.tensors.get_mut(id) {
            Some(tensor) => (tensor.latest, tensor.writes) = (latest, writes),
            None => drop(self.tensors.insert(id, Tensor { latest, writes, owner: id, source: None })),
        }
    }

    /// Adds a node with an output like the tensor `like`.
    fn call(
        &mut self,
        operator: OperatorName,
        arguments: Vec<Argument>,
        like: ValueId,
        name: &str,
    ) -> Result<ValueId, ImportError> {
        let spec = self.graph.spec(like).clone();
        let output = self.graph.add_value(name, spec, ValueKind::Computed);
        if let Some(origin) = self.graph.origins.get(like).cloned() {
            self.graph.origins.insert(output, origin);
        }
        self.push(Node { operator, arguments, outputs: vec![output] })?;
        Ok(output)
    }

    fn push(&mut self, node: Node) -> Result<(), ImportError> {
        if self.graph.nodes.len() >= self.limit {
            return Err(refusal(&self.graph, &node, "through too many views"));
        }
        self.graph.nodes.push(node);
        Ok(())
    }

    /// Replaces an in-place operator by the functional operator.
    fn write(&mut self, mut node: Node, schema: &Schema<'_>) -> Result<(), ImportError> {
        let (target, output) = self.write_target(&node, schema)?;
        self.same.insert(output, target);
        if node.operator.name() == "detach_" {
            return Ok(());
        }
        node.operator = functional(&self.graph, &node, schema)?;
        let wider = self.wider_type(&node, schema, target);
        self.read_arguments(&mut node)?;
        match wider {
            Some(wider) => self.push_narrowed(node, wider, output)?,
            None => self.push(node)?,
        }
        self.carry(target, output)
    }

    /// Carries the new value of a tensor up to the owner of the memory.
    fn carry(&mut self, target: ValueId, value: ValueId) -> Result<(), ImportError> {
        let (mut at, mut value, mut carried) = (target, value, Vec::new());
        while let Some((source, view)) = self.tensors.get(at).and_then(|tensor| tensor.source.clone()) {
            carried.push((at, value));
            value = self.write_back(at, source, &view, value)?;
            at = source;
        }
        let writes = self.writes(at) + 1;
        self.memories.insert(at, writes);
        self.update(at, value, writes);
        carried.into_iter().for_each(|(id, value)| self.update(id, value, writes));
        Ok(())
    }

    /// The new value of `source` after its view `at` changed to `value`.
    fn write_back(
        &mut self,
        at: ValueId,
        source: ValueId,
        view: &View,
        value: ValueId,
    ) -> Result<ValueId, ImportError> {
        let name = self.graph.value(source).name.clone();
        match view.invert(self.graph.spec(source)) {
            Inverse::Unknown => Err(ImportError::Aliased(self.graph.value(at).name.clone())),
            Inverse::Same => Ok(value),
            Inverse::Call(operator, rest) => self.call(operator, with_first(value, rest), source, &name),
            Inverse::Scatter(operator, rest) => {
                let base = self.read(source)?;
                self.call(operator, with_first(base, with_first(value, rest)), source, &name)
            }
        }
    }

    /// The tensor that the node writes, and the value that the node returns for the tensor.
    fn write_target(&self, node: &Node, schema: &Schema<'_>) -> Result<(ValueId, ValueId), ImportError> {
        let mut written = schema.parameters.iter().map(|parameter| parameter.written);
        let only_first = written.next() == Some(true) && !written.any(|written| written);
        let (true, Some(Argument::Value(target)), [output]) = (only_first, node.arguments.first(), &node.outputs[..])
        else {
            return Err(refusal(&self.graph, node, "which is not its first argument"));
        };
        let target = self.resolve(*target);
        if self.graph.spec(target) != self.graph.spec(*output) {
            return Err(refusal(&self.graph, node, "and changes the shape or type of the tensor"));
        }
        Ok((target, *output))
    }

    /// The type that the operator computes in, where an operand is wider than the written tensor.
    fn wider_type(&self, node: &Node, schema: &Schema<'_>, target: ValueId) -> Option<ScalarType> {
        let other = schema.parameters.iter().position(|parameter| parameter.name == "other")?;
        let Some(Argument::Value(other)) = node.arguments.get(other) else { return None };
        let (target, other): (&TensorSpec, &TensorSpec) = (self.graph.spec(target), self.graph.spec(*other));
        let promoted = target.scalar_type.promote(other.scalar_type);
        let counts = other.rank() > 0 || target.rank() == 0;
        (counts && promoted != target.scalar_type).then_some(promoted)
    }

    /// Computes in the wider type, then converts: a written tensor keeps its type.
    fn push_narrowed(&mut self, mut node: Node, wider: ScalarType, output: ValueId) -> Result<(), ImportError> {
        let spec = self.graph.spec(output).clone();
        let narrow = Argument::Type(spec.scalar_type);
        let name = format!("{}_wide", self.graph.value(output).name);
        let wide = self.graph.add_value(&name, TensorSpec { scalar_type: wider, ..spec }, ValueKind::Computed);
        node.outputs = vec![wide];
        self.push(node)?;
        let settings = [narrow, Argument::Bool(false), Argument::Bool(false), Argument::None];
        let arguments = with_first(wide, settings);
        self.push(Node { operator: OperatorName::aten("to", "dtype"), arguments, outputs: vec![output] })
    }
}

/// The name of an operator and of its overload.
type Overload = (&'static str, &'static str);

/// Operators, with overloads, whose functional equivalent has another name.
const OTHER_NAMES: [(Overload, Overload); 2] =
    [(("bernoulli_", "float"), ("bernoulli", "p")), (("normal_", "default"), ("normal_functional", "default"))];

/// The functional operator: `add` for `add_`, with the same parameters and no view as result.
fn functional(graph: &Graph, node: &Node, schema: &Schema<'_>) -> Result<OperatorName, ImportError> {
    let name = &node.operator;
    let other = OTHER_NAMES.iter().find(|(written, _)| *written == (name.name(), name.overload()));
    let same = name.name().strip_suffix('_').map(|stem| (stem, name.overload()));
    let operator = other.map(|(_, functional)| *functional).or(same);
    let operator = operator.map(|(name, overload)| OperatorName::aten(name, overload));
    let found = operator.filter(|_| name.namespace() == "aten").and_then(|operator| {
        let functional = schema::find(&operator)?;
        // Parameters may be renamed: `dropout_(self, p, train)` and `dropout(input, p, train)`.
        let settings = |schema: &Schema<'_>| {
            schema.parameters.iter().skip(1).map(|known| known.name.to_owned()).collect::<Vec<_>>()
        };
        let pure = !functional.parameters.iter().any(|parameter| parameter.aliased || parameter.written);
        (pure && settings(&functional) == settings(schema)).then_some(operator)
    });
    found.ok_or_else(|| refusal(graph, node, "and has no functional equivalent"))
}

fn with_first(value: ValueId, rest: impl IntoIterator<Item = Argument>) -> Vec<Argument> {
    std::iter::once(Argument::Value(value)).chain(rest).collect()
}

fn refusal(graph: &Graph, node: &Node, reason: &'static str) -> ImportError {
    let value = match node.arguments.first() {
        Some(Argument::Value(id)) => graph.value(*id).name.clone(),
        _ => String::new(),
    };
    ImportError::Mutation { operator: node.operator.to_string(), value, reason }
}
