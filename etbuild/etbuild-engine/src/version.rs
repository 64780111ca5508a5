//! The code version of each stage: the digest of the sources that implement it, computed when etbuild is built.

include!(concat!(env!("OUT_DIR"), "/versions.rs"));
