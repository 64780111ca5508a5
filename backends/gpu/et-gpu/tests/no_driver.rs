//! A machine without a Vulkan driver. One test, because the test changes the environment.
#![allow(unsafe_code, reason = "the environment is set before the Vulkan loader is loaded")]

use et_core::Error;
use et_gpu::{Session, device_summary, problem};
use et_runtime::Serial;

#[test]
fn a_missing_driver_is_an_error_in_words() {
    for name in ["VK_DRIVER_FILES", "VK_ICD_FILENAMES"] {
        // SAFETY: no other thread of the test binary reads the environment.
        unsafe { std::env::set_var(name, "/nonexistent/driver.json") };
    }
    assert_eq!(problem(), None);
    assert_eq!(device_summary().unwrap_err(), Error::NotSupported);
    assert!(problem().unwrap().starts_with("no Vulkan driver is installed: "));
    let refused = Session::load(&[], &Serial).err().unwrap();
    assert_eq!(refused.error, Error::NotSupported);
}
