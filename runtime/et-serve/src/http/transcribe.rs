//! A recording becomes a job, a transcript becomes JSON, text or a stream of events.

use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use serde_json::{Map, Value};

use super::answer::take_model;
use super::ask::ask;
use super::form::Field;
use super::transcript_stream;
use crate::api::{Speech, shape_transcript, take_speech};
use crate::error::ApiError;
use crate::request::Parameters;
use crate::server::Server;
use crate::speech::{Recording, SpeechDesk};

/// The answer to a request.
///
/// # Errors
/// A mistake in the request; a full queue; a failure of the model.
pub async fn transcribe(
    server: &Server,
    desk: &SpeechDesk,
    fields: Vec<Field>,
    is_translation: bool,
) -> Result<Response, ApiError> {
    let (mut sound, mut texts) = (None, Map::new());
    for Field { name, content } in fields {
        match name.as_str() {
            "file" => sound = Some(content),
            name => {
                let text = String::from_utf8_lossy(&content).into_owned();
                // A list is a field for each entry.
                let earlier = texts.remove(name).filter(|_| name.ends_with("[]"));
                let earlier = earlier.as_ref().and_then(Value::as_str).map(|earlier| format!("{earlier},{text}"));
                texts.insert(name.to_owned(), Value::from(earlier.unwrap_or(text)));
            }
        }
    }
    let sound = sound.ok_or_else(|| ApiError::parameter("file", "`file` is missing"))?;
    let mut parameters = Parameters::new(texts);
    take_model(server, &mut parameters)?;
    let Speech { wanted, form, is_stream } = take_speech(&mut parameters, desk.facts.sampling(), is_translation)?;
    parameters.finish()?;
    if is_stream {
        return transcript_stream::begin(server, desk, sound, wanted).await;
    }
    let task = wanted.task;
    let transcript = ask(server, &desk.queue, Recording { sound, wanted, pieces: None }).await?;
    let (kind, text) = shape_transcript(&transcript, task, form);
    Ok(([(CONTENT_TYPE, kind)], text).into_response())
}
