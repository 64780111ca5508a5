//! The command line.

mod remote;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use et_module::Tolerance;

pub use remote::RemoteCache;

/// One YAML recipe in, one fully linked device binary per target out.
#[derive(Debug, Parser)]
#[command(name = "etbuild", version, propagate_version = true, max_term_width = 100)]
pub struct Arguments {
    /// What every command understands.
    #[command(flatten)]
    pub global: Global,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What every command understands.
#[derive(Args, Clone, Debug)]
pub struct Global {
    /// Start in this folder.
    #[arg(short = 'C', value_name = "DIR", global = true)]
    pub directory: Option<PathBuf>,
    /// Set a recipe option, such as `memory.planner=naive`; may be repeated.
    #[arg(long = "set", value_name = "KEY=VALUE", global = true)]
    pub overrides: Vec<String>,
    /// Build for this target instead of the recipe's; a name or a YAML file; may be repeated.
    #[arg(long = "target", value_name = "TARGET", global = true)]
    pub targets: Vec<String>,
    /// Work on this many units at a time, as many as there are processors by default; two stages at a time run on this machine.
    #[arg(short, long, value_name = "N", global = true)]
    pub jobs: Option<usize>,
    /// Use nothing from the network: no Rust target is installed.
    #[arg(long, global = true)]
    pub offline: bool,
    /// Fail with status 5 where a source, a tool, a target or a result is not what `etbuild.lock` says.
    #[arg(long, global = true)]
    pub locked: bool,
    /// Run every stage, whatever the cache has.
    #[arg(long, global = true)]
    pub no_cache: bool,
    /// Where what stages make is shared.
    #[command(flatten)]
    pub remote: RemoteCache,
    /// Write results below this folder.
    #[arg(long, value_name = "DIR", default_value = "out", global = true)]
    pub out: PathBuf,
    /// Colour the talk.
    #[arg(long, value_enum, default_value_t, global = true)]
    pub color: When,
    /// How to show progress.
    #[arg(long, value_enum, default_value_t, global = true)]
    pub progress: Progress,
    /// The form of results and diagnostics.
    #[arg(long, value_enum, default_value_t, global = true)]
    pub output: Output,
}

/// When to colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum When {
    /// On a terminal, unless `NO_COLOR` is set.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// How to show progress.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Progress {
    /// Bars on a terminal, lines elsewhere.
    #[default]
    Auto,
    /// Bars.
    Bar,
    /// A line for every stage that ran.
    Plain,
    /// Nothing.
    None,
}

/// The form of results and diagnostics.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Output {
    /// Text for people.
    #[default]
    Human,
    /// One JSON object on standard output.
    Json,
    /// Workflow commands of GitHub Actions.
    Github,
    /// A SARIF log of the diagnostics on standard output.
    Sarif,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Build, verify by running wherever that is possible, and write the results.
    Deploy(Deploy),
    /// Build and write the results; run nothing.
    Build(Recipes),
    /// Run a program file or model on this machine.
    Run(Box<Run>),
    /// Read recipes and targets and look for mistakes; run no stage.
    Check(Recipes),
    /// Show every stage and whether the cache has it; run no stage.
    Plan(Recipes),
    /// List the units of recipes, targets and variables for continuous integration.
    Matrix(Matrix),
    /// Build, and write what was read and what came of it into `etbuild.lock`.
    Lock(Lock),
    /// Show why stages would run, which kernels a model needs, or what a diagnostic code means.
    Explain(Explain),
    /// Show what a program file holds, or in what two differ.
    Inspect(Inspect),
    /// Deploy, and write a page for each target about sizes, memory, engines, accuracy and what changed.
    Report(Report),
    /// Deploy, and again at every change of a file that is read; show what each change did. Ends with Ctrl-C.
    Watch(Watch),
    /// Build, and write beside the results what they are made of: a CycloneDX bill of materials and a SLSA provenance.
    Attest(Recipes),
    /// Verify what was built; with --rebuild, that building it again gives the same bytes. A folder of results is checked against
    /// its manifest, bill of materials and provenance, and nothing is built.
    Verify(Verify),
    /// Look after the cache.
    #[command(subcommand)]
    Cache(Cache),
    /// Show the targets.
    #[command(subcommand)]
    Targets(Targets),
    /// Print a JSON schema for editors.
    Schema(Schema),
    /// Look for the tools that targets need.
    Doctor,
    /// Write a first recipe for a model.
    Init(Init),
    /// Write manual pages, one for each command.
    Man {
        /// The folder to write to.
        folder: PathBuf,
    },
    /// Print a completion script for a shell.
    Completions {
        /// The shell.
        shell: Shell,
    },
}

