//! The named data of a checkpoint about pictures: the steps from a picture to tiles, and the text around image tokens.

mod steps;

use std::collections::BTreeMap;

use et_vision::Facts;
use serde_json::Value;

use crate::config::Config;
use crate::texts::{PROCESSOR_TEMPLATE, TOKENIZER, TOKENIZER_CONFIG, token_text};
use crate::{CONFIG, CheckpointError, PatchProjector, Patches, Projector, Tower, VisionEncoder, describe};

/// The file with the steps from a picture to pixels.
pub const PREPROCESSOR: &str = "preprocessor_config.json";
/// The file that newer checkpoints have in its place, with the steps under a key.
const PROCESSOR: &str = "processor_config.json";
/// The key of the steps in [`PROCESSOR`].
const STEPS: &str = "image_processor";

/// The files of a model that reads pictures or hears besides those about texts, each of which may be missing.
pub const PICTURE_FILES: [&str; 3] = [PREPROCESSOR, PROCESSOR, PROCESSOR_TEMPLATE];

/// Reads the facts about pictures from the files of a checkpoint, by name, for texts of at most `context` tokens and
/// pictures of at most `image_tokens`, if these are requested; `None` for a model that
/// reads no pictures.
///
/// # Errors
/// Missing and malformed files; steps that are not supported.
pub fn read_pictures(
    files: &BTreeMap<String, &[u8]>,
    context: Option<u32>,
    image_tokens: Option<u32>,
) -> Result<Option<Vec<u8>>, CheckpointError> {
    let decoder = describe(files.get(CONFIG).copied().unwrap_or_default())?;
    let Some(vision) = &decoder.vision else { return Ok(None) };
    let processor = processor(files, STEPS)?.ok_or(CheckpointError::ProcessorMissing)?;
    let tokenizer = files.get(TOKENIZER_CONFIG).map(|bytes| Config::parse_file(TOKENIZER_CONFIG, bytes)).transpose()?;
    let named = |key: &str, default: &str| {
        let found = tokenizer.as_ref().and_then(|config| config.value(key)).and_then(token_text);
        found.unwrap_or(default).to_owned()
    };
    let facts = match &vision.encoder {
        VisionEncoder::Tiles(tower, projector) => facts(vision.token, tower, *projector, &processor, &named)?,
        VisionEncoder::Patches(tower) => {
            let most = decoder.image_tokens(decoder.context(context)?, image_tokens)?;
            let breaks = if tower.has_breaks() { Some(breaks(files, &named)?) } else { None };
            facts_of_patches((vision.token, breaks), tower, most as usize, &processor, &named)?
        }
    };
    Ok(Some(facts.to_text().into_bytes()))
}

/// The steps of a processor: under a key in [`PROCESSOR`], or [`PREPROCESSOR`].
pub fn processor(files: &BTreeMap<String, &[u8]>, key: &str) -> Result<Option<Config>, CheckpointError> {
    let optional = |name: &'static str| files.get(name).map(|bytes| Config::parse_file(name, bytes)).transpose();
    match optional(PROCESSOR)?.map(|processor| processor.optional_map(key)).transpose()?.flatten() {
        Some(nested) => Ok(Some(nested)),
        None => optional(PREPROCESSOR),
    }
}

/// The tokens behind a row of image tokens, and behind the last row; `named` is the text of a special token.
fn breaks(files: &BTreeMap<String, &[u8]>, named: &dyn Fn(&str, &str) -> String) -> Result<[u32; 2], CheckpointError> {
    const TOKENS: &str = "added_tokens";
    let tokenizer = files.get(TOKENIZER).map(|bytes| Config::parse_file(TOKENIZER, bytes)).transpose()?;
    let tokens = tokenizer.as_ref().and_then(|tokenizer| tokenizer.value(TOKENS)?.as_array());
    let token = |key: &str, default: &str| {
        let text = named(key, default);
        let is_named = |token: &&Value| token_text(token) == Some(&text);
        let id = tokens.and_then(|tokens| tokens.iter().find(is_named)?.get("id")?.as_u64());
        let missing = || CheckpointError::Key {
            file: TOKENIZER,
            key: TOKENS.to_owned(),
            reason: format!("does not have `{text}`, which is behind rows of image tokens"),
        };
        id.and_then(|id| u32::try_from(id).ok()).ok_or_else(missing)
    };
    Ok([token("image_break_token", "[IMG_BREAK]")?, token("image_end_token", "[IMG_END]")?])
}

