//! Systems of equations, inverses and determinants: LU and Cholesky factorizations, and triangular systems.

use et_core::ScalarType;
use etbuild_ir::{Argument, OperatorName, TensorSpec, ValueId};

use crate::Reason;
use crate::decompose::diagonal::ones;
use crate::edit::{Call, Dim, Editor, Rewritten};

type Made = Result<ValueId, Reason>;

/// An LU factorization.
pub struct Factors {
    both: ValueId,
    pivots: ValueId,
    info: ValueId,
}

/// Which triangle of a matrix is solved, and how.
#[derive(Clone, Copy)]
pub struct Triangle {
    /// The upper triangle.
    pub upper: bool,
    /// Ones are taken as the diagonal.
    pub unit: bool,
}

fn leading(editor: &Editor, of: ValueId) -> Result<(Vec<i32>, [i32; 2]), Reason> {
    let sizes = editor.static_sizes(of)?;
    let [outer @ .., rows, columns] = &sizes[..] else { return Err(Reason::Arguments) };
    Ok((outer.to_vec(), [*rows, *columns]))
}

/// The LU factorization of matrices.
pub fn factorized(editor: &mut Editor, of: ValueId) -> Result<Factors, Reason> {
    let (outer, [rows, columns]) = leading(editor, of)?;
    let integers = |sizes: Vec<i32>| TensorSpec::contiguous(ScalarType::Int, sizes);
    let pivots = [outer.clone(), vec![rows.min(columns)]].concat();
    let outputs =
        vec![TensorSpec::contiguous(editor.spec(of).scalar_type, editor.sizes(of)), integers(pivots), integers(outer)];
    let arguments = vec![Argument::Value(of), Argument::Bool(true), Argument::Bool(false)];
    let made = editor.call_many("linalg_lu_factor_ex.default", arguments, outputs)?;
    let [both, pivots, info] = made[..] else { return Err(Reason::Arguments) };
    Ok(Factors { both, pivots, info })
}

/// The solutions of triangular systems `A X = B`.
pub fn triangular(editor: &mut Editor, matrix: ValueId, sides: ValueId, triangle: Triangle) -> Made {
    let (outer, _) = leading(editor, matrix)?;
    let (other, last) = leading(editor, sides)?;
    let outer: Vec<Dim> = outer.into_iter().map(Dim::from).collect();
    let other: Vec<Dim> = other.into_iter().map(Dim::from).collect();
    let dims = [Dim::broadcast(&outer, &other)?, last.map(Dim::from).to_vec()].concat();
    let output = Dim::spec(editor.spec(sides).scalar_type, &dims);
    let flags = [triangle.upper, true, triangle.unit].map(Argument::Bool);
    let arguments = [matrix, sides].map(Argument::Value).into_iter().chain(flags).collect();
    editor.call("linalg_solve_triangular.default", arguments, output)
}

/// The row of the input at each row of the factors: `[.., rows]`.
fn row_order(editor: &mut Editor, pivots: ValueId, rows: i32) -> Made {
    let mut sizes = editor.static_sizes(pivots)?;
    *sizes.last_mut().ok_or(Reason::Arguments)? = rows;
    let operator = OperatorName::parse("etbuild.pivot_order.default").ok_or(Reason::Arguments)?;
    let arguments = vec![Argument::Value(pivots), Argument::Int(i64::from(rows))];
    let outputs = vec![TensorSpec::contiguous(ScalarType::Long, sizes)];
    editor.keep(Call { operator, arguments, outputs }).pop().ok_or(Reason::Arguments)
}

/// Matrices with rows in the order of `order`, both broadcast to a common batch.
fn reordered(editor: &mut Editor, of: ValueId, order: ValueId) -> Made {
    let (outer, [rows, columns]) = leading(editor, of)?;
    let order_sizes = editor.static_sizes(order)?;
    let batch: Vec<Dim> = order_sizes.iter().take(order_sizes.len() - 1).copied().map(Dim::from).collect();
    let outer: Vec<Dim> = outer.into_iter().map(Dim::from).collect();
    let dims = [Dim::broadcast(&outer, &batch)?, vec![rows.into(), columns.into()]].concat();
    let of = editor.expand_as(of, &dims)?;
    let last = order_sizes.len();
    let order = editor.unsqueezed(order, last)?;
    let order = editor.expand_as(order, &dims)?;
    let dim = dims.len() - 2;
    editor.gather(of, dim, order)
}

