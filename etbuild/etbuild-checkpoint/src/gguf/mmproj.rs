//! The encoder of pictures or of sound beside a language model in GGUF: the file that llama.cpp calls `mmproj`, whose architecture is `clip`.
//!
//! The metadata becomes the part of `config.json` about the encoder and `preprocessor_config.json`, and tensors get the names of modules.

mod kinds;
mod names;

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::sync::Arc;

use etbuild_ir::Buffer;
use serde_json::{Map, Value, json};

use super::header::{Header, Place};
use super::value::Metadata;
use super::{Gguf, unread};
use crate::shards::Tensors;
use crate::{CheckpointError, Decoder, PatchNames, PictureSizes, Projector, Sound, VisionEncoder};
use kinds::{KINDS, Kind};
use names::{Media, Variant};

/// The architecture of such a file.
const CLIP: &str = "clip";
/// The key of the kind of encoder.
const KIND: &str = "projector_type";

/// Whether a file is an encoder, by the metadata.
pub fn is_encoder(metadata: &Metadata) -> bool {
    metadata.text("general.architecture") == Some(CLIP)
}

/// The encoder of a file.
pub struct Mmproj<'f> {
    file: &'f Arc<dyn Buffer>,
    places: Vec<Place>,
    metadata: Metadata,
    kind: &'static Kind,
    /// The class of `transformers` of both, and the `model_type` of the language model in the class.
    class: [&'static str; 2],
    /// The keys that something has asked for.
    asked: RefCell<BTreeSet<String>>,
    variant: Variant,
}

impl<'f> Mmproj<'f> {
    /// The encoder beside a language model of this architecture.
    ///
    /// # Errors
    /// An encoder that is not known, or that no model of this architecture has.
    pub fn open(header: Header, file: &'f Arc<dyn Buffer>, architecture: &str) -> Result<Self, CheckpointError> {
        let Header { metadata, places } = header;
        let name = projector(&metadata).unwrap_or_default();
        let beside = |kind: &&Kind| kind.models.iter().any(|(model, _)| *model == architecture);
        let found = KINDS.iter().find(|kind| kind.projector == name);
        let class = found.and_then(|kind| kind.models.iter().find(|(model, _)| *model == architecture));
        let Some((kind, (_, class))) = found.zip(class) else {
            let listed = |kinds: &mut dyn Iterator<Item = &Kind>| {
                kinds.map(|kind| format!("`{}`", kind.projector)).collect::<Vec<String>>().join(", ")
            };
            let supported = match listed(&mut KINDS.iter().filter(beside)) {
                none if none.is_empty() => {
                    format!("{}, none of them beside `{architecture}`", listed(&mut KINDS.iter()))
                }
                some => format!("{some} beside `{architecture}`"),
            };
            return Err(unsupported(KIND, Some(&name.into()), supported));
        };
        let asked = RefCell::new(kind.media.keys().into_iter().map(str::to_owned).collect());
        let (class, variant) = (*class, Variant::default());
        let mut encoder = Self { file, places, metadata, kind, class, asked, variant };
        encoder.variant = Variant { is_swapped: encoder.has_swapped_projections(), deep: encoder.deep_layers() };
        Ok(encoder)
    }

    /// The configuration of the language model as part of that of both.
    ///
    /// # Errors
    /// An encoder for language models of another width; a tokenizer without the token that stands for the encoder's.
    pub fn config(&self, file: &Gguf<'_>, text: Map<String, Value>) -> Result<Map<String, Value>, CheckpointError> {
        let [class, model_type] = self.class;
        let width = format!("{}.projection_dim", self.kind.media.prefix());
        if self.count(&width).is_some_and(|own| own != file.width()) {
            return Err(self.unsupported(&width, format!("`{}`, the width of the language model", file.width())));
        }
        let token = file.token(self.kind.token)?;
        let mut config = (self.kind.model)(self);
        config.insert("architectures".to_owned(), json!([class]));
        config.insert("tie_word_embeddings".to_owned(), text.get("tie_word_embeddings").cloned().unwrap_or_default());
        let mut text = text;
        text.insert("model_type".to_owned(), model_type.into());
        config.insert("text_config".to_owned(), Value::Object(text));
        let [encoder, key] = self.kind.media.config();
        config.insert(encoder.to_owned(), Value::Object((self.kind.encoder)(self)));
        config.insert(key.to_owned(), token.into());
        Ok(config)
    }

