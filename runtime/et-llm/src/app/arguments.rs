//! The command line as data.

use std::ffi::OsString;
use std::num::NonZero;
use std::path::PathBuf;

use et_module::app::{Command, Tracing, number, read};
use et_module::parse_threads;

use crate::{Effort, Guesses, SpokenTask};

/// A request to a language model.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Request {
    /// A text to continue or, with `chat`, to answer.
    pub prompt: Option<String>,
    /// A file with the text to continue or to answer; `-` for the standard input.
    pub prompt_file: Option<PathBuf>,
    /// The second text of a pair, for an encoder.
    pub pair: Option<String>,
    /// Whether answers are JSON objects, a line each.
    pub json: bool,
    /// The number of answers to the prompt; 1 for `None`.
    pub count: Option<NonZero<usize>>,
    /// The number of alternatives of each token that are told, with logarithms of probabilities; `None` for no logarithms.
    pub logprobs: Option<usize>,
    /// Files of pictures, for the prompt or the first message.
    pub images: Vec<PathBuf>,
    /// Files of sounds, for the prompt or the first message; the recordings of a model for transcripts.
    pub sounds: Vec<PathBuf>,
    /// The code of the language of the speech, for a transcript.
    pub language: Option<String>,
    /// The task of a transcript.
    pub task: Option<SpokenTask>,
    /// Whether segments of a transcript come with their times.
    pub timestamps: bool,
    /// Whether words of a transcript come with their times.
    pub word_timestamps: bool,
    /// Whether the recording is the standard input, transcribed as sound comes.
    pub stream: bool,
    /// A file of tokens to continue.
    pub tokens_in: Option<PathBuf>,
    /// Whether this is a conversation, which goes on with lines from the standard input if the request has no prompt.
    pub chat: bool,
    /// The system message of the conversation.
    pub system: Option<String>,
    /// Variables of the chat template, a JSON object.
    pub template_variables: Option<String>,
    /// The most new tokens.
    pub max_new_tokens: Option<usize>,
    /// As in [`crate::Sampling`]; the default of the program file for `None`.
    pub temperature: Option<f32>,
    /// The same.
    pub top_k: Option<usize>,
    /// The same.
    pub top_p: Option<f32>,
    /// The same.
    pub min_p: Option<f32>,
    /// The same.
    pub typical_p: Option<f32>,
    /// The same.
    pub repetition_penalty: Option<f32>,
    /// The same.
    pub frequency_penalty: Option<f32>,
    /// The same.
    pub presence_penalty: Option<f32>,
    /// The same.
    pub no_repeat_ngram_size: Option<usize>,
    /// Numbers that are added to the logits of tokens.
    pub logit_bias: Vec<(u32, f32)>,
    /// The texts that end an answer.
    pub stops: Vec<String>,
    /// The JSON schema of the answer: a text, or the path of a file.
    pub json_schema: Option<String>,
    /// The regular expression of the answer.
    pub regex: Option<String>,
    /// The file with the grammar of the answer.
    pub grammar: Option<PathBuf>,
    /// The seed; 0 for `None`.
    pub seed: Option<u64>,
    /// Whether tokens are guessed from the text itself.
    pub lookup: bool,
    /// The program file of a draft model.
    pub draft_model: Option<PathBuf>,
    /// The file that the text or the conversation goes on from, and is saved to.
    pub session: Option<PathBuf>,
    /// Where to write the new tokens.
    pub tokens_out: Option<PathBuf>,
    /// Where to write the logits behind every token.
    pub logits: Option<PathBuf>,
    /// A file of texts, for which only the logits behind each text are wanted.
    pub inputs: Option<PathBuf>,
    /// The file for these logits.
    pub outputs: Option<PathBuf>,
    /// A file of texts, for which only the perplexity is wanted.
    pub perplexity: Option<PathBuf>,
    /// The benchmark to run instead.
    pub bench: Option<Effort>,
    /// Whether to print times.
    pub stats: bool,
    /// The most threads; [`et_module::default_threads`] for `None`.
    pub threads: Option<usize>,
    /// Data files; the files beside the program file where the request names no file.
    pub data: Vec<PathBuf>,
    /// The data file of an adapter; the file beside the program file where the request names no adapter.
    pub adapter: Option<PathBuf>,
    /// The file for a recording of the executions.
    pub trace: Option<PathBuf>,
}

