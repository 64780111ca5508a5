//! The command line.

mod language;
mod remote;
mod speech;
mod trace;
mod update;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use et_module::Tolerance;

pub use language::{Language, Pictures};
pub use remote::RemoteCache;
pub use trace::{Debug, Trace};
pub use update::{Apply, Bundle, Delta};

/// Build PyTorch models into linked device binaries
#[derive(Debug, Parser)]
#[command(name = "etbuild", version, propagate_version = true, max_term_width = 100)]
pub struct Arguments {
    /// Global options.
    #[command(flatten)]
    pub global: Global,
    /// The command.
    #[command(subcommand)]
    pub command: Command,
}

/// Global options.
#[derive(Args, Clone, Debug)]
pub struct Global {
    /// Change to this folder before doing anything
    #[arg(short = 'C', value_name = "DIR", global = true)]
    pub directory: Option<PathBuf>,
    /// Set a recipe option, such as `memory.planner=naive`; repeatable
    #[arg(long = "set", value_name = "KEY=VALUE", global = true)]
    pub overrides: Vec<String>,
    /// Build for this target instead of the recipe's targets: a name or a YAML file; repeatable
    #[arg(long = "target", value_name = "TARGET", global = true)]
    pub targets: Vec<String>,
    /// Number of units to build in parallel; defaults to the number of processors
    #[arg(short, long, value_name = "N", global = true)]
    pub jobs: Option<usize>,
    /// Never access the network, not even to install a Rust target
    #[arg(long, global = true)]
    pub offline: bool,
    /// Fail with status 5 if a source, tool, target or result differs from `etbuild.lock`
    #[arg(long, global = true)]
    pub locked: bool,
    /// Run every stage, without reading the cache
    #[arg(long, global = true)]
    pub no_cache: bool,
    /// Options of the remote cache.
    #[command(flatten)]
    pub remote: RemoteCache,
    /// Write results below this folder
    #[arg(long, value_name = "DIR", default_value = "out", global = true)]
    pub out: PathBuf,
    /// Control when to use colored output
    #[arg(long, value_enum, default_value_t, global = true)]
    pub color: When,
    /// Control when to show progress
    #[arg(long, value_enum, default_value_t, global = true)]
    pub progress: Progress,
    /// Format of results and diagnostics
    #[arg(long, value_enum, default_value_t, global = true)]
    pub output: Output,
}

/// Control when to use colored output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum When {
    /// On a terminal, unless `NO_COLOR` is set
    #[default]
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// Control when to show progress.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Progress {
    /// Bars on a terminal, otherwise lines
    #[default]
    Auto,
    /// Bars
    Bar,
    /// A line for every stage that ran
    Plain,
    /// No progress
    None,
}

/// Format of results and diagnostics.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Output {
    /// Text
    #[default]
    Human,
    /// A JSON object on standard output
    Json,
    /// Workflow commands of GitHub Actions
    Github,
    /// A SARIF log of the diagnostics on standard output
    Sarif,
}

/// The command.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Build recipes, run the binaries and verify their outputs
    Deploy(Deploy),
    /// Build recipes without running the binaries
    Build(Recipes),
    /// Compile a model to a program file for this machine, without linking a binary
    Compile(Compile),
    /// Run a program file or model on this machine
    #[command(mut_arg("outputs", |argument| argument.short('o')))]
    Run(Box<Run>),
    /// Run a program file or model on this machine and show where the time goes: a profile, and a trace for Perfetto
    Trace(Box<Trace>),
    /// Run a model and show the first operator whose results differ from another variant of the model
    Debug(Box<Debug>),
    /// Deploy a language model or an encoder for this machine and serve it over HTTP, as OpenAI's API
    Serve(Serve),
    /// Check recipes for everything that a deploy refuses before it compiles
    Check(Recipes),
    /// List the stages and their cache status without running a stage
    Plan(Recipes),
    /// List the units of recipes, targets and variables for continuous integration
    Matrix(Matrix),
    /// Build recipes and record sources, tools and results in `etbuild.lock`
    Lock(Lock),
    /// Explain cache misses, partitions, operators, quantization, or a diagnostic code
    Explain(Explain),
    /// Show the contents of a program file, or compare two files
    Inspect(Inspect),
    /// Deploy recipes and write an HTML report per target: sizes, memory, partition, accuracy, changes
    Report(Report),
    /// Deploy recipes, and deploy again after every change of a source file, until Ctrl-C
    Watch(Watch),
    /// Build recipes and write a CycloneDX bill of materials and a SLSA provenance
    Attest(Recipes),
    /// Make a delta between two deployed versions: an update over the air
    ///
    /// A version is a folder of results, a program file or a binary.
    Delta(Delta),
    /// Apply an update to a deployed version, or return to the version before
    Apply(Apply),
    /// Make, show or unpack a bundle: one file with the versions for several chips
    #[command(subcommand)]
    Bundle(Bundle),
    /// Verify built binaries, or check that a rebuild is reproducible
    ///
    /// A folder of results is checked against its manifest, bill of materials and provenance, without a build.
    Verify(Verify),
    /// Manage the cache
    #[command(subcommand)]
    Cache(Cache),
    /// List or show targets
    #[command(subcommand)]
    Targets(Targets),
    /// Print a JSON schema for editors
    Schema(Schema),
    /// Check for the tools that targets need
    Doctor,
    /// Create a recipe for a model, or a target file: `init target NAME --triple TRIPLE`
    Init(Init),
    /// Compile runtimes with all kernels: `deploy` and `build` make binaries of them where Rust is missing
    Prebuild(Prebuild),
    /// Write manual pages for all commands
    Man {
        /// The output folder
        folder: PathBuf,
    },
    /// Print a completion script for a shell
    Completions {
        /// The shell
        shell: Shell,
    },
}

