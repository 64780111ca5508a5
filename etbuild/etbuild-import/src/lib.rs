//! Model files to programs: one module per format.
