//! The values of a partition as expressions, and the kernels that store some of them.

mod binding;
mod split;
mod storing;

use std::collections::{HashMap, HashSet};

use et_core::ScalarType;
use etbuild_backend::{Refusal, RefusalKind, constant_of, floats};
use etbuild_ir::{Argument, ConstantData, IdMap, Links, ValueId, ValueKind};

use crate::emitter::Scope;
use crate::expr::{Expr, ExprId, Exprs, IndexOp, ProductId, TensorId};
use crate::kernel::Kernel;
use crate::product::{Attention, Producer, Product};
use crate::profile::Profile;
use crate::tensor::{Layout, Source, TEXEL, Tensor, dense_strides};
use crate::types::{Literal, Type};

/// The most tensors that a kernel reads.
const MOST_READS: usize = 8;

/// A partition under construction.
pub struct Builder<'g> {
    /// The nodes and values of the partition.
    pub links: &'g Links<'g>,
    /// The GPU.
    pub profile: Profile,
    /// The expressions of all values.
    pub exprs: Exprs,
    /// The stored tensors.
    pub tensors: Vec<Tensor>,
    /// The kernels in order.
    pub kernels: Vec<Kernel>,
    /// The weights, by their number.
    pub weights: Vec<Weights>,
    /// The products and attentions, by number.
    pub products: Vec<Producer>,
    /// The channel dimensions of values that are better stored in texels.
    pub sliced: IdMap<usize>,
    /// The first output of the node that is being lowered.
    pub current: Option<ValueId>,
    /// The results of the partition that are inputs, changed in place.
    pub written: HashSet<usize>,
    values: IdMap<ExprId>,
    /// Whether operands of unknown origin are inputs: a node is judged by itself.
    is_alone: bool,
    constants: HashMap<(ValueId, Layout), TensorId>,
}

/// Constants in the order of a layout.
#[derive(Clone, Debug)]
pub struct Weights {
    /// The name of the value.
    pub value: ValueId,
    /// The elements in the order of the value's spec.
    pub data: ConstantData,
    /// The tensor that holds them.
    pub tensor: Tensor,
}

impl<'g> Builder<'g> {
    /// A partition without kernels.
    pub fn new(links: &'g Links<'g>, profile: Profile, sliced: IdMap<usize>) -> Self {
        let mut builder = Self { sliced, ..Self::empty(links, profile, false) };
        for (position, id) in links.graph.inputs.iter().enumerate() {
            let load = builder.argument(*id, Source::Input(position));
            builder.values.insert(*id, load);
        }
        builder
    }

    /// A partition of one node, whose operands are inputs.
    pub fn for_node(links: &'g Links<'g>, profile: Profile) -> Self {
        Self::empty(links, profile, true)
    }

    fn empty(links: &'g Links<'g>, profile: Profile, is_alone: bool) -> Self {
        Self {
            links,
            profile,
            exprs: Exprs::default(),
            tensors: Vec::new(),
            kernels: Vec::new(),
            weights: Vec::new(),
            products: Vec::new(),
            sliced: IdMap::default(),
            current: None,
            written: HashSet::new(),
            values: IdMap::default(),
            is_alone,
            constants: HashMap::new(),
        }
    }

