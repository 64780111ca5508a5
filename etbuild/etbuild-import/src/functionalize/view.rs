//! View operators: how to create a view again, and how to write through a view.

use etbuild_ir::{Argument, Graph, IdMap, MemoryFormat, Node, OperatorName, TensorSpec, ValueId};

use crate::schema::Schema;

/// The relation of a view to the source.
#[derive(Clone, Debug, PartialEq)]
pub enum View {
    /// All elements, same shape.
    Same,
    /// All elements in the same order, another shape.
    Reshape,
    /// All elements with permuted dimensions.
    Permute(Vec<i64>),
    /// A range of a dimension.
    Slice { dim: i64, start: Bound, end: Bound, step: i64 },
    /// A single position of a dimension.
    Select { dim: i64, index: Bound },
    /// A diagonal of two dimensions, as the last dimension.
    Diagonal { offset: i64, dims: [i64; 2] },
    /// Elements repeated along dimensions.
    Expand,
    /// Unknown: another kind of view, or possibly a copy.
    Unknown,
}

/// A position, possibly computed.
pub type Bound = Argument;

/// The operator that creates the view again, with the arguments after the source.
pub enum Apply {
    Same,
    Call(OperatorName, Vec<Argument>),
    Unknown,
}

/// How to compute the source from a changed view.
pub enum Inverse {
    Same,
    /// An operator, with the arguments after the view.
    Call(OperatorName, Vec<Argument>),
    /// An operator, with the arguments after the old source and the view.
    Scatter(OperatorName, Vec<Argument>),
    Unknown,
}

impl View {
    /// Creates the view again, with a result like `spec`.
    pub fn apply(&self, spec: &TensorSpec) -> Apply {
        let call = |name, overload, arguments| Apply::Call(OperatorName::aten(name, overload), arguments);
        match self {
            Self::Same => Apply::Same,
            Self::Reshape => shape(spec).map_or(Apply::Unknown, |sizes| call("view", "default", vec![sizes])),
            Self::Permute(dims) => call("permute", "default", vec![Argument::Ints(dims.clone())]),
            Self::Slice { dim, start, end, step } => call("slice", "Tensor", range(*dim, start, end, *step)),
            Self::Select { dim, index } => call("select", "int", vec![Argument::Int(*dim), index.clone()]),
            Self::Diagonal { offset, dims } => call("diagonal", "default", diagonal(*offset, *dims)),
            Self::Expand if spec.is_dynamic() => Apply::Unknown,
            Self::Expand => call("expand", "default", vec![wide(&spec.sizes), Argument::Bool(false)]),
            Self::Unknown => Apply::Unknown,
        }
    }

    /// Writes through the view to a tensor like `spec`.
    pub fn invert(&self, spec: &TensorSpec) -> Inverse {
        match self {
            Self::Same => Inverse::Same,
            Self::Reshape => shape(spec)
                .map_or(Inverse::Unknown, |sizes| Inverse::Call(OperatorName::aten("view", "default"), vec![sizes])),
            Self::Permute(dims) => {
                Inverse::Call(OperatorName::aten("permute", "default"), vec![Argument::Ints(inverse_order(dims))])
            }
            Self::Slice { dim, start, end, step } => {
                Inverse::Scatter(OperatorName::aten("slice_scatter", "default"), range(*dim, start, end, *step))
            }
            Self::Select { dim, index } => {
                let position = vec![Argument::Int(*dim), index.clone()];
                Inverse::Scatter(OperatorName::aten("select_scatter", "default"), position)
            }
            Self::Diagonal { offset, dims } => {
                Inverse::Scatter(OperatorName::aten("diagonal_scatter", "default"), diagonal(*offset, *dims))
            }
            Self::Expand | Self::Unknown => Inverse::Unknown,
        }
    }
}

fn range(dim: i64, start: &Bound, end: &Bound, step: i64) -> Vec<Argument> {
    vec![Argument::Int(dim), start.clone(), end.clone(), Argument::Int(step)]
}

fn diagonal(offset: i64, [first, second]: [i64; 2]) -> Vec<Argument> {
    [offset, first, second].map(Argument::Int).to_vec()
}

/// The sizes of a view; a single dynamic size is inferred (-1).
fn shape(spec: &TensorSpec) -> Option<Argument> {
    let mut dynamic = spec.dynamic_dims();
    let (first, second) = (dynamic.next(), dynamic.next());
    let mut sizes: Vec<i64> = spec.sizes.iter().copied().map(i64::from).collect();
    if let Some(size) = first.and_then(|dim| sizes.get_mut(dim)) {
        *size = -1;
    }
    second.is_none().then_some(Argument::Ints(sizes))
}

