//! Compiles every Rust snippet of README.md, each in a module of its own.

#[allow(dead_code, reason = "which of these a fragment uses is up to the README")]
mod context;
#[cfg(test)]
mod extract;

#[allow(warnings, clippy::all, clippy::pedantic, reason = "snippets are written to be read")]
mod snippets {
    include!(concat!(env!("OUT_DIR"), "/snippets.rs"));
}
