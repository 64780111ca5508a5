//! Resizing and sampling of feature maps.

use etbuild_backend::{Call, Refusal, RefusalKind};

use crate::builder::Builder;
use crate::expr::ExprId;
use crate::types::Type;

use super::{Done, no_arguments};

/// The ratio of input to output along a dimension: of stated scale factors, or of the sizes.
fn ratio(call: &Call<'_>, scales: Option<f64>, dim: usize) -> Result<f32, Refusal> {
    let (from, to) = (call.sizes(call.value(0)?), call.output_sizes()?);
    Ok(match scales {
        Some(scale) if scale > 0.0 => (1.0 / scale) as f32,
        _ => from[dim] as f32 / to[dim] as f32,
    })
}

/// The scale factors of the spatial dimensions: a list, or numbers from a position on.
fn scales(call: &Call<'_>, position: usize, spatial: usize) -> Vec<Option<f64>> {
    match call.node.arguments.get(position) {
        Some(etbuild_ir::Argument::Floats(scales)) => scales.iter().map(|scale| Some(*scale)).collect(),
        _ => (0..spatial).map(|axis| call.number(position + axis).ok().flatten()).collect(),
    }
}

/// The nearest element.
pub fn nearest(builder: &mut Builder<'_>, call: Call<'_>, spatial: usize) -> Done {
    let input = call.value(0)?;
    let sizes = call.sizes(input);
    let scales = scales(&call, 2, spatial);
    let source = builder.repeated(input)?;
    let mut coordinates = builder.exprs.coordinates(sizes.len());
    for axis in 0..spatial {
        let dim = sizes.len() - spatial + axis;
        let ratio =
            builder.exprs.number(f64::from(ratio(&call, scales.get(axis).copied().flatten(), dim)?), Type::Float);
        let last = builder.exprs.int(sizes[dim].saturating_sub(1));
        let template = "min(i32(floor(f32({0}) * {1})), {2})";
        coordinates[dim] = builder.exprs.apply(template, &[coordinates[dim], ratio, last], Type::Int);
    }
    let expr = builder.exprs.at(source, &coordinates);
    builder.set(call.output()?, expr)
}

/// Interpolation between the neighbours of each spatial dimension; the positions of `align_corners` and of the scale factors.
pub fn linear(builder: &mut Builder<'_>, call: Call<'_>, spatial: usize) -> Done {
    let input = call.value(0)?;
    let (sizes, outputs) = (call.sizes(input), call.output_sizes()?);
    let (aligns, scales) = (call.flag(2)?, scales(&call, 3, spatial));
    let source = builder.repeated(input)?;
    let source = builder.exprs.cast(source, Type::Float);
    let rank = sizes.len();
    let at = builder.exprs.coordinates(rank);
    // By axis: the position of the lower neighbour, of the upper one, and the weight of the upper one.
    let mut axes = Vec::new();
    for axis in 0..spatial {
        let dim = rank - spatial + axis;
        let real = match aligns {
            true => {
                let steps = outputs[dim].saturating_sub(1);
                let step = if steps == 0 { 0.0 } else { (sizes[dim] - 1) as f32 / steps as f32 };
                let step = builder.exprs.number(f64::from(step), Type::Float);
                builder.exprs.apply("(f32({0}) * {1})", &[at[dim], step], Type::Float)
            }
            false => {
                let ratio = ratio(&call, scales.get(axis).copied().flatten(), dim)?;
                let ratio = builder.exprs.number(f64::from(ratio), Type::Float);
                builder.exprs.apply("max((f32({0}) + 0.5f) * {1} - 0.5f, 0.0f)", &[at[dim], ratio], Type::Float)
            }
        };
        let last = builder.exprs.int(sizes[dim].saturating_sub(1));
        let lower = builder.exprs.apply("min(i32({0}), {1})", &[real, last], Type::Int);
        let upper = builder.exprs.apply("min({0} + 1i, {1})", &[lower, last], Type::Int);
        let weight = builder.exprs.apply("clamp({0} - f32({1}), 0.0f, 1.0f)", &[real, lower], Type::Float);
        axes.push((dim, lower, upper, weight));
    }
    let expr = corner(builder, source, &axes, at);
    builder.set(call.output()?, expr)
}