    /// The expressions and the tensors of the partition.
    pub fn scope(&self) -> Scope<'_> {
        Scope { exprs: &self.exprs, tensors: &self.tensors, profile: self.profile }
    }

    /// Adds a product; returns the elements.
    pub fn product(&mut self, product: Product) -> ExprId {
        self.produced(Producer::Product(product))
    }

    /// Adds an attention; returns the elements. `attention` is told the product of query and key.
    pub fn attention(&mut self, attention: impl FnOnce(&mut Self, ExprId) -> Attention) -> ExprId {
        let id = ProductId(self.products.len() as u32);
        let product = self.exprs.add(Expr::Score(id), Type::Float);
        let attention = attention(self, product);
        self.produced(Producer::Attention(attention))
    }

    fn produced(&mut self, producer: Producer) -> ExprId {
        let id = ProductId(self.products.len() as u32);
        self.products.push(producer);
        self.exprs.add(Expr::Product(id), Type::Float)
    }

    /// The shape of a value.
    pub fn sizes(&self, id: ValueId) -> Vec<usize> {
        sizes_of(self.links, id)
    }

    /// The type that a value's elements are computed in.
    pub fn ty(&self, id: ValueId) -> Result<Type, Refusal> {
        let scalar_type = self.links.graph.spec(id).scalar_type;
        let ty = self.profile.type_of(scalar_type);
        let ty = ty.filter(|ty| match ty {
            Type::Double => self.profile.float64,
            Type::Long => self.profile.int64,
            Type::Float | Type::Int | Type::Bool => true,
        });
        ty.ok_or_else(|| Refusal::new(RefusalKind::Type, format!("the GPU does not compute in {}", scalar_type.name())))
    }

    /// The load of an argument's elements.
    fn argument(&mut self, id: ValueId, source: Source) -> ExprId {
        let spec = self.links.graph.spec(id);
        let (sizes, scalar_type) = (self.sizes(id), spec.scalar_type);
        let order = spec.dim_order.iter().map(|dim| usize::from(*dim));
        let last = sizes.len().wrapping_sub(1);
        let is_texel =
            matches!(scalar_type, ScalarType::Float | ScalarType::Half) && self.sliced.get(id) == Some(&last);
        let layout = match sizes.last() {
            // A buffer of whole texels is read by texels.
            Some(size) if is_texel && spec.is_contiguous() && size.is_multiple_of(TEXEL) => {
                Layout::texel_buffer(&sizes)
            }
            _ => Layout::Elements(dense_strides(&sizes, order)),
        };
        let tensor = self.add(Tensor { scalar_type, sizes, layout, source });
        self.load(tensor)
    }

    /// Adds a tensor.
    pub fn add(&mut self, tensor: Tensor) -> TensorId {
        self.tensors.push(tensor);
        TensorId(self.tensors.len() as u32 - 1)
    }

    /// The tensor.
    pub fn tensor(&self, id: TensorId) -> &Tensor {
        &self.tensors[id.0 as usize]
    }

    /// The elements of a tensor.
    pub fn load(&mut self, id: TensorId) -> ExprId {
        let ty = self.profile.type_of(self.tensor(id).scalar_type).unwrap_or(Type::Float);
        self.exprs.add(Expr::Load(id), ty)
    }

    /// The expression of a value.
    pub fn value(&mut self, id: ValueId) -> Result<ExprId, Refusal> {
        self.ty(id)?;
        if let Some(known) = self.values.get(id) {
            return Ok(*known);
        }
        let expr = self.constant(id)?;
        self.values.insert(id, expr);
        Ok(expr)
    }

    /// The expression of a constant.
    fn constant(&mut self, id: ValueId) -> Result<ExprId, Refusal> {
        let links = self.links;
        let missing = || Refusal::new(RefusalKind::Partition, "a value is read before it is computed");
        if !matches!(links.graph.value(id).kind, ValueKind::Constant { .. }) {
            return if self.is_alone { Ok(self.argument(id, Source::Input(0))) } else { Err(missing()) };
        }
        let spec = links.graph.spec(id);
        if let (true, Some(number)) = (spec.numel() == 1, single(links, id)) {
            let number = match number {
                Literal::Long(number) if self.profile.is_web() => {
                    Literal::Int(number.clamp(i32::MIN.into(), i32::MAX.into()) as i32)
                }
                number => number,
            };
            return Ok(self.exprs.literal(number));
        }
        if let Some(expr) = self.in_layers(id)? {
            return Ok(expr);
        }
        let (sizes, order) = (self.sizes(id), spec.dim_order.iter().map(|dim| usize::from(*dim)));
        let layout = Layout::Elements(dense_strides(&sizes, order));
        let tensor = self.weights(id, sizes, layout)?;
        Ok(self.load(tensor))
    }

    /// A matrix that exceeds a buffer, in the layers of an image: its rows are folded to `[layer, row]`.
    fn in_layers(&mut self, id: ValueId) -> Result<Option<ExprId>, Refusal> {
        let spec = self.links.graph.spec(id);
        let is_texel = matches!(spec.scalar_type, ScalarType::Float | ScalarType::Half) && spec.is_contiguous();
        let [rows, columns] = self.sizes(id)[..] else { return Ok(None) };
        if !is_texel || spec.nbytes() <= self.profile.buffer || !columns.is_multiple_of(TEXEL) {
            return Ok(None);
        }
        let height = (1..=self.profile.texels.side).rev().find(|height| rows.is_multiple_of(*height)).unwrap_or(1);
        let sizes = vec![rows / height, height, columns];
        let layout = Layout::texels(&sizes, 2, self.profile.texels);
        let tensor = self.weights(id, sizes, layout)?;
        let load = self.load(tensor);
        let [row, column] = [0, 1].map(|dim| self.exprs.coordinate(dim));
        let height = self.exprs.int(height);
        let place = [IndexOp::Div, IndexOp::Rem].map(|op| self.exprs.index(op, row, height));
        Ok(Some(self.exprs.at(load, &[place[0], place[1], column])))
    }

    /// A constant as a tensor of a shape with as many elements, in a layout.
    pub fn weights(&mut self, value: ValueId, sizes: Vec<usize>, layout: Layout) -> Result<TensorId, Refusal> {
        let key = (value, layout.clone());
        if let Some(known) = self.constants.get(&key) {
            return Ok(*known);
        }
        let links = self.links;
        let data = constant_of(links, value);
        let data = data.ok_or_else(|| Refusal::new(RefusalKind::Constant, "the weights are computed"))?;
        let source = Source::Weights(self.weights.len());
        let tensor = Tensor { scalar_type: links.graph.spec(value).scalar_type, sizes, layout, source };
        check_size(&tensor, self.profile)?;
        self.weights.push(Weights { value, data, tensor: tensor.clone() });
        let tensor = self.add(tensor);
        self.constants.insert(key, tensor);
        Ok(tensor)
    }

    /// An element-wise expression of values and numbers, broadcast to the shape of the output. Of two products, the first is stored.
    pub fn operands(&mut self, ids: &[ValueId], sizes: &[usize]) -> Result<Vec<ExprId>, Refusal> {
        let mut has_product = false;
        let mut exprs = Vec::new();
        for id in ids.iter().rev() {
            let own = self.sizes(*id);
            let mut expr = if own == sizes { self.value(*id)? } else { self.repeated(*id)? };
            if !self.reads(expr).1.is_empty() {
                if has_product {
                    self.stored(*id)?;
                    expr = self.value(*id)?;
                }
                has_product = true;
            }
            exprs.push(self.broadcast(expr, &own, sizes));
        }
        exprs.reverse();
        Ok(exprs)
    }

    /// An expression of a shape, broadcast to another one.
    pub fn broadcast(&mut self, expr: ExprId, from: &[usize], to: &[usize]) -> ExprId {
        if from == to {
            return expr;
        }
        let at = self.exprs.coordinates(to.len());
        self.exprs.broadcast(expr, from, &at)
    }

    /// A tensor or number argument, broadcast to a shape, as a type.
    pub fn argument_as(&mut self, argument: &Argument, sizes: &[usize], ty: Type) -> Result<ExprId, Refusal> {
        let expr = match argument {
            Argument::Value(id) => self.operands(&[*id], sizes)?[0],
            Argument::Int(number) => self.exprs.literal(match ty {
                Type::Long => Literal::Long(*number),
                _ => Literal::new(*number as f64, ty),
            }),
            Argument::Float(number) => self.exprs.number(*number, ty),
            Argument::Bool(flag) => self.exprs.number(f64::from(u8::from(*flag)), ty),
            _ => return Err(Refusal::new(RefusalKind::Argument, "an operand is neither a tensor nor a number")),
        };
        Ok(self.exprs.cast(expr, ty))
    }
}

