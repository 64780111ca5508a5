//! The functions of the caller that are told answers, and what they are told.
#![expect(unsafe_code, reason = "C hands over pointers")]

use std::ffi::{c_char, c_void};

use et_llm::NamedCall;

use crate::pointers::{optional, text};

/// `et_token_function` in the header: false ends the answer.
pub type See = Option<unsafe extern "C" fn(context: *mut c_void, token: u32, text: *const c_char, size: usize) -> bool>;
/// `et_text_function` in the header: false ends the answer.
pub type Think = Option<unsafe extern "C" fn(context: *mut c_void, text: *const c_char, size: usize) -> bool>;
/// `et_call_function` in the header: false ends the answer.
pub type SeeCall = Option<unsafe extern "C" fn(context: *mut c_void, call: *const GivenCall) -> bool>;

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
