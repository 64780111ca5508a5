//! The named data of a language model's program file: the tokenizer, the chat template, the stop tokens.

use std::collections::BTreeMap;

use etbuild_checkpoint::{Encoding, Options, read_encoder_texts, read_pictures, read_sounds, read_texts};
use etbuild_diagnostic::{Code, Diagnostic, Span};
use etbuild_store::KeyBuilder;

use crate::action::{Keyed, text_files};
use crate::input::{self, CheckpointFolder, Db, HashedFile};

/// The files of a checkpoint that describe texts, as the input of an action.
pub struct CheckpointTexts {
    folder: CheckpointFolder,
    /// Most tokens of a text.
    context: Option<u32>,
    /// Most image tokens of a picture.
    image_tokens: Option<u32>,
    /// What the recipe says about the texts of an encoder; `None` for a language model.
    encoder: Option<Encoding>,
    files: BTreeMap<String, HashedFile>,
}

impl CheckpointTexts {
    /// The files in `folder`.
    ///
    /// # Errors
    /// A file that cannot be read.
    pub fn of(db: &dyn Db, folder: CheckpointFolder) -> Result<Self, Diagnostic> {
        let hashed = |file| {
            HashedFile::of(db, file).map_err(|error| {
                let message = format!("`{}` cannot be read: {error}", file.path(db).display());
                Diagnostic::error(Code::ModelUnreadable, message)
            })
        };
        let files = folder.texts(db);
        let files = files.iter().map(|(name, file)| Ok((name.clone(), hashed(*file)?)));
        let Options { context, image_tokens, encoder, .. } = folder.options(db);
        let files = files.collect::<Result<_, Diagnostic>>()?;
        Ok(Self { folder, context, image_tokens, encoder, files })
    }

    /// The named data of the program, by key.
    ///
    /// # Errors
    /// Files that are malformed, or have changed since hashing.
    pub fn named_data(&self, db: &dyn Db) -> Result<BTreeMap<String, Vec<u8>>, Vec<Diagnostic>> {
        let span = || Span::file(self.folder.path(db).display().to_string());
        let place =
            |found: Vec<Diagnostic>| found.into_iter().map(|diagnostic| diagnostic.at(span())).collect::<Vec<_>>();
        let bytes = text_files(db, &self.files).map_err(place)?;
        let views = bytes.iter().map(|(name, bytes)| (name.clone(), bytes.as_slice())).collect();
        let texts = match &self.encoder {
            Some(encoding) => read_encoder_texts(&views, encoding).map(|texts| (texts, None, None)),
            None => read_texts(&views, self.context).and_then(|texts| {
                Ok((texts, read_pictures(&views, self.context, self.image_tokens)?, read_sounds(&views)?))
            }),
        };
        let (texts, pictures, sounds) = texts.map_err(|error| vec![input::checkpoint(&error).at(span())])?;
        let optional = [
            (et_llm::TOKENIZER_KEY, texts.tokenizer),
            (et_llm::CHAT_KEY, texts.chat),
            (et_vision::VISION_KEY, pictures),
            (et_hearing::HEARING_KEY, sounds),
        ];
        let found = optional.into_iter().filter_map(|(key, bytes)| Some((key.to_owned(), bytes?)));
        let facts = if self.encoder.is_some() { et_llm::ENCODER_KEY } else { et_llm::GENERATION_KEY };
        Ok(found.chain([(facts.to_owned(), texts.generation)]).collect())
    }
}

impl Keyed for CheckpointTexts {
    fn key(&self, key: KeyBuilder) -> KeyBuilder {
        let Self {
            folder: _, // Errors name the folder.
            context,
            image_tokens,
            encoder,
            files,
        } = self;
        let key = key.option("export.context", context.map(u64::from));
        let key = image_tokens.iter().fold(key, |key, most| key.option("export.image_tokens", u64::from(*most)));
        let key = encoder.iter().fold(key, |key, encoding| encoding.key(key));
        files.iter().fold(key, |key, (name, file)| key.option("text", name.as_str()).input("contents", file.digest))
    }
}
