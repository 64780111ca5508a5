//! Matrix products and convolutions: a product kernel where operands fit texels, a fold otherwise.

use et_core::ScalarType;
use etbuild_backend::{Call, Refusal, RefusalKind};
use etbuild_ir::ValueId;

use crate::builder::Builder;
use crate::expr::{Expr, ExprId, Fold, IndexOp};
use crate::product::{Limits, Product, RightTexel};
use crate::tensor::Tensor;
use crate::types::{Literal, Type};

use super::pool::by_dim;
use super::{Done, no_arguments};

/// A matrix operand: its value, and whether rows and columns are exchanged.
#[derive(Clone, Copy)]
struct Matrix {
    id: ValueId,
    is_transposed: bool,
}

/// `left x right` at the coordinates of the result: `[batch..., row, column]`.
fn product(builder: &mut Builder<'_>, call: &Call<'_>, left: ValueId, right: Matrix) -> Result<ExprId, Refusal> {
    let sizes = call.output_sizes()?;
    let (rank, ty) = (sizes.len(), builder.ty(call.output()?)?);
    let inner = *call.sizes(left).last().ok_or_else(no_arguments)?;
    let [column, further] = [rank - 1, rank].map(|dim| builder.exprs.coordinate(dim));
    let batch = call.sizes(right.id).len() - 2;
    let mut left_at = builder.exprs.coordinates(rank);
    left_at[rank - 1] = further;
    let mut right_at = builder.exprs.coordinates(batch);
    right_at.extend(if right.is_transposed { [column, further] } else { [further, column] });
    let is_product = ty == Type::Float && inner >= LEAST_INNER && is_single(call, left) && is_single(call, right.id);
    if !is_product {
        let operands = [builder.repeated(left)?, builder.repeated(right.id)?].map(|expr| builder.exprs.cast(expr, ty));
        let operands = [builder.exprs.at(operands[0], &left_at), builder.exprs.at(operands[1], &right_at)];
        let body = builder.exprs.apply("({0} * {1})", &operands, ty);
        return Ok(builder.exprs.fold(Fold::Sum, rank, &[inner], body));
    }
    let left = sliced(builder, left, call.sizes(left).len() - 1)?;
    let inner_dim = if right.is_transposed { batch + 1 } else { batch };
    let mut right_expr = builder.value(right.id)?;
    let is_packed = inner_dim + 1 == call.sizes(right.id).len() && builder.is_packed(right_expr, inner_dim);
    if !is_packed {
        right_expr = builder.repeated(right.id)?;
    }
    let right_texel = match builder.sliced_dim(right_expr) {
        _ if is_packed => RightTexel::Inner,
        Some(dim) if dim == inner_dim => RightTexel::Inner,
        Some(dim) if dim == 2 * batch + 1 - inner_dim => RightTexel::Columns,
        _ => {
            right_expr = sliced(builder, right.id, inner_dim)?;
            RightTexel::Inner
        }
    };
    let product = Product {
        rows: (batch..rank - 1).collect(),
        batch: (0..batch).collect(),
        column: rank - 1,
        group: sizes[rank - 1],
        positions: Vec::new(),
        limits: Limits::default(),
        inner,
        left: builder.exprs.at(left, &left_at),
        is_inside: None,
        right: builder.exprs.at(right_expr, &right_at),
        right_texel,
        sizes,
    };
    builder.product_in_parts(product)
}

/// With a shorter inner dimension, a product is a fold.
const LEAST_INNER: usize = 8;

/// Whether a value is of single or half precision.
pub fn is_single(call: &Call<'_>, id: ValueId) -> bool {
    matches!(call.graph.spec(id).scalar_type, ScalarType::Float | ScalarType::Half)
}

/// A value in texels along a dimension: the value itself, or a copy.
pub fn sliced(builder: &mut Builder<'_>, id: ValueId, dim: usize) -> Result<ExprId, Refusal> {
    // Weights are packed at build time, and not stored before.
    let expr = if builder.is_constant(id) { builder.value(id)? } else { builder.repeated(id)? };
    if builder.sliced_dim(expr) == Some(dim) {
        return Ok(expr);
    }
    let tensor = builder.texels(id, dim)?;
    Ok(builder.load(tensor))
}

