//! Files of other programs (Pillow, Python's `wave`), read as torchvision and torchaudio read them: `data/make_media.py` made both.

use std::fs;
use std::path::Path;

use et_core::ScalarType;
use et_media::read;
use et_module::TensorType;
use et_module::preprocess::{AudioSteps, Color, Filter, ImageSteps, Layout, Preprocess, Resize, Scale};
use et_module::safetensors::SafeTensors;

fn file(name: &str) -> Vec<u8> {
    fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)).unwrap()
}

/// The steps that change nothing.
fn as_it_is() -> ImageSteps {
    ImageSteps {
        color: Color::Rgb,
        resize: None,
        filter: Filter::Bilinear,
        crop: None,
        scale: Scale { numerator: 1.0, denominator: 1.0 },
        mean: vec![0.0],
        std: vec![1.0],
        layout: Layout::Nhwc,
    }
}

fn wanted(scalar_type: ScalarType, shape: &[usize]) -> TensorType {
    TensorType { scalar_type, shape: shape.to_vec(), dynamic: false }
}

fn pixels(name: &str, steps: ImageSteps, shape: &[usize]) -> Vec<u8> {
    read(&file(name), &Preprocess::Image(steps), &wanted(ScalarType::Byte, shape)).unwrap().bytes
}

fn floats(bytes: &[u8]) -> Vec<f32> {
    bytes.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect()
}

#[test]
fn pixels_of_png_are_those_of_pillow() {
    let reference = file("decoded.safetensors");
    let reference = SafeTensors::parse(&reference).unwrap().tensors;
    for name in ["rgb.png", "gray.png", "palette.png"] {
        let expected = &reference[name];
        assert_eq!(pixels(name, as_it_is(), &expected.shape), expected.bytes, "{name}");
    }
    assert_eq!(pixels("rgba.png", as_it_is(), &[61, 83, 3]), reference["rgb.png"].bytes);
    let gray = ImageSteps { color: Color::Gray, ..as_it_is() };
    let luma: Vec<u8> = reference["gray.png"].bytes.iter().copied().step_by(3).collect();
    assert_eq!(pixels("rgb.png", gray, &[61, 83]), luma);
}

/// Decoders of JPEG may round differently, and interpolate colors differently where the file has fewer of them.
#[test]
fn pixels_of_jpeg_are_near_those_of_pillow() {
    let reference = file("decoded.safetensors");
    let reference = SafeTensors::parse(&reference).unwrap().tensors;
    for (name, most, mean) in
        [("gray.jpg", 2, 0.5), ("full.jpg", 4, 0.6), ("rgb.jpg", 24, 1.0), ("progressive.jpg", 24, 1.0)]
    {
        let expected = &reference[name];
        let found = pixels(name, as_it_is(), &expected.shape);
        let differences: Vec<u8> =
            found.iter().zip(expected.bytes).map(|(left, right)| left.abs_diff(*right)).collect();
        let largest = differences.iter().copied().max().unwrap();
        let sum: f64 = differences.iter().map(|difference| f64::from(*difference)).sum();
        let average = sum / differences.len() as f64;
        assert!(largest <= most && average <= mean, "{name}: {largest}, on average {average}");
    }
}

#[test]
fn resized_pixels_are_those_of_pillow() {
    let reference = file("resized.safetensors");
    for (name, expected) in SafeTensors::parse(&reference).unwrap().tensors {
        let (filter, size) = name.split_once(':').unwrap();
        let size: Vec<usize> = size.split(',').map(|side| side.parse().unwrap()).collect();
        let resize = match size[..] {
            [side] => Resize::Shorter(side),
            [height, width] => Resize::Exact([height, width]),
            _ => panic!("{name}"),
        };
        let steps = ImageSteps { resize: Some(resize), filter: Filter::of(filter).unwrap(), ..as_it_is() };
        let found = pixels("rgb.png", steps, &expected.shape);
        let difference = found.iter().zip(expected.bytes).map(|(left, right)| left.abs_diff(*right)).max();
        assert_eq!(difference, Some(0), "{name}");
    }
}

