//! The steps of image processors of `transformers`, from a picture to tiles.

use et_module::preprocess::{Color, Filter, Grid, ImageSteps, Layout, Resize, Scale, TileSteps};
use serde_json::Value;

use crate::config::Config;
use crate::{CheckpointError, PatchProjector, Patches, Projector};

/// Mean and deviation of CLIP's training data.
const CLIP: [[f32; 3]; 2] = [[0.481_454_66, 0.457_827_5, 0.408_210_73], [0.268_629_55, 0.261_302_6, 0.275_777_1]];
/// Mean and deviation for values from -1 to 1.
const HALVES: [[f32; 3]; 2] = [[0.5; 3]; 2];

/// The filters, by the numbers of Pillow.
const FILTERS: [Filter; 5] = [Filter::Nearest, Filter::Lanczos, Filter::Bilinear, Filter::Bicubic, Filter::Box];

/// The steps that `config` states, with the defaults of the processor's class.
pub fn read(side: usize, projector: Projector, config: &Config) -> Result<TileSteps, CheckpointError> {
    let class = config.optional_text("image_processor_type")?.unwrap_or_default();
    // The processors of Idefics3, of Gemma 3, and of LLaVA, which are CLIP's or SigLIP's.
    let (usual, is_grid, is_clip) = match projector {
        Projector::Shuffle { .. } => (Filter::Lanczos, true, false),
        Projector::Pool { .. } => (Filter::Bilinear, false, false),
        Projector::Network { .. } => (Filter::Bicubic, false, !class.starts_with("Siglip")),
    };
    config.refuse("do_pan_and_scan")?;
    if !is_grid {
        config.refuse("do_pad")?;
    }
    let mut image = pixels(config, usual, if is_clip { CLIP } else { HALVES }, true)?;
    if is_grid {
        return Ok(TileSteps { grid: Some(grid(config, side)?), image });
    }
    image.resize = Some(resize(config)?);
    if config.flag_or("do_center_crop", is_clip)? {
        image.crop = Some(size(config, "crop_size")?.unwrap_or([side; 2]));
    }
    let fits = match (image.crop, image.resize) {
        (Some(crop), _) => crop == [side; 2],
        (None, resize) => resize == Some(Resize::Exact([side; 2])),
    };
    let key = if image.crop.is_some() { "crop_size" } else { "size" };
    if fits {
        Ok(TileSteps { image, grid: None })
    } else {
        Err(config.unsupported(key, format!("{side} by {side} pixels")))
    }
}

/// The steps of pictures of any size with at most so many image tokens.
pub fn of_patches(tower: &Patches, most: usize, config: &Config) -> Result<TileSteps, CheckpointError> {
    let side = tower.patch * tower.square;
    match tower.projector {
        PatchProjector::Squares => between(tower, most * side * side, config),
        PatchProjector::Merged { .. } => up_to(tower, [side, most], config),
        PatchProjector::Pooled { .. } => filling(tower, [side, most], config),
    }
}

/// The steps of pictures that are as large as a number of squares, and at most so many, allows: Gemma 4's.
fn filling(tower: &Patches, [factor, bound]: [usize; 2], config: &Config) -> Result<TileSteps, CheckpointError> {
    refuse_others(config, [("patch_size", tower.patch), ("pooling_kernel_size", tower.square)])?;
    let most = config.optional_size("max_soft_tokens")?.unwrap_or(280).min(bound);
    // The tower reads numbers from -1 to 1 where the processor makes numbers from 0 to 1.
    let mut image = pixels(config, Filter::Bicubic, [[0.0; 3], [1.0; 3]], false)?;
    image.std.iter_mut().for_each(|std| *std /= 2.0);
    image.mean.iter_mut().zip(&image.std).for_each(|(mean, half)| *mean += half);
    image.resize = Some(Resize::Filling { factor, most });
    Ok(TileSteps { image, grid: None })
}

/// Refuses sizes that are not those of the tower.
fn refuse_others<const N: usize>(config: &Config, sizes: [(&str, usize); N]) -> Result<(), CheckpointError> {
    for (key, own) in sizes {
        if config.optional_size(key)?.is_some_and(|size| size != own) {
            return Err(config.unsupported(key, format!("`{own}`, which the tower reads")));
        }
    }
    Ok(())
}

/// The steps of pictures with a longest side and at most so many squares of this side: Pixtral's.
fn up_to(tower: &Patches, [factor, most]: [usize; 2], config: &Config) -> Result<TileSteps, CheckpointError> {
    const PATCH: &str = "patch_size";
    let is_own = |size: &Value| size.as_u64() == Some(tower.patch as u64);
    let sides = ["height", "width"];
    if config
        .value(PATCH)
        .is_some_and(|size| !is_own(size) && !sides.iter().all(|side| size.get(side).is_some_and(is_own)))
    {
        return Err(config.unsupported(PATCH, format!("`{}`, which the tower reads", tower.patch)));
    }
    config.refuse("do_center_crop")?;
    let size = config.optional_map("size")?;
    let longest = size.as_ref().map(|size| size.optional_pixels("longest_edge")).transpose()?.flatten();
    let mut image = pixels(config, Filter::Bicubic, CLIP, true)?;
    image.resize = Some(Resize::Aligned { factor, longest: longest.unwrap_or(1024), most });
    Ok(TileSteps { image, grid: None })
}

