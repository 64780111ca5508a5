//! Fourier transforms of real tensors and their inverse, and the parts of complex tensors.

use et_core::ScalarType;
use etbuild_ir::{Argument, TensorSpec, ValueId};

use crate::Reason;
use crate::edit::{Call, Dim, Editor, Rewritten, normal_dim};

/// `fft_rfft(self, n, dim, norm)`, `fft_rfft2(self, s, dim, norm)` and `fft_rfftn`: half of the bins.
pub fn real_to_half(editor: &mut Editor, call: &Call) -> Rewritten {
    real_to_complex(editor, call, true)
}

/// `fft_fft(self, n, dim, norm)`, `fft_fft2` and `fft_fftn` of real tensors: all bins.
pub fn real_to_all(editor: &mut Editor, call: &Call) -> Rewritten {
    if editor.spec(call.value(0)?).scalar_type.is_complex() {
        return complex_to_complex(editor, call, true);
    }
    real_to_complex(editor, call, false)
}

/// `fft_ifft(self, n, dim, norm)`, `fft_ifft2` and `fft_ifftn`.
pub fn backward(editor: &mut Editor, call: &Call) -> Rewritten {
    complex_to_complex(editor, call, false)
}

fn complex_to_complex(editor: &mut Editor, call: &Call, forward: bool) -> Rewritten {
    let input = as_complex(editor, call.value(0)?)?;
    let (input, dims) = fitted(editor, call, input)?;
    let modes = if forward { ["backward", "ortho", "forward"] } else { ["forward", "ortho", "backward"] };
    let norm = normalization(call, modes)?;
    let arguments = vec![Argument::Value(input), positions(&dims), norm, Argument::Bool(forward)];
    Ok(vec![editor.call("_fft_c2c.default", arguments, call.output()?)?])
}

/// The type of the parts of a complex type.
pub(super) const fn part_of(complex: ScalarType) -> ScalarType {
    if matches!(complex, ScalarType::ComplexDouble | ScalarType::Double) {
        ScalarType::Double
    } else {
        ScalarType::Float
    }
}

/// Real numbers as complex numbers; integers as `float32` first.
pub(super) fn as_complex(editor: &mut Editor, of: ValueId) -> Result<ValueId, Reason> {
    let scalar_type = editor.spec(of).scalar_type;
    if scalar_type.is_complex() {
        return Ok(of);
    }
    let is_double = scalar_type == ScalarType::Double;
    let (part, whole) = if is_double {
        (ScalarType::Double, ScalarType::ComplexDouble)
    } else {
        (ScalarType::Float, ScalarType::ComplexFloat)
    };
    let real = editor.convert(of, part)?;
    let zero = editor.number(Argument::Int(0), part)?;
    let output = TensorSpec { scalar_type: whole, ..editor.spec(real).clone() };
    editor.call("complex.default", [real, zero].map(Argument::Value).to_vec(), output)
}

fn real_to_complex(editor: &mut Editor, call: &Call, onesided: bool) -> Rewritten {
    let input = editor.convert(call.value(0)?, part_of(call.output()?.scalar_type))?;
    let (input, dims) = fitted(editor, call, input)?;
    let norm = normalization(call, ["backward", "ortho", "forward"])?;
    let arguments = vec![Argument::Value(input), positions(&dims), norm, Argument::Bool(onesided)];
    Ok(vec![editor.call("_fft_r2c.default", arguments, call.output()?)?])
}

/// A signal, clipped or padded to the sizes of the call, and the dimensions of the transform.
pub(super) fn fitted(editor: &mut Editor, call: &Call, mut input: ValueId) -> Result<(ValueId, Vec<usize>), Reason> {
    let dims = dims(editor, call)?;
    for (dim, size) in dims.iter().zip(sizes(call)?) {
        input = resized(editor, input, *dim, size)?;
    }
    Ok((input, dims))
}

/// `fft_irfft(self, n, dim, norm)`, `fft_irfft2(self, s, dim, norm)` and `fft_irfftn`: from half of the bins.
pub fn half_to_real(editor: &mut Editor, call: &Call) -> Rewritten {
    let input = as_complex(editor, call.value(0)?)?;
    complex_to_real(editor, call, input, ["forward", "ortho", "backward"])
}

