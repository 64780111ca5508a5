//! The modules that a configuration selects: PEFT's lists of names, and regular expressions of Python.

use std::collections::BTreeSet;

use serde_json::Value;

use super::expression::Expression;
use crate::CheckpointError;
use crate::config::Config;

/// All linear layers but the output head.
const ALL: &str = "all-linear";
/// The output head.
const HEAD: &str = "lm_head";

/// A choice of modules.
#[derive(Debug)]
pub enum Targets {
    /// All linear layers but the head.
    All,
    /// Modules whose whole path matches.
    Matching(Pattern),
    /// Modules whose path is, or ends with, a name of the list.
    Named(BTreeSet<String>),
}

impl Targets {
    /// The choice of a key, if any.
    pub fn read(config: &Config, key: &str) -> Result<Option<Self>, CheckpointError> {
        match config.value(key) {
            None => Ok(None),
            Some(Value::String(text)) if text == ALL => Ok(Some(Self::All)),
            Some(Value::String(text)) => Ok(Some(Self::Matching(Pattern::whole(config, key, text)?))),
            Some(_) => Ok(config.optional_texts(key)?.map(|texts| Self::Named(texts.into_iter().collect()))),
        }
    }

    /// Whether this is a list, which `layers_to_transform` may make shorter.
    pub const fn is_list(&self) -> bool {
        matches!(self, Self::Named(_))
    }

    /// Whether a module is meant.
    pub fn mean(&self, module: &str) -> Result<bool, CheckpointError> {
        match self {
            Self::All => Ok(module != HEAD),
            Self::Matching(pattern) => pattern.matches(module),
            Self::Named(names) => Ok(names.iter().any(|name| is_or_ends_with(module, name))),
        }
    }
}

/// Whether a path is a name, or ends with the name behind a point.
fn is_or_ends_with(module: &str, name: &str) -> bool {
    module.strip_suffix(name).is_some_and(|before| before.is_empty() || before.ends_with('.'))
}

/// A regular expression with the key of the configuration.
#[derive(Debug)]
pub struct Pattern {
    expression: Expression,
    mistake: Box<CheckpointError>,
}

impl Pattern {
    /// An expression that matches whole paths.
    pub fn whole(config: &Config, key: &str, text: &str) -> Result<Self, CheckpointError> {
        Self::new(config, key, text, &format!(r"\A(?:{text})\z"))
    }

    /// An expression for the end of a path, behind a point or at the beginning.
    pub fn ending(config: &Config, key: &str, text: &str) -> Result<Self, CheckpointError> {
        Self::new(config, key, text, &format!(r"\A(?:.*\.)?(?:{text})\z"))
    }

    /// An expression for the number of a path's layer: behind modules of this name, or any module.
    pub fn number(config: &Config, key: &str, text: Option<&str>) -> Result<Self, CheckpointError> {
        match text {
            Some(name) => Self::new(config, key, name, &format!(r"\A(?:.*?\.)?(?:{name})\.(?<layer>\d+)\.")),
            None => Self::new(config, key, "", r"\A.*?\.[^.]*\.(?<layer>\d+)\."),
        }
    }

    fn new(config: &Config, key: &str, text: &str, regex: &str) -> Result<Self, CheckpointError> {
        if !cfg!(feature = "patterns") {
            return Err(CheckpointError::PatternsLeftOut { key: key.to_owned() });
        }
        let mistake = config.mistake(key, format!("has a pattern that is not understood: `{text}`"));
        let expression = Expression::new(regex).ok_or_else(|| mistake.clone())?;
        Ok(Self { expression, mistake: Box::new(mistake) })
    }

    /// Whether a path matches. A pattern that takes too long is a mistake.
    pub fn matches(&self, module: &str) -> Result<bool, CheckpointError> {
        self.expression.matches(module).ok_or_else(|| (*self.mistake).clone())
    }

    /// The number of the match.
    pub fn find(&self, module: &str) -> Result<Option<usize>, CheckpointError> {
        let layer = self.expression.group(module, "layer").ok_or_else(|| (*self.mistake).clone())?;
        Ok(layer.and_then(|number| number.parse().ok()))
    }
}

