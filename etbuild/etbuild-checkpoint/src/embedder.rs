//! Decoders that give embeddings: the normalized hidden state of the last token in the place of logits.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::encoder::{Encoding, MODULES, Pooling, Sentence, has_pooling, is_encoder, tokenizer_limit};
use crate::shards::Tensors;
use crate::{CONFIG, CheckpointError, Decoder, Model, Options, describe};

/// The end of the class of a decoder without a head, and of the class with one.
const CLASSES: [&str; 2] = ["Model", "ForCausalLM"];

/// How a decoder gives embeddings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Embedding {
    /// Whether embeddings have the length 1.
    pub normalize: bool,
    /// The most tokens of a text.
    pub max_tokens: u32,
}

/// Whether a checkpoint is a decoder for embeddings, by its configuration and its list of modules.
pub fn is_embedder(config: &[u8], modules: Option<&[u8]>) -> bool {
    !is_encoder(config) && modules.is_some_and(has_pooling)
}

impl Embedding {
    /// How the decoder of a checkpoint gives embeddings, from the files by name, and what the recipe says.
    ///
    /// # Errors
    /// Malformed files; a pooling but that of the last token; a linear layer behind the pooling; more tokens than the model reads.
    pub fn read(
        decoder: &Decoder,
        files: &BTreeMap<String, &[u8]>,
        encoding: &Encoding,
    ) -> Result<Self, CheckpointError> {
        let sentence = Sentence::read(files)?;
        let pooling = encoding.pooling.or(sentence.pooling).unwrap_or(Pooling::Last);
        if pooling != Pooling::Last {
            return Err(CheckpointError::PoolingOfDecoder(pooling.name()));
        }
        if sentence.projection(decoder.width)?.is_some() {
            return Err(CheckpointError::PoolingOfDecoder("Dense"));
        }
        let stated = sentence.max_tokens.map_or_else(|| tokenizer_limit(files), |stated| Ok(Some(stated)))?;
        // The KV cache of a decoder has a slot for each token: what the files allow is more than most texts have.
        let usual = decoder.context(None)?;
        let stated = stated.and_then(|tokens| u32::try_from(tokens).ok()).map_or(usual, |tokens| tokens.min(usual));
        let max_tokens = decoder.context(encoding.max_tokens.or(Some(stated)))?;
        Ok(Self { normalize: encoding.normalize.unwrap_or(sentence.normalize), max_tokens })
    }
}

impl Model {
    /// Whether the model is a decoder for embeddings.
    pub fn is_embedder(&self) -> bool {
        let Self::Folder { config, more, .. } = self else { return false };
        is_embedder(config.bytes(), more.get(MODULES).map(|modules| modules.bytes()))
    }

    /// How a decoder for embeddings gives them; `None` for a language model.
    pub fn embedding(&self, decoder: &Decoder, options: &Options) -> Result<Option<Embedding>, CheckpointError> {
        let Self::Folder { more, .. } = self else { return Ok(None) };
        let Some(encoding) = options.encoder.as_ref().filter(|_| options.embeds) else { return Ok(None) };
        let views = more.iter().map(|(name, file)| (name.clone(), file.bytes())).collect();
        Embedding::read(decoder, &views, encoding).map(Some)
    }
}

/// The description of a decoder for embeddings, whose class may be one without a head.
///
/// # Errors
/// As [`describe`].
pub fn describe_embedder(config: &[u8]) -> Result<Decoder, CheckpointError> {
    let decoder = describe(&with_head(config))?;
    // No head reads the table of the embedding.
    Ok(Decoder { tied: false, ..decoder })
}

/// A configuration with the class that has a head: `Qwen3ForCausalLM` for `Qwen3Model`.
pub fn with_head(config: &[u8]) -> Cow<'_, [u8]> {
    const KEY: &str = "architectures";
    let read = || {
        let mut map: Map<String, Value> = serde_json::from_slice(config).ok()?;
        let family = map.get(KEY)?.get(0)?.as_str()?.strip_suffix(CLASSES[0])?.to_owned();
        map.insert(KEY.to_owned(), json!([family + CLASSES[1]]));
        serde_json::to_vec(&map).ok()
    };
    read().map_or(Cow::Borrowed(config), Cow::Owned)
}

