//! The NPU: a backend of the library on a chip.

use core::ptr::{from_ref, null, null_mut};
use std::sync::{Mutex, PoisonError};

use et_problem::Outcome;

use super::abi::{self, Handle, SocOption, function, signature};
use super::library::{Library, check, library};
use super::log;

/// An opened NPU. Dropping an NPU, which happens where opening fails halfway, frees the handles in order.
pub struct Device {
    pub(super) library: &'static Library,
    log: Handle,
    pub(super) backend: Handle,
    pub(super) device: Handle,
    soc: u32,
}

// SAFETY: the library locks its handles itself; this code only passes them on.
unsafe impl Send for Device {}
// SAFETY: as above.
unsafe impl Sync for Device {}

/// The NPUs that this process has opened. An NPU stays open until the process ends, because all NPUs share the library's log and threads.
static OPEN: Mutex<Vec<&'static Device>> = Mutex::new(Vec::new());

/// Opens the NPU of a chip, by the vendor's number, once in a process. A phone has one chip; a build machine simulates any.
///
/// # Errors
/// No library, no NPU.
pub fn open(soc: u32) -> Outcome<&'static Device> {
    let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(device) = open.iter().find(|device| device.soc == soc) {
        return Ok(device);
    }
    let device: &Device = Box::leak(Box::new(Device::create(library()?, soc)?));
    open.push(device);
    Ok(device)
}

impl Device {
    fn create(library: &'static Library, soc: u32) -> Outcome<Self> {
        let mut made = Self { library, log: null_mut(), backend: null_mut(), device: null_mut(), soc };
        let log_create: signature::LogCreate = library.function(function::LOG_CREATE)?;
        // SAFETY: the callback lives forever; the function writes a handle.
        check(unsafe { log_create(log::keep, log::ERRORS, &mut made.log) }, "open its log")?;
        let backend_create: signature::BackendCreate = library.function(function::BACKEND_CREATE)?;
        // SAFETY: the log is open, there are no options; the function writes a handle.
        check(unsafe { backend_create(made.log, null(), &mut made.backend) }, "start")?;
        let device_create: signature::DeviceCreate = library.function(function::DEVICE_CREATE)?;
        let option = SocOption { option: 0, soc_before: soc, soc, reserved: 0 };
        let option = abi::Custom { option: 0, custom: &raw const option };
        let options = [from_ref(&option), null()];
        // SAFETY: the options are a list that ends with null and outlive the call; the function writes a handle.
        check(unsafe { device_create(made.log, options.as_ptr(), &mut made.device) }, "open the NPU")?;
        Ok(made)
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        let ends = [
            (function::DEVICE_FREE, self.device),
            (function::BACKEND_FREE, self.backend),
            (function::LOG_FREE, self.log),
        ];
        for (position, handle) in ends.into_iter().filter(|(_, handle)| !handle.is_null()) {
            if let Ok(free) = self.library.function::<signature::Free>(position) {
                // SAFETY: the handle is open, and no other code has the handle.
                unsafe { free(handle) };
            }
        }
    }
}