fn wide(sizes: &[i32]) -> Argument {
    Argument::Ints(sizes.iter().copied().map(i64::from).collect())
}

fn inverse_order(dims: &[i64]) -> Vec<i64> {
    let position = |dim: i64| dims.iter().position(|known| *known == dim).map_or(dim, |position| position as i64);
    (0..dims.len() as i64).map(position).collect()
}

/// The outputs of `node` that are views of the first argument, with the kind of view.
pub fn views(graph: &Graph, row_major: &IdMap<bool>, node: &Node, schema: &Schema<'_>) -> Vec<(ValueId, View)> {
    let Some(Argument::Value(source)) = node.arguments.first() else { return Vec::new() };
    let call = Call { graph, node, source: *source, row_major: row_major.get(*source) == Some(&true) };
    let aliases = schema.parameters.first().is_some_and(|parameter| parameter.aliased);
    let views = match node.operator.name() {
        "dropout" | "feature_dropout" | "alpha_dropout" if node.arguments.get(2) == Some(&Argument::Bool(false)) => {
            vec![View::Same]
        }
        _ if aliases => call.views().unwrap_or_else(|| vec![View::Unknown; node.outputs.len()]),
        _ => Vec::new(),
    };
    node.outputs.iter().copied().zip(views).collect()
}

struct Call<'a> {
    graph: &'a Graph,
    node: &'a Node,
    source: ValueId,
    row_major: bool,
}