/// The tensors under the names of the description: a decoder without a head has no module around.
///
/// # Errors
/// Two tensors of one name.
pub fn named(decoder: &Decoder, tensors: Tensors) -> Result<Tensors, CheckpointError> {
    let names = &decoder.names;
    match names.embedding.split_once('.') {
        Some((module, _)) if !tensors.has(&names.table()) => tensors.renamed(|name| format!("{module}.{name}")),
        _ => Ok(tensors),
    }
}

/// The description and the embedding of a decoder, from the files of a checkpoint by name.
///
/// # Errors
/// As `describe_embedder` and [`Embedding::read`].
pub fn read_embedder(
    files: &BTreeMap<String, &[u8]>,
    encoding: &Encoding,
) -> Result<(Decoder, Embedding), CheckpointError> {
    let decoder = describe_embedder(files.get(CONFIG).copied().unwrap_or_default())?;
    let embedding = Embedding::read(&decoder, files, encoding)?;
    Ok((decoder, embedding))
}

/// Whether the files of a checkpoint, by name, are those of a decoder for embeddings.
pub fn has_embedder(files: &BTreeMap<String, &[u8]>) -> bool {
    is_embedder(files.get(CONFIG).copied().unwrap_or_default(), files.get(MODULES).copied())
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: &str = r#"{"architectures": ["LlamaModel"], "vocab_size": 8, "hidden_size": 4, "intermediate_size": 4,
        "num_hidden_layers": 1, "num_attention_heads": 1, "max_position_embeddings": 64}"#;
    const LIST: &str = r#"[{"path": "", "type": "sentence_transformers.models.Transformer"},
        {"path": "1_Pooling", "type": "sentence_transformers.models.Pooling"},
        {"path": "2_Normalize", "type": "sentence_transformers.models.Normalize"}]"#;

    fn read(pooling: &str, encoding: &Encoding) -> Result<Embedding, CheckpointError> {
        let limit = r#"{"model_max_length": 100000}"#;
        let pooling = ("1_Pooling/config.json", pooling);
        let files = [(CONFIG, SMALL), (MODULES, LIST), pooling, (crate::TOKENIZER_CONFIG, limit)];
        let files = files.map(|(name, text)| (name.to_owned(), text.as_bytes())).into();
        assert!(has_embedder(&files));
        read_embedder(&files, encoding).map(|(_, embedding)| embedding)
    }

    #[test]
    fn the_last_token_is_the_embedding() {
        let last = r#"{"pooling_mode_lasttoken": true}"#;
        let found = read(last, &Encoding::default()).unwrap();
        assert_eq!(found, Embedding { normalize: true, max_tokens: 64 });
        let asked = Encoding { normalize: Some(false), max_tokens: Some(16), ..Encoding::default() };
        assert_eq!(read(last, &asked).unwrap(), Embedding { normalize: false, max_tokens: 16 });
        assert!(read(last, &Encoding { max_tokens: Some(65), ..Encoding::default() }).is_err());
    }

    #[test]
    fn another_pooling_is_refused_by_name() {
        let error = read(r#"{"pooling_mode_mean_tokens": true}"#, &Encoding::default()).unwrap_err().to_string();
        assert!(error.contains("`mean`"), "{error}");
    }

    #[test]
    fn an_encoder_and_a_decoder_without_pooling_are_none() {
        let bert = br#"{"architectures": ["BertModel"]}"#;
        assert!(!is_embedder(bert, Some(LIST.as_bytes())));
        assert!(!is_embedder(SMALL.as_bytes(), Some(b"[]")) && !is_embedder(SMALL.as_bytes(), None));
    }
}
