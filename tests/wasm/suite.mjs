// Runs the rows on every platform and prints how many ran where: `suite.mjs BUILD NODE_MODULES
// PYTHON FIXTURE_SERVER`. `tests/wasm/run` builds and installs what it needs.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { join } from "node:path";

import { matched, output, start, within } from "./processes.mjs";
import { run as runStdio } from "./stdio.mjs";

const [build, modules, python, fixtureServer] = process.argv.slice(2);
const here = import.meta.dirname;
const require = createRequire(join(modules, "x.js"));
const results = new Map();
let hasFailed = false;

/** Counts the lines `ROUTE REVISION ROW [WHY]` of a platform. */
const record = (platform, lines) => {
  const rows = lines.trim().split("\n").map((line) => line.split(" "));
  for (const [route, revision, row, ...why] of rows) {
    assert(row, `a line of ${platform} is cut: ${lines}`);
    const counts = results.get(platform) ?? results.set(platform, new Map()).get(platform);
    const seen = counts.get(route) ?? counts.set(route, { names: new Set(), runs: 0 }).get(route);
    seen.names.add(row);
    seen.runs += 1;
    if (why.join(" ").trim()) {
      hasFailed = true;
      console.log(`FAILED on ${platform}, ${route}, ${revision}, ${row}: ${why.join(" ")}`);
    }
  }
};

const wasi = {
  wasmtime: [python, join(here, "wasi.py")],
  "node:wasi": ["node", "--no-warnings", join(here, "wasi.mjs")],
};
for (const [platform, host] of Object.entries(wasi)) {
  const { code, text } = await output([...host, join(build, "wasm-rows.wasm")]);
  assert.equal(code, 0, `the rows end with an error on ${platform}`);
  record(platform, text);
  for (const module of ["mcp-wasm-stdio.wasm", "mcp-wasm-stdio-small.wasm"]) {
    record(platform, await runStdio([...host, join(build, module)]));
  }
}

// The module for node is CommonJS.
const { rows } = require(join(build, "node", "rows.js"));
record("node", await within(180, "node", rows()));

/** Starts workerd with a directory's configuration; resolves with its URL. */
const workerd = async (directory) => {
  const program = join(modules, "node_modules", ".bin", "workerd");
  const command = [program, "serve", "--control-fd=3", join(build, directory, "workerd.capnp")];
  const child = start(command, { stdio: ["ignore", "inherit", "inherit", "pipe"] });
  const [, port] = await within(60, "workerd", matched(child.stdio[3], /"port":(\d+)/));
  return { url: `http://127.0.0.1:${port}/mcp`, child };
};

{
  // The client of node, over real HTTP, against the rows' server in workerd.
  const { url, child } = await workerd("workerd-rows");
  record("workerd", await within(180, "workerd", rows(url)));
  child.kill();
}
{
  // The example, with the HTTP client of node alone.
  const { url, child } = await workerd("workerd-example");
  const post = (body, accept = "application/json, text/event-stream", more = {}) =>
    fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json", accept, "mcp-protocol-version": "2026-07-28", ...more },
      body: JSON.stringify(body),
    });
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  const call = (name, args, more = {}) => ({
    jsonrpc: "2.0",
    id: 1,
    method: "tools/call",
    params: { name, arguments: args, _meta: { ..._meta, ...more } },
  });
  const named = (name) => ({ "mcp-method": "tools/call", "mcp-name": name });
  const check = async (row, test) => {
    let why = "";
    try {
      await within(20, row, test());
    } catch (error) {
      why = error.message.replaceAll("\n", " ");
    }
    record("workerd", `example 2026-07-28 ${row} ${why}`);
  };
  await check("a_single_response_is_json", async () => {
    const reply = await post(call("echo", { text: "hi" }), undefined, named("echo"));
    assert.equal(reply.status, 200);
    assert.equal(reply.headers.get("content-type"), "application/json");
    assert.equal((await reply.json()).result.content[0].text, "hi");
  });
  await check("progress_is_an_event_stream", async () => {
    const reply = await post(call("count", {}, { progressToken: 1 }), undefined, named("count"));
    assert.equal(reply.headers.get("content-type"), "text/event-stream");
    const events = (await reply.text()).split("\n\n").flatMap((event) => {
      const data = event.split("\n").find((line) => line.startsWith("data: {"));
      return data ? [JSON.parse(data.slice(6))] : [];
    });
    assert.deepEqual(events.map((event) => event.params?.progress ?? "result"), [1, 2, 3, "result"]);
  });
  await check("arguments_of_the_wrong_type_are_an_error_of_the_tool", async () => {
    const reply = await post(call("echo", { text: 7 }), undefined, named("echo"));
    assert.equal((await reply.json()).result.isError, true);
  });
  await check("other_origins_are_refused", async () => {
    const more = { ...named("echo"), origin: "https://evil.example" };
    assert.equal((await post(call("echo", {}), undefined, more)).status, 403);
  });
  child.kill();
}

