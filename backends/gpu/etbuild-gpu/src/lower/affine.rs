//! Quantization by blocks (torchao): a scale and a zero point for each block of elements.

use etbuild_backend::{Call, Refusal, RefusalKind};
use etbuild_ir::{Argument, ValueId};

use crate::builder::Builder;
use crate::expr::{ExprId, Fold, IndexOp};
use crate::tensor::dense_strides;
use crate::types::{Literal, Type};

use super::view::unraveled;
use super::{Done, no_arguments};

/// The blocks of a tensor.
struct Blocks {
    /// The shape of the tensor, and of a block.
    sizes: Vec<usize>,
    block: Vec<usize>,
}

impl Blocks {
    fn of(call: &Call<'_>, input: ValueId, position: usize) -> Result<Self, Refusal> {
        let sizes = call.sizes(input);
        let block: Option<Vec<usize>> =
            call.ints(position)?.iter().map(|size| usize::try_from(*size).ok().filter(|size| *size > 0)).collect();
        let block = block.filter(|block| {
            block.len() == sizes.len() && sizes.iter().zip(block).all(|(size, block)| size.is_multiple_of(*block))
        });
        Ok(Self { sizes, block: block.ok_or_else(no_arguments)? })
    }

    /// The number of blocks along each dimension.
    fn counts(&self) -> Vec<usize> {
        self.sizes.iter().zip(&self.block).map(|(size, block)| size / block).collect()
    }

    /// A scale or zero point of the block of each element.
    fn parameter(&self, builder: &mut Builder<'_>, id: ValueId) -> Result<ExprId, Refusal> {
        let sizes = builder.sizes(id);
        let source = builder.repeated(id)?;
        let source = builder.exprs.cast(source, Type::Float);
        let at: Vec<ExprId> = (0..self.sizes.len())
            .map(|dim| {
                let (coordinate, block) = (builder.exprs.coordinate(dim), builder.exprs.int(self.block[dim]));
                match self.sizes[dim] == self.block[dim] {
                    true => builder.exprs.int(0),
                    false => builder.exprs.index(IndexOp::Div, coordinate, block),
                }
            })
            .collect();
        let counts = self.counts();
        if sizes == counts {
            return Ok(builder.exprs.at(source, &at));
        }
        let number = builder.exprs.linear(&at, &dense_strides(&counts, 0..counts.len()), 0);
        let at = unraveled(&mut builder.exprs, number, &sizes);
        Ok(builder.exprs.at(source, &at))
    }

    /// The zero point of the block of each element; 0 for none.
    fn zero_point(&self, builder: &mut Builder<'_>, call: &Call<'_>, position: usize) -> Result<ExprId, Refusal> {
        match call.optional_value(position)? {
            Some(id) => self.parameter(builder, id),
            None => Ok(builder.exprs.number(0.0, Type::Float)),
        }
    }
}

/// The least and the greatest integer: arguments, or those of the type.
fn range(call: &Call<'_>, position: usize, bits: [i64; 2]) -> Result<[i64; 2], Refusal> {
    Ok([call.int(position)?.unwrap_or(bits[0]), call.int(position + 1)?.unwrap_or(bits[1])])
}

/// `clamp(round(x / scale) + zero point)`.
pub fn quantize(builder: &mut Builder<'_>, call: Call<'_>) -> Done {
    let (input, output) = (call.value(0)?, call.output()?);
    let blocks = Blocks::of(&call, input, 1)?;
    let source = builder.value(input)?;
    let source = builder.exprs.cast(source, Type::Float);
    let scale = blocks.parameter(builder, call.value(2)?)?;
    let zero = blocks.zero_point(builder, &call, 3)?;
    let limits = range(&call, 5, [-128, 127])?;
    let limits = limits.map(|limit| builder.exprs.literal(Literal::Int(limit.clamp(-(1 << 30), 1 << 30) as i32)));
    let template = "clamp(i32(round_f32(clamp({0} * (1.0f / {1}), -1.0e9f, 1.0e9f)) + {2}), {3}, {4})";
    let expr = builder.exprs.apply(template, &[source, scale, zero, limits[0], limits[1]], Type::Int);
    builder.set(output, expr)
}