/// Runtimes to compile.
#[derive(Args, Clone, Debug)]
pub struct Prebuild {
    /// The output folder; `ETBUILD_RUNTIMES` names it for `deploy` and `build`
    pub folder: PathBuf,
}

/// Recipes, or models with default options.
#[derive(Args, Clone, Debug)]
pub struct Recipes {
    /// Recipe files; a `.pt2` archive, a checkpoint folder or a `.gguf` file uses default options
    #[arg(required = true, value_name = "RECIPE")]
    pub recipes: Vec<PathBuf>,
    /// Select units, such as `digits@pico2` or `*@linux-*`; repeatable
    #[arg(long, value_name = "UNIT")]
    pub only: Vec<String>,
    /// Options of each recipe.
    #[command(flatten)]
    pub options: RecipeOptions,
}

/// Options of a recipe with a name of their own, for models without a recipe.
#[derive(Args, Clone, Debug, Default)]
pub struct RecipeOptions {
    /// Comma-separated backends in order of preference, or `portable`; defaults to the target's best backends
    #[arg(long, value_name = "BACKENDS")]
    pub partition: Option<String>,
    /// Quantization scheme
    #[arg(long, value_name = "SCHEME")]
    pub quantize: Option<String>,
    /// Calibration data for quantization
    #[arg(long, value_name = "FILE")]
    pub calibrate: Option<PathBuf>,
}

/// Arguments of `deploy`.
#[derive(Args, Clone, Debug)]
pub struct Deploy {
    /// The recipes.
    #[command(flatten)]
    pub recipes: Recipes,
    /// Fail with status 8 if a target cannot be verified on this machine
    #[arg(long)]
    pub require_verify: bool,
    /// Bring the binary to this device and run it there: `adb`, `adb:SERIAL`, `ssh:HOST`, or a board: `serial:PORT`, `probe`; may be given several times
    #[arg(long, value_name = "DEVICE")]
    pub device: Vec<String>,
    /// Execute each verification case N times more on the boards, and show the least, median and greatest instructions or cycles; 10 times without N
    #[arg(long, value_name = "N", num_args = 0..=1, require_equals = true, default_missing_value = "10")]
    pub bench: Option<u32>,
}

/// Arguments of `serve`.
#[derive(Args, Clone, Debug)]
pub struct Serve {
    /// The model: a checkpoint folder, a `.gguf` file, or a recipe.
    #[command(flatten)]
    pub recipes: Recipes,
    /// Arguments of the server, such as `0.0.0.0:8000 --slots 8`; `--help` lists them
    #[arg(last = true, value_name = "ADDRESS|OPTION", allow_hyphen_values = true)]
    pub server: Vec<OsString>,
}

/// Arguments of `compile`.
#[derive(Args, Clone, Debug)]
pub struct Compile {
    /// The model: a `.pt2` archive, a checkpoint folder, or a recipe.
    #[command(flatten)]
    pub recipes: Recipes,
    /// The program file to write; defaults to `NAME.pte` in the current folder
    #[arg(long, value_name = "FILE")]
    pub program: Option<PathBuf>,
}

