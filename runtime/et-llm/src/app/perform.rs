//! Executes requests.

use super::Request;
use super::cases;
use super::channels::Channels;
use super::chat;
use super::continuation::{Run, sampling};
use super::files::line;
use super::perplexity;
use super::prompt::Source;
use super::transcribe;
use crate::{AnswerSpec, Error, Measurement, Sampling, Session, measure};

/// New tokens where nobody says how many.
const NEW_TOKENS: usize = 256;

/// Executes a request.
///
/// # Errors
/// The first failure of the request.
pub fn perform(session: &mut Session, request: &Request, channels: &mut Channels<'_>) -> Result<(), Error> {
    if let Some(mut transcriber) = session.transcriber.take() {
        let done = transcribe::transcribe(session, &mut *transcriber, request, channels);
        session.transcriber = Some(transcriber);
        return done;
    }
    transcribe::refuse(request)?;
    if let (Some(inputs), Some(outputs)) = (&request.inputs, &request.outputs) {
        return cases::run(&mut session.model, inputs, outputs);
    }
    if let Some(file) = &request.perplexity {
        return perplexity::run(session, file, channels);
    }
    if request.bench.is_some() {
        return bench(session, request, channels);
    }
    if let Some(note) = unused_sampling(request, sampling(session, request)?) {
        writeln!(channels.talk, "{note}")?;
    }
    let source = Source::of(session, request, channels)?;
    let file = request.session.as_deref();
    if file.is_some() {
        session.check_saved("--session")?;
    }
    let earlier = file.filter(|file| file.exists()).map(|file| session.restore(file)).transpose()?.unwrap_or_default();
    if let Source::Conversation(first) = source {
        let messages = chat::converse(session, request, earlier, first, channels)?;
        return file.map_or(Ok(()), |file| session.save(file, &messages));
    }
    let prompt = source.prompt(session)?;
    session.model.show(&prompt.tiles);
    let most = request.max_new_tokens.unwrap_or(NEW_TOKENS);
    let text = if request.tokens_in.is_none() { Some(session.text()?) } else { None };
    let start = session.model.open(prompt.tokens)?;
    let mut run = Run::new(session, request)?;
    let answers = run.answers(&start, most, text.as_deref(), &AnswerSpec::default(), channels)?;
    if request.tokens_in.is_some() && request.tokens_out.is_none() && !request.json {
        let lines: String = answers.iter().map(|said| line(&said.tokens)).collect();
        channels.out.write_all(lines.as_bytes())?;
    }
    run.finish(&answers.into_iter().flat_map(|said| said.tokens).collect::<Vec<u32>>())?;
    file.map_or(Ok(()), |file| session.save(file, &[]))
}

fn bench(session: &mut Session, request: &Request, channels: &mut Channels<'_>) -> Result<(), Error> {
    let Some(effort) = request.bench else { return Ok(()) };
    // Any tokens take the same time.
    let is_given = request.tokens_in.is_some() || request.prompt.is_some() || request.prompt_file.is_some();
    let prompt = if is_given { Source::of(session, request, channels)?.prompt(session)?.tokens } else { vec![1] };
    if prompt.is_empty() {
        return Err(Error::NoTokens);
    }
    let prompt = session.model.open(prompt)?;
    let sampling = sampling(session, request)?;
    let into = Measurement { load_ms: session.load_ms, threads: session.threads, ..Measurement::default() };
    let measured = measure(&mut session.model, &prompt, sampling, effort, into)?;
    Ok(writeln!(channels.out, "{measured}")?)
}

/// A note on options of sampling that change nothing, because the temperature is 0.
fn unused_sampling(request: &Request, sampling: Sampling) -> Option<String> {
    let options = [
        ("--top-k", request.top_k.is_some()),
        ("--top-p", request.top_p.is_some()),
        ("--min-p", request.min_p.is_some()),
        ("--typical-p", request.typical_p.is_some()),
        ("--seed", request.seed.is_some()),
    ];
    let given: Vec<&str> = options.iter().filter(|(_, given)| *given).map(|(name, _)| *name).collect();
    let verb = if given.len() == 1 { "changes" } else { "change" };
    (sampling.temperature <= 0.0 && !given.is_empty()).then(|| {
        let names = given.join(", ");
        format!(
            "note: {names} {verb} nothing at temperature 0, which takes the most probable token; give --temperature"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_without_effect_are_told() {
        let request = Request { top_k: Some(5), seed: Some(1), ..Request::default() };
        let note = unused_sampling(&request, Sampling::default()).unwrap();
        assert!(note.contains("--top-k, --seed change nothing at temperature 0"), "{note}");
        assert_eq!(unused_sampling(&request, Sampling { temperature: 0.5, ..Sampling::default() }), None);
        assert_eq!(unused_sampling(&Request::default(), Sampling::default()), None);
    }
}
