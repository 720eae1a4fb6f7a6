//! Runs all rows in this process, in memory and through the HTTP service, and prints the results as
//! lines of JSON. Used under WASI; natively, `cargo test` runs the rows.

use std::io::{self, Write as _};
use std::process::ExitCode;
use std::rc::Rc;

use mcp_wasm::proto::Revision;
use mcp_wasm::{Platform, StdPlatform};
use mcp_wasm_tests::rows::ROWS;
use mcp_wasm_tests::world::{Route, World};

fn main() -> ExitCode {
    let std_platform = StdPlatform::new();
    let platform: Rc<dyn Platform> = Rc::new(std_platform.clone());
    let mut has_failed = false;
    for (route, name) in [(Route::Memory, "memory"), (Route::Service, "http")] {
        for row in ROWS {
            for revision in [Revision::V2025_11_25, Revision::V2026_07_28] {
                let (platform, route) = (Rc::clone(&platform), route.clone());
                let world = World { platform, route, revision };
                let outcome = std_platform.block_on(world.run((row.run)(world.clone())));
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
