//! A target: the file, the checks, and the facts by aspect.

use etbuild_diagnostic::{Code, Diagnostic};
use etbuild_yaml::{FormatVersion, Frequency, Name, Source, Spanned, check_version, parse, read};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::gpu::GpuFile;
use crate::memory::MemoryFile;
use crate::npu::Npu;
use crate::{Console, Counter, Gpu, Image, Linker, Memory, Run, Rust};
use crate::{counter, run};

/// Whether a target has an operating system.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// The binary is a process of an operating system.
    Hosted,
    /// Bare metal: the binary runs without an operating system.
    BareMetal,
}

/// The order of the bytes of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Endian {
    /// Lowest byte first.
    Little,
    /// Highest byte first.
    Big,
}

/// A target: hardware with its toolchain, memory and way to run a binary.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Target")]
pub struct TargetFile {
    /// Version of the target format: `1`.
    #[serde(rename = "etbuild")]
    _etbuild: FormatVersion,
    /// The name of the target in recipes, and of its output folder.
    name: Name,
    /// A summary of the hardware.
    summary: String,
    /// Other names of this hardware. A recipe that names one is refused, and the error names this target.
    #[serde(default)]
    aliases: Vec<Name>,
    /// Whether the target has an operating system.
    kind: Spanned<Kind>,
    /// The folder below `templates/` that the binary's project is made from.
    template: Name,
    /// Bits of an address: 32 or 64.
    #[schemars(extend("enum" = [32, 64]))]
    pointer_width: Spanned<u32>,
    /// The order of the bytes of a number.
    endian: Endian,
    /// The options of the Rust toolchain.
    rust: Rust,
    /// The instruction sets among which backends select at run time, such as `avx2`; default: none.
    #[serde(default)]
    instruction_sets: Vec<String>,
    /// The classes of GPUs that devices have, the most likely first: programs contain kernels for each, and a device takes those of its class.
    /// Left out, the backend `gpu` refuses every node.
    #[serde(default)]
    gpus: Vec<Spanned<GpuFile>>,
    /// The NPU, which the backends `qnn` and `ethos-u` require; left out, both refuse every node.
    #[serde(default)]
    npu: Option<Spanned<Npu>>,
    /// The greatest clock of the processor, for estimates of time; left out, none is given.
    #[serde(default)]
    clock: Option<Frequency>,
    /// The cycle counter of a RISC-V processor; left out, `mcycle`. On Cortex-M the system timer counts.
    #[serde(default)]
    counter: Option<Spanned<Counter>>,
    /// The memory; required for bare metal, forbidden for a hosted target.
    #[serde(default)]
    memory: Option<Spanned<MemoryFile>>,
    /// Where the program's text goes.
    console: Console,
    /// The forms in which the binary is delivered.
    image: Vec<Image>,
    /// The chip, as the program that flashes it through a debug probe names it, such as `nRF52840_xxAA`: for `run: { device: probe }`, and for `{chip}` in the
    /// arguments of `flash`.
    #[serde(default)]
    chip: Option<Spanned<Name>>,
    /// How the binary is run; left out, it is built and not run.
    #[serde(default)]
    run: Option<Spanned<Run>>,
}

/// A checked target. Values only: two files that state the same facts make equal targets.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct Target {
    name: Name,
    summary: String,
    aliases: Vec<Name>,
    kind: Kind,
    template: Name,
    pointer_width: u32,
    endian: Endian,
    rust: Rust,
    instruction_sets: Vec<String>,
    gpus: Vec<Gpu>,
    npu: Option<Npu>,
    clock: Option<Frequency>,
    counter: Option<Counter>,
    memory: Option<Memory>,
    console: Console,
    image: Vec<Image>,
    run: Run,
}

/// Parses a target file.
///
/// # Errors
/// Every mistake in the text.
pub fn parse_target(file: &str, text: &str) -> Result<Target, Vec<Diagnostic>> {
    let tree = parse(&Source::file(file, text.into())).map_err(|error| vec![error])?;
    check_version(&tree).map_err(|error| vec![error])?;
    let file: TargetFile = read(&tree)?;
    file.check().map_err(|error| vec![error])
}

