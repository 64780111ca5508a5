//! The compute queue: submissions, and waiting for their end by a timeline semaphore.
#![allow(unsafe_code, reason = "calls the Vulkan driver")]

use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use ash::vk;
use et_core::Error;

use super::failure::failed;
use crate::problem::{Outcome, Problem};

/// One wait of the driver, in nanoseconds.
const WAIT: u64 = 1_000_000_000;

/// The states of a queue.
const WORKS: u8 = 0;
const LOST: u8 = 1;
const HANGS: u8 = 2;

/// The compute queue of a device.
pub struct Queue {
    /// The queue, and the value of the semaphore at the end of the last submission.
    queue: Mutex<(vk::Queue, u64)>,
    semaphore: vk::Semaphore,
    state: AtomicU8,
    timeout: Duration,
}

impl Queue {
    /// The first queue of a family, with a timeline semaphore. An execution that takes longer than `timeout` is an error.
    pub fn new(device: &ash::Device, family: u32, timeout: Duration) -> Outcome<Self> {
        let mut kind = vk::SemaphoreTypeCreateInfo::default().semaphore_type(vk::SemaphoreType::TIMELINE);
        let info = vk::SemaphoreCreateInfo::default().push_next(&mut kind);
        // SAFETY: the device has timeline semaphores and was created with a queue of the family.
        let semaphore = unsafe { device.create_semaphore(&info, None) }.map_err(failed("create a semaphore"))?;
        // SAFETY: as before.
        let queue = unsafe { device.get_device_queue(family, 0) };
        Ok(Self { queue: Mutex::new((queue, 0)), semaphore, state: AtomicU8::new(WORKS), timeout })
    }

    /// Whether the device was lost or hangs: all later submissions fail.
    pub fn is_lost(&self) -> bool {
        self.state.load(Ordering::Acquire) != WORKS
    }

    /// Whether a submission has not ended in time, so that objects may be in use forever and must not be destroyed.
    pub fn hangs(&self) -> bool {
        self.state.load(Ordering::Acquire) == HANGS
    }

    /// Executes a recorded command buffer that is not executing, and waits for its end.
    pub fn run(&self, device: &ash::Device, commands: vk::CommandBuffer) -> Outcome<()> {
        let ended = self.submit(device, commands).and_then(|value| self.wait(device, value));
        ended.map_err(|result| match result {
            vk::Result::TIMEOUT => {
                self.state.store(HANGS, Ordering::Release);
                let sentence = format!("the GPU did not end an execution within {} seconds", self.timeout.as_secs());
                Problem::new(Error::DelegateInvalidHandle, sentence)
            }
            vk::Result::ERROR_DEVICE_LOST => {
                // A queue that hangs stays so.
                let _ = self.state.compare_exchange(WORKS, LOST, Ordering::AcqRel, Ordering::Acquire);
                failed("execute")(result)
            }
            _ => failed("execute")(result),
        })
    }

    fn submit(&self, device: &ash::Device, commands: vk::CommandBuffer) -> Result<u64, vk::Result> {
        if self.is_lost() {
            return Err(vk::Result::ERROR_DEVICE_LOST);
        }
        #[cfg(any(test, feature = "faults"))]
        if crate::faults::loses_device() {
            return Err(vk::Result::ERROR_DEVICE_LOST);
        }
        let mut queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        let (values, semaphores, buffers) = ([queue.1 + 1], [self.semaphore], [commands]);
        let mut timeline = vk::TimelineSemaphoreSubmitInfo::default().signal_semaphore_values(&values);
        let info = vk::SubmitInfo::default().command_buffers(&buffers).signal_semaphores(&semaphores);
        let infos = [info.push_next(&mut timeline)];
        // SAFETY: the lock excludes other uses of the queue, and the caller keeps the recorded objects.
        unsafe { device.queue_submit(queue.0, &infos, vk::Fence::null()) }?;
        queue.1 += 1;
        Ok(queue.1)
    }

    fn wait(&self, device: &ash::Device, value: u64) -> Result<(), vk::Result> {
        let (semaphores, values) = ([self.semaphore], [value]);
        let info = vk::SemaphoreWaitInfo::default().semaphores(&semaphores).values(&values);
        let start = Instant::now();
        loop {
            // SAFETY: the semaphore is a timeline semaphore of the device.
            match unsafe { device.wait_semaphores(&info, WAIT) } {
                Err(vk::Result::TIMEOUT) if start.elapsed() < self.timeout => {}
                ended => return ended,
            }
        }
    }

    /// Destroys the semaphore.
    ///
    /// # Safety
    /// No submission is executing, and the queue is used no more.
    pub unsafe fn destroy(&self, device: &ash::Device) {
        // SAFETY: guaranteed by the caller.
        unsafe { device.destroy_semaphore(self.semaphore, None) };
    }
}
