// Rows of a server over stdio, for the example `stdio` under any host of WASI.
import assert from "node:assert/strict";
import { createInterface } from "node:readline";

import { exit, start, within } from "./processes.mjs";

/** A server process and its messages. */
class Peer {
  constructor(command) {
    this.child = start(command, { stdio: ["pipe", "pipe", "inherit"] });
    this.lines = createInterface({ input: this.child.stdout })[Symbol.asyncIterator]();
  }
  send(...messages) {
    this.child.stdin.write(
      messages.map((it) => (typeof it === "string" ? it : JSON.stringify(it)) + "\n").join(""),
    );
  }
  async receive() {
    const { value, done } = await within(20, "a message", this.lines.next());
    assert(!done, "the server has ended");
    return JSON.parse(value);
  }
  async end() {
    this.child.stdin.end();
    assert.equal(await within(20, "the exit", exit(this.child)), 0);
    assert((await within(20, "the end", this.lines.next())).done, "no further messages");
  }
}

const meta = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": {},
};
const eras = {
  "2025-11-25": {
    async open(peer) {
      const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "c", version: "1" } };
      peer.send({ jsonrpc: "2.0", id: 0, method: "initialize", params });
      assert.equal((await peer.receive()).result.protocolVersion, "2025-11-25");
      peer.send({ jsonrpc: "2.0", method: "notifications/initialized" });
    },
    meta: {},
  },
  "2026-07-28": { open: async () => {}, meta },
};

const request = (era, id, method, params = {}, extra = {}) => ({
  jsonrpc: "2.0",
  id,
  method,
  params: { ...params, _meta: { ...era.meta, ...extra } },
});
const call = (era, id, name, args, extra) =>
  request(era, id, "tools/call", { name, arguments: args }, extra);

export const rows = {
  async tools_are_listed(peer, era) {
    peer.send(request(era, 1, "tools/list"));
    const { result } = await peer.receive();
    assert.deepEqual(result.tools.map((tool) => tool.name), ["echo", "sleep"]);
  },
  async calls_succeed_fail_and_are_refused(peer, era) {
    peer.send(call(era, 1, "echo", { text: "hello ü" }));
    assert.equal((await peer.receive()).result.content[0].text, "hello ü");
    peer.send(call(era, 2, "echo", {}), call(era, 3, "missing", {}), request(era, 4, "no/such"));
    // Only what a handler refuses comes later than what needs none.
    const codes = {};
    for (let n = 0; n < 3; n++) {
      const { id, error } = await peer.receive();
      codes[id] = error.code;
    }
    assert.deepEqual(codes, { 2: -32602, 3: -32602, 4: -32601 });
  },
  async progress_comes_in_order_and_before_the_result(peer, era) {
    peer.send(call(era, 1, "sleep", { ms: 20 }, { progressToken: "p" }));
    const steps = [(await peer.receive()).params, (await peer.receive()).params];
    assert.deepEqual(steps.map((step) => [step.progressToken, step.progress]), [["p", 1], ["p", 2]]);
    assert.equal((await peer.receive()).result.content[0].text, "slept");
  },
  async responses_may_arrive_in_any_order(peer, era) {
    peer.send(call(era, 1, "sleep", { ms: 100 }), call(era, 2, "echo", { text: "soon" }));
    assert.deepEqual([(await peer.receive()).id, (await peer.receive()).id], [2, 1]);
  },
  async garbage_is_answered_and_the_connection_goes_on(peer, era) {
    peer.send("{garbage}", call(era, 1, "echo", { text: "x" }));
    assert.equal((await peer.receive()).error.code, -32700);
    assert.equal((await peer.receive()).id, 1);
  },
  async a_server_ends_with_its_input_and_answers_before(peer, era) {
    peer.send(call(era, 1, "sleep", { ms: 50 }));
    peer.child.stdin.end();
    assert.equal((await peer.receive()).result.content[0].text, "slept");
  },
};

/** Runs all rows in both eras; returns lines like those of the module of the rows. */
export const run = async (command) => {
  let lines = "";
  for (const [name, row] of Object.entries(rows)) {
    for (const [revision, era] of Object.entries(eras)) {
      let why = "";
      try {
        const peer = new Peer(command);
        await era.open(peer);
        await row(peer, era);
        await peer.end();
      } catch (error) {
        why = error.message.replaceAll("\n", " ") || "failed";
      }
      lines += `stdio ${revision} ${name} ${why}\n`;
    }
  }
  return lines;
};
