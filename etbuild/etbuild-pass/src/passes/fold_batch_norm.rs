//! Folds a batch norm with running statistics into the weights of the convolution or linear layer before.
//!
//! `(conv(x, w) + b - mean) * s + beta` with `s = gamma / sqrt(var + eps)` is `conv(x, w * s) + (b - mean) * s +
//! beta` (Jacob et al. 2018, "Quantization and training of neural networks", equation 14). Computed in `f64`, rounded
//! once.

use et_core::ScalarType;
use etbuild_ir::{Argument, ConstantData, Graph, IdMap, Node, TensorSpec, ValueId, ValueKind};

use crate::Refusal;
use crate::pass::Pass;

/// The pass.
pub static PASS: Pass = Pass {
    name: "fold_batch_norm",
    purpose: "Folds the batch norm behind a convolution or linear layer into the weights of that layer.",
    run,
};

fn run(mut graph: Graph) -> Result<Graph, Vec<Refusal>> {
    let mut reads = count_reads(&graph);
    let (mut producers, mut replaced) = (IdMap::<usize>::default(), IdMap::<ValueId>::default());
    for mut node in std::mem::take(&mut graph.nodes) {
        node.replace_uses(|id| replaced.get(id).copied().unwrap_or(id));
        match folded(&mut graph, &producers, &reads, &node) {
            Some((output, product)) => {
                replaced.insert(output, product);
                reads.insert(product, reads.get(output).copied().unwrap_or(0));
            }
            None => {
                for id in &node.outputs {
                    producers.insert(*id, graph.nodes.len());
                }
                graph.nodes.push(node);
            }
        }
    }
    graph.replace_results(|id| replaced.get(id).copied().unwrap_or(id));
    Ok(graph)
}

/// The number of reads of each value, by nodes and as result.
fn count_reads(graph: &Graph) -> IdMap<usize> {
    let mut reads = IdMap::default();
    let all = graph.nodes.iter().flat_map(Node::uses).chain(graph.results());
    all.for_each(|id| {
        let count = reads.get(id).copied().unwrap_or(0);
        reads.insert(id, count + 1);
    });
    reads
}

/// Folds `node` if possible; returns the output of the norm and the output of the layer that replaces it.
fn folded(
    graph: &mut Graph,
    producers: &IdMap<usize>,
    reads: &IdMap<usize>,
    node: &Node,
) -> Option<(ValueId, ValueId)> {
    let [Argument::Value(input), weight, bias, Argument::Value(mean), Argument::Value(var), _, Argument::Float(eps)] =
        &node.arguments[..]
    else {
        return None;
    };
    let unread = |id: &ValueId| reads.get(*id).is_none();
    let normalizes = node.operator.as_str() == "aten._native_batch_norm_legit_no_training.default";
    if !normalizes || reads.get(*input) != Some(&1) || !node.outputs.get(1..)?.iter().all(unread) {
        return None;
    }
    let producer = *producers.get(*input)?;
    let channels = usize::try_from(*graph.spec(*input).sizes.get(1)?).ok()?;
    let norm = Norm {
        gamma: per_channel(graph, weight, channels, 1.0)?,
        beta: per_channel(graph, bias, channels, 0.0)?,
        mean: floats(graph, *mean)?,
        var: floats(graph, *var)?,
        eps: *eps,
    };
    let arguments = fold_into(graph, &graph.nodes.get(producer)?.clone(), &norm, bias)?;
    graph.nodes.get_mut(producer)?.arguments = arguments;
    Some((*node.outputs.first()?, *input))
}

struct Norm {
    gamma: Vec<f32>,
    beta: Vec<f32>,
    mean: Vec<f32>,
    var: Vec<f32>,
    eps: f64,
}

impl Norm {
    /// The factor of a channel.
    fn scale(&self, channel: usize) -> Option<f64> {
        let deviation = (f64::from(*self.var.get(channel)?) + self.eps).sqrt();
        Some(f64::from(*self.gamma.get(channel)?) / deviation)
    }

    fn bias(&self, channel: usize, bias: f32) -> Option<f32> {
        let centred = f64::from(bias) - f64::from(*self.mean.get(channel)?);
        Some((centred * self.scale(channel)? + f64::from(*self.beta.get(channel)?)) as f32)
    }
}

/// A layer whose outputs the norm reads.
struct Layer<'n> {
    weight: ValueId,
    bias: &'n Argument,
    filters: Filters,
}

/// The output channels of the filters of a weight, in the order of memory.
#[derive(Clone, Copy)]
enum Filters {
    /// `[outputs, ...]`: a filter per output channel.
    ByOutput,
    /// `[inputs, outputs of a group, ...]` of a transposed convolution: each input channel has a filter for every
    /// output channel of its group.
    ByInput { group_inputs: usize, group_outputs: usize },
}

impl Filters {
    fn count(self, channels: usize) -> usize {
        match self {
            Self::ByOutput => channels,
            Self::ByInput { group_inputs, .. } => group_inputs * channels,
        }
    }

    /// The output channel of the filter at `index`.
    const fn channel(self, index: usize) -> Option<usize> {
        match self {
            Self::ByOutput => Some(index),
            Self::ByInput { group_inputs, group_outputs } => {
                let (Some(group), Some(output)) =
                    (index.checked_div(group_inputs * group_outputs), index.checked_rem(group_outputs))
                else {
                    return None;
                };
                Some(group * group_outputs + output)
            }
        }
    }
}

