//! Lowering: the pattern of each quantized value becomes operators of TOSA.
//!
//! A pattern is an operator between dequantized int8 tensors and a quantization. [`check`] lowers the pattern of a single node, so that the
//! capability of the backend and its lowering are one list of rules.

mod arithmetic;
mod average;
mod build;
mod convolution;
mod image;
mod join;
mod linear;
mod maximum;
mod part;
mod permute;
mod softmax;
mod view;

use etbuild_backend::int8::pattern::{self, Check, Epilogue, Operand, QParams, Width, no};
use etbuild_backend::int8::table;
use etbuild_backend::{Refusal, RefusalKind};
use etbuild_ir::{Graph, IdMap, Links, Node, ValueId};

use build::Stored;

use crate::tosa;
use crate::tosa::operation::Table;

/// The result of a rule.
pub type Done = Result<(), Refusal>;

/// The lowering of an operator's patterns.
struct Rule {
    operator: &'static str,
    lower: fn(&mut Lowering<'_>, &Node, &Target) -> Done,
}

/// Every rule, sorted by operator. Functions of single numbers are tables instead, and clamps a part of the pattern before.
static RULES: &[Rule] = &[
    Rule { operator: "aten._softmax.default", lower: softmax::lower },
    Rule { operator: "aten.add.Tensor", lower: arithmetic::sum },
    Rule { operator: "aten.alias_copy.default", lower: view::lower },
    Rule { operator: "aten.avg_pool2d.default", lower: average::pool },
    Rule { operator: "aten.cat.default", lower: join::lower },
    Rule { operator: "aten.clone.default", lower: view::lower },
    Rule { operator: "aten.constant_pad_nd.default", lower: part::pad },
    Rule { operator: "aten.convolution.default", lower: convolution::lower },
    Rule { operator: "aten.linear.default", lower: linear::lower },
    Rule { operator: "aten.max_pool2d_with_indices.default", lower: maximum::lower },
    Rule { operator: "aten.mean.dim", lower: average::mean },
    Rule { operator: "aten.mul.Tensor", lower: arithmetic::product },
    Rule { operator: "aten.permute_copy.default", lower: permute::permute },
    Rule { operator: "aten.select_copy.int", lower: part::select },
    Rule { operator: "aten.slice_copy.Tensor", lower: part::slice },
    Rule { operator: "aten.squeeze_copy.dim", lower: view::lower },
    Rule { operator: "aten.squeeze_copy.dims", lower: view::lower },
    Rule { operator: "aten.sub.Tensor", lower: arithmetic::difference },
    Rule { operator: "aten.t_copy.default", lower: permute::transpose },
    Rule { operator: "aten.transpose_copy.int", lower: permute::transpose },
    Rule { operator: "aten.unsqueeze_copy.default", lower: view::lower },
    Rule { operator: "aten.view_copy.default", lower: view::lower },
];

/// The quantized result of a pattern.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// The int8 value.
    pub id: ValueId,
    pub qparams: QParams,
    /// The least and the greatest integer: those of a clamp, or of int8.
    pub limits: [i8; 2],
}

/// What a result of the partition is made of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Output {
    /// The position among the outputs of the graph.
    pub position: usize,
    /// The qparams for a result that is dequantized.
    pub dequantized: Option<QParams>,
}

/// A partition in TOSA.
#[derive(Debug)]
pub struct Lowered {
    /// The graph.
    pub graph: tosa::Graph,
    /// For each result of the partition.
    pub outputs: Vec<Output>,
}

/// The state of lowering.
pub struct Lowering<'g> {
    links: &'g Links<'g>,
    graph: tosa::Graph,
    /// The int8 tensors.
    stored: IdMap<Stored>,
    /// Whether a tensor that nothing computes is taken as an input: where a single pattern is checked.
    is_check: bool,
}

