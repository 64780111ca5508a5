//! From the archive's program to a graph, still with operators that write in place.

use std::collections::HashSet;
use std::sync::Arc;

use etbuild_ir::{Node, OperatorName, ValueId, ValueKind};

use super::archive::Archive;
use super::argument;
use super::model::{self, Argument, InputSpec, Model, OutputSpec};
use super::scope::Scope;
use super::spec::Layout;
use super::weights::Weights;
use crate::ImportError;
use crate::functionalize::Captured;
use crate::schema::{self, Schema};

/// Builds the graph, with every reason why that is impossible.
pub fn build(archive: &Archive, model: &Model) -> Result<Captured, Vec<ImportError>> {
    let weights = Weights::open(archive).map_err(|error| vec![error])?;
    let mut builder = Builder { model, weights, scope: Scope::default(), captured: Captured::default() };
    let mut errors = Vec::new();
    let used = builder.used_names();
    let signature = &model.graph_module.signature;
    errors.extend(signature.input_specs.iter().filter_map(|spec| builder.input(spec, &used).err()));
    errors.extend(model.graph_module.graph.nodes.iter().filter_map(|node| builder.node(node).err()));
    let outputs = signature.output_specs.iter().enumerate();
    errors.extend(outputs.filter_map(|(index, spec)| builder.output(index, spec).err()));
    let errors = causes(errors);
    if errors.is_empty() { Ok(builder.captured) } else { Err(errors) }
}

/// Each error once, without those that follow from another: what could not be defined is undefined where it is read.
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
    weights: Weights<'a>,
    scope: Scope,
    captured: Captured,
}

impl Builder<'_> {
    /// Every name that a node or an output reads: weights of other names are not part of the program.
    fn used_names(&self) -> HashSet<String> {
        let module = &self.model.graph_module;
        let read_by_nodes = module.graph.nodes.iter().flat_map(|node| &node.inputs).map(|input| &input.arg);
        let returned = module.signature.output_specs.iter().filter_map(|spec| match spec {
            OutputSpec::UserOutput { arg } => Some(arg),
            _ => None,
        });
        read_by_nodes.chain(returned).flat_map(Argument::names).map(str::to_owned).collect()
    }

    fn input(&mut self, spec: &InputSpec, used: &HashSet<String>) -> Result<(), ImportError> {
        match spec {
            InputSpec::UserInput { arg: Argument::AsTensor(named) } => {
                let id = self.define(&named.name, ValueKind::Input)?;
                self.captured.graph.inputs.push(id);
                Ok(())
            }
            InputSpec::UserInput { arg: Argument::AsNone(_) } | InputSpec::ConstantInput(_) | InputSpec::Token(_) => {
                Ok(())
            }
            InputSpec::UserInput { .. } => Err(ImportError::NotTensor("an input".into())),
            InputSpec::CustomObj { custom_obj_name } => Err(ImportError::CustomObject(custom_obj_name.clone())),
            InputSpec::Parameter { arg, parameter_name: name }
            | InputSpec::Buffer { arg, buffer_name: name }
            | InputSpec::TensorConstant { arg, tensor_constant_name: name } => {
                if used.contains(&arg.name) {
                    self.weight(&arg.name, name)
                } else {
                    Ok(())
                }
            }
        }
    }

    fn weight(&mut self, name: &str, qualified_name: &str) -> Result<(), ImportError> {
        let (spec, data) = self.weights.load(qualified_name)?;
        let kind = ValueKind::Constant { qualified_name: qualified_name.to_owned(), data };
        let id = self.captured.graph.add_value(name, spec, kind);
        self.captured.row_major.insert(id, true);
        self.scope.define(name, id)
    }

    /// Defines the value of a name with the type and shape that the archive states.
    fn define(&mut self, name: &str, kind: ValueKind) -> Result<ValueId, ImportError> {
        let meta = self.model.graph_module.graph.tensor_values.get(name);
        let layout = Layout::read(name, meta.ok_or_else(|| ImportError::Undefined(name.to_owned()))?)?;
        let row_major = layout.is_row_major();
        let id = self.captured.graph.add_value(name, layout.spec, kind);
        self.captured.row_major.insert(id, row_major);
        self.scope.define(name, id)?;
        Ok(id)
    }

    fn node(&mut self, node: &model::Node) -> Result<(), ImportError> {
        let called = operator(&node.target);
        let outputs = self.outputs(node);
        let (operator, schema) = called?;
        if !schema.returns && !schema.parameters.iter().any(|parameter| parameter.written) {
            return Ok(()); // An assertion about what the shapes in the archive already say.
        }
        let arguments = argument::complete(&self.scope, operator.as_str(), &schema, &node.inputs)?;
        self.captured.graph.nodes.push(Node { operator, arguments, outputs: outputs? });
        Ok(())
    }

    fn outputs(&mut self, node: &model::Node) -> Result<Vec<ValueId>, ImportError> {
        let origin = node.metadata.nn_module_stack.as_deref().and_then(module_path);
        let mut ids = Vec::new();
        for output in &node.outputs {
            if let Argument::AsSymInt(_) | Argument::AsSymBool(_) | Argument::AsSymFloat(_) = output {
                return Err(ImportError::DynamicShape(node.target.clone()));
            }
            for name in output.names() {
                ids.push(self.define(name, ValueKind::Computed)?);
            }
        }
        for (id, origin) in ids.iter().zip(std::iter::repeat(origin)) {
            origin.map(|origin| self.captured.graph.origins.insert(*id, Arc::from(origin)));
        }
        Ok(ids)
    }

    fn output(&mut self, index: usize, spec: &OutputSpec) -> Result<(), ImportError> {
        match spec {
            OutputSpec::UserOutput { arg: Argument::AsTensor(named) } => {
                let id = self.scope.find(&named.name)?;
                self.captured.graph.outputs.push(id);
                Ok(())
            }
            OutputSpec::UserOutput { .. } => Err(ImportError::NotTensor(format!("output {index}"))),
            OutputSpec::BufferMutation { buffer_name: name }
            | OutputSpec::ParameterMutation { parameter_name: name } => Err(ImportError::State(name.clone())),
            OutputSpec::UserInputMutation { user_input_name } => {
                Err(ImportError::MutatedInput(user_input_name.clone()))
            }
            OutputSpec::LossOutput(_) | OutputSpec::GradientToParameter(_) | OutputSpec::GradientToUserInput(_) => {
                Err(ImportError::State(format!("output {index} of a training step")))
            }
            OutputSpec::Token(_) => Ok(()),
        }
    }
}