/// The facts about pictures of any size, with at most so many image tokens; `named` is the text of a special token.
fn facts_of_patches(
    (token, breaks): (u32, Option<[u32; 2]>),
    tower: &Patches,
    most: usize,
    processor: &Config,
    named: &dyn Fn(&str, &str) -> String,
) -> Result<Facts, CheckpointError> {
    let is_pooled = matches!(tower.projector, PatchProjector::Pooled { .. });
    let image = match tower.projector {
        PatchProjector::Squares => "<|image_pad|>",
        PatchProjector::Merged { .. } => "[IMG]",
        PatchProjector::Pooled { .. } => "<|image|>",
    };
    let plain = plain(token, named("image_token", image));
    let around = |key: &str, default: &str| if is_pooled { named(key, default) } else { String::new() };
    let side = tower.patch * tower.square;
    Ok(Facts {
        tokens: most,
        side,
        patches: Some(et_vision::Patches {
            patch: tower.patch,
            frames: tower.frames,
            window: tower.windows.as_ref().map_or(0, |windows| windows.side),
            table: tower.table.unwrap_or(0),
            breaks,
            in_order: is_pooled,
        }),
        before: around("boi_token", "<|image>"),
        after: around("eoi_token", "<image|>"),
        steps: steps::of_patches(tower, most, processor)?,
        ..plain
    })
}

/// Facts without text around image tokens, for a tile of one pixel.
fn plain(token: u32, image: String) -> Facts {
    let nothing = String::new;
    Facts {
        mark: image.clone(),
        image,
        token,
        tokens: 1,
        side: 1,
        patches: None,
        before: nothing(),
        after: nothing(),
        tile_before: nothing(),
        row_after: nothing(),
        grid_after: nothing(),
        steps: steps::none(),
    }
}

