//! The objects of Java that are told answers.
#![expect(unsafe_code, reason = "C calls the functions with pointers")]

use std::ffi::{CStr, c_char, c_void};
use std::slice;

use et_c::functions::GivenCall;

use crate::environment::Environment;
use crate::failure::{Failure, Result};
use crate::interface::{Argument, Member, Object};

/// The object that is told an answer.
pub struct Viewer {
    environment: Environment,
    object: Object,
    see: Member,
    /// The methods `think` and `call`, of an object that is told thoughts and calls apart.
    apart: Option<[Member; 2]>,
    /// What went wrong in Java: ends the answer.
    pub failure: Option<Failure>,
}

impl Viewer {
    /// Finds the methods of an object.
    pub fn new(environment: Environment, object: Object, is_apart: bool) -> Result<Self> {
        let see = environment.method(object, c"see", c"(ILjava/lang/String;)Z")?;
        let found = || -> Result<[Member; 2]> {
            let think = environment.method(object, c"think", c"(Ljava/lang/String;)Z")?;
            let call =
                environment.method(object, c"call", c"(Ljava/lang/String;Ljava/lang/String;Ljava/lang/String;)Z")?;
            Ok([think, call])
        };
        Ok(Self { environment, object, see, apart: is_apart.then(found).transpose()?, failure: None })
    }

    /// Whether more is wanted after a method with texts as the last arguments; a failure in Java ends the answer.
    fn tell(&mut self, method: Member, first: Option<Argument>, texts: &[&str]) -> bool {
        if self.failure.is_some() {
            return false;
        }
        let told = || -> Result<bool> {
            let strings = texts.iter().map(|text| self.environment.string(text)).collect::<Result<Vec<Object>>>()?;
            let objects = strings.iter().map(|object| Argument { object: *object });
            let arguments: Vec<Argument> = first.into_iter().chain(objects).collect();
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
    viewer.tell(viewer.see, Some(Argument { int: token.cast_signed() }), &[&told])
}

/// The text function of C, for thoughts.
pub unsafe extern "C" fn thought(context: *mut c_void, told: *const c_char, size: usize) -> bool {
    // SAFETY: as of `seen`.
    let (viewer, told) = unsafe { (viewer(context), text(told, size)) };
    viewer.apart.is_none_or(|[think, _]| viewer.tell(think, None, &[&told]))
}

/// The call function of C.
pub unsafe extern "C" fn called(context: *mut c_void, call: *const GivenCall) -> bool {
    // SAFETY: as of `seen`; the call and its texts live until the function returns.
    let (viewer, GivenCall { id, name, arguments }) = unsafe { (viewer(context), *call) };
    // SAFETY: the texts are terminated.
    let texts = [id, name, arguments].map(|text| unsafe { CStr::from_ptr(text) }.to_string_lossy());
    let [id, name, arguments] = &texts;
    viewer.apart.is_none_or(|[_, call]| viewer.tell(call, None, &[id, name, arguments]))
}