/// What a node calls.
fn operator(target: &str) -> Result<(OperatorName, Schema<'static>), ImportError> {
    let unknown = || ImportError::UnknownOperator(target.to_owned());
    if target.starts_with("_operator.") || target.starts_with("math.") {
        return Err(ImportError::DynamicShape(target.to_owned()));
    }
    let name = target.strip_prefix("torch.ops.").ok_or_else(unknown)?;
    if name.starts_with("higher_order.") {
        return Err(ImportError::HigherOrder(name.to_owned()));
    }
    let operator = OperatorName::parse(name).ok_or_else(unknown)?;
    let schema = schema::find(&operator).ok_or_else(unknown)?;
    Ok((operator, schema))
}

/// The path of the innermost module of a stack `key,path,class;key,path,class`; nothing for the model itself.
fn module_path(stack: &str) -> Option<&str> {
    let innermost = stack.rsplit(';').next()?;
    innermost.split(',').nth(1).filter(|path| !path.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_innermost_module_is_named() {
        let stack = "L__self__,,__main__.Digits;L__self__conv1,conv1,torch.nn.modules.conv.Conv2d";
        assert_eq!(module_path(stack), Some("conv1"));
        assert_eq!(module_path("L__self__,,__main__.Digits"), None);
    }

    #[test]
    fn what_is_no_operator_is_named() {
        assert_eq!(
            operator("torch.ops.higher_order.cond").unwrap_err(),
            ImportError::HigherOrder("higher_order.cond".into())
        );
        assert_eq!(operator("_operator.add").unwrap_err(), ImportError::DynamicShape("_operator.add".into()));
        let missing = "torch.ops.mylib.secret.default";
        assert_eq!(operator(missing).unwrap_err(), ImportError::UnknownOperator(missing.into()));
    }
}
