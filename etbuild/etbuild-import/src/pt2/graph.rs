//! From the program of an archive to a graph, still with in-place operators.

use std::collections::{HashMap, HashSet};

use etbuild_ir::{Update, ValueId, ValueKind};

use super::archive::Archive;
use super::body::Body;
use super::bound;
use super::model::{Argument, InputSpec, Model, Named, OutputSpec};
use super::symbol::Symbols;
use super::weights::Weights;
use crate::ImportError;
use crate::custom::CustomSchemas;
use crate::functionalize::Captured;

/// Builds the graph.
///
/// # Errors
/// Every unsupported part of the program.
pub fn build(archive: &Archive, model: &Model, custom: &CustomSchemas) -> Result<Captured, Vec<ImportError>> {
    let symbols = bound::symbols(model);
    let weights = Weights::open(archive).map_err(|error| vec![error])?;
    let body = Body::new(&model.graph_module.graph, &symbols, custom);
    let mut builder = Builder { model, symbols: &symbols, weights, body, named: HashMap::new() };
    let mut errors = Vec::new();
    let used = builder.used_names();
    let signature = &model.graph_module.signature;
    errors.extend(signature.input_specs.iter().filter_map(|spec| builder.input(spec, &used).err()));
    errors.extend(model.graph_module.graph.nodes.iter().filter_map(|node| builder.body.node(node, 0).err()));
    let outputs = signature.output_specs.iter().enumerate();
    errors.extend(outputs.filter_map(|(index, spec)| builder.output(index, spec).err()));
    let errors = causes(errors);
    if errors.is_empty() { Ok(builder.body.captured) } else { Err(errors) }
}

/// The errors without duplicates and without follow-ups: a value that could not be defined is also undefined where it
/// is read.
fn causes(mut errors: Vec<ImportError>) -> Vec<ImportError> {
    let mut seen = HashSet::new();
    errors.retain(|error| seen.insert(error.to_string()));
    let follows = |error: &ImportError| matches!(error, ImportError::Undefined(_));
    if !errors.iter().all(follows) {
        errors.retain(|error| !follows(error));
    }
    errors
}

struct Builder<'a> {
    model: &'a Model,
    symbols: &'a Symbols,
    weights: Weights<'a>,
    body: Body<'a>,
    /// Weights by qualified name. Accessed by key only: iteration order is random.
    named: HashMap<&'a str, ValueId>,
}

impl<'a> Builder<'a> {
    /// The names that nodes or outputs read. Weights with other names are not imported.
    fn used_names(&self) -> HashSet<String> {
        let module = &self.model.graph_module;
        let read_by_nodes = module.graph.nodes.iter().flat_map(|node| &node.inputs).map(|input| &input.arg);
        let outputs = &module.signature.output_specs;
        let returned = outputs.iter().filter_map(|spec| match spec {
            OutputSpec::UserOutput { arg } => Some(arg),
            _ => None,
        });
        let read = read_by_nodes.chain(returned).flat_map(Argument::names).map(str::to_owned);
        read.chain(self.updated_names()).collect()
    }

    /// The names in the graph of weights that the program updates.
    fn updated_names(&self) -> impl Iterator<Item = String> {
        let signature = &self.model.graph_module.signature;
        let updated: HashSet<&str> = signature.output_specs.iter().filter_map(OutputSpec::updated_weight).collect();
        let weights = signature.input_specs.iter().filter_map(InputSpec::weight);
        weights.filter(move |(_, name)| updated.contains(name)).map(|(arg, _)| arg.name.clone())
    }

    fn input(&mut self, spec: &'a InputSpec, used: &HashSet<String>) -> Result<(), ImportError> {
        if let Some((arg, name)) = spec.weight() {
            return if used.contains(&arg.name) { self.weight(arg, name) } else { Ok(()) };
        }
        match spec {
            InputSpec::UserInput { arg: Argument::AsTensor(named) } => {
                let id = self.body.define(&named.name, ValueKind::Input)?;
                self.body.captured.graph.inputs.push(id);
                Ok(())
            }
            InputSpec::UserInput { arg: Argument::AsNone(_) } | InputSpec::ConstantInput(_) | InputSpec::Token(_) => {
                Ok(())
            }
            InputSpec::CustomObj { custom_obj_name } => Err(ImportError::CustomObject(custom_obj_name.clone())),
            _ => Err(ImportError::NotTensor("an input".into())),
        }
    }

    fn weight(&mut self, arg: &Named, qualified_name: &'a str) -> Result<(), ImportError> {
        let (spec, data) = self.weights.load(qualified_name, self.symbols)?;
        let kind = ValueKind::Constant { qualified_name: qualified_name.to_owned(), data };
        let id = self.body.captured.graph.add_value(&arg.name, spec, kind);
        self.body.captured.row_major.insert(id, true);
        self.named.insert(qualified_name, id);
        self.body.scope.define(&arg.name, id)
    }

    fn output(&mut self, index: usize, spec: &OutputSpec) -> Result<(), ImportError> {
        match spec {
            OutputSpec::UserOutput { arg } => self.user_output(index, arg),
            OutputSpec::BufferMutation { arg, .. } | OutputSpec::ParameterMutation { arg, .. } => {
                let target = spec.updated_weight().and_then(|name| self.named.get(name).copied());
                self.update(target.ok_or_else(|| ImportError::Undefined(arg.name.clone()))?, arg)
            }
            OutputSpec::UserInputMutation { arg, user_input_name } => {
                let target = self.body.scope.find(user_input_name)?;
                self.update(target, arg)
            }
            OutputSpec::LossOutput(_) | OutputSpec::GradientToParameter(_) | OutputSpec::GradientToUserInput(_) => {
                Err(ImportError::Training(index))
            }
            OutputSpec::Token(_) => Ok(()),
        }
    }

    fn user_output(&mut self, index: usize, arg: &Argument) -> Result<(), ImportError> {
        let tensor = match arg {
            Argument::AsTensor(named) => Some(named.name.as_str()),
            _ => None,
        };
        let name = tensor.or(arg.number()).ok_or_else(|| ImportError::NotTensor(format!("output {index}")))?;
        let id = self.body.scope.find(name)?;
        self.body.captured.graph.outputs.push(id);
        Ok(())
    }

    fn update(&mut self, target: ValueId, arg: &Named) -> Result<(), ImportError> {
        let value = self.body.scope.find(&arg.name)?;
        self.body.captured.graph.updates.push(Update { target, value });
        Ok(())
    }
}