impl TargetFile {
    fn check(self) -> Result<Target, Diagnostic> {
        check_pointer_width(&self.pointer_width)?;
        let memory = check_memory(&self.kind, self.memory)?;
        check_linker(&self.kind, &self.rust.linker)?;
        let gpus = check_gpus(&self.kind, self.gpus)?;
        let npu = check_npu(self.kind.value, self.rust.crt_static, self.npu)?;
        let counter = counter::check(&self.rust, self.counter)?;
        Ok(Target {
            name: self.name,
            summary: self.summary,
            aliases: self.aliases,
            kind: self.kind.value,
            template: self.template,
            pointer_width: self.pointer_width.value,
            endian: self.endian,
            rust: self.rust,
            instruction_sets: self.instruction_sets,
            gpus,
            npu,
            clock: self.clock,
            counter,
            memory,
            run: run::check(self.run, self.chip.as_ref(), &self.console, &self.image)?,
            console: self.console,
            image: self.image,
        })
    }
}

fn check_pointer_width(width: &Spanned<u32>) -> Result<(), Diagnostic> {
    if matches!(width.value, 32 | 64) {
        return Ok(());
    }
    let message = format!("unsupported pointer width {}", width.value);
    Err(Diagnostic::error(Code::BadValue, message).at((*width.span).clone()).help("write 32 or 64"))
}

fn check_linker(kind: &Spanned<Kind>, linker: &Linker) -> Result<(), Diagnostic> {
    if kind.value == Kind::Hosted || *linker != Linker::None {
        return Ok(());
    }
    let message = "firmware needs a linker";
    let diagnostic = Diagnostic::error(Code::TargetInconsistent, message).at((*kind.span).clone());
    Err(diagnostic.help("write `linker: rust-lld` in `rust:`"))
}

fn check_gpus(kind: &Spanned<Kind>, gpus: Vec<Spanned<GpuFile>>) -> Result<Vec<Gpu>, Diagnostic> {
    let check = |gpu: Spanned<GpuFile>| match kind.value {
        Kind::Hosted => gpu.value.check(),
        Kind::BareMetal => {
            let message = "`gpus:` requires an operating system with a driver";
            Err(Diagnostic::error(Code::TargetInconsistent, message).at(*gpu.span).help("remove `gpus:`"))
        }
    };
    gpus.into_iter().map(check).collect()
}

fn check_npu(kind: Kind, is_static: bool, npu: Option<Spanned<Npu>>) -> Result<Option<Npu>, Diagnostic> {
    let Some(npu) = npu else { return Ok(None) };
    let inconsistent = |message: &str, help: &str| {
        Err(Diagnostic::error(Code::TargetInconsistent, message).at((*npu.span).clone()).help(help))
    };
    let is_ethos = matches!(npu.value, Npu::EthosU(_));
    if is_ethos && kind == Kind::Hosted {
        return inconsistent("an Ethos-U NPU is driven by firmware", "remove `npu:`, or write `kind: bare-metal`");
    }
    if !is_ethos && kind == Kind::BareMetal {
        return inconsistent(
            "`npu: { soc: ... }` requires an operating system with the vendor's libraries",
            "remove `npu:`",
        );
    }
    if is_static && !is_ethos {
        let help = "remove `npu:`, or link dynamically: remove `crt_static: true`";
        return inconsistent("a static binary cannot load the vendor's library of an NPU", help);
    }
    Ok(Some(npu.value))
}