/// Refuses a tensor that exceeds a buffer.
fn check_size(tensor: &Tensor, profile: Profile) -> Result<(), Refusal> {
    if tensor.is_image() || tensor.bytes() <= profile.buffer as u64 {
        return Ok(());
    }
    let most = profile.buffer >> 20;
    Err(Refusal::new(
        RefusalKind::Shape,
        format!("a tensor exceeds {most} MiB, the largest buffer of the target's GPU"),
    ))
}

/// The shape of a value.
pub fn sizes_of(links: &Links<'_>, id: ValueId) -> Vec<usize> {
    links.graph.spec(id).sizes.iter().map(|size| usize::try_from(*size).unwrap_or(0)).collect()
}

/// A constant of one element.
fn single(links: &Links<'_>, id: ValueId) -> Option<Literal> {
    let bytes = links.graph.constant(id)?.bytes();
    let ty = Type::of(links.graph.spec(id).scalar_type)?;
    match links.graph.spec(id).scalar_type {
        ScalarType::Float | ScalarType::Double => {
            Some(Literal::new(f64::from(*floats(links, id)?.first()?), ty)).filter(|_| ty == Type::Float)
        }
        ScalarType::Long => Some(Literal::Long(i64::from_le_bytes(bytes.first_chunk().copied()?))),
        ScalarType::Int => Some(Literal::Int(i32::from_le_bytes(bytes.first_chunk().copied()?))),
        ScalarType::Bool => Some(Literal::Bool(*bytes.first()? != 0)),
        _ => None,
    }
}