/// The steps of pictures between two numbers of pixels, and with at most so many: Qwen2-VL's.
fn between(tower: &Patches, bound: usize, config: &Config) -> Result<TileSteps, CheckpointError> {
    let sizes = [("patch_size", tower.patch), ("merge_size", tower.square), ("temporal_patch_size", tower.frames)];
    refuse_others(config, sizes)?;
    let factor = tower.patch * tower.square;
    let size = config.optional_map("size")?;
    let limit = |old: &str, key: &str, default: usize| {
        let nested = size.as_ref().map(|size| size.optional_pixels(key)).transpose()?.flatten();
        Ok::<_, CheckpointError>(config.optional_pixels(old)?.or(nested).unwrap_or(default))
    };
    let least = limit("min_pixels", "shortest_edge", 56 * 56)?;
    let most = limit("max_pixels", "longest_edge", 28 * 28 * 1280)?.min(bound);
    if least > most {
        let reason = format!(
            "is {least}, and pictures have at most {most} pixels: raise `export.image_tokens` or `export.context`"
        );
        return Err(config.mistake("min_pixels", reason));
    }
    let mut image = pixels(config, Filter::Bicubic, CLIP, true)?;
    image.resize = Some(Resize::Within { factor, least, most });
    Ok(TileSteps { image, grid: None })
}

/// No steps.
pub fn none() -> TileSteps {
    let scale = Scale { numerator: 1.0, denominator: 1.0 };
    TileSteps { image: unsized_steps(Filter::Nearest, scale), grid: None }
}

/// The numbers of pixels, and the filter: all but sizes. Whether the class normalizes is `normalizes`.
fn pixels(
    config: &Config,
    usual: Filter,
    [mean, deviation]: [[f32; 3]; 2],
    normalizes: bool,
) -> Result<ImageSteps, CheckpointError> {
    for key in ["do_resize", "do_rescale"] {
        if !config.flag_or(key, true)? {
            return Err(config.unsupported(key, "`true`"));
        }
    }
    let mut image = unsized_steps(filter(config, usual)?, scale(config)?);
    if config.flag_or("do_normalize", normalizes)? {
        image.mean = numbers(config, "image_mean", mean)?;
        image.std = numbers(config, "image_std", deviation)?;
    }
    Ok(image)
}

/// Steps that keep size and values but for the scale.
fn unsized_steps(filter: Filter, scale: Scale) -> ImageSteps {
    ImageSteps {
        color: Color::Rgb,
        resize: None,
        filter,
        crop: None,
        scale,
        mean: vec![0.0],
        std: vec![1.0],
        layout: Layout::Nchw,
    }
}

fn filter(config: &Config, default: Filter) -> Result<Filter, CheckpointError> {
    const KEY: &str = "resample";
    let Some(number) = config.optional_count(KEY)? else { return Ok(default) };
    FILTERS.get(number).copied().ok_or_else(|| config.unsupported(KEY, "`0` to `4`"))
}

/// The factor of the values: 1/255 as a division, as in `torch`.
fn scale(config: &Config) -> Result<Scale, CheckpointError> {
    let factor = config.optional_number("rescale_factor")?.unwrap_or(1.0 / 255.0);
    let is_usual = (factor * 255.0 - 1.0).abs() < 1e-6;
    let (numerator, denominator) = if is_usual { (1.0, 255.0) } else { (factor as f32, 1.0) };
    Ok(Scale { numerator, denominator })
}

fn numbers(config: &Config, key: &str, default: [f32; 3]) -> Result<Vec<f32>, CheckpointError> {
    let Some(value) = config.value(key) else { return Ok(default.to_vec()) };
    let number = |value: &Value| value.as_f64().filter(|number| number.is_finite()).map(|number| number as f32);
    let list = value.as_array().map(|list| list.iter().map(number).collect::<Option<Vec<f32>>>());
    match list {
        Some(Some(list)) if list.len() == 3 => Ok(list),
        _ => Err(config.mistake(key, "is no list of three numbers")),
    }
}

/// The grid of Idefics3, whose tiles the tower reads.
fn grid(config: &Config, side: usize) -> Result<Grid, CheckpointError> {
    const TILE: &str = "max_image_size";
    let edge = |key: &str, default: usize| {
        let map = config.optional_map(key)?;
        Ok::<_, CheckpointError>(
            map.map(|map| map.optional_size("longest_edge")).transpose()?.flatten().unwrap_or(default),
        )
    };
    if edge(TILE, 364)? != side {
        return Err(config.unsupported(TILE, format!("`{{\"longest_edge\": {side}}}`, the size that the tower reads")));
    }
    Ok(Grid { longest: edge("size", 4 * 364)?, side, is_split: config.flag_or("do_image_splitting", true)? })
}

/// The size after resizing: the shorter side, or height and width.
fn resize(config: &Config) -> Result<Resize, CheckpointError> {
    const KEY: &str = "size";
    if let Some(map) =
        config.value(KEY).filter(|size| size.is_object()).map(|_| config.optional_map(KEY)).transpose()?.flatten()
        && let Some(side) = map.optional_size("shortest_edge")?
    {
        return match map.value("longest_edge") {
            None => Ok(Resize::Shorter(side)),
            Some(_) => Err(config.unsupported(KEY, "`shortest_edge` alone, or `height` and `width`")),
        };
    }
    match (config.value(KEY).and_then(Value::as_u64), size(config, KEY)?) {
        // A number is the shorter side.
        (Some(_), Some([side, _])) => Ok(Resize::Shorter(side)),
        (None, Some(size)) => Ok(Resize::Exact(size)),
        (_, None) => Err(config.mistake(KEY, "is missing")),
    }
}

/// Height and width of a key: a map, or one number for both.
fn size(config: &Config, key: &str) -> Result<Option<[usize; 2]>, CheckpointError> {
    if config.value(key).is_some_and(Value::is_number) {
        return Ok(config.optional_size(key)?.map(|side| [side; 2]));
    }
    let Some(map) = config.optional_map(key)? else { return Ok(None) };
    Ok(Some([map.size("height")?, map.size("width")?]))
}