/// A convolution, or a linear layer of a matrix, whose last dimension is the norm's.
fn layer<'n>(graph: &Graph, node: &'n Node) -> Option<Layer<'n>> {
    match (node.operator.as_str(), &node.arguments[..]) {
        (
            "aten.convolution.default",
            [_, Argument::Value(weight), bias, _, _, _, Argument::Bool(transposed), _, Argument::Int(groups), ..],
        ) => {
            let filters = if *transposed { by_input(graph, *weight, *groups)? } else { Filters::ByOutput };
            Some(Layer { weight: *weight, bias, filters })
        }
        ("aten.linear.default", [Argument::Value(input), Argument::Value(weight), rest @ ..])
            if graph.spec(*input).rank() == 2 =>
        {
            let bias = rest.first().unwrap_or(&Argument::None);
            Some(Layer { weight: *weight, bias, filters: Filters::ByOutput })
        }
        _ => None,
    }
}

fn by_input(graph: &Graph, weight: ValueId, groups: i64) -> Option<Filters> {
    let size = |dim| usize::try_from(*graph.spec(weight).sizes.get::<usize>(dim)?).ok();
    let group_inputs = size(0)?.checked_div(usize::try_from(groups).ok()?)?;
    Some(Filters::ByInput { group_inputs, group_outputs: size(1)? })
}

/// The arguments of the layer with normalized weights.
fn fold_into(graph: &mut Graph, node: &Node, norm: &Norm, beta: &Argument) -> Option<Vec<Argument>> {
    let Layer { weight, bias, filters } = layer(graph, node)?;
    let channels = norm.mean.len();
    let old_bias = per_channel(graph, bias, channels, 0.0)?;
    let new_bias: Vec<f32> =
        old_bias.iter().enumerate().map(|(channel, bias)| norm.bias(channel, *bias)).collect::<Option<_>>()?;
    let new_weight = scale_weight(float_bytes(graph, weight)?, norm, filters)?;
    graph.constant(weight).into_iter().for_each(ConstantData::release);
    let named = if matches!(bias, Argument::Value(_)) { bias } else { beta };
    let bias_name = constant_name(graph, named).unwrap_or_else(|| format!("{}_bias", graph.value(weight).name));
    let weight_name = constant_name(graph, &Argument::Value(weight))?;
    let mut arguments = node.arguments.clone();
    arguments.resize(arguments.len().max(3), Argument::None);
    *arguments.get_mut(1)? = Argument::Value(add(graph, &weight_name, graph.spec(weight).clone(), new_weight));
    let spec = TensorSpec::contiguous(ScalarType::Float, [i32::try_from(channels).ok()?]);
    *arguments.get_mut(2)? = Argument::Value(add(graph, &bias_name, spec, to_bytes(&new_bias)));
    Some(arguments)
}

/// Scales each filter by its output channel. A single pass over the bytes, since weights are large.
fn scale_weight(weight: &[u8], norm: &Norm, filters: Filters) -> Option<Vec<u8>> {
    let (elements, _) = weight.as_chunks::<4>();
    let count = filters.count(norm.mean.len());
    let each = elements.len().checked_div(count).filter(|each| *each > 0 && each * count == elements.len())?;
    let mut scaled = Vec::with_capacity(elements.len());
    for (index, filter) in elements.chunks_exact(each).enumerate() {
        let scale = norm.scale(filters.channel(index)?)?;
        scaled
            .extend(filter.iter().map(|bytes| ((f64::from(f32::from_le_bytes(*bytes)) * scale) as f32).to_le_bytes()));
    }
    Some(scaled.into_flattened())
}

fn to_bytes(elements: &[f32]) -> Vec<u8> {
    elements.iter().flat_map(|element| element.to_le_bytes()).collect()
}

fn add(graph: &mut Graph, qualified_name: &str, spec: TensorSpec, bytes: Vec<u8>) -> ValueId {
    let data = ConstantData::new(bytes);
    let kind = ValueKind::Constant { qualified_name: data.distinct_name(qualified_name), data };
    graph.add_value(&format!("{}_folded", qualified_name.replace('.', "_")), spec, kind)
}

fn constant_name(graph: &Graph, argument: &Argument) -> Option<String> {
    let Argument::Value(id) = argument else { return None };
    match &graph.value(*id).kind {
        ValueKind::Constant { qualified_name, .. } => Some(qualified_name.clone()),
        ValueKind::Input | ValueKind::State { .. } | ValueKind::Computed => None,
    }
}

/// A value per channel: the elements of a constant, or `absent` for each channel.
fn per_channel(graph: &Graph, argument: &Argument, channels: usize, absent: f32) -> Option<Vec<f32>> {
    match argument {
        Argument::None => Some(vec![absent; channels]),
        Argument::Value(id) => floats(graph, *id).filter(|elements| elements.len() == channels),
        _ => None,
    }
}

/// The elements of a `float32` constant.
fn floats(graph: &Graph, id: ValueId) -> Option<Vec<f32>> {
    let (elements, _) = float_bytes(graph, id)?.as_chunks::<4>();
    Some(elements.iter().copied().map(f32::from_le_bytes).collect())
}

fn float_bytes(graph: &Graph, id: ValueId) -> Option<&[u8]> {
    let data = graph.constant(id).filter(|_| graph.spec(id).scalar_type == ScalarType::Float)?;
    Some(data.bytes())
}