fn check_memory(kind: &Spanned<Kind>, memory: Option<Spanned<MemoryFile>>) -> Result<Option<Memory>, Diagnostic> {
    match (kind.value, memory) {
        (Kind::Hosted, None) => Ok(None),
        (Kind::BareMetal, Some(memory)) => memory.value.resolve().map(Some),
        (Kind::Hosted, Some(memory)) => {
            let message = "`memory:` is not allowed for a hosted target";
            Err(Diagnostic::error(Code::TargetInconsistent, message).at(*memory.span).help("remove `memory:`"))
        }
        (Kind::BareMetal, None) => {
            let message = "a bare-metal target needs `memory:`";
            Err(Diagnostic::error(Code::TargetInconsistent, message)
                .at((*kind.span).clone())
                .help("add the memory banks"))
        }
    }
}

impl Target {
    /// The name of the target in recipes.
    pub fn name(&self) -> &str {
        self.name.as_str()
    }

    /// A summary of the hardware.
    pub fn summary(&self) -> &str {
        &self.summary
    }

    /// Other names of this hardware.
    pub fn aliases(&self) -> impl Iterator<Item = &str> {
        self.aliases.iter().map(Name::as_str)
    }

    /// Whether the target has an operating system.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// The folder below `templates/` that the binary's project is made from.
    pub fn template(&self) -> &str {
        self.template.as_str()
    }

    /// Bits of an address: 32 or 64.
    pub fn pointer_width(&self) -> u32 {
        self.pointer_width
    }

    /// The order of the bytes of a number.
    pub fn endian(&self) -> Endian {
        self.endian
    }

    /// The options of the Rust toolchain.
    pub fn rust(&self) -> &Rust {
        &self.rust
    }

    /// The instruction sets among which backends select at run time, according to the device.
    pub fn instruction_sets(&self) -> &[String] {
        &self.instruction_sets
    }

    /// The classes of GPUs, the most likely first.
    pub fn gpus(&self) -> &[Gpu] {
        &self.gpus
    }

    /// The NPU; `None` where the target states none.
    pub fn npu(&self) -> Option<&Npu> {
        self.npu.as_ref()
    }

    /// The greatest clock of the processor; `None` where the target states none.
    pub fn clock(&self) -> Option<Frequency> {
        self.clock
    }

    /// The register that counts cycles; `None` where the target states none.
    pub fn counter(&self) -> Option<&Counter> {
        self.counter.as_ref()
    }

    /// The memory; `None` exactly for hosted targets.
    pub fn memory(&self) -> Option<&Memory> {
        self.memory.as_ref()
    }

    /// Where the program's text goes.
    pub fn console(&self) -> &Console {
        &self.console
    }

    /// The forms in which the binary is delivered.
    pub fn image(&self) -> &[Image] {
        &self.image
    }

    /// Whether the binary is a module of WebAssembly.
    pub fn is_wasm(&self) -> bool {
        self.image.contains(&Image::Wasm)
    }

    /// Whether recipes have a binary for the target, and not a library alone.
    pub fn has_binary(&self) -> bool {
        self.rust.linker != Linker::None
    }

    /// The file name of the binary of a recipe's name.
    pub fn binary_name(&self, recipe: &str) -> String {
        let ending = self.image.iter().find_map(Image::binary_ending).unwrap_or_default();
        format!("{recipe}{ending}")
    }

    /// How the binary is run.
    pub fn run(&self) -> &Run {
        &self.run
    }
}

#[cfg(test)]
mod tests {
    use etbuild_diagnostic::Position;

    use super::*;
    use crate::{Access, Linker, SHIPPED};

