//! `etbuild run` on a language model: a prompt, a conversation or tokens in, text or tokens out.

use std::io::{self, Write};
use std::time::Instant;

use et_llm::app::{Channels, Request, perform};
use et_llm::{Error, Loading, Session as Model};
use et_module::{DataFiles, Kernels};
use etbuild_diagnostic::{Code, Diagnostic};

use super::Outcome;
use super::run::{failed, kernel, program};
use crate::arguments::{self, Language, Output};
use crate::engines::ENGINES;
use crate::session::Session;

/// Whether arguments are about a language model.
pub const fn is_asked(language: &Language) -> bool {
    language.prompt.is_some() || language.chat || language.tokens_in.is_some() || language.perplexity.is_some()
}

pub fn run(session: &Session, arguments: &arguments::Run) -> Outcome {
    let request = request(&arguments.language);
    let bytes = program(session, arguments)?;
    let threads = arguments.threads.get();
    let loading = Loading { kernels: Kernels::Lookup(&kernel), engines: ENGINES, threads, text: Some(et_text::make) };
    let refused = |error: Error| vec![refusal(arguments, &error)];
    let data = || DataFiles::open(&arguments.data);
    let mut model = Model::load(bytes, data, &loading, Instant::now()).map_err(refused)?;
    let (mut input, mut talk) = (io::stdin().lock(), io::stderr());
    // Where results are for machines, text is talk.
    let mut out: Box<dyn Write> =
        if session.global.output == Output::Human { Box::new(io::stdout().lock()) } else { Box::new(io::stderr()) };
    let channels = &mut Channels { input: &mut input, out: &mut *out, talk: &mut talk };
    perform(&mut model, &request, channels).map_err(refused)?;
    Ok(Vec::new())
}

fn request(language: &Language) -> Request {
    let language = language.clone();
    Request {
        prompt: language.prompt,
        tokens_in: language.tokens_in,
        chat: language.chat,
        system: language.system,
        max_new_tokens: language.max_new_tokens,
        temperature: language.temperature,
        top_k: language.top_k,
        top_p: language.top_p,
        seed: language.seed,
        tokens_out: language.tokens_out,
        logits: language.logits,
        perplexity: language.perplexity,
        stats: language.stats,
        ..Request::default()
    }
}

fn refusal(arguments: &arguments::Run, error: &Error) -> Diagnostic {
    if let Error::Module(error) = error {
        return failed(&arguments.file, error);
    }
    let code = match error {
        Error::ContextFull { .. } | Error::UnknownToken { .. } | Error::NoTokens => Code::InputsMismatch,
        Error::NotALanguageModel(_) | Error::NoTokenizer | Error::NoTemplate => Code::Usage,
        _ => Code::RunFailed,
    };
    let diagnostic = Diagnostic::error(code, format!("`{}`: {error}", arguments.file.display()));
    match error {
        Error::ContextFull { .. } => diagnostic.help("raise `export.context`: `--set export.context=N`"),
        _ => diagnostic,
    }
}