/// `fft_hfft(self, n, dim, norm)`, `fft_hfft2` and `fft_hfftn`: the transform of signals with conjugate halves, from half of
/// the signal; the inverse transform of the conjugate, but for the factor.
pub fn half_signal_to_real(editor: &mut Editor, call: &Call) -> Rewritten {
    let given = call.value(0)?;
    let mut input = as_complex(editor, given)?;
    if editor.spec(given).scalar_type.is_complex() {
        input = editor.apply("_conj_physical", input)?;
    }
    complex_to_real(editor, call, input, ["backward", "ortho", "forward"])
}

fn complex_to_real(editor: &mut Editor, call: &Call, mut input: ValueId, modes: [&str; 3]) -> Rewritten {
    let output = call.output()?;
    let dims = dims(editor, call)?;
    let last = *dims.last().ok_or(Reason::Arguments)?;
    for dim in &dims {
        let size = size_of(&output, *dim)?;
        input = resized(editor, input, *dim, if *dim == last { size / 2 + 1 } else { size })?;
    }
    let length = size_of(&output, last)?;
    let norm = normalization(call, modes)?;
    let arguments = vec![Argument::Value(input), positions(&dims), norm, Argument::Int(length)];
    Ok(vec![editor.call("_fft_c2r.default", arguments, output)?])
}

/// A static size.
fn size_of(spec: &TensorSpec, dim: usize) -> Result<i64, Reason> {
    Dim::of(spec).get(dim).ok_or(Reason::Arguments)?.fixed().map(i64::from)
}

/// The dimensions in argument 2. By default, the last dimensions, as many as argument 1 has sizes, or all dimensions.
fn dims(editor: &Editor, call: &Call) -> Result<Vec<usize>, Reason> {
    let rank = editor.spec(call.value(0)?).rank();
    match call.argument(2)? {
        Argument::Int(dim) => Ok(vec![normal_dim(*dim, rank)?]),
        Argument::Ints(dims) => dims.iter().map(|dim| normal_dim(*dim, rank)).collect(),
        Argument::None => {
            let count = match call.argument(1)? {
                Argument::Ints(sizes) => sizes.len(),
                _ => rank,
            };
            Ok((rank.checked_sub(count).ok_or(Reason::Arguments)?..rank).collect())
        }
        _ => Err(Reason::Arguments),
    }
}

/// Argument 1: the sizes to clip or pad to; -1 keeps a size.
fn sizes(call: &Call) -> Result<Vec<i64>, Reason> {
    match call.argument(1)? {
        Argument::Int(size) => Ok(vec![*size]),
        Argument::Ints(sizes) => Ok(sizes.clone()),
        Argument::None => Ok(vec![]),
        _ => Err(Reason::Arguments),
    }
}

/// Argument 3 as a number: the index in `modes`; `backward` by default.
pub(super) fn normalization(call: &Call, modes: [&str; 3]) -> Result<Argument, Reason> {
    let wanted = match call.argument(3)? {
        Argument::None => "backward",
        Argument::Text(mode) => mode.as_str(),
        _ => return Err(Reason::Arguments),
    };
    let number = modes.iter().position(|mode| *mode == wanted).ok_or(Reason::Arguments)?;
    Ok(Argument::Int(number as i64))
}

pub(super) fn positions(dims: &[usize]) -> Argument {
    Argument::Ints(dims.iter().map(|dim| *dim as i64).collect())
}

/// Clips a dimension, or pads with zeros, to a size; -1 keeps the size.
fn resized(editor: &mut Editor, input: ValueId, dim: usize, size: i64) -> Result<ValueId, Reason> {
    let mut output = editor.spec(input).clone();
    let rank = output.rank();
    if size == -1 {
        return Ok(input);
    }
    let missing = size - size_of(&output, dim)?;
    if missing == 0 {
        return Ok(input);
    }
    if missing < 0 {
        return editor.slice(input, dim, 0, size);
    }
    let size = i32::try_from(size).map_err(|_| Reason::Arguments)?;
    output.set_size(dim, size).ok_or(Reason::Arguments)?;
    let mut pads = vec![0; 2 * (rank - dim)];
    if let Some(behind) = pads.last_mut() {
        *behind = missing;
    }
    editor.call(
        "constant_pad_nd.default",
        vec![Argument::Value(input), Argument::Ints(pads), Argument::Float(0.0)],
        output,
    )
}

