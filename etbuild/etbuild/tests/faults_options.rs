//! F10: every key of a recipe and of a target file is in the key of a stage, or has a row that says why not. A new key in a schema
//! has neither, and fails these tests.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::support::schema::leaves;
use crate::support::{self, MODEL, Place, RECIPE, archive, python, repository};
use crate::{diffusion, serve};

/// The recipe in which a key is changed.
#[derive(Clone, Copy, PartialEq)]
enum Base {
    /// The digits on a machine with an operating system, deployed.
    Hosted,
    /// The digits on an emulated board, deployed.
    Board,
    /// The digits with an option, whose stages before the plan have run.
    Prepared,
    /// A recipe without a model.
    Modelless,
    /// A language model, whose files are known by their digests only.
    Checkpoint,
    /// An encoder, whose files are known by their digests only.
    Encoder,
    /// A language model that reads pictures of any size, whose files are known by their digests only.
    Sight,
    /// A model for transcripts, whose files are known by their digests only.
    Ears,
    /// A function of Python, which is not called.
    Python,
    /// The tiny language model, built with a server.
    Language,
    /// A pipeline that makes pictures, whose stages before the link have run.
    Pictures,
}

use Base::{Board, Checkpoint, Ears, Encoder, Hosted, Language, Modelless, Pictures, Prepared, Python, Sight};

