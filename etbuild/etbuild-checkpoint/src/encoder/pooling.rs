//! The files of `sentence-transformers` in a checkpoint: the modules behind the encoder, pooling, the most tokens.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{Pooling, Projection};
use crate::CheckpointError;
use crate::config::Config;
use crate::shards::{PICKLED_SHARD, SHARD};

/// The file with the list of modules.
pub const MODULES: &str = "modules.json";
/// The file with the most tokens of a text.
pub const SENTENCE: &str = "sentence_bert_config.json";
/// The file of a module, in the folder of the module.
const MODULE: &str = "config.json";

/// The configuration of the linear layer, in messages.
const DENSE_FILE: &str = "the configuration of the module Dense";

/// What the files say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sentence {
    /// The pooling, if any.
    pub pooling: Option<Pooling>,
    /// The width of the vectors ahead of the linear layer behind the pooling, and the layer, if any.
    projection: Option<(usize, Projection)>,
    /// Whether embeddings have the length 1.
    pub normalize: bool,
    /// The most tokens of a text, if stated.
    pub max_tokens: Option<usize>,
}

/// The files that a list of modules may have, relative to the checkpoint: weights in each form. Malformed lists need no file; reading the list tells.
pub fn module_files(modules: &[u8]) -> Vec<String> {
    let modules = list(modules).unwrap_or_default();
    let inside = |path: &str| !path.is_empty() && path.split('/').all(|part| !matches!(part, "" | "." | ".."));
    let modules = modules.iter().filter(|(_, path)| inside(path));
    let files = modules.flat_map(|(kind, path)| {
        let files: &[&str] = match kind.as_str() {
            POOLING => &[MODULE],
            DENSE => &[MODULE, SHARD, PICKLED_SHARD],
            _ => &[],
        };
        files.iter().map(move |file| format!("{path}/{file}"))
    });
    files.collect()
}

/// Whether a list of modules makes one vector of the hidden states of a text.
pub fn has_pooling(modules: &[u8]) -> bool {
    list(modules).is_ok_and(|modules| modules.iter().any(|(kind, _)| kind == POOLING))
}

impl Sentence {
    /// Reads the files, by name, each of which may be missing.
    ///
    /// # Errors
    /// Malformed files; modules and poolings that are not supported.
    pub fn read(files: &BTreeMap<String, &[u8]>) -> Result<Self, CheckpointError> {
        let mut sentence = Self::default();
        if let Some(bytes) = files.get(SENTENCE) {
            let config = Config::parse_file(SENTENCE, bytes)?;
            config.refuse("do_lower_case")?;
            sentence.max_tokens = config.optional_tokens("max_seq_length")?;
        }
        let modules = files.get(MODULES).map(|bytes| list(bytes)).transpose()?.unwrap_or_default();
        for (kind, path) in modules {
            match kind.as_str() {
                TRANSFORMER => {}
                NORMALIZE => sentence.normalize = true,
                DENSE if sentence.pooling.is_some() && sentence.projection.is_none() && !sentence.normalize => {
                    let file = files.get(&format!("{path}/{MODULE}")).copied();
                    sentence.projection = Some(projection(file.unwrap_or(b"{}"))?);
                }
                POOLING => {
                    let file = files.get(&format!("{path}/{MODULE}")).copied();
                    sentence.pooling = Some(pooling(file.unwrap_or(b"{}"))?);
                }
                _ => return Err(unsupported("type", &kind, "`Transformer`, `Pooling`, one `Dense`, `Normalize`")),
            }
        }
        Ok(sentence)
    }

    /// Refuses a linear layer for embeddings beside a head of another kind, which `task` names.
    ///
    /// # Errors
    /// Such a layer.
    pub fn refuse_projection(&self, task: &str) -> Result<(), CheckpointError> {
        match self.projection {
            Some(_) => Err(unsupported("type", DENSE, &format!("no linear layer behind a model that gives {task}"))),
            None => Ok(()),
        }
    }