/// `view_as_real(self)`.
pub fn parts_of(editor: &mut Editor, call: &Call) -> Rewritten {
    Ok(vec![editor.call("view_as_real_copy.default", call.arguments.clone(), call.output()?)?])
}

/// `real(self)`.
pub fn real(editor: &mut Editor, call: &Call) -> Rewritten {
    let input = call.value(0)?;
    if editor.spec(input).scalar_type.is_complex() { part(editor, call, 0) } else { Ok(vec![input]) }
}

/// `imag(self)`.
pub fn imaginary(editor: &mut Editor, call: &Call) -> Rewritten {
    part(editor, call, 1)
}

fn part(editor: &mut Editor, call: &Call, index: i64) -> Rewritten {
    let (parts, output) = (parts(editor, call.value(0)?, &call.output()?)?, call.output()?);
    let arguments = vec![Argument::Value(parts), Argument::Int(output.rank() as i64), Argument::Int(index)];
    Ok(vec![editor.call("select.int", arguments, output)?])
}

pub(super) fn parts(editor: &mut Editor, input: ValueId, part: &TensorSpec) -> Result<ValueId, Reason> {
    let [sizes, least] = [&part.sizes, &part.least].map(|sizes| sizes.iter().copied().chain([2]).collect::<Vec<i32>>());
    let output = TensorSpec::contiguous(part.scalar_type, sizes).with_least(least);
    editor.call("view_as_real_copy.default", vec![Argument::Value(input)], output)
}

/// `abs(self)`: the magnitude of complex elements is the root of the sum of squares of both parts.
pub fn abs(editor: &mut Editor, call: &Call) -> Rewritten {
    let (input, output) = (call.value(0)?, call.output()?);
    if !editor.spec(input).scalar_type.is_complex() {
        return Ok(editor.keep(call.clone()));
    }
    let parts = parts(editor, input, &output)?;
    let squares = editor.map("mul.Tensor", parts, vec![Argument::Value(parts)])?;
    let dims = Argument::Ints(vec![output.rank() as i64]);
    let arguments = vec![Argument::Value(squares), dims, Argument::Bool(false), Argument::None];
    let sum = editor.call("sum.dim_IntList", arguments, output)?;
    Ok(vec![editor.map("sqrt.default", sum, vec![])?])
}

/// `_conj(self)`: the identity for real tensors.
pub fn conjugate(editor: &mut Editor, call: &Call) -> Rewritten {
    if !editor.spec(call.value(0)?).scalar_type.is_complex() {
        return Ok(vec![call.value(0)?]);
    }
    Ok(vec![editor.call("_conj_physical.default", vec![Argument::Value(call.value(0)?)], call.output()?)?])
}

/// `fft_fftshift(self, dim)` and `fft_ifftshift(self, dim)`: rolls by half of the size.
pub fn centred(editor: &mut Editor, call: &Call) -> Rewritten {
    let input = call.value(0)?;
    let sizes = editor.static_sizes(input)?;
    let dims = call.dims(1, sizes.len())?;
    let back = call.operator.name() == "fft_ifftshift";
    let shift = |dim: &usize| sizes.get(*dim).map(|size| i64::from(if back { (size + 1) / 2 } else { size / 2 }));
    let shifts = dims.iter().map(shift).collect::<Option<_>>().ok_or(Reason::Arguments)?;
    Ok(vec![editor.map("roll.default", input, vec![Argument::Ints(shifts), positions(&dims)])?])
}