/// The solutions of `A X = B` from the factors of `A`, or of `A^T X = B`.
fn solved(editor: &mut Editor, factors: [ValueId; 2], sides: ValueId, transposed: bool) -> Made {
    let [both, pivots] = factors;
    let (_, [rows, _]) = leading(editor, both)?;
    let order = row_order(editor, pivots, rows)?;
    if !transposed {
        let sides = reordered(editor, sides, order)?;
        let sides = triangular(editor, both, sides, Triangle { upper: false, unit: true })?;
        return triangular(editor, both, sides, Triangle { upper: true, unit: false });
    }
    let both = editor.transpose(both)?;
    let sides = triangular(editor, both, sides, Triangle { upper: false, unit: false })?;
    let sides = triangular(editor, both, sides, Triangle { upper: true, unit: true })?;
    let last = editor.spec(order).rank() - 1;
    let [_, back] = editor.sorted(order, last, false)?;
    reordered(editor, sides, back)
}

/// The solutions of `A X = B`, or of `X A = B`.
pub fn solution(editor: &mut Editor, matrix: ValueId, sides: ValueId, left: bool) -> Made {
    let factors = factorized(editor, matrix)?;
    from_factors(editor, &factors, sides, left)
}

fn from_factors(editor: &mut Editor, factors: &Factors, sides: ValueId, left: bool) -> Made {
    let factors = [factors.both, factors.pivots];
    if left {
        return solved(editor, factors, sides, false);
    }
    let sides = editor.transpose(sides)?;
    let made = solved(editor, factors, sides, true)?;
    editor.transpose(made)
}

/// The inverse of matrices.
pub fn inverted(editor: &mut Editor, of: ValueId) -> Result<(ValueId, ValueId), Reason> {
    let factors = factorized(editor, of)?;
    let (_, [rows, _]) = leading(editor, of)?;
    let identity = identity(editor, editor.spec(of).scalar_type, rows)?;
    Ok((from_factors(editor, &factors, identity, true)?, factors.info))
}

/// The identity matrix.
pub fn identity(editor: &mut Editor, scalar_type: ScalarType, size: i32) -> Made {
    ones(editor, TensorSpec::contiguous(scalar_type, [size, size]))
}

/// `linalg_inv(A)`, `inverse(self)` and `linalg_inv_ex(A, check_errors)`.
pub fn inverse(editor: &mut Editor, call: &Call) -> Rewritten {
    let (inverse, info) = inverted(editor, call.value(0)?)?;
    Ok([inverse, info].into_iter().take(call.outputs.len()).collect())
}

/// `linalg_solve(A, B, left)` and `linalg_solve_ex(A, B, left, check_errors)`. `B` is vectors if it has the shape of the rows of
/// `A`.
pub fn solve(editor: &mut Editor, call: &Call) -> Rewritten {
    let (matrix, mut sides, left) = (call.value(0)?, call.value(1)?, call.flag(2)?);
    let (own, other) = (editor.static_sizes(matrix)?, editor.static_sizes(sides)?);
    let is_vector = other.len() == 1 || (other.len() + 1 == own.len() && own[..own.len() - 1] == other[..]);
    if is_vector {
        sides =
            if left { editor.unsqueezed(sides, other.len())? } else { editor.unsqueezed(sides, other.len() - 1)? };
    }
    let factors = factorized(editor, matrix)?;
    let mut made = from_factors(editor, &factors, sides, left)?;
    if is_vector {
        let rank = editor.spec(made).rank();
        made = editor.squeezed(made, if left { rank - 1 } else { rank - 2 })?;
    }
    Ok([made, factors.info].into_iter().take(call.outputs.len()).collect())
}

/// `linalg_lu_solve(LU, pivots, B, left, adjoint)`.
pub fn lu_solve(editor: &mut Editor, call: &Call) -> Rewritten {
    let factors = [call.value(0)?, call.value(1)?];
    let (mut sides, left, adjoint) = (call.value(2)?, call.flag(3)?, call.flag(4)?);
    if !left {
        sides = editor.transpose(sides)?;
    }
    let made = solved(editor, factors, sides, left == adjoint)?;
    Ok(vec![if left { made } else { editor.transpose(made)? }])
}

/// `lu_solve(self, LU_data, LU_pivots)`.
pub fn lu_solve_of_sides(editor: &mut Editor, call: &Call) -> Rewritten {
    Ok(vec![solved(editor, [call.value(1)?, call.value(2)?], call.value(0)?, false)?])
}

/// `linalg_lu_factor(A, pivot)` and `_lu_with_info(self, pivot, check_errors)`.
pub fn factors(editor: &mut Editor, call: &Call) -> Rewritten {
    let made = factorized(editor, call.value(0)?)?;
    Ok([made.both, made.pivots, made.info].into_iter().take(call.outputs.len()).collect())
}

/// `linalg_lu(A, pivot)`: the permutation and the triangles.
pub fn permuted_factors(editor: &mut Editor, call: &Call) -> Rewritten {
    let made = factorized(editor, call.value(0)?)?;
    unpacked(editor, made.both, made.pivots)
}

