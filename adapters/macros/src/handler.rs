//! A marked method and the call of the builder that registers it.

use proc_macro2::TokenStream;
use quote::{format_ident, quote, quote_spanned};
use syn::ext::IdentExt as _;
use syn::spanned::Spanned as _;
use syn::{Attribute, Error, Ident, ImplItemFn, LitStr, Result, ReturnType};

use crate::attribute::{Options, doc_comment};
use crate::kind::Kind;
use crate::parameters::{Parameters, type_name};

/// A marked method.
pub(crate) struct Handler {
    kind: Kind,
    method: Ident,
    /// The conditions under which the method is compiled.
    conditions: Vec<Attribute>,
    output: ReturnType,
    is_async: bool,
    options: Options,
    parameters: Parameters,
}

impl Handler {
    /// Takes the attribute off a method; returns `None` if the method is not marked.
    pub(crate) fn take(method: &mut ImplItemFn) -> Result<Option<Self>> {
        let kind_of = |path: &syn::Path| Kind::ALL.into_iter().find(|it| path.is_ident(it.name()));
        let marked = method.attrs.iter().position(|it| kind_of(it.path()).is_some());
        let Some(attribute) = marked.map(|index| method.attrs.remove(index)) else {
            return Ok(None);
        };
        let Some(kind) = kind_of(attribute.path()) else { return Ok(None) };
        if let Some(second) = method.attrs.iter().position(|it| kind_of(it.path()).is_some()) {
            let second = method.attrs.remove(second);
            let why = "a method is one handler: mark it once, and call it from a second method";
            return Err(Error::new_spanned(second, why));
        }
        let mut options = Options::read(&attribute, kind)?;
        let signature = &method.sig;
        if options.description.is_none() {
            let text = doc_comment(&method.attrs);
            options.description = text.map(|text| LitStr::new(&text, signature.ident.span()));
        }
        if kind == Kind::Tool && options.description.is_none() {
            let why = "a tool needs a description for the model: add a doc comment, or \
                       `#[tool(description = \"..\")]`";
            return Err(Error::new_spanned(&signature.ident, why));
        }
        if let (Some(blocking), Some(_)) = (&options.blocking, signature.asyncness) {
            let why = "an `async` tool must not block: remove `async`, or `blocking`";
            return Err(Error::new_spanned(blocking, why));
        }
        let parameters = Parameters::read(signature, kind)?;
        if kind == Kind::Prompt && parameters.arguments.is_some() {
            check_typed_prompt(&options, &signature.ident)?;
        }
        let variables = parameters.passed.iter().find(|name| *name == "variables");
        if let (Some(variables), Some(uri)) = (variables, &options.uri)
            && !uri.value().contains('{')
        {
            let why = "only a template has `Variables`: name them in the URI, as in \
                       `#[resource(\"notes://{id}\")]`, or remove the parameter";
            return Err(Error::new(variables.span(), why));
        }
        if matches!(signature.output, ReturnType::Default) && kind != Kind::Tool {
            let why = format!("a {} returns a result: {}", kind.name(), kind.form(signature));
            return Err(Error::new_spanned(&signature.ident, why));
        }
        let conditions = method.attrs.iter().filter(|it| it.path().is_ident("cfg"));
        Ok(Some(Self {
            kind,
            method: signature.ident.clone(),
            conditions: conditions.cloned().collect(),
            output: signature.output.clone(),
            is_async: signature.asyncness.is_some(),
            options,
            parameters,
        }))
    }

