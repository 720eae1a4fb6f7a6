// The module of the Worker: `mcp-wasm-bindgen` writes `module.js` and `module_bg.wasm`.
import module from "module_bg.wasm";
import { handle, initSync } from "module.js";

initSync({ module });

export default { fetch: (request) => handle(request) };