#[test]
fn numbers_are_those_of_torchvisions_preset_for_classification() {
    let reference = file("classified.safetensors");
    for (name, expected) in SafeTensors::parse(&reference).unwrap().tensors {
        let (resize, crop) = name.split_once(',').unwrap();
        let (resize, crop) = (resize.parse().unwrap(), crop.parse().unwrap());
        let steps = Preprocess::Image(ImageSteps {
            resize: Some(Resize::Shorter(resize)),
            crop: Some([crop; 2]),
            scale: Scale { numerator: 1.0, denominator: 255.0 },
            mean: vec![0.485, 0.456, 0.406],
            std: vec![0.229, 0.224, 0.225],
            layout: Layout::Nchw,
            ..as_it_is()
        });
        let found = read(&file("rgb.png"), &steps, &wanted(ScalarType::Float, &expected.shape)).unwrap();
        assert_eq!(floats(&found.bytes), floats(expected.bytes), "{name}");
    }
}

#[test]
fn samples_are_those_of_wave_and_torchaudio() {
    let reference = file("heard.safetensors");
    let reference = SafeTensors::parse(&reference).unwrap().tensors;
    for (name, rate) in [("stereo-44100.wav", 44_100), ("mono-8000.wav", 8_000), ("mono-48000.wav", 48_000)] {
        for (key, rate, tolerance) in [(name.to_owned(), rate, 1e-7), (format!("{name}:16000"), 16_000, 1e-5)] {
            let expected = floats(reference[&key].bytes);
            let steps = Preprocess::Audio(AudioSteps { rate, length: None });
            let bound = TensorType { dynamic: true, ..wanted(ScalarType::Float, &[1, 1 << 16]) };
            let found = floats(&read(&file(name), &steps, &bound).unwrap().bytes);
            assert_eq!(found.len(), expected.len(), "{key}");
            let difference = |(left, right): (&f32, &f32)| (left - right).abs();
            let largest = found.iter().zip(&expected).map(difference).fold(0.0, f32::max);
            assert!(largest <= tolerance, "{key}: {largest}");
        }
    }
}

#[test]
fn cut_and_changed_files_are_errors_or_other_pixels() {
    let image = Preprocess::Image(as_it_is());
    let audio = Preprocess::Audio(AudioSteps { rate: 16_000, length: Some(100) });
    for (name, steps) in
        [("rgb.png", &image), ("full.jpg", &image), ("progressive.jpg", &image), ("mono-8000.wav", &audio)]
    {
        let wanted = match steps {
            Preprocess::Image(_) => wanted(ScalarType::Byte, &[61, 83, 3]),
            Preprocess::Audio(_) => wanted(ScalarType::Float, &[1, 100]),
        };
        let whole = file(name);
        for length in [4, 13, 40, whole.len() / 4, whole.len() / 2] {
            let found = read(&whole[..length], steps, &wanted);
            assert!(found.is_err(), "{name} cut to {length} bytes");
        }
        for at in (0..whole.len()).step_by(whole.len() / 200 + 1) {
            let mut changed = whole.clone();
            changed[at] ^= 0x5a;
            let _ = read(&changed, steps, &wanted);
        }
    }
}

#[test]
fn a_file_of_another_kind_is_named() {
    let image = Preprocess::Image(as_it_is());
    let wanted = wanted(ScalarType::Byte, &[61, 83, 3]);
    let problem = read(&file("mono-8000.wav"), &image, &wanted).unwrap_err();
    assert_eq!(problem, "a WAV recording does not fit the preprocessing of the input");
    assert_eq!(read(b"GIF89a", &image, &wanted).unwrap_err(), "neither PNG, JPEG nor WAV");
}
