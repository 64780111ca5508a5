//! Functions of the firmware that an execution calls: for a watchdog, and for the time of operators.

use core::cell::Cell;
use core::ffi::c_void;

use et_core::Result;

use crate::{Events, Position};

/// Functions of C, each of which may be missing. All of them get `context`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Hooks {
    /// The first argument of each function.
    pub context: *mut c_void,
    /// Called between operators, and in long operators of delegates between rows.
    pub alive: Option<extern "C" fn(context: *mut c_void)>,
    /// Reads a counter that counts up, modulo 2^32.
    pub cycles: Option<extern "C" fn(context: *mut c_void) -> u32>,
    /// Called after each operator, with the number of the operator in the execution and what the counter counted meanwhile.
    pub executed: Option<extern "C" fn(context: *mut c_void, operator: u32, cycles: u32)>,
}

/// A listener that calls hooks. The layers that a delegate computes are operators too.
#[derive(Debug)]
pub struct Hooked {
    hooks: Cell<Hooks>,
    /// The number of the operator that runs.
    operator: Cell<u32>,
    /// The counter at the start of the operator.
    start: Cell<u32>,
}

impl Hooks {
    /// No functions.
    pub const NONE: Self = Self { context: core::ptr::null_mut(), alive: None, cycles: None, executed: None };
}

impl Hooked {
    /// A listener without hooks.
    pub const fn new() -> Self {
        Self { hooks: Cell::new(Hooks::NONE), operator: Cell::new(0), start: Cell::new(0) }
    }

    /// Sets the hooks.
    pub fn set(&self, hooks: Hooks) {
        self.hooks.set(hooks);
    }

    /// Counts operators from 0: for the start of an execution.
    pub fn restart(&self) {
        self.operator.set(0);
    }

    fn start(&self) {
        self.alive();
        self.start.set(self.cycles());
    }

    fn finish(&self) {
        let (hooks, operator) = (self.hooks.get(), self.operator.get());
        if let Some(executed) = hooks.executed {
            call_executed(executed, hooks.context, operator, self.cycles().wrapping_sub(self.start.get()));
        }
        self.operator.set(operator.wrapping_add(1));
    }

    fn alive(&self) {
        let hooks = self.hooks.get();
        if let Some(alive) = hooks.alive {
            call_alive(alive, hooks.context);
        }
    }

    fn cycles(&self) -> u32 {
        let hooks = self.hooks.get();
        hooks.cycles.map_or(0, |cycles| call_cycles(cycles, hooks.context))
    }
}

// Functions of their own, whose names say in the linker's map that a hook runs here: `etbuild_link::StackUse` leaves its stack to the caller.

#[inline(never)]
fn call_alive(alive: extern "C" fn(*mut c_void), context: *mut c_void) {
    alive(context);
}

#[inline(never)]
fn call_cycles(cycles: extern "C" fn(*mut c_void) -> u32, context: *mut c_void) -> u32 {
    cycles(context)
}

#[inline(never)]
fn call_executed(executed: extern "C" fn(*mut c_void, u32, u32), context: *mut c_void, operator: u32, cycles: u32) {
    executed(context, operator, cycles);
}

impl Default for Hooked {
    fn default() -> Self {
        Self::new()
    }
}

impl Events for &Hooked {
    fn begin(&mut self, _: Position) {
        self.start();
    }

    fn end(&mut self, _: Position) -> Result<()> {
        self.finish();
        Ok(())
    }

    fn part(&mut self, part: u32) {
        // The first part began with the call of the delegate.
        if part > 0 {
            self.finish();
            self.start();
        }
    }

    fn is_listening(&self) -> bool {
        self.hooks.get().alive.is_some()
    }

    fn pulse(&mut self) {
        self.alive();
    }
}
