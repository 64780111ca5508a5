//! The content of `adapter_config.json`. Unknown keys that would change results are refused.

use serde_json::Value;

use super::targets::{Layers, Pattern, Targets};
use super::{ADAPTER_CONFIG, Over};
use crate::CheckpointError;
use crate::config::Config;

/// An adapter by its configuration.
#[derive(Debug)]
pub struct Description {
    targets: Targets,
    excluded: Option<Targets>,
    layers: Option<Layers>,
    rank: usize,
    ranks: Vec<(Pattern, usize)>,
    alpha: f64,
    alphas: Vec<(Pattern, f64)>,
    /// Whether alpha is divided by the root of the rank (Kalajdzievski 2023).
    by_root: bool,
}

/// Keys that are read here.
const READ: &[&str] = &[
    "peft_type",
    "target_modules",
    "exclude_modules",
    "layers_to_transform",
    "layers_pattern",
    "r",
    "rank_pattern",
    "lora_alpha",
    "alpha_pattern",
    "use_rslora",
    "init_lora_weights",
    "bias",
];

/// Keys that do not change the results of a trained adapter.
const WITHOUT_EFFECT: &[&str] = &[
    "auto_mapping",
    "base_model_name_or_path",
    "corda_config",
    "ensure_weight_tying",
    "eva_config",
    "inference_mode",
    "loftq_config",
    "lora_dropout",
    "lora_ga_config",
    "megatron_core",
    "peft_version",
    "qalora_group_size",
    "revision",
    "runtime_config",
    "task_type",
];

/// Initializations of the matrices before training: other initializations change the model too.
const BEGINNINGS: [&str; 3] = ["gaussian", "eva", "orthogonal"];

impl Description {
    /// Reads the configuration.
    pub fn parse(bytes: &[u8]) -> Result<Self, CheckpointError> {
        let config = Config::parse_file(ADAPTER_CONFIG, bytes)?;
        check(&config)?;
        let targets = Targets::read(&config, "target_modules")?;
        Ok(Self {
            targets: targets.ok_or_else(|| config.mistake("target_modules", "is missing"))?,
            excluded: Targets::read(&config, "exclude_modules")?,
            layers: Layers::read(&config)?,
            rank: config.optional_size("r")?.unwrap_or(8),
            ranks: patterns(&config, "rank_pattern", |config, key| config.size(key))?,
            alpha: config.optional_number("lora_alpha")?.unwrap_or(8.0),
            alphas: patterns(&config, "alpha_pattern", |config, key| config.number(key))?,
            by_root: config.flag("use_rslora")?,
        })
    }

    /// The adapter's options for a module, if the adapter covers the module.
    pub fn layer(&self, module: &str) -> Result<Option<Over>, CheckpointError> {
        let excluded = self.excluded.as_ref().map_or(Ok(false), |excluded| excluded.mean(module))?;
        let layers = self.layers.as_ref().filter(|_| self.targets.is_list());
        if excluded || !self.targets.mean(module)? || !layers.map_or(Ok(true), |layers| layers.have(module))? {
            return Ok(None);
        }
        let rank = special(&self.ranks, "rank_pattern", module)?.unwrap_or(self.rank);
        let alpha = special(&self.alphas, "alpha_pattern", module)?.unwrap_or(self.alpha);
        let divisor = if self.by_root { (rank as f64).sqrt() } else { rank as f64 };
        Ok(Some(Over { rank, factor: alpha / divisor }))
    }
}

/// Refuses unknown keys.
fn check(config: &Config) -> Result<(), CheckpointError> {
    let refused = |key: &str, reason: String| Err(CheckpointError::AdapterKind { key: key.to_owned(), reason });
    let kind = config.optional_text("peft_type")?;
    if kind.as_deref() != Some("LORA") {
        let kind = kind.map_or("names no kind".to_owned(), |kind| format!("is `{kind}`"));
        return refused("peft_type", format!("{kind}; adapters of type `LORA` are known"));
    }
    if let Some(bias) = config.optional_text("bias")?.filter(|bias| bias != "none") {
        return refused("bias", format!("is `{bias}`: an adapter with biases of its own is not known, only `none`"));
    }
    let begins = config.value("init_lora_weights").and_then(Value::as_str);
    if let Some(begins) = begins.filter(|begins| !BEGINNINGS.contains(begins)) {
        let reason =
            format!("is `{begins}`, which changes the model too; convert the adapter to a plain one with PEFT");
        return refused("init_lora_weights", reason);
    }
    let known = |key: &&str| READ.contains(key) || WITHOUT_EFFECT.contains(key);
    match config.telling().find(|key| !known(key)) {
        Some(key) => refused(key, "is not known of adapters".to_owned()),
        None => Ok(()),
    }
}