/// The interpolation along the first of the axes, of interpolations along the rest.
fn corner(
    builder: &mut Builder<'_>,
    source: ExprId,
    axes: &[(usize, ExprId, ExprId, ExprId)],
    at: Vec<ExprId>,
) -> ExprId {
    let Some(((dim, lower, upper, weight), rest)) = axes.split_first() else { return builder.exprs.at(source, &at) };
    let (mut low, mut high) = (at.clone(), at);
    (low[*dim], high[*dim]) = (*lower, *upper);
    let parts = [corner(builder, source, rest, low), corner(builder, source, rest, high), *weight];
    builder.exprs.apply("({0} * (1.0f - {2}) + {1} * {2})", &parts, Type::Float)
}

/// Sampling at the places of a grid: bilinear or nearest, with zeros or the border outside.
pub fn grid_sample(builder: &mut Builder<'_>, call: Call<'_>) -> Done {
    let (input, grid) = (call.value(0)?, call.value(1)?);
    let sizes = call.sizes(input);
    let (mode, padding, aligns) = (call.int(2)?.unwrap_or(0), call.int(3)?.unwrap_or(0), call.flag(4)?);
    if !matches!(mode, 0 | 1) || !matches!(padding, 0 | 1) {
        return Err(Refusal::new(RefusalKind::Argument, "the grid is sampled by bilinear or nearest neighbours only"));
    }
    let source = builder.repeated(input)?;
    let grid = builder.repeated(grid)?;
    let at = builder.exprs.coordinates(4);
    let mut reals = Vec::new();
    for (part, size) in [(1, sizes[2]), (0, sizes[3])] {
        let part = builder.exprs.int(part);
        let place = builder.exprs.at(grid, &[at[0], at[2], at[3], part]);
        let size = builder.exprs.number(size as f64, Type::Float);
        let template =
            if aligns { "(({0} + 1.0f) * 0.5f * ({1} - 1.0f))" } else { "((({0} + 1.0f) * {1} - 1.0f) * 0.5f)" };
        let real = builder.exprs.apply(template, &[place, size], Type::Float);
        reals.push(if padding == 1 {
            builder.exprs.apply("clamp({0}, 0.0f, {1} - 1.0f)", &[real, size], Type::Float)
        } else {
            real
        });
    }
    let corners: Vec<[&'static str; 2]> = match mode {
        1 => vec![["round_f32({0})", "1.0f"]],
        _ => vec![["floor({0})", "(1.0f - ({0} - floor({0})))"], ["(floor({0}) + 1.0f)", "({0} - floor({0}))"]],
    };
    let mut parts = Vec::new();
    for row in &corners {
        for column in &corners {
            let mut coordinates = at.clone();
            let (mut conditions, mut shares) = (Vec::new(), Vec::new());
            for (dim, real, [place, share]) in [(2, reals[0], row), (3, reals[1], column)] {
                let place = builder.exprs.apply(place, &[real], Type::Float);
                let size = builder.exprs.int(sizes[dim]);
                conditions.push(builder.exprs.apply("({0} >= 0.0f && {0} < f32({1}))", &[place, size], Type::Bool));
                coordinates[dim] = builder.exprs.apply("clamp(i32({0}), 0i, {1} - 1i)", &[place, size], Type::Int);
                shares.push(builder.exprs.apply(share, &[real], Type::Float));
            }
            let is_inside = builder.exprs.all(conditions).ok_or_else(no_arguments)?;
            let weight = builder.exprs.apply("({0} * {1})", &shares, Type::Float);
            let element = builder.exprs.at(source, &coordinates);
            let part = builder.exprs.apply("select(0.0f, {0} * {1}, {2})", &[element, weight, is_inside], Type::Float);
            parts.push(part);
        }
    }
    let sum = parts.into_iter().reduce(|sum, part| builder.exprs.apply("({0} + {1})", &[sum, part], Type::Float));
    builder.set(call.output()?, sum.ok_or_else(no_arguments)?)
}
