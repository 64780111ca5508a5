//! Preprocessing and labels, as a recipe states them.

use std::collections::BTreeMap;

use et_module::preprocess::{self, AudioSteps, ImageSteps, Preprocess, Resize, Scale};
use etbuild_recipe::{CameraPixels, Color, Filter, ImageInput, Input, Layout, Model, Number, OneOrMany, Recipe};
use etbuild_yaml::Spanned;

use crate::emit::{LabelsFile, ReadingOptions};
use crate::input::Db;

/// The file of labels beside a model.
const LABELS: &str = "labels.txt";

/// The preprocessing of inputs and the names of classes.
pub fn reading_options(db: &dyn Db, recipe: &Recipe) -> ReadingOptions {
    let inputs = recipe.inputs.iter().flat_map(|inputs| &inputs.value);
    let steps: BTreeMap<String, Preprocess> = inputs.map(|(name, input)| (name.clone(), steps(input))).collect();
    ReadingOptions::new(&steps, labels(db, recipe))
}

fn labels(db: &dyn Db, recipe: &Recipe) -> Option<LabelsFile> {
    if let Some(labels) = &recipe.labels {
        return Some(LabelsFile { file: db.data_file(&labels.path), is_stated: true });
    }
    let Model::Pt2(model) = &recipe.model else { return None };
    let beside = model.path.with_file_name(LABELS);
    let exists = db.world().system().stamp(&beside).is_ok();
    exists.then(|| LabelsFile { file: db.data_file(&beside), is_stated: false })
}

fn steps(input: &Input) -> Preprocess {
    match input {
        Input::Image(steps) => Preprocess::Image(match camera_size(steps) {
            Some(size) => camera(steps, size),
            None => image(steps),
        }),
        Input::Audio(steps) => Preprocess::Audio(AudioSteps {
            rate: steps.rate.value,
            length: steps.length.as_ref().map(|length| length.value as usize),
        }),
    }
}

/// The height and the width of a camera's picture, if the input is one.
pub fn camera_size(steps: &ImageInput) -> Option<[usize; 2]> {
    sides(steps.frame.as_ref()?).try_into().ok()
}

/// The pixels of a camera.
pub fn pixels(steps: &ImageInput) -> CameraPixels {
    let default = if steps.color == Color::Gray { CameraPixels::Gray8 } else { CameraPixels::Rgb888 };
    steps.pixels.as_ref().map_or(default, |pixels| pixels.value)
}

/// The steps from a file to the picture that a camera would give, with the camera's size and colors. The program takes the other steps.
fn camera(steps: &ImageInput, size: [usize; 2]) -> ImageSteps {
    let color = match pixels(steps) {
        CameraPixels::Gray8 => preprocess::Color::Gray,
        CameraPixels::Rgb888 | CameraPixels::Rgb565 => preprocess::Color::Rgb,
    };
    let (resize, layout) = (Some(Resize::Exact(size)), preprocess::Layout::Nhwc);
    ImageSteps { color, resize, crop: None, layout, ..image(steps) }
}

/// The steps of a picture.
pub fn image(steps: &ImageInput) -> ImageSteps {
    let resize = steps.resize.as_ref().map(|sizes| match sides(sizes)[..] {
        [side] => Resize::Shorter(side),
        [height, width, ..] => Resize::Exact([height, width]),
        [] => Resize::Shorter(0),
    });
    let crop = steps.crop.as_ref().map(|sizes| match sides(sizes)[..] {
        [height, width, ..] => [height, width],
        [side] => [side; 2],
        [] => [0; 2],
    });
    let (numerator, denominator) = (steps.scale.numerator.value(), steps.scale.denominator.value());
    ImageSteps {
        color: color(steps.color),
        resize,
        filter: filter(steps.filter),
        crop,
        scale: Scale { numerator, denominator },
        mean: numbers(steps.mean.as_ref(), 0.0),
        std: numbers(steps.std.as_ref(), 1.0),
        layout: layout(steps.layout),
    }
}

/// The sides in pixels: one or two, which the rules of recipes require.
fn sides(sizes: &Spanned<OneOrMany<u32>>) -> Vec<usize> {
    sizes.value.0.iter().map(|side| side.value as usize).collect()
}

fn numbers(numbers: Option<&Spanned<OneOrMany<Number>>>, default: f32) -> Vec<f32> {
    numbers.map_or_else(|| vec![default], |numbers| numbers.value.0.iter().map(|number| number.value.value()).collect())
}

const fn color(color: Color) -> preprocess::Color {
    match color {
        Color::Rgb => preprocess::Color::Rgb,
        Color::Bgr => preprocess::Color::Bgr,
        Color::Gray => preprocess::Color::Gray,
    }
}

const fn filter(filter: Filter) -> preprocess::Filter {
    match filter {
        Filter::Bilinear => preprocess::Filter::Bilinear,
        Filter::Bicubic => preprocess::Filter::Bicubic,
        Filter::Lanczos => preprocess::Filter::Lanczos,
        Filter::Box => preprocess::Filter::Box,
        Filter::Nearest => preprocess::Filter::Nearest,
    }
}

const fn layout(layout: Layout) -> preprocess::Layout {
    match layout {
        Layout::Nchw => preprocess::Layout::Nchw,
        Layout::Nhwc => preprocess::Layout::Nhwc,
    }
}
