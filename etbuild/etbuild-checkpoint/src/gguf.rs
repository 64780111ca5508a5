//! Checkpoints of llama.cpp: GGUF files, which have configuration, tokenizer and tensors in one.
//!
//! A file becomes a checkpoint in Hugging Face's layout: the metadata becomes `config.json` and the files about texts, and tensors get
//! the names of the family's modules. The rest is the same for both.

mod architecture;
mod config;
mod header;
mod mmproj;
mod names;
mod reader;
mod tokenizer;
mod unread;
mod value;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use etbuild_ir::Buffer;
use etbuild_weights::gguf::Kind;
use etbuild_weights::reals;
use serde_json::Value;

use crate::pictures::PREPROCESSOR;
use crate::shards::Tensors;
use crate::{
    Biases, CheckpointError, Decoder, Delta, DeltaInputs, Experts, Gate, HeadNorm, Inputs, Layer, Mixer, NormKind,
    Scan, Shares, Storage, describe,
};
use architecture::{ARCHITECTURES, Architecture};
use header::{Header, MAGIC, Place};
use mmproj::Mmproj;
pub use mmproj::{Encodes, encoder_beside, encodes};

/// How the names of GGUF files end.
pub const GGUF: &str = "gguf";

/// The key of the function that makes shares of a router's scores: 1 for softmax, 2 for the logistic function.
const GATING: &str = "expert_gating_func";

/// The texts of the tokens in the vocabulary.
const TOKENS: &str = "tokenizer.ggml.tokens";

/// Metadata as the file of a message.
const METADATA: &str = "metadata of GGUF";

/// The names of the parts of a model in GGUF: the file, or each of `NAME-00001-of-00003.gguf`.
pub fn part_names(name: &str) -> Vec<String> {
    let split = || {
        let (start, rest) = name.strip_suffix(".gguf")?.rsplit_once("-of-")?;
        let (start, part) = start.rsplit_once('-')?;
        let is_number = |text: &str| text.len() == 5 && text.bytes().all(|byte| byte.is_ascii_digit());
        let count: u32 = (is_number(part) && is_number(rest)).then(|| rest.parse().ok())??;
        Some((1..=count).map(|part| format!("{start}-{part:05}-of-{rest}.gguf")).collect())
    };
    split().unwrap_or_else(|| vec![name.to_owned()])
}

/// Whether a file is in GGUF.
pub fn is_gguf(file: &[u8]) -> bool {
    file.starts_with(MAGIC)
}

/// Whether tensors are integers in groups, by the beginning of a file; `None` where the header is longer, or malformed.
pub fn gguf_stores_integers(head: &[u8]) -> Option<bool> {
    let formats = header::formats(head).ok()?;
    Some(formats.iter().any(|format| matches!(format.kind, Kind::Groups(..))))
}

/// The files of a model in GGUF, by name: one, or the parts of a split model, and perhaps an encoder of pictures or sound.
pub struct Gguf<'f> {
    files: Vec<(&'f String, &'f Arc<dyn Buffer>, Vec<Place>)>,
    metadata: value::Metadata,
    architecture: &'static Architecture,
    mmproj: Option<Mmproj<'f>>,
    /// The keys of the architecture that something has asked for.
    asked: RefCell<BTreeSet<String>>,
}

impl<'f> Gguf<'f> {
    /// Reads the headers. The first part of a split model has the metadata.
    pub fn open(files: &'f BTreeMap<String, Arc<dyn Buffer>>) -> Result<Self, Vec<CheckpointError>> {
        let (mut parts, mut metadata, mut encoder, mut errors) = (Vec::new(), None, None, Vec::new());
        for (name, file) in files {
            match header::read(file.bytes()) {
                Ok(header) if mmproj::is_encoder(&header.metadata) => encoder = Some((header, file)),
                Ok(Header { metadata: found, places }) => {
                    metadata = metadata.or(Some(found));
                    parts.push((name, file, places));
                }
                Err(reason) => errors.push(CheckpointError::ShardMalformed { shard: name.clone(), reason }),
            }
        }
        if !errors.is_empty() {
            return Err(errors);
        }
        let metadata = metadata.unwrap_or_default();
        let architecture = architecture(&metadata).map_err(|error| vec![error])?;
        let mmproj = encoder.map(|(header, file)| Mmproj::open(header, file, architecture.name)).transpose();
        let mmproj = mmproj.map_err(|error| vec![error])?;
        Ok(Self { files: parts, metadata, architecture, mmproj, asked: RefCell::default() })
    }

    /// The configuration, as the contents of `config.json`.
    pub fn config(&self) -> Result<Vec<u8>, CheckpointError> {
        let mut config = config::config(self)?;
        if let Some(encoder) = &self.mmproj {
            config = encoder.config(self, config)?;
        }
        Ok(Value::Object(config).to_string().into_bytes())
    }

