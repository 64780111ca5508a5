//! The classes of tokenizers of bytes in `transformers`: how a text is split, and which tokens have a role without a file that says so.

use serde_json::{Value, json};

use super::bytes::QWEN2;
use crate::CheckpointError;
use crate::config::Config;

/// The tokens ahead of a text and behind a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Around {
    /// Those that `add_bos_token` and `add_eos_token` say.
    Stated,
    /// None.
    Nothing,
    /// `cls_token` ahead, `sep_token` behind, and two `sep_token` between the texts of a pair.
    Pairs,
}

/// A class.
pub struct Class {
    /// The values of `tokenizer_class`, without `Fast` at the end.
    names: &'static [&'static str],
    /// The types of models that have the class where no file names one.
    models: &'static [&'static str],
    /// The expression that splits a text; `None` for GPT-2's.
    pattern: Option<&'static str>,
    /// Whether characters are composed ahead (NFC).
    pub is_composed: bool,
    /// The tokens with a role, by key.
    pub named: &'static [(&'static str, &'static str)],
    /// The tokens around a text.
    pub around: Around,
}

const GPT2: &[(&str, &str)] = &[("bos_token", END), ("eos_token", END), ("unk_token", END), ("pad_token", "")];
const END: &str = "<|endoftext|>";

/// Every supported class.
const CLASSES: &[Class] = &[
    Class {
        names: &["GPT2Tokenizer", "CodeGenTokenizer"],
        models: &["codegen", "gpt2", "gpt_bigcode", "gpt_neo", "gptj", "opt", "phi", "starcoder2"],
        pattern: None,
        is_composed: false,
        named: GPT2,
        around: Around::Stated,
    },
    Class {
        names: &["GPTNeoXTokenizer"],
        models: &["gpt_neox", "mpt", "olmo", "olmoe"],
        pattern: None,
        is_composed: true,
        named: &[("bos_token", END), ("eos_token", END), ("unk_token", END), ("pad_token", "<|padding|>")],
        around: Around::Stated,
    },
    Class {
        names: &["Qwen2Tokenizer"],
        models: &["qwen2", "qwen2_5_vl", "qwen2_moe", "qwen2_vl", "qwen3", "qwen3_moe"],
        pattern: Some(QWEN2),
        is_composed: true,
        named: &[("bos_token", ""), ("eos_token", END), ("unk_token", END), ("pad_token", END)],
        around: Around::Stated,
    },
    Class {
        names: &["RobertaTokenizer", "BartTokenizer"],
        models: &["bart", "roberta"],
        pattern: None,
        is_composed: false,
        named: &[
            ("bos_token", "<s>"),
            ("eos_token", "</s>"),
            ("unk_token", "<unk>"),
            ("sep_token", "</s>"),
            ("pad_token", "<pad>"),
            ("cls_token", "<s>"),
            ("mask_token", "<mask>"),
        ],
        around: Around::Pairs,
    },
    Class {
        names: &["WhisperTokenizer"],
        models: &["whisper"],
        pattern: None,
        is_composed: false,
        named: GPT2,
        around: Around::Nothing,
    },
];

/// The class that the configuration of the tokenizer names, or else the configuration of the model, or else that of the type of the model, as
/// in `transformers`.
///
/// # Errors
/// A class that is not known.
pub fn find(stated: &Config, config: &Config) -> Result<&'static Class, CheckpointError> {
    const CLASS: &str = "tokenizer_class";
    const MODEL: &str = "model_type";
    let of = |known: fn(&Class) -> &'static [&'static str], name: &str| {
        CLASSES.iter().find(|class| known(class).contains(&name))
    };
    let names = |known: fn(&Class) -> &'static [&'static str]| {
        let names = CLASSES.iter().flat_map(known).map(|name| format!("`{name}`"));
        names.collect::<Vec<String>>().join(", ")
    };
    // A class that stands for any `tokenizer.json` says nothing.
    const ANY: [&str; 2] = ["PreTrainedTokenizer", "TokenizersBackend"];
    for file in [stated, config] {
        let class = file.optional_text(CLASS)?.map(|class| class.trim_end_matches("Fast").to_owned());
        if let Some(class) = class.filter(|class| !ANY.contains(&class.as_str())) {
            return of(|class| class.names, &class).ok_or_else(|| file.unsupported(CLASS, names(|class| class.names)));
        }
    }
    let model = config.optional_text(MODEL)?.unwrap_or_default();
    of(|class| class.models, &model).ok_or_else(|| {
        let hint = "`vocab.json` and `merges.txt` do not say how texts are split, and `tokenizer_config.json` may name a class";
        config.unsupported(MODEL, format!("{}; {hint}: {}", names(|class| class.models), names(|class| class.names)))
    })
}

impl Class {
    /// The part `pre_tokenizer` of `tokenizer.json`; `prefix` says whether a text without a space ahead gets one.
    pub fn pre_tokenizer(&self, prefix: bool) -> Value {
        let bytes = |has_pattern: bool| json!({"type": "ByteLevel", "add_prefix_space": prefix, "trim_offsets": true, "use_regex": has_pattern});
        let Some(pattern) = self.pattern else { return bytes(true) };
        let split = json!({"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": false});
        json!({"type": "Sequence", "pretokenizers": [split, bytes(false)]})
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn class(stated: &[u8], config: &[u8]) -> Result<&'static [&'static str], CheckpointError> {
        find(&Config::parse(stated)?, &Config::parse(config)?).map(|class| class.names)
    }

    #[test]
    fn the_tokenizer_s_configuration_names_the_class_before_the_model_s() {
        let config = br#"{"tokenizer_class": "GPT2Tokenizer", "model_type": "qwen2"}"#;
        assert_eq!(class(br"{}", config).unwrap()[0], "GPT2Tokenizer");
        assert_eq!(class(br#"{"tokenizer_class": "GPTNeoXTokenizerFast"}"#, config).unwrap()[0], "GPTNeoXTokenizer");
        assert_eq!(class(br"{}", br#"{"model_type": "qwen2"}"#).unwrap()[0], "Qwen2Tokenizer");
        let error = class(br"{}", br#"{"tokenizer_class": "XTokenizer", "model_type": "qwen2"}"#).unwrap_err();
        assert!(error.to_string().contains("XTokenizer"), "{error}");
    }
}
