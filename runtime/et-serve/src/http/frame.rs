//! The parts that all answers to a request share, and the state of each answer.

use et_llm::{AnswerReader, Likelihood, Piece};
use serde_json::{Value, json};
use tokio_stream::StreamMap;
use tokio_stream::wrappers::UnboundedReceiverStream;

use crate::api::{Place, Shape, choice};
use crate::scheduler::{Ended, Event, Failure};

/// The events of all answers to a request, by the index of the answer.
pub type Events = StreamMap<usize, UnboundedReceiverStream<Event>>;

/// The fields of all parts of an answer.
pub struct Frame {
    /// The name of the answer.
    pub id: String,
    /// When the answer began, in seconds since 1970.
    pub created: u64,
    /// The name of the model.
    pub model: String,
    /// The producer stamp of the binary.
    pub stamp: &'static str,
    /// The shape of the answer.
    pub shape: &'static dyn Shape,
    /// Whether a stream ends with the numbers of tokens.
    pub has_usage: bool,
    /// The number of answers to a prompt.
    pub each: usize,
}

impl Frame {
    /// An answer, or a part of an answer.
    pub fn object(&self, is_piece: bool, choices: Vec<Value>, usage: Option<Value>) -> Value {
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
}

/// The state of an answer, one of the choices of a response.
pub struct Answer {
    index: usize,
    reader: Box<dyn AnswerReader>,
    /// The characters and the calls so far.
    start: usize,
    calls: usize,
    pieces: Vec<Piece>,
    likelihoods: Option<Vec<Likelihood>>,
    /// The end, once it has come.
    pub ended: Option<Ended>,
}

impl Answer {
    /// An answer without parts.
    pub const fn new(index: usize, reader: Box<dyn AnswerReader>) -> Self {
        Self { index, reader, start: 0, calls: 0, pieces: Vec::new(), likelihoods: None, ended: None }
    }

    /// Keeps what an event brings.
    ///
    /// # Errors
    /// The failure of the job.
    pub fn keep(&mut self, event: Event) -> Result<(), Failure> {
        match event {
            Event::Piece { text, likelihood } => {
                self.pieces.extend(self.reader.push(&text));
                likelihood.into_iter().for_each(|one| self.likelihoods.get_or_insert_default().push(one));
            }
            Event::Ended(ended) => {
                self.pieces.extend(self.reader.finish());
                self.ended = Some(ended);
            }
            Event::Failed(failure) => return Err(failure),
        }
        Ok(())
    }

    /// The choice with all parts.
    pub fn whole(&self, frame: &Frame) -> Value {
        let has_calls = self.pieces.iter().any(|piece| matches!(piece, Piece::Call(_)));
        let whole = frame.shape.whole(&self.pieces, self.likelihoods.as_deref(), self.place(frame));
        choice(whole, self.index, self.ended.map(|ended| ended.reason), has_calls)
    }

    /// The choices of a stream that an event brings.
    ///
    /// # Errors
    /// The failure of the job.
    pub fn pieces(&mut self, frame: &Frame, event: Event) -> Result<Vec<Value>, Failure> {
        match event {
            Event::Piece { text, likelihood } => {
                let said = self.reader.push(&text);
                Ok(self.shown(frame, said, likelihood))
            }
            Event::Ended(ended) => {
                let said = self.reader.finish();
                let mut pieces = self.shown(frame, said, None);
                pieces.push(choice(frame.shape.last(), self.index, Some(ended.reason), self.calls > 0));
                self.ended = Some(ended);
                Ok(pieces)
            }
            Event::Failed(failure) => Err(failure),
        }
    }

    /// The choices of parts; the likelihood of a token comes with the first part, or with an empty text.
    fn shown(&mut self, frame: &Frame, mut said: Vec<Piece>, likelihood: Option<Likelihood>) -> Vec<Value> {
        let mut likelihood = likelihood.map(|likelihood| [likelihood]);
        if said.is_empty() && likelihood.is_some() {
            said.push(Piece::Text(String::new()));
        }
        let mut pieces = Vec::new();
        for piece in said {
            let likelihood = likelihood.take();
            let shaped = frame.shape.piece(&piece, likelihood.as_ref().map(<[_; 1]>::as_slice), self.place(frame));
            pieces.push(choice(shaped, self.index, None, false));
            match &piece {
                Piece::Text(text) => self.start += text.chars().count(),
                Piece::Thoughts(_) => {}
                Piece::Call(_) => self.calls += 1,
            }
        }
        pieces
    }

    fn place<'f>(&self, frame: &'f Frame) -> Place<'f> {
        let id = frame.id.rsplit('-').next().unwrap_or_default();
        Place { id, choice: self.index, calls: self.calls, start: self.start }
    }
}