    /// The files about texts, pictures and sound, by the names in Hugging Face's layout.
    pub fn texts(&self) -> Result<BTreeMap<String, Vec<u8>>, CheckpointError> {
        let mut files = tokenizer::files(self)?;
        files.extend(self.mmproj.as_ref().map(|encoder| (PREPROCESSOR.to_owned(), encoder.processor())));
        Ok(files)
    }

    /// The model, as the converter changed the family's.
    pub fn decoder(&self) -> Result<Decoder, CheckpointError> {
        let mut decoder = describe(&self.config()?)?;
        if self.has_window() && decoder.layers.iter().all(|layer| layer.window.is_none()) {
            return Err(self.unsupported("attention.sliding_window", "a window in the families that have windows"));
        }
        // Without experts nothing reads the key, and another value than that of most routers is an error.
        if let Some(experts) = &decoder.experts {
            self.check_router(experts)?;
        }
        let is_attention = |layer: &Layer| layer.mixer == Mixer::Attention;
        let first = decoder.layers.iter().position(is_attention).unwrap_or(0);
        let has = |role: &str| self.has(&format!("blk.{first}.{role}"));
        decoder.transposed = false;
        decoder.norm.less_one = false;
        decoder.norm.has_biases = decoder.norm.kind == NormKind::Layer && self.has("output_norm.bias");
        decoder.head_bias = self.has("output.bias");
        decoder.attention.biases =
            Biases { inputs: has("attn_q.bias") || has("attn_qkv.bias"), output: has("attn_output.bias") };
        let network = decoder.layers.iter().position(|layer| layer.has_network && !layer.has_experts).unwrap_or(0);
        decoder.feed_forward.biases = self.has(&format!("blk.{network}.ffn_up.bias"));
        decoder.attention.inputs = if has("attn_qkv.weight") { Inputs::Fused } else { Inputs::Separate };
        if decoder.attention.head_norm == HeadNorm::Listed {
            decoder.attention.head_norm = HeadNorm::Distinct;
        }
        if self.architecture.is_permuted {
            decoder.rotaries.iter_mut().for_each(|rotary| rotary.is_interleaved = true);
        }
        if let Some(global) = &mut decoder.global_attention {
            (global.biases, global.inputs) = (decoder.attention.biases, decoder.attention.inputs);
        }
        let splits_gate = ["ffn_gate", "ffn_gate_shexp"].iter().any(|role| self.has(&format!("blk.0.{role}.weight")));
        if decoder.feed_forward.gate == Gate::Fused && splits_gate {
            decoder.feed_forward.gate = Gate::Separate;
        }
        let inputs = match self.has("blk.0.ssm_ba.weight") {
            true => DeltaInputs::SeparateRows,
            false => DeltaInputs::Separate,
        };
        for layer in &mut decoder.layers {
            match &mut layer.mixer {
                Mixer::Delta(delta) => {
                    *delta = Delta { inputs, is_tiled: self.architecture.is_tiled, stores_rates: true, ..*delta };
                }
                // Files state no limits of steps, and llama.cpp has none.
                Mixer::Scan(scan) => *scan = Scan { stores_rates: true, limits: None, ..*scan },
                _ => {}
            }
        }
        if let Some(latent) = &mut decoder.attention.latent {
            latent.is_split = has("attn_k_b.weight");
        }
        if let Some(experts) = decoder.experts.as_mut().filter(|experts| experts.storage != Storage::Listed) {
            experts.list();
        }
        self.mmproj.iter().for_each(|encoder| encoder.adjust(&mut decoder));
        Ok(decoder)
    }

    /// The keys that mean something which no part of the description has asked for.
    pub fn unread(&self) -> Vec<CheckpointError> {
        // A copy: the value of a message is asked for, too.
        let asked = self.asked.borrow().clone();
        let of_text = unread::of(self.architecture.name, &self.metadata, &asked);
        let of_text = of_text.map(|(key, supported)| self.unsupported(key, supported));
        of_text.chain(self.mmproj.iter().flat_map(Mmproj::unread)).collect()
    }

    /// The tensors under the names of the decoder's modules.
    pub fn tensors(&self, decoder: &Decoder) -> Result<Tensors, Vec<CheckpointError>> {
        let (mut tensors, mut errors) = (Tensors::default(), Vec::new());
        for (_, file, places) in &self.files {
            let places = places.iter().filter(|place| !place.name.starts_with("rope_f"));
            errors.extend(places.filter_map(|place| names::add(&mut tensors, decoder, file, place).err()));
        }
        errors.extend(self.mmproj.iter().flat_map(|encoder| encoder.add(&mut tensors)));
        if errors.is_empty() { Ok(tensors) } else { Err(errors) }
    }

    /// Whether rows of queries and keys are in another order than in Hugging Face's checkpoints.
    pub const fn is_permuted(&self) -> bool {
        self.architecture.is_permuted
    }

