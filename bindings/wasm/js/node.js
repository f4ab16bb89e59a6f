// For Node: reads the module from its file, at once.
import { readFileSync } from "node:fs";
import { initSync } from "./ctxsim.js";

initSync({ module: readFileSync(new URL("./ctxsim_bg.wasm", import.meta.url)) });
export * from "./ctxsim.js";
