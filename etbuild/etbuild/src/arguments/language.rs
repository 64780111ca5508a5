//! The options of `etbuild run` for language models and pipelines.

use std::num::NonZero;
use std::path::PathBuf;

use clap::Args;

use super::speech::Speech;

/// Options of language models.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Language models")]
pub struct Language {
    /// Prompt to continue; with --chat, a single message to answer; for a pipeline, the text of a picture
    #[arg(long, value_name = "TEXT", conflicts_with = "tokens_in")]
    pub prompt: Option<String>,
    /// Read the prompt from this file, or from standard input with `-`
    #[arg(long, value_name = "FILE", conflicts_with_all = ["prompt", "tokens_in"])]
    pub prompt_file: Option<PathBuf>,
    /// Second text of a pair, for an encoder such as a reranker
    #[arg(long, value_name = "TEXT", conflicts_with = "tokens_in")]
    pub pair: Option<String>,
    /// Picture for the prompt or the first message, PNG or JPEG; repeatable. In a conversation, `/image FILE` adds one to the next message
    #[arg(long, value_name = "FILE", conflicts_with = "tokens_in")]
    pub image: Vec<PathBuf>,
    /// Options of models that hear.
    #[command(flatten)]
    pub speech: Speech,
    /// Start a conversation: each line of standard input is a message
    #[arg(long, conflicts_with = "tokens_in")]
    pub chat: bool,
    /// System prompt of a conversation
    #[arg(long, value_name = "TEXT", requires = "chat")]
    pub system: Option<String>,
    /// Variables of the chat template, a JSON object such as {"enable_thinking": false}
    #[arg(long, value_name = "JSON", requires = "chat")]
    pub template_variables: Option<String>,
    /// Continue the token ids in this file, separated by white space
    #[arg(long, value_name = "FILE")]
    pub tokens_in: Option<PathBuf>,
    /// Maximum number of new tokens; defaults to 256, in a conversation to the rest of the context
    #[arg(long, value_name = "N")]
    pub max_new_tokens: Option<usize>,
    /// Sampling temperature, 0 for greedy decoding; defaults to the model's configuration
    #[arg(long, value_name = "T", allow_negative_numbers = true)]
    pub temperature: Option<f32>,
    /// Sample from the N most probable tokens; 0 for all tokens. For a classifier: print the N most probable classes; 5 with
    /// labels and without --outputs
    #[arg(long, value_name = "N")]
    pub top_k: Option<usize>,
    /// Sample from the most probable tokens with this total probability (nucleus sampling)
    #[arg(long, value_name = "P", allow_negative_numbers = true)]
    pub top_p: Option<f32>,
    /// Sample from tokens with at least this fraction of the largest probability
    #[arg(long, value_name = "P", allow_negative_numbers = true)]
    pub min_p: Option<f32>,
    /// Sample from the tokens nearest to the entropy with this total probability (typical sampling)
    #[arg(long, value_name = "P", allow_negative_numbers = true)]
    pub typical_p: Option<f32>,
    /// Repetition penalty of tokens in the text; 1 for no penalty
    #[arg(long, value_name = "P", allow_negative_numbers = true)]
    pub repetition_penalty: Option<f32>,
    /// Penalty of tokens in the answer for each occurrence, -2 to 2; 0 for no penalty
    #[arg(long, value_name = "P", allow_negative_numbers = true)]
    pub frequency_penalty: Option<f32>,
    /// Penalty of tokens in the answer, -2 to 2; 0 for no penalty
    #[arg(long, value_name = "P", allow_negative_numbers = true)]
    pub presence_penalty: Option<f32>,
    /// Add a number to the logit of a token; repeatable
    #[arg(long, value_name = "TOKEN=NUMBER", value_parser = et_llm::app::bias)]
    pub logit_bias: Vec<(u32, f32)>,
    /// End the answer before this text; repeatable
    #[arg(long, value_name = "TEXT")]
    pub stop: Vec<String>,
    /// Constrain the answer to a JSON text of this JSON schema: a text that begins with `{`, or a file
    #[arg(long, value_name = "TEXT|FILE", conflicts_with_all = ["regex", "grammar"])]
    pub json_schema: Option<String>,
    /// Constrain the answer to a match of this regular expression
    #[arg(long, value_name = "REGEX", conflicts_with = "grammar")]
    pub regex: Option<String>,
    /// Constrain the answer to a text of the grammar in this file, in Lark's syntax
    #[arg(long, value_name = "FILE")]
    pub grammar: Option<PathBuf>,
    /// Forbid repeated token sequences of this length; 0 to allow repetition
    #[arg(long, value_name = "N")]
    pub no_repeat_ngram_size: Option<usize>,
    /// Seed of the random number generator
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Make this number of answers to one prompt, each with a seed of its own; the prompt is read once
    #[arg(long, value_name = "N", conflicts_with_all = ["perplexity", "session", "tokens_out", "logits"])]
    pub n: Option<NonZero<usize>>,
    /// Print the log-probability of each token and of the K most probable ones, at temperature 1, on standard error as a JSON object for each
    /// token; with --output json, in the result
    #[arg(long, value_name = "K", conflicts_with = "perplexity")]
    pub logprobs: Option<usize>,
    /// Use speculative decoding with drafts from the text itself (prompt lookup)
    ///
    /// Faster for repetitive text; the output never changes. The program needs a method `verify` (`export.speculate`),
    /// which a checkpoint folder gets automatically.
    #[arg(long, conflicts_with_all = ["draft_model", "perplexity"])]
    pub lookup: bool,
    /// Use speculative decoding with this smaller model as draft; both need the same tokenizer
    #[arg(long, value_name = "FILE", conflicts_with = "perplexity")]
    pub draft_model: Option<PathBuf>,
    /// Go on with the text or the conversation in this file, and save it there; what the file has is not read again
    #[arg(long, value_name = "FILE", conflicts_with_all = ["perplexity", "logits", "image"])]
    pub session: Option<PathBuf>,
    /// Write the new tokens to this file
    #[arg(long, value_name = "FILE")]
    pub tokens_out: Option<PathBuf>,
    /// Write the logits to this safetensors file, a row per token
    #[arg(long, value_name = "FILE")]
    pub logits: Option<PathBuf>,
    /// Print the perplexity of a text file, each line a text, as a JSON object
    #[arg(long, value_name = "FILE", conflicts_with_all = ["prompt", "chat", "tokens_in"])]
    pub perplexity: Option<PathBuf>,
    /// Print the time per stage and the peak memory
    #[arg(long)]
    pub stats: bool,
}

/// Options of pipelines that make pictures.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Pictures")]
pub struct Pictures {
    /// Text of what is not in the picture
    #[arg(long, value_name = "TEXT", requires = "prompt")]
    pub negative: Option<String>,
    /// Number of steps; defaults to the recipe's
    #[arg(long, value_name = "N", requires = "prompt")]
    pub steps: Option<usize>,
    /// How closely the picture follows the prompt, 1 or less for no negative prompt; defaults to the recipe's
    #[arg(long, value_name = "G", requires = "prompt")]
    pub guidance: Option<f32>,
}
