//! Annotation: which tensors are quantized. Applies the rules from the results of a graph to the inputs.
//!
//! A GEMM or convolution in int8 demands int8 activations. Demand propagates backwards: a producer all of whose
//! consumers need int8 is quantized if its rule allows, and then demands int8 operands; tensors without demand stay
//! float. So convolutional networks are int8 throughout, and transformers keep residuals, norms and attention scores
//! in float.

use et_core::ScalarType;
use etbuild_ir::{Argument, Control, Graph, IdMap, Node, ValueId};

use crate::options::{Options, Scheme};
use crate::parameters::Bounds;
use crate::rule::{self, Kind};
use crate::source::Sources;
use crate::want::Want;

/// The annotation of a graph.
#[derive(Debug, Default)]
pub struct Annotation {
    /// The scheme of each node; [`Scheme::Float`] for nodes that stay float.
    pub schemes: Vec<Scheme>,
    /// The demand for each tensor with static qparams.
    pub wants: IdMap<Want>,
    /// Union-find parents of tensors that share qparams.
    shared: IdMap<ValueId>,
    /// Known qparams (scale, zero point) of outputs, such as the outputs of `sigmoid`.
    pub fixed: IdMap<(f32, i64)>,
    /// Results of moves, whose elements are elements of the operands.
    moved: IdMap<()>,
}

impl Annotation {
    /// Whether calibration data is needed.
    pub fn needs_samples(&self) -> bool {
        self.wants.iter().any(|(_, want)| *want != Want::Fused)
    }

    /// The integers that a tensor becomes, with their type; `None` for a tensor that stays float.
    pub fn integers(&self, id: ValueId) -> Option<(Bounds, ScalarType)> {
        self.wants.get(id).filter(|want| **want != Want::Fused).map(|want| want.integers())
    }

    /// The bounds of the integers of the tensors that share qparams with `id`.
    pub fn bounds(&self, id: ValueId) -> Bounds {
        self.integers(id).map_or(Bounds::ACTIVATION, |(bounds, _)| bounds)
    }

    /// The representative of the tensors that share qparams with `id`.
    pub fn representative(&self, id: ValueId) -> ValueId {
        let mut at = id;
        while let Some(next) = self.shared.get(at).filter(|next| **next != at) {
            at = *next;
        }
        at
    }

    /// The tensors to calibrate, each with the representative: int8 tensors except results of moves.
    pub fn sources(&self) -> impl Iterator<Item = (ValueId, ValueId)> + '_ {
        let wanted = self.wants.iter().filter(|(id, want)| **want != Want::Fused && self.moved.get(*id).is_none());
        wanted.map(|(id, _)| (id, self.representative(id)))
    }

    /// Lets two tensors share qparams. Halves the paths, so that later searches are short.
    fn share(&mut self, left: ValueId, right: ValueId) {
        let (left, right) = (self.halved(left), self.halved(right));
        self.shared.insert(left.max(right), left.min(right));
    }

    fn halved(&mut self, id: ValueId) -> ValueId {
        let mut at = id;
        while let Some(next) = self.shared.get(at).copied().filter(|next| *next != at) {
            let after = self.shared.get(next).copied().unwrap_or(next);
            self.shared.insert(at, after);
            at = after;
        }
        at
    }

    /// Gives tensors that share qparams the widest type among them.
    fn widen_shared(&mut self) {
        let wanted: Vec<(ValueId, Want)> = self.wants.iter().map(|(id, want)| (id, *want)).collect();
        let mut widest = IdMap::<Want>::default();
        for (id, want) in &wanted {
            let representative = self.representative(*id);
            if widest.get(representative).is_none_or(|known| known < want) {
                widest.insert(representative, *want);
            }
        }
        for (id, _) in wanted.into_iter().filter(|(_, want)| *want != Want::Fused) {
            if let Some(want) = widest.get(self.representative(id)) {
                self.wants.insert(id, *want);
            }
        }
    }

    fn want(&mut self, graph: &Graph, id: ValueId, want: Want) {
        if graph.spec(id).scalar_type == ScalarType::Float && self.wants.get(id).is_none_or(|known| *known < want) {
            self.wants.insert(id, want);
        }
    }
}

/// Annotates a graph. Linear in the number of nodes.
pub fn annotate(graph: &Graph, options: &Options) -> Annotation {
    let mut walk = Walk::over(graph, options);
    for (index, node) in graph.nodes.iter().enumerate().rev() {
        walk.visit(index, node);
    }
    walk.found.widen_shared();
    walk.found
}

struct Walk<'g> {
    graph: &'g Graph,
    options: &'g Options,
    sources: Sources,
    /// The index of the producer of each tensor.
    producers: IdMap<usize>,
    /// The number of readers of each tensor.
    readers: IdMap<usize>,
    found: Annotation,
}

