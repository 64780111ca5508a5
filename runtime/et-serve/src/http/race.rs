//! Two futures of which the earlier counts. Tokio's `select!` would do it, whose macro crates compile a second variant of `syn`, and with that
//! of everything that derives code, in binaries with a server.

use std::future::{Future, poll_fn};
use std::pin::pin;

/// The output of the future that ends first; of `one` where both have ended.
pub async fn first<T>(one: impl Future<Output = T>, other: impl Future<Output = T>) -> T {
    let (mut one, mut other) = (pin!(one), pin!(other));
    poll_fn(|context| {
        let ended = one.as_mut().poll(context);
        if ended.is_ready() { ended } else { other.as_mut().poll(context) }
    })
    .await
}

#[cfg(test)]
mod tests {
    use std::future::{pending, ready};
    use std::task::{Context, Poll, Waker};

    use super::*;

    fn polled(future: impl Future<Output = u8>) -> Poll<u8> {
        pin!(future).poll(&mut Context::from_waker(Waker::noop()))
    }

    #[test]
    fn the_future_that_ends_counts() {
        assert_eq!(polled(first(ready(1), pending())), Poll::Ready(1));
        assert_eq!(polled(first(pending(), ready(2))), Poll::Ready(2));
        assert_eq!(polled(first(ready(1), ready(2))), Poll::Ready(1));
        assert_eq!(polled(first(pending(), pending())), Poll::Pending);
    }
}
