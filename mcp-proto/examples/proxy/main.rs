//! A proxy between a client and a server that prints their messages and translates between eras.
//!
//! `cargo run --example proxy -p mcp-proto -- COMMAND ARGUMENT…` starts a server, serves a client
//! on its own stdin and stdout, and prints all messages to stderr. Without a command, it
//! demonstrates sessions in one process between clients and servers of each era.
//!
//! From a legacy server to a modern client, the proxy cannot relay:
//!
//! - requests and log messages while no call or several calls are open, because it cannot tell
//!   which call they belong to;
//! - the result of a call that completes while its client answers a question.
//!
//! It never relays experimental capabilities, extensions, and methods that no revision defines.
//! Pings and subscriptions to lists are handled separately on each side.

mod demo;
#[cfg(unix)]
mod pipes;
#[cfg_attr(not(unix), expect(dead_code, reason = "the demo uses neither pipes nor a clock"))]
mod proxy;
mod relay;
mod trace;
mod translation;

use std::error::Error;
use std::io;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args_os().skip(1).skip_while(|argument| argument == "--");
    let Some(program) = arguments.next() else { return demo::run(&mut io::stdout().lock()) };
    let mut command = std::process::Command::new(program);
    command.args(arguments);
    serve(command)
}

#[cfg(unix)]
fn serve(command: std::process::Command) -> Result<(), Box<dyn Error>> {
    pipes::serve(command, &io::stdin(), &io::stdout(), Box::new(io::stderr()))
}

#[cfg(not(unix))]
fn serve(_: std::process::Command) -> Result<(), Box<dyn Error>> {
    Err("the proxy requires Unix".into())
}