impl Request {
    /// Whether the request names an action.
    ///
    /// # Errors
    /// The missing or conflicting options.
    pub fn check(&self) -> Result<(), String> {
        if self.lookup && self.draft_model.is_some() {
            return Err("--lookup and --draft-model do not go together".to_owned());
        }
        let forms = [self.json_schema.is_some(), self.regex.is_some(), self.grammar.is_some()];
        let forms = forms.into_iter().filter(|given| *given).count();
        if forms > 1 {
            return Err("--json-schema, --regex and --grammar do not go together".to_owned());
        }
        let continues = self.inputs.is_none() && self.perplexity.is_none() && self.bench.is_none();
        if forms > 0 && !continues {
            return Err("--json-schema, --regex and --grammar are for a text to continue".to_owned());
        }
        if !self.stops.is_empty() && (!continues || self.tokens_in.is_some()) {
            return Err("--stop is for the text of a prompt".to_owned());
        }
        if self.guesses().is_some() && !continues {
            return Err("--lookup and --draft-model are for a text to continue".to_owned());
        }
        if self.session.is_some() {
            let has_pictures = !self.images.is_empty() || !self.sounds.is_empty();
            if !continues || self.logits.is_some() || has_pictures {
                return Err(
                    "--session keeps a text or a conversation, without --image, --audio and --logits".to_owned()
                );
            }
        }
        if (self.count.is_some() || self.logprobs.is_some()) && !continues {
            return Err("--n and --logprobs are for a text to continue".to_owned());
        }
        self.check_count()?;
        if self.inputs.is_some() || self.outputs.is_some() {
            let complete = self.inputs.is_some() && self.outputs.is_some();
            return if complete { Ok(()) } else { Err("--inputs and --outputs go together".to_owned()) };
        }
        if self.perplexity.is_some() {
            let alone = self.prompt.is_none()
                && self.prompt_file.is_none()
                && self.tokens_in.is_none()
                && !self.chat
                && self.bench.is_none();
            return if alone { Ok(()) } else { Err("--perplexity goes with no other text".to_owned()) };
        }
        if self.stream {
            return self.check_stream();
        }
        if !self.images.is_empty() || !self.sounds.is_empty() {
            let name = if self.images.is_empty() { "--audio" } else { "--image" };
            let is_text = self.tokens_in.is_none() && self.bench.is_none();
            return match (is_text, self.draft_model.is_some()) {
                (false, _) => Err(format!("{name} is for a prompt or a conversation")),
                (true, true) => Err(format!("{name} and --draft-model do not go together")),
                // A recording alone is for a transcript.
                (true, false) if self.images.is_empty() && !self.chat && self.is_without_text() => Ok(()),
                (true, false) => self.check_source(),
            };
        }
        self.check_source()
    }

    /// Refuses several answers beside options of one answer.
    fn check_count(&self) -> Result<(), String> {
        let is_talk = self.chat && self.is_without_text();
        let is_kept = self.session.is_some() || self.tokens_out.is_some() || self.logits.is_some();
        match self.answers() > 1 && (is_talk || is_kept) {
            true => Err("--n is for one prompt, without --session, --tokens-out and --logits".to_owned()),
            false => Ok(()),
        }
    }

    /// The number of answers.
    pub(super) fn answers(&self) -> u64 {
        self.count.map_or(1, |count| count.get() as u64)
    }

    /// Refuses `--stream` beside options that read the standard input too, or that give pictures, recordings or tokens.
    fn check_stream(&self) -> Result<(), String> {
        let reads_input = self.chat || self.prompt_file.as_deref().is_some_and(|path| path.as_os_str() == "-");
        let has_others = !self.images.is_empty() || !self.sounds.is_empty() || self.tokens_in.is_some();
        match reads_input || has_others || self.bench.is_some() || self.logits.is_some() {
            true => Err("--stream is for a transcript of the standard input, without --audio and --logits".to_owned()),
            false => Ok(()),
        }
    }

    /// Whether the request has no prompt.
    pub const fn is_without_text(&self) -> bool {
        self.prompt.is_none() && self.prompt_file.is_none()
    }

    /// Whether the request names one source of text.
    fn check_source(&self) -> Result<(), String> {
        let sources = [self.prompt.is_some(), self.prompt_file.is_some(), self.tokens_in.is_some()];
        match (sources.into_iter().filter(|given| *given).count(), self.chat) {
            (2.., _) => Err("--prompt, --prompt-file and --tokens-in do not go together".to_owned()),
            (_, true) if self.tokens_in.is_some() => Err("--chat and --tokens-in do not go together".to_owned()),
            (0, false) if self.bench.is_none() => {
                Err("--prompt, --prompt-file, --chat or --tokens-in is needed".to_owned())
            }
            _ if self.system.is_some() && !self.chat => Err("--system needs --chat".to_owned()),
            _ if self.template_variables.is_some() && !self.chat => Err("--template-variables needs --chat".to_owned()),
            _ => Ok(()),
        }
    }

