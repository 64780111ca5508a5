//! Sizes in rules: static, or dynamic sizes of dimensions of values.

use et_core::ScalarType;
use etbuild_ir::{Argument, Interval, Node, OperatorName, Size, TensorSpec, ValueId, ValueKind};

use super::Editor;
use crate::Reason;

/// A size with bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dim {
    /// The maximum.
    pub most: i32,
    /// The minimum.
    pub least: i32,
    /// A dimension with this size; `None` for a static size or a computed size.
    source: Option<(ValueId, usize)>,
}

impl From<i32> for Dim {
    fn from(size: i32) -> Self {
        Self { most: size, least: size, source: None }
    }
}

impl Dim {
    /// The sizes of a shape.
    pub fn of(spec: &TensorSpec) -> Vec<Self> {
        let bounds = spec.sizes.iter().zip(&spec.least);
        bounds.map(|(most, least)| Self { most: *most, least: *least, source: None }).collect()
    }

    /// The size, if static.
    pub const fn fixed(self) -> Result<i32, Reason> {
        if self.is_dynamic() { Err(Reason::Dynamic) } else { Ok(self.most) }
    }

    /// Whether the size is dynamic.
    pub const fn is_dynamic(self) -> bool {
        self.most != self.least
    }

    /// The number of elements of a shape.
    pub fn product(dims: &[Self]) -> Self {
        let times = |left: Self, right: Self| match (left, right) {
            (Self { most: 1, least: 1, .. }, other) | (other, Self { most: 1, least: 1, .. }) => other,
            _ => Self {
                most: left.most.saturating_mul(right.most),
                least: left.least.saturating_mul(right.least),
                source: None,
            },
        };
        dims.iter().copied().fold(Self::from(1), times)
    }

    /// The size of a concatenation.
    pub fn sum(dims: &[Self]) -> Self {
        let plus = |left: Self, right: Self| Self {
            most: left.most.saturating_add(right.most),
            least: left.least.saturating_add(right.least),
            source: None,
        };
        dims.iter().copied().fold(Self::from(0), plus)
    }

    /// The broadcast shape, aligned at the last dimensions.
    pub fn broadcast(left: &[Self], right: &[Self]) -> Result<Vec<Self>, Reason> {
        let rank = left.len().max(right.len());
        let at = |dims: &[Self], index: usize| {
            let index = (index + dims.len()).checked_sub(rank);
            index.and_then(|index| dims.get(index)).copied().unwrap_or(Self::from(1))
        };
        let common = |index: usize| match (at(left, index), at(right, index)) {
            (Self { most: 1, .. }, dim) | (dim, Self { most: 1, .. }) => Some(dim),
            (dim, other) => dim.equal(other),
        };
        (0..rank).map(common).collect::<Option<_>>().ok_or(Reason::Arguments)
    }

    /// The size that two operands share at run time: within the bounds of both.
    fn equal(self, other: Self) -> Option<Self> {
        let (most, least) = (self.most.min(other.most), self.least.max(other.least));
        let source = if self.is_dynamic() { other.source.or(self.source) } else { self.source };
        (least <= most).then_some(Self { most, least, source })
    }

    /// A row-major tensor of this shape.
    pub fn spec(scalar_type: ScalarType, dims: &[Self]) -> TensorSpec {
        let most: Vec<i32> = dims.iter().map(|dim| dim.most).collect();
        let least: Vec<i32> = dims.iter().map(|dim| dim.least).collect();
        TensorSpec::contiguous(scalar_type, most).with_least(least)
    }
}

impl Editor {
    /// The sizes of a value.
    pub fn dims(&self, of: ValueId) -> Vec<Dim> {
        let spec = self.spec(of);
        let bounds = spec.sizes.iter().zip(&spec.least).enumerate();
        bounds.map(|(dim, (most, least))| Dim { most: *most, least: *least, source: Some((of, dim)) }).collect()
    }