/// `lu_unpack(LU_data, LU_pivots, unpack_data, unpack_pivots)`.
pub fn unpack(editor: &mut Editor, call: &Call) -> Rewritten {
    if !(call.flag(2)? && call.flag(3)?) {
        return Err(Reason::Unsupported("a part of the factors"));
    }
    unpacked(editor, call.value(0)?, call.value(1)?)
}

fn unpacked(editor: &mut Editor, both: ValueId, pivots: ValueId) -> Rewritten {
    let (_, [rows, columns]) = leading(editor, both)?;
    let (scalar_type, rank) = (editor.spec(both).scalar_type, editor.spec(both).rank());
    let order = row_order(editor, pivots, rows)?;
    // Row `order[row]` of the permutation has its one in column `row`.
    let positions = editor.counting(rows, rank - 2, rank)?;
    let order = editor.unsqueezed(order, rank - 2)?;
    let permutation = editor.compare("eq.Tensor", positions, Argument::Value(order))?;
    let permutation = editor.convert(permutation, scalar_type)?;
    let least = i64::from(rows.min(columns));
    let (tall, wide) = (editor.slice(both, rank - 1, 0, least)?, editor.slice(both, rank - 2, 0, least)?);
    let lower = editor.map("tril.default", tall, vec![Argument::Int(-1)])?;
    let ones = ones(editor, TensorSpec::contiguous(scalar_type, [rows, least as i32]))?;
    let lower = editor.pair("add", lower, ones)?;
    let upper = editor.map("triu.default", wide, vec![Argument::Int(0)])?;
    Ok(vec![permutation, lower, upper])
}

/// The product of the pivots' signs, and the diagonal of the factors.
fn sign_and_diagonal(editor: &mut Editor, of: ValueId) -> Result<[ValueId; 2], Reason> {
    let (outer, [rows, _]) = leading(editor, of)?;
    let factors = factorized(editor, of)?;
    let (rank, scalar_type) = (outer.len() + 2, editor.spec(of).scalar_type);
    let own: Vec<i64> = (1..=i64::from(rows)).collect();
    let own = editor.integers(&own)?;
    let pivots = editor.convert(factors.pivots, ScalarType::Long)?;
    let kept = editor.compare("eq.Tensor", pivots, Argument::Value(own))?;
    let kept = editor.convert(kept, scalar_type)?;
    let doubled = editor.times(kept, 2.0)?;
    let signs = editor.plus(doubled, -1.0)?;
    let sign = product_of(editor, signs, rank - 2)?;
    let spec = TensorSpec::contiguous(scalar_type, [outer, vec![rows]].concat());
    let arguments = [0, rank as i64 - 2, rank as i64 - 1].map(Argument::Int);
    let arguments = std::iter::once(Argument::Value(factors.both)).chain(arguments).collect();
    Ok([sign, editor.call("diagonal.default", arguments, spec)?])
}

fn product_of(editor: &mut Editor, of: ValueId, dim: usize) -> Made {
    let mut sizes = editor.static_sizes(of)?;
    sizes.remove(dim);
    let output = TensorSpec::contiguous(editor.spec(of).scalar_type, sizes);
    let arguments = vec![Argument::Value(of), Argument::Int(dim as i64), Argument::Bool(false), Argument::None];
    editor.call("prod.dim_int", arguments, output)
}

/// `linalg_det(A)` and `det(self)`.
pub fn determinant(editor: &mut Editor, call: &Call) -> Rewritten {
    let [sign, diagonal] = sign_and_diagonal(editor, call.value(0)?)?;
    let last = editor.spec(diagonal).rank() - 1;
    let product = product_of(editor, diagonal, last)?;
    Ok(vec![editor.pair("mul", sign, product)?])
}

/// `linalg_slogdet(A)`, `slogdet(self)` and `logdet(self)`.
pub fn log_of_determinant(editor: &mut Editor, call: &Call) -> Rewritten {
    let [sign, diagonal] = sign_and_diagonal(editor, call.value(0)?)?;
    let last = editor.spec(diagonal).rank() - 1;
    let signs = editor.apply("sign", diagonal)?;
    let signs = product_of(editor, signs, last)?;
    let sign = editor.pair("mul", sign, signs)?;
    let sizes = editor.apply("abs", diagonal)?;
    let logs = editor.apply("log", sizes)?;
    let log = editor.sum(logs, &[last], false)?;
    if call.operator.name() != "logdet" {
        return Ok(vec![sign, log]);
    }
    let negative = editor.compare("lt.Scalar", sign, Argument::Float(0.0))?;
    let (undefined, spec) =
        (editor.number(Argument::Float(f64::NAN), editor.spec(log).scalar_type)?, editor.spec(log).clone());
    Ok(vec![editor.choose(negative, undefined, log, spec)?])
}

