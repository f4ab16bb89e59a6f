// For browsers and their workers: fetches the module from beside this file.
import init from "./ctxsim.js";

await init({ module_or_path: new URL("./ctxsim_bg.wasm", import.meta.url) });
export * from "./ctxsim.js";
