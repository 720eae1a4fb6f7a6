//! The rows, natively.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "tests")]

use std::rc::Rc;

use mcp_wasm::proto::Revision;
use mcp_wasm::{Platform, StdPlatform};
use mcp_wasm_tests::rows::ROWS;
use mcp_wasm_tests::world::{Route, World};

fn run(route: &Route) {
    let std_platform = StdPlatform::new();
    let platform: Rc<dyn Platform> = Rc::new(std_platform.clone());
    let mut failures = Vec::new();
    for row in ROWS {
        for revision in [Revision::V2025_06_18, Revision::V2025_11_25, Revision::V2026_07_28] {
            let (platform, route) = (Rc::clone(&platform), route.clone());
            let world = World { platform, route, revision };
            if let Err(why) = std_platform.block_on(world.run((row.run)(world.clone()))) {
                failures.push(format!("{} ({revision}): {why}", row.name));
            }
        }
    }
    assert!(failures.is_empty(), "{failures:#?}");
}

#[test]
fn in_memory() {
    run(&Route::Memory);
}

#[test]
fn over_http() {
    run(&Route::Service);
}
