//! Observers of events. Libraries never print.

/// Receives events of one kind, on any thread. Any `Fn(&E)` is an observer.
pub trait Observer<E>: Send + Sync {
    /// Called for each event.
    fn observe(&self, event: &E);
}

impl<E, F: Fn(&E) + Send + Sync> Observer<E> for F {
    fn observe(&self, event: &E) {
        self(event);
    }
}
