//! Products of vectors and matrices in terms of `mm`, `addmm` and `bmm`.

use et_core::ScalarType;
use etbuild_ir::{Argument, ValueId};

use crate::Reason;
use crate::edit::{Call, Dim, Editor, Rewritten};

/// `mv(self, vec)` and `dot(self, tensor)`: as `matmul`.
pub fn with_vector(editor: &mut Editor, call: &Call) -> Rewritten {
    Ok(vec![editor.call("matmul.default", call.arguments.clone(), call.output()?)?])
}

/// `addmv(self, mat, vec, beta, alpha)`: `addmm` of columns.
pub fn add_with_vector(editor: &mut Editor, call: &Call) -> Rewritten {
    let (bias, matrix, vector, output) = (call.value(0)?, call.value(1)?, call.value(2)?, call.output()?);
    let ([rows, _], [depth]) = (&editor.dims(matrix)[..], &editor.dims(vector)[..]) else {
        return Err(Reason::Arguments);
    };
    let bias_rows = Dim::product(&editor.dims(bias));
    let bias = editor.view_as(bias, &[bias_rows, 1.into()])?;
    let vector = editor.view_as(vector, &[*depth, 1.into()])?;
    let operands = [bias, matrix, vector].map(Argument::Value).into_iter();
    let arguments = operands.chain([call.argument(3)?.clone(), call.argument(4)?.clone()]).collect();
    let made = editor.call("addmm.default", arguments, Dim::spec(output.scalar_type, &[*rows, 1.into()]))?;
    Ok(vec![editor.view_as(made, &[*rows])?])
}

/// `baddbmm(self, batch1, batch2, beta, alpha)`: `beta * self + alpha * batch1 @ batch2`; `self` is not read if `beta` is 0.
pub fn add_batch(editor: &mut Editor, call: &Call) -> Rewritten {
    let output = call.output()?;
    let arguments = vec![call.argument(1)?.clone(), call.argument(2)?.clone()];
    let product = editor.call("bmm.default", arguments, output)?;
    added(editor, call, product)
}

/// `addbmm(self, batch1, batch2, beta, alpha)`: as `baddbmm`, with the sum over the batch.
pub fn add_sum_of_batch(editor: &mut Editor, call: &Call) -> Rewritten {
    let (left, right, output) = (call.value(1)?, call.value(2)?, call.output()?);
    let batch = editor.dims(left).first().copied().ok_or(Reason::Arguments)?;
    let sizes = [vec![batch], Dim::of(&output)].concat();
    let arguments = [left, right].map(Argument::Value).to_vec();
    let products = editor.call("bmm.default", arguments, Dim::spec(output.scalar_type, &sizes))?;
    let sum = editor.sum(products, &[0], false)?;
    added(editor, call, sum)
}

/// `addmm(self, mat1, mat2, beta, alpha)` of complex matrices, as `baddbmm`; of real matrices a kernel.
pub fn add_complex(editor: &mut Editor, call: &Call) -> Rewritten {
    let output = call.output()?;
    if !output.scalar_type.is_complex() {
        return Ok(editor.keep(call.clone()));
    }
    let arguments = vec![call.argument(1)?.clone(), call.argument(2)?.clone()];
    let product = editor.call("mm.default", arguments, output)?;
    added(editor, call, product)
}

/// `addr(self, vec1, vec2, beta, alpha)`: `beta * self + alpha * outer(vec1, vec2)`.
pub fn add_outer(editor: &mut Editor, call: &Call) -> Rewritten {
    let output = call.output()?;
    let pair =
        [editor.convert(call.value(1)?, output.scalar_type)?, editor.convert(call.value(2)?, output.scalar_type)?];
    let product = editor.call("outer.default", pair.map(Argument::Value).to_vec(), output)?;
    added(editor, call, product)
}

