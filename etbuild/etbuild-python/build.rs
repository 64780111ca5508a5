//! On macOS, the linker must leave the functions of Python to the interpreter that loads the module, and name the module without the folder of the
//! build.

fn main() {
    pyo3_build_config::add_extension_module_link_args();
    if std::env::var("CARGO_CFG_TARGET_OS").is_ok_and(|system| system == "macos") {
        println!("cargo::rustc-cdylib-link-arg=-Wl,-install_name,@rpath/_native.abi3.so");
    }
}