/// A key that a stage reads: the recipe, the settings that the key needs, and the settings that make action keys of their own. Without
/// settings, every word that the schema allows is tried.
type Read = (&'static str, Base, &'static [&'static str], &'static [&'static str]);

const READ: &[Read] = &[
    ("adapter", Checkpoint, &[], &["", "adapter=ADAPTER", "adapter=OTHER_ADAPTER"]),
    ("bench", Board, &[], &["", "bench=5", "bench=10"]),
    ("constrain", Language, &["server=true"], &["constrain=false", "constrain=true"]),
    ("diffusion.guidance", Pictures, &[], &["", "diffusion.guidance=1", "diffusion.guidance=2.5"]),
    ("diffusion.pipeline", Pictures, &[], &["", "diffusion.pipeline=OTHER_PIPELINE"]),
    ("diffusion.scheduler", Pictures, &[], &[]),
    ("diffusion.seed", Pictures, &[], &["", "diffusion.seed=1", "diffusion.seed=2"]),
    ("diffusion.steps", Pictures, &[], &["", "diffusion.steps=4", "diffusion.steps=8"]),
    ("export.arguments", Python, &[], &["", "export.arguments={width: 1}", "export.arguments={width: 2}"]),
    ("export.batch", Checkpoint, &[], &["", "export.batch=4", "export.batch=8"]),
    ("export.cache", Checkpoint, &[], &[]),
    (
        "export.constants",
        Hosted,
        &[],
        &["", "export.constants.a=1", "export.constants.a=2", "export.constants.b=1", "export.constants.a=[1]"],
    ),
    ("export.context", Checkpoint, &[], &["", "export.context=64", "export.context=128"]),
    ("export.files", Python, &[], &["", "export.files=[DATA]", "export.files=[OTHER_DATA]"]),
    ("export.image_tokens", Sight, &[], &["", "export.image_tokens=64", "export.image_tokens=128"]),
    ("export.npu_context", Hosted, &["partition=[qnn]"], &["", "export.npu_context=1 MiB", "export.npu_context=1 GiB"]),
    ("export.precision", Prepared, &["model.pt2=HALF"], &[]),
    ("export.prefill", Checkpoint, &[], &["", "export.prefill=16", "export.prefill=32"]),
    ("export.seed", Hosted, &[], &["", "export.seed=1", "export.seed=2"]),
    ("export.speculate", Checkpoint, &[], &["", "export.speculate=4", "export.speculate=8"]),
    ("export.weights", Hosted, &[], &[]),
    ("export.word_timestamps", Ears, &[], &["", "export.word_timestamps=true"]),
    (
        "inputs",
        Hosted,
        &[],
        &[
            "",
            "inputs.input.image.resize=8",
            "inputs.input.image.filter=box",
            "inputs.input.image.mean=0.5",
            "inputs.input.image.frame=[16, 16]",
            "inputs.input.image={ frame: [16, 16], pixels: rgb565, color: gray }",
            "inputs.input.audio.rate=16000",
            "inputs.input.audio={ rate: 16000, features: { n_mels: 8 } }",
            "inputs.input.audio={ rate: 16000, features: { n_mels: 8, log: ln } }",
            "inputs.input.audio={ rate: 16000, stream: true, features: { n_mels: 8, center: false } }",
            "inputs.other.image.resize=8",
        ],
    ),
    ("labels", Hosted, &[], &["", "labels=DATA", "labels=OTHER_DATA"]),
    ("library", Hosted, &[], &["library=false", "library=true"]),
    ("memory.planner", Hosted, &[], &[]),
    ("model.checkpoint", Modelless, &[], &["model.checkpoint=CHECKPOINT", "model.checkpoint=OTHER_CHECKPOINT"]),
    ("model.methods", Modelless, &[], &["model.methods.forward=MODEL", "model.methods.forward=OTHER_MODEL"]),
    ("model.pt2", Modelless, &[], &["model.pt2=MODEL", "model.pt2=OTHER_MODEL"]),
    ("model.python", Python, &[], &["model.python=SCRIPT:make", "model.python=SCRIPT:other"]),
    ("name", Hosted, &[], &["", "name=numerals"]),
    ("operators", Hosted, &[], &["", "operators=[OPERATORS]", "operators=[OTHER_OPERATORS]"]),
    ("optimize", Board, &[], &[]),
    ("output", Hosted, &[], &[]),
    ("partition", Hosted, &[], &["partition=portable", "partition=[cpu]"]),
    (
        "quantize.accuracy.data",
        Prepared,
        &["quantize.scheme=dynamic-int8"],
        &["quantize.accuracy={data: DATA}", "quantize.accuracy={data: OTHER_DATA}"],
    ),
    (
        "quantize.accuracy.labels",
        Prepared,
        &["quantize.scheme=dynamic-int8", "quantize.accuracy.data=DATA"],
        &["quantize.accuracy.labels=labels", "quantize.accuracy.labels=output_0"],
    ),
    (
        "quantize.calibrate",
        Hosted,
        &["quantize.scheme=int8"],
        &["quantize.calibrate=DATA", "quantize.calibrate=OTHER_DATA"],
    ),
    ("quantize.embedding", Hosted, &["quantize.scheme=8da4w"], &[]),
    (
        "quantize.group_size",
        Hosted,
        &["quantize.scheme=8da4w"],
        &["quantize.group_size=32", "quantize.group_size=64", "quantize.group_size=128"],
    ),
    (
        "quantize.layers[].name",
        Hosted,
        &["quantize.scheme=8da4w"],
        &[
            "quantize.layers=[]",
            "quantize.layers=[{name: a, scheme: float}]",
            "quantize.layers=[{name: b, scheme: float}]",
        ],
    ),
    (
        "quantize.layers[].operator",
        Hosted,
        &["quantize.scheme=8da4w"],
        &[
            "quantize.layers=[{operator: linear, scheme: float}]",
            "quantize.layers=[{operator: convolution, scheme: float}]",
        ],
    ),
    (
        "quantize.layers[].scheme",
        Hosted,
        &["quantize.scheme=8da4w"],
        &["quantize.layers=[{name: a, scheme: float}]", "quantize.layers=[{name: a, scheme: int8-weights}]"],
    ),
    ("quantize.method", Prepared, &["quantize.scheme=int4-weights", "quantize.calibrate=DATA"], &[]),
    ("quantize.observer", Hosted, &["quantize.scheme=int8", "quantize.calibrate=DATA"], &[]),
    (
        "quantize.percentile",
        Hosted,
        &["quantize.scheme=int8", "quantize.calibrate=DATA", "quantize.observer=percentile"],
        &["", "quantize.percentile=99", "quantize.percentile=99.5"],
    ),
    ("quantize.rotate", Checkpoint, &["quantize.scheme=8da4w"], &["", "quantize.rotate=hadamard"]),
    ("quantize.scheme", Hosted, &["quantize.calibrate=DATA"], &[]),
    ("runtime", Hosted, &[], &[]),
    ("server", Language, &[], &["server=false", "server=true"]),
    ("targets", Hosted, &["partition=[cpu]"], &["", "targets=[linux-aarch64]"]),
    ("text.max_tokens", Encoder, &[], &["", "text.max_tokens=8", "text.max_tokens=16"]),
    ("text.normalize", Encoder, &[], &["", "text.normalize=false", "text.normalize=true"]),
    ("text.pooling", Encoder, &[], &[]),
    ("trace", Hosted, &[], &["", "trace=true"]),
    (
        "updates",
        Hosted,
        &[],
        &["", "updates=unsigned", "updates=ea4a6c63e29c520abef5507b132ec5f9954776aebebe7b92421eea691446d22c"],
    ),
    ("verify.inputs", Hosted, &[], &["", "verify.inputs=OTHER_DATA"]),
    ("verify.outputs", Board, &[], &["", "verify.outputs=expected_"]),
    ("verify.reference", Board, &[], &["", "verify.reference=DATA", "verify.reference=OTHER_DATA"]),
];

/// The keys that no stage reads, each with the reason.
const UNREAD: &[(&str, &str)] = &[
    ("budget.file", "compared with the finished files"),
    ("budget.flash", "compared with the finished binary"),
    ("budget.peak_ram", "compared with the finished binary"),
    ("budget.ram", "compared with the finished binary"),
    ("etbuild", "the version of the format, of which there is one"),
    ("export.interpreter", "keys have the version of the interpreter, whatever its path"),
    ("extends", "files are merged before options are read"),
    ("link", "an action has the toolchain or the digest of the prebuilt runtime in its key"),
    ("matrix", "a file becomes several recipes before options are read"),
    ("quantize.accuracy.max_loss", "compared with the measured loss"),
    ("quantize.accuracy.metric", "there is one metric"),
    ("quantize.min_sqnr", "compared with the measured loss"),
    ("vars", "texts are replaced before options are read"),
    ("verify.labels", "outputs are judged after the run"),
    ("verify.max_loss", "outputs are judged after the run"),
    ("verify.metric", "there is one metric"),
    ("verify.exact", "the outputs are compared after the run"),
    ("verify.timeout", "a run that takes longer has no result"),
    ("verify.tolerance", "outputs are judged after the run"),
];

/// A key of a target file that a stage reads: the shipped target, and the texts that make action keys of their own when one stands
/// in the place of the first.
type Stated = (&'static str, &'static str, &'static [&'static str]);

const STATED: &[Stated] = &[
    (
        "console",
        "mps2-an505",
        &["console: semihosting", "console: { uart: { setup: [], data: 1, status: 2, full: 3 } }"],
    ),
    ("console.uart.data", "pico2", &["data: 0x40070000", "data: 0x40070004"]),
    ("console.uart.full", "pico2", &["full: 0x20", "full: 0x40"]),
    ("console.uart.ready", "pico2", &["full: 0x20", "ready: 0x20"]),
    ("console.uart.setup[].clear.address", "pico2", &["clear: { address: 0x40038004", "clear: { address: 0x40038008"]),
    ("console.uart.setup[].clear.bits", "pico2", &["0x40038004, bits: 0x100", "0x40038004, bits: 0x200"]),
    (
        "console.uart.setup[].set.address",
        "pico2",
        &["clear: { address: 0x40038004", "set: { address: 0x40038004", "set: { address: 0x40038008"],
    ),
    (
        "console.uart.setup[].set.bits",
        "pico2",
        &[
            "clear: { address: 0x40038004, bits: 0x100",
            "set: { address: 0x40038004, bits: 0x100",
            "set: { address: 0x40038004, bits: 0x200",
        ],
    ),
    ("console.uart.setup[].wait.address", "pico2", &["wait: { address: 0x40020008", "wait: { address: 0x4002000c"]),
    ("console.uart.setup[].wait.bits", "pico2", &["0x40020008, bits: 0x04000240", "0x40020008, bits: 0x04000200"]),
    ("console.uart.setup[].write.address", "pico2", &["write: { address: 0x40070024", "write: { address: 0x40070020"]),
    ("console.uart.setup[].write.value", "pico2", &["value: 33", "value: 34"]),
    ("console.uart.status", "pico2", &["status: 0x40070018", "status: 0x4007001c"]),
    ("gpus[].api", "web", &["name: webgpu, api: webgpu", "name: webgpu, api: vulkan", "name: webgpu, api: metal"]),
    ("gpus[].float64", "linux-x86_64", &["float64: true", "float64: false"]),
    ("gpus[].int64", "linux-x86_64", &["int64: true", "int64: false"]),
    ("gpus[].max_buffer", "linux-x86_64", &["max_buffer: 1024", "max_buffer: 512"]),
    ("gpus[].max_image", "linux-x86_64", &["max_image: 16384", "max_image: 8192"]),
    ("gpus[].max_layers", "linux-x86_64", &["max_layers: 2048", "max_layers: 256"]),
    ("gpus[].msl", "macos-arm64", &["msl: \"2.3\"", "msl: \"2.4\"", "msl: \"3.0\"", "msl: \"3.1\""]),
    ("gpus[].storage", "linux-x86_64", &["storage: image", "storage: buffer"]),
    ("gpus[].subgroup", "linux-x86_64", &["subgroup: 8", "subgroup: 0", "subgroup: 32"]),
    ("gpus[].units", "linux-x86_64", &["units: 128", "units: 16"]),
    ("gpus[].zero_clamp", "linux-x86_64", &["zero_clamp: true", "zero_clamp: false"]),
    ("image[]", "pico2", &["image: [elf, {", "image: [{"]),
    ("image[].uf2.family", "pico2", &["0xe48bff59", "0xe48bff5a"]),
    ("instruction_sets", "linux-x86_64", &["[avx2, avx512, avx512vnni, amx]", "[avx]"]),
    ("memory.arena", "mps2-an505", &["arena: sram", "arena: more"]),
    ("memory.banks[].name", "mps2-an505", &["sram", "memory"]),
    ("memory.banks[].origin", "mps2-an505", &["origin: 0x38000000", "origin: 0x38100000"]),
    ("counter.csr", "esp32-c3", &["csr: 0x7e2", "csr: 0xb00"]),
    ("counter.setup[].csr", "esp32-c3", &["csr: 0x7e1", "csr: 0x320"]),
    ("counter.setup[].value", "esp32-c3", &["value: 1 }]", "value: 2 }]"]),
    ("memory.banks[].size", "mps2-an505", &["0x38000000, size: 4 MiB", "0x38000000, size: 2 MiB"]),
    ("memory.boot_block.within", "pico2", &["within: 4 KiB", "within: 2 KiB"]),
    ("memory.boot_block.words", "pico2", &["0x000001ff", "0x000001fe"]),
    ("memory.code", "mps2-an505", &["code: flash", "code: more"]),
    ("memory.constants", "mps2-an505", &["constants: flash", "constants: more"]),
    (
        "memory.copy_program_to",
        "mps2-an505",
        &["constants: flash", "constants: flash\n  copy_program_to: sram", "constants: flash\n  copy_program_to: more"],
    ),
    (
        "memory.tensors",
        "mps2-an505",
        &["arena: sram", "arena: sram\n  tensors: [more, sram]", "arena: sram\n  tensors: [sram, more]"],
    ),
    ("memory.stack", "mps2-an505", &["stack: 16 KiB", "stack: 32 KiB"]),
    ("npu.ethos-u", "corstone-300", &["ethos-u: u55-128", "ethos-u: u55-256"]),
    ("npu.memory_mode", "corstone-300", &["memory_mode: Shared_Sram", "memory_mode: Sram_Only"]),
    ("npu.registers", "corstone-300", &["registers: 0x58102000", "registers: 0x48102000"]),
    ("npu.soc", "linux-x86_64", &["soc: SM8750", "soc: SM8450"]),
    ("npu.system_config", "corstone-300", &["Ethos_U55_High_End_Embedded", "Ethos_U55_Deep_Embedded"]),
    (
        "run",
        "linux-x86_64",
        &["run: native", "run: model", "run: { emulator: { program: sh, arguments: [], package: dash } }"],
    ),
    ("run.emulator.arguments", "mps2-an505", &["- -nographic", "- -no-reboot"]),
    ("run.emulator.program", "mps2-an505", &["program: qemu-system-arm", "program: sh"]),
    ("rust.cpu", "mps2-an505", &["cpu: cortex-m33", "cpu: cortex-m55"]),
    ("rust.crt_static", "linux-x86_64", &["unknown-linux-gnu }", "unknown-linux-gnu, crt_static: true }"]),
    (
        "rust.features",
        "linux-x86_64",
        &["unknown-linux-gnu }", "unknown-linux-gnu, features: [+avx2] }", "unknown-linux-gnu, features: [+sse4.2] }"],
    ),
    ("rust.linker", "linux-x86_64", &["unknown-linux-gnu }", "unknown-linux-gnu, linker: rust-lld }"]),
    (
        "rust.linker.compiler",
        "linux-x86_64",
        &[
            "unknown-linux-gnu }",
            "unknown-linux-gnu, linker: { compiler: cc } }",
            "unknown-linux-gnu, linker: { compiler: gcc } }",
        ],
    ),
    ("rust.triple", "mps2-an505", &["thumbv8m.main-none-eabi,", "thumbv8m.main-none-eabihf,"]),
    ("template", "linux-x86_64", &["template: host-app", "template: language-app"]),
];

/// Why the keys of a twin are in no key of a plan.
const TWIN: &str = "the twin is compiled by the rules of `rust`, and its bytes are an input of the run";

/// Why the ways to a board are in no key.
const BOARD: &str = "a board may be another one than before: its report is not stored";

/// The keys of target files that no stage reads, each with the reason.
const UNSTATED: &[(&str, &str)] = &[
    ("aliases", "recipes find the target by these names; results have the name"),
    ("console.uart.baud", BOARD),
    ("chip", BOARD),
    ("clock", "an estimate of the time is computed after the run"),
    ("endian", "compared with other keys where the file is read; the triple decides"),
    ("etbuild", "the version of the format, of which there is one"),
    ("gpus[].name", "a text for people"),
    ("kind", "decides which other keys there are, and those are in keys"),
    ("memory.banks[].access", "compared with the use of the bank where the file is read"),
    ("name", "the folder of the results"),
    ("pointer_width", "compared with other keys where the file is read; the triple decides"),
    ("run.device", BOARD),
    ("run.device.attach", "a text for people"),
    ("run.device.drive", BOARD),
    ("run.device.flash.arguments", BOARD),
    ("run.device.flash.install", "a text for people"),
    ("run.device.flash.program", BOARD),
    ("run.emulator.package", "a text for people"),
    ("run.ssh", "a device may be another one than before: its outputs are not stored"),
    ("run.emulator.timer", "instructions are computed after the run"),
    ("run.emulator.twin.cpu", TWIN),
    ("run.emulator.twin.crt_static", TWIN),
    ("run.emulator.twin.features", TWIN),
    ("run.emulator.twin.linker", TWIN),
    ("run.emulator.twin.linker.compiler", TWIN),
    ("run.emulator.twin.triple", TWIN),
    ("summary", "a text for people"),
];

/// A configuration whose sizes are those of the class.
const QWEN: &str = r#"{"architectures": ["Qwen2VLForConditionalGeneration"], "vision_config": {}}"#;

/// A configuration with the sizes of a small model.
const WHISPER: &str = r#"{"architectures": ["WhisperForConditionalGeneration"], "vocab_size": 99, "d_model": 8, "num_mel_bins": 8,
    "decoder_layers": 1, "decoder_attention_heads": 2, "decoder_ffn_dim": 8, "encoder_layers": 1, "encoder_attention_heads": 2,
    "encoder_ffn_dim": 8, "max_source_positions": 10, "max_target_positions": 16}"#;

/// The texts of `READ` with paths in the place of names.
struct Files(Vec<(&'static str, String)>);

impl Files {
    fn write(place: &Place) -> Self {
        let other = |name: &str, text: &str| place.file(name, text).parent().unwrap().display().to_string();
        let model = |name: &str, text: &str, config: &str| {
            other(&format!("{name}/model.safetensors"), text);
            other(&format!("{name}/config.json"), config)
        };
        let checkpoint = |name: &str, text: &str| model(name, text, "{}");
        let adapter = |name: &str, text: &str| {
            other(&format!("{name}/adapter_model.safetensors"), text);
            other(&format!("{name}/adapter_config.json"), "{}")
        };
        let operators = |name: &str, operator: &str| {
            let stated =
                format!("- {{ schema: mylib::{operator}(Tensor x) -> Tensor, kernel: out, dtypes: [float32] }}");
            other(&format!("{name}/src/lib.rs"), "#![no_std]");
            other(&format!("{name}/Cargo.toml"), "package = { name = 'ops', edition = '2024' }");
            other(&format!("{name}/operators.yaml"), &stated)
        };
        let retrained = place.path().join("other.pt2");
        archive::retrain(&repository().join(MODEL), &retrained);
        let digits = |name: &str| repository().join("examples/digits").join(name).display().to_string();
        // Names that other names end with come first.
        let pipeline = diffusion::pipelines().map(|folder| folder.join("both/pipeline_2").display().to_string());
        Self(vec![
            ("OTHER_PIPELINE", pipeline.unwrap_or_default()),
            ("OTHER_ADAPTER", adapter("other-adapter", "2")),
            ("OTHER_CHECKPOINT", checkpoint("other-checkpoint", "2")),
            ("OTHER_DATA", digits("calibration.safetensors")),
            ("OTHER_OPERATORS", operators("other-operators", "other")),
            ("OTHER_MODEL", retrained.display().to_string()),
            ("ADAPTER", adapter("adapter", "1")),
            ("OPERATORS", operators("operators", "same")),
            ("CHECKPOINT", checkpoint("checkpoint", "1")),
            ("SIGHT", model("sight", "1", QWEN)),
            ("EARS", model("ears", "1", WHISPER)),
            ("ENCODER", model("encoder", "1", r#"{"architectures": ["BertModel"]}"#)),
            ("DATA", digits("test.safetensors")),
            ("HALF", repository().join("etbuild/etbuild/tests/data/float16.pt2").display().to_string()),
            ("MODEL", repository().join(MODEL).display().to_string()),
            ("SCRIPT", place.file("make.py", "def make(width=0): pass\nother = make\n").display().to_string()),
        ])
    }

    fn in_text(&self, text: &str) -> String {
        self.0.iter().fold(text.to_owned(), |text, (name, path)| text.replace(name, path))
    }
}

/// The recipe of a base; `None` where the machine lacks a Python.
fn recipe(place: &Place, base: Base, files: &Files) -> Option<String> {
    let model = match base {
        Hosted | Board | Prepared => return Some(RECIPE.to_owned()),
        Language => return Some(serve::RECIPE.to_owned()),
        Pictures => return Some(diffusion::recipe(place, "both")?.display().to_string()),
        Modelless => String::new(),
        Checkpoint => files.in_text("model: { checkpoint: CHECKPOINT }\n"),
        Encoder => files.in_text("model: { checkpoint: ENCODER }\n"),
        Sight => files.in_text("model: { checkpoint: SIGHT }\n"),
        Ears => files.in_text("model: { checkpoint: EARS }\n"),
        Python => {
            let python = python::with("the standard library")?;
            files.in_text(&format!(
                "model: {{ python: \"SCRIPT:make\" }}\nexport: {{ interpreter: {} }}\n",
                python.display()
            ))
        }
    };
    let text = format!("etbuild: 1\nname: changed\n{model}targets: [linux-x86_64]\n");
    Some(place.file(&format!("{}.yaml", base as u8), text).display().to_string())
}

/// The action keys of a plan by stage, as far as they are known.
fn keys(plan: &Value) -> BTreeMap<String, String> {
    let units = plan["units"].as_array().unwrap().iter();
    let rows = units.flat_map(|unit| unit["stages"].as_array().unwrap());
    let text = |row: &Value, field: &str| row[field].as_str().unwrap_or_default().to_owned();
    let named = rows.map(|row| (format!("{} {}", text(row, "stage"), text(row, "method")), text(row, "key")));
    named.filter(|(_, key)| !key.is_empty()).collect()
}

/// The plan of a recipe with settings.
fn planned(place: &Place, base: Base, recipe: &str, settings: &[String]) -> BTreeMap<String, String> {
    let run = |command: &str| {
        let mut words = vec![command, recipe, "--output", "json"];
        let target = if base == Board { "mps2-an505" } else { "linux-x86_64" };
        if !settings.iter().any(|setting| setting.starts_with("targets=")) {
            words.extend(["--target", target]);
        }
        settings.iter().for_each(|setting| words.extend(["--set", setting]));
        let mut command = place.command(words);
        if settings.iter().any(|setting| setting == "partition=[qnn]") {
            let kit = place.file("kit/libQnnHtp.so", "a compiler");
            command.env("QNN_SDK_ROOT", kit.parent().unwrap());
        }
        support::Ran::of(&mut command)
    };
    if matches!(base, Prepared | Pictures) {
        run("check").expect(0);
    }
    keys(&run("plan").expect(0).json())
}

/// Demands a row for every key of a schema, and a key for every row.
fn assert_rows(schema: &Value, rows: &[Vec<&str>]) -> BTreeMap<String, Vec<String>> {
    let (leaves, rows): (_, Vec<&str>) = (leaves(schema), rows.concat());
    let known: BTreeSet<&str> = rows.iter().copied().collect();
    assert_eq!(known.len(), rows.len(), "a key has two rows");
    let keys: BTreeSet<&str> = leaves.keys().map(String::as_str).collect();
    assert_eq!(keys.difference(&known).collect::<Vec<_>>(), [&""; 0], "keys without a row");
    assert_eq!(known.difference(&keys).collect::<Vec<_>>(), [&""; 0], "rows without a key");
    leaves
}

fn read_json(path: &str) -> Value {
    serde_json::from_slice(&fs::read(repository().join(path)).unwrap()).unwrap()
}

#[test]
fn every_key_of_a_recipe_is_in_an_action_key_or_has_a_reason() {
    let rows = [READ.iter().map(|row| row.0).collect(), UNREAD.iter().map(|row| row.0).collect()];
    let leaves = assert_rows(&read_json("recipes/schema.json"), &rows);
    let place = Place::warm();
    let files = Files::write(&place);
    let mut faults = Vec::new();
    for (key, base, given, values) in READ {
        let Some(recipe) = recipe(&place, *base, &files) else { continue };
        let place = if *base == Language { serve::deployed() } else { &place };
        let words = leaves[*key].iter().map(|word| format!("{key}={word}"));
        let values: Vec<String> =
            if values.is_empty() { words.collect() } else { values.iter().map(|value| files.in_text(value)).collect() };
        assert!(values.len() > 1, "`{key}` has one value only");
        let mut seen = BTreeSet::new();
        for value in &values {
            let given = given.iter().map(|given| files.in_text(given));
            let settings: Vec<String> = given.chain([value.clone()]).filter(|setting| !setting.is_empty()).collect();
            let keys = planned(place, *base, &recipe, &settings);
            if keys.is_empty() || !seen.insert(keys) {
                faults.push(format!("`{key}`: {value:?} has no action key of its own"));
            }
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

#[test]
fn every_key_of_a_target_is_in_an_action_key_or_has_a_reason() {
    let rows = [STATED.iter().map(|row| row.0).collect(), UNSTATED.iter().map(|row| row.0).collect()];
    assert_rows(&read_json("targets/schema.json"), &rows);
    let place = Place::warm();
    // The warm store has no kernels for RISC-V, and without them the link has no key.
    place.run(&format!("build {RECIPE} --target esp32-c3")).expect(0);
    let mut faults = Vec::new();
    for (index, (key, target, values)) in STATED.iter().enumerate() {
        let mut seen = BTreeSet::new();
        for value in *values {
            let file = place.file(&format!("{index}.yaml"), target_text(target, values[0], value));
            let keys = planned_for(&place, key, &file);
            if keys.is_empty() || !seen.insert(keys) {
                faults.push(format!("`{key}`: {value:?} has no action key of its own"));
            }
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

/// The file of a shipped target under another name, with one text in the place of another. The board has a bank more.
fn target_text(target: &str, from: &str, to: &str) -> String {
    let text = fs::read_to_string(repository().join(format!("targets/{target}.yaml"))).unwrap();
    let bank = "    - { name: sram, origin: 0x38000000, size: 4 MiB, access: rw }\n";
    let more = format!("{bank}    - {{ name: more, origin: 0x38800000, size: 4 MiB, access: rwx }}\n");
    let text = text.replace(bank, &more).replace(&format!("name: {target}\n"), "name: changed\n");
    assert!(text.contains(from), "{target} has no {from:?}");
    // A static binary loads no library of an NPU.
    let text = if to.contains("crt_static") { text.replace("npu: { soc: SM8750 }\n", "") } else { text };
    text.replace(from, to)
}

fn planned_for(place: &Place, key: &str, target: &Path) -> BTreeMap<String, String> {
    let target = target.display().to_string();
    let partition = match key.split_once('.') {
        Some(("gpus[]", _)) => "gpu",
        Some(("npu", "soc")) => "qnn",
        Some(("npu", _)) => "ethos-u",
        _ => "auto",
    };
    // The key has the digest of the vendor's compiler; any file stands for it here.
    let kit = place.file("kit/libQnnHtp.so", "a compiler");
    let words = ["plan", RECIPE, "--target", &target, "--partition", partition, "--output", "json"];
    let mut command = place.command(words);
    keys(&support::Ran::of(command.env("QNN_SDK_ROOT", kit.parent().unwrap()).env("VELA", &kit)).expect(0).json())
}
