//! On macOS, the linker must leave the functions of Python to the interpreter that loads the module.

fn main() {
    pyo3_build_config::add_extension_module_link_args();
}
