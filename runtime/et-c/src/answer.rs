//! Answers as they come: the functions of the caller are told tokens, thoughts and calls.
#![expect(unsafe_code, reason = "C hands over pointers to functions")]

use std::ffi::{CString, c_int, c_void};
use std::rc::Rc;

use et_llm::{
    AnswerPieces, AnswerSpec, AnswerText, Call, Ended, Error, Likelihood, Limits, Picked, Piece, Sampler, Session,
    Text, generate,
};

use crate::failure;
use crate::functions::{GivenAlternative, GivenCall, GivenLikelihood, NO_TOKEN, See, SeeCall, SeeLikelihood, Think};
use crate::held::{Language, Result};
use crate::options::Options;
use crate::pointers::{put, value};
use crate::prompt::Prompt;

/// `et_answer` in the header.
#[repr(C)]
#[derive(Default)]
pub struct Answer {
    /// The number of new tokens.
    pub new_tokens: usize,
    /// Why the answer ended.
    pub ended: c_int,
}

/// How an answer ended, for C.
pub(crate) const STOPPED: c_int = 0;
const ENOUGH: c_int = 1;
const CONTEXT_FULL: c_int = 2;
pub(crate) const BROKEN_OFF: c_int = 3;

/// The functions of the caller.
#[derive(Clone, Copy)]
pub(crate) struct Viewer {
    pub see: See,
    pub context: *mut c_void,
}

/// Answers a prompt.
///
/// # Safety
/// As the header says.
pub(crate) unsafe fn reply(
    language: *mut Language,
    options: *const Options,
    viewer: Viewer,
    answer: *mut Answer,
    prompt: impl FnOnce(&mut Session, &Options) -> Result<Prompt>,
) -> c_int {
    let done = || -> Result<()> {
        // SAFETY: the caller says so.
        let (language, options) = unsafe { (value(language)?, *value(options)?) };
        let mut session = language.session()?;
        if session.transcriber.is_some() {
            return Err(Error::NoSound.into());
        }
        let Prompt { tokens, text, answer: spec } = prompt(&mut session, &options)?;
        // SAFETY: the caller says so.
        let (stops, own) = unsafe { (options.stops()?, options.constraint()?) };
        if !options.tools.is_null() && options.call.is_none() {
            return Err("`tools` need the function `call`, which is told calls".into());
        }
        if text.is_none() && !stops.is_empty() {
            return Err("`stop` is for prompts of text".into());
        }
        let AnswerSpec { constraint, behind, shown, reader } = spec;
        let matcher = constraint.or(own).map(|constraint| session.matcher(&constraint)).transpose()?;
        // SAFETY: the caller says so.
        let mut sampler = unsafe { options.sampler((behind, matcher)) }?;
        let tokens = session.model.open(tokens)?;
        let calls = Call::first(tokens.len());
        let pieces = AnswerPieces::new(AnswerText::new(shown, stops), reader);
        let Options { think, call, likely, top_logprobs, .. } = options;
        let told = Told { viewer, think, call, likely, top_logprobs, text, pieces, new_tokens: 0, calls, cut: None };
        let made = run(&mut session, &tokens, &mut sampler, (options.max_new_tokens, told))?;
        // SAFETY: the caller says so.
        unsafe { put(answer, made) };
        Ok(())
    };
    failure::number(done())
}

/// Runs the model. The KV cache keeps the common prefix with the previous text.
fn run(
    session: &mut Session,
    tokens: &[u32],
    sampler: &mut Sampler,
    (most, mut told): (usize, Told),
) -> Result<Answer> {
    let Session { model, speculation, facts, .. } = session;
    let known = model.rewind(tokens);
    let limits = Limits { tokens: most, stops: &facts.stops };
    let rest = tokens.get(known..).unwrap_or_default();
    let done =
        generate(model, speculation.as_mut(), rest, sampler, &limits, &mut |picked, logits| told.step(picked, logits));
    let ended = match (done, told.cut) {
        (_, Some(cut)) => cut,
        (Ok(generation), None) => of_ended(generation.ended),
        (Err(error), None) => return Err(error.into()),
    };
    let is_broken_off = ended == BROKEN_OFF || !told.finish()?;
    Ok(Answer { new_tokens: told.new_tokens, ended: if is_broken_off { BROKEN_OFF } else { ended } })
}

const fn of_ended(ended: Ended) -> c_int {
    match ended {
        Ended::Stopped | Ended::Complete => STOPPED,
        Ended::Enough => ENOUGH,
        Ended::ContextFull => CONTEXT_FULL,
    }
}

