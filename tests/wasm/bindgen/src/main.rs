//! Writes the JavaScript around a WebAssembly module: `mcp-wasm-bindgen MODULE DIRECTORY KIND`.
//!
//! The kind is `web`, for browsers and Workers, or `nodejs`.

use std::env::args;
use std::error::Error;
use std::process::ExitCode;

use wasm_bindgen_cli_support::Bindgen;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("mcp-wasm-bindgen: {why}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = args().skip(1).collect();
    let [module, directory, kind] = &arguments[..] else {
        return Err("usage: mcp-wasm-bindgen MODULE DIRECTORY KIND".into());
    };
    let mut bindgen = Bindgen::new();
    bindgen.input_path(module).typescript(false).omit_default_module_path(false);
    bindgen.remove_name_section(true).remove_producers_section(true);
    match &**kind {
        "nodejs" => bindgen.nodejs(true)?,
        "web" => bindgen.web(true)?,
        other => return Err(format!("`{other}` is neither `nodejs` nor `web`").into()),
    };
    Ok(bindgen.generate(directory)?)
}
