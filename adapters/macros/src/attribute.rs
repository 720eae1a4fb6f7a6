//! The options of the attributes of methods, and doc comments as descriptions.

use proc_macro2::TokenStream;
use quote::quote;
use syn::meta::ParseNestedMeta;
use syn::parse::{ParseStream, Parser as _};
use syn::{Attribute, Error, Expr, ExprLit, Lit, LitBool, LitStr, Meta, Result, Token, token};

use crate::kind::Kind;

/// The options of a handler, in the order in which they are applied.
#[derive(Default)]
pub(crate) struct Options {
    /// The method whose argument a completion completes, and the argument.
    pub(crate) completes: Option<(syn::Ident, LitStr)>,
    /// The URI of a resource, or the URI template of a resource template.
    pub(crate) uri: Option<LitStr>,
    pub(crate) name: Option<LitStr>,
    pub(crate) title: Option<LitStr>,
    pub(crate) description: Option<LitStr>,
    pub(crate) mime_type: Option<LitStr>,
    /// The hints about a tool: the method of `ToolAnnotations` and the value.
    pub(crate) hints: Vec<(syn::Ident, LitBool)>,
    /// The mark of a tool that always runs on the thread pool.
    pub(crate) blocking: Option<syn::Path>,
    /// The arguments of a prompt, and whether each is required.
    pub(crate) arguments: Vec<(LitStr, bool)>,
    /// The scopes that an access token needs.
    pub(crate) scopes: Vec<LitStr>,
}

/// The options that each kind of handler takes.
const TOOL: &str = "`name`, `title`, `description`, `read_only`, `destructive`, `idempotent`, \
                    `open_world`, `blocking` and `requires = [\"scope\", ..]`";
const RESOURCE: &str = "the URI, `name`, `title`, `description`, `mime_type` and \
                        `requires = [\"scope\", ..]`";
const PROMPT: &str = "`name`, `title`, `description`, `required(\"argument\", ..)`, \
                      `optional(\"argument\", ..)` and `requires = [\"scope\", ..]`";