/// Arguments of `run`.
#[derive(Args, Clone, Debug)]
pub struct Run {
    /// A `.pte` program file (ours or upstream's), a `.bpte` bundled program, a `.pt2` model, a checkpoint folder, a `.gguf` file, or a recipe
    pub file: PathBuf,
    /// Options of language models.
    #[command(flatten)]
    pub language: Language,
    /// Options of pipelines that make pictures.
    #[command(flatten)]
    pub pictures: Pictures,
    /// Input tensors as safetensors, by input name, or the only input as a `.npy` array, a picture (PNG, JPEG) or a recording
    /// (WAV); optional for methods without inputs and for bundled cases
    #[arg(long, value_name = "FILE")]
    pub inputs: Option<PathBuf>,
    /// Non-tensor inputs as a JSON object; defaults to `inputs.json` beside the input tensors
    #[arg(long, value_name = "FILE")]
    pub scalars: Option<PathBuf>,
    /// Comma-separated input names in the method's order, for a program without input names
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub input_names: Vec<String>,
    /// A `.ptd` file with external weights; repeatable
    #[arg(long, value_name = "FILE")]
    pub data: Vec<PathBuf>,
    /// Write the outputs to this safetensors file, the only output to a `.npy` file, or a picture to a PNG file; optional for bundled
    /// cases and where classes are printed
    #[arg(long, value_name = "FILE")]
    pub outputs: Option<PathBuf>,
    /// Run the cases of a bundled program and compare; the default without --inputs
    #[arg(long, conflicts_with = "inputs")]
    pub bundled: bool,
    /// Relative tolerance of a bundled case
    #[arg(long, default_value_t = Tolerance::default().relative)]
    pub rtol: f64,
    /// Absolute tolerance of a bundled case
    #[arg(long, default_value_t = Tolerance::default().absolute)]
    pub atol: f64,
    /// Method to run; defaults to `forward`, else to the alphabetically first
    #[arg(long)]
    pub method: Option<String>,
    /// Options of a model or a recipe.
    #[command(flatten)]
    pub options: RecipeOptions,
    /// Number of threads for backends, 1 to 256; defaults to the number of physical cores, at most 16
    #[arg(long, value_name = "N", value_parser = et_module::parse_threads)]
    pub threads: Option<usize>,
    /// Build the model for `--target` and run it on this device: `adb`, `adb:SERIAL` or `ssh:HOST`
    #[arg(long, value_name = "DEVICE", conflicts_with_all = ["atol", "bundled", "data", "draft_model", "input_names", "method", "rtol", "scalars"])]
    pub device: Option<String>,
}

/// Arguments of `explain`.
#[derive(Args, Clone, Debug)]
pub struct Explain {
    /// A recipe, a model, or a diagnostic code such as `ETB0107`
    #[arg(value_name = "RECIPE|CODE")]
    pub subject: PathBuf,
    /// Explain only this stage
    pub stage: Option<String>,
    /// List the program's operators with their kernels, and missing operators
    #[arg(long, conflicts_with = "stage")]
    pub operators: bool,
    /// Show the backend of every node and the reasons for rejections; `--partition=BACKENDS` tries these backends
    #[arg(long, value_name = "BACKENDS", num_args = 0..=1, require_equals = true, conflicts_with_all = ["stage", "operators"])]
    pub partition: Option<Option<String>>,
    /// Show the quantization error per layer on the calibration data, worst first
    #[arg(long, conflicts_with_all = ["stage", "operators", "partition"])]
    pub quantization: bool,
    /// Propose layers to keep in float for a limit of the loss: `40dB` for the SQNR of the outputs, `0.5pt` for points
    /// of accuracy
    #[arg(long, value_name = "LOSS", requires = "quantization")]
    pub search: Option<String>,
    /// Compute the outputs as the NPU of this backend does, such as `qnn`, without the vendor's kit
    #[arg(long, value_name = "BACKEND", requires = "quantization", conflicts_with = "search")]
    pub simulate: Option<String>,
    /// Write the simulated outputs of the calibration data to this safetensors file, as `output_0` and so on
    #[arg(long, short, value_name = "FILE", requires = "simulate")]
    pub outputs: Option<PathBuf>,
    /// Measure the perplexity of a simulated language model on this file, a text per line, instead of the calibration data
    #[arg(long, value_name = "FILE", requires = "simulate")]
    pub text: Option<PathBuf>,
}

/// Arguments of `watch`.
#[derive(Args, Clone, Debug)]
pub struct Watch {
    /// The recipes.
    #[command(flatten)]
    pub recipes: Recipes,
    /// Exit after N deploys
    #[arg(long, value_name = "N")]
    pub deploys: Option<u64>,
}

/// Arguments of `lock`.
#[derive(Args, Clone, Debug)]
pub struct Lock {
    /// The recipes.
    #[command(flatten)]
    pub recipes: Recipes,
    /// Update the entries of the lock file that differ
    #[arg(long)]
    pub update: bool,
}

