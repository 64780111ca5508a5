//! Random operators, in terms of `rand` and `randn`.

use et_core::ScalarType;
use etbuild_ir::{Argument, TensorSpec, ValueId};

use crate::Reason;
use crate::edit::{Call, Dim, Editor, Rewritten};

type Made = Result<ValueId, Reason>;

/// The least number that stands for a fraction of 0.
const LEAST: f64 = 1.0 / (1_u64 << 25) as f64;

/// `rand_like(self)`.
pub fn uniform_like(editor: &mut Editor, call: &Call) -> Rewritten {
    like(editor, call, "rand.default")
}

/// `randn_like(self)`.
pub fn normal_like(editor: &mut Editor, call: &Call) -> Rewritten {
    like(editor, call, "randn.default")
}

fn like(editor: &mut Editor, call: &Call, name: &str) -> Rewritten {
    let dims = editor.dims(call.value(0)?);
    Ok(vec![drawn(editor, name, &dims, call.output()?.scalar_type)?])
}

/// `randint(high, size)`.
pub fn integers(editor: &mut Editor, call: &Call) -> Rewritten {
    let sizes = call.argument(1)?.clone();
    integers_of(editor, call, sizes, [0, call.int(0)?])
}

/// `randint(low, high, size)`.
pub fn integers_from(editor: &mut Editor, call: &Call) -> Rewritten {
    let sizes = call.argument(2)?.clone();
    integers_of(editor, call, sizes, [call.int(0)?, call.int(1)?])
}

/// `randint_like(self, high)`.
pub fn integers_like(editor: &mut Editor, call: &Call) -> Rewritten {
    bounded_like(editor, call, [0, call.int(1)?])
}

/// `randint_like(self, low, high)`.
pub fn integers_like_from(editor: &mut Editor, call: &Call) -> Rewritten {
    bounded_like(editor, call, [call.int(1)?, call.int(2)?])
}

fn bounded_like(editor: &mut Editor, call: &Call, bounds: [i64; 2]) -> Rewritten {
    let dims = editor.dims(call.value(0)?);
    let sizes = editor.sizes_argument(&dims)?;
    integers_of(editor, call, sizes, bounds)
}

/// The integers from `low` up to and without `high`, all equally likely.
fn integers_of(editor: &mut Editor, call: &Call, sizes: Argument, [low, high]: [i64; 2]) -> Rewritten {
    let output = call.output()?;
    let count = high.checked_sub(low).filter(|count| *count > 0).ok_or(Reason::Arguments)?;
    let spec = TensorSpec { scalar_type: ScalarType::Double, ..output.clone() };
    let fractions = drawn_of(editor, "rand.default", sizes, spec)?;
    let places = editor.times(fractions, count as f64)?;
    let whole = editor.apply("floor", places)?;
    let whole = editor.convert(whole, ScalarType::Long)?;
    let moved = editor.map("add.Scalar", whole, vec![Argument::Int(low), Argument::Int(1)])?;
    Ok(vec![editor.convert(moved, output.scalar_type)?])
}

/// `randperm(n)`: the order of random numbers.
pub fn permutation(editor: &mut Editor, call: &Call) -> Rewritten {
    let output = call.output()?;
    let spec = TensorSpec { scalar_type: ScalarType::Double, ..output.clone() };
    let size = call.argument(0)?.clone();
    let sizes = match size {
        Argument::Int(size) => Argument::Ints(vec![size]),
        Argument::Value(size) => Argument::sizes(vec![etbuild_ir::Size::Value(size)]),
        _ => return Err(Reason::Arguments),
    };
    let keys = drawn_of(editor, "rand.default", sizes, spec)?;
    let [_, order] = editor.sorted(keys, 0, false)?;
    Ok(vec![editor.convert(order, output.scalar_type)?])
}

/// `normal(mean, std)` of tensors and numbers.
pub fn normal(editor: &mut Editor, call: &Call) -> Rewritten {
    let output = call.output()?;
    if !matches!(call.argument(0)?, Argument::Value(_)) && !matches!(call.argument(1)?, Argument::Value(_)) {
        let sizes = call.argument(2)?.clone();
        let numbers = drawn_of(editor, "randn.default", sizes, output)?;
        return scaled(editor, numbers, call);
    }
    let mut dims = Vec::new();
    for index in 0..2 {
        if let Argument::Value(id) = call.argument(index)? {
            dims = Dim::broadcast(&dims, &editor.dims(*id))?;
        }
    }
    let numbers = drawn(editor, "randn.default", &dims, output.scalar_type)?;
    scaled(editor, numbers, call)
}

