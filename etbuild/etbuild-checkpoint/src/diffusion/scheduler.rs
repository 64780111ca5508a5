//! `scheduler_config.json`: the scheduler and the noise schedule.

use et_diffusion::{Betas, Kind, Prediction, SCHEDULERS, Schedule, Spacing};

use crate::CheckpointError;
use crate::config::Config;

/// Flags that mean another schedule, by the names of the schedulers that read the flag.
const REFUSED: [(&str, &[&str]); 5] = [
    ("rescale_betas_zero_snr", &["ddim", "euler"]),
    ("thresholding", &["ddim"]),
    ("use_karras_sigmas", &["euler"]),
    ("use_exponential_sigmas", &["euler"]),
    ("use_beta_sigmas", &["euler"]),
];
/// Texts with one supported value, in the same form.
const FIXED: [(&str, &str, &[&str]); 3] = [
    ("interpolation_type", "linear", &["euler"]),
    ("timestep_type", "discrete", &["euler"]),
    ("final_sigmas_type", "zero", &["euler"]),
];

/// The scheduler of this name, or else of the configuration's class, and the schedule. A key that the configuration lacks has the
/// scheduler's default.
pub fn read(config: &Config, name: Option<&str>) -> Result<(Kind, Schedule), CheckpointError> {
    let kind = kind(config, name)?;
    refuse(config, kind)?;
    let schedule = Schedule {
        train_steps: config.optional_size("num_train_timesteps")?.unwrap_or(1000),
        betas: word(config, "beta_schedule", &Betas::NAMES, Betas::Linear)?,
        beta_start: config.optional_number("beta_start")?.unwrap_or(0.0001),
        beta_end: config.optional_number("beta_end")?.unwrap_or(0.02),
        prediction: word(config, "prediction_type", &predictions(kind), Prediction::Epsilon)?,
        spacing: word(config, "timestep_spacing", &Spacing::NAMES, kind.spacing)?,
        ends_at_one: config.flag_or("set_alpha_to_one", kind.ends_at_one)?,
    };
    Ok((kind, schedule))
}

fn kind(config: &Config, name: Option<&str>) -> Result<Kind, CheckpointError> {
    const KEY: &str = "_class_name";
    let class = config.optional_text(KEY)?.unwrap_or_default();
    let is_it = |kind: &Kind| name.map_or(kind.class == class, |name| kind.name == name);
    SCHEDULERS.into_iter().find(is_it).ok_or_else(|| {
        let classes: Vec<String> = SCHEDULERS.iter().map(|kind| format!("`{}`", kind.class)).collect();
        let names: Vec<&str> = SCHEDULERS.iter().map(|kind| kind.name).collect();
        let supported = format!("{}; `diffusion.scheduler` chooses another: {}", classes.join(", "), names.join(", "));
        config.unsupported(KEY, supported)
    })
}

fn refuse(config: &Config, kind: Kind) -> Result<(), CheckpointError> {
    const BETAS: &str = "trained_betas";
    if config.value(BETAS).is_some() {
        return Err(config.unsupported(BETAS, "`null`"));
    }
    if kind.name == "pndm" && !config.flag("skip_prk_steps")? {
        return Err(config.unsupported("skip_prk_steps", "`true`"));
    }
    for (key, _) in REFUSED.iter().filter(|(_, readers)| readers.contains(&kind.name)) {
        config.refuse(key)?;
    }
    for (key, value, _) in FIXED.iter().filter(|(.., readers)| readers.contains(&kind.name)) {
        if config.optional_text(key)?.is_some_and(|found| found != *value) {
            return Err(config.unsupported(key, format!("`{value}`")));
        }
    }
    Ok(())
}

/// The predictions that a scheduler knows, by name.
fn predictions(kind: Kind) -> Vec<(&'static str, Prediction)> {
    Prediction::NAMES.into_iter().filter(|(_, prediction)| kind.predictions.contains(prediction)).collect()
}

fn word<T: Copy>(config: &Config, key: &str, names: &[(&'static str, T)], default: T) -> Result<T, CheckpointError> {
    let Some(found) = config.optional_text(key)? else { return Ok(default) };
    names.iter().find(|(name, _)| *name == found).map(|(_, value)| *value).ok_or_else(|| {
        let names: Vec<String> = names.iter().map(|(name, _)| format!("`{name}`")).collect();
        config.unsupported(key, names.join(", "))
    })
}