/// `linalg_matrix_power(self, n)`: repeated squares, of the inverse for negative powers.
pub fn power(editor: &mut Editor, call: &Call) -> Rewritten {
    let (mut base, exponent) = (call.value(0)?, call.int(1)?);
    let (outer, [rows, _]) = leading(editor, base)?;
    if exponent == 0 {
        let identity = identity(editor, editor.spec(base).scalar_type, rows)?;
        return Ok(vec![editor.expand(identity, &[outer, vec![rows, rows]].concat())?]);
    }
    if exponent < 0 {
        (base, _) = inverted(editor, base)?;
    }
    let (mut rest, mut product) = (exponent.unsigned_abs(), None);
    while rest > 0 {
        if rest % 2 == 1 {
            product = Some(match product {
                None => base,
                Some(product) => editor.product(product, base)?,
            });
        }
        rest /= 2;
        if rest > 0 {
            base = editor.product(base, base)?;
        }
    }
    Ok(vec![product.ok_or(Reason::Arguments)?])
}

/// `linalg_tensorinv(self, ind)`: the inverse of the matrix of the first and the last dimensions.
pub fn inverse_of_tensor(editor: &mut Editor, call: &Call) -> Rewritten {
    let (input, output) = (call.value(0)?, call.output()?);
    let sizes = editor.static_sizes(input)?;
    let first = usize::try_from(call.int(1)?).map_err(|_| Reason::Arguments)?;
    let rows: i32 = sizes.get(..first).ok_or(Reason::Arguments)?.iter().product();
    let matrix = editor.view(input, &[rows, rows])?;
    let (inverse, _) = inverted(editor, matrix)?;
    Ok(vec![editor.view(inverse, &output.sizes)?])
}

/// `linalg_tensorsolve(self, other, dims)`: the system of the matrix of the last dimensions.
pub fn solve_tensor(editor: &mut Editor, call: &Call) -> Rewritten {
    let (mut input, other, output) = (call.value(0)?, call.value(1)?, call.output()?);
    let rank = editor.spec(input).rank();
    if *call.argument(2)? != Argument::None {
        let last = call.dims(2, rank)?;
        let dims: Vec<usize> = (0..rank).filter(|dim| !last.contains(dim)).chain(last.iter().copied()).collect();
        input = editor.permute(input, &dims)?;
    }
    let count = i32::try_from(output.numel()).map_err(|_| Reason::Arguments)?;
    let (matrix, sides) = (editor.view(input, &[count, count])?, editor.view(other, &[count, 1])?);
    let made = solution(editor, matrix, sides, true)?;
    Ok(vec![editor.view(made, &output.sizes)?])
}

/// `triangular_solve(self, A, upper, transpose, unitriangular)`: the solution, and the matrix.
pub fn triangular_solve(editor: &mut Editor, call: &Call) -> Rewritten {
    let (sides, mut matrix, output) = (call.value(0)?, call.value(1)?, call.output()?);
    let copy = matrix;
    let (mut upper, transposed, unit) = (call.flag(2)?, call.flag(3)?, call.flag(4)?);
    if transposed {
        matrix = editor.transpose(matrix)?;
        upper = !upper;
    }
    let made = triangular(editor, matrix, sides, Triangle { upper, unit })?;
    let made = editor.view(made, &output.sizes)?;
    let sizes = call.outputs.get(1).map(|spec| spec.sizes.clone()).ok_or(Reason::Arguments)?;
    Ok(vec![made, editor.expand(copy, &sizes)?])
}

/// `linalg_cholesky(self, upper)` and `cholesky(self, upper)`.
pub fn cholesky(editor: &mut Editor, call: &Call) -> Rewritten {
    let (outer, _) = leading(editor, call.value(0)?)?;
    let outputs = vec![call.output()?, TensorSpec::contiguous(ScalarType::Int, outer)];
    let arguments = vec![call.argument(0)?.clone(), call.argument(1)?.clone(), Argument::Bool(false)];
    Ok(editor.call_many("linalg_cholesky_ex.default", arguments, outputs)?.into_iter().take(1).collect())
}

/// `cholesky_solve(self, input2, upper)` and `cholesky_inverse(self, upper)`.
pub fn cholesky_solve(editor: &mut Editor, call: &Call) -> Rewritten {
    let name = call.operator.name();
    let (factor, sides, upper) = if name == "cholesky_solve" {
        (call.value(1)?, call.value(0)?, call.flag(2)?)
    } else {
        let factor = call.value(0)?;
        let (_, [rows, _]) = leading(editor, factor)?;
        (factor, identity(editor, editor.spec(factor).scalar_type, rows)?, call.flag(1)?)
    };
    let other = editor.transpose(factor)?;
    let (lower, higher) = if upper { (other, factor) } else { (factor, other) };
    let made = triangular(editor, lower, sides, Triangle { upper: false, unit: false })?;
    Ok(vec![triangular(editor, higher, made, Triangle { upper: true, unit: false })?])
}