    /// Reshapes a value to `dims`. At most a single size may be computed.
    pub fn view_as(&mut self, of: ValueId, dims: &[Dim]) -> Result<ValueId, Reason> {
        let output = Dim::spec(self.spec(of).scalar_type, dims);
        let same = |(old, new): (&Dim, &Dim)| old == new || (!old.is_dynamic() && old.most == new.most);
        if *self.spec(of) == output && self.dims(of).iter().zip(dims).all(same) {
            return Ok(of);
        }
        let sizes = self.sizes_for_view(dims)?;
        self.call("view.default", vec![Argument::Value(of), sizes], output)
    }

    /// Broadcasts a value to `dims`: expands dimensions of size 1, and adds leading dimensions.
    pub fn expand_as(&mut self, of: ValueId, dims: &[Dim]) -> Result<ValueId, Reason> {
        let output = Dim::spec(self.spec(of).scalar_type, dims);
        if *self.spec(of) == output && !output.is_dynamic() {
            return Ok(of);
        }
        let sizes = self.sizes_argument(dims)?;
        self.call("expand.default", vec![Argument::Value(of), sizes, Argument::Bool(false)], output)
    }

    /// Reshapes a value to the shape of `like`. The dynamic dimensions of `like` are dynamic dimensions of `of`, in
    /// order, except for at most a single computed size.
    pub fn view_like(&mut self, of: ValueId, like: &TensorSpec) -> Result<ValueId, Reason> {
        let dims = self.matched(of, like);
        self.view_as(of, &dims)
    }

    /// The sizes of `like`; each dynamic size is the next dimension of `of` with the same bounds.
    fn matched(&self, of: ValueId, like: &TensorSpec) -> Vec<Dim> {
        let known = self.dims(of);
        let mut rest = known.iter();
        Dim::of(like)
            .into_iter()
            .map(|dim| {
                let mut ahead = rest.clone();
                let same = |known: &&Dim| dim.is_dynamic() && (known.most, known.least) == (dim.most, dim.least);
                ahead.find(same).map_or(dim, |known| {
                    rest = ahead;
                    *known
                })
            })
            .collect()
    }

    /// Sizes as an argument.
    pub fn sizes_argument(&mut self, dims: &[Dim]) -> Result<Argument, Reason> {
        let sizes = dims.iter().map(|dim| self.size(*dim)).collect::<Option<_>>();
        sizes.map(Argument::sizes).ok_or(Reason::Dynamic)
    }

    /// Like [`Editor::sizes_argument`], with -1 for a computed size.
    fn sizes_for_view(&mut self, dims: &[Dim]) -> Result<Argument, Reason> {
        let follows = dims.iter().filter(|dim| dim.is_dynamic()).count() == 1;
        let mut free = true;
        let mut sizes = Vec::new();
        for dim in dims {
            let from_others = dim.is_dynamic() && (follows || dim.source.is_none());
            sizes.push(match from_others {
                true if std::mem::take(&mut free) => Size::Fixed(-1),
                true => return Err(Reason::Dynamic),
                false => self.size(*dim).ok_or(Reason::Dynamic)?,
            });
        }
        Ok(Argument::sizes(sizes))
    }

    /// The size, as a number of the graph if dynamic.
    pub fn size(&mut self, dim: Dim) -> Option<Size> {
        if !dim.is_dynamic() {
            return Some(Size::Fixed(i64::from(dim.most)));
        }
        let (of, index) = dim.source?;
        let arguments = vec![Argument::Value(of), Argument::Int(index as i64)];
        self.compute("aten.sym_size.int", arguments, (ScalarType::Long, dim)).ok().map(Size::Value)
    }

    /// The size as an argument: an integer, or a number of the graph.
    pub fn size_argument(&mut self, dim: Dim) -> Result<Argument, Reason> {
        match self.size(dim).ok_or(Reason::Dynamic)? {
            Size::Fixed(size) => Ok(Argument::Int(size)),
            Size::Value(number) => Ok(Argument::Value(number)),
        }
    }

