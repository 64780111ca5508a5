//! The contexts of the process: the graphs of a context binary share its weights, whichever delegate restored it first.

use std::sync::{Arc, Mutex, PoisonError, Weak};

use et_problem::Outcome;

use super::context::Context;
use super::device::Device;

/// A context binary by its memory. A context keeps nothing of that memory, but while it lives, the program file of its delegates does too.
type Key = (usize, usize);

static CONTEXTS: Mutex<Vec<(Key, Weak<Context>)>> = Mutex::new(Vec::new());

/// The context of a binary, restored unless another session holds it.
///
/// # Errors
/// As of [`Context::restore`].
pub fn restored(device: &'static Device, binary: &[u8]) -> Outcome<Arc<Context>> {
    let key = (binary.as_ptr().addr(), binary.len());
    let mut contexts = CONTEXTS.lock().unwrap_or_else(PoisonError::into_inner);
    contexts.retain(|(_, context)| context.strong_count() > 0);
    let known = contexts.iter().find(|(known, _)| *known == key).and_then(|(_, context)| context.upgrade());
    if let Some(context) = known {
        return Ok(context);
    }
    let context = Arc::new(Context::restore(device, binary)?);
    contexts.push((key, Arc::downgrade(&context)));
    Ok(context)
}