/// `beta * self + alpha * product`, with `beta` and `alpha` as arguments 3 and 4; `self` is not read if `beta` is 0.
fn added(editor: &mut Editor, call: &Call, product: ValueId) -> Rewritten {
    let product = scaled(editor, product, call.argument(4)?)?;
    if call.number(3)? == 0.0 {
        return Ok(vec![product]);
    }
    let bias = editor.convert(call.value(0)?, call.output()?.scalar_type)?;
    let bias = scaled(editor, bias, call.argument(3)?)?;
    Ok(vec![editor.pair("add", bias, product)?])
}

/// Integers take the whole part of a factor, like PyTorch's.
fn scaled(editor: &mut Editor, of: ValueId, factor: &Argument) -> Result<ValueId, Reason> {
    let scalar_type = editor.spec(of).scalar_type;
    let factor = match factor {
        Argument::Float(number) if scalar_type.is_integer() => Argument::Int(*number as i64),
        Argument::Int(number) if scalar_type == ScalarType::Bool => Argument::Bool(*number != 0),
        Argument::Float(number) if scalar_type == ScalarType::Bool => Argument::Bool(*number != 0.0),
        factor => factor.clone(),
    };
    match factor {
        Argument::Int(1) | Argument::Bool(true) => Ok(of),
        Argument::Float(1.0) => Ok(of),
        factor => editor.map("mul.Scalar", of, vec![factor]),
    }
}

/// `tensordot(self, other, dims_self, dims_other)`.
pub fn over_dims(editor: &mut Editor, call: &Call) -> Rewritten {
    let (mut left, mut right, output) = (call.value(0)?, call.value(1)?, call.output()?);
    let dims = |editor: &Editor, index: usize, value| match call.ints(index)? {
        [] => Ok(Vec::new()),
        _ => call.dims(index, editor.spec(value).rank()),
    };
    let (inner_left, inner_right) = (dims(editor, 2, left)?, dims(editor, 3, right)?);
    // A dimension of size 1 stands for equal elements along the dimension of the other operand.
    for (one, other) in inner_left.iter().zip(&inner_right) {
        let sizes = [editor.dims(left).get(*one).copied(), editor.dims(right).get(*other).copied()];
        match sizes.map(|size| size.is_some_and(|size| (size.most, size.least) == (1, 1))) {
            [true, false] => right = editor.sum(right, &[*other], true)?,
            [false, true] => left = editor.sum(left, &[*one], true)?,
            _ => {}
        }
    }
    let rest = |rank: usize, inner: &[usize]| (0..rank).filter(|dim| !inner.contains(dim)).collect::<Vec<_>>();
    let outer_left = rest(editor.spec(left).rank(), &inner_left);
    let outer_right = rest(editor.spec(right).rank(), &inner_right);
    let depth = Dim::product(&some(editor, left, &inner_left)?);
    let (rows, columns) = (some(editor, left, &outer_left)?, some(editor, right, &outer_right)?);
    let (height, width) = (Dim::product(&rows), Dim::product(&columns));
    let left = editor.permute(left, &[outer_left, inner_left].concat())?;
    let right = editor.permute(right, &[inner_right, outer_right].concat())?;
    let operands = [editor.view_as(left, &[height, depth])?, editor.view_as(right, &[depth, width])?];
    let product = Dim::spec(output.scalar_type, &[height, width]);
    let product = editor.call("mm.default", operands.map(Argument::Value).to_vec(), product)?;
    Ok(vec![editor.view_as(product, &[rows, columns].concat())?])
}

/// The sizes of some dimensions.
fn some(editor: &Editor, of: ValueId, wanted: &[usize]) -> Result<Vec<Dim>, Reason> {
    let dims = editor.dims(of);
    wanted.iter().map(|dim| dims.get(*dim).copied()).collect::<Option<_>>().ok_or(Reason::Arguments)
}

