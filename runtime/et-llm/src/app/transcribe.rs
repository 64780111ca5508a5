//! Transcripts of recordings.

use std::fs;
use std::io::Write;

use et_module::preprocess::Media;

use super::Request;
use super::cases;
use super::channels::Channels;
use super::continuation::sampling;
use super::files::{Rows, failed, of_file, write_tokens};
use super::form::prompt_text;
use crate::statistics::Clock;
use crate::{Error, Heard, Segment, Session, SpokenWord, Transcriber, Wanted};

/// Transcribes the recordings of a request, one after the other.
///
/// # Errors
/// [`Error::NoSound`] for a request without recordings; options of other models; errors of the transcriber.
pub fn transcribe(
    session: &mut Session,
    transcriber: &mut dyn Transcriber,
    request: &Request,
    channels: &mut Channels<'_>,
) -> Result<(), Error> {
    check(request)?;
    let wanted = Wanted {
        language: request.language.clone(),
        task: request.task.unwrap_or_default(),
        timestamps: request.timestamps || request.word_timestamps,
        words: request.word_timestamps,
        prompt: prompt_text(request, channels)?,
        sampling: sampling(session, request)?,
        most: request.max_new_tokens,
    };
    if request.stream {
        return follow(session, transcriber, request, &wanted, channels);
    }
    let text = session.text()?;
    let (mut tokens, mut rows) = (Vec::new(), Rows::default());
    for path in &request.sounds {
        let sound = fs::read(path).map_err(|error| failed(path, &error))?;
        let (mut clock, mut has_text) = (Clock::start(), false);
        let mut see = |heard: Heard<'_>| match heard {
            Heard::Token(_, logits) => {
                clock.token();
                if request.logits.is_some() {
                    rows.push(logits);
                }
                Ok(())
            }
            Heard::Text(piece) => {
                has_text = true;
                show(piece, channels.out)
            }
            Heard::Segment(segment) if wanted.timestamps => show(&lines(segment, request), channels.out),
            Heard::Segment(segment) if !has_text => show(&segment.text, channels.out),
            Heard::Segment(_) => Ok(()),
        };
        let made = transcriber.transcribe(&mut session.model, &*text, Media::File(&sound), &wanted, &mut see);
        let transcript = made.map_err(|error| of_file(path, error))?;
        if !wanted.timestamps {
            writeln!(channels.out)?;
        }
        tokens.extend(transcript.segments.into_iter().flat_map(|segment| segment.tokens));
        if request.stats {
            writeln!(channels.talk, "{}", clock.statistics(session.load_ms, 0))?;
        }
    }
    if let Some(path) = &request.tokens_out {
        write_tokens(path, &tokens)?;
    }
    request.logits.as_ref().map_or(Ok(()), |path| cases::write_tensor(path, "logits", rows.into_array()))
}

/// Transcribes the standard input as sound comes.
fn follow(
    session: &mut Session,
    transcriber: &mut dyn Transcriber,
    request: &Request,
    wanted: &Wanted,
    channels: &mut Channels<'_>,
) -> Result<(), Error> {
    let Channels { input, out, talk } = channels;
    let (text, mut clock) = (session.text()?, Clock::start());
    let mut see = |heard: Heard<'_>| match heard {
        Heard::Segment(segment) => {
            segment.tokens.iter().for_each(|_| clock.token());
            show(&if wanted.timestamps { lines(segment, request) } else { segment.text.clone() }, *out)
        }
        Heard::Token(..) | Heard::Text(_) => Ok(()),
    };
    let transcript = transcriber.follow(&mut session.model, &*text, *input, wanted, &mut see)?;
    if !wanted.timestamps {
        writeln!(out)?;
    }
    if request.stats {
        writeln!(talk, "{}", clock.statistics(session.load_ms, 0))?;
    }
    let tokens: Vec<u32> = transcript.segments.into_iter().flat_map(|segment| segment.tokens).collect();
    request.tokens_out.as_ref().map_or(Ok(()), |path| write_tokens(path, &tokens))
}

/// Writes at once.
fn show(text: &str, out: &mut dyn Write) -> Result<(), Error> {
    out.write_all(text.as_bytes())?;
    Ok(out.flush()?)
}

/// A line for the segment, or for each word.
fn lines(segment: &Segment, request: &Request) -> String {
    let word = |word: &SpokenWord| line(word.start, word.end, &word.text);
    match request.word_timestamps {
        true => segment.words.iter().map(word).collect(),
        false => line(segment.start, segment.end, &segment.text),
    }
}

/// A text with the times, as Whisper's own command prints segments.
fn line(start: f64, end: f64, text: &str) -> String {
    let time = |seconds: f64| {
        let milliseconds = (seconds * 1e3).round() as u64;
        let (minutes, rest) = (milliseconds / 60_000, milliseconds % 60_000);
        format!("{minutes:02}:{:02}.{:03}", rest / 1000, rest % 1000)
    };
    format!("[{} --> {}] {}\n", time(start), time(end), text.trim())
}

/// Refuses options of other models.
fn check(request: &Request) -> Result<(), Error> {
    let options = [
        ("--chat", request.chat),
        ("--image", !request.images.is_empty()),
        ("--tokens-in", request.tokens_in.is_some()),
        ("--inputs", request.inputs.is_some()),
        ("--perplexity", request.perplexity.is_some()),
        ("--bench", request.bench.is_some()),
        ("--lookup", request.lookup),
        ("--draft-model", request.draft_model.is_some()),
        ("--session", request.session.is_some()),
        ("--n", request.count.is_some()),
        ("--logprobs", request.logprobs.is_some()),
        ("--json", request.json),
        ("--stop", !request.stops.is_empty()),
        ("--json-schema", request.json_schema.is_some()),
        ("--regex", request.regex.is_some()),
        ("--grammar", request.grammar.is_some()),
    ];
    match options.into_iter().find(|(_, is_given)| *is_given) {
        Some((name, _)) => Err(Error::NotForTranscripts(name)),
        None if request.sounds.is_empty() && !request.stream => Err(Error::NoSound),
        None => Ok(()),
    }
}

/// Refuses options of transcripts, for another model.
///
/// # Errors
/// [`Error::NoTranscripts`] for such an option.
pub fn refuse(request: &Request) -> Result<(), Error> {
    let is_asked = request.language.is_some()
        || request.task.is_some()
        || request.timestamps
        || request.word_timestamps
        || request.stream;
    if is_asked { Err(Error::NoTranscripts) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_minutes_and_milliseconds() {
        assert_eq!(line(59.9996, 61.02, " a"), "[01:00.000 --> 01:01.020] a\n");
    }
}