impl Options {
    pub(crate) fn read(attribute: &Attribute, kind: Kind) -> Result<Self> {
        let mut options = Self::default();
        if kind == Kind::Completion {
            let form = "name a method with `#[prompt]` or `#[resource(\"notes://{id}\")]`, and \
                        what is completed: `#[completion(note, \"id\")]`";
            let read = attribute.parse_args_with(|input: ParseStream<'_>| {
                let method = input.parse()?;
                input.parse::<Token![,]>()?;
                Ok((method, input.parse()?))
            });
            options.completes = Some(read.map_err(|_| Error::new_spanned(attribute, form))?);
            return Ok(options);
        }
        match &attribute.meta {
            Meta::Path(_) => {}
            Meta::List(list) => list.parse_args_with(|input: ParseStream<'_>| {
                if kind == Kind::Resource && input.peek(LitStr) {
                    options.uri = Some(input.parse()?);
                    if !input.is_empty() {
                        input.parse::<Token![,]>()?;
                    }
                }
                let rest: TokenStream = input.parse()?;
                syn::meta::parser(|option| options.read_option(&option, kind)).parse2(rest)
            })?,
            Meta::NameValue(pair) => {
                let form = format!("write `#[{}(..)]`", kind.name());
                return Err(Error::new_spanned(pair, form));
            }
        }
        if kind == Kind::Resource && options.uri.is_none() {
            let form = "a resource needs its URI: `#[resource(\"notes://all\")]`, or a template, \
                        `#[resource(\"notes://{id}\")]`";
            return Err(Error::new_spanned(attribute, form));
        }
        Ok(options)
    }

    fn read_option(&mut self, option: &ParseNestedMeta<'_>, kind: Kind) -> Result<()> {
        let name = option.path.get_ident().map(ToString::to_string).unwrap_or_default();
        match (&*name, kind) {
            ("name", _) => self.name = Some(option.value()?.parse()?),
            ("title", _) => self.title = Some(option.value()?.parse()?),
            ("description", _) => self.description = Some(option.value()?.parse()?),
            ("mime_type", Kind::Resource) => self.mime_type = Some(option.value()?.parse()?),
            ("read_only" | "destructive" | "idempotent" | "open_world", Kind::Tool) => {
                let value = if option.input.peek(Token![=]) {
                    option.value()?.parse()?
                } else {
                    LitBool::new(
                        true,
                        option
                            .path
                            .get_ident()
                            .map_or_else(proc_macro2::Span::call_site, syn::Ident::span),
                    )
                };
                self.hints.extend(option.path.get_ident().map(|hint| (hint.clone(), value)));
            }
            ("requires", _) => self.scopes.extend(scopes(option)?),
            ("blocking", Kind::Tool) => self.blocking = Some(option.path.clone()),
            ("required" | "optional", Kind::Prompt) => option.parse_nested_names(|argument| {
                self.arguments.push((argument, name == "required"));
            })?,
            (_, Kind::Tool) => return Err(unknown(option, kind, TOOL)),
            (_, Kind::Resource) => return Err(unknown(option, kind, RESOURCE)),
            (_, Kind::Prompt | Kind::Completion) => return Err(unknown(option, kind, PROMPT)),
        }
        Ok(())
    }

    /// Returns calls of builder methods that set the options of a definition.
    pub(crate) fn setters(&self, adapter: &TokenStream) -> TokenStream {
        let schema = quote!(#adapter::proto::schema);
        let mut setters = TokenStream::new();
        if let Some(title) = &self.title {
            setters.extend(quote!(.title(#title)));
        }
        if let Some(mime_type) = &self.mime_type {
            setters.extend(quote!(.mime_type(#mime_type)));
        }
        if !self.hints.is_empty() {
            let hints = self.hints.iter().map(|(hint, value)| quote!(.#hint(#value)));
            setters.extend(quote!(.annotations(#schema::ToolAnnotations::new() #(#hints)*)));
        }
        if !self.arguments.is_empty() {
            let arguments = self.arguments.iter().map(|(name, required)| {
                quote!({
                    let mut argument = #schema::PromptArgument::new(#name);
                    argument.required = #required;
                    argument
                })
            });
            setters.extend(quote!(.arguments([#(#arguments),*])));
        }
        setters
    }
}

/// Parses the scopes of `requires = ["scope", ..]`.
fn scopes(option: &ParseNestedMeta<'_>) -> Result<Vec<LitStr>> {
    let form = "write the scopes as a list: `requires = [\"notes:read\", \"notes:write\"]`";
    let is_list = option.input.peek(Token![=]) && option.input.peek2(token::Bracket);
    if !is_list {
        return Err(option.error(form));
    }
    let value = option.value()?;
    let scopes;
    syn::bracketed!(scopes in value);
    let scopes = scopes.parse_terminated(<LitStr as syn::parse::Parse>::parse, Token![,])?;
    if scopes.is_empty() {
        return Err(option.error(form));
    }
    // The scopes of RFC 6749 are separated by blanks, and are easily passed as one text.
    let is_allowed = |byte: u8| byte.is_ascii_graphic() && byte != b'"' && byte != b'\\';
    let is_scope = |scope: &LitStr| {
        let scope = scope.value();
        (1..=256).contains(&scope.len()) && scope.bytes().all(is_allowed)
    };
    match scopes.iter().find(|scope| !is_scope(scope)) {
        Some(scope) => Err(Error::new_spanned(scope, format!("this is not one scope: {form}"))),
        None => Ok(scopes.into_iter().collect()),
    }
}

fn unknown(option: &ParseNestedMeta<'_>, kind: Kind, known: &str) -> Error {
    option.error(format!("unknown option: `{}` takes {known}", kind.name()))
}

/// Parses `(\"a\", \"b\")` after the name of an option.
trait NestedNames {
    fn parse_nested_names(&self, each: impl FnMut(LitStr)) -> Result<()>;
}

impl NestedNames for ParseNestedMeta<'_> {
    fn parse_nested_names(&self, each: impl FnMut(LitStr)) -> Result<()> {
        let names;
        syn::parenthesized!(names in self.input);
        names
            .parse_terminated(<LitStr as syn::parse::Parse>::parse, Token![,])?
            .into_iter()
            .for_each(each);
        Ok(())
    }
}

/// Returns the text of the doc comments among these attributes; `None` if there are none.
///
/// Lines of one paragraph are joined, as Markdown does.
pub(crate) fn doc_comment(attributes: &[Attribute]) -> Option<String> {
    let mut text = String::new();
    for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("doc")) {
        let Meta::NameValue(pair) = &attribute.meta else { continue };
        let Expr::Lit(ExprLit { lit: Lit::Str(lines), .. }) = &pair.value else { continue };
        // `lines` would skip the empty text of an empty line.
        for line in lines.value().split('\n').map(str::trim) {
            match line {
                "" if !text.is_empty() && !text.ends_with('\n') => text.push_str("\n\n"),
                "" => {}
                _ => {
                    if !text.is_empty() && !text.ends_with('\n') {
                        text.push(' ');
                    }
                    text.push_str(line);
                }
            }
        }
    }
    let text = text.trim_end().to_owned();
    (!text.is_empty()).then_some(text)
}
