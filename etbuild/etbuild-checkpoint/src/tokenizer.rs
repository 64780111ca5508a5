//! Tokenizers in other forms than `tokenizer.json`: models of SentencePiece and `tekken.json` become one.

mod around;
mod bytes;
mod mistral;
mod pieces;
mod protobuf;
mod sentencepiece;
mod spaces;
mod tekken;
mod vocabulary;

use std::collections::BTreeMap;

use serde_json::{Map, Value};

pub use around::around;
pub use bytes::byte_parts;
pub use pieces::{piece_decoder, piece_model};
pub use vocabulary::{Role, SPACE, Vocabulary};

use crate::config::Config;
use crate::texts::{TOKENIZER, TOKENIZER_CONFIG};
use crate::{CONFIG, CheckpointError};

/// Makes the parts of a tokenizer of the contents of a file, the configuration of the model, and that of the tokenizer.
type Make = fn(&'static str, &[u8], &Config, &Config) -> Result<Made, CheckpointError>;

/// A tokenizer in the form of `tokenizer.json`.
struct Made {
    tokenizer: Value,
    /// The tokens that templates name, such as `bos_token`, with the texts, and the chat template, if any.
    named: Vec<(&'static str, String)>,
}

/// The other forms: the file and the reader.
const FORMS: [(&str, Make); 3] = [
    ("spiece.model", sentencepiece::tokenizer),
    ("tekken.json", tekken::tokenizer),
    ("tokenizer.model", sentencepiece::tokenizer),
];

/// The files with a tokenizer in another form. The first of these files is read where a checkpoint has no `tokenizer.json`.
pub fn tokenizer_sources() -> impl Iterator<Item = &'static str> {
    FORMS.iter().map(|(name, _)| *name)
}

/// The files about texts that a tokenizer in another form stands for, by name: none where the checkpoint has a `tokenizer.json`, or no
/// tokenizer at all.
///
/// # Errors
/// Malformed files; a tokenizer of another kind.
pub fn made_texts(files: &BTreeMap<String, Vec<u8>>) -> Result<BTreeMap<String, Vec<u8>>, CheckpointError> {
    let found = FORMS.iter().find_map(|(name, make)| Some((*name, files.get(*name)?, make)));
    let Some((name, bytes, make)) = found.filter(|_| !files.contains_key(TOKENIZER)) else {
        return Ok(BTreeMap::new());
    };
    let config = Config::parse(files.get(CONFIG).map_or(b"{}".as_slice(), Vec::as_slice))?;
    let stated = files.get(TOKENIZER_CONFIG).map_or(b"{}".as_slice(), Vec::as_slice);
    let stated = Config::parse_file(TOKENIZER_CONFIG, stated)?;
    let Made { tokenizer, named } = make(name, bytes, &config, &stated)?;
    let named = named.into_iter().map(|(key, text)| (key.to_owned(), Value::from(text)));
    let named: Map<String, Value> = named.chain(stated.entries()).collect();
    let made = [(TOKENIZER, tokenizer), (TOKENIZER_CONFIG, Value::from(named))];
    Ok(made.into_iter().map(|(name, value)| (name.to_owned(), value.to_string().into_bytes())).collect())
}

/// The mistake in a file.
fn malformed(file: &'static str, reason: impl Into<String>) -> CheckpointError {
    CheckpointError::Tokenizer { file, reason: reason.into() }
}
