//! Failures of a language model.

use std::fmt::{Display, Formatter};
use std::path::{Path, PathBuf};

/// A failure with the text for a user.
#[derive(Debug)]
pub enum Error {
    /// The program cannot be loaded or executed.
    Module(et_module::Error),
    /// The program is not a language model of this runtime's.
    NotALanguageModel(String),
    /// The text has more tokens than the program's context.
    ContextFull {
        /// The tokens of the text.
        tokens: usize,
        /// The context in tokens.
        context: usize,
    },
    /// A token that the model does not have.
    UnknownToken {
        /// The token.
        token: u32,
        /// The size of the vocabulary.
        vocabulary: usize,
    },
    /// The logits are not numbers, so no token is the most probable: the weights are damaged, or a kernel overflowed.
    NoLogits,
    /// An option of sampling is out of range.
    Sampling {
        /// The option.
        option: &'static str,
        /// The value that was given.
        value: f32,
        /// The values that the option takes, in words.
        range: &'static str,
    },
    /// The request has no token to continue.
    NoTokens,
    /// An encoder that needs, or does not read, a second text: the verb.
    NoPair(&'static str),
    /// An option of encoders for a language model.
    NotAnEncoder(&'static str),
    /// An option that encoders do not have.
    NotForEncoders(&'static str),
    /// Pictures for a model without a vision encoder, or for a binary that reads no pictures.
    NoVision,
    /// Sound for a model without an audio encoder, or for a binary that hears nothing.
    NoHearing,
    /// An option of transcripts for a model that makes none.
    NoTranscripts,
    /// The program has no method for the times of words.
    NoWords,
    /// No sound for a model that makes transcripts.
    NoSound,
    /// An option that models for transcripts do not have.
    NotForTranscripts(&'static str),
    /// A language that the model does not know.
    UnknownLanguage {
        /// The code of the language.
        language: String,
        /// The codes of all languages.
        known: Vec<String>,
    },
    /// A language, or translation, for a model of one language.
    OneLanguage,
    /// A recording cannot be read.
    Sound(String),
    /// A picture cannot be read.
    Picture(String),
    /// A text with another number of marks than pictures.
    Marks {
        /// The text that stands for a picture.
        mark: String,
        /// The marks of the text.
        found: usize,
        /// The pictures.
        pictures: usize,
    },
    /// Image tokens of a tile that nobody gave.
    UnknownTile,
    /// An option that models with a text encoder do not have.
    NotBehindTextEncoder(&'static str),
    /// The program has no method for reading ahead.
    NoVerify,
    /// The program has no adapter in a data file that another one could replace.
    NoAdapter,
    /// The layers or ranks of an adapter are not those of the program.
    OtherAdapter {
        /// The name of the adapter.
        name: String,
        /// The mismatch.
        problem: String,
    },
    /// A draft model cannot be used.
    Draft {
        /// The program file of the draft model.
        path: PathBuf,
        /// The failure.
        error: Box<Error>,
    },
    /// The vocabulary of a draft model is not the vocabulary of the model.
    OtherVocabulary {
        /// The vocabulary of the draft model in tokens.
        draft: usize,
        /// How many the model has.
        model: usize,
    },
    /// A draft model from whose state no token can be taken back.
    NoWayBack,
    /// The program file holds no tokenizer, or the binary reads no tokenizer.
    NoTokenizer,
    /// The program file holds no chat template.
    NoTemplate,
    /// The binary has no constrained output.
    NoConstraints,
    /// The tokens of the tokenizer are no bytes of the text, so output cannot be constrained.
    NoTokenBytes,
    /// The form of an answer cannot be used.
    Constraint {
        /// The kind: `grammar`, for example.
        kind: &'static str,
        /// The mistake, in words.
        problem: String,
    },
    /// A parameter of a conversation, such as a tool, cannot be used.
    Question {
        /// The parameter, with an index if it is a list.
        parameter: String,
        /// The mistake, in a sentence.
        problem: String,
    },
    /// The tokenizer or the chat template cannot be used.
    Text(String),
    /// A saved session that this model did not save; the field says why.
    Saved(String),
    /// A file cannot be read or written.
    File {
        /// The file.
        path: PathBuf,
        /// The failure.
        problem: String,
    },
    /// The reader of the output went away, or the input broke off.
    Stream(std::io::Error),
}

impl Error {
    /// A file that cannot be read or written.
    pub(crate) fn file(path: &Path, problem: &dyn Display) -> Self {
        Self::File { path: path.to_owned(), problem: problem.to_string() }
    }

    /// A parameter of a conversation that cannot be used.
    pub fn question(parameter: impl Into<String>, problem: impl Into<String>) -> Self {
        Self::Question { parameter: parameter.into(), problem: problem.into() }
    }
}

impl From<et_module::Error> for Error {
    fn from(error: et_module::Error) -> Self {
        Self::Module(error)
    }
}

impl From<et_core::Error> for Error {
    fn from(error: et_core::Error) -> Self {
        Self::Module(error.into())
    }
}

impl From<std::io::Error> for Error {
    fn from(error: std::io::Error) -> Self {
        Self::Stream(error)
    }
}

impl Display for Error {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Module(error) => error.fmt(formatter),
            Self::NotALanguageModel(reason) => write!(formatter, "the program is no language model: {reason}"),
            Self::ContextFull { tokens, context } => {
                write!(
                    formatter,
                    "{tokens} tokens are more than the context of {context} that the program was built for"
                )
            }
            Self::UnknownToken { token, vocabulary } => {
                write!(formatter, "there is no token {token}: the model has {vocabulary}")
            }
            Self::NoLogits => {
                formatter.write_str("the model's logits are not numbers (NaN); its weights may be damaged")
            }
            Self::Sampling { option, value, range } => write!(formatter, "{option} is {value}, but must be {range}"),
            Self::NoTokens => formatter.write_str("there is no token to continue"),
            Self::NoPair(verb) => write!(formatter, "the encoder {verb} a second text"),
            Self::NotAnEncoder(option) => write!(formatter, "{option} is for encoders, and the model is a language model"),
            Self::NotForEncoders(option) => write!(formatter, "the model is an encoder, which has no {option}"),
            Self::NoVision => formatter.write_str(
                "the model reads no pictures: the program has no vision encoder, or the binary was built without one",
            ),
            Self::NoHearing => formatter.write_str(
                "the model does not hear: the program has no audio encoder, or the binary was built without one",
            ),
            Self::NoTranscripts => formatter.write_str("the model makes no transcripts"),
            Self::NoWords => formatter.write_str(
                "the program has no method `align` for the times of words: build the program with `export.word_timestamps`",
            ),
            Self::NoSound => formatter.write_str("the model makes transcripts, and there is no sound"),
            Self::NotForTranscripts(option) => write!(formatter, "the model makes transcripts, and has no {option}"),
            Self::UnknownLanguage { language, known } => {
                write!(formatter, "the model does not know the language `{language}`; known are {}", known.join(", "))
            }
            Self::OneLanguage => formatter.write_str("the model knows one language, and does not translate"),
            Self::Sound(problem) => write!(formatter, "the sound: {problem}"),
            Self::Picture(problem) => write!(formatter, "the picture: {problem}"),
            Self::Marks { mark, found, pictures } => {
                write!(formatter, "the text has `{mark}` {found} times, for {pictures} pictures or sounds")
            }
            Self::UnknownTile => formatter.write_str("the text has image tokens of no given picture"),
            Self::NotBehindTextEncoder(option) => {
                write!(formatter, "a text encoder reads the prompts of the model, which has no {option}")
            }
            Self::NoAdapter => formatter.write_str(
                "the program has no adapter in a data file: build the program with `adapter` and `export.weights: external`",
            ),
            Self::OtherAdapter { name, problem } => write!(formatter, "the adapter `{name}`: {problem}"),
            Self::NoVerify => formatter.write_str(
                "the program has no method `verify` for speculative decoding: build the program with `export.speculate`",
            ),
            Self::Draft { path, error } => write!(formatter, "the draft model `{}`: {error}", path.display()),
            Self::OtherVocabulary { draft, model } => {
                write!(formatter, "it has {draft} tokens, the model that it would guess for {model}")
            }
            Self::NoWayBack => formatter.write_str(
                "it keeps a state of all tokens, from which rejected draft tokens cannot be taken back; give a draft model of attention alone",
            ),
            Self::NoTokenizer => formatter.write_str("the program holds no tokenizer; give tokens with --tokens-in"),
            Self::NoTemplate => formatter.write_str(
                "the program holds no chat template, because the checkpoint has none: add `chat_template.jinja` to the folder, or use --prompt without --chat",
            ),
            Self::NoConstraints => formatter.write_str(
                "the binary has no constrained output: deploy the model with `constrain: true` or `server: true`",
            ),
            Self::NoTokenBytes => formatter.write_str(
                "output of this model cannot be constrained: the tokens of its tokenizer are no bytes of the text",
            ),
            Self::Constraint { kind, problem } => write!(formatter, "the {kind}: {problem}"),
            Self::Question { problem, .. } | Self::Text(problem) | Self::Saved(problem) => formatter.write_str(problem),
            Self::File { path, problem } => write!(formatter, "{}: {problem}", path.display()),
            Self::Stream(error) => error.fmt(formatter),
        }
    }
}

impl std::error::Error for Error {}
