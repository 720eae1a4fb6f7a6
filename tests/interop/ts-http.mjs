// The clients of both versions of the official TypeScript SDK against a server of ours over Streamable HTTP, and the
// client of version 1 over HTTP+SSE.
// Usage: node ts-http.mjs SDK -- SERVER [ARG…]
//   SDK     `1`, `sse` (version 1 over HTTP+SSE), or how version 2 finds the revision: `auto`, `legacy` or `2026-07-28`
//   SERVER  prints `listening on URL` once it does

import { spawn } from 'node:child_process';
import { Suite, assert, assertEqual, atExit, brief, lines, require } from './harness.mjs';
import { assertIncreasing, textOf } from './ts-connection.mjs';

const MODERN = '2026-07-28';
const NOTE = 'note://one';
const dashes = process.argv.indexOf('--');
const [mode] = process.argv.slice(2, dashes);
const [command, ...args] = process.argv.slice(dashes + 1);
if (dashes !== 3 || !command || !['1', 'sse', 'auto', 'legacy', MODERN].includes(mode)) {
  console.error('usage: node ts-http.mjs 1|sse|auto|legacy|2026-07-28 -- SERVER [ARG…]');
  process.exit(2);
}
const isSse = mode === 'sse';
const isFirst = mode === '1' || isSse;
const isModern = !isFirst && mode !== 'legacy';
const suite = new Suite(`TypeScript SDK client, ${mode}, over HTTP against ${[command, ...args].join(' ')}`);

// --- the server -------------------------------------------------------------------------------------------------

const server = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] });
atExit(() => server.kill('SIGKILL'));
const exited = new Promise(resolve => server.on('exit', (code, signal) => resolve({ code, signal })));
lines(server.stderr, line => suite.transcript.add('!', line));
const url = await Promise.race([
  new Promise(resolve => lines(server.stdout, line => resolve(line.match(/http:\/\/\S+/)?.[0]))),
  new Promise(resolve => setTimeout(resolve, 10000)),
]);
if (!url) {
  suite.bail('the server did not say where it listens');
  suite.finish();
}

// --- the client -------------------------------------------------------------------------------------------------

const { Client, StreamableHTTPClientTransport } = isFirst
  ? { ...require('@modelcontextprotocol/sdk/client/index.js'), ...require('@modelcontextprotocol/sdk/client/streamableHttp.js') }
  : require('@modelcontextprotocol/client');
const types = isFirst && require('@modelcontextprotocol/sdk/types.js');

const asked = []; // HTTP requests: method, status, after which event a stream is resumed

/** Sends requests and records them; in `initialize`, names the revision `oldest` if there is one. */
const recorded = oldest => async (input, init) => {
  const verb = init?.method ?? 'GET';
  const isFirstRequest = oldest && String(init?.body).includes('"initialize"');
  const body = isFirstRequest ? init.body.replace(/("protocolVersion":)"[^"]*"/, `$1"${oldest}"`) : init?.body;
  const response = await fetch(input, { ...init, body });
  const resumes = new Headers(init?.headers).get('last-event-id');
  asked.push({ verb, status: response.status, resumes, body });
  suite.transcript.add('>', `${verb} ${brief(String(body ?? ''))}: ${response.status}${resumes ? ' (resumes)' : ''}`);
  return response;
};
const { SSEClientTransport } = isSse ? require('@modelcontextprotocol/sdk/client/sse.js') : {};
const transport = isSse
  ? new SSEClientTransport(new URL('/sse', url), { fetch: recorded() })
  : new StreamableHTTPClientTransport(new URL(url), { fetch: recorded() });
const negotiation = isFirst ? {} : { versionNegotiation: { mode: mode === MODERN ? { pin: MODERN } : mode } };
const client = new Client({ name: 'ts-http', version: '1.0.0' }, { capabilities: { elicitation: { form: {} } }, ...negotiation });
client.onerror = error => suite.transcript.add('#', `SDK error: ${error.message}`);

const fill = async ({ params: { requestedSchema: { properties } } }) =>
  ({ action: 'accept', content: Object.fromEntries(Object.keys(properties).map(field => [field, 'Ada'])) });
client.setRequestHandler(isFirst ? types.ElicitRequestSchema : 'elicitation/create', fill);
const heard = [];
for (const [schema, method] of [
  ['LoggingMessageNotificationSchema', 'notifications/message'],
  ['ToolListChangedNotificationSchema', 'notifications/tools/list_changed'],
  ['ResourceUpdatedNotificationSchema', 'notifications/resources/updated'],
]) {
  client.setNotificationHandler(isFirst ? types[schema] : method, ({ params }) => void heard.push({ method, params }));
}
const call = (name, parameters, { meta, ...options } = {}) => {
  const params = { name, arguments: parameters, ...(meta && { _meta: meta }) };
  options = { timeout: 20000, ...options };
  return isFirst ? client.callTool(params, undefined, options) : client.callTool(params, options);
};

/** Waits for this many notifications; each check has its own time limit. */
async function hear(method, count) {
  while (heard.filter(entry => entry.method === method).length < count) await new Promise(resolve => setTimeout(resolve, 10));
}

// --- the checks -------------------------------------------------------------------------------------------------