/// `x W^T + b`.
pub fn linear(builder: &mut Builder<'_>, call: Call<'_>) -> Done {
    let rank = call.output_sizes()?.len();
    if call.sizes(call.value(1)?).len() != 2 {
        return Err(Refusal::new(RefusalKind::Shape, "the weights are no matrix"));
    }
    let right = Matrix { id: call.value(1)?, is_transposed: true };
    let mut expr = product(builder, &call, call.value(0)?, right)?;
    if let Some(bias) = call.optional_value(2)? {
        let bias = builder.repeated(bias)?;
        let column = builder.exprs.coordinate(rank - 1);
        let bias = builder.exprs.at(bias, &[column]);
        let ty = builder.exprs.ty(expr);
        expr = builder.exprs.apply("({0} + {1})", &[expr, bias], ty);
    }
    builder.set(call.output()?, expr)
}

/// A GEMM, or a batch of them.
pub fn matmul(builder: &mut Builder<'_>, call: Call<'_>) -> Done {
    let right = Matrix { id: call.value(1)?, is_transposed: false };
    let expr = product(builder, &call, call.value(0)?, right)?;
    builder.set(call.output()?, expr)
}

/// `beta * bias + alpha * (left x right)`.
pub fn addmm(builder: &mut Builder<'_>, call: Call<'_>) -> Done {
    let right = Matrix { id: call.value(2)?, is_transposed: false };
    let (sizes, ty) = (call.output_sizes()?, builder.ty(call.output()?)?);
    let mut product = product(builder, &call, call.value(1)?, right)?;
    let mut bias = builder.operands(&[call.value(0)?], &sizes)?[0];
    for (expr, position) in [(&mut bias, 3), (&mut product, 4)] {
        let factor = call.number(position)?.unwrap_or(1.0);
        if factor != 1.0 {
            let factor = builder.exprs.number(factor, ty);
            *expr = builder.exprs.apply("({0} * {1})", &[*expr, factor], ty);
        }
    }
    // A factor of 0 hides a bias that is not a number.
    let expr = match call.number(3)? {
        Some(0.0) => product,
        _ => builder.exprs.apply("({0} + {1})", &[bias, product], ty),
    };
    builder.set(call.output()?, expr)
}

/// A convolution, by spatial dimension.
struct Convolution {
    stride: Vec<usize>,
    padding: Vec<usize>,
    dilation: Vec<usize>,
    /// The sizes of the kernel.
    kernel: Vec<usize>,
    is_transposed: bool,
    groups: usize,
    /// Input and output channels of a group.
    channels: [usize; 2],
}

impl Convolution {
    fn of(call: &Call<'_>) -> Result<Self, Refusal> {
        let (sizes, weights, outputs) = (call.sizes(call.value(0)?), call.sizes(call.value(1)?), call.output_sizes()?);
        let spatial = weights.len().checked_sub(2).filter(|spatial| [sizes.len(), outputs.len()] == [spatial + 2; 2]);
        let spatial = spatial.ok_or_else(|| Refusal::new(RefusalKind::Shape, "the convolution has no batch"))?;
        let list = |position, absent| by_dim(call.ints(position)?, spatial, absent);
        let groups = usize::try_from(call.int(8)?.unwrap_or(1)).map_err(|_| no_arguments())?.max(1);
        Ok(Self {
            stride: list(3, 1)?,
            padding: list(4, 0)?,
            dilation: list(5, 1)?,
            kernel: weights[2..].to_vec(),
            is_transposed: call.flag(6)?,
            groups,
            channels: [sizes[1] / groups, outputs[1] / groups],
        })
    }

