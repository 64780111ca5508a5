//! Who is told what happens. Libraries never print.

/// Receives events of one kind, on whichever thread they happen. Any `Fn(&E)` is one.
pub trait Observer<E>: Send + Sync {
    /// Something happened.
    fn observe(&self, event: &E);
}

impl<E, F: Fn(&E) + Send + Sync> Observer<E> for F {
    fn observe(&self, event: &E) {
        self(event);
    }
}
