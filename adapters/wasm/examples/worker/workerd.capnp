using Workerd = import "/workerd/workerd.capnp";

const config :Workerd.Config = (
  services = [(name = "mcp", worker = .worker)],
  # The port is chosen by the system.
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "mcp")],
);

const worker :Workerd.Worker = (
  modules = [
    (name = "worker.mjs", esModule = embed "worker.mjs"),
    (name = "module.js", esModule = embed "module.js"),
    (name = "module_bg.wasm", wasm = embed "module_bg.wasm"),
  ],
  compatibilityDate = "2025-09-01",
  # Tells a handler that its client has disconnected.
  compatibilityFlags = ["enable_request_signal"],
);
