//! Writes the JavaScript module and the TypeScript types for compiled WebAssembly: `ctxsim-bind MODULE.wasm FOLDER`.

use std::env;
use std::process::ExitCode;

use wasm_bindgen_cli_support::Bindgen;

fn main() -> ExitCode {
    let [Some(module), Some(folder)] = [env::args_os().nth(1), env::args_os().nth(2)] else {
        eprintln!("usage: ctxsim-bind MODULE.wasm FOLDER");
        return ExitCode::from(2);
    };
    let mut bindgen = Bindgen::new();
    let written = bindgen.input_path(module).out_name("ctxsim").web(true).and_then(|it| {
        it.typescript(true).remove_name_section(true).remove_producers_section(true).generate(folder)
    });
    match written {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("ctxsim-bind: {error:#}");
            ExitCode::from(2)
        }
    }
}
