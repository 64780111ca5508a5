//! Front ends: what a microphone or a camera gives becomes an input of the program, and nodes ahead of the model's compute the model's
//! input.

mod features;
mod picture;
mod real;
mod sound;
mod stream;

use std::collections::BTreeMap;

use et_core::ScalarType;
use etbuild_ir::{
    Argument, AtenProgram, ConstantData, Graph, Node, OperatorName, Program, TensorSpec, ValueId, ValueKind,
};

use crate::PassError;
use crate::pass::verified;

pub use features::{Cosines, Decibels, Logarithm, SoundFeatures};
pub use picture::CameraPicture;
pub use real::Real;
pub use stream::with_streams;

/// The form in which a program gets an input.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum FrontEnd {
    /// The model's input is features of sound.
    Sound(SoundFeatures),
    /// The model's input is a picture of a camera.
    Picture(CameraPicture),
}

impl FrontEnd {
    /// Whether each execution takes the next part of a signal.
    pub const fn is_stream(&self) -> bool {
        matches!(self, Self::Sound(SoundFeatures { stream: Some(_), .. }))
    }
}

/// Why an input cannot have a front end.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FrontEndError {
    /// The program is invalid afterwards: a fault of this module.
    #[error(transparent)]
    Pass(#[from] PassError),
    /// The input and the front end do not fit: a sentence.
    #[error("{0}")]
    Misfit(String),
}

/// Gives inputs, by name, their front ends. Names that no method has are left to the caller.
///
/// # Errors
/// An input of another type or size than the front end's results.
pub fn with_front_ends(
    program: AtenProgram,
    front_ends: &BTreeMap<String, FrontEnd>,
) -> Result<AtenProgram, FrontEndError> {
    if front_ends.is_empty() {
        return Ok(program);
    }
    let mut program: Program = program.into_program();
    for graph in program.methods.values_mut() {
        for (name, front_end) in front_ends {
            let input = graph.inputs.iter().copied().find(|id| graph.value(*id).name == *name);
            match (input, front_end) {
                (Some(input), FrontEnd::Sound(features)) => sound::attach(graph, input, features)?,
                (Some(input), FrontEnd::Picture(picture)) => picture::attach(graph, input, picture)?,
                (None, _) => {}
            }
        }
    }
    Ok(verified(program)?)
}

/// Makes a computed value of an input: the new input has the name and the place of the old one, and is returned with the computed
/// value, which no node defines yet.
fn replace_input(graph: &mut Graph, input: ValueId, spec: TensorSpec) -> [ValueId; 2] {
    let old = graph.value(input).clone();
    let computed = graph.add_value(&old.name, old.spec, ValueKind::Computed);
    for node in &mut graph.nodes {
        node.replace_uses(|id| if id == input { computed } else { id });
    }
    graph.replace_results(|id| if id == input { computed } else { id });
    let value = &mut graph.values[input.index()];
    (value.spec, value.symbolic) = (spec, Vec::new());
    [input, computed]
}

/// int16 as a constant.
fn shorts(graph: &mut Graph, name: &str, numbers: &[i16]) -> Argument {
    let bytes = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
    constant(graph, name, ScalarType::Short, numbers.len(), bytes)
}

/// int32 as a constant.
fn ints(graph: &mut Graph, name: &str, numbers: &[i32]) -> Argument {
    let bytes = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
    constant(graph, name, ScalarType::Int, numbers.len(), bytes)
}

/// A list of numbers as a constant.
fn constant(graph: &mut Graph, name: &str, scalar_type: ScalarType, count: usize, bytes: Vec<u8>) -> Argument {
    let spec = TensorSpec::contiguous(scalar_type, [count as i32]);
    let kind = ValueKind::Constant { qualified_name: name.to_owned(), data: ConstantData::new(bytes) };
    Argument::Value(graph.add_value(name, spec, kind))
}

/// A call of an operator of ours, or of ATen's views.
fn node(operator: &str, arguments: Vec<Argument>, outputs: Vec<ValueId>) -> Node {
    let aten = OperatorName::aten(operator, "default");
    let ours = OperatorName::parse(&format!("etbuild.{operator}.default"));
    let operator = if matches!(operator, "view" | "permute") { aten } else { ours.unwrap_or(aten) };
    Node { operator, arguments, outputs }
}
