//! Encoders: models that read a whole text at once, and give an embedding, classes, or labels of tokens.

mod attention;
mod constants;
mod description;
mod family;
mod pooling;
mod program;

use std::collections::BTreeMap;

use etbuild_ir::{AtenProgram, Program};
use serde_json::Value;

pub use description::{
    Block, Dense, Encoder, EncoderNames, Head, Pooling, Projection, Reach, Scores, SequenceHead, Task,
};
pub use pooling::{MODULES, SENTENCE, Sentence, has_pooling, module_files};

use crate::config::Config;
use crate::shards::Tensors;
use crate::{CONFIG, Checkpoint, CheckpointError, Method, Model, TOKENIZER_CONFIG};

/// What a recipe says about the texts of an encoder; `None` for what the checkpoint says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Encoding {
    /// How the hidden states of a text become one vector.
    pub pooling: Option<Pooling>,
    /// Whether embeddings have the length 1.
    pub normalize: Option<bool>,
    /// The most tokens of a text; further tokens are cut off.
    pub max_tokens: Option<u32>,
}

/// Whether a configuration is that of an encoder.
pub fn is_encoder(config: &[u8]) -> bool {
    let name = Config::parse(config).and_then(|config| config.architecture());
    name.is_ok_and(|name| family::find(&name).is_some())
}

/// The architectures of encoders.
pub fn encoder_architectures() -> impl Iterator<Item = &'static str> {
    family::FAMILIES.iter().flat_map(|family| family.architectures).map(|(name, _)| *name)
}

/// The description of an encoder from the files of a checkpoint, and what the recipe says.
///
/// # Errors
/// Malformed files; a part of the model that is not supported.
pub fn describe_encoder(files: &BTreeMap<String, &[u8]>, encoding: &Encoding) -> Result<Encoder, CheckpointError> {
    let config = Config::parse(files.get(CONFIG).copied().unwrap_or_default())?;
    let mut encoder = family::describe(&config)?;
    let sentence = Sentence::read(files)?;
    if let Head::Embedding { pooling, projection, normalize } = &mut encoder.head {
        *projection = sentence.projection(encoder.width)?;
        *pooling = encoding.pooling.or(sentence.pooling).unwrap_or(Pooling::Mean);
        *normalize = encoding.normalize.unwrap_or(sentence.normalize);
    } else if let Some(key) = encoding.pooling.map(|_| "pooling").or(encoding.normalize.map(|_| "normalize")) {
        return Err(CheckpointError::TextOption { key, task: encoder.task().name() });
    } else {
        sentence.refuse_projection(encoder.task().name())?;
    }
    config.refuse_quantized()?;
    let longest = encoder.positions;
    if let Some(asked) = encoding.max_tokens.filter(|asked| *asked as usize > longest) {
        return Err(CheckpointError::Context { asked, longest });
    }
    let stated = encoding.max_tokens.map(|tokens| tokens as usize).or(sentence.max_tokens);
    let stated = stated.map_or_else(|| tokenizer_limit(files), |stated| Ok(Some(stated)))?;
    encoder.max_tokens = stated.unwrap_or(longest).min(longest);
    Ok(encoder)
}

/// The program of an encoder, as [`crate::import_checkpoint`] says.
///
/// # Errors
/// Malformed files; a part of the model that is not supported; missing tensors.
pub fn import(checkpoint: &Checkpoint, encoding: &Encoding) -> Result<AtenProgram, Vec<CheckpointError>> {
    if checkpoint.adapter.is_some() {
        return Err(vec![CheckpointError::EncoderOption("an adapter")]);
    }
    let Model::Folder { config, more, shards } = &checkpoint.model else {
        return Err(vec![CheckpointError::EncoderOption("a file in GGUF")]);
    };
    let views = more.iter().map(|(name, file)| (name.clone(), file.bytes()));
    let views = views.chain([(CONFIG.to_owned(), config.bytes())]).collect();
    let encoder = describe_encoder(&views, encoding).map_err(|error| vec![error])?;
    let graph = program::build(&encoder, Tensors::open(shards)?)?;
    let methods = BTreeMap::from([(Method::Forward.name(), graph)]);
    let verified = AtenProgram::verify(Program { methods });
    verified.map_err(|violations| violations.into_iter().map(CheckpointError::from).collect())
}

/// The most tokens that the tokenizer states, if any: some tokenizers state more than any model reads.
pub fn tokenizer_limit(files: &BTreeMap<String, &[u8]>) -> Result<Option<usize>, CheckpointError> {
    let Some(bytes) = files.get(TOKENIZER_CONFIG) else { return Ok(None) };
    let config = Config::parse_file(TOKENIZER_CONFIG, bytes)?;
    let limit = config.value("model_max_length").and_then(Value::as_f64);
    Ok(limit.filter(|limit| *limit >= 1.0).map(|limit| limit as usize))
}