/// Arguments of `matrix`.
#[derive(Args, Clone, Debug)]
pub struct Matrix {
    /// The recipes.
    #[command(flatten)]
    pub recipes: Recipes,
    /// Format of the list
    #[arg(long, value_enum, default_value_t)]
    pub format: MatrixFormat,
    /// Select units with stages to run
    #[arg(long)]
    pub only_stale: bool,
    /// Select units with changed files since this git revision, uncommitted changes included
    #[arg(long, value_name = "REV")]
    pub changed_since: Option<String>,
    /// Select the i-th of n shards, counted from 1
    #[arg(long, value_name = "I/N")]
    pub shard: Option<String>,
}

/// Format of a list of units.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum MatrixFormat {
    /// A table; JSON with `--output json`
    #[default]
    Table,
    /// A line for `strategy.matrix` of a GitHub Actions job
    Github,
    /// A child pipeline of GitLab CI with a job per unit
    Gitlab,
    /// A JSON object
    Json,
}

/// Arguments of `inspect`.
#[derive(Args, Clone, Debug)]
pub struct Inspect {
    /// A `.pte` program file, a `.bpte` bundled program, a `.ptd` data file, or a `.pt2` model, which is compiled first
    pub file: PathBuf,
    /// A second file to compare with
    pub other: Option<PathBuf>,
}

/// Arguments of `verify`.
#[derive(Args, Clone, Debug)]
pub struct Verify {
    /// Recipes, or a folder of results.
    #[command(flatten)]
    pub recipes: Recipes,
    /// Rebuild with an empty cache and compare the bytes
    #[arg(long)]
    pub rebuild: bool,
    /// Write the result of each unit to this file as JUnit XML
    #[arg(long, value_name = "FILE")]
    pub junit: Option<PathBuf>,
}

/// Arguments of `report`.
#[derive(Clone, Debug, Args)]
pub struct Report {
    /// The recipes.
    #[command(flatten)]
    pub recipes: Recipes,
    /// Measure the latency of each layer on this machine
    #[arg(long)]
    pub latency: bool,
}

/// Commands of the cache.
#[derive(Clone, Debug, Subcommand)]
pub enum Cache {
    /// Show the size of the cache and the results that keep artifacts alive
    Stat,
    /// Remove old artifacts, by age or until the cache has a size
    ///
    /// Artifacts of deployed results stay as long as the results exist.
    Gc {
        /// Shrink the cache to this size, such as `10 GiB`
        #[arg(long, value_name = "SIZE")]
        max_size: Option<String>,
        /// Remove artifacts unused for this many days
        #[arg(long, value_name = "DAYS")]
        max_age: Option<u64>,
        /// Also remove artifacts of existing results
        #[arg(long)]
        no_roots: bool,
        /// Also remove compiler caches, which only save time
        #[arg(long)]
        scratch: bool,
    },
    /// Verify the digests of all artifacts and remove damaged artifacts
    Verify,
    /// Remove all artifacts
    Clear,
}

/// Commands of targets.
#[derive(Clone, Debug, Subcommand)]
pub enum Targets {
    /// List all targets
    List,
    /// Show the facts of a target
    Show {
        /// The target's name or YAML file
        name: String,
    },
}

/// Arguments of `schema`.
#[derive(Args, Clone, Debug)]
pub struct Schema {
    /// The schema to print
    #[arg(value_enum)]
    pub of: SchemaOf,
}

/// The schemas.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SchemaOf {
    /// The schema of recipe files
    Recipe,
    /// The schema of target files
    Target,
}

/// Arguments of `init`.
#[derive(Args, Clone, Debug)]
pub struct Init {
    /// The model: a `.pt2` archive, a checkpoint folder or `.gguf` file, or a Python function as `file.py:function`; or the word `target` or `operators`
    #[arg(value_name = "MODEL|target|operators")]
    pub model: PathBuf,
    /// The name of the target, after the word `target`; the folder of a crate for custom operators, after `operators`
    pub name: Option<String>,
    /// The file to write; defaults to `NAME.yaml`, and to `targets/NAME.yaml` for a target
    #[arg(long, value_name = "FILE")]
    pub recipe: Option<PathBuf>,
    /// The Rust triple of the target, such as `thumbv7em-none-eabihf`
    #[arg(long, value_name = "TRIPLE", requires = "name")]
    pub triple: Option<String>,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_definition_is_consistent() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn global_options_may_follow_the_command() {
        let arguments = Arguments::try_parse_from(["etbuild", "deploy", "a.yaml", "--set", "x=1", "-j", "2"]).unwrap();
        assert_eq!((arguments.global.overrides, arguments.global.jobs), (vec!["x=1".to_owned()], Some(2)));
    }
}
