//! Runs all rows in this process, in memory and through the HTTP service, and prints the results as
//! lines of JSON. Used under WASI; natively, `cargo test` runs the rows.

use std::io::{self, Write as _};
use std::process::ExitCode;

use mcp_wasm::block_on;
use mcp_wasm::proto::Revision;
use mcp_wasm_tests::rows::ROWS;
use mcp_wasm_tests::world::{Route, World};

fn main() -> ExitCode {
    let mut has_failed = false;
    for (route, name) in [(Route::Memory, "memory"), (Route::Service, "http")] {
        for row in ROWS {
            for revision in [Revision::V2025_11_25, Revision::V2026_07_28] {
                let world = World { route: route.clone(), revision };
                let outcome = block_on(world.run((row.run)(world.clone())));
                has_failed |= outcome.is_err();
                let why = outcome.err().unwrap_or_default();
                let line = format!("{name} {revision} {} {why}\n", row.name);
                if io::stdout().write_all(line.as_bytes()).is_err() {
                    return ExitCode::FAILURE;
                }
            }
        }
    }
    if has_failed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}
