//! Adapters of a loaded model: exchanged without another load.

use et_module::{Adapter, Module};

use crate::{Batch, Error, Model};

impl Model {
    /// Puts an adapter in the place of the one before, and begins a new text: the KV cache is of the adapter before.
    ///
    /// # Errors
    /// [`Error::NoAdapter`] for a program without an adapter in a data file; [`Error::Module`] for an adapter of other layers or ranks. The
    /// adapter before stays.
    pub fn exchange(&mut self, adapter: &Adapter) -> Result<(), Error> {
        exchange(&mut self.modules_mut(), adapter)?;
        self.reset();
        Ok(())
    }
}

impl Batch {
    /// Puts an adapter in the place of the one before.
    ///
    /// # Errors
    /// As [`Model::exchange`].
    pub fn exchange(&mut self, adapter: &Adapter) -> Result<(), Error> {
        exchange(&mut [self.module_mut()], adapter)
    }
}

/// Puts an adapter into all methods, or into none.
fn exchange(modules: &mut [&mut Module], adapter: &Adapter) -> Result<(), Error> {
    if modules.iter().all(|module| module.has_adapter(adapter)) {
        return Ok(());
    }
    let counts = modules.iter().map(|module| module.exchangeable(adapter)).collect::<Result<Vec<_>, _>>()?;
    if counts.iter().sum::<usize>() == 0 {
        return Err(Error::NoAdapter);
    }
    Ok(modules.iter_mut().try_for_each(|module| module.exchange(adapter))?)
}
