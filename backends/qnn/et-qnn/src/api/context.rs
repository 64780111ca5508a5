//! Contexts: graphs with their weights, which become a binary and come from one.

use core::ffi::c_void;
use core::ptr::{null, null_mut};

use et_core::Error;
use et_problem::{Outcome, Problem};

use super::abi::{Custom, Handle, WeightSharing, function, signature};
use super::device::Device;
use super::library::check;

/// A context on an NPU.
pub struct Context {
    pub(super) device: &'static Device,
    pub(super) handle: Handle,
}

// SAFETY: the library locks its handles itself; this code only passes them on.
unsafe impl Send for Context {}
// SAFETY: as above.
unsafe impl Sync for Context {}

impl Context {
    /// A context without graphs. With `shares_weights`, graphs store equal weights once, and only a phone can restore the context.
    ///
    /// # Errors
    /// The library's.
    pub fn create(device: &'static Device, shares_weights: bool) -> Outcome<Self> {
        let create: signature::ContextCreate = device.library.function(function::CONTEXT_CREATE)?;
        let mut handle = null_mut();
        let sharing = WeightSharing { option: 1, is_enabled: 1 };
        let option = Custom { option: 0, custom: &raw const sharing };
        let options = [(&raw const option).cast::<c_void>(), null()];
        let options = if shares_weights { options.as_ptr() } else { null() };
        // SAFETY: backend and device are open, and the options are null, or a list that ends with null and outlives the call; the function
        // writes a handle.
        check(unsafe { create(device.backend, device.device, options, &mut handle) }, "create a context")?;
        Ok(Self { device, handle })
    }

    /// The context of a binary. The library copies what it keeps.
    ///
    /// # Errors
    /// A damaged binary, a binary for another chip or of a newer kit.
    pub fn restore(device: &'static Device, binary: &[u8]) -> Outcome<Self> {
        let restore: signature::Restore = device.library.function(function::CONTEXT_RESTORE)?;
        let (mut handle, bytes) = (null_mut(), binary.as_ptr().cast());
        let (backend, npu, length) = (device.backend, device.device, binary.len() as u64);
        // SAFETY: the binary has the stated length and outlives the call; the function writes a handle.
        let status = unsafe { restore(backend, npu, null(), bytes, length, &mut handle, null_mut()) };
        check(status, "load the context binary")?;
        Ok(Self { device, handle })
    }

    /// The binary of the finalized graphs.
    ///
    /// # Errors
    /// The library's.
    pub fn binary(&self) -> Outcome<Vec<u8>> {
        let size: signature::BinarySize = self.device.library.function(function::CONTEXT_BINARY_SIZE)?;
        let mut length = 0;
        // SAFETY: the context is open; the function writes a number.
        check(unsafe { size(self.handle, &mut length) }, "measure the context binary")?;
        let length = usize::try_from(length)
            .map_err(|_| Problem::new(Error::DelegateInvalidHandle, "the context binary is too large"))?;
        let mut bytes = vec![0_u8; length];
        let write: signature::Binary = self.device.library.function(function::CONTEXT_BINARY)?;
        let mut written = 0;
        // SAFETY: the buffer has the stated length.
        let status = unsafe { write(self.handle, bytes.as_mut_ptr().cast::<c_void>(), length as u64, &mut written) };
        check(status, "write the context binary")?;
        bytes.truncate(usize::try_from(written).unwrap_or(length));
        Ok(bytes)
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        if let Ok(free) = self.device.library.function::<signature::ContextFree>(function::CONTEXT_FREE) {
            // SAFETY: the context is open, and graphs of the context have ended before their owner or lender.
            unsafe { free(self.handle, null_mut()) };
        }
    }
}