fn scaled(editor: &mut Editor, numbers: ValueId, call: &Call) -> Rewritten {
    let scalar_type = editor.spec(numbers).scalar_type;
    let mean = editor.operand(call.argument(0)?, scalar_type)?;
    let deviation = editor.operand(call.argument(1)?, scalar_type)?;
    let wide = editor.pair("mul", numbers, deviation)?;
    Ok(vec![editor.pair("add", wide, mean)?])
}

/// `normal_functional(self, mean, std)`, for `normal_`.
pub fn normal_of_shape(editor: &mut Editor, call: &Call) -> Rewritten {
    Ok(vec![normal_of(editor, call)?])
}

/// `log_normal(self, mean, std)`.
pub fn log_normal(editor: &mut Editor, call: &Call) -> Rewritten {
    let exponents = normal_of(editor, call)?;
    Ok(vec![editor.apply("exp", exponents)?])
}

fn normal_of(editor: &mut Editor, call: &Call) -> Made {
    let numbers = like(editor, call, "randn.default")?;
    let wide = editor.times(*numbers.first().ok_or(Reason::Arguments)?, call.number(2)?)?;
    editor.plus(wide, call.number(1)?)
}

/// `uniform(self, from, to)`.
pub fn uniform(editor: &mut Editor, call: &Call) -> Rewritten {
    let (from, to) = (call.number(1)?, call.number(2)?);
    let fractions = fractions_like(editor, call)?;
    let wide = editor.times(fractions, to - from)?;
    let moved = editor.plus(wide, from)?;
    Ok(vec![editor.convert(moved, call.output()?.scalar_type)?])
}

/// `exponential(self, lambd)`: the logarithm of numbers between 0 and 1.
pub fn exponential(editor: &mut Editor, call: &Call) -> Rewritten {
    let fractions = fractions_like(editor, call)?;
    let times = exponential_of(editor, fractions)?;
    let scaled = editor.times(times, 1.0 / call.number(1)?)?;
    Ok(vec![editor.convert(scaled, call.output()?.scalar_type)?])
}

fn exponential_of(editor: &mut Editor, fractions: ValueId) -> Made {
    // Never 0, as of PyTorch: programs divide by the results, and take logarithms of them.
    let fractions = editor.map("clamp.default", fractions, vec![Argument::Float(LEAST), Argument::None])?;
    let rest = editor.apply("neg", fractions)?;
    let logarithm = editor.apply("log1p", rest)?;
    editor.apply("neg", logarithm)
}

/// `geometric(self, p)`: the number of trials up to the first success.
pub fn geometric(editor: &mut Editor, call: &Call) -> Rewritten {
    let fractions = fractions_like(editor, call)?;
    let times = exponential_of(editor, fractions)?;
    let trials = editor.times(times, -1.0 / (-call.number(1)?).ln_1p())?;
    let whole = editor.apply("ceil", trials)?;
    Ok(vec![editor.convert(whole, call.output()?.scalar_type)?])
}

/// `cauchy(self, median, sigma)`: tangents of random angles.
pub fn cauchy(editor: &mut Editor, call: &Call) -> Rewritten {
    let fractions = fractions_like(editor, call)?;
    let centred = editor.plus(fractions, -0.5)?;
    let angles = editor.times(centred, std::f64::consts::PI)?;
    let tangents = editor.apply("tan", angles)?;
    let wide = editor.times(tangents, call.number(2)?)?;
    let moved = editor.plus(wide, call.number(1)?)?;
    Ok(vec![editor.convert(moved, call.output()?.scalar_type)?])
}

/// `bernoulli(self)`, of the probabilities in a tensor.
pub fn bernoulli(editor: &mut Editor, call: &Call) -> Rewritten {
    chosen(editor, call, 0)
}

/// `bernoulli(self, p)` with a number or a tensor.
pub fn bernoulli_of(editor: &mut Editor, call: &Call) -> Rewritten {
    chosen(editor, call, 1)
}