    /// The steps from a picture or a sound to the input of the encoder, as the contents of `preprocessor_config.json`.
    pub fn processor(&self) -> Vec<u8> {
        Value::Object((self.kind.processor)(self)).to_string().into_bytes()
    }

    /// Changes the description to what the converter made of the encoder.
    pub fn adjust(&self, decoder: &mut Decoder) {
        match decoder.vision.as_mut().map(|vision| &mut vision.encoder) {
            Some(VisionEncoder::Tiles(_, Projector::Pool { less_one, .. })) => *less_one = false,
            Some(VisionEncoder::Patches(tower)) if *tower.names == PatchNames::QWEN2 => {
                tower.names = &PatchNames::QWEN2_SPLIT;
            }
            _ => {}
        }
    }

    /// Adds the tensors under the names of modules.
    pub fn add(&self, tensors: &mut Tensors) -> Vec<CheckpointError> {
        let put = |place: &Place| {
            let name = self.name(&place.name);
            // Biases of convolutions over time are columns.
            let shape = match &place.shape[..] {
                [count, 1] if name.ends_with(".bias") => vec![*count],
                shape => shape.to_vec(),
            };
            super::names::put(tensors, name, self.file, place, &shape, 0).err()
        };
        self.places.iter().filter_map(put).collect()
    }

    /// The keys that mean something which nothing has asked for.
    pub fn unread(&self) -> Vec<CheckpointError> {
        // The steps ask for keys, too.
        let _ = self.processor();
        unread::of(CLIP, &self.metadata, &self.asked.borrow())
            .map(|(key, supported)| self.unsupported(key, supported))
            .collect()
    }

    fn value(&self, key: &str) -> Option<&Value> {
        self.asked.borrow_mut().insert(key.to_owned());
        self.metadata.get(&format!("{CLIP}.{key}"))
    }

    fn count(&self, key: &str) -> Option<u64> {
        self.value(key)?.as_u64()
    }

    fn flag(&self, key: &str) -> bool {
        self.value(key).and_then(Value::as_bool).unwrap_or(false)
    }

    /// The values of keys, behind the medium, under the keys of a configuration.
    fn copied(&self, pairs: &[(&str, &str)]) -> Map<String, Value> {
        let medium = self.kind.media.prefix();
        let value =
            |(from, to): &(&str, &str)| Some(((*to).to_owned(), self.value(&format!("{medium}.{from}"))?.clone()));
        pairs.iter().filter_map(value).collect()
    }

    /// The shape of a tensor, rows first; empty without the tensor.
    fn shape(&self, tensor: &str) -> &[usize] {
        self.places.iter().find(|place| place.name == tensor).map_or(&[], |place| &place.shape)
    }

    /// The rows of a tensor; 0 without the tensor.
    fn rows(&self, tensor: &str) -> usize {
        self.shape(tensor).first().copied().unwrap_or(0)
    }

    /// Whether the projection behind the activation reads as many elements as there are between layers, and makes more.
    fn has_swapped_projections(&self) -> bool {
        let width = self.count("vision.embedding_length").unwrap_or(0) as usize;
        matches!(self.shape("v.blk.0.ffn_down.weight"), [rows, columns] if *columns == width && *rows != width)
    }

    /// The layers whose states a projector of their own reads.
    fn deep_layers(&self) -> Vec<usize> {
        let flags = self.value("vision.is_deepstack_layers").and_then(Value::as_array);
        let flags = flags.into_iter().flatten().enumerate();
        flags.filter(|(_, flag)| flag.as_bool() == Some(true)).map(|(layer, _)| layer).collect()
    }

    fn name(&self, tensor: &str) -> String {
        names::name(self.kind.names, tensor, &self.variant)
    }

