//! The parameters of a handler method, recognized by their types.

use proc_macro2::TokenStream;
use quote::{ToTokens, format_ident, quote};
use syn::spanned::Spanned as _;
use syn::{Error, FnArg, Ident, ReceiverKind, Result, Signature, Type};

use crate::kind::Kind;

/// What a handler method takes after `self`, in its order.
pub(crate) struct Parameters {
    /// The names of the closure's parameters that the method receives.
    pub(crate) passed: Vec<Ident>,
    /// The type of the arguments of a tool or prompt; `None` if the method takes none.
    pub(crate) arguments: Option<Type>,
    /// The method takes `self: Arc<Self>`.
    pub(crate) is_arc: bool,
}

impl Parameters {
    pub(crate) fn read(signature: &Signature, kind: Kind) -> Result<Self> {
        let form = kind.form(signature);
        let is_arc = takes_arc(signature, &form)?;
        let mut parameters = Self { passed: Vec::new(), arguments: None, is_arc };
        for input in signature.inputs.iter().skip(1) {
            let FnArg::Typed(parameter) = input else { continue };
            let name =
                parameters.role(&parameter.ty, kind, signature.asyncness.is_some(), &form)?;
            if parameters.passed.contains(&name) {
                let why = format!("a second parameter of this type: {form}");
                return Err(Error::new_spanned(parameter, why));
            }
            parameters.passed.push(name);
        }
        Ok(parameters)
    }

    /// Returns the name of the closure's parameter with this type.
    fn role(&mut self, of: &Type, kind: Kind, is_async: bool, form: &str) -> Result<Ident> {
        let name = type_name(of);
        match (&*name, kind) {
            ("Cx", _) if is_async => {
                Err(Error::new_spanned(of, format!("an `async` handler takes `AsyncCx`: {form}")))
            }
            ("AsyncCx", _) if !is_async => {
                let why = format!("a handler takes `AsyncCx` only if it is `async`: {form}");
                Err(Error::new_spanned(of, why))
            }
            ("Cx" | "AsyncCx", _) => Ok(format_ident!("cx")),
            ("ReadResource", Kind::Resource) => Ok(format_ident!("read")),
            ("Variables", Kind::Resource) => Ok(Ident::new("variables", of.span())),
            ("GetPrompt", Kind::Prompt) if self.arguments.is_none() => Ok(format_ident!("get")),
            (_, Kind::Tool | Kind::Prompt) if !self.has_arguments() => {
                self.arguments = Some(of.clone());
                Ok(format_ident!("arguments"))
            }
            (_, Kind::Tool | Kind::Prompt) => {
                let why = format!(
                    "a {} takes one value with all of its arguments: put them into one struct, \
                     {form}",
                    kind.name()
                );
                Err(Error::new_spanned(of, why))
            }
            _ => {
                let why = format!("a {} does not take this parameter: {form}", kind.name());
                Err(Error::new_spanned(of, why))
            }
        }
    }

    fn has_arguments(&self) -> bool {
        self.arguments.is_some() || self.passed.iter().any(|name| name == "get")
    }

    /// Returns the expression that borrows or passes the state, which the closure calls `state`.
    pub(crate) fn receiver(&self) -> TokenStream {
        if self.is_arc { quote!(state) } else { quote!(&state) }
    }
}

/// Returns whether the method takes `self: Arc<Self>` rather than `&self`.
fn takes_arc(signature: &Signature, form: &str) -> Result<bool> {
    let Some(receiver) = signature.receiver() else {
        let why = format!("a handler takes `&self`, the state that all handlers share: {form}");
        return Err(Error::new_spanned(&signature.ident, why));
    };
    let why = match &receiver.kind {
        ReceiverKind::Reference(_, _, None) => return Ok(false),
        ReceiverKind::Typed(_, of) if signature.asyncness.is_some() && is_arc_of_self(of) => {
            return Ok(true);
        }
        ReceiverKind::Typed(_, of) if is_arc_of_self(of) => {
            "a function takes `&self`; only an `async` handler may take `self: Arc<Self>`: "
        }
        ReceiverKind::Reference(..) => {
            "handlers run concurrently and take `&self`: protect what they change with a lock, "
        }
        _ => "a handler takes `&self`: ",
    };
    Err(Error::new(receiver.self_token.span(), format!("{why}{form}")))
}

fn is_arc_of_self(of: &Type) -> bool {
    let text = of.to_token_stream().to_string().replace(' ', "");
    text.ends_with("Arc<Self>")
}

/// Returns the last segment of the path of a type; empty if the type is no path.
pub(crate) fn type_name(of: &Type) -> String {
    let Type::Path(path) = of else { return String::new() };
    path.path.segments.last().map(|last| last.ident.to_string()).unwrap_or_default()
}
