//! The content-addressed store: digests, blobs, action cache, locks, garbage collection.
