//! Arguments of `trace` and `debug`.

use std::path::PathBuf;

use clap::Args;

use super::{RecipeOptions, Run};

/// Arguments of `trace`.
#[derive(Args, Clone, Debug)]
#[command(mut_arg("bundled", |argument| argument.hide(true)))]
#[command(mut_arg("rtol", |argument| argument.hide(true)), mut_arg("atol", |argument| argument.hide(true)))]
pub struct Trace {
    /// The run.
    #[command(flatten)]
    pub run: Run,
    /// Show the recording that a binary with `trace: true` wrote with `--trace FILE`, with the names of the model for `--target`
    #[arg(long, value_name = "FILE", conflicts_with_all = ["device", "inputs", "intermediates"])]
    pub recording: Option<PathBuf>,
    /// Write the events as a trace for Perfetto (ui.perfetto.dev) and Chrome to this JSON file
    #[arg(short = 'o', long = "perfetto", value_name = "FILE")]
    pub perfetto: Option<PathBuf>,
    /// Write the events as an ETDump, which ExecuTorch's Inspector reads, to this file
    #[arg(long, value_name = "FILE")]
    pub etdump: Option<PathBuf>,
    /// With --etdump: write an ETRecord beside it, with which the Inspector finds operators, modules and lines of Python, to this file
    #[arg(long, value_name = "FILE", requires = "etdump")]
    pub etrecord: Option<PathBuf>,
    /// With --etdump: record the tensor that each instruction computes, in a debug buffer beside the file (FILE.debug)
    #[arg(long, requires = "etdump")]
    pub intermediates: bool,
    /// Executions before the recorded ones
    #[arg(long, value_name = "N", default_value_t = 3)]
    pub warmup: usize,
    /// Recorded executions; for a language model, the prompt is continued once
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = count)]
    pub iters: usize,
}

/// Arguments of `debug`.
#[derive(Args, Clone, Debug)]
pub struct Debug {
    /// A `.pt2` model, a checkpoint folder, a `.gguf` file, or a recipe
    pub file: PathBuf,
    /// The reference: `float`, the model before quantization; `portable`, the same program on the portable kernels; a
    /// program file (`.pte`), ours or upstream's; or another model. Defaults to `float` for a quantized model, else to `portable`
    #[arg(long, value_name = "REFERENCE")]
    pub against: Option<PathBuf>,
    /// Input tensors as safetensors, by input name, with one case or several; defaults to the calibration data of the recipe
    #[arg(long, value_name = "FILE")]
    pub inputs: Option<PathBuf>,
    /// The most cases of the inputs to run
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = count)]
    pub cases: usize,
    /// Method to run; defaults to `forward`, else to the alphabetically first
    #[arg(long)]
    pub method: Option<String>,
    /// Options of the model or the recipe.
    #[command(flatten)]
    pub options: RecipeOptions,
    /// Signal-to-noise ratio in decibels below which an operator counts as drifting; fails with status 8 if one does. Without
    /// this option, 20 against `float`, 40 for other quantized models, else 60, and the status is 0
    #[arg(long, value_name = "DECIBELS", value_parser = decibels)]
    pub min_sqnr: Option<f64>,
}

/// A number of executions or cases.
fn count(text: &str) -> Result<usize, String> {
    text.parse().ok().filter(|count| *count > 0).ok_or_else(|| "a number from 1 on is needed".to_owned())
}

/// A ratio in decibels.
fn decibels(text: &str) -> Result<f64, String> {
    text.parse().ok().filter(|ratio: &f64| ratio.is_finite()).ok_or_else(|| "a number of decibels is needed".to_owned())
}
