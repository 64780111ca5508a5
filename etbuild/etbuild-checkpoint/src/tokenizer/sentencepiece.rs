//! Models of SentencePiece (`sentencepiece_model.proto`): pieces with scores, chosen for the best sum (Unigram, Kudo 2018) or merged (BPE).
//!
//! The tokenizer of T5 has the tokens `<extra_id_0>` and so on behind the pieces, and `</s>` behind a text, as `T5Tokenizer` of
//! `transformers` says.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::protobuf::{Field, Fields};
use super::vocabulary::stated_tokens;
use super::{Made, Role, Vocabulary, around, malformed, piece_decoder, piece_model, spaces};
use crate::CheckpointError;
use crate::config::Config;
use crate::texts::token_text;

/// The types of models with an extra token for each gap of a text.
const WITH_EXTRA_TOKENS: [&str; 2] = ["t5", "mt5"];
/// The number of the extra tokens, where the configuration of the tokenizer does not say so.
const EXTRA_TOKENS: usize = 100;

/// How pieces are found.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Unigram,
    Merges,
}

/// A model.
struct Model<'f> {
    vocabulary: Vocabulary<'f>,
    scores: Vec<f64>,
    kind: Kind,
    unknown: usize,
    /// The tokens ahead of a text and behind a text; negative without.
    first: i64,
    last: i64,
    spaces: spaces::Spaces<'f>,
}

/// The tokenizer of a model.
pub fn tokenizer(file: &'static str, bytes: &[u8], config: &Config, stated: &Config) -> Result<Made, CheckpointError> {
    let kind = config.optional_text("model_type")?;
    let has_extra = kind.is_some_and(|kind| WITH_EXTRA_TOKENS.contains(&kind.as_str()));
    let count = if has_extra { stated.optional_count("extra_ids")?.unwrap_or(EXTRA_TOKENS) } else { 0 };
    let extra: Vec<String> = (0..count).rev().map(|token| format!("<extra_id_{token}>")).collect();
    let mut model = Model::read(file, bytes)?;
    for text in &extra {
        model.push(text, 0.0, Role::Control);
    }
    let Model { vocabulary, spaces, .. } = &model;
    let named = model.named(stated);
    let token = |key| {
        let (_, text) = named.iter().find(|(name, _)| *name == key)?;
        Some((vocabulary.token(text)?, text.as_str()))
    };
    let first = stated.flag_or("add_bos_token", !has_extra)?.then(|| token("bos_token")).flatten();
    let last = stated.flag_or("add_eos_token", has_extra)?.then(|| token("eos_token")).flatten();
    let tokenizer = json!({
        "version": "1.0", "truncation": null, "padding": null,
        "added_tokens": added(vocabulary, stated)?,
        "normalizer": spaces.normalizer(),
        "pre_tokenizer": spaces.pre_tokenizer(),
        "post_processor": around(first, last),
        "decoder": piece_decoder(spaces.begins),
        "model": model.json(),
    });
    Ok(Made { tokenizer, named })
}

impl<'f> Model<'f> {
    fn read(file: &'static str, bytes: &'f [u8]) -> Result<Self, CheckpointError> {
        let mut model = Self {
            vocabulary: Vocabulary { texts: Vec::new(), roles: Vec::new() },
            scores: Vec::new(),
            kind: Kind::Unigram,
            unknown: 0,
            first: 1,
            last: 2,
            spaces: spaces::Spaces::default(),
        };
        for field in Fields(bytes) {
            match field.map_err(|reason| malformed(file, reason))? {
                (1, Field::Bytes(piece)) => model.read_piece(piece).map_err(|reason| malformed(file, reason))?,
                (2, Field::Bytes(training)) => model.read_training(file, training)?,
                (3, Field::Bytes(rules)) => {
                    model.spaces = spaces::Spaces::read(rules).map_err(|reason| malformed(file, reason))?;
                }
                _ => {}
            }
        }
        if model.unknown < model.scores.len() {
            Ok(model)
        } else {
            Err(malformed(file, "it is no model of SentencePiece with a piece for unknown characters"))
        }
    }

    fn push(&mut self, text: &'f str, score: f64, role: Role) {
        self.vocabulary.texts.push(text);
        self.vocabulary.roles.push(role);
        self.scores.push(score);
    }

    fn read_piece(&mut self, piece: &'f [u8]) -> Result<(), String> {
        let (mut text, mut score, mut role) = ("", 0.0, Role::Normal);
        for field in Fields(piece) {
            match field? {
                (1, Field::Bytes(bytes)) => {
                    text = std::str::from_utf8(bytes).map_err(|_| "a piece is not UTF-8".to_owned())?;
                }
                (2, Field::Float(number)) => score = f64::from(number),
                (3, Field::Number(code)) => role = Role::of(code),
                _ => {}
            }
        }
        self.push(text, score, role);
        if score.is_finite() { Ok(()) } else { Err(format!("the score of the piece `{text}` is no number")) }
    }

    /// The part of the specification of the training that says how texts are read.
    fn read_training(&mut self, file: &'static str, training: &[u8]) -> Result<(), CheckpointError> {
        for field in Fields(training) {
            match field.map_err(|reason| malformed(file, reason))? {
                (3, Field::Number(kind)) => {
                    self.kind = match kind {
                        1 => Kind::Unigram,
                        2 => Kind::Merges,
                        _ => {
                            return Err(malformed(
                                file,
                                "its pieces are words or characters; Unigram and BPE are known",
                            ));
                        }
                    };
                }
                (24, Field::Number(1)) => {
                    return Err(malformed(file, "its pieces have spaces at the end, which is not known"));
                }
                (40, Field::Number(token)) => self.unknown = usize::try_from(token).unwrap_or(usize::MAX),
                (41, Field::Number(token)) => self.first = token.cast_signed(),
                (42, Field::Number(token)) => self.last = token.cast_signed(),
                _ => {}
            }
        }
        Ok(())
    }

