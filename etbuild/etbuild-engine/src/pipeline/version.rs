//! The code version of each stage: the digest of the stage's sources, computed when etbuild is built.

include!(concat!(env!("OUT_DIR"), "/versions.rs"));
