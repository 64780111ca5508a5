//! YAML text to a tree whose every node knows its place, and from there to typed values.
