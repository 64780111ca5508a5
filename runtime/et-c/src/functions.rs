//! The functions of the caller that are told answers, and what they are told.
#![expect(unsafe_code, reason = "C hands over pointers")]

use std::ffi::{c_char, c_void};

use et_llm::{Alternative, NamedCall};

use crate::pointers::{optional, text};

/// `et_token_function` in the header: false ends the answer.
pub type See = Option<unsafe extern "C" fn(context: *mut c_void, token: u32, text: *const c_char, size: usize) -> bool>;
/// `et_text_function` in the header: false ends the answer.
pub type Think = Option<unsafe extern "C" fn(context: *mut c_void, text: *const c_char, size: usize) -> bool>;
/// `et_call_function` in the header: false ends the answer.
pub type SeeCall = Option<unsafe extern "C" fn(context: *mut c_void, call: *const GivenCall) -> bool>;

/// `et_likelihood_function` in the header: false ends the answer.
pub type SeeLikelihood = Option<unsafe extern "C" fn(context: *mut c_void, likelihood: *const GivenLikelihood) -> bool>;

/// The token of text without a token: the rest at the end, and no text between the chunks of a prompt.
pub(crate) const NO_TOKEN: u32 = u32::MAX;

/// `et_call` in the header.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct GivenCall {
    /// The id.
    pub id: *const c_char,
    /// The name of the tool.
    pub name: *const c_char,
    /// The arguments, a JSON object; null for none.
    pub arguments: *const c_char,
}

/// `et_alternative` in the header.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct GivenAlternative {
    /// The token.
    pub token: u32,
    /// The natural logarithm of the probability.
    pub logprob: f32,
    /// The text, which is not terminated.
    pub text: *const c_char,
    /// The bytes of the text.
    pub size: usize,
}

/// `et_likelihood` in the header.
#[repr(C)]
pub struct GivenLikelihood {
    /// The token that was picked.
    pub picked: GivenAlternative,
    /// The first of `count` alternatives.
    pub alternatives: *const GivenAlternative,
    /// The number of alternatives.
    pub count: usize,
}

impl GivenAlternative {
    /// An alternative for C, which points into this one.
    pub(crate) fn of(Alternative { token, text, logarithm }: &Alternative) -> Self {
        Self { token: *token, logprob: *logarithm, text: text.as_ptr().cast(), size: text.len() }
    }
}

impl GivenCall {
    /// # Safety
    /// The texts are terminated.
    pub(crate) unsafe fn named<'c>(self) -> Result<NamedCall<'c>, &'static str> {
        // SAFETY: the caller says so.
        Ok(unsafe {
            NamedCall {
                id: text(self.id)?,
                name: text(self.name)?,
                arguments: optional(self.arguments)?.unwrap_or("{}"),
            }
        })
    }
}