    fn find(&self, name: &str) -> Option<(&Arc<dyn Buffer>, &Place)> {
        let of = |places: &'_ [Place]| places.iter().position(|place| place.name == name);
        self.files.iter().find_map(|(_, file, places)| Some((*file, places.get(of(places)?)?)))
    }

    fn has(&self, tensor: &str) -> bool {
        self.find(tensor).is_some()
    }

    /// The value of a key of the architecture.
    fn value(&self, key: &str) -> Option<&Value> {
        self.asked.borrow_mut().insert(key.to_owned());
        self.metadata.get(&format!("{}.{key}", self.architecture.name))
    }

    /// Whether the file states a window that is shorter than the context.
    fn has_window(&self) -> bool {
        let context = self.count("context_length").unwrap_or(u64::MAX);
        self.count("attention.sliding_window").is_some_and(|window| (1..context).contains(&window))
    }

    /// Whether the function of the router is that of the family.
    fn check_router(&self, experts: &Experts) -> Result<(), CheckpointError> {
        if self.count(GATING).is_some_and(|function| !(1..=2).contains(&function)) {
            return Err(self.unsupported(GATING, "`1`, `2`"));
        }
        let shares = if self.chooses_by_sigmoid() { Shares::Sigmoid } else { Shares::Softmax };
        match experts.routing.shares == shares {
            true => Ok(()),
            false => Err(self.unsupported(GATING, "the function of the family's router")),
        }
    }

    /// Whether the router of the experts has the logistic function.
    fn chooses_by_sigmoid(&self) -> bool {
        self.count(GATING).map_or(self.architecture.is_sigmoid, |function| function == 2)
    }

    fn count(&self, key: &str) -> Option<u64> {
        self.value(key)?.as_u64()
    }

    fn unsupported(&self, key: &str, supported: impl Into<String>) -> CheckpointError {
        let value = self.value(key).map_or_else(|| "null".to_owned(), Value::to_string);
        let key = format!("{}.{key}", self.architecture.name);
        CheckpointError::Unsupported { file: METADATA, key, value, supported: supported.into() }
    }

    fn width(&self) -> u64 {
        self.count("embedding_length").unwrap_or(0)
    }

    fn heads(&self) -> u64 {
        self.count("attention.head_count").unwrap_or(1)
    }

    /// The elements of a head.
    fn depth(&self) -> u64 {
        self.count("attention.key_length").unwrap_or_else(|| self.width() / self.heads().max(1))
    }

    /// The rows of a matrix; 0 without the matrix.
    fn rows(&self, tensor: &str) -> usize {
        self.find(tensor).and_then(|(_, place)| place.shape.first().copied()).unwrap_or(0)
    }

    /// The tokens of the embedding.
    fn vocabulary(&self) -> Result<usize, CheckpointError> {
        const NAME: &str = "token_embd.weight";
        let (_, place) = self.find(NAME).ok_or_else(|| CheckpointError::TensorMissing(NAME.to_owned()))?;
        Ok(place.shape.first().copied().unwrap_or(0))
    }

    /// The token with a text.
    fn token(&self, text: &str) -> Result<usize, CheckpointError> {
        let tokens = self.metadata.list(TOKENS).unwrap_or_default();
        tokens.iter().position(|token| token.as_str() == Some(text)).ok_or_else(|| CheckpointError::Key {
            file: METADATA,
            key: TOKENS.to_owned(),
            reason: format!("does not have `{text}`, which stands for the encoder's tokens"),
        })
    }

    /// The numbers of a small tensor as JSON, if present.
    fn numbers(&self, tensor: &str) -> Result<Option<Value>, CheckpointError> {
        /// More pairs than any head has.
        const MOST: usize = 1 << 12;
        let Some((file, place)) = self.find(tensor) else { return Ok(None) };
        let count = place.shape.iter().product::<usize>();
        let Kind::Plain(scalar_type) = place.format.kind else {
            return Err(CheckpointError::ElementType { tensor: tensor.to_owned(), found: place.format.name });
        };
        let bytes = file.bytes().get(place.start..place.start + count.min(MOST) * scalar_type.size());
        let numbers = reals::read(scalar_type, bytes.unwrap_or_default());
        Ok(Some(numbers.into_iter().map(value::decimal).collect()))
    }
}

fn architecture(metadata: &value::Metadata) -> Result<&'static Architecture, CheckpointError> {
    const KEY: &str = "general.architecture";
    let name = metadata.text(KEY).unwrap_or_default();
    architecture::find(name).ok_or_else(|| CheckpointError::Architecture {
        file: METADATA,
        key: KEY,
        found: name.to_owned(),
        missing: Vec::new(),
        known: ARCHITECTURES.iter().map(|architecture| architecture.name).collect(),
    })
}
