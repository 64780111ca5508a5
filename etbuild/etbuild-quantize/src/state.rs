//! State of integers: where a graph keeps quantized numbers from one execution to the next, as a causal convolution keeps rows, the state
//! has their integers, a quarter of the bytes.

use std::collections::BTreeMap;

use et_core::ScalarType;
use etbuild_ir::{Argument, ConstantData, Graph, Links, PerTensor, Program, Value, ValueId, ValueKind};

use crate::parameters::{Bounds, Parameters};

/// Operators that move elements of their first argument and compute none.
const MOVES: &[&str] = &[
    "aten.alias_copy.default",
    "aten.clone.default",
    "aten.permute_copy.default",
    "aten.slice_copy.Tensor",
    "aten.squeeze_copy.dims",
    "aten.unsqueeze_copy.default",
    "aten.view_copy.default",
];

/// Lets state keep integers where all that is written was quantized: the executions compute the same numbers. State that several methods share
/// stays real.
pub fn keep_integers(program: &mut Program) {
    let mut methods = BTreeMap::<String, usize>::new();
    for name in program.methods.values().flat_map(|graph| graph.values.iter().filter_map(name)) {
        *methods.entry(name.to_owned()).or_default() += 1;
    }
    for graph in program.methods.values_mut() {
        let links = Links::of(graph);
        let kept: Vec<Kept> = (0..graph.updates.len()).filter_map(|update| Kept::of(&links, update)).collect();
        for kept in kept {
            if name(graph.value(kept.state)).is_some_and(|name| methods.get(name) == Some(&1)) {
                kept.convert(graph);
            }
        }
    }
}

/// The name of a state; `None` for values of another kind.
fn name(value: &Value) -> Option<&str> {
    match &value.kind {
        ValueKind::State { qualified_name, .. } => Some(qualified_name),
        _ => None,
    }
}

/// State whose new numbers are quantized.
struct Kept {
    /// The position of the update.
    update: usize,
    state: ValueId,
    written: Written,
    /// The first integers, little-endian.
    initial: Vec<u8>,
}

/// What is written to a state.
struct Written {
    qparams: PerTensor,
    /// The integers, where some tensor has them all.
    integers: Option<ValueId>,
    /// The value that the first move reads, and the dequantized tensor that it is to read instead.
    dequantized: Option<[ValueId; 2]>,
    /// The results of the moves.
    moved: Vec<ValueId>,
}

impl Kept {
    fn of(links: &Links<'_>, update: usize) -> Option<Self> {
        let update_of = links.graph.updates.get(update)?;
        let (state, written) = (update_of.target, Written::of(links, update_of.value)?);
        let is_float = links.graph.spec(state).scalar_type == ScalarType::Float;
        let ValueKind::State { initial, .. } = &links.graph.value(state).kind else { return None };
        let initial = integers(initial.bytes(), written.qparams).filter(|_| is_float)?;
        Some(Self { update, state, written, initial })
    }

    /// Stores the state as integers: readers get the dequantized tensor, and the update writes the quantized tensor.
    fn convert(self, graph: &mut Graph) {
        let Self { update, state, written, initial } = self;
        let Written { qparams, integers, dequantized, moved } = written;
        let (real, label) = (graph.spec(state).clone(), graph.value(state).name.clone());
        let mut spec = real.clone();
        spec.scalar_type = qparams.scalar_type;
        let read = graph.add_value(&label, real, ValueKind::Computed);
        let now = |id: ValueId| if id == state { read } else { id };
        graph.nodes.iter_mut().for_each(|node| node.replace_uses(now));
        graph.replace_results(now);
        graph.nodes.insert(0, qparams.dequantize(state, read));
        if let Some([from, to]) = dequantized {
            let moves = graph.nodes.iter_mut().filter(|node| node.outputs.first().is_some_and(|id| moved.contains(id)));
            moves.for_each(|node| node.replace_uses(|id| if id == from { to } else { id }));
        }
        let new = graph.updates[update].value;
        graph.updates[update].value = integers.unwrap_or_else(|| {
            let written = graph.add_value(&label, spec.clone(), ValueKind::Computed);
            graph.nodes.push(qparams.quantize(new, written));
            written
        });
        let state = &mut graph.values[state.index()];
        state.spec = spec;
        if let ValueKind::State { initial: first, .. } = &mut state.kind {
            *first = ConstantData::new(initial);
        }
    }
}

impl Written {
    /// A value that is moved only: out of a dequantized tensor, or behind a concatenation that is read quantized. Nothing else reads the moves.
    fn of(links: &Links<'_>, value: ValueId) -> Option<Self> {
        let (mut at, mut maker, mut moved) = (value, links.maker(value)?, Vec::new());
        while MOVES.contains(&maker.operator.as_str()) {
            let Some(Argument::Value(from)) = maker.arguments.first() else { return None };
            moved.push(at);
            (at, maker) = (*from, links.maker(*from)?);
        }
        if let Some(qparams) = PerTensor::of_dequantize(maker) {
            return Some(Self { qparams, integers: None, dequantized: None, moved });
        }
        if maker.operator.as_str() != "aten.cat.default" || moved.iter().any(|id| links.read_count(*id) > 1) {
            return None;
        }
        let read = |id: ValueId| links.graph.nodes.iter().filter(move |node| node.uses().any(|used| used == id));
        let (qparams, integers) =
            read(at).find_map(|node| Some((PerTensor::of_quantize(node)?, *node.outputs.first()?)))?;
        if moved.is_empty() {
            return Some(Self { qparams, integers: Some(integers), dequantized: None, moved });
        }
        let dequantized = read(integers)
            .filter(|node| PerTensor::of_dequantize(node).is_some())
            .find_map(|node| node.outputs.first());
        Some(Self { qparams, integers: None, dequantized: Some([at, *dequantized?]), moved })
    }
}

/// The integers of numbers that have some, little-endian; `None` where a number is between two integers.
fn integers(numbers: &[u8], qparams: PerTensor) -> Option<Vec<u8>> {
    let parameters = Parameters { scale: qparams.scale as f32, zero_point: qparams.zero_point };
    let bounds = Bounds { lowest: qparams.least, highest: qparams.most };
    let integer = |bytes: &[u8; 4]| {
        let number = f32::from_le_bytes(*bytes);
        let integer = parameters.quantize(number, bounds);
        (parameters.dequantize(integer) == number).then_some(integer)
    };
    let integers: Option<Vec<i64>> = numbers.as_chunks().0.iter().map(integer).collect();
    let width = qparams.scalar_type.size();
    Some(integers?.into_iter().flat_map(|integer| integer.to_le_bytes().into_iter().take(width)).collect())
}