impl<'g> Walk<'g> {
    fn over(graph: &'g Graph, options: &'g Options) -> Self {
        let (mut producers, mut readers) = (IdMap::default(), IdMap::default());
        for (index, node) in graph.nodes.iter().enumerate() {
            for id in &node.outputs {
                producers.insert(*id, index);
            }
        }
        for id in graph.nodes.iter().flat_map(Node::uses).chain(graph.results()) {
            let count = readers.get(id).copied().unwrap_or(0);
            readers.insert(id, count + 1);
        }
        let found = Annotation { schemes: vec![Scheme::Float; graph.nodes.len()], ..Annotation::default() };
        Self { graph, options, sources: Sources::of(graph), producers, readers, found }
    }

    fn visit(&mut self, index: usize, node: &Node) {
        let Some(kind) = rule::of(node).filter(|_| Control::of(node).is_none()) else { return };
        let (scheme, asked) = self.options.scheme_of(self.graph, node);
        if scheme.is_whole()
            && !matches!(kind, Kind::Embedding | Kind::Cache | Kind::Recurrent | Kind::Experts { .. })
            && !self.leaves(node, kind, scheme)
        {
            self.results(node, scheme.activation());
        }
        let wanted = node.outputs.iter().filter_map(|id| self.found.wants.get(*id)).max().copied();
        if let (Some(want), Some(id)) = (wanted, node.outputs.first())
            && let Some(fixed) = rule::fixed(kind, want)
        {
            self.found.fixed.insert(*id, fixed);
        }
        let done = match kind {
            Kind::Gemm { input, weight, .. } => self.product(node, (input, weight), scheme),
            Kind::Experts { weights, .. } => self.experts(node, weights, scheme),
            _ if !scheme.is_static() => false,
            Kind::Recurrent => asked && !scheme.is_whole() && self.recurrent(node),
            Kind::Move if wanted.is_some_and(|want| want != Want::Fused) => {
                self.movement(node, wanted.unwrap_or(Want::Int8))
            }
            _ if scheme.is_whole() => self.whole(node, kind, scheme.activation()),
            Kind::Matmul { inputs } if asked => self.pair(node, inputs, None, Want::Int8),
            Kind::Arithmetic { inputs } if wanted.is_some() => {
                // A sum with the accumulators of a layer needs int8 weights on microcontrollers.
                let fused = self.fused_operand(node, inputs).filter(|_| scheme != Scheme::Int8x4);
                self.pair(node, inputs, fused, Want::Int8)
            }
            Kind::Mean if wanted.is_some() => self.operand(node, false),
            Kind::Activation | Kind::Bounded { .. } if wanted.is_some() => self.operand(node, true),
            _ => false,
        };
        if let (true, Some(slot)) = (done, self.found.schemes.get_mut(index)) {
            *slot = scheme;
        }
    }

    /// Whether the result of a node is a float32 result of the graph: microcontrollers compute it from the sums of a layer, without the
    /// limits of a range.
    fn leaves(&self, node: &Node, kind: Kind, scheme: Scheme) -> bool {
        let is_result = |id: &ValueId| self.is_read_once(*id) && self.graph.results().any(|result| result == *id);
        scheme == Scheme::Int16x8 && matches!(kind, Kind::Gemm { .. }) && node.outputs.iter().all(is_result)
    }

    /// Demands integers for the results of a node, except where a consumer is fused.
    fn results(&mut self, node: &Node, want: Want) {
        for id in &node.outputs {
            if self.found.wants.get(*id).is_none() && self.readers.get(*id).is_some() {
                self.found.want(self.graph, *id, want);
            }
        }
    }

    /// Demands integers for the operands of a node, whatever its readers demand. A clamp is fused with the producer of its operand: integers
    /// saturate.
    fn whole(&mut self, node: &Node, kind: Kind, want: Want) -> bool {
        match kind {
            Kind::Matmul { inputs } | Kind::Arithmetic { inputs } => self.pair(node, inputs, None, want),
            Kind::Embedding | Kind::Move => false,
            Kind::Cache => self.cache(node, want),
            _ => {
                let Some(id) = tensor(node, 0) else { return false };
                let fuses = rule::saturates(node) && self.is_read_once(id) && self.is_computed(id);
                self.found.want(self.graph, id, if fuses { Want::Fused } else { want });
                true
            }
        }
    }

    /// Weights must be constants, or integers that stay. Static schemes demand integer activations.
    fn product(&mut self, node: &Node, (input, weight): (usize, usize), scheme: Scheme) -> bool {
        let (Some(input), Some(weight)) = (tensor(node, input), tensor(node, weight)) else { return false };
        let is_float = |id: ValueId| self.graph.spec(id).scalar_type == ScalarType::Float;
        let is_linear = node.operator.name() == "linear";
        let suits = match scheme {
            Scheme::Float => false,
            Scheme::Int8 | Scheme::Int8x4 | Scheme::DynamicInt8 | Scheme::Int8Weights => true,
            Scheme::W8A8 | Scheme::W8A16 | Scheme::W4A16 | Scheme::Int16x8 => true,
            Scheme::Stored | Scheme::Int4Weights | Scheme::Dynamic8Weight4 => {
                is_linear && self.graph.spec(weight).rank() == 2
            }
        };
        if !suits || !is_float(input) || !is_float(weight) || !self.are_integers(weight, scheme) {
            return false;
        }
        if scheme.is_static() {
            self.found.want(self.graph, input, scheme.activation());
        }
        true
    }