/// An answer in progress, and whom its pieces are told.
struct Told {
    viewer: Viewer,
    think: Think,
    call: SeeCall,
    likely: SeeLikelihood,
    top_logprobs: usize,
    /// The decoder; `None` where tokens are wanted.
    text: Option<Rc<dyn Text>>,
    pieces: AnswerPieces,
    new_tokens: usize,
    /// The number of the next call, which makes its id.
    calls: u64,
    /// Why the answer ends ahead of its end: a function returned false, or there is a stop text.
    cut: Option<c_int>,
}

impl Told {
    /// Tells a step; an error ends the generation where `cut` has a reason.
    fn step(&mut self, picked: Picked, logits: &[f32]) -> Result<(), Error> {
        let is_wanted = match picked {
            Picked::Stop => return Ok(()),
            Picked::Read => self.viewer.show(NO_TOKEN, ""),
            Picked::Token(token) => {
                self.new_tokens += 1;
                let is_wanted = self.show_likelihood(token, logits)?;
                let pieces = match &self.text {
                    Some(text) => self.pieces.push(&**text, token)?,
                    None => Vec::new(),
                };
                is_wanted && self.tell(Some(token), pieces)
            }
        };
        let cut = (!is_wanted).then_some(BROKEN_OFF).or_else(|| self.pieces.is_stopped().then_some(STOPPED));
        self.cut = cut;
        // Nobody reads the error of an answer that is cut.
        cut.map_or(Ok(()), |_| Err(Error::Text(String::new())))
    }

    /// Tells the rest at the end of the answer; returns whether it was wanted.
    fn finish(&mut self) -> Result<bool> {
        let Some(text) = self.text.clone() else { return Ok(true) };
        let pieces = self.pieces.finish(&*text)?;
        Ok(self.tell(None, pieces))
    }

    /// Tells pieces of an answer, and the token that made them certain; returns whether more is wanted.
    fn tell(&mut self, token: Option<u32>, pieces: Vec<Piece>) -> bool {
        let (mut text, mut calls, mut is_wanted) = (String::new(), Vec::new(), true);
        for piece in pieces {
            match piece {
                Piece::Text(more) => text.push_str(&more),
                Piece::Thoughts(thoughts) => is_wanted = is_wanted && self.show_thoughts(&thoughts),
                Piece::Call(call) => calls.push(call),
            }
        }
        // A function that wants no more is the last that is called.
        if is_wanted && (token.is_some() || !text.is_empty()) {
            is_wanted = self.viewer.show(token.unwrap_or(NO_TOKEN), &text);
        }
        is_wanted && calls.into_iter().all(|call| self.show_call(call))
    }

    /// Tells how probable a token is, by the logits of its pick; returns whether more is wanted.
    fn show_likelihood(&self, token: u32, logits: &[f32]) -> Result<bool, Error> {
        let Some(likely) = self.likely else { return Ok(true) };
        let made = Likelihood::of(token, self.top_logprobs, logits, self.text.as_deref())?;
        let alternatives: Vec<GivenAlternative> = made.alternatives.iter().map(GivenAlternative::of).collect();
        let picked = GivenAlternative::of(&made.picked);
        let given = GivenLikelihood { picked, alternatives: alternatives.as_ptr(), count: alternatives.len() };
        // SAFETY: as of `show_thoughts`; what the record points to lives until the function returns.
        Ok(unsafe { likely(self.viewer.context, &raw const given) })
    }

    fn show_thoughts(&self, thoughts: &str) -> bool {
        let (context, pointer) = (self.viewer.context, thoughts.as_ptr().cast());
        // SAFETY: the caller of the model gave functions and context together, and the arguments have the types of the function.
        self.think.is_none_or(|think| unsafe { think(context, pointer, thoughts.len()) })
    }

    fn show_call(&mut self, Call { name, arguments }: Call) -> bool {
        let texts = [Call::id(self.calls), name, arguments].map(CString::new);
        self.calls += 1;
        // JSON texts escape zero bytes, and the names of tools have letters, digits and three signs.
        let [Ok(id), Ok(name), Ok(arguments)] = &texts else { return true };
        let call = GivenCall { id: id.as_ptr(), name: name.as_ptr(), arguments: arguments.as_ptr() };
        // SAFETY: as above; the texts live until the function returns.
        self.call.is_none_or(|told| unsafe { told(self.viewer.context, &raw const call) })
    }
}

impl Viewer {
    /// Whether more is wanted.
    fn show(self, token: u32, text: &str) -> bool {
        let pointer = text.as_ptr().cast();
        // SAFETY: the caller of the model gave function and context together, and the arguments have the types of the function.
        self.see.is_none_or(|see| unsafe { see(self.context, token, pointer, text.len()) })
    }
}