/// Lowers a partition.
///
/// # Errors
/// A pattern that is cut by the border of the partition, or that no rule takes.
pub fn lower(graph: &Graph) -> Result<Lowered, Refusal> {
    let links = Links::of(graph);
    let mut lowering = Lowering::new(&links, false);
    graph.inputs.iter().try_for_each(|id| lowering.input(*id))?;
    for node in &graph.nodes {
        if pattern::quantizes(node).is_some() {
            lowering.quantized(node)?;
        }
    }
    let outputs = graph.outputs.iter().map(|id| lowering.output(*id)).collect::<Result<_, _>>()?;
    Ok(Lowered { graph: lowering.graph, outputs })
}

/// Accepts a head whose pattern can be lowered.
pub fn check(links: &Links<'_>, head: &Node) -> Check {
    let epilogue = pattern::quantized(links, head)?;
    if pattern::width(links, head)? != Some(Width::Int8) {
        return Err(no(RefusalKind::Quantization, "activations are int16, and the backend has int8 only"));
    }
    if epilogue.residual.is_some() {
        return Err(no(RefusalKind::Quantization, "a sum takes the result before quantization: use the scheme `w8a8`"));
    }
    Lowering::new(links, true).head(head, &epilogue)
}

/// The refusal of a partition that cuts a pattern.
pub fn cut() -> Refusal {
    no(RefusalKind::Partition, "the partition separates an int8 operator from its quantization")
}

/// Whether there is a rule for an operator.
pub fn has_rule(node: &Node) -> bool {
    rule(node).is_some()
}

fn rule(node: &Node) -> Option<&'static Rule> {
    RULES.iter().find(|rule| rule.operator == node.operator.as_str())
}

impl<'g> Lowering<'g> {
    fn new(links: &'g Links<'g>, is_check: bool) -> Self {
        Self { links, graph: tosa::Graph::default(), stored: IdMap::default(), is_check }
    }

    /// Lowers a quantize node together with the operator of its operand.
    fn quantized(&mut self, node: &Node) -> Done {
        let (Some(from), Ok(to), Some(qparams)) =
            (pattern::first(node), pattern::output(node), pattern::quantizes(node))
        else {
            return Err(cut());
        };
        if let Some((operand, functions)) = pattern::function(self.links, from) {
            return self.table(operand, &functions, (to, qparams));
        }
        let head = pattern::head(self.links, from).ok_or_else(cut)?;
        let epilogue = pattern::epilogue(self.links, head, pattern::output(head)?);
        match epilogue.quantized == Some((to, qparams)) && epilogue.residual.is_none() {
            true => self.head(head, &epilogue),
            false => Err(cut()),
        }
    }

    /// Lowers the pattern of a head.
    fn head(&mut self, head: &Node, epilogue: &Epilogue) -> Done {
        let (id, qparams) = epilogue.quantized.ok_or_else(cut)?;
        let rule = rule(head).ok_or_else(|| no(RefusalKind::Operator, "there is no rule for the operator"))?;
        let integer = |number: f64| {
            ((number / qparams.scale).round_ties_even() + f64::from(qparams.zero)).clamp(-128.0, 127.0) as i8
        };
        (rule.lower)(self, head, &Target { id, qparams, limits: [epilogue.least, epilogue.most].map(integer) })
    }

    /// Functions of an int8 tensor, first to last, as a table.
    fn table(&mut self, operand: Operand, functions: &[&Node], (to, qparams): (ValueId, QParams)) -> Done {
        let stored = self.stored(operand.id)?;
        if functions.is_empty() && operand.qparams == qparams {
            self.stored.insert(to, stored);
            return Ok(());
        }
        let table = table(functions, operand.qparams, qparams)?;
        let name = self.name(to);
        let table = self.bytes(&format!("{name}.table"), &[256], table.to_vec());
        let sizes = self.sizes_of(stored.tensor);
        let tensor = self.emit(Table, &[stored.tensor, table], (name, tosa::Kind::Int8, &sizes));
        self.stored.insert(to, Stored { tensor, order: stored.order });
        Ok(())
    }
}
