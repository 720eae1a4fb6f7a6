//! A proxy between a client and a server that shows all they say, and lets those of different eras
//! talk.
//!
//! `cargo run --example proxy -p mcp-proto -- COMMAND ARGUMENT…` starts a server, serves its own
//! stdin and stdout, and writes to stderr what passes. Without a command, it shows sessions in one
//! process between a client and a server of each era.
//!
//! What does not pass from a server of the old era to a client of the new one: a question or a log
//! message while none or several calls are under way, since nothing says to which it belongs; and
//! the result of a call that ends while its client answers a question. What passes between no two:
//! experimental capabilities, extensions, and methods that no revision knows. Pings, and
//! subscriptions to the lists, are each side's own.

mod across;
mod demo;
#[cfg(unix)]
mod pipes;
#[cfg_attr(not(unix), expect(dead_code, reason = "the demo has no pipes and no clock"))]
mod proxy;
mod relay;
mod trace;

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
    Err("waiting for several pipes at once is Unix's poll(2)".into())
}