fn chosen(editor: &mut Editor, call: &Call, probability: usize) -> Rewritten {
    let fractions = fractions_like(editor, call)?;
    let name = if matches!(call.argument(probability)?, Argument::Value(_)) { "lt.Tensor" } else { "lt.Scalar" };
    let mask = editor.compare(name, fractions, call.argument(probability)?.clone())?;
    Ok(vec![editor.convert(mask, call.output()?.scalar_type)?])
}

/// `multinomial(self, num_samples, replacement)`: indices with the probabilities of a vector or of rows.
pub fn multinomial(editor: &mut Editor, call: &Call) -> Rewritten {
    let (count, output) = (call.int(1)?, call.output()?);
    let given = call.value(0)?;
    let weights = editor.convert(given, precise(editor.spec(given).scalar_type))?;
    let last = output.rank().checked_sub(1).ok_or(Reason::Arguments)?;
    Ok(vec![if call.flag(2)? {
        with_replacement(editor, weights, last, count, &output)?
    } else {
        without_replacement(editor, weights, last, count, output)?
    }])
}

/// The greatest of the weights divided by exponentially distributed numbers (Efraimidis and Spirakis 2006).
fn without_replacement(editor: &mut Editor, weights: ValueId, last: usize, count: i64, output: TensorSpec) -> Made {
    let (dims, scalar_type) = (editor.dims(weights), editor.spec(weights).scalar_type);
    let fractions = drawn(editor, "rand.default", &dims, scalar_type)?;
    let times = exponential_of(editor, fractions)?;
    let keys = editor.pair("div", weights, times)?;
    let settings = [Argument::Int(count), Argument::Int(last as i64), Argument::Bool(true), Argument::Bool(true)];
    let arguments = std::iter::once(Argument::Value(keys)).chain(settings).collect();
    let values = TensorSpec { scalar_type, ..output.clone() };
    editor.call_many("topk.default", arguments, vec![values, output])?.get(1).copied().ok_or(Reason::Arguments)
}

/// The places of random numbers among the sums of weights.
fn with_replacement(editor: &mut Editor, weights: ValueId, last: usize, count: i64, output: &TensorSpec) -> Made {
    let scalar_type = editor.spec(weights).scalar_type;
    let sums = editor.map("cumsum.default", weights, vec![Argument::Int(last as i64), Argument::None])?;
    let total = editor.last(sums, last, 1)?;
    let mut dims = editor.dims(weights);
    *dims.get_mut(last).ok_or(Reason::Arguments)? = Dim::from(i32::try_from(count).map_err(|_| Reason::Arguments)?);
    let fractions = drawn(editor, "rand.default", &dims, scalar_type)?;
    let places = editor.pair("mul", fractions, total)?;
    // The number of sums up to a place is the index whose part of the whole holds the place.
    let (sums, places) = (editor.unsqueezed(sums, last)?, editor.unsqueezed(places, last + 1)?);
    let passed = editor.compare("ge.Tensor", places, Argument::Value(sums))?;
    let passed = editor.convert(passed, ScalarType::Long)?;
    let index = editor.sum(passed, &[last + 1], false)?;
    editor.convert(index, output.scalar_type)
}

/// Numbers from 0 to 1 for each element of the first argument, in at least single precision.
fn fractions_like(editor: &mut Editor, call: &Call) -> Made {
    let dims = editor.dims(call.value(0)?);
    drawn(editor, "rand.default", &dims, precise(call.output()?.scalar_type))
}

/// The type in which numbers for a result of a type are drawn.
const fn precise(scalar_type: ScalarType) -> ScalarType {
    if matches!(scalar_type, ScalarType::Double) { scalar_type } else { ScalarType::Float }
}

/// Numbers of `rand` or `randn` in a shape.
pub fn drawn(editor: &mut Editor, name: &str, dims: &[Dim], scalar_type: ScalarType) -> Made {
    let sizes = editor.sizes_argument(dims)?;
    drawn_of(editor, name, sizes, Dim::spec(scalar_type, dims))
}

fn drawn_of(editor: &mut Editor, name: &str, sizes: Argument, output: TensorSpec) -> Made {
    let kind = [Argument::Type(output.scalar_type), Argument::Place, Argument::Place, Argument::Bool(false)];
    editor.call(name, std::iter::once(sizes).chain(kind).collect(), output)
}