    /// The coordinate in the input along a spatial dimension, for coordinates in the output and in the kernel, and whether the
    /// input has it.
    fn place(&self, builder: &mut Builder<'_>, axis: usize, [outer, inner]: [ExprId; 2], size: usize) -> [ExprId; 2] {
        let numbers = [self.stride[axis], self.padding[axis], self.dilation[axis], size];
        let [stride, padding, dilation, size] =
            numbers.map(|number| builder.exprs.literal(Literal::Int(number as i32)));
        if self.is_transposed {
            let scaled = "({0} + {1} - {2} * {3})";
            let scaled = builder.exprs.apply(scaled, &[outer, padding, inner, dilation], Type::Int);
            let place = builder.exprs.apply("({0} / {1})", &[scaled, stride], Type::Int);
            let template = "({0} >= 0i && {0} % {1} == 0i && {2} < {3})";
            return [place, builder.exprs.apply(template, &[scaled, stride, place, size], Type::Bool)];
        }
        let template = "({0} * {1} + {2} * {3} - {4})";
        let place = builder.exprs.apply(template, &[outer, stride, inner, dilation, padding], Type::Int);
        [place, builder.exprs.apply("({0} >= 0i && {0} < {1})", &[place, size], Type::Bool)]
    }

    /// Whether a window can reach beyond the input.
    fn reaches_beyond(&self, sizes: &[usize], outputs: &[usize]) -> bool {
        let axes = 0..self.kernel.len();
        let fits = |axis: usize| {
            let last = (outputs[2 + axis] - 1) * self.stride[axis] + (self.kernel[axis] - 1) * self.dilation[axis];
            self.padding[axis] == 0 && last < sizes[2 + axis]
        };
        self.is_transposed || !axes.into_iter().all(fits)
    }

    /// The channel of the input for the output's and for one of the group.
    fn input_channel(&self, builder: &mut Builder<'_>, within: usize) -> ExprId {
        let [inputs, per_group] = self.channels;
        let [channel, within] = [1, within].map(|dim| builder.exprs.coordinate(dim));
        let size = builder.exprs.int(per_group);
        let group = builder.exprs.index(IndexOp::Div, channel, size);
        builder.exprs.linear(&[group, within], &[inputs, 1], 0)
    }

    /// The coordinates in the input at a channel, for kernel positions at the coordinates from `first` on; and whether the input has
    /// them, unless reads of the source are 0 elsewhere.
    fn window(
        &self,
        builder: &mut Builder<'_>,
        call: &Call<'_>,
        [source, channel]: [ExprId; 2],
        first: usize,
    ) -> Result<(Vec<ExprId>, Option<ExprId>), Refusal> {
        let (sizes, outputs) = (call.sizes(call.value(0)?), call.output_sizes()?);
        let is_bounded = |tensor: &Tensor| (2..sizes.len()).all(|dim| tensor.is_bounded(dim));
        let is_image = matches!(builder.exprs.get(source), Expr::Load(id) if is_bounded(builder.tensor(*id)));
        let reads_zero = is_image && builder.profile.clamps_to_zero && !self.is_transposed;
        let (mut at, mut conditions) = (vec![builder.exprs.coordinate(0), channel], Vec::new());
        for axis in 0..self.kernel.len() {
            let pair = [2 + axis, first + axis].map(|dim| builder.exprs.coordinate(dim));
            let [place, is_inside] = self.place(builder, axis, pair, sizes[2 + axis]);
            at.push(place);
            conditions.push(is_inside);
        }
        let is_inside = builder.exprs.all(conditions);
        Ok((at, is_inside.filter(|_| self.reaches_beyond(&sizes, &outputs) && !reads_zero)))
    }
}