{
  // Chromium: the rows in a page, and the example page against the fixture server.
  const types = { html: "text/html", js: "text/javascript", wasm: "application/wasm" };
  const files = createServer((request, response) => {
    const path = new URL(request.url, "http://localhost").pathname;
    const type = types[path.split(".").at(-1)];
    try {
      const body = readFileSync(join(build, "web", path));
      response.writeHead(200, { "content-type": type ?? "text/plain" }).end(body);
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise((resolve) => files.listen(0, "127.0.0.1", resolve));
  const origin = `http://127.0.0.1:${files.address().port}`;
  const fixture = start(
    [fixtureServer, "--runtime", "tokio", "http", "--port", "0", "--allow-origin", origin],
    { stdio: ["ignore", "pipe", "inherit"] },
  );
  const [, server] = await within(20, "the server", matched(fixture.stdout, /listening on (\S+)/));
  const { chromium } = require("playwright-core");
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    args: [
      "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
      "--disable-background-networking", "--disable-component-update", "--disable-sync",
    ],
  });
  const visit = async (path) => {
    const page = await browser.newPage({ viewport: { width: 900, height: 640 } });
    page.on("pageerror", (error) => console.log(`page: ${error}`));
    await page.goto(`${origin}/${path}`);
    await page.waitForFunction(
      () => document.getElementById("status")?.textContent !== "running",
      undefined,
      { timeout: 120_000 },
    );
    assert.equal(await page.textContent("#status"), "done");
    return page;
  };
  const page = await visit("rows/page.html");
  record("Chromium", await page.textContent("#lines"));

  const example = await visit(`example/index.html?server=${encodeURIComponent(server)}`);
  const shown = await example.$$eval("dt", (titles) =>
    titles.map((it) => [it.textContent, it.nextSibling.textContent]),
  );
  await example.screenshot({ path: join(build, "page.png") });
  const text = (kind) => shown.filter(([title]) => title === kind).map(([, it]) => it);
  const steps = {
    tools_are_listed: () => assert.match(text("tools")[0], /^\d\d+: .*echo.*sleep/),
    calls_succeed: () => assert.deepEqual(text("echo"), ["Hello from WebAssembly"]),
    progress_is_shown: () =>
      assert.deepEqual(text("progress"), ["1 of 4", "2 of 4", "3 of 4", "4 of 4"]),
    a_call_is_cancelled_and_the_connection_closed: () =>
      assert.deepEqual([...text("sleep"), ...text("cancelled"), ...text("closed")],
        ["slept 400 ms", "a call of 60 s", "the connection"]),
  };
  for (const [row, test] of Object.entries(steps)) {
    let why = "";
    try {
      test();
    } catch (error) {
      why = error.message.replaceAll("\n", " ");
    }
    record("Chromium", `example 2026-07-28 ${row} ${why}`);
  }
  await within(20, "Chromium", browser.close());
  files.close();
  fixture.kill();
}

const routes = ["memory", "http", "remote", "stdio", "example"];
// All rows run wherever they can.
const expected = {
  wasmtime: { memory: 23, http: 23, stdio: 6 },
  "node:wasi": { memory: 23, http: 23, stdio: 6 },
  node: { memory: 23, http: 23 },
  workerd: { remote: 23, example: 4 },
  Chromium: { memory: 23, http: 23, example: 4 },
};
for (const [platform, ways] of Object.entries(expected)) {
  for (const [route, rows] of Object.entries(ways)) {
    const ran = results.get(platform)?.get(route)?.names.size ?? 0;
    if (ran !== rows) {
      hasFailed = true;
      console.log(`FAILED: ${ran} rows instead of ${rows} ran on ${platform}, ${route}`);
    }
  }
}
const table = [
  ["platform", ...routes, "runs"],
  ["---", ...routes.map(() => "---"), "---"],
  ...[...results].map(([platform, counts]) => [
    platform,
    ...routes.map((route) => counts.get(route)?.names.size ?? "–"),
    [...counts.values()].reduce((sum, { runs }) => sum + runs, 0),
  ]),
];
const text = table.map((row) => `| ${row.join(" | ")} |`).join("\n");
writeFileSync(join(build, "table.md"), `${text}\n`);
console.log(`Rows by platform and way to the server; a run is a row in one era:\n\n${text}`);
process.exit(hasFailed ? 1 : 0);
