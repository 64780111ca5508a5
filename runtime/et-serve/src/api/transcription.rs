//! Transcripts: `/v1/audio/transcriptions` and `/v1/audio/translations` of OpenAI.

use std::fmt::Write;

use et_llm::{Sampling, Segment, SpokenTask, SpokenWord, Transcript, Wanted};
use serde_json::{Value, json};

use crate::error::ApiError;
use crate::request::Parameters;

/// What a request asks for.
pub struct Speech {
    /// The transcript.
    pub wanted: Wanted,
    /// The form of the answer.
    pub form: AnswerForm,
    /// Whether the text comes as it is heard.
    pub is_stream: bool,
}

/// The form of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnswerForm {
    /// An object with the text.
    Json,
    /// The text.
    Text,
    /// An object with the segments.
    Verbose,
    /// Subtitles in SubRip's format.
    Srt,
    /// Subtitles in the format of the web.
    Vtt,
}

const FORMS: [(&str, AnswerForm); 5] = [
    ("json", AnswerForm::Json),
    ("text", AnswerForm::Text),
    ("verbose_json", AnswerForm::Verbose),
    ("srt", AnswerForm::Srt),
    ("vtt", AnswerForm::Vtt),
];

/// The parameter with the pieces of a transcript that have times.
pub const PIECES: &str = "timestamp_granularities[]";

/// Takes the parameters of a request, which are texts in a form.
///
/// # Errors
/// A mistake in a parameter.
pub fn take_speech(parameters: &mut Parameters, usual: Sampling, is_translation: bool) -> Result<Speech, ApiError> {
    const FORM: &str = "response_format";
    let name = parameters.take::<String>(FORM)?.unwrap_or_else(|| "json".to_owned());
    let form = FORMS.iter().find(|(known, _)| *known == name).map(|(_, form)| *form);
    let form = form.ok_or_else(|| {
        let known = FORMS.map(|(name, _)| name).join(", ");
        ApiError::parameter(FORM, format!("`{FORM}` is `{name}`, but may be {known}"))
    })?;
    let pieces = parameters.take::<String>(PIECES)?.unwrap_or_default();
    let has = |wanted: &str| pieces.split(',').any(|piece| piece == wanted);
    if let Some(piece) = pieces.split(',').find(|piece| !["", "segment", "word"].contains(piece)) {
        return Err(ApiError::parameter(PIECES, format!("`{PIECES}` is `{piece}`, but may be segment or word")));
    }
    if has("word") && form != AnswerForm::Verbose {
        return Err(ApiError::parameter(PIECES, format!("`{PIECES}` is `word`, and `{FORM}` not `verbose_json`")));
    }
    let is_stream = take_stream(parameters, form)?;
    let temperature = parameters.take::<String>("temperature")?.map(|text| {
        let wrong = || ApiError::parameter("temperature", format!("`temperature` is `{text}`, which is no number"));
        text.parse::<f32>().map_err(|_| wrong())
    });
    let sampling =
        Sampling { temperature: temperature.transpose()?.unwrap_or(usual.temperature), ..usual }.checked()?;
    let wanted = Wanted {
        language: parameters.take::<String>("language")?.filter(|code| !code.is_empty()),
        task: if is_translation { SpokenTask::Translate } else { SpokenTask::Transcribe },
        timestamps: matches!(form, AnswerForm::Verbose | AnswerForm::Srt | AnswerForm::Vtt),
        words: has("word"),
        prompt: parameters.take::<String>("prompt")?.filter(|prompt| !prompt.trim().is_empty()),
        sampling,
        most: None,
    };
    Ok(Speech { wanted, form, is_stream })
}

/// Takes whether the text comes as it is heard.
fn take_stream(parameters: &mut Parameters, form: AnswerForm) -> Result<bool, ApiError> {
    const STREAM: &str = "stream";
    let wrong = |reason: String| ApiError::parameter(STREAM, reason);
    match parameters.take::<String>(STREAM)?.as_deref() {
        None | Some("false") => Ok(false),
        Some("true") if matches!(form, AnswerForm::Json | AnswerForm::Text) => Ok(true),
        Some("true") => Err(wrong("a stream has text without times: `response_format` may be json or text".to_owned())),
        Some(value) => Err(wrong(format!("`{STREAM}` is `{value}`, but may be true or false"))),
    }
}

/// Further text, as an event of a stream.
pub fn text_delta(text: &str) -> Value {
    json!({ "type": "transcript.text.delta", "delta": text })
}

/// The whole text, as the last event of a stream.
pub fn text_done(transcript: &Transcript) -> Value {
    json!({ "type": "transcript.text.done", "text": transcript.text().trim() })
}

/// The type of an answer, and the answer.
pub fn shape_transcript(transcript: &Transcript, task: SpokenTask, form: AnswerForm) -> (&'static str, String) {
    const PLAIN: &str = "text/plain; charset=utf-8";
    let text = transcript.text().trim().to_owned();
    match form {
        AnswerForm::Json => ("application/json", json!({ "text": text }).to_string()),
        AnswerForm::Text => (PLAIN, text + "\n"),
        AnswerForm::Verbose => ("application/json", verbose(transcript, task, &text)),
        AnswerForm::Srt => ("application/x-subrip; charset=utf-8", subtitles(transcript, ',', true)),
        AnswerForm::Vtt => ("text/vtt; charset=utf-8", "WEBVTT\n\n".to_owned() + &subtitles(transcript, '.', false)),
    }
}

