//! Calibration text of a language model: tokens, in pieces of one length.

use std::collections::BTreeMap;

use et_core::ScalarType;
use et_ops::call::OwnedTensor;
use etbuild_checkpoint::TOKENIZER;
use etbuild_diagnostic::{Code, Diagnostic};
use etbuild_ir::Graph;
use etbuild_quantize::Tensors;
use etbuild_store::KeyBuilder;

use super::samples::{hashed, samples};
use crate::action::{Blocked, Keyed, text_files};
use crate::input::{CheckpointFolder, DataFile, Db, HashedFile};

/// How many tokens a piece has.
pub const PIECE: u32 = 256;

/// The tensor of a file of tokens.
const TOKENS: &str = "tokens";

/// Calibration text for a checkpoint, as the input of an action.
pub struct CalibrationText {
    file: HashedFile,
    /// Whether the file has a text per line. Another file is a safetensors file with `tokens`, `int64`.
    is_text: bool,
    /// The files that describe texts, by name.
    texts: BTreeMap<String, HashedFile>,
}

impl CalibrationText {
    /// The text in `file`, which the tokenizer in `folder` cuts into tokens. The file has a text per line where the name of the
    /// file ends with `.txt`.
    pub fn of(db: &dyn Db, folder: CheckpointFolder, file: DataFile) -> Result<Self, Blocked> {
        let texts = folder.texts(db);
        let texts = texts.iter().map(|(name, file)| Ok((name.clone(), hashed(db, *file)?)));
        Ok(Self {
            file: hashed(db, file)?,
            is_text: file.path(db).extension().is_some_and(|extension| extension == "txt"),
            texts: texts.collect::<Result<_, Blocked>>()?,
        })
    }

    /// Samples for the method `prefill` with this graph: each has the number of tokens of a call, from the beginning of a text.
    /// All tokens are one sequence, cut into pieces; an incomplete last piece is left out.
    pub fn samples(&self, db: &dyn Db, graph: &Graph) -> Result<Tensors, Vec<Diagnostic>> {
        let input = graph.inputs.iter().map(|id| graph.value(*id)).find(|value| value.name == TOKENS);
        let piece =
            input.and_then(|value| value.spec.sizes.last()).and_then(|size| usize::try_from(*size).ok()).unwrap_or(1);
        let tokens = if self.is_text { self.tokens_of_text(db)? } else { stored_tokens(db, self.file)? };
        let pieces = tokens.len() / piece;
        if pieces == 0 {
            let message = format!("`{}` has {} tokens", self.file.path(db).display(), tokens.len());
            return Err(mismatch(message, &format!("calibration takes {piece} of them at least")));
        }
        let longs = |sizes: &[usize], elements: &[i64]| OwnedTensor {
            scalar_type: ScalarType::Long,
            sizes: sizes.iter().map(|size| i32::try_from(*size).unwrap_or(i32::MAX)).collect(),
            bytes: elements.iter().flat_map(|element| element.to_le_bytes()).collect(),
        };
        let tokens = tokens.get(..pieces * piece).unwrap_or_default();
        Ok(Tensors::from([
            (TOKENS.to_owned(), longs(&[pieces, piece], tokens)),
            ("start".to_owned(), longs(&[pieces], &vec![0; pieces])),
            ("last".to_owned(), longs(&[pieces], &vec![piece as i64 - 1; pieces])),
        ]))
    }

    fn tokens_of_text(&self, db: &dyn Db) -> Result<Vec<i64>, Vec<Diagnostic>> {
        let path = self.file.path(db).display();
        let text = String::from_utf8(self.file.read(db)?)
            .map_err(|error| mismatch(format!("`{path}` is no text: {error}"), "write it in UTF-8"))?;
        let no_tokens = |reason: &str| format!("`{path}` cannot be read as tokens: {reason}");
        let mut texts = text_files(db, &self.texts)?;
        let Some(tokenizer) = texts.remove(TOKENIZER) else {
            let message = no_tokens(&format!("the checkpoint has no `{TOKENIZER}`"));
            return Err(mismatch(message, "write tokens: a safetensors file with `tokens`, `int64`"));
        };
        let Some(make) = db.world().text_maker() else {
            let message = no_tokens("this etbuild was built without the feature `text`, which reads tokenizers");
            let help =
                "build etbuild with `--features text`, or write tokens: a safetensors file with `tokens`, `int64`";
            return Err(vec![Diagnostic::error(Code::FeatureMissing, message).help(help)]);
        };
        let unread =
            |error: et_llm::Error| mismatch(format!("the text cannot be read: {error}"), "is the tokenizer whole?");
        let reader = make(&tokenizer, None).map_err(unread)?;
        let mut tokens = Vec::new();
        for line in text.lines().filter(|line| !line.trim().is_empty()) {
            tokens.extend(reader.encode(line, true).map_err(unread)?.into_iter().map(i64::from));
        }
        Ok(tokens)
    }
}

impl Keyed for CalibrationText {
    fn key(&self, key: KeyBuilder) -> KeyBuilder {
        let Self { file, is_text, texts } = self;
        let key = key.fact("a text per line", *is_text).input("samples", file.digest);
        texts.iter().fold(key, |key, (name, file)| key.input(name, file.digest))
    }
}

fn stored_tokens(db: &dyn Db, file: HashedFile) -> Result<Vec<i64>, Vec<Diagnostic>> {
    let tensors = samples(db, file)?;
    let tokens = tensors.get(TOKENS).filter(|tensor| tensor.scalar_type == ScalarType::Long);
    let tokens = tokens.ok_or_else(|| {
        let message = format!("`{}` has no tensor `{TOKENS}` of `int64`", file.path(db).display());
        mismatch(message, "write tokens, or text in a file whose name ends with `.txt`")
    })?;
    Ok(tokens.bytes.as_chunks().0.iter().map(|bytes| i64::from_le_bytes(*bytes)).collect())
}

fn mismatch(message: String, help: &str) -> Vec<Diagnostic> {
    vec![Diagnostic::error(Code::CalibrationMismatch, message).help(help)]
}