    /// The draft of speculative decoding, if requested.
    pub fn guesses(&self) -> Option<Guesses> {
        let draft = self.draft_model.clone().map(Guesses::Draft);
        draft.or_else(|| self.lookup.then_some(Guesses::Lookup))
    }

    /// Sets the option `name`; false for an unknown name.
    ///
    /// # Errors
    /// The mistake in the value.
    pub fn set(&mut self, name: &str, value: &mut dyn FnMut() -> Result<OsString, String>) -> Result<bool, String> {
        let text = |value: OsString| value.to_string_lossy().into_owned();
        match name {
            "--prompt" => self.prompt = Some(text(value()?)),
            "--prompt-file" => self.prompt_file = Some(value()?.into()),
            "--image" => self.images.push(value()?.into()),
            "--audio" => self.sounds.push(value()?.into()),
            "--language" => self.language = Some(some(name, text(value()?))?),
            "--task" => self.task = Some(task(&text(value()?))?),
            "--timestamps" => self.timestamps = true,
            "--word-timestamps" => self.word_timestamps = true,
            "--stream" => self.stream = true,
            "--tokens-in" => self.tokens_in = Some(value()?.into()),
            "--chat" => self.chat = true,
            "--system" => self.system = Some(text(value()?)),
            "--template-variables" => self.template_variables = Some(text(value()?)),
            "--max-new-tokens" => self.max_new_tokens = Some(number(name, value()?)?),
            "--temperature" => self.temperature = Some(within(name, number(name, value()?)?, f32::MAX)?),
            "--top-k" => self.top_k = Some(number(name, value()?)?),
            "--top-p" => self.top_p = Some(within(name, number(name, value()?)?, 1.0)?),
            "--min-p" => self.min_p = Some(within(name, number(name, value()?)?, 1.0)?),
            "--repetition-penalty" => self.repetition_penalty = Some(within(name, number(name, value()?)?, f32::MAX)?),
            "--typical-p" => self.typical_p = Some(within(name, number(name, value()?)?, 1.0)?),
            "--frequency-penalty" => self.frequency_penalty = Some(number(name, value()?)?),
            "--presence-penalty" => self.presence_penalty = Some(number(name, value()?)?),
            "--logit-bias" => self.logit_bias.push(bias(&text(value()?))?),
            "--stop" => self.stops.push(some(name, text(value()?))?),
            "--pair" => self.pair = Some(text(value()?)),
            "--json" => self.json = true,
            "--n" => self.count = Some(number(name, value()?)?),
            "--logprobs" => self.logprobs = Some(number(name, value()?)?),
            "--json-schema" => self.json_schema = Some(text(value()?)),
            "--regex" => self.regex = Some(text(value()?)),
            "--grammar" => self.grammar = Some(value()?.into()),
            "--no-repeat-ngram-size" => self.no_repeat_ngram_size = Some(number(name, value()?)?),
            "--seed" => self.seed = Some(number(name, value()?)?),
            "--lookup" => self.lookup = true,
            "--draft-model" => self.draft_model = Some(value()?.into()),
            "--session" => self.session = Some(value()?.into()),
            "--tokens-out" => self.tokens_out = Some(value()?.into()),
            "--logits" => self.logits = Some(value()?.into()),
            "--inputs" => self.inputs = Some(value()?.into()),
            "--outputs" => self.outputs = Some(value()?.into()),
            "--perplexity" => self.perplexity = Some(value()?.into()),
            "--bench" => self.bench = Some(effort(&text(value()?), self.bench)?),
            "--rounds" => {
                let rounds: NonZero<usize> = number(name, value()?)?;
                self.bench.get_or_insert(NOTHING).rounds = rounds.get();
            }
            "--stats" => self.stats = true,
            "--threads" => self.threads = Some(parse_threads(&text(value()?))?),
            "--data" => self.data.push(value()?.into()),
            "--adapter" => self.adapter = Some(value()?.into()),
            _ => return Tracing::set(&mut self.trace, name, value),
        }
        Ok(true)
    }
}

/// Reads a command line without the binary's name. The error names the mistake.
pub(super) fn parse(arguments: impl Iterator<Item = OsString>) -> Result<Command<Request>, String> {
    let command = read(arguments, Request::set)?;
    if let Command::Run(request) = &command {
        if request.bench.is_some_and(|effort| effort.prefill == 0) {
            return Err("--rounds needs --bench".to_owned());
        }
        request.check()?;
    }
    Ok(command)
}

const NOTHING: Effort = Effort { prefill: 0, decode: 0, rounds: 3 };

