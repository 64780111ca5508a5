//! What drivers have in common whose programs have no images: a buffer is a part of memory, and the host copies to memory itself.

pub mod buffer;
pub mod image;
pub mod resource;
pub mod staging;
pub mod timestamps;
