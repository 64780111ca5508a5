//! The named data of a checkpoint about pictures: the steps from a picture to tiles, and the text around image tokens.

mod steps;

use std::collections::BTreeMap;

use et_vision::Facts;

use crate::config::Config;
use crate::texts::{TOKENIZER_CONFIG, token_text};
use crate::{CONFIG, CheckpointError, Projector, Vision, describe};

/// The file with the steps from a picture to pixels.
const PREPROCESSOR: &str = "preprocessor_config.json";
/// The file that newer checkpoints have in its place, with the steps under a key.
const PROCESSOR: &str = "processor_config.json";
/// The key of the steps in [`PROCESSOR`].
const STEPS: &str = "image_processor";

/// The files that the facts about pictures are read from besides those about texts, each of which may be missing.
pub const PICTURE_FILES: [&str; 2] = [PREPROCESSOR, PROCESSOR];

/// Reads the facts about pictures from the files of a checkpoint, by name; `None` for a model that reads no pictures.
///
/// # Errors
/// Missing and malformed files; steps that are not supported.
pub fn read_pictures(files: &BTreeMap<String, &[u8]>) -> Result<Option<Vec<u8>>, CheckpointError> {
    let Some(vision) = describe(files.get(CONFIG).copied().unwrap_or_default())?.vision else { return Ok(None) };
    let optional = |name: &'static str| files.get(name).map(|bytes| Config::parse_file(name, bytes)).transpose();
    let nested = optional(PROCESSOR)?.map(|processor| processor.optional_map(STEPS)).transpose()?.flatten();
    let processor = match nested {
        Some(nested) => nested,
        None => optional(PREPROCESSOR)?.ok_or(CheckpointError::ProcessorMissing)?,
    };
    let tokenizer = optional(TOKENIZER_CONFIG)?;
    let named = |key: &str, default: &str| {
        let found = tokenizer.as_ref().and_then(|config| config.value(key)).and_then(token_text);
        found.unwrap_or(default).to_owned()
    };
    Ok(Some(facts(&vision, &processor, &named)?.to_text().into_bytes()))
}

/// The facts, as the processor class of the family has them; `named` is the text of a special token.
fn facts(
    vision: &Vision,
    processor: &Config,
    named: &dyn Fn(&str, &str) -> String,
) -> Result<Facts, CheckpointError> {
    let image = named("image_token", "<image>");
    let plain = Facts {
        mark: image.clone(),
        image,
        token: vision.token,
        tokens: vision.tokens(),
        side: vision.tower.side,
        before: String::new(),
        after: String::new(),
        tile_before: String::new(),
        row_after: String::new(),
        grid_after: String::new(),
        steps: steps::read(vision, processor)?,
    };
    Ok(match vision.projector {
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
