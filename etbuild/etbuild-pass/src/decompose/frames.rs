//! Signals from the spectra of their frames.

use et_core::ScalarType;
use etbuild_ir::{Argument, TensorSpec, ValueId};

use crate::Reason;
use crate::edit::{Call, Editor, Rewritten};

/// The sizes of frames.
struct Frames {
    length: i32,
    step: i32,
    count: i32,
}

impl Frames {
    /// The number of samples that all frames cover.
    fn samples(&self) -> Result<i32, Reason> {
        let before = self.step.checked_mul(self.count - 1);
        before.and_then(|before| before.checked_add(self.length)).ok_or(Reason::Arguments)
    }
}

/// `istft(self, n_fft, hop_length, win_length, window, center, normalized, onesided, length, return_complex)`: the sum of
/// overlapping frames over the sum of their squared windows.
pub fn to_signal(editor: &mut Editor, call: &Call) -> Rewritten {
    let (input, output) = (call.value(0)?, call.output()?);
    if output.scalar_type.is_complex() {
        return Err(Reason::Unsupported("`istft` with complex samples"));
    }
    let sizes = editor.static_sizes(input)?;
    let (batch, count) = match sizes[..] {
        [_, count] => (1, count),
        [batch, _, count] => (batch, count),
        _ => return Err(Reason::Arguments),
    };
    let length = narrow(call.int(1)?)?;
    let step = or(call, 2, length / 4)?;
    let frames = Frames { length, step, count };
    let window = window(editor, call, &frames, output.scalar_type)?;
    let waves = waves(editor, call, input, &frames, batch, output.scalar_type)?;
    let windowed = editor.pair("mul", waves, window)?;
    let sum = overlapped(editor, windowed, &frames)?;
    let squares = editor.pair("mul", window, window)?;
    let squares = editor.view(squares, &[1, 1, length])?;
    let squares = editor.expand(squares, &[1, count, length])?;
    let weight = overlapped(editor, squares, &frames)?;
    cut(editor, call, [sum, weight], &frames, &output)
}

fn narrow(size: i64) -> Result<i32, Reason> {
    i32::try_from(size).ok().filter(|size| *size > 0).ok_or(Reason::Arguments)
}

fn or(call: &Call, index: usize, default: i32) -> Result<i32, Reason> {
    if *call.argument(index)? == Argument::None { Ok(default) } else { narrow(call.int(index)?) }
}

/// The window in the middle of a frame; ones by default.
fn window(editor: &mut Editor, call: &Call, frames: &Frames, scalar_type: ScalarType) -> Result<ValueId, Reason> {
    let width = or(call, 3, frames.length)?;
    let window = match call.optional_value(4)? {
        Some(window) => editor.convert(window, scalar_type)?,
        None => editor.full(Argument::Int(1), TensorSpec::contiguous(scalar_type, [width]))?,
    };
    if width == frames.length {
        return Ok(window);
    }
    let before = (frames.length - width) / 2;
    let pads = [before, frames.length - width - before].map(i64::from).to_vec();
    let output = TensorSpec::contiguous(scalar_type, [frames.length]);
    editor.call(
        "constant_pad_nd.default",
        vec![Argument::Value(window), Argument::Ints(pads), Argument::Int(0)],
        output,
    )
}

/// The samples of each frame, `[batch, count, length]`.
fn waves(
    editor: &mut Editor,
    call: &Call,
    input: ValueId,
    frames: &Frames,
    batch: i32,
    scalar_type: ScalarType,
) -> Result<ValueId, Reason> {
    let bins = frames.length / 2 + 1;
    let mut spectra = if editor.spec(input).rank() == 2 { editor.unsqueezed(input, 0)? } else { input };
    if editor.sizes(spectra).get(1) != Some(&bins) {
        spectra = editor.slice(spectra, 1, 0, i64::from(bins))?;
    }
    let spectra = editor.permute(spectra, &[0, 2, 1])?;
    // 1 divides by the root of the length, 2 by the length.
    let norm = Argument::Int(if call.flag(6)? { 1 } else { 2 });
    let arguments =
        vec![Argument::Value(spectra), Argument::Ints(vec![2]), norm, Argument::Int(i64::from(frames.length))];
    let output = TensorSpec::contiguous(scalar_type, [batch, frames.count, frames.length]);
    editor.call("_fft_c2r.default", arguments, output)
}

/// The sum of frames `[batch, count, length]`, each a step behind the one before: `[batch, samples]`.
fn overlapped(editor: &mut Editor, of: ValueId, frames: &Frames) -> Result<ValueId, Reason> {
    let samples = frames.samples()?;
    let columns = editor.permute(of, &[0, 2, 1])?;
    let [batch, ..] = editor.sizes(columns)[..] else { return Err(Reason::Arguments) };
    let output = TensorSpec::contiguous(editor.spec(of).scalar_type, [batch, 1, 1, samples]);
    let settings = [[1, samples], [1, frames.length], [1, 1], [0, 0], [1, frames.step]];
    let settings = settings.map(|sizes| Argument::Ints(sizes.map(i64::from).to_vec()));
    let arguments = std::iter::once(Argument::Value(columns)).chain(settings).collect();
    let sum = editor.call("col2im.default", arguments, output)?;
    editor.view(sum, &[batch, samples])
}

/// The quotient of both sums without the margins of centred frames, padded with zeros to the wanted length.
fn cut(
    editor: &mut Editor,
    call: &Call,
    [sum, weight]: [ValueId; 2],
    frames: &Frames,
    output: &TensorSpec,
) -> Rewritten {
    let (samples, margin) = (frames.samples()?, if call.flag(5)? { frames.length / 2 } else { 0 });
    let wanted = or(call, 8, samples - 2 * margin)?;
    let end = samples.min(margin.checked_add(wanted).ok_or(Reason::Arguments)?);
    let mut part = |of: ValueId| editor.slice(of, 1, i64::from(margin), i64::from(end));
    let (sum, weight) = (part(sum)?, part(weight)?);
    let mut signal = editor.pair("div", sum, weight)?;
    let missing = i64::from(wanted - (end - margin));
    if missing > 0 {
        let mut longer = editor.spec(signal).clone();
        longer.set_size(1, wanted).ok_or(Reason::Arguments)?;
        let arguments = vec![Argument::Value(signal), Argument::Ints(vec![0, missing]), Argument::Int(0)];
        signal = editor.call("constant_pad_nd.default", arguments, longer)?;
    }
    Ok(vec![editor.view(signal, &output.sizes)?])
}