/// A convolution with any number of spatial dimensions, or a transposed one.
pub fn convolution(builder: &mut Builder<'_>, call: Call<'_>) -> Done {
    let (input, weight, output) = (call.value(0)?, call.value(1)?, call.output()?);
    let (sizes, ty) = (call.sizes(input), builder.ty(output)?);
    let convolution = Convolution::of(&call)?;
    let [inputs, per_group] = convolution.channels;
    let is_plain = ty == Type::Float && is_single(&call, input) && is_single(&call, weight) && sizes.len() == 4;
    let is_product = is_plain
        && !convolution.is_transposed
        && (convolution.groups == 1 || (inputs.is_multiple_of(4) && per_group.is_multiple_of(8)));
    let expr = if is_product && inputs >= 3 {
        as_product(builder, &call, &convolution)?
    } else {
        let is_depthwise = is_plain && inputs == 1 && per_group == 1;
        as_fold(builder, &call, &convolution, is_depthwise)?
    };
    let channel = builder.exprs.coordinate(1);
    let expr = match call.optional_value(2)? {
        None => expr,
        Some(bias) => {
            let bias = builder.repeated(bias)?;
            let bias = builder.exprs.at(bias, &[channel]);
            builder.exprs.apply("({0} + {1})", &[expr, bias], ty)
        }
    };
    builder.set(output, expr)
}

/// A product over the input channels at each kernel position.
fn as_product(builder: &mut Builder<'_>, call: &Call<'_>, convolution: &Convolution) -> Result<ExprId, Refusal> {
    let input = call.value(0)?;
    let source = sliced(builder, input, 1)?;
    let weights = sliced(builder, call.value(1)?, 1)?;
    // Coordinates: batch, channel, y, x, kernel positions, input channel of the group.
    let channel = convolution.input_channel(builder, 6);
    let (mut at, is_inside) = convolution.window(builder, call, [source, channel], 4)?;
    if is_inside.is_some() {
        // The kernel reads before it checks.
        for (place, size) in at.iter_mut().zip(call.sizes(input)).skip(2) {
            let last = builder.exprs.int(size - 1);
            *place = builder.exprs.apply("clamp({0}, 0i, {1})", &[*place, last], Type::Int);
        }
    }
    let place = [1, 6, 4, 5].map(|dim| builder.exprs.coordinate(dim));
    let product = Product {
        sizes: call.output_sizes()?,
        rows: vec![0, 2, 3],
        batch: Vec::new(),
        column: 1,
        group: convolution.channels[1],
        positions: convolution.kernel.clone(),
        limits: Limits::default(),
        inner: convolution.channels[0],
        left: builder.exprs.at(source, &at),
        is_inside,
        right: builder.exprs.at(weights, &place),
        right_texel: RightTexel::Inner,
    };
    builder.product_in_parts(product)
}

/// A fold over the input channels of the group and the kernel positions.
fn as_fold(
    builder: &mut Builder<'_>,
    call: &Call<'_>,
    convolution: &Convolution,
    is_depthwise: bool,
) -> Result<ExprId, Refusal> {
    let (input, weight) = (call.value(0)?, call.value(1)?);
    let (rank, ty) = (call.sizes(input).len(), builder.ty(call.output()?)?);
    let operands = if is_depthwise {
        [sliced(builder, input, 1)?, sliced(builder, weight, 0)?]
    } else {
        [builder.repeated(input)?, builder.repeated(weight)?]
    };
    let [source, weights] = operands.map(|expr| builder.exprs.cast(expr, ty));
    // The further coordinates: the input channel of the group, then the kernel positions.
    let [channel, within] = [1, rank].map(|dim| builder.exprs.coordinate(dim));
    let from = if is_depthwise { channel } else { convolution.input_channel(builder, rank) };
    let (at, is_inside) = convolution.window(builder, call, [source, from], rank + 1)?;
    let element = builder.exprs.at(source, &at);
    let [inputs, per_group] = convolution.channels;
    let size = builder.exprs.int(per_group);
    let mut place = match convolution.is_transposed {
        true => vec![from, builder.exprs.index(IndexOp::Rem, channel, size)],
        false => vec![channel, within],
    };
    place.extend(builder.exprs.coordinates_of(rank + 1..rank + 1 + convolution.kernel.len()));
    let factor = builder.exprs.at(weights, &place);
    let part = builder.exprs.apply("({0} * {1})", &[element, factor], ty);
    let zero = builder.exprs.number(0.0, ty);
    let body = is_inside.map_or(part, |is_inside| builder.exprs.choose(is_inside, part, zero));
    let extents = [&[inputs], &convolution.kernel[..]].concat();
    Ok(builder.exprs.fold(Fold::Sum, rank, &extents, body))
}
