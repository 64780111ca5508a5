//! A transcript as server-sent events: the text as it is heard, and the whole text (OpenAI's `transcript.text.delta` and `transcript.text.done`).

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use axum::response::Response;
use et_llm::{Transcript, Wanted};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::sync::oneshot::Receiver;
use tokio_stream::Stream;

use super::answer::stream;
use super::ask::{answered, put};
use super::stream::{DONE, data};
use crate::api::{text_delta, text_done};
use crate::error::ApiError;
use crate::server::Server;
use crate::speech::{Recording, SpeechDesk};

/// Begins a stream. The stream waits for the first text, so that a mistake in a request has the status of a mistake.
///
/// # Errors
/// A mistake in the request; a full queue; a failure of the model ahead of the first text.
pub async fn begin(server: &Server, desk: &SpeechDesk, sound: Vec<u8>, wanted: Wanted) -> Result<Response, ApiError> {
    let (sender, mut pieces) = unbounded_channel();
    let mut answer = put(server, &desk.queue, Recording { sound, wanted, pieces: Some(sender) })?;
    let (first, state) = match pieces.recv().await {
        Some(piece) => (data(&text_delta(&piece)), State::Running),
        None => (last(&answered((&mut answer).await)?), State::Over),
    };
    Ok(stream(Events { first: Some(first), pieces, answer, state }))
}

/// The events of a stream.
struct Events {
    first: Option<String>,
    pieces: UnboundedReceiver<String>,
    answer: Receiver<Result<Transcript, ApiError>>,
    state: State,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// Text comes.
    Running,
    /// All text has come.
    Ending,
    Over,
}

/// The last events.
fn last(transcript: &Transcript) -> String {
    data(&text_done(transcript)) + DONE
}

impl Stream for Events {
    type Item = Result<String, Infallible>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let events = self.get_mut();
        if let Some(first) = events.first.take() {
            return Poll::Ready(Some(Ok(first)));
        }
        if events.state == State::Running {
            if let Some(piece) = ready!(events.pieces.poll_recv(context)) {
                return Poll::Ready(Some(Ok(data(&text_delta(&piece)))));
            }
            events.state = State::Ending;
        }
        if events.state == State::Over {
            return Poll::Ready(None);
        }
        let received = ready!(Pin::new(&mut events.answer).poll(context));
        events.state = State::Over;
        let last = answered(received).map_or_else(|error| data(&error.json()) + DONE, |transcript| last(&transcript));
        Poll::Ready(Some(Ok(last)))
    }
}