    /// The texts of the tokens that templates name: those of the configuration, else those of the model.
    fn named(&self, stated: &Config) -> Vec<(&'static str, String)> {
        let unknown = i64::try_from(self.unknown).unwrap_or(-1);
        let tokens = [("bos_token", self.first), ("eos_token", self.last), ("unk_token", unknown)];
        let text = |key: &str, token: i64| {
            let own = || self.vocabulary.text(u64::try_from(token).ok()?);
            stated.value(key).and_then(token_text).or_else(own).map(str::to_owned)
        };
        tokens.into_iter().filter_map(|(key, token)| Some((key, text(key, token)?))).collect()
    }

    /// The part `model` of `tokenizer.json`.
    fn json(&self) -> Value {
        let Self { vocabulary, scores, kind, unknown, .. } = self;
        match kind {
            Kind::Merges => piece_model(vocabulary, scores),
            Kind::Unigram => {
                let pieces: Vec<Value> =
                    vocabulary.texts.iter().zip(scores).map(|(text, score)| json!([text, score])).collect();
                json!({
                    "type": "Unigram", "unk_id": unknown, "vocab": pieces,
                    "byte_fallback": vocabulary.roles.contains(&Role::Byte),
                })
            }
        }
    }
}

/// The tokens that are found in a text before the text is split: those of the model, and those that the configuration adds.
fn added(vocabulary: &Vocabulary<'_>, stated: &Config) -> Result<Vec<Value>, CheckpointError> {
    let own = vocabulary.added().into_iter().filter_map(|entry| Some((entry.get("id")?.as_u64()?, entry)));
    let mut added: BTreeMap<u64, Value> = own.collect();
    added.extend(stated_tokens(stated)?);
    Ok(added.into_values().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A field of bytes.
    fn bytes(number: u8, contents: &[u8]) -> Vec<u8> {
        [&[number << 3 | 2, contents.len() as u8], contents].concat()
    }

    fn piece(text: &str, score: f32, role: u8) -> Vec<u8> {
        let score = [&[2 << 3 | 5][..], &score.to_le_bytes()].concat();
        bytes(1, &[bytes(1, text.as_bytes()), score, vec![3 << 3, role]].concat())
    }

    /// Three special pieces and a normal one, with a specification of the training.
    fn model(training: &[u8]) -> Vec<u8> {
        let pieces = [piece("<pad>", 0.0, 3), piece("</s>", 0.0, 3), piece("<unk>", 0.0, 2), piece("▁a", -1.5, 1)];
        [pieces.concat(), bytes(2, &[training, &[0xc0, 2, 2, 0xd0, 2, 1]].concat())].concat()
    }

    fn made(model: &[u8], config: &str, stated: &str) -> Result<Made, CheckpointError> {
        let [config, stated] = [config, stated].map(|text| Config::parse(text.as_bytes()).unwrap());
        tokenizer("spiece.model", model, &config, &stated)
    }

    #[test]
    fn t5_has_extra_tokens_behind_the_pieces_and_an_end_behind_a_text() {
        let made = made(&model(&[]), r#"{"model_type": "t5"}"#, r#"{"extra_ids": 2}"#).unwrap();
        let pieces = json!([
            ["<pad>", 0.0],
            ["</s>", 0.0],
            ["<unk>", 0.0],
            ["▁a", -1.5],
            ["<extra_id_1>", 0.0],
            ["<extra_id_0>", 0.0]
        ]);
        assert_eq!(made.tokenizer["model"]["vocab"], pieces);
        assert_eq!(made.tokenizer["model"]["unk_id"], 2);
        let added = made.tokenizer["added_tokens"].as_array().unwrap();
        assert_eq!(added.iter().map(|token| token["id"].as_u64().unwrap()).collect::<Vec<_>>(), [0, 1, 2, 4, 5]);
        assert_eq!(made.tokenizer["post_processor"]["special_tokens"]["</s>"]["ids"], json!([1]));
    }

    #[test]
    fn the_configuration_adds_tokens() {
        let stated = r#"{"add_bos_token": false, "added_tokens_decoder": {"4": {"content": "<x>", "special": true, "rstrip": true}}}"#;
        let made = made(&model(&[0x18, 2]), r#"{"model_type": "llama"}"#, stated).unwrap();
        assert_eq!(made.tokenizer["model"]["type"], "BPE");
        let last = made.tokenizer["added_tokens"].as_array().unwrap().last().unwrap();
        assert_eq!((&last["id"], &last["content"], &last["rstrip"]), (&json!(4), &json!("<x>"), &json!(true)));
        assert_eq!(made.named[1..], [("eos_token", "</s>".to_owned()), ("unk_token", "<unk>".to_owned())]);
    }

    #[test]
    fn other_files_and_other_kinds_are_named() {
        let whole = model(&[]);
        for (model, part) in [
            (&whole[..10], "protocol buffers"),
            (b"IQ== 0\nIg== 1\n", "no model of SentencePiece"),
            (b"", "no model of SentencePiece"),
            (&model(&[0x18, 3]), "words or characters"),
            (&[&whole[..], &piece("b", f32::NAN, 1)].concat(), "is no number"),
        ] {
            let Err(error) = made(model, "{}", "{}") else { panic!("{part}") };
            assert!(error.to_string().contains(part) && error.to_string().contains("spiece.model"), "{error}");
        }
    }
}
