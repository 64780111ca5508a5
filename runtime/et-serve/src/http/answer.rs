//! A request becomes a job, events become an answer.

use std::convert::Infallible;
use std::sync::Arc;

use axum::body::Body;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use serde_json::{Map, Value, json};
use tokio_stream::StreamExt;
use tokio_stream::wrappers::UnboundedReceiverStream;

use crate::api::{Parameters, Sending, Shape, Wanted, choice, usage};
use crate::error::ApiError;
use crate::scheduler::{Event, Failure};
use crate::server::{Running, Server};

/// The answer to a request.
///
/// # Errors
/// A mistake in the request; a full queue; a failure before the end of an answer that is not a stream.
pub async fn answer(
    server: &Arc<Server>,
    object: Map<String, Value>,
    shape: &'static dyn Shape,
) -> Result<Response, ApiError> {
    let mut parameters = Parameters::new(object);
    if let Some(model) = parameters.take::<String>("model")?.filter(|model| model != server.name) {
        return Err(ApiError::no_model(&model, server.name));
    }
    let sending = Sending::take(&mut parameters)?;
    let mut wanted = Wanted::take(&mut parameters, server.facts.sampling())?;
    let prompt = shape.take(&mut parameters, &mut wanted)?;
    parameters.finish()?;
    let Running { id, created, events } = server.begin(wanted, prompt).await?;
    let frame = Frame {
        id: format!("{}{id}", shape.prefix()),
        created,
        model: server.name,
        stamp: server.stamp,
        shape,
        has_usage: sending.has_usage,
    };
    if sending.is_stream { Ok(stream(frame, UnboundedReceiverStream::new(events))) } else { frame.whole(events).await }
}

/// The fields of all parts of an answer.
struct Frame {
    id: String,
    created: u64,
    model: &'static str,
    stamp: &'static str,
    shape: &'static dyn Shape,
    has_usage: bool,
}

type Events = tokio::sync::mpsc::UnboundedReceiver<Event>;

impl Frame {
    /// The whole answer, after the last event.
    async fn whole(self, mut events: Events) -> Result<Response, ApiError> {
        let (mut whole, mut likelihoods) = (String::new(), None);
        while let Some(event) = events.recv().await {
            match event {
                Event::Piece { text, likelihood } => {
                    whole.push_str(&text);
                    likelihood.into_iter().for_each(|one| likelihoods.get_or_insert_with(Vec::new).push(one));
                }
                Event::Ended(ended) => {
                    let choice = choice(self.shape.whole(&whole, likelihoods.as_deref()), Some(ended.reason));
                    let answer = self.object(false, vec![choice], Some(usage(ended)));
                    return Ok(([(CONTENT_TYPE, "application/json")], answer.to_string()).into_response());
                }
                Event::Failed(failure) => return Err(failure.into()),
            }
        }
        Err(Failure::Stopping.into())
    }

    /// An answer, or a part of an answer.
    fn object(&self, is_piece: bool, choices: Vec<Value>, usage: Option<Value>) -> Value {
        let mut object = json!({
            "id": self.id,
            "object": self.shape.object(is_piece),
            "created": self.created,
            "model": self.model,
            "system_fingerprint": self.stamp,
            "choices": choices,
        });
        if let Some(fields) = object.as_object_mut()
            && (usage.is_some() || self.has_usage)
        {
            fields.insert("usage".to_owned(), usage.unwrap_or_default());
        }
        object
    }

    /// The text of an event; `start` counts the characters of the answer before.
    fn events(&self, event: Event, start: &mut usize) -> String {
        match event {
            Event::Piece { text, likelihood } => {
                let likelihood = likelihood.map(|likelihood| [likelihood]);
                let piece = self.shape.piece(&text, likelihood.as_ref().map(<[_; 1]>::as_slice), *start);
                *start += text.chars().count();
                self.event(choice(piece, None))
            }
            Event::Ended(ended) => {
                let mut last = self.event(choice(self.shape.last(), Some(ended.reason)));
                if self.has_usage {
                    last += &data(&self.object(true, Vec::new(), Some(usage(ended))));
                }
                last + DONE
            }
            Event::Failed(failure) => data(&ApiError::from(failure).json()) + DONE,
        }
    }

    fn event(&self, choice: Value) -> String {
        data(&self.object(true, vec![choice], None))
    }
}

/// The last event of a stream.
const DONE: &str = "data: [DONE]\n\n";

/// An event of a stream: JSON has no line break.
fn data(value: &Value) -> String {
    format!("data: {value}\n\n")
}

/// A stream of server-sent events. Dropping the response drops the receiver, which ends the job.
fn stream(frame: Frame, events: UnboundedReceiverStream<Event>) -> Response {
    let first = frame.shape.first().map(|first| frame.event(choice(first, None)));
    let mut start = 0;
    let texts = events.map(move |event| frame.events(event, &mut start));
    let all = tokio_stream::iter(first).chain(texts).map(Ok::<_, Infallible>);
    ([(CONTENT_TYPE, "text/event-stream"), (CACHE_CONTROL, "no-cache")], Body::from_stream(all)).into_response()
}
