//! Language models and encoders on a hosted machine.
//!
//! A [`Model`] is a program with the methods `prefill` and `decode`, which share state: tokens go in, logits come out.
//! [`generate`] continues a text, token by token, each picked by a [`Sampler`]; a [`Speculation`] adds
//! speculative decoding with the draft of a [`Proposer`]. [`Session`] adds what the program file
//! holds besides: the stop tokens, and the tokenizer, a [`Text`] of another crate. An [`Encoder`] gives an embedding, classes, a score or
//! labels of a text. A [`Viewer`] makes prompts of texts with pictures, a [`VisionEncoder`] the embeddings of pictures. A [`Transcriber`] makes text of speech. [`app`] is the
//! whole command line of a generated binary. No third-party crate.
//!
//! ```
//! use et_llm::{Sampler, Sampling};
//!
//! let logits = [0.5, 2.0, 1.5];
//! let text = [1];
//! let mut greedy = Sampler::new(Sampling::default());
//! assert_eq!(greedy.pick(&logits, &text)?, 1);
//! let mut other = Sampler::new(Sampling { repetition_penalty: 2.0, ..Sampling::default() });
//! assert_eq!(other.pick(&logits, &text)?, 2);
//! # Ok::<(), et_llm::Error>(())
//! ```

mod adapter;
mod ahead;
mod answer;
pub mod app;
mod ask;
mod batch;
mod candidates;
mod chunks;
mod constraint;
mod content;
mod continuation;
mod draft;
mod encoder;
mod error;
mod facts;
mod generate;
mod hearing;
mod lazy_text;
mod likelihood;
mod lookup;
mod measure;
mod message;
mod method;
mod model;
mod picture;
mod prefix;
mod proposer;
mod random;
mod reading;
mod repetition;
mod sampler;
mod sampling;
mod saved;
mod session;
mod session_file;
mod source;
mod speculation;
mod statistics;
mod stops;
mod stream;
mod text;
mod tools;
mod vision;
mod with_pictures;

pub use answer::{AnswerPieces, AnswerText};
pub use ask::{AnswerReader, AnswerSpec, Asked, Piece, Question};
pub use batch::Batch;
pub use constraint::{Compiler, Constraint, LazyCompiler, MakeCompiler, Matcher, Token};
pub use content::Content;
pub use continuation::{Continuation, Ended, Limits, Step};
pub use draft::Draft;
pub use encoder::{Answer, ENCODER_KEY, Encoder, EncoderFacts, Likely, Scores, Task, Word};
pub use error::Error;
pub use facts::{CHAT_KEY, Facts, GENERATION_KEY, TOKENIZER_KEY};
pub use generate::{Generation, Picked, See, generate};
pub use hearing::{
    Heard, Hearing, OpenHearing, OpenedHearing, SeeHeard, Segment, SpokenTask, SpokenWord, Transcriber, Transcript,
    Wanted,
};
use lazy_text::LazyText;
pub use lazy_text::MakeText;
pub use likelihood::{Alternative, Likelihood};
pub use lookup::Lookup;
pub use measure::{Effort, Measurement, measure};
pub use message::{Conversation, Message, Part};
pub use model::Model;
pub use picture::{Picture, Prompt, Tile, is_image};
pub use proposer::Proposer;
pub use random::Random;
pub use reading::Reading;
pub use sampler::Sampler;
pub use sampling::Sampling;
pub use session::{Loading, Session};
pub use speculation::{Guessed, Guesses, Speculation};
pub use statistics::Statistics;
pub use stops::{Certain, Stops};
pub use stream::TextStream;
pub use text::Text;
pub use tools::{Call, Choice, NamedCall, Tools};
pub use vision::{
    EncoderMethod, KeptEmbeddings, OpenVision, OpenedVision, SharedEncoder, Viewer, Vision, VisionEncoder,
};