/// `(x - zero point) * scale`.
pub fn dequantize(builder: &mut Builder<'_>, call: Call<'_>) -> Done {
    let (input, output) = (call.value(0)?, call.output()?);
    let blocks = Blocks::of(&call, input, 1)?;
    let source = builder.value(input)?;
    let scale = blocks.parameter(builder, call.value(2)?)?;
    let expr = match call.optional_value(3)? {
        None => builder.exprs.apply("(f32({0}) * {1})", &[source, scale], Type::Float),
        Some(zero) => {
            let zero = blocks.parameter(builder, zero)?;
            builder.exprs.apply("((f32({0}) - {2}) * {1})", &[source, scale, zero], Type::Float)
        }
    };
    builder.set(output, expr)
}

/// The scale and the zero point of each block, from its extremes and 0.
pub fn choose(builder: &mut Builder<'_>, call: Call<'_>) -> Done {
    let input = call.value(0)?;
    let blocks = Blocks::of(&call, input, 2)?;
    let Some(Argument::Text(mapping)) = call.node.arguments.get(1) else { return Err(no_arguments()) };
    let [least, most] = range(&call, 4, [-128, 127])?;
    let eps = call.number(6)?.unwrap_or(f64::from(f32::MIN_POSITIVE));
    let source = builder.repeated(input)?;
    let source = builder.exprs.cast(source, Type::Float);
    let [lowest, highest] = [Fold::Min, Fold::Max].map(|fold| blocks.over(builder, fold, source));
    let zero = builder.exprs.number(0.0, Type::Float);
    let lowest = builder.exprs.apply("min_f32({0}, {1})", &[lowest, zero], Type::Float);
    let highest = builder.exprs.apply("max_f32({0}, {1})", &[highest, zero], Type::Float);
    let steps = builder.exprs.number((most - least) as f64, Type::Float);
    let ends = [least, most].map(|end| builder.exprs.number(end as f64, Type::Float));
    let parts = [lowest, highest, steps, ends[0], ends[1]];
    let length = match mapping.as_str() {
        "ASYMMETRIC" => builder.exprs.apply("(({1} - {0}) / {2})", &parts, Type::Float),
        "SYMMETRIC" => builder.exprs.apply("(max_f32(-{0}, {1}) / ({2} / 2.0f))", &parts, Type::Float),
        _ => return Err(Refusal::new(RefusalKind::Argument, "the mapping is neither symmetric nor asymmetric")),
    };
    let eps = builder.exprs.number(eps, Type::Float);
    let scale = builder.exprs.apply("max_f32({0}, {1})", &[length, eps], Type::Float);
    let zero_point = if mapping == "ASYMMETRIC" {
        let parts = [lowest, scale, ends[0], ends[1]];
        let template = "i32(clamp({2} - round_f32({0} / {1}), {2}, {3}))";
        builder.exprs.apply(template, &parts, Type::Int)
    } else {
        builder.exprs.literal(Literal::Int(((least + most + 1) / 2) as i32))
    };
    for (output, expr) in call.node.outputs.iter().zip([scale, zero_point]) {
        let counts = blocks.counts();
        let at = if call.sizes(*output) == counts {
            builder.exprs.coordinates(counts.len())
        } else {
            let sizes = call.sizes(*output);
            let all = builder.exprs.coordinates(sizes.len());
            let number = builder.exprs.linear(&all, &dense_strides(&sizes, 0..sizes.len()), 0);
            unraveled(&mut builder.exprs, number, &counts)
        };
        let expr = builder.exprs.at(expr, &at);
        builder.set(*output, expr)?;
    }
    Ok(())
}

impl Blocks {
    /// A fold over the elements of a block, at the coordinates of the blocks.
    fn over(&self, builder: &mut Builder<'_>, fold: Fold, source: ExprId) -> ExprId {
        let rank = self.sizes.len();
        let folded: Vec<usize> = (0..rank).filter(|dim| self.block[*dim] > 1).collect();
        let at: Vec<ExprId> = (0..rank)
            .map(|dim| {
                let outer = builder.exprs.coordinate(dim);
                let Some(position) = folded.iter().position(|other| *other == dim) else { return outer };
                let inner = builder.exprs.coordinate(rank + position);
                builder.exprs.linear(&[outer, inner], &[self.block[dim], 1], 0)
            })
            .collect();
        let body = builder.exprs.at(source, &at);
        let extents: Vec<usize> = folded.iter().map(|dim| self.block[*dim]).collect();
        builder.exprs.fold(fold, rank, &extents, body)
    }
}