    /// All weights must be constants, or integers that stay.
    fn experts(&self, node: &Node, weights: usize, scheme: Scheme) -> bool {
        let Some(Argument::Values(weights)) = node.arguments.get(weights) else { return false };
        let is_stored = |id: ValueId| {
            let is_float = self.graph.spec(id).scalar_type == ScalarType::Float;
            is_float && self.are_integers(id, scheme)
        };
        scheme.is_for_rows() && weights.iter().all(|id| id.is_some_and(is_stored))
    }

    /// Whether the weights behind a value become integers in a scheme, or are integers that stay.
    fn are_integers(&self, weight: ValueId, scheme: Scheme) -> bool {
        let become_integers = scheme.rounds_weights() && self.sources.constant(self.graph, weight).is_some();
        become_integers || self.sources.stay(weight, scheme)
    }

    /// Weights must be constants. The result has the steps of the hidden state.
    fn recurrent(&mut self, node: &Node) -> bool {
        let (Some(input), Some(Argument::Values(parameters)), Some(result)) =
            (tensor(node, 0), node.arguments.get(2), node.outputs.first())
        else {
            return false;
        };
        let mut constants = parameters.iter().flatten();
        if !constants.all(|id| self.sources.constant(self.graph, *id).is_some()) {
            return false;
        }
        for id in [input, *result] {
            self.found.want(self.graph, id, Want::Int8);
        }
        self.found.fixed.insert(*result, (1.0 / 128.0, 0));
        true
    }

    /// Demands integers for the rows of a KV cache in `float32`.
    fn cache(&mut self, node: &Node, want: Want) -> bool {
        let (Some(cache), Some(rows)) = (tensor(node, 0), tensor(node, 1)) else { return false };
        let is_float = self.graph.spec(cache).scalar_type == ScalarType::Float;
        if is_float {
            self.found.want(self.graph, rows, want);
        }
        is_float
    }

    fn pair(&mut self, node: &Node, inputs: [usize; 2], fused: Option<ValueId>, integers: Want) -> bool {
        let [Some(left), Some(right)] = inputs.map(|input| tensor(node, input)) else { return false };
        for id in [left, right] {
            let want = if fused == Some(id) { Want::Fused } else { integers };
            self.found.want(self.graph, id, want);
        }
        true
    }

    /// The operand that the arithmetic is fused with, as residual: the last GEMM among the producers, if read only
    /// once.
    fn fused_operand(&self, node: &Node, inputs: [usize; 2]) -> Option<ValueId> {
        let operands = inputs.into_iter().filter_map(|input| tensor(node, input));
        let products = operands.filter(|id| {
            let producer = self.producers.get(*id).and_then(|index| self.graph.nodes.get(*index));
            self.is_read_once(*id) && producer.and_then(rule::of).is_some_and(|kind| matches!(kind, Kind::Gemm { .. }))
        });
        products.max_by_key(|id| self.producers.get(*id).copied())
    }

    fn operand(&mut self, node: &Node, may_fuse: bool) -> bool {
        let Some(id) = tensor(node, 0) else { return false };
        let fuses = may_fuse && self.is_read_once(id) && self.is_computed(id);
        self.found.want(self.graph, id, if fuses { Want::Fused } else { Want::Int8 });
        true
    }

    fn movement(&mut self, node: &Node, want: Want) -> bool {
        let operands = rule::moved(self.graph, node);
        let is_float = |id: &&ValueId| self.graph.spec(**id).scalar_type == ScalarType::Float;
        let results: Vec<ValueId> = node.outputs.iter().filter(is_float).copied().collect();
        let Some(first) = operands.first().copied() else { return false };
        for id in &operands {
            self.found.want(self.graph, *id, want);
            self.found.share(first, *id);
        }
        for id in results {
            self.found.want(self.graph, id, want);
            self.found.share(first, id);
            self.found.moved.insert(id, ());
        }
        true
    }

    fn is_read_once(&self, id: ValueId) -> bool {
        self.readers.get(id) == Some(&1)
    }

    /// Whether the producer of the tensor can be fused with the consumer.
    fn is_computed(&self, id: ValueId) -> bool {
        let producer = self.producers.get(id).and_then(|index| self.graph.nodes.get(*index));
        let kind = producer.and_then(rule::of);
        !matches!(kind, None | Some(Kind::Move | Kind::Embedding | Kind::Recurrent))
    }
}

/// The tensor at a position of the arguments.
pub fn tensor(node: &Node, position: usize) -> Option<ValueId> {
    match node.arguments.get(position) {
        Some(Argument::Value(id)) => Some(*id),
        _ => None,
    }
}
