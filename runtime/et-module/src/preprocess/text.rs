//! The steps as text, the form in program files: a line per input, with the name, `image` or `audio`, and `key=value` between tabs.

use std::str::FromStr;

use super::{AudioSteps, Color, Filter, ImageSteps, Layout, Preprocess, Resize, Scale};
use crate::Named;

/// The key of the named data with the steps for all inputs.
pub const PREPROCESS_KEY: &str = "etbuild.preprocess";

/// The steps as text; equal steps give equal bytes.
pub fn to_text<'a>(steps: impl IntoIterator<Item = (&'a String, &'a Preprocess)>) -> String {
    let line = |(name, steps): (&String, &Preprocess)| match steps {
        Preprocess::Image(steps) => format!("{name}\timage\t{}\n", image_fields(steps).join("\t")),
        Preprocess::Audio(steps) => format!("{name}\taudio\t{}\n", audio_fields(*steps).join("\t")),
    };
    steps.into_iter().map(line).collect()
}

/// Reads what [`to_text`] wrote; `None` for another text.
pub fn from_text(text: &str) -> Option<Named<Preprocess>> {
    text.lines().map(line).collect()
}

fn image_fields(steps: &ImageSteps) -> Vec<String> {
    let resize = steps.resize.map(|resize| match resize {
        Resize::Shorter(side) => format!("resize={side}"),
        Resize::Exact(size) => format!("resize={}", joined(&size)),
        Resize::Within { factor, least, most } => format!("resize={}", joined(&[factor, least, most])),
        Resize::Aligned { factor, longest, most } => format!("align={}", joined(&[factor, longest, most])),
        Resize::Filling { factor, most } => format!("fill={}", joined(&[factor, most])),
    });
    let crop = steps.crop.map(|size| format!("crop={}", joined(&size)));
    let Scale { numerator, denominator } = steps.scale;
    let rest = [
        format!("color={}", steps.color.name()),
        format!("filter={}", steps.filter.name()),
        format!("layout={}", steps.layout.name()),
        format!("mean={}", joined(&steps.mean)),
        format!("scale={numerator},{denominator}"),
        format!("std={}", joined(&steps.std)),
    ];
    crop.into_iter().chain(resize).chain(rest).collect()
}

fn audio_fields(steps: AudioSteps) -> Vec<String> {
    let length = steps.length.map(|length| format!("length={length}"));
    length.into_iter().chain([format!("rate={}", steps.rate)]).collect()
}

fn joined<T: ToString>(numbers: &[T]) -> String {
    numbers.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
}

fn line(line: &str) -> Option<(String, Preprocess)> {
    let mut words = line.split('\t');
    let (name, kind) = (words.next()?, words.next()?);
    let fields = words
        .map(|word| word.split_once('=').map(|(key, value)| (key.to_owned(), value)))
        .collect::<Option<Named<&str>>>()?;
    let steps = match kind {
        "image" => Preprocess::Image(image(&fields)?),
        "audio" => Preprocess::Audio(AudioSteps {
            rate: fields.get("rate")?.parse().ok()?,
            length: fields
                .get("length")
                .map(|length| length.parse().ok())
                .map_or(Some(None), |length| length.map(Some))?,
        }),
        _ => return None,
    };
    Some((name.to_owned(), steps))
}

fn image(fields: &Named<&str>) -> Option<ImageSteps> {
    let resize = ["resize", "align", "fill"].into_iter().find_map(|key| Some((key, *fields.get(key)?)));
    let resize = match resize {
        None => None,
        Some((key, sizes)) => Some(match (key, &numbers::<usize>(sizes)?[..]) {
            ("resize", &[side]) => Resize::Shorter(side),
            ("resize", &[height, width]) => Resize::Exact([height, width]),
            ("resize", &[factor, least, most]) => Resize::Within { factor, least, most },
            ("align", &[factor, longest, most]) => Resize::Aligned { factor, longest, most },
            ("fill", &[factor, most]) => Resize::Filling { factor, most },
            _ => return None,
        }),
    };
    let crop = match fields.get("crop") {
        None => None,
        Some(sizes) => Some(numbers(sizes)?.try_into().ok()?),
    };
    let [numerator, denominator] = numbers(fields.get("scale")?)?.try_into().ok()?;
    Some(ImageSteps {
        color: Color::of(fields.get("color")?)?,
        resize,
        filter: Filter::of(fields.get("filter")?)?,
        crop,
        scale: Scale { numerator, denominator },
        mean: numbers(fields.get("mean")?)?,
        std: numbers(fields.get("std")?)?,
        layout: Layout::of(fields.get("layout")?)?,
    })
}

fn numbers<T: FromStr>(text: &str) -> Option<Vec<T>> {
    text.split(',').map(|number| number.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn image(resize: Option<Resize>, crop: Option<[usize; 2]>) -> Preprocess {
        let scale = Scale { numerator: 1.0, denominator: 255.0 };
        let (mean, std) = (vec![0.485, 0.456, 0.406], vec![0.229, 0.224, 0.225]);
        let (color, filter, layout) = (Color::Bgr, Filter::Bicubic, Layout::Nhwc);
        Preprocess::Image(ImageSteps { color, resize, filter, crop, scale, mean, std, layout })
    }

    #[test]
    fn steps_read_back_from_their_text() {
        let audio = |length| Preprocess::Audio(AudioSteps { rate: 16_000, length });
        for steps in [
            image(None, None),
            image(Some(Resize::Shorter(256)), Some([224, 192])),
            image(Some(Resize::Exact([32, 64])), None),
            image(Some(Resize::Within { factor: 28, least: 3136, most: 784_000 }), None),
            image(Some(Resize::Aligned { factor: 28, longest: 1540, most: 1024 }), None),
            image(Some(Resize::Filling { factor: 48, most: 280 }), None),
            audio(None),
            audio(Some(16_000)),
        ] {
            let (name, text) = ("x".to_owned(), to_text([(&"x".to_owned(), &steps)]));
            assert_eq!(from_text(&text), Some(Named::from([(name, steps)])));
        }
        assert_eq!(from_text(""), Some(Named::new()));
    }

    #[test]
    fn other_texts_are_refused() {
        for text in ["x", "x\tvideo\trate=1", "x\taudio\t", "x\taudio\trate=1\tlength=a", "x\timage\tcolor=red"] {
            assert_eq!(from_text(text), None, "{text}");
        }
        let good = to_text([(&"x".to_owned(), &image(None, Some([1, 2])))]);
        for (old, new) in
            [("crop=1,2", "crop=1"), ("scale=1,255", "scale=1"), ("std=", "std=a,"), ("image\t", "image\tx\t")]
        {
            assert_eq!(from_text(&good.replace(old, new)), None, "{new}");
        }
    }
}