/// Values for modules that patterns name.
fn patterns<T>(
    config: &Config,
    key: &str,
    read: impl Fn(&Config, &str) -> Result<T, CheckpointError>,
) -> Result<Vec<(Pattern, T)>, CheckpointError> {
    let Some(map) = config.optional_map(key)? else { return Ok(Vec::new()) };
    map.keys().map(|name| Ok((Pattern::ending(config, key, name)?, read(&map, name)?))).collect()
}

/// The value for a module. Patterns with different ones contradict each other: in Python the one that was written first decides, and
/// nobody knows any more which that was.
fn special<T: Copy + PartialEq>(
    values: &[(Pattern, T)],
    key: &str,
    module: &str,
) -> Result<Option<T>, CheckpointError> {
    let mut found = None;
    for (pattern, value) in values {
        if !pattern.matches(module)? {
            continue;
        }
        if found.is_some_and(|found| found != *value) {
            let reason = format!("has several values for `{module}`");
            return Err(CheckpointError::Key { file: ADAPTER_CONFIG, key: key.to_owned(), reason });
        }
        found = Some(*value);
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MODULE: &str = "model.layers.1.mlp.up_proj";

    fn described(more: &str) -> Result<Option<Over>, CheckpointError> {
        let text = format!(r#"{{"peft_type": "LORA", "target_modules": ["up_proj"], "r": 4, "lora_alpha": 6{more}}}"#);
        Description::parse(text.as_bytes())?.layer(MODULE)
    }

    #[test]
    fn alpha_is_divided_by_the_rank_or_its_root() {
        assert_eq!(described("").unwrap(), Some(Over { rank: 4, factor: 1.5 }));
        assert_eq!(described(r#", "use_rslora": true"#).unwrap(), Some(Over { rank: 4, factor: 3.0 }));
        let ranks =
            r#", "rank_pattern": {"up_proj": 2, "layers.0.*": 9}, "alpha_pattern": {"layers.\\d.mlp.up_proj": 5}"#;
        assert_eq!(described(ranks).unwrap(), Some(Over { rank: 2, factor: 2.5 }));
        assert!(described(r#", "rank_pattern": {"up_proj": 2, "mlp.up_proj": 3}"#).is_err());
    }

    #[test]
    fn modules_can_be_left_out() {
        assert_eq!(described(r#", "exclude_modules": "model\\.layers\\.1\\..*""#).unwrap(), None);
        assert_eq!(described(r#", "layers_to_transform": [0, 2]"#).unwrap(), None);
        assert!(described(r#", "layers_to_transform": 1"#).unwrap().is_some());
    }

    #[test]
    fn what_changes_numbers_and_is_not_known_is_refused() {
        let kinds = [
            r#", "use_dora": true"#,
            r#", "bias": "all""#,
            r#", "modules_to_save": ["lm_head"]"#,
            r#", "fan_in_fan_out": true"#,
            r#", "init_lora_weights": "pissa""#,
            r#", "of_tomorrow": 3"#,
        ];
        for kind in kinds {
            let refused = described(kind);
            assert!(matches!(refused, Err(CheckpointError::AdapterKind { .. })), "{kind}: {refused:?}");
        }
        let other = Description::parse(br#"{"peft_type": "LOHA"}"#);
        assert!(other.unwrap_err().to_string().contains("LOHA"));
    }

    #[test]
    fn what_changes_none_is_not() {
        let more = r#", "use_dora": false, "modules_to_save": null, "rank_pattern": {}, "lora_dropout": 0.1, "bias": "none",
            "qalora_group_size": 16, "init_lora_weights": true, "task_type": "CAUSAL_LM""#;
        assert!(described(more).unwrap().is_some());
    }
}
