//! Rules of `inputs:` that no type expresses.

use etbuild_diagnostic::{Code, Diagnostic, Span};
use etbuild_yaml::Spanned;

use crate::{AudioInput, ImageInput, Input, Number, OneOrMany, Recipe};

/// The largest side of a picture in pixels.
const LARGEST: u32 = 1 << 16;

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
    sizes.chain(numbers).chain(zero(steps)).collect()
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

/// Numbers that are neither one nor one for each channel.
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

fn audio(steps: &AudioInput) -> Vec<Diagnostic> {
    let rate = (steps.rate.value == 0).then(|| {
        bad("`rate` cannot be 0".to_owned(), &steps.rate.span, "write the sampling rate of the model, such as 16000")
    });
    let length = steps.length.as_ref().filter(|length| length.value == 0);
    let length = length.map(|length| {
        bad("`length` cannot be 0".to_owned(), &length.span, "write the number of samples, or leave `length` out")
    });
    rate.into_iter().chain(length).collect()
}

fn bad(message: String, span: &Span, help: &str) -> Diagnostic {
    Diagnostic::error(Code::BadValue, message).at(span.clone()).help(help)
}
