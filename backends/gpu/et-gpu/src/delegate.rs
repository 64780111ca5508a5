//! The backend as a delegate.

use core::cell::OnceCell;

use et_core::{Args, Error, Result, Tensor};
use et_runtime::{Delegate, DelegateEvent, DelegateSetup, Workers};

use crate::private::private_states;
use crate::problem::report;
use crate::session::{Ended, Observe, Session};

/// The delegate of a blob.
struct Gpu<'a, F> {
    workers: &'a dyn Workers,
    session: OnceCell<Session<'a>>,
    /// Called after each dispatch.
    observe: Option<F>,
}

/// A delegate that executes its blob on the best GPU, and compiles kernels on `workers`. The first delegate of a process opens
/// the GPU. The words of a failure are in [`crate::problem()`].
pub fn delegate(workers: &dyn Workers) -> impl Delegate<'_> {
    Gpu::<fn(&Ended)> { workers, session: OnceCell::new(), observe: None }
}

/// A delegate as of [`delegate`] that reports each dispatch to `listen`, with the time of the device where the device has a
/// clock. The instruction of the event is an [`Ended`]; results stay on the GPU.
pub fn reporting_delegate<'a>(workers: &'a dyn Workers, listen: impl Fn(&DelegateEvent<'_>) + 'a) -> impl Delegate<'a> {
    let observe = move |ended: &Ended| {
        let duration = ended.duration;
        listen(&DelegateEvent { name: "Dispatch", instruction: ended, duration, results: &|_| () });
    };
    Gpu { workers, session: OnceCell::new(), observe: Some(observe) }
}

impl<'a, F: Fn(&Ended)> Delegate<'a> for Gpu<'a, F> {
    fn init(&self, setup: &DelegateSetup<'a>) -> Result<()> {
        let session = report(Session::load(setup.blob, self.workers))?;
        // A malformed method keeps no state: the runtime reports what is malformed, if the method is loaded.
        let session = session.keeping(private_states(setup).unwrap_or_default());
        self.session.set(session).map_err(|_| Error::InvalidState)
    }

    fn execute(&self, arguments: &Args<'a, '_>) -> Result<()> {
        let session = self.session.get().ok_or(Error::DelegateInvalidHandle)?;
        let observe = self.observe.as_ref().map(|observe| observe as Observe<'_>);
        report(session.execute(arguments, observe))
    }

    fn store_state(&self, state: &Tensor<'_>) -> Result<()> {
        let session = self.session.get().ok_or(Error::DelegateInvalidHandle)?;
        report(session.store_state(state))
    }
}