/// `bilinear(input1, input2, weight, bias)`: `input1 @ weight`, then the sum weighted by `input2`.
pub fn bilinear(editor: &mut Editor, call: &Call) -> Rewritten {
    let (left, right, weight, output) = (call.value(0)?, call.value(1)?, call.value(2)?, call.output()?);
    let [features, first, second] = editor.dims(weight)[..] else { return Err(Reason::Arguments) };
    let mut dims = editor.dims(left);
    *dims.last_mut().ok_or(Reason::Arguments)? = features;
    let rows = Dim::product(dims.split_last().ok_or(Reason::Arguments)?.1);
    let (both, one) = (Dim::product(&[features, second]), Dim::from(1));
    let weight = editor.permute(weight, &[1, 0, 2])?;
    let weight = editor.view_as(weight, &[first, both])?;
    let left = editor.view_as(left, &[rows, first])?;
    let spec = Dim::spec(output.scalar_type, &[rows, both]);
    let product = editor.call("mm.default", [left, weight].map(Argument::Value).to_vec(), spec)?;
    let product = editor.view_as(product, &[rows, features, second])?;
    let right = editor.view_as(right, &[rows, second, one])?;
    let spec = Dim::spec(output.scalar_type, &[rows, features, one]);
    let product = editor.call("bmm.default", [product, right].map(Argument::Value).to_vec(), spec)?;
    let product = editor.view_as(product, &dims)?;
    match call.optional_value(3)? {
        Some(bias) => Ok(vec![editor.pair("add", product, bias)?]),
        None => Ok(vec![product]),
    }
}

/// `inner(self, other)`: products over the last dimensions.
pub fn inner(editor: &mut Editor, call: &Call) -> Rewritten {
    let (left, right, output) = (call.value(0)?, call.value(1)?, call.output()?);
    let [left_rank, right_rank] = [left, right].map(|value| editor.spec(value).rank());
    if left_rank == 0 || right_rank == 0 {
        return Ok(vec![editor.pair("mul", left, right)?]);
    }
    let last = |rank: usize| Argument::Ints(vec![rank as i64 - 1]);
    let arguments = vec![Argument::Value(left), Argument::Value(right), last(left_rank), last(right_rank)];
    Ok(vec![editor.call("tensordot.default", arguments, output)?])
}

/// `linalg_vecdot(self, other, dim)` of real vectors.
pub fn vector_products(editor: &mut Editor, call: &Call) -> Rewritten {
    let product = editor.pair("mul", call.value(0)?, call.value(1)?)?;
    let dim = call.dim(2, editor.spec(product).rank())?;
    Ok(vec![editor.sum(product, &[dim], false)?])
}

/// `linalg_multi_dot(tensors)`: products from left to right.
pub fn chain(editor: &mut Editor, call: &Call) -> Rewritten {
    let mut factors = call.values(0)?.into_iter();
    let first = factors.next().ok_or(Reason::Arguments)?;
    let product = factors.try_fold(first, |left, right| {
        let (rows, columns) = (editor.dims(left), editor.dims(right));
        let kept = rows[..rows.len().saturating_sub(1)].iter().chain(columns.iter().skip(1)).copied();
        let output = Dim::spec(editor.spec(left).scalar_type, &kept.collect::<Vec<_>>());
        editor.call("matmul.default", vec![Argument::Value(left), Argument::Value(right)], output)
    })?;
    Ok(vec![product])
}

/// `_grouped_mm(self, mat2, offs, bias, out_dtype)`: without ends of groups a product per group.
pub fn grouped(editor: &mut Editor, call: &Call) -> Rewritten {
    let (left, right, output) = (call.value(0)?, call.value(1)?, call.output()?);
    if call.optional_value(3)?.is_some() {
        return Err(Reason::Unsupported("`_grouped_mm` with a bias"));
    }
    if output.scalar_type != editor.spec(left).scalar_type {
        return Err(Reason::Unsupported("`_grouped_mm` with an output of another type"));
    }
    if call.optional_value(2)?.is_none() {
        return Ok(vec![editor.call("bmm.default", [left, right].map(Argument::Value).to_vec(), output)?]);
    }
    Ok(editor.keep(call.clone()))
}