fn verbose(transcript: &Transcript, task: SpokenTask, text: &str) -> String {
    let segment = |(index, Segment { start, end, text, tokens, .. }): (usize, &Segment)| json!({ "id": index, "start": start, "end": end, "text": text, "tokens": tokens });
    let segments: Vec<_> = transcript.segments.iter().enumerate().map(segment).collect();
    let word =
        |SpokenWord { start, end, text }: &SpokenWord| json!({ "word": text.trim(), "start": start, "end": end });
    let words: Vec<_> = transcript.segments.iter().flat_map(|segment| &segment.words).map(word).collect();
    let mut all = json!({
        "task": task.name(), "language": transcript.language, "duration": transcript.seconds, "text": text, "segments": segments,
    });
    if !words.is_empty() {
        all["words"] = words.into();
    }
    all.to_string()
}

/// A paragraph for each segment, with the number where the format has numbers.
fn subtitles(transcript: &Transcript, point: char, has_numbers: bool) -> String {
    let mut all = String::new();
    for (number, segment) in (1..).zip(&transcript.segments) {
        if has_numbers {
            let _ = writeln!(all, "{number}");
        }
        let [start, end] = [segment.start, segment.end].map(|seconds| time(seconds, point));
        let _ = write!(all, "{start} --> {end}\n{}\n\n", segment.text.trim().replace("-->", "->"));
    }
    all
}

/// Hours, minutes, seconds and milliseconds.
fn time(seconds: f64, point: char) -> String {
    let all = (seconds * 1e3).round() as u64;
    let (hours, minutes, seconds, rest) = (all / 3_600_000, all / 60_000 % 60, all / 1000 % 60, all % 1000);
    format!("{hours:02}:{minutes:02}:{seconds:02}{point}{rest:03}")
}

#[cfg(test)]
mod tests {
    use serde_json::Map;

    use super::*;

    fn transcript() -> Transcript {
        let segment = Segment {
            start: 0.5,
            end: 3725.25,
            text: " Hello.".to_owned(),
            tokens: vec![1],
            words: vec![SpokenWord { start: 0.5, end: 1.0, text: " Hello.".to_owned() }],
        };
        Transcript { language: Some("en".to_owned()), seconds: 4.0, segments: vec![segment] }
    }

    fn shaped(form: AnswerForm) -> String {
        shape_transcript(&transcript(), SpokenTask::Transcribe, form).1
    }

    #[test]
    fn transcripts_have_five_forms() {
        assert_eq!(shaped(AnswerForm::Json), r#"{"text":"Hello."}"#);
        assert_eq!(shaped(AnswerForm::Text), "Hello.\n");
        assert_eq!(shaped(AnswerForm::Srt), "1\n00:00:00,500 --> 01:02:05,250\nHello.\n\n");
        assert_eq!(shaped(AnswerForm::Vtt), "WEBVTT\n\n00:00:00.500 --> 01:02:05.250\nHello.\n\n");
        let verbose: Value = serde_json::from_str(&shaped(AnswerForm::Verbose)).unwrap();
        assert_eq!(verbose["words"], json!([{ "word": "Hello.", "start": 0.5, "end": 1.0 }]));
        assert_eq!((&verbose["segments"][0]["end"], &verbose["language"]), (&json!(3725.25), &json!("en")));
    }

    #[test]
    fn parameters_are_texts() {
        let take = |fields: &[(&str, &str)]| {
            let fields = fields.iter().map(|(name, value)| ((*name).to_owned(), Value::from(*value)));
            take_speech(&mut Parameters::new(fields.collect::<Map<String, Value>>()), Sampling::default(), false)
        };
        let found = take(&[("response_format", "srt"), ("language", "de"), ("temperature", "0.5")]).ok().unwrap();
        assert_eq!((found.form, found.wanted.timestamps), (AnswerForm::Srt, true));
        assert_eq!((found.wanted.language.as_deref(), found.wanted.sampling.temperature), (Some("de"), 0.5));
        let both = take(&[("response_format", "verbose_json"), (PIECES, "segment,word")]).ok().unwrap();
        assert!(both.wanted.words && both.wanted.timestamps);
        for mistake in [
            ("response_format", "pdf"),
            ("temperature", "hot"),
            ("temperature", "-1"),
            ("timestamp_granularities[]", "word"),
            ("stream", "1"),
        ] {
            assert!(take(&[mistake]).is_err(), "{mistake:?}");
        }
        let stream = |form| take(&[("stream", "true"), ("response_format", form)]).map(|found| found.is_stream);
        assert_eq!((stream("text").ok(), stream("json").ok(), stream("srt").ok()), (Some(true), Some(true), None));
    }
}