    fn unsupported(&self, key: &str, supported: impl Into<String>) -> CheckpointError {
        unsupported(key, self.metadata.get(&format!("{CLIP}.{key}")), supported)
    }
}

fn unsupported(key: &str, value: Option<&Value>, supported: impl Into<String>) -> CheckpointError {
    let value = value.map_or_else(|| "null".to_owned(), Value::to_string);
    CheckpointError::Encoder { key: format!("{CLIP}.{key}"), value, supported: supported.into() }
}

/// The kind of encoder; files with several encoders name one for each medium.
fn projector(metadata: &Metadata) -> Option<&str> {
    let keys = ["", "vision.", "audio."];
    keys.iter().find_map(|medium| metadata.text(&format!("{CLIP}.{medium}{KIND}")))
}

/// The pictures and the sound of an encoder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Encodes {
    /// The pictures.
    pub pictures: PictureSizes,
    /// What the audio encoder is for, if any.
    pub sound: Option<Sound>,
}

/// The forms of weights that names state, in the order of preference.
const FORMS: [&str; 4] = ["f16", "bf16", "q8_0", "f32"];

/// The name of the encoder beside a model in GGUF, of the files of a folder: the one with `mmproj` in its name. Of several, the one whose name
/// states fp16 weights, or else bf16, q8_0 or f32, in this order; `None` for two of a form, which are those of different models.
pub fn encoder_beside<'n>(names: impl IntoIterator<Item = &'n str>, model: &str) -> Option<&'n str> {
    let is_encoder = |name: &str| name.ends_with(".gguf") && name.to_ascii_lowercase().contains("mmproj");
    let rank = |name: &str| {
        let lower = name.to_ascii_lowercase();
        let stated = FORMS.iter().enumerate().filter(|(_, form)| lower.contains(**form));
        // The longest: `bf16` has `f16` in it.
        stated.max_by_key(|(_, form)| form.len()).map_or(FORMS.len(), |(rank, _)| rank)
    };
    let mut found: Vec<(usize, &str)> =
        names.into_iter().filter(|name| is_encoder(name)).map(|name| (rank(name), name)).collect();
    found.sort_unstable();
    match found[..] {
        _ if is_encoder(model) => None,
        [(_, only)] => Some(only),
        [(first, name), (second, _), ..] if first < second => Some(name),
        _ => None,
    }
}

/// What an encoder in GGUF reads, by the beginning of its file; `None` for another file, or an encoder that is not known.
pub fn encodes(head: &[u8]) -> Option<Encodes> {
    let metadata = super::header::metadata(head).ok().filter(is_encoder)?;
    let kind = KINDS.iter().find(|kind| Some(kind.projector) == projector(&metadata))?;
    Some(match kind.media {
        Media::Tiles => Encodes { pictures: PictureSizes::One, sound: None },
        Media::Patches => Encodes { pictures: PictureSizes::Any, sound: None },
        Media::Sound => Encodes { pictures: PictureSizes::None, sound: Some(Sound::Prompts) },
    })
}

#[cfg(test)]
mod tests {
    use super::encoder_beside;

    #[test]
    fn the_encoder_of_a_folder_is_the_only_one_or_that_with_fp16_weights() {
        let model = "gemma-3-4b-it-Q4_K_M.gguf";
        for (names, found) in [
            (&[model][..], None),
            (&[model, "mmproj-model-f16.gguf"], Some("mmproj-model-f16.gguf")),
            (&["a-mmproj.gguf", "b.gguf"], Some("a-mmproj.gguf")),
            (&["mmproj-BF16.gguf", "mmproj-F16.gguf", "mmproj-F32.gguf"], Some("mmproj-F16.gguf")),
            (&["mmproj-x-Q8_0.gguf", "mmproj-x-bf16.gguf"], Some("mmproj-x-bf16.gguf")),
            (&["mmproj-a-f16.gguf", "mmproj-b-f16.gguf"], None),
            (&["mmproj.txt"], None),
        ] {
            assert_eq!(encoder_beside(names.iter().copied(), model), found, "{names:?}");
        }
        assert_eq!(encoder_beside(["mmproj-a.gguf"], "mmproj-a.gguf"), None);
    }
}
