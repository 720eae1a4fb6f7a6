//! The macro `rustc_arguments`: how cargo has called the compiler of a test.

use std::env;

use proc_macro::TokenStream;

/// Expands to an array of texts: the path of the compiler that is running, and the arguments with
/// which it finds the dependencies of the crate: `--extern`, `-L` and `--target`.
///
/// With them, a test compiles further files against the very artifacts that it was linked with.
#[proc_macro]
pub fn rustc_arguments(_: TokenStream) -> TokenStream {
    let compiler = env::current_exe().map(|path| path.display().to_string());
    let mut words = vec![compiler.unwrap_or_else(|_| "rustc".into())];
    let mut arguments = env::args();
    while let Some(argument) = arguments.next() {
        if ["--extern", "--target", "-L"].contains(&&*argument) {
            words.push(argument);
            words.extend(arguments.next());
        }
    }
    format!("{words:?}").parse().unwrap_or_default()
}
