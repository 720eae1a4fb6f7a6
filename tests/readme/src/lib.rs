//! Compiles every Rust snippet of README.md, each in its own module.

#[cfg(test)]
mod extract;

#[allow(warnings, clippy::all, clippy::pedantic, reason = "snippets are written to be read")]
mod snippets {
    include!(concat!(env!("OUT_DIR"), "/snippets.rs"));
}