if (!await suite.check('connect', async () => {
  await client.connect(transport);
  if (!isFirst) assertEqual(client.getProtocolEra(), isModern ? 'modern' : 'legacy', 'era');
  assert(client.getServerCapabilities().tools, `no tools capability: ${brief(client.getServerCapabilities())}`);
  assertEqual(transport.sessionId !== undefined, !isModern && !isSse, 'whether there is a session');
  return `${client.getServerVersion().name}, ${asked.length} requests`;
}, 30)) {
  suite.bail('without a connection there is nothing to check');
  suite.finish();
}

await suite.check('tools/list', async () => {
  const names = (await client.listTools()).tools.map(tool => tool.name);
  assertEqual(['echo', 'sleep', 'ask', 'flood', 'fail'].filter(name => !names.includes(name)), [], 'missing tools');
  return `${names.length} tools`;
});

await suite.check('echo: what is no ASCII, and what is long', async () => {
  for (const text of ['Zürich 🦉', 'x'.repeat(1 << 20)]) assertEqual(textOf(await call('echo', { text })), text, 'echo');
});

await suite.check('fail: an error of the tool is a result', async () => {
  const result = await call('fail', {});
  assertEqual(result.isError, true, 'isError');
});

await suite.check('a tool that is not there is refused', async () => {
  const outcome = await call('no such tool', {}).then(result => ({ result }), error => ({ error }));
  assert(outcome.error?.code === -32602, `${outcome.error ?? brief(outcome.result)}`);
});

await suite.check('sleep: progress comes while it sleeps', async () => {
  const progress = [];
  const result = await call('sleep', { ms: 200, steps: 4 }, { onprogress: ({ progress: now }) => void progress.push(now) });
  assertEqual(textOf(result), 'slept 200 ms', 'result');
  assertIncreasing(progress, 'progress');
  assert(progress.length >= 3, `progress: ${brief(progress)}`);
});

await suite.check('ask: the user is asked', async () => assertEqual(textOf(await call('ask', {})), 'hello Ada', 'result'));

await suite.check('flood: log messages come before the answer', async () => {
  const meta = isModern ? { 'io.modelcontextprotocol/logLevel': 'info' } : undefined;
  if (!isModern) await client.setLoggingLevel('info');
  await call('flood', { n: 50 }, { meta });
  await hear('notifications/message', 50);
});

await suite.check('32 concurrent calls', async () => {
  const texts = Array.from({ length: 32 }, (_, i) => `call ${i}`);
  const results = await Promise.all(texts.map(text => call('echo', { text })));
  assertEqual(results.map(textOf), texts, 'results');
});

/** Calls `sleep` with `send`, and cancels the call after its first progress. */
async function cancelled(send) {
  const abort = new AbortController();
  const onprogress = () => abort.abort('enough');
  const open = send('sleep', { ms: 15000, steps: 15000 }, { signal: abort.signal, onprogress });
  assertEqual(await open.then(() => 'answered', () => 'cancelled'), 'cancelled', 'outcome');
}

await suite.check('a call is cancelled, and all others continue', async () => {
  await cancelled(call);
  assertEqual(textOf(await call('echo', { text: 'on' })), 'on', 'echo');
});

// The SDK comes back after a second for the rest of a stream that ended early.
await suite.check('the stream of a cancelled call is not resumed again and again', async () => {
  await cancelled(call);
  await new Promise(resolve => setTimeout(resolve, 5000));
  const resumed = asked.map(request => request.resumes).filter(Boolean);
  // Two calls were cancelled so far.
  assert(resumed.length <= 2, `resumed in 5 s: ${resumed}`);
  return `${resumed.length} resumed`;
}, 20);

if (!isModern && !isSse) {
  await suite.check('2025-06-18: a call is cancelled before its response begins', async () => {
    const old = new Client({ name: 'ts-http', version: '1.0.0' });
    const errors = [];
    old.onerror = error => errors.push(error.message);
    await old.connect(new StreamableHTTPClientTransport(new URL(url), { fetch: recorded('2025-06-18') }));
    const abort = new AbortController();
    const params = { name: 'sleep', arguments: { ms: 15000, steps: 1 } };
    const options = { timeout: 20000, signal: abort.signal };
    const open = isFirst ? old.callTool(params, undefined, options) : old.callTool(params, options);
    setTimeout(() => abort.abort('enough'), 100);
    assertEqual(await open.then(() => 'answered', () => 'cancelled'), 'cancelled', 'outcome');
    await old.listTools();
    await old.close();
    assertEqual(errors.filter(text => !/abort/i.test(text)), [], 'errors of the SDK');
  });
}

await suite.check('changes are heard of', async () => {
  if (isModern) await client.listen({ toolsListChanged: true, resourceSubscriptions: [NOTE] });
  else await client.subscribeResource({ uri: NOTE });
  await call('touch', {});
  await hear('notifications/resources/updated', 1);
  await hear('notifications/tools/list_changed', 1);
});

await suite.check('resources/read', async () => {
  const { contents } = await client.readResource({ uri: NOTE });
  assertEqual(contents[0].uri, NOTE, 'uri');
});

await suite.check('the end', async () => {
  if (!isModern && !isSse) {
    await transport.terminateSession();
    assertEqual(asked.at(-1).verb, 'DELETE', 'the last request');
    assert(asked.at(-1).status < 300, `DELETE: ${asked.at(-1).status}`);
  }
  await client.close();
  const start = performance.now();
  server.kill('SIGTERM');
  const { code, signal } = await exited;
  assertEqual({ code, signal }, { code: 0, signal: null }, 'how the server ended');
  return `exit after ${Math.round(performance.now() - start)} ms`;
});

suite.finish();
