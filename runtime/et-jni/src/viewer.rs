//! The objects of Java that are told answers.
#![expect(unsafe_code, reason = "C calls the functions with pointers")]

use std::ffi::{CStr, c_char, c_void};
use std::slice;

use et_c::functions::{GivenAlternative, GivenCall, GivenLikelihood};

use crate::environment::Environment;
use crate::failure::{Failure, Result};
use crate::interface::{Argument, Member, Object};

/// The object that is told an answer.
pub struct Viewer {
    environment: Environment,
    object: Object,
    see: Member,
    /// The methods `think`, `call` and `likely`, of an object that is told thoughts, calls and probabilities apart.
    apart: Option<[Member; 3]>,
    /// What went wrong in Java: ends the answer.
    pub failure: Option<Failure>,
}

impl Viewer {
    /// Finds the methods of an object.
    pub fn new(environment: Environment, object: Object, is_apart: bool) -> Result<Self> {
        let see = environment.method(object, c"see", c"(ILjava/lang/String;)Z")?;
        let found = || -> Result<[Member; 3]> {
            let think = environment.method(object, c"think", c"(Ljava/lang/String;)Z")?;
            let call =
                environment.method(object, c"call", c"(Ljava/lang/String;Ljava/lang/String;Ljava/lang/String;)Z")?;
            let likely = environment.method(object, c"likely", c"(IDILjava/lang/String;)Z")?;
            Ok([think, call, likely])
        };
        Ok(Self { environment, object, see, apart: is_apart.then(found).transpose()?, failure: None })
    }

    /// Whether more is wanted after a method with texts as the last arguments; a failure in Java ends the answer.
    fn tell(&mut self, method: Member, first: &[Argument], texts: &[&str]) -> bool {
        if self.failure.is_some() {
            return false;
        }
        let told = || -> Result<bool> {
            let strings = texts.iter().map(|text| self.environment.string(text)).collect::<Result<Vec<Object>>>()?;
            let objects = strings.iter().map(|object| Argument { object: *object });
            let arguments: Vec<Argument> = first.iter().copied().chain(objects).collect();
            let wanted = self.environment.call_boolean(self.object, method, &arguments);
            strings.into_iter().for_each(|string| self.environment.forget(string));
            wanted
        };
        told().unwrap_or_else(|failure| {
            self.failure = Some(failure);
            false
        })
    }
}

/// The viewer behind the context of C.
///
/// # Safety
/// The context is a viewer, which nobody else uses during the call.
unsafe fn viewer<'v>(context: *mut c_void) -> &'v mut Viewer {
    // SAFETY: the caller says so.
    unsafe { &mut *context.cast::<Viewer>() }
}

/// # Safety
/// `text` points to `size` bytes for the duration of `'t`, or `size` is 0.
unsafe fn text<'t>(text: *const c_char, size: usize) -> std::borrow::Cow<'t, str> {
    // SAFETY: the caller says so.
    String::from_utf8_lossy(if size == 0 { &[] } else { unsafe { slice::from_raw_parts(text.cast::<u8>(), size) } })
}

/// The token function of C.
pub unsafe extern "C" fn seen(context: *mut c_void, token: u32, told: *const c_char, size: usize) -> bool {
    // SAFETY: the context is the viewer of the reply, and the text has `size` bytes.
    let (viewer, told) = unsafe { (viewer(context), text(told, size)) };
    viewer.tell(viewer.see, &[Argument { int: token.cast_signed() }], &[&told])
}

/// The text function of C, for thoughts.
pub unsafe extern "C" fn thought(context: *mut c_void, told: *const c_char, size: usize) -> bool {
    // SAFETY: as of `seen`.
    let (viewer, told) = unsafe { (viewer(context), text(told, size)) };
    viewer.apart.is_none_or(|[think, ..]| viewer.tell(think, &[], &[&told]))
}

/// The call function of C.
pub unsafe extern "C" fn called(context: *mut c_void, call: *const GivenCall) -> bool {
    // SAFETY: as of `seen`; the call and its texts live until the function returns.
    let (viewer, GivenCall { id, name, arguments }) = unsafe { (viewer(context), *call) };
    // SAFETY: the texts are terminated.
    let texts = [id, name, arguments].map(|text| unsafe { CStr::from_ptr(text) }.to_string_lossy());
    let [id, name, arguments] = &texts;
    viewer.apart.is_none_or(|[_, call, _]| viewer.tell(call, &[], &[id, name, arguments]))
}

/// The likelihood function of C. Java is told the picked token with the number of alternatives, and then each alternative with the number of
/// those that are left.
pub unsafe extern "C" fn likely(context: *mut c_void, likelihood: *const GivenLikelihood) -> bool {
    // SAFETY: as of `seen`; the record and what it points to live until the function returns.
    let (viewer, GivenLikelihood { picked, alternatives, count }) = unsafe { (viewer(context), &*likelihood) };
    let Some([.., method]) = viewer.apart else { return true };
    // SAFETY: the record has `count` alternatives.
    let alternatives = if *count == 0 { &[] } else { unsafe { slice::from_raw_parts(*alternatives, *count) } };
    let left = (0..=alternatives.len()).rev();
    std::iter::once(picked).chain(alternatives).zip(left).all(|(one, left)| {
        let GivenAlternative { token, logprob, text: told, size } = *one;
        let (token, left) = (token.cast_signed(), i32::try_from(left).unwrap_or(i32::MAX));
        let first = [Argument { int: token }, Argument { double: f64::from(logprob) }, Argument { int: left }];
        // SAFETY: the text has `size` bytes.
        viewer.tell(method, &first, &[&unsafe { text(told, size) }])
    })
}
