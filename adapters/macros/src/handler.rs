//! A marked method and the call of the builder that registers it.

use proc_macro2::TokenStream;
use quote::{format_ident, quote, quote_spanned};
use syn::ext::IdentExt as _;
use syn::spanned::Spanned as _;
use syn::{Attribute, Error, Ident, LitStr, Result};

use crate::attribute::{Options, doc_comment};
use crate::kind::Kind;
use crate::method::{Method, ReceiverForm};

/// A marked method.
pub(crate) struct Handler {
    kind: Kind,
    method: Ident,
    /// The conditions under which the method is compiled.
    conditions: Vec<Attribute>,
    output: TokenStream,
    is_async: bool,
    options: Options,
    receiver: Receiver,
    /// The types of the parameters after `self`.
    parameters: Vec<TokenStream>,
    /// The completions of its arguments.
    completions: Vec<Self>,
}

impl Handler {
    /// Takes the attribute off a method; returns `None` if the method is not marked.
    pub(crate) fn take(method: &mut Method) -> Result<Option<Self>> {
        let kind_of = |path: &syn::Path| Kind::ALL.into_iter().find(|it| path.is_ident(it.name()));
        let marked = method.attributes.iter().position(|it| kind_of(it.path()).is_some());
        let Some(attribute) = marked.map(|index| method.attributes.remove(index)) else {
            return Ok(None);
        };
        let Some(kind) = kind_of(attribute.path()) else { return Ok(None) };
        if let Some(second) = method.attributes.iter().position(|it| kind_of(it.path()).is_some()) {
            let second = method.attributes.remove(second);
            let why = "a method is one handler: mark it once, and call it from a second method";
            return Err(Error::new_spanned(second, why));
        }
        let mut options = Options::read(&attribute, kind)?;
        if options.description.is_none() {
            let text = doc_comment(&method.attributes);
            options.description = text.map(|text| LitStr::new(&text, method.name.span()));
        }
        if kind == Kind::Tool && options.description.is_none() {
            let why = "a tool needs a description for the model: add a doc comment, or \
                       `#[tool(description = \"..\")]`";
            return Err(Error::new_spanned(&method.name, why));
        }
        if let (Some(blocking), true) = (&options.blocking, method.is_async) {
            let why = "an `async` tool must not block: remove `async`, or `blocking`";
            return Err(Error::new_spanned(blocking, why));
        }
        let receiver = Receiver::read(method)?;
        if let Some((argument, _)) = options.arguments.first()
            && !method.parameters.iter().any(|of| of.to_string().ends_with("GetPrompt"))
        {
            let why = "the arguments of this prompt are the fields of its parameter: remove the \
                       option, or take `get: GetPrompt`";
            return Err(Error::new_spanned(argument, why));
        }
        if method.output.is_empty() && kind != Kind::Tool {
            let why = format!("a {} returns a value: {}", kind.name(), form(method));
            return Err(Error::new_spanned(&method.name, why));
        }
        let conditions = method.attributes.iter().filter(|it| it.path().is_ident("cfg"));
        Ok(Some(Self {
            kind,
            method: method.name.clone(),
            conditions: conditions.cloned().collect(),
            output: method.output.clone(),
            is_async: method.is_async,
            options,
            receiver,
            parameters: method.parameters.clone(),
            completions: Vec::new(),
        }))
    }

    pub(crate) const fn is_completion(&self) -> bool {
        self.options.completes.is_some()
    }

    /// Moves a completion to the handler whose argument it completes.
    pub(crate) fn attach(self, handlers: &mut [Self]) -> Result<()> {
        let Some((method, _)) = &self.options.completes else { return Ok(()) };
        let has_arguments = |of: &Self| of.kind == Kind::Prompt || of.is_template();
        match handlers.iter_mut().find(|of| of.method == *method && has_arguments(of)) {
            Some(handler) => handler.completions.push(self),
            None => {
                let why = format!(
                    "no method `{method}` with `#[prompt]` or `#[resource(\"notes://{{id}}\")]`: \
                     arguments of prompts and variables of templates have completions"
                );
                return Err(Error::new_spanned(method, why));
            }
        }
        Ok(())
    }