    fn shipped(name: &str) -> &'static str {
        SHIPPED.iter().find(|(file, _)| file.ends_with(&format!("/{name}.yaml"))).unwrap().1
    }

    fn target(name: &str) -> Target {
        parse_target(name, shipped(name)).unwrap()
    }

    /// The only mistake in a shipped file after replacing `from` by `to`.
    fn mistake(name: &str, from: &str, to: &str) -> (Code, Position, String) {
        let text = shipped(name);
        assert!(text.contains(from));
        let mut diagnostics = parse_target(name, &text.replace(from, to)).unwrap_err();
        assert_eq!(diagnostics.len(), 1, "{diagnostics:?}");
        let diagnostic = diagnostics.remove(0);
        (diagnostic.code, diagnostic.span.unwrap().start, diagnostic.help.unwrap())
    }

    #[test]
    fn a_board_is_brought_firmware_in_one_way() {
        let told = |from, to| {
            let (code, _, help) = mistake("pico2", from, to);
            assert_eq!(code, Code::TargetInconsistent);
            help
        };
        assert_eq!(told("    drive: RP2350\n", ""), "write `drive:` or `flash:`");
        let both = "    drive: RP2350\n    flash: { program: p, arguments: [], install: i }\n";
        assert_eq!(told("    drive: RP2350\n", both), "remove `drive:` or `flash:`");
        assert!(told("image: [elf, { uf2: { family: 0xe48bff59 } }]", "image: [elf]").contains("uf2"));
    }

    #[test]
    fn every_shipped_target_is_named_as_its_file() {
        for (file, text) in SHIPPED {
            let name = file.strip_prefix("targets/").and_then(|file| file.strip_suffix(".yaml")).unwrap();
            assert_eq!(parse_target(file, text).unwrap().name(), name);
        }
    }

    #[test]
    fn a_bare_metal_target_states_its_banks() {
        let target = target("mps2-an505");
        let memory = target.memory().unwrap();
        assert_eq!((memory.code.origin, memory.code.size.0), (0x1000_0000, 4 << 20));
        assert_eq!((memory.arena.name.as_str(), memory.arena.access), ("sram", Access::Rw));
        assert_eq!((target.pointer_width(), &target.rust().linker), (32, &Linker::RustLld));
    }

    #[test]
    fn a_board_states_its_image_and_how_it_is_reached() {
        let target = target("pico2");
        assert_eq!(target.image(), [Image::Elf, Image::Uf2(crate::Uf2 { family: 0xe48b_ff59 })]);
        assert!(
            matches!(target.run(), Run::Device(board) if board.drive.as_ref().is_some_and(|drive| drive.as_str() == "RP2350"))
        );
    }

    #[test]
    fn a_bank_must_exist_and_fit_its_use() {
        let (code, place, help) = mistake("pico2", "arena: sram", "arena: sarm");
        assert_eq!((code, place, help.as_str()), (Code::UnknownBank, Position::new(17, 10), "did you mean `sram`?"));
        assert_eq!(mistake("pico2", "arena: sram", "arena: flash").0, Code::TargetInconsistent);
        assert_eq!(mistake("pico2", "code: flash", "code: sram").0, Code::TargetInconsistent);
        assert_eq!(mistake("pico2", "stack: 16 KiB", "stack: 520 KiB").0, Code::TargetInconsistent);
        let tensors = |names: &str| mistake("pico2", "arena: sram", &format!("arena: sram\n  tensors: {names}"));
        assert_eq!(tensors("[sarm]").0, Code::UnknownBank);
        assert_eq!(tensors("[flash]").0, Code::TargetInconsistent);
        assert_eq!(tensors("[sram, sram]").2, "name each bank once, the fastest first");
    }

    /// A target file may come from a stranger: a name must not leave the output folder, add a flag or a linker command.
    #[test]
    fn names_cannot_become_paths_flags_or_linker_commands() {
        for (name, from, to) in [
            ("pico2", "name: pico2", "name: ../../elsewhere"),
            ("pico2", "name: pico2", "name: /elsewhere"),
            ("pico2", "name: flash", "name: \"flash (rx) : ORIGIN = 0, LENGTH = 1 } INCLUDE /etc/passwd\""),
            ("pico2", "cpu: cortex-m33", "cpu: \"cortex-m33\\x1f-Clink-arg=-wrapper\""),
            ("pico2", "triple: thumbv8m.main-none-eabihf", "triple: ../thumbv8m.json"),
            ("pico2", "cpu: cortex-m33", "cpu: cortex-m33, features: [\"+fp16\\x1f-Clinker=program\"]"),
            ("pico2", "template: firmware", "template: ../firmware"),
            ("pico2", "drive: RP2350", "drive: /any/folder"),
        ] {
            let (code, _, _) = mistake(name, from, to);
            assert_eq!(code, Code::BadValue, "{to}");
        }
    }

    #[test]
    fn memory_is_for_bare_metal() {
        let (code, place, _) = mistake("pico2", "kind: bare-metal", "kind: hosted");
        assert_eq!((code, place), (Code::TargetInconsistent, Position::new(12, 3)));
        let (code, place, _) = mistake("linux-x86_64", "kind: hosted", "kind: bare-metal");
        assert_eq!((code, place), (Code::TargetInconsistent, Position::new(5, 7)));
    }

    #[test]
    fn a_gpu_is_for_hosted_targets_and_has_the_sizes_of_a_gpu() {
        assert_eq!(target("galaxy-s25").gpus()[0].name.as_str(), "adreno-830");
        assert!(target("pico2").gpus().is_empty());
        let text = shipped("galaxy-s25");
        let gpu = text.split_once("- { name: adreno").unwrap().1.split_once('}').unwrap().0;
        let (code, ..) = mistake("pico2", "console:", &format!("gpus: [{{ name: adreno{gpu}}}]\nconsole:"));
        assert_eq!(code, Code::TargetInconsistent);
        for (from, to) in [("subgroup: 8", "subgroup: 12"), ("max_image: 16384", "max_image: 0")] {
            assert_eq!(mistake("linux-x86_64", from, to).0, Code::BadValue, "{to}");
        }
    }

    #[test]
    fn an_npu_is_for_targets_that_load_libraries() {
        for name in ["linux-x86_64", "galaxy-s25"] {
            let npu = target(name).npu().cloned();
            assert!(matches!(npu, Some(Npu::Qualcomm(chip)) if chip.soc.as_str() == "SM8750"), "{name}");
        }
        for name in ["pico2", "linux-aarch64"] {
            let (code, ..) = mistake(name, "console:", "npu: { soc: SM8750 }\nconsole:");
            assert_eq!(code, Code::TargetInconsistent, "{name}");
        }
    }

    #[test]
    fn an_ethos_u_is_for_firmware() {
        let npu = target("corstone-300").npu().cloned();
        assert!(matches!(npu, Some(Npu::EthosU(npu)) if npu.accelerator.name() == "u55-128"));
        let npu = "npu: { ethos-u: u55-128, system_config: High, memory_mode: Shared_Sram, registers: 0x58102000 }";
        let (code, ..) = mistake("linux-aarch64", "template:", &format!("{npu}\ntemplate:"));
        assert_eq!(code, Code::TargetInconsistent);
        assert_eq!(mistake("corstone-300", "u55-128", "u55-100").0, Code::BadValue);
    }

    #[test]
    fn firmware_needs_a_linker() {
        assert!(!target("ios-arm64").has_binary() && target("linux-aarch64").has_binary());
        let (code, ..) = mistake("pico2", "linker: rust-lld", "linker: none");
        assert_eq!(code, Code::TargetInconsistent);
    }

    #[test]
    fn an_address_has_32_or_64_bits() {
        let (code, place, help) = mistake("pico2", "pointer_width: 32", "pointer_width: 16");
        assert_eq!((code, place, help.as_str()), (Code::BadValue, Position::new(7, 16), "write 32 or 64"));
    }

    #[test]
    fn instruction_sets_default_to_none() {
        assert_eq!(target("linux-x86_64").instruction_sets(), ["avx2", "avx512", "avx512vnni", "amx"]);
        assert!(target("pico2").instruction_sets().is_empty());
    }

    #[test]
    fn places_do_not_make_targets_differ() {
        let moved = format!("# a comment\n\n{}", shipped("pico2"));
        assert_eq!(parse_target("elsewhere", &moved), Ok(target("pico2")));
    }
}
