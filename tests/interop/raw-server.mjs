// Drives a stdio server with handwritten lines, without an SDK.
// Usage: node raw-server.mjs SERVER [ARG…]

import { Peer, Suite, assert, assertEqual, brief } from './harness.mjs';

const command = process.argv.slice(2);
const LATEST = '2025-11-25';
const EXIT_MS_GOAL = 100; // the promise
const EXIT_MS_MAX = 500; // fails the check; the machine may be busy

const suite = new Suite(`raw lines against ${command.join(' ')}`);

function hello(version) {
  return { protocolVersion: version, capabilities: {}, clientInfo: { name: 'raw-server', version: '1.0.0' } };
}

async function open(version = LATEST) {
  const peer = new Peer(suite.transcript, command);
  const answer = await peer.request('init', 'initialize', hello(version));
  assert(answer.result, `initialize was refused: ${brief(answer)}`);
  peer.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
  return peer;
}

/** A check with a separate server, which is always killed afterwards. */
function check(name, version, body) {
  return suite.check(name, async () => {
    const peer = await open(version);
    try {
      return await body(peer);
    } finally {
      peer.kill();
    }
  });
}

function bare(name, body) {
  return suite.check(name, async () => {
    const peer = new Peer(suite.transcript, command);
    try {
      return await body(peer);
    } finally {
      peer.kill();
    }
  });
}

const call = (name, args) => ({ name, arguments: args });
const textOf = answer => answer.result?.content?.[0]?.text;
const alive = async (peer, id = 'alive') => assertEqual((await peer.request(id, 'ping')).result, {}, 'ping');
const withoutId = m => m.error !== undefined && (m.id === undefined || m.id === null);

function assertExit({ code, signal, ms }) {
  assertEqual({ code, signal }, { code: 0, signal: null }, 'how the server ended');
  assert(ms < EXIT_MS_MAX, `the server needed ${ms} ms to exit, allowed are ${EXIT_MS_MAX}`);
  return `exit after ${ms} ms${ms > EXIT_MS_GOAL ? `, over the goal of ${EXIT_MS_GOAL}` : ''}`;
}

// --- versions ---------------------------------------------------------------------------------------------------

for (const version of ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25']) {
  const passed = await bare(`initialize ${version} is echoed`, async peer => {
    const answer = await peer.request('a-1', 'initialize', hello(version));
    assertEqual(answer.jsonrpc, '2.0', 'jsonrpc');
    assertEqual(answer.result?.protocolVersion, version, 'protocolVersion');
    assert(answer.result.serverInfo?.name && answer.result.serverInfo?.version, `serverInfo: ${brief(answer)}`);
    assert(answer.result.capabilities?.tools, `capabilities: ${brief(answer)}`);
    await alive(peer);
  });
  if (!passed) suite.bail('without a handshake there is nothing to check');
}

for (const version of ['1999-01-01', '2026-07-28']) {
  await bare(`initialize ${version} is answered with ${LATEST}`, async peer => {
    const answer = await peer.request(1, 'initialize', hello(version));
    assertEqual(answer.result?.protocolVersion, LATEST, 'protocolVersion');
  });
}

await bare('a request before initialize is refused, initialize then works', async peer => {
  const early = await peer.request(1, 'tools/call', call('echo', { text: 'early' }));
  assert(early.error, `answered: ${brief(early)}`);
  const answer = await peer.request(2, 'initialize', hello(LATEST));
  assertEqual(answer.result?.protocolVersion, LATEST, 'protocolVersion');
});

// --- lines ------------------------------------------------------------------------------------------------------

// An id at the top level is used although the rest cannot be read, and unpaired surrogates can be.
for (const [garbage, id, code] of [
  ['garbage', undefined, -32700],
  ['{"jsonrpc":"2.0","id":7,"method":"ping"', 7, -32700],
  ['{"jsonrpc":"2.0","id":7,"method":"pi\\ud800ng"}', 7, -32601],
]) {
  await check(`${code} for ${garbage}, the next request is answered`, LATEST, async peer => {
    const from = suite.transcript.length;
    peer.write(`${garbage}\n`);
    const error = await peer.until(id === undefined ? withoutId : m => m.error !== undefined && m.id === id, from);
    assertEqual(error.error.code, code, 'error code');
    await alive(peer);
  });
}

await check('CRLF, blank lines and single bytes make the same messages', LATEST, async peer => {
  const line = JSON.stringify({ jsonrpc: '2.0', id: 'bytes', method: 'tools/call', params: call('echo', { text: 'é\u2028😀' }) });
  peer.write('\r\n\n  \n');
  for (const byte of Buffer.from(`${line}\r\n`)) {
    peer.child.stdin.write(Buffer.of(byte));
    await new Promise(setImmediate); // sends each byte alone
  }
  assertEqual(textOf(await peer.until(m => m.id === 'bytes')), 'é\u2028😀', 'echoed text');
  await alive(peer);
  const answers = suite.transcript.messages('<', peer.from).map(m => m.id);
  assertEqual(answers, ['init', 'bytes', 'alive'], 'ids answered');
});

await check('many requests in one write, each answered once with its own id', LATEST, async peer => {
  const ids = [0, 1, -1, 'a', '1', '', 9007199254740991];
  const from = suite.transcript.length;
  peer.write(ids.map(id => `${JSON.stringify({ jsonrpc: '2.0', id, method: 'ping' })}\n`).join(''));
  for (const id of ids) assertEqual((await peer.until(m => m.id === id, from)).result, {}, `answer to ${JSON.stringify(id)}`);
  await alive(peer);
  assertEqual(suite.transcript.messages('<', from).length, ids.length + 1, 'number of answers');
});

