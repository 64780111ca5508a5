//! The named data of a language model's program file: the tokenizer, the chat template, the stop tokens.

use std::collections::BTreeMap;
use std::io::ErrorKind;

use etbuild_checkpoint::read_texts;
use etbuild_diagnostic::{Code, Diagnostic, Span};

use crate::db::{CheckpointFolder, DataFile, Db};
use crate::{failure, unchanged};

/// The named data of a checkpoint's program, by key.
///
/// # Errors
/// Files that are malformed, or have changed since hashing.
pub fn named_data(db: &dyn Db, folder: CheckpointFolder) -> Result<BTreeMap<String, Vec<u8>>, Vec<Diagnostic>> {
    let files = folder.texts(db);
    let read = |(name, file): (&String, &DataFile)| Ok((name.clone(), unchanged::read(db, *file)?));
    let bytes: BTreeMap<String, Vec<u8>> = files.iter().map(read).collect::<Result<_, Vec<Diagnostic>>>()?;
    let views = bytes.iter().map(|(name, bytes)| (name.clone(), bytes.as_slice())).collect();
    let span = || Span::file(folder.path(db).display().to_string());
    let texts = read_texts(&views, folder.options(db).context);
    let texts = texts.map_err(|error| vec![failure::checkpoint(&error).at(span())])?;
    let optional = [(et_llm::TOKENIZER_KEY, texts.tokenizer), (et_llm::CHAT_KEY, texts.chat)];
    let found = optional.into_iter().filter_map(|(key, bytes)| Some((key.to_owned(), bytes?)));
    Ok(found.chain([(et_llm::GENERATION_KEY.to_owned(), texts.generation)]).collect())
}

/// A file about texts cannot be read.
pub fn unreadable(db: &dyn Db, file: DataFile, error: ErrorKind) -> Diagnostic {
    let message = format!("`{}` cannot be read: {error}", file.path(db).display());
    Diagnostic::error(Code::ModelUnreadable, message)
}