    /// The product of sizes as an argument.
    pub fn product_argument(&mut self, dims: &[Dim]) -> Result<Argument, Reason> {
        let (mut product, mut whole) = (Argument::Int(1), Dim::from(1));
        for dim in dims {
            let size = self.size_argument(*dim)?;
            whole = Dim::product(&[whole, *dim]);
            product = match (product, size) {
                (Argument::Int(1), other) | (other, Argument::Int(1)) => other,
                (Argument::Int(left), Argument::Int(right)) => Argument::Int(left.saturating_mul(right)),
                (left, right) => {
                    let bounds = (ScalarType::Long, whole);
                    Argument::Value(self.compute("executorch_prim.mul.Scalar", vec![left, right], bounds)?)
                }
            };
        }
        Ok(product)
    }

    /// Sizes times positive factors, rounded down, as an argument. `scaled` has the bounds of the results.
    pub fn scaled_sizes(&mut self, dims: &[Dim], factors: &[f64], scaled: &[Dim]) -> Result<Argument, Reason> {
        let each = dims.iter().zip(factors).zip(scaled);
        let sizes = each.map(|((dim, factor), scaled)| self.scaled(*dim, *factor, *scaled));
        Ok(Argument::sizes(sizes.collect::<Result<_, _>>()?))
    }

    fn scaled(&mut self, dim: Dim, factor: f64, scaled: Dim) -> Result<Size, Reason> {
        if !scaled.is_dynamic() {
            return Ok(Size::Fixed(i64::from(scaled.most)));
        }
        let operands = vec![self.size_argument(dim)?, Argument::Float(factor)];
        let product = self.compute("executorch_prim.mul.Scalar", operands, (ScalarType::Double, scaled))?;
        let operands = vec![Argument::Value(product)];
        Ok(Size::Value(self.compute("executorch_prim.trunc.Scalar", operands, (ScalarType::Long, scaled))?))
    }

    /// A number from numbers or tensors, with these bounds.
    fn compute(
        &mut self,
        name: &str,
        arguments: Vec<Argument>,
        (scalar_type, dim): (ScalarType, Dim),
    ) -> Result<ValueId, Reason> {
        let operator = OperatorName::parse(name).ok_or(Reason::Arguments)?;
        let range = Interval { least: i64::from(dim.least), most: i64::from(dim.most) };
        let name = format!("{}_size", self.name);
        let number = self.graph.add_number(&name, scalar_type, range, ValueKind::Computed);
        self.graph.nodes.push(Node { operator, arguments, outputs: vec![number] });
        Ok(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_are_aligned_at_the_last_dimensions() {
        let dims = |sizes: &[i32]| sizes.iter().copied().map(Dim::from).collect::<Vec<_>>();
        assert_eq!(Dim::broadcast(&dims(&[4, 1]), &dims(&[3])), Ok(dims(&[4, 3])));
        assert_eq!(Dim::broadcast(&dims(&[2]), &dims(&[3])), Err(Reason::Arguments));
        let dynamic = Dim { most: 8, least: 1, source: None };
        assert_eq!(Dim::broadcast(&dims(&[1]), &[dynamic]), Ok(vec![dynamic]));
    }

    #[test]
    fn equal_sizes_are_within_the_bounds_of_both() {
        let dim = |least, most| Dim { most, least, source: None };
        assert_eq!(Dim::broadcast(&[dim(1, 8)], &[dim(2, 9)]), Ok(vec![dim(2, 8)]));
        assert_eq!(Dim::broadcast(&[dim(1, 8)], &[Dim::from(4)]), Ok(vec![Dim::from(4)]));
        assert_eq!(Dim::broadcast(&[dim(2, 3)], &[dim(4, 5)]), Err(Reason::Arguments));
    }

    #[test]
    fn the_number_of_elements_of_a_dynamic_shape_has_both_bounds() {
        let dynamic = Dim { most: 8, least: 2, source: None };
        let count = Dim::product(&[dynamic, Dim::from(3), Dim::from(1)]);
        assert_eq!((count.least, count.most), (6, 24));
    }
}
