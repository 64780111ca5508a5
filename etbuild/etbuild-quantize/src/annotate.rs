//! Deciding what is quantized: the rules, applied from the results to the inputs.
//!
//! A product in integers wants its activations as integers. What computes a tensor that is wanted so, and only that, is done in
//! integers too where its rule allows it, and wants its own operands so in turn; a tensor that no one wants stays real. So a
//! convolutional network is in integers throughout, and a transformer keeps its residuals, norms and scores real.

use et_core::ScalarType;
use etbuild_ir::{Argument, Control, Graph, IdMap, Node, ValueId};

use crate::options::{Options, Scheme};
use crate::rule::{self, Kind};
use crate::source::Sources;

/// How a tensor is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Want {
    /// Real, by a node that is one with the node that computes it.
    Fused,
    /// As integers.
    Integers,
}

/// What is done with a graph.
#[derive(Debug, Default)]
pub struct Annotation {
    /// The scheme of each node; [`Scheme::Float`] where nothing is done.
    pub schemes: Vec<Scheme>,
    /// The tensors that are quantized with parameters that are known beforehand.
    pub wants: IdMap<Want>,
    /// The tensor that stands for all that share its parameters.
    shared: IdMap<ValueId>,
    /// Parameters that are known, by what computes them.
    pub fixed: IdMap<(f32, i64)>,
    /// Results of moves: their elements are those of others.
    moved: IdMap<()>,
}

impl Annotation {
    /// Whether something must be measured on samples.
    pub fn needs_samples(&self) -> bool {
        self.wants.iter().any(|(_, want)| *want == Want::Integers)
    }

    /// Whether a tensor becomes integers.
    pub fn is_quantized(&self, id: ValueId) -> bool {
        self.wants.get(id) == Some(&Want::Integers)
    }

    /// The tensor whose parameters `id` has.
    pub fn representative(&self, id: ValueId) -> ValueId {
        let mut at = id;
        while let Some(next) = self.shared.get(at).filter(|next| **next != at) {
            at = *next;
        }
        at
    }

    /// The tensors to measure: what becomes integers and is not the result of a move, each with the one that stands for it.
    pub fn sources(&self) -> impl Iterator<Item = (ValueId, ValueId)> + '_ {
        let wanted = self.wants.iter().filter(|(id, want)| **want == Want::Integers && self.moved.get(*id).is_none());
        wanted.map(|(id, _)| (id, self.representative(id)))
    }

    /// Gives two tensors the same parameters. Paths are halved on the way, so that they stay short.
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

    fn want(&mut self, graph: &Graph, id: ValueId, want: Want) {
        if graph.spec(id).scalar_type == ScalarType::Float && self.wants.get(id).is_none_or(|known| *known < want) {
            self.wants.insert(id, want);
        }
    }
}

/// What is done with a graph by these options. Linear in the number of nodes.
pub fn annotate(graph: &Graph, options: &Options) -> Annotation {
    let mut walk = Walk::over(graph, options);
    for (index, node) in graph.nodes.iter().enumerate().rev() {
        walk.visit(index, node);
    }
    walk.found
}

struct Walk<'g> {
    graph: &'g Graph,
    options: &'g Options,
    sources: Sources,
    /// The node that computes a tensor.
    makers: IdMap<usize>,
    /// How many read it.
    readers: IdMap<usize>,
    found: Annotation,
}

impl<'g> Walk<'g> {
    fn over(graph: &'g Graph, options: &'g Options) -> Self {
        let (mut makers, mut readers) = (IdMap::default(), IdMap::default());
        for (index, node) in graph.nodes.iter().enumerate() {
            for id in &node.outputs {
                makers.insert(*id, index);
            }
        }
        for id in graph.nodes.iter().flat_map(Node::uses).chain(graph.results()) {
            let count = readers.get(id).copied().unwrap_or(0);
            readers.insert(id, count + 1);
        }
        let found = Annotation { schemes: vec![Scheme::Float; graph.nodes.len()], ..Annotation::default() };
        Self { graph, options, sources: Sources::of(graph), makers, readers, found }
    }