/// Reads `prefill=256,decode=256`.
fn effort(text: &str, known: Option<Effort>) -> Result<Effort, String> {
    let wrong = || format!("--bench needs numbers of tokens as in prefill=256,decode=256, not {text}");
    let mut effort = known.unwrap_or(NOTHING);
    for part in text.split(',') {
        let (name, count) = part.split_once('=').ok_or_else(wrong)?;
        let count = count.parse().ok().filter(|count| *count > 0).ok_or_else(wrong)?;
        match name {
            "prefill" => effort.prefill = count,
            "decode" => effort.decode = count,
            _ => return Err(wrong()),
        }
    }
    if effort.prefill == 0 || effort.decode == 0 { Err(wrong()) } else { Ok(effort) }
}

/// Reads a token and the number that is added to the logit of the token, `TOKEN=NUMBER`.
///
/// # Errors
/// The mistake.
pub fn bias(text: &str) -> Result<(u32, f32), String> {
    let pair = text.split_once('=').and_then(|(token, bias)| Some((token.parse().ok()?, bias.parse::<f32>().ok()?)));
    let pair = pair.filter(|(_, bias)| bias.is_finite());
    pair.ok_or_else(|| format!("--logit-bias needs a token and a number as in 17=-2.5, not {text}"))
}

/// Reads the task of a transcript.
///
/// # Errors
/// Another name.
pub fn task(text: &str) -> Result<SpokenTask, String> {
    SpokenTask::of(text).ok_or_else(|| format!("--task needs transcribe or translate, not {text}"))
}

fn some(name: &str, text: String) -> Result<String, String> {
    if text.is_empty() { Err(format!("{name} needs a text that is not empty")) } else { Ok(text) }
}

fn within(name: &str, number: f32, most: f32) -> Result<f32, String> {
    if (0.0..=most).contains(&number) {
        Ok(number)
    } else {
        Err(format!("{name} needs a positive number, not {number}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Result<Command<Request>, String> {
        parse(line.split_whitespace().map(OsString::from))
    }

    #[test]
    fn a_prompt_has_options() {
        let request = Request {
            prompt: Some("Hello".to_owned()),
            max_new_tokens: Some(5),
            temperature: Some(0.5),
            seed: Some(7),
            ..Request::default()
        };
        assert_eq!(parsed("--prompt Hello --max-new-tokens 5 --temperature 0.5 --seed 7"), Ok(Command::Run(request)));
    }

    #[test]
    fn a_bench_has_rounds_before_or_behind_it() {
        let bench = Some(Effort { prefill: 256, decode: 64, rounds: 2 });
        for line in ["--bench prefill=256,decode=64 --rounds 2", "--rounds 2 --bench decode=64,prefill=256"] {
            assert_eq!(parsed(line), Ok(Command::Run(Request { bench, ..Request::default() })), "{line}");
        }
    }

    #[test]
    fn malformed_lines_are_errors() {
        let lines = [
            "",
            "--promt a",
            "--prompt",
            "--prompt a --tokens-in b",
            "--chat --tokens-in b",
            "--prompt a --system b",
            "--prompt a --template-variables {}",
            "--prompt a --prompt-file b",
            "--prompt a --typical-p 2",
            "--prompt a --logit-bias 1",
            "--prompt a --logit-bias 1=inf",
            "--prompt a --regex b --grammar c",
            "--prompt a --top-p 1.5",
            "--prompt a --min-p -0.5",
            "--prompt a --repetition-penalty -1",
            "--prompt a --temperature -1",
            "--prompt a --temperature NaN",
            "--prompt a --threads 0",
            "--prompt a --threads 99999",
            "--rounds 2",
            "--inputs a",
            "--bench prefill=1",
            "--bench prefill=0,decode=1",
            "--bench 5",
            "--perplexity a --prompt b",
            "--prompt a --lookup --draft-model b",
            "--lookup --bench prefill=1,decode=1",
            "--lookup --perplexity a",
            "--draft-model a --inputs b --outputs c",
            "--draft-model a",
            "--image a",
            "--image a --tokens-in b",
            "--image a --prompt b --draft-model c",
            "--audio a --tokens-in b",
            "--audio a --prompt b --draft-model c",
            "--audio a --task sing",
            "--stream --audio a",
            "--stream --chat",
            "--stream --prompt-file -",
            "--stream --logits a",
            "--session a --inputs b --outputs c",
            "--session a --bench prefill=1,decode=1",
            "--session a --prompt b --logits c",
            "--session a --prompt b --image c",
            "--prompt a --n 0",
            "--prompt a --n 2 --session b",
            "--prompt a --n 2 --logits b",
            "--chat --n 2",
            "--logprobs 2 --bench prefill=1,decode=1",
        ];
        for line in lines {
            assert!(parsed(line).is_err(), "{line}");
        }
    }
}
