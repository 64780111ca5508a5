//! The dialects that run: every operator has a kernel, and every type is the type that the kernel computes.

use et_core::ScalarType;
use et_ops::call::{self, TensorRef};
use et_ops::{Meta, Operator, Primitive};

use crate::delegate_call::is_delegate;
use crate::kernel_call::{output_metas, plain_argument};
use crate::{Argument, Control, DelegateCall, Dialect, Graph, Node, Program, ValueId, Violation};

/// Operators of the kernel catalogue, with the dtypes and shapes of the catalogue's rules, and custom operators.
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
        super::nodes(program, |graph, node| match Control::of(node) {
            Some(_) => None,
            None if is_delegate(node) => check_delegate(graph, node).err(),
            None => check(graph, node).err(),
        })
    }
}

/// Higher-order operators.
const HIGHER_ORDER: &[&str] = &["cond", "map", "scan", "while_loop"];

fn check(graph: &Graph, node: &Node) -> Result<(), String> {
    if node.operator.runs_graphs() {
        return check_higher_order(node);
    }
    if let Some(primitive) = node.operator.primitive() {
        return check_primitive(primitive, node);
    }
    if node.operator.is_custom() {
        return check_custom(graph, node);
    }
    let name = node.operator.qualified();
    let operator = et_ops::find_functional(&name).ok_or("the kernel catalogue has no such operator")?;
    if node.arguments.len() != operator.in_count() {
        return Err(format!("expected {} arguments, found {}", operator.in_count(), node.arguments.len()));
    }
    if let Some(count) = operator.outs().count().filter(|count| *count != node.outputs.len()) {
        return Err(format!("expected {count} outputs, found {}", node.outputs.len()));
    }
    check_types(operator, graph, node)?;
    let dynamic = node.uses().any(|id| graph.number(id).is_some() || graph.spec(id).is_dynamic());
    let metas = match infer(operator, graph, node) {
        Err(_) if dynamic => return Ok(()), // The largest sizes need not go together.
        metas => metas?,
    };
    node.outputs.iter().zip(metas).try_for_each(|(id, meta)| check_output(graph, *id, &meta, dynamic))
}

/// Checks that a custom operator computes tensors, whose types and shapes the captured program states.
fn check_custom(graph: &Graph, node: &Node) -> Result<(), String> {
    let is_tensor = |id: &ValueId| graph.number(*id).is_none();
    let computes_tensors = !node.outputs.is_empty() && node.outputs.iter().all(is_tensor);
    if computes_tensors { Ok(()) } else { Err("a custom operator computes tensors".to_owned()) }
}

fn check_types(operator: &Operator, graph: &Graph, node: &Node) -> Result<(), String> {
    let tensors = node.uses().filter(|id| graph.number(*id).is_none());
    let mut types = tensors.map(|id| graph.spec(id).scalar_type);
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

/// Checks type and shape of an output. With dynamic sizes, only the rank is compared.
fn check_output(graph: &Graph, id: ValueId, meta: &Meta, dynamic: bool) -> Result<(), String> {
    let value = graph.value(id);
    let same_shape = if dynamic || value.spec.is_dynamic() {
        value.spec.rank() == meta.shape.sizes().len()
    } else {
        value.spec.sizes == meta.shape.sizes()
    };
    if same_shape && value.spec.scalar_type == meta.scalar_type {
        return Ok(());
    }
    let (have, want) = (&value.spec, (meta.scalar_type.name(), meta.shape.sizes()));
    Err(format!(
        "`{}` is {} {:?}, but the operator computes {} {:?}",
        value.name,
        have.scalar_type.name(),
        have.sizes,
        want.0,
        want.1
    ))
}

fn check_delegate(graph: &Graph, node: &Node) -> Result<(), String> {
    let call = DelegateCall::of(node).ok_or("a delegate call takes a blob and a list of inputs")?;
    call.mistake(graph).map_or(Ok(()), |mistake| Err(mistake.to_owned()))
}

fn check_primitive(primitive: &Primitive, node: &Node) -> Result<(), String> {
    match primitive.in_count() {
        count if count == node.arguments.len() => Ok(()),
        count => Err(format!("expected {count} arguments, found {}", node.arguments.len())),
    }
}

/// Checks that the higher-order operator is known and has nested graphs.
fn check_higher_order(node: &Node) -> Result<(), String> {
    let known = HIGHER_ORDER.contains(&node.operator.name());
    let graphs = node.graphs().count();
    if known && graphs > 0 { Ok(()) } else { Err("the higher-order operator is not supported".to_owned()) }
}

/// The argument for shape rules: tensors without elements, at the largest size.
fn shape_argument<'a>(graph: &'a Graph, argument: &'a Argument) -> call::Argument<'a> {
    let tensor = |id: ValueId| {
        let spec = graph.spec(id);
        TensorRef { scalar_type: spec.scalar_type, sizes: &spec.sizes, bytes: &[] }
    };
    plain_argument(argument, tensor, |id| largest(graph, id))
}

/// The largest value of a number, as an argument; `None` for a tensor.
fn largest(graph: &Graph, id: ValueId) -> Option<call::Argument<'static>> {
    let range = graph.number(id)?;
    Some(match graph.spec(id).scalar_type {
        ScalarType::Bool => call::Argument::Bool(true),
        ScalarType::Double => call::Argument::Double(range.most as f64),
        _ => call::Argument::Int(range.most),
    })
}
