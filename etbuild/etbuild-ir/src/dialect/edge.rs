//! The dialect that runs: every operator has a kernel, every type is what the kernel gives.

use et_ops::call::{self, TensorRef};
use et_ops::{Meta, Operator};

use crate::evaluate::output_metas;
use crate::{Argument, Dialect, Graph, Node, Program, ValueId, Violation};

/// Operators of the kernel catalogue, with the types and shapes that their rules give.
#[derive(Clone, Copy, Debug)]
pub enum Edge {}

/// Edge programs after partitioning.
#[derive(Clone, Copy, Debug)]
pub enum Lowered {}

impl Dialect for Edge {
    const NAME: &'static str = "edge";

    fn violations(program: &Program) -> Vec<Violation> {
        super::nodes(program, |graph, node| check(graph, node).err())
    }
}

impl Dialect for Lowered {
    const NAME: &'static str = "lowered";

    fn violations(program: &Program) -> Vec<Violation> {
        Edge::violations(program)
    }
}

fn check(graph: &Graph, node: &Node) -> Result<(), String> {
    let name = node.operator.qualified();
    let operator = et_ops::find_functional(&name).ok_or("the kernel catalogue has no such operator")?;
    if node.arguments.len() != operator.in_count() {
        return Err(format!("expected {} arguments, found {}", operator.in_count(), node.arguments.len()));
    }
    if let Some(count) = operator.outs().count().filter(|count| *count != node.outputs.len()) {
        return Err(format!("expected {count} outputs, found {}", node.outputs.len()));
    }
    check_types(operator, graph, node)?;
    let metas = infer(operator, graph, node)?;
    node.outputs.iter().zip(metas).try_for_each(|(id, meta)| check_output(graph, *id, &meta))
}

fn check_types(operator: &Operator, graph: &Graph, node: &Node) -> Result<(), String> {
    let mut types = node.uses().map(|id| graph.spec(id).scalar_type);
    match types.find(|scalar_type| !operator.dtypes.contains(*scalar_type)) {
        Some(scalar_type) => Err(format!("`{}` has no kernel for {}", operator.name(), scalar_type.name())),
        None => Ok(()),
    }
}

fn infer(operator: &Operator, graph: &Graph, node: &Node) -> Result<Vec<Meta>, String> {
    let arguments: Vec<_> = node.arguments.iter().map(|argument| shape_argument(graph, argument)).collect();
    let wanted = output_metas(graph, node).map_err(|error| error.to_string())?;
    let wanted: Vec<_> = wanted.into_iter().map(Some).collect();
    call::infer(operator, &arguments, &wanted)
        .map_err(|error| format!("`{}` does not accept these arguments: {error}", operator.name()))
}

fn check_output(graph: &Graph, id: ValueId, meta: &Meta) -> Result<(), String> {
    let value = graph.value(id);
    if (value.spec.scalar_type, &value.spec.sizes[..]) == (meta.scalar_type, meta.shape.sizes()) {
        return Ok(());
    }
    let (have, want) = (&value.spec, (meta.scalar_type.name(), meta.shape.sizes()));
    Err(format!(
        "`{}` is {} {:?}, the operator gives {} {:?}",
        value.name,
        have.scalar_type.name(),
        have.sizes,
        want.0,
        want.1
    ))
}

/// The argument as shape rules see it: tensors without elements.
fn shape_argument<'a>(graph: &'a Graph, argument: &'a Argument) -> call::Argument<'a> {
    let tensor = |id: ValueId| {
        let spec = graph.spec(id);
        TensorRef { scalar_type: spec.scalar_type, sizes: &spec.sizes, bytes: &[] }
    };
    plain_argument(argument, tensor)
}

/// The argument as a kernel takes it, with `tensor` giving the values of the graph.
pub(crate) fn plain_argument<'a>(
    argument: &'a Argument,
    tensor: impl Fn(ValueId) -> TensorRef<'a>,
) -> call::Argument<'a> {
    match argument {
        Argument::None | Argument::Place => call::Argument::None,
        Argument::Value(id) => call::Argument::Tensor(tensor(*id)),
        Argument::Values(ids) => call::Argument::Tensors(ids.iter().map(|id| id.map(&tensor)).collect()),
        Argument::Int(value) => call::Argument::Int(*value),
        Argument::Ints(values) => call::Argument::Ints(values.clone()),
        Argument::Float(value) => call::Argument::Double(*value),
        Argument::Floats(values) => call::Argument::Doubles(values.clone()),
        Argument::Bool(value) => call::Argument::Bool(*value),
        Argument::Bools(values) => call::Argument::Bools(values.clone()),
        Argument::Text(text) => call::Argument::Text(text),
        Argument::Type(scalar_type) => call::Argument::Int(i64::from(*scalar_type as u8)),
        Argument::MemoryFormat(format) => call::Argument::Int(format.number()),
    }
}