    /// The linear layer behind the pooling of a model of this width, if any.
    ///
    /// # Errors
    /// A layer of another width.
    pub fn projection(&self, width: usize) -> Result<Option<Projection>, CheckpointError> {
        match self.projection {
            Some((read, _)) if read != width => {
                let reason = format!("is {read}, and the model has the width {width}");
                Err(CheckpointError::Key { file: DENSE_FILE, key: "in_features".to_owned(), reason })
            }
            projection => Ok(projection.map(|(_, projection)| projection)),
        }
    }
}

/// The module of the linear layer behind the pooling, in the file of the layer.
pub const PROJECTION: &str = "linear";

const TRANSFORMER: &str = "Transformer";
const POOLING: &str = "Pooling";
const DENSE: &str = "Dense";
const NORMALIZE: &str = "Normalize";

/// The class and the path of each module.
fn list(modules: &[u8]) -> Result<Vec<(String, String)>, CheckpointError> {
    let malformed = |reason: String| CheckpointError::Json { file: MODULES, reason };
    let list: Value = serde_json::from_slice(modules).map_err(|error| malformed(error.to_string()))?;
    let list = list.as_array().ok_or_else(|| malformed("it is no list".to_owned()))?;
    let text = |module: &Value, key: &str| module.get(key).and_then(Value::as_str).map(str::to_owned);
    let module = |module: &Value| {
        let class = text(module, "type")?;
        let class = class.rsplit_once('.').map_or(class.as_str(), |(_, last)| last).to_owned();
        Some((class, text(module, "path")?))
    };
    let modules: Option<Vec<_>> = list.iter().map(module).collect();
    modules.ok_or_else(|| malformed("a module lacks `type` or `path`".to_owned()))
}

/// The keys of poolings, of which exactly one is set, and the newer single key with names.
fn pooling(config: &[u8]) -> Result<Pooling, CheckpointError> {
    const POOLING_FILE: &str = "the configuration of the module Pooling";
    const SUPPORTED: &str = "one of mean, cls, max and last token";
    let config = Config::parse_file(POOLING_FILE, config)?;
    if let Some(mode) = config.optional_text("pooling_mode")? {
        let found = Pooling::ALL
            .into_iter()
            .find(|pooling| pooling.name() == mode || (mode == "lasttoken" && *pooling == Pooling::Last));
        return found.ok_or_else(|| config.unsupported("pooling_mode", SUPPORTED));
    }
    const MODES: [(&str, Pooling); 4] = [
        ("pooling_mode_mean_tokens", Pooling::Mean),
        ("pooling_mode_cls_token", Pooling::Cls),
        ("pooling_mode_max_tokens", Pooling::Max),
        ("pooling_mode_lasttoken", Pooling::Last),
    ];
    let set: Vec<&str> = config.telling().filter(|key| key.starts_with("pooling_mode_")).collect();
    match set.as_slice() {
        [] => Ok(Pooling::Mean),
        [key] => {
            let found = MODES.into_iter().find(|(name, _)| name == key);
            found.map(|(_, pooling)| pooling).ok_or_else(|| config.unsupported(key, SUPPORTED))
        }
        [_, second, ..] => Err(config.unsupported(second, "one pooling")),
    }
}

/// The linear layer, with the width of the vectors that the layer reads.
fn projection(config: &[u8]) -> Result<(usize, Projection), CheckpointError> {
    const ACTIVATION: &str = "activation_function";
    let config = Config::parse_file(DENSE_FILE, config)?;
    let activation = config.optional_text(ACTIVATION)?;
    let has_tanh = match activation.as_deref().map(|name| name.rsplit_once('.').map_or(name, |(_, last)| last)) {
        None | Some("Tanh") => true,
        Some("Identity") => false,
        Some(_) => return Err(config.unsupported(ACTIVATION, "`Tanh`, `Identity`")),
    };
    let width = config.size("out_features")?;
    Ok((config.size("in_features")?, Projection { width, has_bias: config.flag_or("bias", true)?, has_tanh }))
}