/// `view_as_complex(self)`: the last dimension holds real and imaginary parts.
pub fn from_parts(editor: &mut Editor, call: &Call) -> Rewritten {
    let (input, output) = (call.value(0)?, call.output()?);
    let last = editor.spec(input).rank().checked_sub(1).ok_or(Reason::Arguments)?;
    let mut parts = Vec::new();
    for index in 0..2 {
        let part = editor.slice(input, last, index, index + 1)?;
        parts.push(Argument::Value(editor.squeezed(part, last)?));
    }
    Ok(vec![editor.call("complex.default", parts, output)?])
}

/// `polar(abs, angle)`.
pub fn from_polar(editor: &mut Editor, call: &Call) -> Rewritten {
    let (length, angle) = (call.value(0)?, call.value(1)?);
    let (cosine, sine) = (editor.apply("cos", angle)?, editor.apply("sin", angle)?);
    let parts = [editor.pair("mul", length, cosine)?, editor.pair("mul", length, sine)?];
    Ok(vec![editor.call("complex.default", parts.map(Argument::Value).to_vec(), call.output()?)?])
}

/// `stft(self, n_fft, hop_length, win_length, window, normalized, onesided, return_complex)` of real signals, which are
/// centred before: the transforms of windowed frames.
pub fn of_frames(editor: &mut Editor, call: &Call) -> Rewritten {
    let (mut input, output, length) = (call.value(0)?, call.output()?, call.int(1)?);
    let or = |index: usize, default: i64| {
        if *call.argument(index)? == Argument::None { Ok(default) } else { call.int(index) }
    };
    let (step, width) = (or(2, length / 4)?, or(3, length)?);
    let onesided = *call.argument(6)? == Argument::None || call.flag(6)?;
    if editor.spec(input).scalar_type.is_complex() {
        return Err(Reason::Unsupported("`stft` of complex numbers"));
    }
    let batched = editor.spec(input).rank() == 2;
    if !batched {
        input = editor.unsqueezed(input, 0)?;
    }
    let [batch, samples] = editor.static_sizes(input)?[..] else { return Err(Reason::Arguments) };
    let size = i32::try_from(length).map_err(|_| Reason::Arguments)?;
    let count = i32::try_from((i64::from(samples) - length) / step.max(1) + 1).map_err(|_| Reason::Arguments)?;
    let scalar_type = editor.spec(input).scalar_type;
    let spec = TensorSpec::contiguous(scalar_type, [batch, count, size]);
    let arguments = [1, length, step].map(Argument::Int);
    let arguments = std::iter::once(Argument::Value(input)).chain(arguments).collect();
    let mut frames = editor.call("unfold.default", arguments, spec.clone())?;
    if let Some(window) = call.optional_value(4)? {
        let before = (length - width) / 2;
        let pads = Argument::Ints(vec![before, length - width - before]);
        let output = TensorSpec::contiguous(scalar_type, [size]);
        let window = if width == length {
            window
        } else {
            editor.call("constant_pad_nd.default", vec![Argument::Value(window), pads, Argument::Float(0.0)], output)?
        };
        frames = editor.pair("mul", frames, window)?;
    } else if width != length {
        return Err(Reason::Unsupported("`stft` with a shorter window of ones"));
    }
    let bins = if onesided { size / 2 + 1 } else { size };
    let whole = if scalar_type == ScalarType::Double { ScalarType::ComplexDouble } else { ScalarType::ComplexFloat };
    let norm = Argument::Int(i64::from(call.flag(5)?));
    let arguments = vec![Argument::Value(frames), Argument::Ints(vec![2]), norm, Argument::Bool(onesided)];
    let spectrum = editor.call("_fft_r2c.default", arguments, TensorSpec::contiguous(whole, [batch, count, bins]))?;
    if output.scalar_type.is_complex() {
        let made = editor.permute(spectrum, &[0, 2, 1])?;
        return Ok(vec![if batched { made } else { editor.squeezed(made, 0)? }]);
    }
    let part = TensorSpec::contiguous(scalar_type, [batch, count, bins]);
    let parts = parts(editor, spectrum, &part)?;
    let made = editor.permute(parts, &[0, 2, 1, 3])?;
    Ok(vec![if batched { made } else { editor.squeezed(made, 0)? }])
}