    /// Returns the statement that adds the handler to `server`.
    pub(crate) fn registration(&self, adapter: &TokenStream) -> TokenStream {
        let schema = quote!(#adapter::proto::schema);
        let setters = self.options.setters(adapter);
        let default_name = LitStr::new(&self.method.unraw().to_string(), self.method.span());
        let name = self.options.name.as_ref().unwrap_or(&default_name);
        let description = self.options.description.iter();
        let handler = self.closure(adapter);
        let uri = self.options.uri.iter();
        let (register, definition) = match self.kind {
            Kind::Prompt if self.parameters.arguments.is_some() => (
                self.builder("prompt_described"),
                quote!(#name, #(#description)*, |prompt| prompt #setters),
            ),
            Kind::Prompt => (
                self.builder("prompt_with"),
                quote!(#schema::Prompt::new(#name) #(.description(#description))* #setters),
            ),
            Kind::Resource if self.is_template() => (
                self.builder("resource_template"),
                quote! {
                    #schema::ResourceTemplate::new(#(#uri)*, #name)
                        #(.description(#description))* #setters
                },
            ),
            Kind::Resource => (
                self.builder("resource"),
                quote! {
                    #schema::Resource::new(#(#uri)*, #name)
                        #(.description(#description))* #setters
                },
            ),
            Kind::Tool => (
                self.builder(match self.options.blocking {
                    Some(_) => "tool_described_blocking",
                    None => "tool_described",
                }),
                quote!(#name, #(#description)*, |tool| tool #setters),
            ),
        };
        // With the span of the return type, which an error about the result then points at.
        let registered =
            quote_spanned!(self.output.span()=> server.#register(#definition, #handler));
        let scopes = &self.options.scopes;
        let requires = (!scopes.is_empty()).then(|| quote!(.requires([#(#scopes),*])));
        let conditions = &self.conditions;
        quote!(#(#conditions)* let server = #registered #requires;)
    }

    fn is_template(&self) -> bool {
        self.options.uri.as_ref().is_some_and(|uri| uri.value().contains('{'))
    }

    /// Returns the builder's method for functions or for futures.
    fn builder(&self, name: &str) -> Ident {
        let span = self.output.span();
        let name = if self.is_async { format!("{name}_async") } else { name.to_owned() };
        Ident::new(&name, span)
    }

    /// Returns the method as a handler.
    fn closure(&self, adapter: &TokenStream) -> TokenStream {
        let schema = quote!(#adapter::proto::schema);
        let method = &self.method;
        let passed = &self.parameters.passed;
        let cx = if self.is_async { quote!(#adapter::AsyncCx) } else { quote!(#adapter::Cx) };
        let request = match (self.kind, &self.parameters.arguments) {
            (Kind::Prompt, None) => quote!(get: #schema::GetPrompt),
            (Kind::Resource, _) if self.is_template() => {
                quote!(read: #schema::ReadResource, variables: #adapter::proto::catalog::Variables)
            }
            (Kind::Resource, _) => quote!(read: #schema::ReadResource),
            (Kind::Prompt | Kind::Tool, Some(arguments)) => quote!(arguments: #arguments),
            (Kind::Tool, None) => quote!(arguments: ()),
        };
        let adapt = match (self.is_template(), self.is_async) {
            (false, false) => format_ident!("handler"),
            (false, true) => format_ident!("handler_async"),
            (true, false) => format_ident!("template_handler"),
            (true, true) => format_ident!("template_handler_async"),
        };
        let span = self.output.span();
        if self.is_async {
            let receiver = self.parameters.receiver();
            let call = quote_spanned!(span=> Self::#method(#receiver, #(#passed),*).await);
            let call = self.result(call, adapter);
            return quote! {
                state.#adapt(
                    #[allow(unused_variables)]
                    |state: ::std::sync::Arc<Self>, #request, cx: #cx| async move { #call }
                )
            };
        }
        let call = quote_spanned!(span=> Self::#method(state, #(#passed),*));
        let call = self.result(call, adapter);
        quote! {
            state.#adapt(
                #[allow(unused_variables)]
                |state: &Self, #request, cx: #cx| #call
            )
        }
    }

    /// Wraps the value of a method that cannot fail. A `Result` is recognized by its name.
    fn result(&self, call: TokenStream, adapter: &TokenStream) -> TokenStream {
        let name = match &self.output {
            ReturnType::Type(_, of) => type_name(of),
            ReturnType::Default => String::new(),
        };
        if name == "Result" {
            return call;
        }
        quote_spanned!(call.span()=> ::core::result::Result::<_, #adapter::ToolError>::Ok(#call))
    }
}

/// Checks the options of a prompt whose arguments are a type.
fn check_typed_prompt(options: &Options, method: &Ident) -> Result<()> {
    if let Some((argument, _)) = options.arguments.first() {
        let why = "the arguments of this prompt are the fields of its parameter: remove the \
                   option, or take `get: GetPrompt`";
        return Err(Error::new_spanned(argument, why));
    }
    if options.description.is_none() {
        let why = "a prompt with typed arguments needs a description: add a doc comment, or \
                   `#[prompt(description = \"..\")]`";
        return Err(Error::new_spanned(method, why));
    }
    Ok(())
}
