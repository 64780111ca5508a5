//! Tokenizers in other forms than `tokenizer.json`: models of SentencePiece, `tekken.json`, and `vocab.json` with
//! `merges.txt` become one.

mod around;
mod byte_classes;
mod byte_pairs;
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
pub use bytes::{QWEN2, byte_parts};
pub use pieces::{merged_model, piece_decoder, piece_model};
pub use vocabulary::{Role, SPACE, Vocabulary};

use crate::config::Config;
use crate::texts::{TOKENIZER, TOKENIZER_CONFIG};
use crate::{CONFIG, CheckpointError};

/// What a tokenizer is made of.
struct Sources<'f> {
    /// The file that the form is named by.
    file: &'static str,
    /// The contents of the file.
    bytes: &'f [u8],
    /// All files about texts, by name.
    files: &'f BTreeMap<String, Vec<u8>>,
    /// The configuration of the model.
    config: &'f Config,
    /// The configuration of the tokenizer.
    stated: &'f Config,
}

impl Sources<'_> {
    /// A further file with a map, if present.
    fn optional(&self, file: &'static str) -> Result<Option<Config>, CheckpointError> {
        self.files.get(file).map(|bytes| Config::parse_file(file, bytes)).transpose()
    }
}

/// A tokenizer in the form of `tokenizer.json`.
struct Made {
    tokenizer: Value,
    /// The tokens that templates name, such as `bos_token`, with the texts, and the chat template, if any.
    named: Vec<(&'static str, String)>,
}

/// Another form.
struct Form {
    /// The file that the form is named by.
    file: &'static str,
    /// Files that the form needs beside the file.
    beside: &'static [&'static str],
    /// Files that may be beside.
    more: &'static [&'static str],
    /// Makes the parts of a tokenizer.
    make: fn(&Sources<'_>) -> Result<Made, CheckpointError>,
}

impl Form {
    const fn alone(file: &'static str, make: fn(&Sources<'_>) -> Result<Made, CheckpointError>) -> Self {
        Self { file, beside: &[], more: &[], make }
    }

    fn is_there(&self, is_there: impl Fn(&str) -> bool) -> bool {
        is_there(self.file) && self.beside.iter().all(|file| is_there(file))
    }
}

/// The other forms.
const FORMS: [Form; 4] = [
    Form::alone("spiece.model", |of| sentencepiece::tokenizer(of.file, of.bytes, of.config, of.stated)),
    Form::alone("tekken.json", |of| tekken::tokenizer(of.file, of.bytes, of.config, of.stated)),
    Form::alone("tokenizer.model", |of| sentencepiece::tokenizer(of.file, of.bytes, of.config, of.stated)),
    Form {
        file: byte_pairs::VOCABULARY,
        beside: &[byte_pairs::MERGES],
        more: &[byte_pairs::ADDED, byte_pairs::SPECIAL],
        make: byte_pairs::tokenizer,
    },
];

/// The files of a tokenizer in another form, of those that are there: none beside a `tokenizer.json`.
pub fn tokenizer_files(is_there: impl Fn(&str) -> bool) -> Vec<&'static str> {
    let form = FORMS.iter().find(|form| !is_there(TOKENIZER) && form.is_there(&is_there));
    let files =
        form.iter().flat_map(|form| [form.file].into_iter().chain(form.beside.iter().chain(form.more).copied()));
    files.filter(|file| is_there(file)).collect()
}

/// The files about texts that a tokenizer in another form stands for, by name: none where the checkpoint has a `tokenizer.json`, or no
/// tokenizer at all.
///
/// # Errors
/// Malformed files; a tokenizer of another kind.
pub fn made_texts(files: &BTreeMap<String, Vec<u8>>) -> Result<BTreeMap<String, Vec<u8>>, CheckpointError> {
    let form = FORMS.iter().find(|form| form.is_there(|name| files.contains_key(name)));
    let found = form.and_then(|form| Some((form, files.get(form.file)?)));
    let Some((form, bytes)) = found.filter(|_| !files.contains_key(TOKENIZER)) else {
        return Ok(BTreeMap::new());
    };
    let config = Config::parse(files.get(CONFIG).map_or(b"{}".as_slice(), Vec::as_slice))?;
    let stated = files.get(TOKENIZER_CONFIG).map_or(b"{}".as_slice(), Vec::as_slice);
    let stated = Config::parse_file(TOKENIZER_CONFIG, stated)?;
    let sources = Sources { file: form.file, bytes, files, config: &config, stated: &stated };
    let Made { tokenizer, named } = (form.make)(&sources)?;
    let named = named.into_iter().map(|(key, text)| (key.to_owned(), Value::from(text)));
    let named: Map<String, Value> = named.chain(stated.entries()).collect();
    let made = [(TOKENIZER, tokenizer), (TOKENIZER_CONFIG, Value::from(named))];
    Ok(made.into_iter().map(|(name, value)| (name.to_owned(), value.to_string().into_bytes())).collect())
}

/// The mistake in a file.
fn malformed(file: &'static str, reason: impl Into<String>) -> CheckpointError {
    CheckpointError::Tokenizer { file, reason: reason.into() }
}
