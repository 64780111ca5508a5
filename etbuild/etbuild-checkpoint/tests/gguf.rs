//! Hostile and unusual files: errors with a reason, never a panic or a large allocation.

mod support;

use std::collections::BTreeMap;
use std::sync::Arc;

use et_core::Half;
use etbuild_checkpoint::{
    Checkpoint, CheckpointError, Kept, Model, Multiplied, PictureSizes, encodes, gguf_stores_integers, gguf_texts,
    import_checkpoint, stored_forms,
};
use etbuild_ir::{AtenProgram, Buffer, ValueKind};
use etbuild_weights::InMemory;
use etbuild_weights::gguf::{self, Format};

/// A file in the making.
#[derive(Clone)]
struct File {
    version: u32,
    /// Keys with the bytes of type and value.
    values: Vec<(&'static str, Vec<u8>)>,
    /// Names, sizes (columns first), types, and offsets.
    tensors: Vec<(String, Vec<u64>, u32, u64)>,
    data: usize,
}

fn text(text: &str) -> Vec<u8> {
    [&(text.len() as u64).to_le_bytes(), text.as_bytes()].concat()
}

fn number(value: u32) -> Vec<u8> {
    [4_u32.to_le_bytes(), value.to_le_bytes()].concat()
}

impl File {
    /// A small model of Llama's architecture, with matrices of `Q8_0`.
    fn small() -> Self {
        Self::of(gguf::all().find(|format| format.name == "Q8_0").unwrap(), 32)
    }

    /// A model of this width, with matrices in a form.
    fn of(format: &Format, width: u32) -> Self {
        let (columns, inner) = (u64::from(width), u64::from(2 * width));
        let matrix = |name: &str, columns, rows| (name.to_owned(), vec![columns, rows], format.code);
        let vector = |name: &str| (name.to_owned(), vec![columns], 0);
        let mut tensors = vec![
            matrix("token_embd.weight", columns, 16),
            vector("output_norm.weight"),
            vector("blk.0.attn_norm.weight"),
            vector("blk.0.ffn_norm.weight"),
        ];
        let of_layer = ["attn_q", "attn_k", "attn_v", "attn_output"].map(|name| (name, columns, columns));
        let of_network = [("ffn_gate", columns, inner), ("ffn_up", columns, inner), ("ffn_down", inner, columns)];
        let of_all = of_layer.into_iter().chain(of_network);
        tensors.extend(of_all.map(|(name, columns, rows)| matrix(&format!("blk.0.{name}.weight"), columns, rows)));
        let (mut placed, mut offset) = (Vec::new(), 0);
        for (name, sizes, code) in tensors {
            let elements: u64 = sizes.iter().product();
            placed.push((name, sizes, code, offset));
            let of = gguf::find(code).unwrap();
            offset += elements / of.elements as u64 * of.bytes as u64;
            offset = offset.next_multiple_of(32);
        }
        let values = vec![
            ("general.architecture", [&8_u32.to_le_bytes()[..], &text("llama")].concat()),
            ("llama.embedding_length", number(width)),
            ("llama.block_count", number(1)),
            ("llama.attention.head_count", number(2)),
            ("llama.feed_forward_length", number(2 * width)),
            ("llama.context_length", number(64)),
        ];
        Self { version: 3, values, tensors: placed, data: offset as usize }
    }

