//! Arm's compiler Vela, a program that users install for themselves, in a process of its own.

mod commands;
mod estimate;
mod npz;

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::{env, fs};

pub use commands::Commands;
use etbuild_backend::{Compiler, NpuEstimate, Refusal, RefusalKind, Search};
use npz::Arrays;

/// Arm's compiler.
pub static COMPILER: Compiler =
    Compiler { kit: "Arm's Vela", variable: "VELA", search: Search::Program, file: "vela", page: "docs/ethos-u.md" };

/// The NPU that a graph is compiled for, in Vela's words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Device {
    /// The kind and the size, such as `u55-128`.
    pub accelerator: String,
    /// The memories and the clock, such as `Ethos_U55_High_End_Embedded`.
    pub system_config: String,
    /// Which memory has weights and feature maps, such as `Shared_Sram`.
    pub memory_mode: String,
}

/// A compiled graph.
#[derive(Clone, Debug, PartialEq)]
pub struct Compiled {
    /// The command stream for the NPU.
    pub commands: Commands,
    /// The weights, as the NPU reads them.
    pub weights: Vec<u8>,
    /// The bytes of scratch memory.
    pub scratch: usize,
    /// The inputs of the graph, in order.
    pub inputs: Vec<Place>,
    /// The outputs of the graph, in order.
    pub outputs: Vec<Place>,
    /// Vela's estimate of a run.
    pub estimate: NpuEstimate,
}

/// A tensor of int8 in the scratch memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The offset in bytes.
    pub offset: usize,
    /// The number of elements.
    pub count: usize,
}

/// The region of the scratch memory in command streams.
const SCRATCH: i64 = 1;

/// The version of the program on this machine.
///
/// # Errors
/// A sentence: no program, or a program that fails.
pub fn version() -> Result<String, String> {
    let mut command = Command::new(program());
    let output = command.arg("--version").stdin(Stdio::null()).output().map_err(|error| absent(&error.to_string()))?;
    let version = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    match output.status.success() && !version.is_empty() {
        true => Ok(version),
        false => Err(absent(&format!("`--version` ended with {}", output.status))),
    }
}

fn absent(reason: &str) -> String {
    format!("{} does not run: {reason}", program().display())
}

/// The program whose digest is in the key of delegation; where there is none, the name for messages.
fn program() -> PathBuf {
    let places = COMPILER.places(|name| env::var(name).ok());
    let found = places.iter().find(|path| path.is_file());
    match (found, &places[..]) {
        // Vela works in a folder of its own, where a relative path would name another file.
        (Some(path), _) | (None, [path]) => std::path::absolute(path).unwrap_or_else(|_| path.clone()),
        _ => COMPILER.file.into(),
    }
}

/// Compiles the file of a TOSA graph.
///
/// # Errors
/// The program does not run, refuses the graph, or leaves operators to the processor.
pub fn compile(graph: &[u8], device: &Device) -> Result<Compiled, Refusal> {
    let machine = |reason: String| Refusal::new(RefusalKind::Machine, reason);
    let failed = |error: std::io::Error| machine(format!("the process of Vela failed: {error}"));
    let refused = |reason: String| Refusal::new(RefusalKind::Partition, reason);
    let folder = tempfile::tempdir().map_err(failed)?;
    let file = folder.path().join("graph.tosa");
    fs::write(&file, graph).map_err(failed)?;
    let Device { accelerator, system_config, memory_mode } = device;
    let mut command = Command::new(program());
    command.args(["--accelerator-config", &format!("ethos-{accelerator}")]);
    command.args(["--config", "Arm/vela.ini", "--system-config", system_config, "--memory-mode", memory_mode]);
    command.args(["--output-format", "raw", "--verbose-performance", "--output-dir"]).arg(folder.path()).arg(&file);
    // Vela writes files into the working directory in some versions.
    let output = command.current_dir(folder.path()).stdin(Stdio::null()).output();
    let output = output.map_err(|error| machine(absent(&error.to_string())))?;
    if output.status.code().is_none() {
        return Err(machine(format!("the process of Vela ended with {}", output.status)));
    }
    if !output.status.success() {
        return Err(refused(format!("Vela refuses the graph: {}", last_words(&output))));
    }
    collect(folder.path()).map_err(refused)
}

/// The last line that a failed process wrote.
fn last_words(output: &Output) -> String {
    let text = [&output.stdout[..], &output.stderr[..]].concat();
    let text = String::from_utf8_lossy(&text).into_owned();
    let line = text.lines().rev().find(|line| !line.trim().is_empty());
    line.map_or_else(|| output.status.to_string(), |line| line.trim().trim_end_matches('.').to_owned())
}

/// Reads what Vela wrote to a folder.
fn collect(folder: &Path) -> Result<Compiled, String> {
    let entries = fs::read_dir(folder).map_err(|error| format!("the results of Vela cannot be read: {error}"))?;
    let mut files: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    files.sort();
    let ending = |ending: &str| files.iter().find(|path| path.to_string_lossy().ends_with(ending));
    let read = |path: Option<&PathBuf>| path.and_then(|path| fs::read(path).ok());
    let raw = read(ending("_vela.npz")).ok_or("Vela left operators to the processor")?;
    let summary = files.iter().find(|path| path.to_string_lossy().contains("_summary_"));
    let [summary, operators] = [summary, ending("_per-layer.csv")].map(|path| read(path).unwrap_or_default());
    let estimate = estimate::read(&String::from_utf8_lossy(&summary), &String::from_utf8_lossy(&operators));
    parse(&raw, estimate).ok_or_else(|| "the results of Vela have another form than that of version 5".to_owned())
}

fn parse(raw: &[u8], estimate: NpuEstimate) -> Option<Compiled> {
    let arrays = Arrays::of(raw)?;
    let commands = Commands::of(arrays.bytes("cmd_data")?)?;
    let size = |name: &str| usize::try_from(product(&arrays.integers(name)?)?).ok();
    // A second scratch memory would need a bank of its own.
    let is_one = arrays.integers("scratch_fast_shape").is_none_or(|shape| product(&shape) == Some(0));
    let (inputs, outputs) = (places(&arrays, "input")?, places(&arrays, "output")?);
    let weights = arrays.bytes("weight_data")?.to_vec();
    let scratch = size("scratch_shape").filter(|_| is_one)?;
    Some(Compiled { commands, weights, scratch, inputs, outputs, estimate })
}

fn product(sizes: &[i64]) -> Option<i64> {
    sizes.iter().try_fold(1_i64, |all, size| all.checked_mul(*size))
}

/// The inputs or outputs: sizes of rank 6, offsets, all int8 in the scratch memory.
fn places(arrays: &Arrays<'_>, side: &str) -> Option<Vec<Place>> {
    let of = |name: &str| arrays.integers(&format!("{side}_{name}"));
    let (shapes, offsets, regions, widths) = (of("shape")?, of("offset")?, of("region")?, of("elem_size")?);
    let is_int8 = regions.iter().all(|region| *region == SCRATCH) && widths.iter().all(|width| *width == 1);
    let rank = shapes.len() / offsets.len().max(1);
    let counts = shapes.chunks(rank.max(1)).map(product);
    let places = counts.zip(&offsets).map(|(count, offset)| {
        Some(Place { offset: usize::try_from(*offset).ok()?, count: usize::try_from(count?).ok()? })
    });
    places.collect::<Option<Vec<_>>>().filter(|places| is_int8 && places.len() == offsets.len())
}
