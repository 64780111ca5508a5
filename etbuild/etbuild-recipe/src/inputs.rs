//! Rules of `inputs:` that no type expresses.

mod features;

use etbuild_diagnostic::{Code, Diagnostic, Span};
use etbuild_yaml::Spanned;

use crate::{AudioInput, CameraPixels, Color, ImageInput, Input, Number, OneOrMany, Recipe};

/// The largest side of a picture in pixels.
const LARGEST: u32 = 1 << 16;

/// The largest side of a camera's picture in pixels.
const LARGEST_FRAME: u32 = 1 << 13;

/// The samples of the longest recording.
const LONGEST: u32 = 1 << 24;

/// The mistakes in the preprocessing of all inputs.
pub fn mistakes(recipe: &Recipe) -> Vec<Diagnostic> {
    let inputs = recipe.inputs.iter().flat_map(|inputs| inputs.value.values());
    let mistakes = inputs.flat_map(|input| match input {
        Input::Image(steps) => image(steps),
        Input::Audio(steps) => audio(steps),
    });
    mistakes.collect()
}

fn image(steps: &ImageInput) -> Vec<Diagnostic> {
    let sizes = [("resize", &steps.resize), ("crop", &steps.crop)];
    let sizes = sizes.into_iter().filter_map(|(key, sizes)| size(key, sizes.as_ref()?));
    let numbers = [("mean", &steps.mean), ("std", &steps.std)];
    let numbers = numbers.into_iter().filter_map(|(key, numbers)| per_channel(key, numbers.as_ref()?, steps));
    sizes.chain(numbers).chain(zero(steps)).chain(camera(steps)).collect()
}

/// A size with another number of sides, or of no pixels.
fn size(key: &str, sides: &Spanned<OneOrMany<u32>>) -> Option<Diagnostic> {
    let is_size = matches!(sides.value.0.len(), 1 | 2);
    if !is_size {
        let message = format!("`{key}` takes a side or two, and not {}", sides.value.0.len());
        return Some(bad(
            message,
            &sides.span,
            &format!("write `{key}: 224`, or `{key}: [224, 224]`: height and width"),
        ));
    }
    let odd = sides.value.0.iter().find(|side| !(1..=LARGEST).contains(&side.value))?;
    Some(bad(format!("`{key}` cannot be {} pixels", odd.value), &odd.span, &format!("write from 1 to {LARGEST}")))
}

/// The error of a list with neither one number nor one number for each channel.
fn per_channel(key: &str, numbers: &Spanned<OneOrMany<Number>>, steps: &ImageInput) -> Option<Diagnostic> {
    let (count, channels) = (numbers.value.0.len(), steps.color.channels());
    let message = format!("`{key}` has {count} numbers, and the picture has {channels} channels");
    let help = format!("write one number, or {channels}; `color` chooses the channels");
    (count != 1 && count != channels).then(|| bad(message, &numbers.span, &help))
}

fn zero(steps: &ImageInput) -> Option<Diagnostic> {
    let zero = steps.std.as_ref()?.value.0.iter().find(|number| number.value.value() == 0.0)?;
    Some(bad("`std` divides, so no number of it can be 0".to_owned(), &zero.span, "write the standard deviation"))
}

/// Mistakes in the picture of a camera.
fn camera(steps: &ImageInput) -> Vec<Diagnostic> {
    let Some(frame) = &steps.frame else {
        let pixels = steps.pixels.as_ref().map(|pixels| {
            let help = "write `frame: [120, 160]`, the height and the width, or leave `pixels` out";
            bad("`pixels` are those of a camera, and `frame` is missing".to_owned(), &pixels.span, help)
        });
        return pixels.into_iter().collect();
    };
    let colorful =
        steps.pixels.as_ref().filter(|pixels| pixels.value == CameraPixels::Gray8 && steps.color != Color::Gray);
    let colorful = colorful.map(|pixels| {
        bad("luma has no colors".to_owned(), &pixels.span, "write `color: gray`, or the pixels of a color camera")
    });
    let mut sides = frame.value.0.iter().map(|side| side.value);
    let is_size = frame.value.0.len() == 2 && sides.all(|side| (1..=LARGEST_FRAME).contains(&side));
    let size = (!is_size).then(|| {
        let message = "`frame` is the height and the width of a camera's picture".to_owned();
        bad(message, &frame.span, &format!("write two sides from 1 to {LARGEST_FRAME}, such as `frame: [120, 160]`"))
    });
    colorful.into_iter().chain(size).collect()
}

fn audio(steps: &AudioInput) -> Vec<Diagnostic> {
    let rate = (steps.rate.value == 0).then(|| {
        bad("`rate` cannot be 0".to_owned(), &steps.rate.span, "write the sampling rate of the model, such as 16000")
    });
    let length = steps.length.as_ref().filter(|length| length.value == 0 || length.value > LONGEST);
    let length = length.map(|length| {
        let message = format!("`length` cannot be {}", length.value);
        bad(message, &length.span, &format!("write the number of samples, up to {LONGEST}, or leave `length` out"))
    });
    let features = steps.features.iter().flat_map(|features| features::mistakes(features, steps.rate.value));
    rate.into_iter().chain(length).chain(features).chain(stream(steps)).collect()
}

/// A stream that cannot be one.
fn stream(steps: &AudioInput) -> Option<Diagnostic> {
    let stream = steps.stream.as_ref().filter(|stream| stream.value)?;
    let Some(features) = &steps.features else {
        let message = "`stream` keeps features, and `features` is missing".to_owned();
        return Some(bad(message, &stream.span, "write `features: { n_fft: 512 }`, or leave `stream` out"));
    };
    if features.center != Some(false) {
        let message = "a stream has no end where samples are mirrored".to_owned();
        return Some(bad(message, &stream.span, "write `center: false` in `features`, and train the model with it"));
    }
    if features.top_db().is_some() {
        let message = "`top_db` compares with the greatest of a recording, which a stream is not".to_owned();
        return Some(bad(message, &stream.span, "write `top_db: 0` in `features`, and train the model with it"));
    }
    let hop = features.hop_length();
    let length = steps.length.as_ref().filter(|length| hop > 0 && !length.value.is_multiple_of(hop))?;
    let message = format!("{} samples are no multiple of `hop_length`, {hop}", length.value);
    Some(bad(message, &length.span, "write a multiple, or leave `length` out: an execution then takes one step"))
}

pub(super) fn bad(message: String, span: &Span, help: &str) -> Diagnostic {
    Diagnostic::error(Code::BadValue, message).at(span.clone()).help(help)
}