    /// Returns the statement that adds the handler to `server`.
    pub(crate) fn registration(&self, adapter: &TokenStream) -> TokenStream {
        let setters = self.options.setters(adapter);
        let default_name = LitStr::new(&self.method.unraw().to_string(), self.method.span());
        let name = self.options.name.as_ref().unwrap_or(&default_name);
        let description = self.options.description.iter();
        let handler = self.handler();
        let uri = self.options.uri.iter();
        let entry = match self.kind {
            Kind::Prompt | Kind::Completion => quote!(Prompt),
            Kind::Resource if self.is_template() => quote!(Template),
            Kind::Resource => quote!(Resource),
            Kind::Tool => quote!(Tool),
        };
        // With the span of the return type, which an error about the result then points at.
        let entry = quote_spanned! {self.output.span()=>
            #adapter::#entry::new(#(#uri,)* #name, #handler)
        };
        let scopes = &self.options.scopes;
        let requires = (!scopes.is_empty()).then(|| quote!(.requires([#(#scopes),*])));
        let on_pool = self.options.blocking.as_ref().map(|_| quote!(.always_on_pool()));
        let describe =
            (!setters.is_empty()).then(|| quote!(.describe(|definition| definition #setters)));
        let conditions = &self.conditions;
        let completions = self.completions.iter().map(Self::completion);
        quote! {
            #(#conditions)*
            {
                let entry = #entry #(.description(#description))* #describe #requires #on_pool;
                #(#completions)*
                edit.add(entry)?;
            }
        }
    }

    /// Returns the statement that adds the completion to `entry`.
    fn completion(&self) -> TokenStream {
        let (conditions, handler) = (&self.conditions, self.handler());
        let argument = self.options.completes.iter().map(|(_, argument)| argument);
        quote_spanned! {self.output.span()=>
            #(#conditions)*
            let entry = entry.completion(#(#argument,)* #handler);
        }
    }

    fn is_template(&self) -> bool {
        self.options.uri.as_ref().is_some_and(|uri| uri.value().contains('{'))
    }

    /// Returns the method as a handler. A future with `&self` borrows the state that it keeps.
    fn handler(&self) -> TokenStream {
        let Self { method, parameters, .. } = self;
        let span = self.output.span();
        if !self.is_async || self.receiver == Receiver::Arc {
            return quote_spanned!(span=> Self::#method);
        }
        let names: Vec<Ident> =
            (0..parameters.len()).map(|index| format_ident!("parameter_{index}")).collect();
        quote_spanned! {span=>
            |state: ::std::sync::Arc<Self>, #(#names: #parameters),*| async move {
                Self::#method(&state, #(#names),*).await
            }
        }
    }
}

/// How a method takes the state.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Receiver {
    /// `&self`
    Reference,
    /// `self: Arc<Self>`
    Arc,
}

impl Receiver {
    fn read(method: &Method) -> Result<Self> {
        let form = form(method);
        let Some(receiver) = &method.receiver else {
            let why = format!("a handler takes `&self`, the state that all handlers share: {form}");
            return Err(Error::new_spanned(&method.name, why));
        };
        let why = match &receiver.form {
            ReceiverForm::Reference => return Ok(Self::Reference),
            ReceiverForm::Typed(of) if is_arc_of_self(of) => return Ok(Self::Arc),
            ReceiverForm::MutReference => {
                "handlers run concurrently and take `&self`: protect what they change with a \
                 lock, "
            }
            ReceiverForm::Typed(_) | ReceiverForm::Value => "a handler takes `&self`: ",
        };
        Err(Error::new(receiver.span, format!("{why}{form}")))
    }
}

fn is_arc_of_self(of: &TokenStream) -> bool {
    let text = of.to_string().replace(' ', "");
    text.ends_with("Arc<Self>")
}

/// Returns the form of a handler, for errors.
fn form(method: &Method) -> String {
    let start = if method.is_async { "async fn" } else { "fn" };
    format!(
        "`{start} {}(&self, arguments: Arguments, cx: Cx) -> Result<.., HandlerError>`",
        method.name
    )
}