/// The facts, as the processor class of the family has them; `named` is the text of a special token.
fn facts(
    token: u32,
    tower: &Tower,
    projector: Projector,
    processor: &Config,
    named: &dyn Fn(&str, &str) -> String,
) -> Result<Facts, CheckpointError> {
    let image = named("image_token", "<image>");
    let plain = Facts {
        tokens: tower.image_tokens(projector),
        side: tower.side,
        steps: steps::read(tower.side, projector, processor)?,
        ..plain(token, image)
    };
    Ok(match projector {
        Projector::Network { .. } => plain,
        Projector::Shuffle { .. } => {
            let fake = named("fake_image_token", "<fake_token_around_image>");
            let whole = named("global_image_token", "<global-img>");
            let line = "\n".to_owned();
            Facts {
                before: fake.clone() + &whole,
                tile_before: fake.clone() + "<row_{row}_col_{column}>",
                after: fake,
                row_after: line.clone(),
                grid_after: line,
                ..plain
            }
        }
        Projector::Pool { .. } => {
            let begin = named("boi_token", "<start_of_image>");
            Facts {
                image: named("image_token", "<image_soft_token>"),
                before: format!("\n\n{begin}"),
                after: format!("{}\n\n", named("eoi_token", "<end_of_image>")),
                mark: begin,
                ..plain
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use et_module::preprocess::{Filter, Grid, Resize};

    use super::*;

    /// A configuration with the smallest decoder, and a tower of 24 by 24 pixels.
    fn config(architecture: &str, more: &str) -> String {
        format!(
            r#"{{"architectures": ["{architecture}"], "image_token_id": 7, {more}
            "text_config": {{"model_type": "llama", "vocab_size": 8, "hidden_size": 4, "intermediate_size": 4, "num_hidden_layers": 1,
                "num_attention_heads": 1}},
            "vision_config": {{"model_type": "siglip_vision_model", "hidden_size": 4, "image_size": 24, "patch_size": 4,
                "num_attention_heads": 2}}}}"#
        )
    }

    fn read(config: &str, files: &[(&str, &str)]) -> Result<Facts, CheckpointError> {
        let all = files.iter().copied().chain([(CONFIG, config)]);
        let files = all.map(|(name, text)| (name.to_owned(), text.as_bytes())).collect();
        Ok(Facts::parse(&read_pictures(&files, None, None)?.unwrap()).unwrap())
    }

    #[test]
    fn a_grid_has_text_around_tiles() {
        let config = config("SmolVLMForConditionalGeneration", "");
        let processor =
            r#"{"image_processor": {"max_image_size": {"longest_edge": 24}, "size": {"longest_edge": 48}}}"#;
        let facts = read(&config, &[(PROCESSOR, processor)]).unwrap();
        assert_eq!(facts.steps.grid, Some(Grid { longest: 48, side: 24, is_split: true }));
        assert_eq!((facts.tokens, facts.token, facts.mark.as_str()), (9, 7, "<image>"));
        assert_eq!((facts.before.as_str(), facts.row_after.as_str()), ("<fake_token_around_image><global-img>", "\n"));
        assert_eq!(facts.steps.image.filter, Filter::Lanczos);
        // The tower reads tiles of another size than the processor makes.
        let error = read(&config, &[(PREPROCESSOR, "{}")]).unwrap_err().to_string();
        assert!(error.contains("max_image_size"), "{error}");
    }

    #[test]
    fn a_picture_is_resized_and_cropped() {
        let config = config("LlavaForConditionalGeneration", "");
        let read = |processor: &str| read(&config, &[(PREPROCESSOR, processor)]);
        let facts = read(r#"{"size": {"shortest_edge": 30}, "crop_size": {"height": 24, "width": 24}, "resample": 2}"#);
        let steps = facts.unwrap().steps.image;
        assert_eq!((steps.resize, steps.crop), (Some(Resize::Shorter(30)), Some([24; 2])));
        assert_eq!((steps.filter, steps.mean[0]), (Filter::Bilinear, 0.481_454_66));
        let siglip = r#"{"image_processor_type": "SiglipImageProcessor", "size": {"height": 24, "width": 24}}"#;
        let steps = read(siglip).unwrap().steps.image;
        assert_eq!((steps.resize, steps.crop, steps.mean[0]), (Some(Resize::Exact([24; 2])), None, 0.5));
        for (processor, word) in [
            (r#"{"size": {"shortest_edge": 30}, "do_center_crop": false}"#, "size"),
            (r#"{"size": 24, "crop_size": 20}"#, "crop_size"),
            (r#"{"size": 24, "do_pad": true}"#, "do_pad"),
            (r#"{"size": 24, "do_resize": false}"#, "do_resize"),
            (r#"{"size": 24, "resample": 5}"#, "resample"),
            (r#"{"size": 24, "image_mean": [0.5]}"#, "image_mean"),
            ("{}", "size"),
        ] {
            let error = read(processor).unwrap_err().to_string();
            assert!(error.contains(word), "{error}");
        }
    }

    #[test]
    fn a_picture_of_any_size_has_as_many_pixels_as_the_program_has_room_for() {
        let config = r#"{"architectures": ["Qwen2VLForConditionalGeneration"], "vocab_size": 8, "hidden_size": 8, "intermediate_size": 4,
            "num_hidden_layers": 1, "num_attention_heads": 1, "num_key_value_heads": 1, "image_token_id": 7,
            "rope_scaling": {"type": "mrope", "mrope_section": [2, 1, 1]}, "vision_config": {"embed_dim": 64}}"#;
        // Qwen2-VL-2B-Instruct.
        let published = r#"{"min_pixels": 3136, "max_pixels": 12845056, "patch_size": 14, "temporal_patch_size": 2, "merge_size": 2,
            "image_processor_type": "Qwen2VLImageProcessor"}"#;
        let facts = read(config, &[(PREPROCESSOR, published)]).unwrap();
        let most = 1024 * 28 * 28;
        assert_eq!(facts.steps.image.resize, Some(Resize::Within { factor: 28, least: 3136, most }));
        assert_eq!((facts.tokens, facts.side, facts.mark.as_str()), (1024, 28, "<|image_pad|>"));
        assert_eq!(
            facts.patches,
            Some(et_vision::Patches { patch: 14, frames: 2, window: 0, table: 0, breaks: None, in_order: false })
        );
        let newer = r#"{"size": {"shortest_edge": 784, "longest_edge": 7840}}"#;
        let steps = read(config, &[(PREPROCESSOR, newer)]).unwrap().steps.image;
        assert_eq!(steps.resize, Some(Resize::Within { factor: 28, least: 784, most: 7840 }));
        for (processor, word) in
            [(r#"{"min_pixels": 900000}"#, "min_pixels"), (r#"{"patch_size": 16}"#, "which the tower reads")]
        {
            let error = read(config, &[(PREPROCESSOR, processor)]).unwrap_err().to_string();
            assert!(error.contains(word), "{error}");
        }
    }

    #[test]
    fn tokens_behind_rows_are_those_of_the_tokenizer() {
        let config = r#"{"architectures": ["Mistral3ForConditionalGeneration"], "image_token_index": 10,
            "text_config": {"model_type": "mistral", "vocab_size": 16, "hidden_size": 8, "intermediate_size": 4, "num_hidden_layers": 1,
                "num_attention_heads": 1, "num_key_value_heads": 1},
            "vision_config": {"model_type": "pixtral", "patch_size": 14, "hidden_size": 64}}"#;
        // Mistral-Small-3.1-24B-Instruct-2503.
        let published = r#"{"image_processor_type": "PixtralImageProcessor", "patch_size": {"height": 14, "width": 14}, "resample": 3,
            "do_convert_rgb": true, "size": {"longest_edge": 1540}}"#;
        let tokenizer =
            r#"{"added_tokens": [{"id": 12, "content": "[IMG_BREAK]"}, {"id": 13, "content": "[IMG_END]"}]}"#;
        let facts = read(config, &[(PREPROCESSOR, published), (TOKENIZER, tokenizer)]).unwrap();
        assert_eq!(facts.steps.image.resize, Some(Resize::Aligned { factor: 28, longest: 1540, most: 1024 }));
        assert_eq!((facts.token, facts.side, facts.mark.as_str()), (10, 28, "[IMG]"));
        assert_eq!(facts.patches.unwrap().breaks, Some([12, 13]));
        let other = published.replace(r#""width": 14"#, r#""width": 16"#);
        for (processor, tokenizer, word) in [
            (other.as_str(), tokenizer, "which the tower reads"),
            (published, r#"{"added_tokens": [{"id": 12, "content": "[IMG_BREAK]"}]}"#, "`[IMG_END]`"),
            (published, "{}", "`[IMG_BREAK]`"),
        ] {
            let error = read(config, &[(PREPROCESSOR, processor), (TOKENIZER, tokenizer)]).unwrap_err().to_string();
            assert!(error.contains(word), "{error}");
        }
    }

    #[test]
    fn a_picture_fills_its_image_tokens_with_numbers_from_minus_one() {
        let config = r#"{"architectures": ["Gemma4ForConditionalGeneration"], "image_token_id": 7, "vision_config": {"model_type": "gemma4_vision"},
            "text_config": {"model_type": "gemma4_text", "vocab_size": 8}}"#;
        // gemma-4-E2B-it.
        let published = r#"{"image_processor": {"do_convert_rgb": true, "do_normalize": false, "do_rescale": true, "do_resize": true,
            "image_mean": [0.0, 0.0, 0.0], "image_processor_type": "Gemma4ImageProcessor", "image_seq_length": 280,
            "image_std": [1.0, 1.0, 1.0], "max_soft_tokens": 280, "patch_size": 16, "pooling_kernel_size": 3, "resample": 3,
            "rescale_factor": 0.00392156862745098}}"#;
        let facts = read(config, &[(PROCESSOR, published)]).unwrap();
        let steps = &facts.steps.image;
        assert_eq!(steps.resize, Some(Resize::Filling { factor: 48, most: 280 }));
        assert_eq!((steps.filter, &steps.mean[..], &steps.std[..]), (Filter::Bicubic, &[0.5][..], &[0.5][..]));
        let texts = [&facts.mark, &facts.image, &facts.before, &facts.after];
        assert_eq!(texts, ["<|image|>", "<|image|>", "<|image>", "<image|>"]);
        let patches = facts.patches.unwrap();
        assert_eq!((facts.tokens, facts.side, patches.in_order, patches.breaks), (280, 48, true, None));
        // Fewer image tokens than the program has room for, and more.
        for (tokens, most) in [(70, 70), (1120, 280)] {
            let other = published.replace(r#""max_soft_tokens": 280"#, &format!(r#""max_soft_tokens": {tokens}"#));
            let steps = read(config, &[(PROCESSOR, &other)]).unwrap().steps.image;
            assert_eq!(steps.resize, Some(Resize::Filling { factor: 48, most }));
        }
        let other = published.replace(r#""pooling_kernel_size": 3"#, r#""pooling_kernel_size": 4"#);
        let error = read(config, &[(PROCESSOR, &other)]).unwrap_err().to_string();
        assert!(error.contains("pooling_kernel_size") && error.contains("which the tower reads"), "{error}");
    }

    #[test]
    fn a_pool_names_its_tokens() {
        let config = config("Gemma3ForConditionalGeneration", r#""mm_tokens_per_image": 9,"#);
        let tokenizer = r#"{"boi_token": "<b>", "eoi_token": {"content": "<e>"}}"#;
        let processor = r#"{"size": {"height": 24, "width": 24}}"#;
        let facts = read(&config, &[(PREPROCESSOR, processor), (TOKENIZER_CONFIG, tokenizer)]).unwrap();
        assert_eq!((facts.mark.as_str(), facts.image.as_str()), ("<b>", "<image_soft_token>"));
        assert_eq!((facts.before.as_str(), facts.after.as_str()), ("\n\n<b>", "<e>\n\n"));
        assert_eq!((facts.tokens, facts.steps.image.filter), (9, Filter::Bilinear));
    }

    #[test]
    fn a_model_without_the_file_is_refused_and_a_decoder_has_no_pictures() {
        let error = read(&config("LlavaForConditionalGeneration", ""), &[]).unwrap_err();
        assert_eq!(error, CheckpointError::ProcessorMissing);
        let decoder = r#"{"architectures": ["LlamaForCausalLM"], "vocab_size": 8, "hidden_size": 4, "intermediate_size": 4,
            "num_hidden_layers": 1, "num_attention_heads": 1}"#;
        let files = [(CONFIG.to_owned(), decoder.as_bytes())].into_iter().collect();
        assert_eq!(read_pictures(&files, None, None), Ok(None));
    }
}
