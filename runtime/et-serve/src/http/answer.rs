//! A request becomes jobs, events become answers.

use std::convert::Infallible;
use std::sync::Arc;

use axum::body::Body;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use serde_json::{Map, Value};
use tokio_stream::wrappers::UnboundedReceiverStream;
use tokio_stream::{Stream, StreamExt};

use super::frame::{Answer, Events, Frame};
use super::stream::Pieces;
use crate::api::{Shape, usage};
use crate::error::ApiError;
use crate::language::Language;
use crate::request::{Parameters, Sending, Wanted};
use crate::running::Running;
use crate::scheduler::Failure;
use crate::server::Server;

/// The answer to a request.
///
/// # Errors
/// A mistake in the request; a full queue; a failure before the end of an answer that is not a stream.
pub async fn answer(
    server: &Arc<Server>,
    language: &Language,
    object: Map<String, Value>,
    shape: &'static dyn Shape,
) -> Result<Response, ApiError> {
    let mut parameters = Parameters::new(object);
    let adapter = take_model(server, &mut parameters)?;
    let sending = Sending::take(&mut parameters)?;
    let mut wanted = Wanted::take(&mut parameters, language.facts.sampling())?;
    let prompts = shape.take(&mut parameters, &mut wanted)?;
    parameters.finish()?;
    let Running { id, created, each, answers } = Running::begin(server, language, wanted, (prompts, adapter)).await?;
    let frame = Frame {
        id: format!("{}{id}", shape.prefix()),
        created,
        model: server.names().nth(adapter).unwrap_or(server.name).to_owned(),
        stamp: server.stamp,
        shape,
        has_usage: sending.has_usage,
        each,
    };
    let (mut events, mut states) = (Events::new(), Vec::new());
    for (index, (reader, receiver)) in answers.into_iter().enumerate() {
        events.insert(index, UnboundedReceiverStream::new(receiver));
        states.push(Answer::new(index, reader));
    }
    if sending.is_stream { Ok(stream(Pieces::new(frame, states, events))) } else { whole(&frame, states, events).await }
}

/// Takes the name of the model: its place among [`Server::names`], which is that of the adapter.
///
/// # Errors
/// The name of a model that the server lacks.
pub fn take_model(server: &Server, parameters: &mut Parameters) -> Result<usize, ApiError> {
    let Some(model) = parameters.take::<String>("model")? else { return Ok(0) };
    server.names().position(|name| name == model).ok_or_else(|| ApiError::no_model(&model, server.names()))
}

/// The whole answers, after the last event.
async fn whole(frame: &Frame, mut answers: Vec<Answer>, mut events: Events) -> Result<Response, ApiError> {
    while let Some((index, event)) = events.next().await {
        if let Some(answer) = answers.get_mut(index) {
            answer.keep(event)?;
        }
    }
    // The scheduler has ended where an answer has no end.
    let ended: Option<Vec<_>> = answers.iter().map(|answer| answer.ended).collect();
    let ended = ended.ok_or(Failure::Stopping)?;
    let choices = answers.iter().map(|answer| answer.whole(frame)).collect();
    let object = frame.object(false, choices, Some(usage(&ended, frame.each)));
    Ok(([(CONTENT_TYPE, "application/json")], object.to_string()).into_response())
}

/// A stream of server-sent events. Dropping the response drops the receivers, which ends the jobs.
pub fn stream(pieces: impl Stream<Item = Result<String, Infallible>> + Send + 'static) -> Response {
    ([(CONTENT_TYPE, "text/event-stream"), (CACHE_CONTROL, "no-cache")], Body::from_stream(pieces)).into_response()
}
