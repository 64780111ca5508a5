//! The inputs that programs get in another form than models, as a recipe states them.

use std::collections::BTreeMap;

use et_module::preprocess::{Layout as Planes, Resize};
use et_signal::PixelFormat;
use et_signal::tables::{MelScale, Resampling, Window, shorter};
use etbuild_pass::{CameraPicture, Cosines, Decibels, FrontEnd, Logarithm, Real, SoundFeatures};
use etbuild_recipe::{
    CameraPixels, Color, Dct, Features, Filter, ImageInput, Input, Layout, Log, Recipe, Scale, WindowFunction,
};

use super::reading::{camera_size, image, pixels};

/// The front ends by the names of inputs.
pub fn front_ends(recipe: &Recipe) -> BTreeMap<String, FrontEnd> {
    let inputs = recipe.inputs.iter().flat_map(|inputs| &inputs.value);
    inputs.filter_map(|(name, input)| Some((name.clone(), front_end(input)?))).collect()
}

fn front_end(input: &Input) -> Option<FrontEnd> {
    match input {
        Input::Audio(steps) => {
            let length = steps.length.as_ref().map(|length| length.value as usize);
            let features = steps.features.as_ref()?;
            let is_stream = steps.stream.as_ref().is_some_and(|stream| stream.value);
            let stream = is_stream.then(|| length.unwrap_or(features.hop_length() as usize));
            let samples = length.filter(|_| !is_stream);
            Some(FrontEnd::Sound(SoundFeatures { samples, stream, ..sound(features, steps.rate.value) }))
        }
        Input::Image(steps) => camera_size(steps).map(|size| FrontEnd::Picture(picture(steps, size))),
    }
}

fn picture(input: &ImageInput, size: [usize; 2]) -> CameraPicture {
    let steps = image(input);
    let resized = match steps.resize {
        Some(Resize::Shorter(side)) => shorter(size, side),
        Some(Resize::Exact(size)) => size,
        _ => size,
    };
    let (bytes, format) = match (pixels(input), input.color) {
        (CameraPixels::Rgb888, Color::Rgb) => (3, PixelFormat::Bytes),
        (CameraPixels::Rgb888, Color::Bgr) => (3, PixelFormat::Reversed),
        (CameraPixels::Rgb888, Color::Gray) => (3, PixelFormat::Luma),
        (CameraPixels::Rgb565, Color::Rgb) => (2, PixelFormat::Rgb565),
        (CameraPixels::Rgb565, Color::Bgr) => (2, PixelFormat::Bgr565),
        (CameraPixels::Rgb565, Color::Gray) => (2, PixelFormat::Luma565),
        (CameraPixels::Gray8, _) => (1, PixelFormat::Bytes),
    };
    let channels = input.color.channels();
    let all: Vec<u8> = (0..=u8::MAX).flat_map(|value| std::iter::repeat_n(value, channels)).collect();
    let numbers = Planes::Nchw.ordered(&steps.numbers(&all, channels), channels);
    CameraPicture {
        size,
        bytes,
        format,
        resized,
        filter: match input.filter {
            Filter::Nearest => Resampling::Nearest,
            Filter::Box => Resampling::Box,
            Filter::Bilinear => Resampling::Bilinear,
            Filter::Bicubic => Resampling::Bicubic,
            Filter::Lanczos => Resampling::Lanczos,
        },
        kept: steps.crop.unwrap_or(resized),
        values: numbers.into_iter().map(f32::to_bits).collect(),
        channels_last: input.layout == Layout::Nhwc,
    }
}

/// Features of recordings whose length follows from the model's input.
fn sound(features: &Features, rate: u32) -> SoundFeatures {
    let floor = Real::new(features.floor());
    SoundFeatures {
        rate,
        samples: None,
        stream: None,
        frame: features.n_fft() as usize,
        window_length: features.win_length() as usize,
        hop: features.hop_length() as usize,
        window: match features.window {
            WindowFunction::Hann => Window::Hann,
            WindowFunction::Hamming => Window::Hamming,
        },
        is_centered: features.center.unwrap_or(true),
        bands: features.n_mels() as usize,
        hertz: features.hertz(rate).map(Real::new),
        scale: match features.mel_scale {
            Scale::Htk => MelScale::Htk,
            Scale::Slaney => MelScale::Slaney,
        },
        has_equal_areas: features.norm.is_some(),
        is_magnitude: features.power() == 1,
        logarithm: match features.log {
            Log::Ln => Logarithm::Natural { offset: floor },
            Log::Log10 => Logarithm::Decimal { offset: floor },
            Log::Db => Logarithm::Decibels(Decibels { least: floor, range: features.top_db().map(Real::new) }),
        },
        cosines: features
            .n_mfcc
            .as_ref()
            .map(|count| Cosines { count: count.value as usize, is_orthonormal: features.dct == Dct::Ortho }),
    }
}
