//! What configurations of encoders have in common.

use serde_json::Value;

use crate::config::Config;
use crate::encoder::{Block, Encoder, EncoderNames, Head, Pooling, Reach, Scores, SequenceHead};
use crate::family::activation;
use crate::{Activation, CheckpointError, Norm, NormKind};

/// The part of a model class behind the last layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Hidden states. The head for masked tokens of a pretrained model is not used.
    Bare,
    /// Logits for a text.
    Sequence,
    /// Logits for each token.
    Tokens,
}

/// Changes the common description to that of a family.
pub type Adapt = fn(&mut Encoder, &Config) -> Result<(), CheckpointError>;

/// The facts about a family that no configuration states.
pub struct Class {
    /// The names of the modules.
    pub names: EncoderNames,
    /// The head of the class for texts.
    pub sequence: SequenceHead,
    /// The module of the head of the class for tokens.
    pub tokens: &'static str,
    /// What the family says further.
    pub adapt: Option<Adapt>,
    /// `layer_norm_eps` of a configuration without the key.
    pub epsilon: f64,
    /// The elements of a head of attention of a configuration without `head_dim`; `None` for a family whose heads share the width.
    pub depth: Option<usize>,
    /// The positions of a configuration without `max_position_embeddings`; `None` for a family that states the number.
    pub positions: Option<usize>,
    /// The rows of the table of token types of a configuration without the key; 0 for a family without types.
    pub types: usize,
    /// Whether the first token has the position behind the padding token: the table has rows for this token and the tokens ahead.
    pub begins_behind_padding: bool,
    /// Tensors of other heads, by the beginnings of the names.
    pub unused: &'static [&'static str],
}

/// The description of an encoder by the common keys.
pub fn encoder(config: &Config, class: &Class, part: Part) -> Result<Encoder, CheckpointError> {
    config.refuse("is_decoder")?;
    if config.optional_text("position_embedding_type")?.is_some_and(|kind| kind != "absolute") {
        return Err(config.unsupported("position_embedding_type", "`absolute`"));
    }
    let (width, heads) = (config.size("hidden_size")?, config.size("num_attention_heads")?);
    let depth = match class.depth {
        Some(usual) => config.optional_size("head_dim")?.unwrap_or(usual),
        None if width % heads == 0 => width / heads,
        None => return Err(config.mistake("num_attention_heads", format!("does not divide the width {width}"))),
    };
    let epsilon = config.optional_number("layer_norm_eps")?.unwrap_or(class.epsilon);
    let types = if class.types == 0 { 0 } else { config.optional_size("type_vocab_size")?.unwrap_or(class.types) };
    let (labels, scores) = match part {
        Part::Bare => (Vec::new(), Scores::Plain),
        Part::Tokens => (labels(config)?, Scores::Softmax),
        Part::Sequence => {
            let labels = labels(config)?;
            let scores = scores(config, labels.len())?;
            (labels, scores)
        }
    };
    let (first_position, positions) = positions(config, class)?;
    let layers = config.size("num_hidden_layers")?;
    let mut encoder = Encoder {
        vocabulary: config.size("vocab_size")?,
        width,
        layers,
        block: Block::BERT,
        reaches: vec![Reach::default(); layers],
        relative: None,
        heads,
        depth,
        scale: None,
        inner: config.size("intermediate_size")?,
        activation: activation(config, "hidden_act", Activation::Gelu)?,
        norm: Norm { kind: NormKind::Layer, epsilon, has_weights: true, has_biases: true, less_one: false },
        positions,
        first_position,
        types,
        names: class.names,
        head: match part {
            Part::Bare => Head::Embedding { pooling: Pooling::Mean, projection: None, normalize: false },
            Part::Sequence => Head::Sequence(class.sequence),
            Part::Tokens => Head::Tokens { dense: None, output: class.tokens },
        },
        labels,
        scores,
        max_tokens: positions,
        unused: class.unused,
    };
    class.adapt.map_or(Ok(()), |adapt| adapt(&mut encoder, config))?;
    Ok(encoder)
}

/// The rows of the table of positions that no token has, and the rows behind.
fn positions(config: &Config, class: &Class) -> Result<(usize, usize), CheckpointError> {
    const ROWS: &str = "max_position_embeddings";
    let stated = config.optional_size(ROWS)?.or(class.positions);
    let all = stated.ok_or_else(|| config.mistake(ROWS, "is missing"))?;
    let padding = || config.optional_count("pad_token_id");
    let first = if class.begins_behind_padding { padding()?.unwrap_or(1) + 1 } else { 0 };
    if first >= all {
        return Err(config.mistake(ROWS, format!("is not more than the {first} rows that no token has")));
    }
    Ok((first, all - first))
}

/// The names of labels in the order of the logits: `LABEL_0`, `LABEL_1` of a configuration without names.
fn labels(config: &Config) -> Result<Vec<String>, CheckpointError> {
    let Some(names) = config.value("id2label") else {
        let count = config.optional_size("num_labels")?.unwrap_or(2);
        return Ok((0..count).map(|index| format!("LABEL_{index}")).collect());
    };
    let wrong = || config.mistake("id2label", "is not a map from 0, 1, ... to texts");
    let names = names.as_object().filter(|names| !names.is_empty()).ok_or_else(wrong)?;
    let name = |index: usize| names.get(&index.to_string()).and_then(Value::as_str).map(str::to_owned);
    (0..names.len()).map(|index| name(index).ok_or_else(wrong)).collect()
}

/// How logits become probabilities. A model with one label is a reranker, whose activation `sentence-transformers` reads from the
/// configuration; sigmoid where it says nothing.
fn scores(config: &Config, labels: usize) -> Result<Scores, CheckpointError> {
    if labels > 1 {
        let kind = config.optional_text("problem_type")?;
        return match kind.as_deref() {
            None | Some("single_label_classification") => Ok(Scores::Softmax),
            Some("multi_label_classification") => Ok(Scores::Sigmoid),
            Some("regression") => Ok(Scores::Plain),
            Some(_) => Err(config.unsupported(
                "problem_type",
                "`single_label_classification`, `multi_label_classification`, `regression`",
            )),
        };
    }
    const NEW: &str = "activation_fn";
    const OLD: &str = "sbert_ce_default_activation_function";
    let nested = config.optional_map("sentence_transformers")?;
    let (holder, key) = match &nested {
        Some(nested) if nested.value(NEW).is_some() => (nested, NEW),
        _ => (config, OLD),
    };
    let name = holder.optional_text(key)?;
    match name.as_deref().map(|name| name.rsplit_once('.').map_or(name, |(_, last)| last)) {
        None | Some("Sigmoid") => Ok(Scores::Sigmoid),
        Some("Identity") => Ok(Scores::Plain),
        Some(_) => Err(holder.unsupported(key, "`Sigmoid`, `Identity`")),
    }
}
