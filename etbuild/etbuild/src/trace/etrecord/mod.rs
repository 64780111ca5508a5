//! An ETRecord, with which ExecuTorch's Inspector finds the operators, the modules and the lines of Python behind the events of an
//! ETDump, and computes the operators again to compare results.
//!
//! An ETRecord is a zip file (`devtools/etrecord/_etrecord.py` of ExecuTorch 1.4) with a program, and with maps from instructions to
//! the debug handles of the program's nodes. Upstream stores the program in the edge dialect; here the program is the graph that
//! `torch.export` captured, which the archive of the model has, and the operators are those of ATen.

mod archive;
mod handles;
mod inputs;
mod maps;
mod pickle;
mod record;
mod sizes;

pub use inputs::GivenInputs;
pub use record::etrecord;