/// A choice among the layers that a list of names means.
#[derive(Debug)]
pub struct Layers {
    numbers: BTreeSet<usize>,
    patterns: Vec<Pattern>,
}

impl Layers {
    /// The choice of `layers_to_transform` and `layers_pattern`, if any.
    pub fn read(config: &Config) -> Result<Option<Self>, CheckpointError> {
        let number = |value: &Value| value.as_u64().and_then(|number| usize::try_from(number).ok());
        let numbers: Option<BTreeSet<usize>> = match config.value(NUMBERS) {
            None => return Ok(None),
            Some(Value::Array(items)) if items.is_empty() => return Ok(None),
            Some(Value::Array(items)) => items.iter().map(number).collect(),
            Some(value) => number(value).map(|number| BTreeSet::from([number])),
        };
        let numbers = numbers.ok_or_else(|| config.mistake(NUMBERS, "is neither a layer nor a list of layers"))?;
        let names = match config.value(NAMES) {
            Some(Value::String(name)) => vec![name.clone()],
            _ => config.optional_texts(NAMES)?.unwrap_or_default(),
        };
        let names = names.iter().map(String::as_str).filter(|name| !name.is_empty());
        let mut patterns =
            names.map(|name| Pattern::number(config, NAMES, Some(name))).collect::<Result<Vec<_>, _>>()?;
        if patterns.is_empty() {
            patterns.push(Pattern::number(config, NAMES, None)?);
        }
        Ok(Some(Self { numbers, patterns }))
    }

    /// Whether a module is in one of the layers. The first name in the path decides.
    pub fn have(&self, module: &str) -> Result<bool, CheckpointError> {
        for pattern in &self.patterns {
            if let Some(number) = pattern.find(module)? {
                return Ok(self.numbers.contains(&number));
            }
        }
        Ok(false)
    }
}

const NUMBERS: &str = "layers_to_transform";
const NAMES: &str = "layers_pattern";

#[cfg(test)]
mod tests {
    use super::*;

    const MODULE: &str = "model.layers.11.self_attn.q_proj";

    fn config(text: &str) -> Config {
        Config::parse(text.as_bytes()).unwrap()
    }

    #[test]
    fn names_are_ends_of_paths_and_patterns_are_whole_paths() {
        let means = |targets: &str| {
            let targets = Targets::read(&config(&format!("{{\"t\": {targets}}}")), "t").unwrap().unwrap();
            targets.mean(MODULE).unwrap()
        };
        assert!(means(r#"["v_proj", "q_proj"]"#) && means(r#"["self_attn.q_proj"]"#) && means(r#""all-linear""#));
        assert!(!means(r#"["proj"]"#) && !means(r#"["self_attn"]"#) && !means("[]"));
        assert!(means(r#"".*\\.(q|v)_proj""#) && means(r#""^(?!.*vision).*(q_proj|mlp)$""#));
        assert!(!means(r#""q_proj""#) && !means(r#""model\\.layers\\.1""#) && !means(r#""^(?!.*attn).*proj$""#));
        let head = Targets::read(&config(r#"{"t": "all-linear"}"#), "t").unwrap().unwrap();
        assert!(!head.mean("lm_head").unwrap());
    }

    #[test]
    fn a_pattern_that_is_none_is_a_mistake() {
        let error = Targets::read(&config(r#"{"t": "(q_proj"}"#), "t").unwrap_err();
        assert!(error.to_string().contains("`(q_proj`"), "{error}");
    }

    #[test]
    fn layers_are_numbers_behind_a_name() {
        let have = |text: &str| Layers::read(&config(text)).unwrap().map(|layers| layers.have(MODULE).unwrap());
        assert_eq!(have(r#"{"layers_to_transform": [3, 11]}"#), Some(true));
        assert_eq!(have(r#"{"layers_to_transform": 11, "layers_pattern": "layers"}"#), Some(true));
        assert_eq!(have(r#"{"layers_to_transform": [11], "layers_pattern": ["h", "blocks"]}"#), Some(false));
        assert_eq!(have(r#"{"layers_to_transform": [1]}"#), Some(false));
        assert_eq!(have(r#"{"layers_to_transform": []}"#), None);
        assert!(Layers::read(&config(r#"{"layers_to_transform": ["one"]}"#)).is_err());
    }
}