await check('an unknown method is -32601, an unknown notification is ignored', LATEST, async peer => {
  const from = suite.transcript.length;
  peer.send({ jsonrpc: '2.0', method: 'notifications/of-no-revision', params: {} });
  assertEqual((await peer.request(5, 'of/no-revision', {})).error?.code, -32601, 'error code');
  assertEqual(suite.transcript.messages('<', from).length, 1, 'number of answers');
});

// --- batches ----------------------------------------------------------------------------------------------------

await check('2025-03-26: a batch is answered with one array', '2025-03-26', async peer => {
  const from = suite.transcript.length;
  peer.send([
    { jsonrpc: '2.0', id: 'p', method: 'ping' },
    { jsonrpc: '2.0', method: 'notifications/of-no-revision' },
    { jsonrpc: '2.0', id: 'e', method: 'tools/call', params: call('echo', { text: 'in a batch' }) },
    { jsonrpc: '2.0', id: 'u', method: 'of/no-revision' },
  ]);
  const reply = await peer.until(Array.isArray, from);
  assertEqual(reply.map(m => m.id).sort(), ['e', 'p', 'u'], 'ids in the array');
  const of = id => reply.find(m => m.id === id);
  assertEqual(of('p').result, {}, 'ping');
  assertEqual(textOf(of('e')), 'in a batch', 'echo');
  assertEqual(of('u').error?.code, -32601, 'unknown method');
  await alive(peer);
  assertEqual(suite.transcript.messages('<', from).length, 2, 'number of lines');
});

for (const version of ['2024-11-05', '2025-06-18', '2025-11-25']) {
  await check(`${version}: a batch is refused with one -32600`, version, async peer => {
    const from = suite.transcript.length;
    peer.send([{ jsonrpc: '2.0', id: 'p', method: 'ping' }]);
    const error = await peer.until(withoutId, from);
    assertEqual(error.error.code, -32600, 'error code');
    await alive(peer);
    assertEqual(suite.transcript.messages('<', from).length, 2, 'number of lines');
  });
}

// --- the end ----------------------------------------------------------------------------------------------------

const ends = {
  'EOF on stdin': child => child.stdin.end(),
  SIGTERM: child => child.kill('SIGTERM'),
  SIGINT: child => child.kill('SIGINT'),
};

for (const [name, act] of Object.entries(ends)) {
  await check(`${name}: exit 0 when idle`, LATEST, async peer => {
    await alive(peer);
    return assertExit(await peer.end(act));
  });
}

const signals = Object.entries(ends).filter(([name]) => name !== 'EOF on stdin');

/** Starts a tool that runs for `ms` and returns once it runs. */
async function startTool(peer, ms) {
  const args = call('sleep', { ms, steps: ms / 50 });
  peer.send({ jsonrpc: '2.0', id: 's', method: 'tools/call', params: { ...args, _meta: { progressToken: 't' } } });
  await peer.until(m => m.method === 'notifications/progress');
}

for (const [name, act] of signals) {
  await check(`${name}: exit 0 while a tool runs`, LATEST, async peer => {
    await startTool(peer, 3000);
    return assertExit(await peer.end(act));
  });
}

await check('EOF on stdin: a tool that runs is answered before the exit', LATEST, async peer => {
  await startTool(peer, 500);
  const [response, end] = await Promise.all([peer.until(m => m.id === 's'), peer.end(ends['EOF on stdin'])]);
  assert(response.result, `the call failed: ${brief(response)}`);
  return assertExit({ ...end, ms: Math.max(0, end.ms - 500) });
});

/** Starts a flood of messages, of which nobody reads the rest. */
async function startUnreadFlood(peer) {
  assertEqual((await peer.request('l', 'logging/setLevel', { level: 'info' })).result, {}, 'setLevel');
  const flooded = peer.until(m => m.method === 'notifications/message');
  peer.send({ jsonrpc: '2.0', id: 'f', method: 'tools/call', params: call('flood', { n: 20000 }) });
  await flooded;
  peer.child.stdout.pause();
  // A full pipe cannot be observed from outside, so the server gets some time to fill it.
  await new Promise(resolve => setTimeout(resolve, 200));
}

for (const [name, act] of signals) {
  await check(`${name}: exit 0 while nobody reads stdout`, LATEST, async peer => {
    await startUnreadFlood(peer);
    return assertExit(await peer.end(act));
  });
}

await check('EOF on stdin: a reader that pauses still gets the response', LATEST, async peer => {
  await startUnreadFlood(peer);
  const ended = peer.end(ends['EOF on stdin']);
  peer.child.stdout.resume();
  const end = await ended;
  await peer.closed;
  const response = suite.transcript.messages('<', peer.from).find(m => m.id === 'f');
  assert(response?.result, `the call failed: ${brief(response)}`);
  return assertExit(end);
});

await check('EOF, then SIGTERM: exit 0 while a tool runs', LATEST, async peer => {
  await startTool(peer, 3000);
  ends['EOF on stdin'](peer.child);
  await new Promise(resolve => setTimeout(resolve, 100));
  return assertExit(await peer.end(ends.SIGTERM));
});

await check('a call and a ping sent just before EOF are answered before the exit', LATEST, async peer => {
  peer.send({ jsonrpc: '2.0', id: 'e', method: 'tools/call', params: call('echo', { text: 'last words' }) });
  peer.send({ jsonrpc: '2.0', id: 'p', method: 'ping' });
  const end = await peer.end(ends['EOF on stdin']);
  await peer.closed;
  const ids = suite.transcript.messages('<', peer.from).map(m => m.id);
  assert(ids.includes('p'), 'no answer to the ping');
  assert(ids.includes('e'), 'no answer to the tool call');
  return assertExit(end);
});

suite.finish();
