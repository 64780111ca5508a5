//! The keys of rotary position embeddings.

use super::{Class, listed, longest};
use crate::config::Config;
use crate::{CheckpointError, Rotary, Scaling};

/// The RoPE configuration: `rope_parameters`, or `rope_scaling` in older configurations, or the configuration.
pub fn rope(config: &Config) -> Result<Config, CheckpointError> {
    for key in ["rope_parameters", "rope_scaling"] {
        if let Some(map) = config.optional_map(key)? {
            return Ok(map);
        }
    }
    Ok(config.clone())
}

/// The rotary embedding of `rope`, for heads of `depth` elements.
pub fn rotary(config: &Config, rope: &Config, depth: usize, class: &Class) -> Result<Rotary, CheckpointError> {
    let number = |key: &str| Ok::<_, CheckpointError>(rope.optional_number(key)?.or(config.optional_number(key)?));
    let theta = stretched(number("rope_theta")?.unwrap_or(class.theta), rope, depth)?;
    let rotated = number("partial_rotary_factor")?.unwrap_or(class.rotated);
    let pairs = (depth as f64 * rotated) as usize / 2;
    let scaling = match kind(rope)? {
        None => Scaling::None,
        Some(read) => read(&Context { config, rope, class, theta, pairs })?,
    };
    // A share of the pairs turns, and the others stay within the halves.
    let pairs = if matches!(scaling, Scaling::Proportional { .. }) { depth / 2 } else { pairs };
    Ok(Rotary { theta, pairs, is_interleaved: class.is_interleaved, sections: None, scaling })
}

/// The key of a stretched base.
const ALPHA: &str = "alpha";

/// The base for a context `alpha` times as long, where `rope` says so (Hunyuan).
fn stretched(theta: f64, rope: &Config, depth: usize) -> Result<f64, CheckpointError> {
    let depth = depth as f64;
    Ok(rope.optional_number(ALPHA)?.map_or(theta, |alpha| theta * alpha.powf(depth / (depth - 2.0))))
}

/// What scalings are read from.
struct Context<'c> {
    config: &'c Config,
    rope: &'c Config,
    class: &'c Class,
    theta: f64,
    pairs: usize,
}

/// Reads a scaling.
type Read = fn(&Context<'_>) -> Result<Scaling, CheckpointError>;

/// The kinds of scaling, by the values of `rope_type`.
const KINDS: &[(&str, Read)] = &[
    ("default", |_| Ok(Scaling::None)),
    ("dynamic", by_base),
    ("linear", linear),
    ("llama3", by_wavelength),
    ("longrope", by_pair),
    ("mrope", |_| Ok(Scaling::None)),
    ("proportional", proportional),
    ("su", by_pair),
    ("yarn", by_index),
];

/// The kind of scaling, if any.
fn kind(rope: &Config) -> Result<Option<Read>, CheckpointError> {
    for key in ["rope_type", "type"] {
        if let Some(name) = rope.optional_text(key)? {
            let read = KINDS.iter().find(|(known, _)| *known == name).map(|(_, read)| *read);
            return read.map(Some).ok_or_else(|| rope.unsupported(key, listed(KINDS.iter().map(|(known, _)| *known))));
        }
    }
    Ok(None)
}

/// A base that grows with the text would turn the keys in a cache anew.
fn by_base(context: &Context<'_>) -> Result<Scaling, CheckpointError> {
    let key = if context.rope.value("rope_type").is_some() { "rope_type" } else { "type" };
    match context.rope.optional_number(ALPHA)? {
        Some(_) => Ok(Scaling::None),
        None => Err(context.rope.unsupported(key, "`dynamic` with `alpha`, and the other kinds")),
    }
}

fn linear(context: &Context<'_>) -> Result<Scaling, CheckpointError> {
    Ok(Scaling::Linear { factor: context.rope.number("factor")? })
}

fn proportional(context: &Context<'_>) -> Result<Scaling, CheckpointError> {
    let factor = context.rope.optional_number("factor")?.unwrap_or(1.0);
    Ok(Scaling::Proportional { factor, turned: context.pairs })
}

fn by_wavelength(context: &Context<'_>) -> Result<Scaling, CheckpointError> {
    let rope = context.rope;
    Ok(Scaling::ByWavelength {
        factor: rope.number("factor")?,
        high: rope.number("high_freq_factor")?,
        low: rope.number("low_freq_factor")?,
        original: context.original()? as f64,
    })
}

impl Context<'_> {
    /// The first context: a key of the configuration, or the default of a class with the key, or a key of `rope`, or the context.
    fn original(&self) -> Result<usize, CheckpointError> {
        const KEY: &str = "original_max_position_embeddings";
        let own = self.config.optional_tokens(KEY)?.or(self.class.original).or(self.rope.optional_tokens(KEY)?);
        own.map_or_else(|| longest(self.config, self.class), Ok)
    }

    /// The factor; the ratio of the context to the first context for an absent key.
    fn factor(&self) -> Result<f64, CheckpointError> {
        let ratio = longest(self.config, self.class)? as f64 / self.original()? as f64;
        Ok(self.rope.optional_number("factor")?.unwrap_or(ratio))
    }
}

fn by_pair(context: &Context<'_>) -> Result<Scaling, CheckpointError> {
    let (rope, original, factor) = (context.rope, context.original()?, context.factor()?);
    let computed = if factor > 1.0 { (1.0 + factor.ln() / (original as f64).ln()).sqrt() } else { 1.0 };
    Ok(Scaling::ByPair {
        short: rope.numbers("short_factor")?,
        long: rope.numbers("long_factor")?,
        original,
        magnitudes: [rope.optional_number("attention_factor")?.unwrap_or(computed); 2],
    })
}

/// YaRN. The slope goes from the pair that turns `beta_fast` times within the first context to the pair that turns `beta_slow` times.
fn by_index(context: &Context<'_>) -> Result<Scaling, CheckpointError> {
    let (rope, original, factor) = (context.rope, context.original()? as f64, context.factor()?);
    let turns = |key, default| Ok::<_, CheckpointError>(rope.optional_number(key)?.unwrap_or(default));
    let depth = 2.0 * context.pairs as f64;
    let pair = |turns: f64| depth * (original / (turns * 2.0 * std::f64::consts::PI)).ln() / (2.0 * context.theta.ln());
    let [first, last] = [pair(turns("beta_fast", 32.0)?), pair(turns("beta_slow", 1.0)?)];
    let [first, last] = if rope.flag_or("truncate", true)? { [first.floor(), last.ceil()] } else { [first, last] };
    Ok(Scaling::ByIndex {
        factor,
        slope: [first.max(0.0), last.min(depth - 1.0)],
        magnitude: rope.optional_number("attention_factor")?.map_or_else(|| magnitude(rope, factor), Ok)?,
    })
}

/// YaRN's factor of cosines and sines.
fn magnitude(rope: &Config, factor: f64) -> Result<f64, CheckpointError> {
    let computed = |scale: f64| if factor <= 1.0 { 1.0 } else { 0.1 * scale * factor.ln() + 1.0 };
    match [rope.optional_number("mscale")?, rope.optional_number("mscale_all_dim")?] {
        [Some(scale), Some(all)] => Ok(computed(scale) / computed(all)),
        _ => Ok(computed(1.0)),
    }
}