fn unsupported(key: &str, value: &str, supported: &str) -> CheckpointError {
    let (key, value, supported) = (key.to_owned(), value.to_owned(), supported.to_owned());
    CheckpointError::Unsupported { file: MODULES, key, value, supported }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: &str = r#"[{"idx": 0, "path": "", "type": "sentence_transformers.models.Transformer"},
        {"idx": 1, "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"},
        {"idx": 2, "path": "2_Normalize", "type": "sentence_transformers.models.Normalize"}]"#;

    fn read(files: &[(&str, &str)]) -> Result<Sentence, CheckpointError> {
        Sentence::read(&files.iter().map(|(name, text)| ((*name).to_owned(), text.as_bytes())).collect())
    }

    #[test]
    fn modules_state_pooling_norm_and_length() {
        assert_eq!(module_files(ALL.as_bytes()), ["1_Pooling/config.json"]);
        let cls =
            r#"{"word_embedding_dimension": 8, "pooling_mode_cls_token": true, "pooling_mode_mean_tokens": false}"#;
        let found = read(&[(MODULES, ALL), ("1_Pooling/config.json", cls), (SENTENCE, r#"{"max_seq_length": 256}"#)]);
        let expected =
            Sentence { pooling: Some(Pooling::Cls), projection: None, normalize: true, max_tokens: Some(256) };
        assert_eq!(found, Ok(expected));
        assert_eq!(read(&[]), Ok(Sentence::default()));
    }

    #[test]
    fn a_linear_layer_has_a_file_and_the_width_of_the_model() {
        let modules = ALL.replace("2_Normalize", "2_Dense").replace("models.Normalize", "models.Dense");
        let weights = ["2_Dense/model.safetensors", "2_Dense/pytorch_model.bin"];
        let files = [["1_Pooling/config.json", "2_Dense/config.json"], weights].concat();
        assert_eq!(module_files(modules.as_bytes()), files);
        let config = r#"{"in_features": 8, "out_features": 4, "bias": false, "activation_function": "torch.nn.modules.linear.Identity"}"#;
        let found = |config: &str| read(&[(MODULES, &modules), ("2_Dense/config.json", config)]);
        let expected = Projection { width: 4, has_bias: false, has_tanh: false };
        let sentence = found(config).unwrap();
        assert_eq!(sentence.projection(8), Ok(Some(expected)));
        assert!(sentence.refuse_projection("classes").unwrap_err().to_string().contains("gives classes"));
        assert_eq!(Sentence::default().refuse_projection("classes"), Ok(()));
        assert!(sentence.projection(16).unwrap_err().to_string().contains("in_features"));
        assert!(found(&config.replace("linear.Identity", "activation.ReLU")).unwrap_err().to_string().contains("ReLU"));
        let early = modules.replace("models.Transformer", "models.Dense");
        assert!(read(&[(MODULES, &early)]).unwrap_err().to_string().contains("`Dense`"));
    }

    #[test]
    fn other_modules_and_poolings_are_refused_by_name() {
        let other = ALL.replace("models.Normalize", "models.WordWeights");
        assert!(read(&[(MODULES, &other)]).unwrap_err().to_string().contains("`WordWeights`"));
        let weighted = r#"{"pooling_mode_weightedmean_tokens": true}"#;
        let error = read(&[(MODULES, ALL), ("1_Pooling/config.json", weighted)]).unwrap_err().to_string();
        assert!(error.contains("pooling_mode_weightedmean_tokens"), "{error}");
        let two = r#"{"pooling_mode_mean_tokens": true, "pooling_mode_max_tokens": true}"#;
        assert!(read(&[(MODULES, ALL), ("1_Pooling/config.json", two)]).is_err());
        assert!(module_files(ALL.replace("1_Pooling", "../elsewhere").as_bytes()).is_empty());
    }
}
