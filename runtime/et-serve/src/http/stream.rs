//! Server-sent events.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use serde_json::Value;
use tokio_stream::Stream;

use super::frame::{Answer, Events, Frame};
use crate::api::{choice, usage};
use crate::error::ApiError;
use crate::scheduler::{Ended, Event, Failure};

/// The events of a stream, as texts.
pub struct Pieces {
    frame: Frame,
    answers: Vec<Answer>,
    events: Events,
    state: State,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Begin,
    Running,
    Over,
}

/// The last event of a stream.
pub const DONE: &str = "data: [DONE]\n\n";

/// An event of a stream: JSON has no line break.
pub fn data(value: &Value) -> String {
    format!("data: {value}\n\n")
}

impl Pieces {
    /// A stream of all answers to a request.
    pub const fn new(frame: Frame, answers: Vec<Answer>, events: Events) -> Self {
        Self { frame, answers, events, state: State::Begin }
    }

    /// The events before the first token.
    fn first(&self) -> String {
        let first = |index| self.frame.shape.first().map(|first| self.event(choice(first, index, None, false)));
        (0..self.answers.len()).filter_map(first).collect()
    }

    fn event(&self, choice: Value) -> String {
        data(&self.frame.object(true, vec![choice], None))
    }

    /// The text of an event of an answer.
    fn text(&mut self, index: usize, event: Event) -> String {
        let Some(answer) = self.answers.get_mut(index) else { return String::new() };
        match answer.pieces(&self.frame, event) {
            Ok(pieces) => pieces.into_iter().map(|piece| self.event(piece)).collect(),
            Err(failure) => self.fail(failure),
        }
    }

    /// The error of a stream, after which nothing comes.
    fn fail(&mut self, failure: Failure) -> String {
        self.events.clear();
        self.state = State::Over;
        data(&ApiError::from(failure).json()) + DONE
    }

    /// The last events.
    fn last(&mut self) -> String {
        let ended: Option<Vec<Ended>> = self.answers.iter().map(|answer| answer.ended).collect();
        let Some(ended) = ended else { return self.fail(Failure::Stopping) };
        self.state = State::Over;
        let usage = self
            .frame
            .has_usage
            .then(|| data(&self.frame.object(true, Vec::new(), Some(usage(&ended, self.frame.each)))));
        usage.unwrap_or_default() + DONE
    }
}

impl Stream for Pieces {
    type Item = Result<String, Infallible>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let pieces = self.get_mut();
        loop {
            let text = match pieces.state {
                State::Over => return Poll::Ready(None),
                State::Begin => {
                    pieces.state = State::Running;
                    pieces.first()
                }
                State::Running => match ready!(Pin::new(&mut pieces.events).poll_next(context)) {
                    Some((index, event)) => pieces.text(index, event),
                    None => pieces.last(),
                },
            };
            if !text.is_empty() {
                return Poll::Ready(Some(Ok(text)));
            }
        }
    }
}
