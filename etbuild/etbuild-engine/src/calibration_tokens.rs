//! Calibration text of a language model: tokens, in pieces of one length.

use et_core::ScalarType;
use et_ops::call::OwnedTensor;
use etbuild_checkpoint::TOKENIZER;
use etbuild_diagnostic::{Code, Diagnostic};
use etbuild_ir::Graph;
use etbuild_quantize::Tensors;

use crate::db::{CheckpointFolder, DataFile, Db};
use crate::query;
use crate::unchanged;

/// How many tokens a piece has.
pub const PIECE: u32 = 256;

/// The tensor of a file of tokens.
const TOKENS: &str = "tokens";

/// Samples for the method `prefill` with this graph: each has the number of tokens of a call, from the beginning of a text.
///
/// A file whose name ends with `.txt` has a text per line; another file is a safetensors file with
/// `tokens`, `int64`. All tokens are one sequence, cut into pieces; an incomplete last piece is left out.
pub fn samples(
    db: &dyn Db,
    (folder, file): (CheckpointFolder, DataFile),
    graph: &Graph,
) -> Result<Tensors, Vec<Diagnostic>> {
    let input = graph.inputs.iter().map(|id| graph.value(*id)).find(|value| value.name == TOKENS);
    let piece =
        input.and_then(|value| value.spec.sizes.last()).and_then(|size| usize::try_from(*size).ok()).unwrap_or(1);
    let is_text = file.path(db).extension().is_some_and(|extension| extension == "txt");
    let tokens = if is_text { tokens_of_text(db, folder, file)? } else { stored_tokens(db, file)? };
    let pieces = tokens.len() / piece;
    if pieces == 0 {
        let message = format!("`{}` has {} tokens", file.path(db).display(), tokens.len());
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

fn stored_tokens(db: &dyn Db, file: DataFile) -> Result<Vec<i64>, Vec<Diagnostic>> {
    let tensors = query::samples(db, file)?;
    let tokens = tensors.get(TOKENS).filter(|tensor| tensor.scalar_type == ScalarType::Long);
    let tokens = tokens.ok_or_else(|| {
        let message = format!("`{}` has no tensor `{TOKENS}` of `int64`", file.path(db).display());
        mismatch(message, "write tokens, or text in a file whose name ends with `.txt`")
    })?;
    Ok(tokens.bytes.as_chunks().0.iter().map(|bytes| i64::from_le_bytes(*bytes)).collect())
}

fn tokens_of_text(db: &dyn Db, folder: CheckpointFolder, file: DataFile) -> Result<Vec<i64>, Vec<Diagnostic>> {
    let text = String::from_utf8(unchanged::read(db, file)?)
        .map_err(|error| mismatch(format!("`{}` is no text: {error}", file.path(db).display()), "write it in UTF-8"))?;
    let no_tokens = |reason: &str| format!("`{}` cannot be read as tokens: {reason}", file.path(db).display());
    let Some(tokenizer) = folder.texts(db).get(TOKENIZER).copied() else {
        let message = no_tokens(&format!("the checkpoint has no `{TOKENIZER}`"));
        return Err(mismatch(message, "write tokens: a safetensors file with `tokens`, `int64`"));
    };
    let Some(make) = db.world().text_maker() else {
        let message = no_tokens("this etbuild was built without the feature `text`, which reads tokenizers");
        let help = "build etbuild with `--features text`, or write tokens: a safetensors file with `tokens`, `int64`";
        return Err(vec![Diagnostic::error(Code::FeatureMissing, message).help(help)]);
    };
    let unread =
        |error: et_llm::Error| mismatch(format!("the text cannot be read: {error}"), "is the tokenizer whole?");
    let reader = make(&unchanged::read(db, tokenizer)?, None).map_err(unread)?;
    let mut tokens = Vec::new();
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        tokens.extend(reader.encode(line, true).map_err(unread)?.into_iter().map(i64::from));
    }
    Ok(tokens)
}

fn mismatch(message: String, help: &str) -> Vec<Diagnostic> {
    vec![Diagnostic::error(Code::CalibrationMismatch, message).help(help)]
}