/// Recipes, or models with default options.
#[derive(Args, Clone, Debug)]
pub struct Recipes {
    /// Recipe files; a `.pt2` archive stands for a recipe with default options.
    #[arg(required = true, value_name = "RECIPE")]
    pub recipes: Vec<PathBuf>,
    /// Only these units, such as `digits@pico2` or `*@linux-*`; may be repeated.
    #[arg(long, value_name = "UNIT")]
    pub only: Vec<String>,
    /// The backends in order of preference, separated by commas; `portable` for none, the best of the target by default.
    #[arg(long, value_name = "BACKENDS")]
    pub partition: Option<String>,
    /// The quantization scheme.
    #[arg(long, value_name = "SCHEME")]
    pub quantize: Option<String>,
    /// Calibration data for quantization.
    #[arg(long, value_name = "FILE")]
    pub calibrate: Option<PathBuf>,
}

/// Arguments of `deploy`.
#[derive(Args, Clone, Debug)]
pub struct Deploy {
    /// What to deploy.
    #[command(flatten)]
    pub recipes: Recipes,
    /// Fail with status 8 where a target could not be verified.
    #[arg(long)]
    pub require_verify: bool,
}

/// Arguments of `run`.
#[derive(Args, Clone, Debug)]
pub struct Run {
    /// A `.pte` program file, ours or upstream's, a `.bpte` bundled program, a `.pt2` model, or the folder of a checkpoint.
    pub file: PathBuf,
    /// What a language model is asked for.
    #[command(flatten)]
    pub language: Language,
    /// Input tensors by name, as safetensors; not needed by a method without inputs or for bundled cases.
    #[arg(long, value_name = "FILE")]
    pub inputs: Option<PathBuf>,
    /// Inputs that are no tensors, as a JSON object; `inputs.json` beside the inputs by default, if there is one.
    #[arg(long, value_name = "FILE")]
    pub scalars: Option<PathBuf>,
    /// The names of the inputs in the method's order, separated by commas, where the program does not hold them.
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub input_names: Vec<String>,
    /// A `.ptd` file with tensors that the program keeps outside itself; may be repeated.
    #[arg(long, value_name = "FILE")]
    pub data: Vec<PathBuf>,
    /// Where to write the outputs, as safetensors; not needed for bundled cases.
    #[arg(long, value_name = "FILE")]
    pub outputs: Option<PathBuf>,
    /// Run the cases in a bundled program and compare; the default for one without --inputs.
    #[arg(long, conflicts_with = "inputs")]
    pub bundled: bool,
    /// The part of an expected element by which a bundled case's output may differ.
    #[arg(long, default_value_t = Tolerance::default().relative)]
    pub rtol: f64,
    /// How much more than that it may differ.
    #[arg(long, default_value_t = Tolerance::default().absolute)]
    pub atol: f64,
    /// The method to run.
    #[arg(long, default_value = "forward")]
    pub method: String,
    /// For a model: the backends in order of preference, separated by commas; `portable` for none, the best of this machine by
    /// default.
    #[arg(long, value_name = "BACKENDS")]
    pub partition: Option<String>,
    /// The most threads that backends use, 1 to 256; the physical cores by default, at most 16.
    #[arg(long, value_name = "N", value_parser = et_module::parse_threads)]
    pub threads: Option<usize>,
}