impl Call<'_> {
    /// A view per output; empty where the operator copies; `None` where the behaviour is unknown.
    fn views(&self) -> Option<Vec<View>> {
        match (self.node.operator.name(), self.node.operator.overload()) {
            ("alias" | "detach", _) => Some(vec![View::Same]),
            ("view" | "_unsafe_view" | "unflatten", "default" | "int") | ("squeeze" | "unsqueeze", _) => {
                Some(vec![View::Reshape])
            }
            ("reshape" | "flatten" | "view_as" | "reshape_as", _) if self.row_major => Some(vec![View::Reshape]),
            ("contiguous", _) => self.contiguous(),
            ("to", "dtype" | "dtype_layout" | "device" | "other" | "prim_Device" | "prim_dtype") => self.conversion(),
            ("expand" | "expand_as", _) => Some(vec![View::Expand]),
            ("slice", "Tensor") => self.slice().map(|view| vec![view]),
            ("narrow", "default") => {
                let (dim, start) = (self.dim(1)?, self.int(2)?);
                let end = Argument::Int(start.checked_add(self.int(3)?)?);
                Some(vec![View::Slice { dim, start: Argument::Int(start), end, step: 1 }])
            }
            ("select", "int") => {
                Some(vec![View::Select { dim: self.dim(1)?, index: self.node.arguments.get(2)?.clone() }])
            }
            ("permute", _) => self.permutation().map(|dims| vec![View::Permute(dims)]),
            ("diagonal" | "linalg_diagonal", "default") => {
                Some(vec![View::Diagonal { offset: self.int(1)?, dims: [self.dim(2)?, self.dim(3)?] }])
            }
            ("mT", "default") => self.swap(self.rank().checked_sub(2)?, self.rank() - 1),
            ("transpose", "int") | ("swapaxes" | "swapdims", "default") => self.swap(self.dim(1)?, self.dim(2)?),
            ("t", _) if self.rank() == 2 => self.swap(0, 1),
            ("chunk" | "split" | "split_with_sizes", _) => self.pieces(),
            ("unbind", "int") => {
                let dim = self.dim(1)?;
                let select = |index| View::Select { dim, index: Argument::Int(index) };
                Some((0..self.node.outputs.len() as i64).map(select).collect())
            }
            _ => None,
        }
    }

    fn contiguous(&self) -> Option<Vec<View>> {
        let plain = self.node.arguments.get(1) == Some(&Argument::MemoryFormat(MemoryFormat::Contiguous));
        plain.then(|| if self.row_major { vec![View::Same] } else { Vec::new() })
    }

    /// A conversion copies where the type changes. A conversion of the layout alone is unknown.
    fn conversion(&self) -> Option<Vec<View>> {
        let output = self.node.outputs.first()?;
        let changes = self.graph.spec(*output).scalar_type != self.graph.spec(self.source).scalar_type;
        if changes {
            return Some(Vec::new());
        }
        let plain = self.node.arguments.iter().skip(1).all(|argument| match argument {
            Argument::Bool(copy) => !copy,
            Argument::MemoryFormat(format) => *format == MemoryFormat::Preserve,
            _ => true,
        });
        plain.then(|| vec![View::Same])
    }

    fn slice(&self) -> Option<View> {
        let dim = self.dim(1)?;
        let size = self.size(dim)?;
        let (start, end) = (self.node.arguments.get(2)?, self.node.arguments.get(3)?);
        let step = self.int(4)?;
        let fixed = |argument: &Argument| matches!(argument, Argument::None | Argument::Int(_));
        if self.graph.spec(self.source).is_dynamic() || !fixed(start) || !fixed(end) {
            return Some(View::Slice { dim, start: start.clone(), end: end.clone(), step });
        }
        let bound = |argument: &Argument, default: i64| match argument {
            Argument::Int(value) if *value < 0 => value.saturating_add(size).max(0),
            Argument::Int(value) => (*value).min(size),
            _ => default,
        };
        let (start, end) = (bound(start, 0), bound(end, size));
        Some(View::Slice { dim, start: Argument::Int(start), end: Argument::Int(end.max(start)), step })
    }

    /// Slices with the sizes of the outputs.
    fn pieces(&self) -> Option<Vec<View>> {
        let dim = self.dim(2)?;
        let mut start = 0;
        let piece = |output: &ValueId| {
            let spec = self.graph.spec(*output);
            let end = start + i64::from(*spec.sizes.get(usize::try_from(dim).ok()?)?);
            let view = View::Slice { dim, start: Argument::Int(start), end: Argument::Int(end), step: 1 };
            start = end;
            (!spec.is_dynamic()).then_some(view)
        };
        self.node.outputs.iter().map(piece).collect()
    }

    fn permutation(&self) -> Option<Vec<i64>> {
        let Some(Argument::Ints(dims)) = self.node.arguments.get(1) else { return None };
        dims.iter().map(|dim| self.normal(*dim)).collect()
    }

    fn swap(&self, first: i64, second: i64) -> Option<Vec<View>> {
        let mut dims: Vec<i64> = (0..self.rank()).collect();
        dims.swap(usize::try_from(first).ok()?, usize::try_from(second).ok()?);
        Some(vec![View::Permute(dims)])
    }

    fn rank(&self) -> i64 {
        self.graph.spec(self.source).rank() as i64
    }

    fn size(&self, dim: i64) -> Option<i64> {
        self.graph.spec(self.source).sizes.get(usize::try_from(dim).ok()?).copied().map(i64::from)
    }

    fn int(&self, index: usize) -> Option<i64> {
        match self.node.arguments.get(index) {
            Some(Argument::Int(value)) => Some(*value),
            _ => None,
        }
    }

    /// A dimension argument, counted from the front.
    fn dim(&self, index: usize) -> Option<i64> {
        self.normal(self.int(index)?)
    }

    fn normal(&self, dim: i64) -> Option<i64> {
        let dim = if dim < 0 { dim.checked_add(self.rank())? } else { dim };
        (0..self.rank()).contains(&dim).then_some(dim)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_inverse_of_an_order_undoes_it() {
        assert_eq!(inverse_order(&[2, 0, 1]), [1, 2, 0]);
    }

    #[test]
    fn a_slice_is_written_through_by_scattering() {
        let view = View::Slice { dim: 1, start: Argument::Int(1), end: Argument::Int(3), step: 1 };
        let spec = TensorSpec::contiguous(et_core::ScalarType::Float, [2, 3]);
        let Inverse::Scatter(operator, rest) = view.invert(&spec) else { unreachable!("slices scatter") };
        assert_eq!((operator.as_str(), rest.len()), ("aten.slice_scatter.default", 4));
    }

    #[test]
    fn a_diagonal_is_written_through_by_scattering() {
        let view = View::Diagonal { offset: 1, dims: [0, 1] };
        let spec = TensorSpec::contiguous(et_core::ScalarType::Float, [3, 3]);
        let Inverse::Scatter(operator, rest) = view.invert(&spec) else { unreachable!("diagonals scatter") };
        assert_eq!((operator.as_str(), rest.len()), ("aten.diagonal_scatter.default", 3));
    }

    #[test]
    fn writes_through_repeated_elements_are_refused() {
        let spec = TensorSpec::contiguous(et_core::ScalarType::Float, [1]);
        assert!(matches!(View::Expand.invert(&spec), Inverse::Unknown));
    }
}
