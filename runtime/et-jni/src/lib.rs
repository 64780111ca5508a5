//! The C interface of programs and language models for Java's native interface (JNI): the native half of the Kotlin package `etbuild`.
//!
//! The functions named `Java_etbuild_Native_*` convert the values of Java to types of `etbuild.h`, call the function of C, and throw an
//! `EtbuildException` for a failure. A process may load several libraries, and a native method of Java is bound to the function of
//! one of them. Thus each call names the library that owns the object, by the table [`Functions`] that the library registers when it is loaded.
//!
//! No third-party crate: of the functions of JNI, the crate declares the called ones.

mod content;
mod environment;
mod failure;
mod functions;
mod interface;
mod language;
mod load;
mod module;
mod options;
mod speech;
mod value;
mod viewer;

pub use functions::Functions;
pub use interface::Machine;
pub use load::loaded;