/// What `run` asks a language model for.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Language models")]
pub struct Language {
    /// The text to continue; with --chat, the one message to answer.
    #[arg(long, value_name = "TEXT", conflicts_with = "tokens_in")]
    pub prompt: Option<String>,
    /// Hold a conversation: a line of the standard input is a message.
    #[arg(long, conflicts_with = "tokens_in")]
    pub chat: bool,
    /// What a conversation begins with.
    #[arg(long, value_name = "TEXT", requires = "chat")]
    pub system: Option<String>,
    /// Tokens to continue: numbers with blanks between them.
    #[arg(long, value_name = "FILE")]
    pub tokens_in: Option<PathBuf>,
    /// The most new tokens; 256 by default, as many as there is room for in a conversation.
    #[arg(long, value_name = "N")]
    pub max_new_tokens: Option<usize>,
    /// What logits are divided by; 0 for the most probable token each time; what the model's makers say by default.
    #[arg(long, value_name = "T")]
    pub temperature: Option<f32>,
    /// Pick among so many of the most probable tokens; 0 for all.
    #[arg(long, value_name = "N")]
    pub top_k: Option<usize>,
    /// Pick among the most probable tokens that make up this share.
    #[arg(long, value_name = "P")]
    pub top_p: Option<f32>,
    /// Pick among tokens with at least this share of the largest probability.
    #[arg(long, value_name = "P")]
    pub min_p: Option<f32>,
    /// The divisor of positive logits, and the factor of negative logits, of tokens that the text has; 1 for no penalty.
    #[arg(long, value_name = "P")]
    pub repetition_penalty: Option<f32>,
    /// The length of token sequences that never come twice; 0 for any repetition.
    #[arg(long, value_name = "N")]
    pub no_repeat_ngram_size: Option<usize>,
    /// The seed of the random numbers.
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Guess tokens from what followed the last ones before: faster where the text repeats itself, and never another text. The
    /// program needs a method `verify` (`export.speculate`), which the folder of a checkpoint gets.
    #[arg(long, conflicts_with_all = ["draft_model", "perplexity"])]
    pub lookup: bool,
    /// Let the model of a program file guess tokens, a smaller one with the same tokens.
    #[arg(long, value_name = "FILE", conflicts_with = "perplexity")]
    pub draft_model: Option<PathBuf>,
    /// Where to write the new tokens.
    #[arg(long, value_name = "FILE")]
    pub tokens_out: Option<PathBuf>,
    /// Where to write the logits, as safetensors: a row for each token that is read, one after the other.
    #[arg(long, value_name = "FILE")]
    pub logits: Option<PathBuf>,
    /// Print how well a text file is foreseen, each line a text, as one JSON object.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["prompt", "chat", "tokens_in"])]
    pub perplexity: Option<PathBuf>,
    /// Say how long it took, and how much memory.
    #[arg(long)]
    pub stats: bool,
}

/// Arguments of `explain`.
#[derive(Args, Clone, Debug)]
pub struct Explain {
    /// A recipe, a model, or a diagnostic code such as `ETB0107`.
    #[arg(value_name = "RECIPE|CODE")]
    pub subject: PathBuf,
    /// Only this stage.
    pub stage: Option<String>,
    /// Show the operators that the program calls, the kernels that serve them, and what is missing.
    #[arg(long, conflicts_with = "stage")]
    pub operators: bool,
    /// Show where every node of the program runs, and why not elsewhere; with `--partition=BACKENDS` for these backends.
    #[arg(long, value_name = "BACKENDS", num_args = 0..=1, require_equals = true, conflicts_with_all = ["stage", "operators"])]
    pub partition: Option<Option<String>>,
    /// Show what quantization loses, layer by layer on the calibration data, the worst first.
    #[arg(long, conflicts_with_all = ["stage", "operators", "partition"])]
    pub quantization: bool,
    /// Propose layers to keep real so that no more is lost: `40dB` for the outputs' ratio of signal to noise, `0.5pt` for points
    /// of accuracy.
    #[arg(long, value_name = "LOSS", requires = "quantization")]
    pub search: Option<String>,
}

/// Arguments of `watch`.
#[derive(Args, Clone, Debug)]
pub struct Watch {
    /// What to deploy.
    #[command(flatten)]
    pub recipes: Recipes,
    /// End after this many deploys.
    #[arg(long, value_name = "N")]
    pub deploys: Option<u64>,
}