    fn visit(&mut self, index: usize, node: &Node) {
        let Some(kind) = rule::of(node).filter(|_| Control::of(node).is_none()) else { return };
        let (scheme, asked) = self.options.scheme_of(self.graph, node);
        let wanted = node.outputs.iter().filter_map(|id| self.found.wants.get(*id)).max().copied();
        if let (Some(fixed), Some(id), true) = (rule::fixed(kind), node.outputs.first(), wanted.is_some()) {
            self.found.fixed.insert(*id, fixed);
        }
        let done = match kind {
            Kind::Product { input, weight, .. } => self.product(node, (input, weight), scheme),
            _ if scheme != Scheme::Int8 => false,
            Kind::Matmul { inputs } if asked => self.pair(node, inputs, None),
            Kind::Arithmetic { inputs } if wanted.is_some() => self.pair(node, inputs, self.joined(node, inputs)),
            Kind::Mean if wanted.is_some() => self.operand(node, false),
            Kind::Activation | Kind::Bounded { .. } if wanted.is_some() => self.operand(node, true),
            Kind::Move if wanted == Some(Want::Integers) => self.movement(node),
            _ => false,
        };
        if let (true, Some(slot)) = (done, self.found.schemes.get_mut(index)) {
            *slot = scheme;
        }
    }

    /// Weights must be constants; activations are wanted as integers where their range is measured.
    fn product(&mut self, node: &Node, (input, weight): (usize, usize), scheme: Scheme) -> bool {
        let (Some(input), Some(weight)) = (tensor(node, input), tensor(node, weight)) else { return false };
        let is_float = |id: ValueId| self.graph.spec(id).scalar_type == ScalarType::Float;
        let is_linear = node.operator.name() == "linear";
        let suits = match scheme {
            Scheme::Float => false,
            Scheme::Int8 | Scheme::DynamicInt8 | Scheme::Int8Weights => true,
            Scheme::Int4Weights | Scheme::Dynamic8Weight4 => is_linear && self.graph.spec(weight).rank() == 2,
        };
        if !suits || !is_float(input) || !is_float(weight) || self.sources.constant(self.graph, weight).is_none() {
            return false;
        }
        if scheme == Scheme::Int8 {
            self.found.want(self.graph, input, Want::Integers);
        }
        true
    }

    fn pair(&mut self, node: &Node, inputs: [usize; 2], joined: Option<ValueId>) -> bool {
        let [Some(left), Some(right)] = inputs.map(|input| tensor(node, input)) else { return false };
        for id in [left, right] {
            let want = if joined == Some(id) { Want::Fused } else { Want::Integers };
            self.found.want(self.graph, id, want);
        }
        true
    }

    /// The operand that arithmetic is one with: the product that comes last, if nothing else reads it.
    fn joined(&self, node: &Node, inputs: [usize; 2]) -> Option<ValueId> {
        let operands = inputs.into_iter().filter_map(|input| tensor(node, input));
        let products = operands.filter(|id| {
            let maker = self.makers.get(*id).and_then(|index| self.graph.nodes.get(*index));
            self.is_read_once(*id) && maker.and_then(rule::of).is_some_and(|kind| matches!(kind, Kind::Product { .. }))
        });
        products.max_by_key(|id| self.makers.get(*id).copied())
    }

    fn operand(&mut self, node: &Node, may_fuse: bool) -> bool {
        let Some(id) = tensor(node, 0) else { return false };
        let fuses = may_fuse && self.is_read_once(id) && self.is_computed(id);
        self.found.want(self.graph, id, if fuses { Want::Fused } else { Want::Integers });
        true
    }

    fn movement(&mut self, node: &Node) -> bool {
        let operands = rule::moved(self.graph, node);
        let is_float = |id: &&ValueId| self.graph.spec(**id).scalar_type == ScalarType::Float;
        let results: Vec<ValueId> = node.outputs.iter().filter(is_float).copied().collect();
        let Some(first) = operands.first().copied() else { return false };
        for id in &operands {
            self.found.want(self.graph, *id, Want::Integers);
            self.found.share(first, *id);
        }
        for id in results {
            self.found.want(self.graph, id, Want::Integers);
            self.found.share(first, id);
            self.found.moved.insert(id, ());
        }
        true
    }

    fn is_read_once(&self, id: ValueId) -> bool {
        self.readers.get(id) == Some(&1)
    }

    /// Whether what computes the tensor can go on with it in real numbers.
    fn is_computed(&self, id: ValueId) -> bool {
        let maker = self.makers.get(id).and_then(|index| self.graph.nodes.get(*index));
        let kind = maker.and_then(rule::of);
        !matches!(kind, None | Some(Kind::Move | Kind::Table))
    }
}

/// The tensor that is an argument.
pub fn tensor(node: &Node, position: usize) -> Option<ValueId> {
    match node.arguments.get(position) {
        Some(Argument::Value(id)) => Some(*id),
        _ => None,
    }
}