    fn bytes(&self) -> Vec<u8> {
        let mut bytes = [b"GGUF".to_vec(), self.version.to_le_bytes().to_vec()].concat();
        bytes.extend((self.tensors.len() as u64).to_le_bytes());
        bytes.extend((self.values.len() as u64).to_le_bytes());
        for (key, value) in &self.values {
            bytes.extend(text(key));
            bytes.extend(value);
        }
        for (name, sizes, code, offset) in &self.tensors {
            bytes.extend(text(name));
            bytes.extend((sizes.len() as u32).to_le_bytes());
            sizes.iter().for_each(|size| bytes.extend(size.to_le_bytes()));
            bytes.extend(code.to_le_bytes());
            bytes.extend(offset.to_le_bytes());
        }
        let start = bytes.len().next_multiple_of(32);
        bytes.resize(start, 0);
        // Halves of such bytes are small numbers.
        bytes.extend((0..self.data).map(|index| (index * 7919 % 251 % 61) as u8));
        bytes
    }
}

/// Values of the metadata by key: a text, or a number.
fn texts<const N: usize>(values: [(&'static str, &str); N]) -> impl Iterator<Item = (&'static str, Vec<u8>)> {
    values.map(|(key, value)| (key, [&8_u32.to_le_bytes()[..], &text(value)].concat())).into_iter()
}

/// A tower of one layer over two by two patches, for the small model.
fn small_encoder() -> File {
    let mut file = File { version: 3, values: Vec::new(), tensors: Vec::new(), data: 0 };
    file.values.extend(texts([("general.architecture", "clip"), ("clip.projector_type", "idefics3")]));
    let numbers = [
        ("clip.vision.image_size", 8),
        ("clip.vision.patch_size", 4),
        ("clip.vision.embedding_length", 16),
        ("clip.vision.feed_forward_length", 24),
        ("clip.vision.block_count", 1),
        ("clip.vision.attention.head_count", 2),
        ("clip.vision.projection_dim", 32),
        ("clip.vision.projector.scale_factor", 2),
    ];
    file.values.extend(numbers.map(|(key, value)| (key, number(value))));
    let mut add = |name: &str, sizes: &[u64]| {
        file.tensors.push((name.to_owned(), sizes.to_vec(), 0, file.data as u64));
        file.data += (sizes.iter().product::<u64>() as usize * 4).next_multiple_of(32);
    };
    let layers = ["attn_q", "attn_k", "attn_v", "attn_out"].map(|role| (role, [16, 16]));
    let networks = [("ffn_up", [16, 24]), ("ffn_down", [24, 16])];
    for (role, [columns, rows]) in layers.into_iter().chain(networks) {
        add(&format!("v.blk.0.{role}.weight"), &[columns, rows]);
        add(&format!("v.blk.0.{role}.bias"), &[rows]);
    }
    for norm in ["v.blk.0.ln1", "v.blk.0.ln2", "v.post_ln"] {
        add(&format!("{norm}.weight"), &[16]);
        add(&format!("{norm}.bias"), &[16]);
    }
    add("v.patch_embd.weight", &[4, 4, 3, 16]);
    add("v.patch_embd.bias", &[16]);
    add("v.position_embd.weight", &[16, 4]);
    add("mm.model.fc.weight", &[64, 32]);
    file
}

/// The small model with the token that stands for image tokens.
fn small_with_tokens() -> File {
    let mut file = File::small();
    let tokens = ["a", "<image>"].map(text).concat();
    let list = [&9_u32.to_le_bytes()[..], &8_u32.to_le_bytes(), &2_u64.to_le_bytes(), &tokens].concat();
    file.values.push(("tokenizer.ggml.tokens", list));
    file
}

fn import_both(model: &File, encoder: Vec<u8>) -> Result<AtenProgram, Vec<CheckpointError>> {
    let files = [("model.gguf", model.bytes()), ("mmproj.gguf", encoder)];
    let file = |(name, bytes): (&str, Vec<u8>)| (name.to_owned(), Arc::new(bytes) as Arc<dyn Buffer>);
    let model = Model::Gguf(files.map(file).into());
    let options = etbuild_checkpoint::Options { vision: true, ..support::small() };
    import_checkpoint(&Checkpoint { model, adapter: None }, &options, &InMemory)
}

#[test]
fn an_encoder_beside_a_model_becomes_methods() {
    let program = import_both(&small_with_tokens(), small_encoder().bytes()).unwrap().into_program();
    let inputs = |method: &str| program.methods[method].inputs.len();
    assert_eq!((inputs("vision_encoder"), inputs("prefill_image")), (1, 2));
    let read = |bytes: &[u8]| encodes(bytes).map(|encoder| (encoder.pictures, encoder.sound));
    assert_eq!(read(&small_encoder().bytes()), Some((PictureSizes::One, None)));
    assert_eq!(read(&File::small().bytes()), None);
}

#[test]
fn a_hostile_encoder_is_an_error() {
    let model = small_with_tokens();
    let sound = small_encoder().bytes();
    for cut in [1, 100, sound.len() / 2] {
        assert!(import_both(&model, sound[..sound.len() - cut].to_vec()).is_err(), "{cut}");
    }
    for index in 2..small_encoder().values.len() {
        for value in [0, 3, u32::MAX] {
            let mut file = small_encoder();
            let key = file.values[index].0;
            file.values[index].1 = number(value);
            assert!(import_both(&model, file.bytes()).is_err(), "{key}: {value}");
        }
    }
    for (key, value, word) in [
        ("clip.projector_type", "gemma3", "beside `llama`"),
        ("clip.projector_type", "pixtral", "`idefics3`"),
        ("clip.vision.new_key", "x", "no such key"),
    ] {
        let mut file = small_encoder();
        file.values.retain(|(known, _)| *known != key);
        file.values.extend(texts([(key, value)]));
        let error = import_both(&model, file.bytes()).unwrap_err()[0].to_string();
        assert!(error.contains(word), "{error}");
    }
    let error = import_both(&File::small(), sound).unwrap_err()[0].to_string();
    assert!(error.contains("<image>"), "{error}");
}

fn import(bytes: Vec<u8>) -> Result<(), Vec<CheckpointError>> {
    program(bytes).map(drop)
}

fn program(bytes: Vec<u8>) -> Result<AtenProgram, Vec<CheckpointError>> {
    let file: Arc<dyn Buffer> = Arc::new(bytes);
    let model = Model::Gguf(BTreeMap::from([("model.gguf".to_owned(), file)]));
    import_checkpoint(&Checkpoint { model, adapter: None }, &support::small(), &InMemory)
}

/// The message for a changed file.
fn message(change: impl FnOnce(&mut File)) -> String {
    let mut file = File::small();
    change(&mut file);
    let errors = import(file.bytes()).unwrap_err();
    errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_sound_file_becomes_a_program() {
    import(File::small().bytes()).unwrap();
}

#[test]
fn a_file_in_each_form_becomes_a_program_and_a_file_that_is_cut_is_an_error() {
    for format in gguf::all() {
        let bytes = File::of(format, 256).bytes();
        assert!(import(bytes.clone()).is_ok(), "{}", format.name);
        for cut in [1, format.bytes, bytes.len() / 2] {
            assert!(import(bytes[..bytes.len() - cut].to_vec()).is_err(), "{}", format.name);
        }
    }
}

#[test]
fn integers_and_scales_of_the_file_are_constants_of_the_program() {
    let file = File::small();
    let bytes = file.bytes();
    let program = program(bytes.clone()).unwrap().into_program();
    let graph = &program.methods["prefill"];
    let constant = |name: &str| {
        let mut found = graph.values.iter().filter_map(|value| match &value.kind {
            ValueKind::Constant { qualified_name, data } if qualified_name == name => Some(data.bytes().to_vec()),
            _ => None,
        });
        found.next().unwrap()
    };
    let (start, place) = (bytes.len() - file.data, &file.tensors[4]);
    assert_eq!(place.0, "blk.0.attn_q.weight");
    let blocks = &bytes[start + place.3 as usize..][..32 * 34];
    let integers: Vec<u8> = blocks.chunks(34).flat_map(|block| block[2..].to_vec()).collect();
    let scales = blocks.chunks(34).map(|block| Half(u16::from_le_bytes([block[0], block[1]])).to_f32());
    let name = "model.layers.0.self_attn.q_proj.weight";
    assert_eq!(constant(&format!("{name}.integers")), integers);
    assert_eq!(constant(&format!("{name}.scales")), scales.flat_map(f32::to_le_bytes).collect::<Vec<u8>>());
}

#[test]
fn a_sentence_says_what_becomes_of_stored_matrices() {
    let file: Arc<dyn Buffer> = Arc::new(File::small().bytes());
    let model = Model::Gguf(BTreeMap::from([("model.gguf".to_owned(), file)]));
    let says = |keeps, multiplied| stored_forms(&model, keeps, multiplied).unwrap().unwrap();
    let said = says(Kept::All, Multiplied::Scheme);
    assert_eq!(said, "stored matrices keep their integers and scales: 8 of Q8_0");
    let said = says(Kept::All, Multiplied::Stored);
    assert!(said.contains("8 of Q8_0 (times int8 activations; `--quantize float`"), "{said}");
    let said = says(Kept::All, Multiplied::Float);
    assert!(said.ends_with("8 of Q8_0 (times float32 activations)"), "{said}");
    let said = says(Kept::Int4, Multiplied::Scheme);
    assert_eq!(said, "stored matrices become float32, which the recipe quantizes: 8 of Q8_0");
}

#[test]
fn the_header_alone_says_whether_tensors_are_integers() {
    let mut file = File::small();
    let header = file.bytes()[..file.bytes().len() - file.data].to_vec();
    assert_eq!(gguf_stores_integers(&header), Some(true));
    assert_eq!(gguf_stores_integers(&header[..header.len() - 64]), None);
    // All in `F32`.
    file.tensors.iter_mut().for_each(|tensor| tensor.2 = 0);
    assert_eq!(gguf_stores_integers(&file.bytes()), Some(false));
}

#[test]
fn a_file_that_is_cut_anywhere_is_an_error() {
    let bytes = File::small().bytes();
    for length in 0..bytes.len() {
        assert!(import(bytes[..length].to_vec()).is_err(), "{length}");
    }
}

#[test]
fn a_flipped_bit_of_the_header_is_no_panic() {
    let file = File::small();
    let bytes = file.bytes();
    for index in 0..bytes.len() - file.data {
        for bit in [0, 3, 7] {
            let mut changed = bytes.clone();
            changed[index] ^= 1 << bit;
            let _ = import(changed);
        }
    }
}

#[test]
fn counts_beyond_the_file_are_refused_before_anything_is_reserved() {
    let bytes = File::small().bytes();
    for place in [8, 16, 24] {
        for count in [u64::MAX, 1 << 62, 1 << 40] {
            let mut changed = bytes.clone();
            changed[place..place + 8].copy_from_slice(&count.to_le_bytes());
            let error = import(changed).unwrap_err()[0].to_string();
            assert!(error.contains("more than the file has room for"), "{error}");
        }
    }
    let list = [9_u32.to_le_bytes(), 8_u32.to_le_bytes()].concat();
    let list = [&list[..], &u64::MAX.to_le_bytes()].concat();
    assert!(message(|file| file.values.push(("a", list))).contains("more than the file has room for"));
}

#[test]
fn lists_of_more_entries_than_a_model_has_are_refused() {
    let count = (1_usize << 24) + 1;
    let list =
        [&9_u32.to_le_bytes()[..], &7_u32.to_le_bytes(), &(count as u64).to_le_bytes(), &vec![1; count]].concat();
    assert!(message(|file| file.values.push(("a", list))).contains("more than 16777216 entries"));
}

#[test]
fn every_mistake_of_a_header_has_a_reason() {
    assert!(message(|file| file.version = 1).contains("version 1"));
    assert!(message(|file| file.version = 3_u32.swap_bytes()).contains("big-endian"));
    assert!(message(|file| file.tensors[0].2 = 15).contains("Q8_K"));
    assert!(message(|file| file.tensors[0].2 = 999).contains("unknown type 999"));
    assert!(message(|file| file.tensors[0].1 = vec![31, 16]).contains("blocks of 32"));
    assert!(message(|file| file.tensors[0].1 = vec![0, 16]).contains("sizes"));
    assert!(message(|file| file.tensors[0].1 = vec![32, 1 << 60]).contains("ends behind the file"));
    assert!(message(|file| file.tensors[0].1 = vec![32; 9]).contains("9 dimensions"));
    assert!(message(|file| file.tensors[1].3 = 32).contains("overlap"));
    assert!(message(|file| file.tensors[1].3 = u64::MAX).contains("ends behind the file"));
    assert!(message(|file| file.tensors[1].0 = "token_embd.weight".to_owned()).contains("twice"));
    assert!(message(|file| file.values.push(("llama.block_count", number(1)))).contains("twice"));
    assert!(message(|file| file.values.push(("general.alignment", number(33)))).contains("power of two"));
    assert!(message(|file| file.values.push(("a", 77_u32.to_le_bytes().to_vec()))).contains("unknown type 77"));
}

#[test]
fn every_mistake_of_a_model_has_a_reason() {
    let unknown = [&8_u32.to_le_bytes()[..], &text("mamba")].concat();
    let said = message(|file| file.values[0].1 = unknown);
    assert!(said.contains("`mamba`") && said.contains("qwen3"), "{said}");
    assert!(message(|file| file.values[2].1 = number(2)).contains("model.layers.1"));
    assert!(message(|file| file.values[2].1 = number(1 << 30)).contains("num_hidden_layers"));
    assert!(message(|file| file.values[1].1 = number(64)).contains("shape"));
    assert!(message(|file| file.tensors[0].0 = "other".to_owned()).contains("token_embd.weight"));
    let said = message(|file| file.tensors.push(("blk.0.ssm_in.weight".to_owned(), vec![1], 0, file.data as u64 - 4)));
    assert!(said.contains("overlap") || said.contains("ssm_in"), "{said}");
}

#[test]
fn a_key_of_the_architecture_that_nothing_reads_is_an_error_unless_it_changes_nothing() {
    let flag = |value| [&7_u32.to_le_bytes()[..], &[value]].concat();
    for (key, value) in [
        ("llama.attention.temperature_scale", number(1)),
        ("llama.rope.scaling.yarn_log_multiplier", number(1)),
        ("llama.attention.causal", flag(0)),
        ("llama.expert_gating_func", number(2)),
        ("llama.attention.sliding_window", number(9)),
    ] {
        assert!(message(|file| file.values.push((key, value))).contains(key), "{key}");
    }
    let mut file = File::small();
    file.values.push(("llama.attention.causal", flag(1)));
    file.values.push(("llama.vocab_size", number(16)));
    file.values.push(("llama.nextn_predict_layers", number(0)));
    file.values.push(("llama.attention.sliding_window", number(64)));
    file.values.push(("general.basename", [&8_u32.to_le_bytes()[..], &text("a")].concat()));
    import(file.bytes()).unwrap();
}

#[test]
fn a_tokenizer_of_another_kind_is_refused_with_its_key() {
    let mut file = File::small();
    file.values.push(("tokenizer.ggml.model", [&8_u32.to_le_bytes()[..], &text("bert")].concat()));
    let list = [&9_u32.to_le_bytes()[..], &8_u32.to_le_bytes(), &1_u64.to_le_bytes(), &text("a")].concat();
    file.values.push(("tokenizer.ggml.tokens", list));
    let bytes: Arc<dyn Buffer> = Arc::new(file.bytes());
    let error = gguf_texts(&BTreeMap::from([("model.gguf".to_owned(), bytes)])).unwrap_err()[0].to_string();
    assert!(error.contains("tokenizer.ggml.model") && error.contains("bert"), "{error}");
}