/// Arguments of `lock`.
#[derive(Args, Clone, Debug)]
pub struct Lock {
    /// What to lock.
    #[command(flatten)]
    pub recipes: Recipes,
    /// Accept what differs from the lock file.
    #[arg(long)]
    pub update: bool,
}

/// Arguments of `matrix`.
#[derive(Args, Clone, Debug)]
pub struct Matrix {
    /// What to list.
    #[command(flatten)]
    pub recipes: Recipes,
    /// The form of the list.
    #[arg(long, value_enum, default_value_t)]
    pub format: MatrixFormat,
    /// Only units of which a deploy would run a stage.
    #[arg(long)]
    pub only_stale: bool,
    /// Only units of which a file has changed since this revision branched off, uncommitted changes included.
    #[arg(long, value_name = "REV")]
    pub changed_since: Option<String>,
    /// Only the i-th of n equal parts, the first being 1.
    #[arg(long, value_name = "I/N")]
    pub shard: Option<String>,
}

/// The form of a list of units.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum MatrixFormat {
    /// A table; with `--output json` the same as `json`.
    #[default]
    Table,
    /// One line for `strategy.matrix` of a GitHub Actions job.
    Github,
    /// A child pipeline of GitLab CI, with a job for each unit.
    Gitlab,
    /// One JSON object.
    Json,
}

/// Arguments of `inspect`.
#[derive(Args, Clone, Debug)]
pub struct Inspect {
    /// A `.pte` program file, a `.bpte` bundled program, a `.ptd` data file, or a `.pt2` model for the program file that it
    /// becomes.
    pub file: PathBuf,
    /// Another one: print in what it differs.
    pub other: Option<PathBuf>,
}

/// Arguments of `verify`.
#[derive(Args, Clone, Debug)]
pub struct Verify {
    /// What to verify.
    #[command(flatten)]
    pub recipes: Recipes,
    /// Build everything again, apart from the cache, and compare the bytes.
    #[arg(long)]
    pub rebuild: bool,
    /// Write what came of each unit into this file, as JUnit does.
    #[arg(long, value_name = "FILE")]
    pub junit: Option<PathBuf>,
}

/// What `report` does.
#[derive(Clone, Debug, Args)]
pub struct Report {
    /// What to deploy.
    #[command(flatten)]
    pub recipes: Recipes,
    /// Measure how long each layer takes on this machine.
    #[arg(long)]
    pub latency: bool,
}

/// Commands on the cache.
#[derive(Clone, Debug, Subcommand)]
pub enum Cache {
    /// Count what is stored, and show what is kept for whom.
    Stat,
    /// Remove what has not been used for long, or until a size is reached. What was deployed stays for as long as its results lie in
    /// their folder.
    Gc {
        /// Keep at most this much, such as `10 GiB`.
        #[arg(long, value_name = "SIZE")]
        max_size: Option<String>,
        /// Remove what was not used for this many days.
        #[arg(long, value_name = "DAYS")]
        max_age: Option<u64>,
        /// Remove also what is kept for results that are there.
        #[arg(long)]
        no_roots: bool,
        /// Remove also what compilers have left, which only saves time.
        #[arg(long)]
        scratch: bool,
    },
    /// Hash everything and repair what is damaged.
    Verify,
    /// Remove everything.
    Clear,
}

/// Commands on targets.
#[derive(Clone, Debug, Subcommand)]
pub enum Targets {
    /// List all targets.
    List,
    /// Show the facts of one.
    Show {
        /// Its name, or a YAML file.
        name: String,
    },
}

/// Arguments of `schema`.
#[derive(Args, Clone, Debug)]
pub struct Schema {
    /// Of what.
    #[arg(value_enum)]
    pub of: SchemaOf,
}

/// What has a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SchemaOf {
    /// Recipe files.
    Recipe,
    /// Target files.
    Target,
}

/// Arguments of `init`.
#[derive(Args, Clone, Debug)]
pub struct Init {
    /// The model to deploy, a `.pt2` archive.
    pub model: PathBuf,
    /// The recipe file to write; `NAME.yaml` by default.
    #[arg(long, value_name = "FILE")]
    pub recipe: Option<PathBuf>,
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
