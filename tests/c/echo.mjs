// A client of the official TypeScript SDK against an `echo` server in C.
// Usage: node echo.mjs 1|auto|legacy|2026-07-28 SERVER
// 1 is version 1 of the SDK; the others are how version 2 finds the revision.

import { Suite, assert, assertEqual } from '../interop/harness.mjs';
import { Connection } from '../interop/ts-connection.mjs';
import { Connection2 } from '../interop/ts2-connection.mjs';

const [mode, ...command] = process.argv.slice(2);
const suite = new Suite(`TypeScript SDK, ${mode}, against ${command.join(' ')}`);
const negotiation = mode === '2026-07-28' ? { pin: mode } : mode;
const peer = mode === '1' ? new Connection(suite, command, {}) : new Connection2(suite, command, {}, negotiation);
const { client } = peer;

const texts = ['x', '', 'é 🙂 \u0000 \n "\\', 'ü'.repeat(10_000), ...Array.from({ length: 50 }, (_, i) => `text ${i}`)];

const connected = await suite.check('connect', async () => {
  await peer.connect();
  if (mode !== '1') assertEqual(client.getProtocolEra(), mode === 'legacy' ? 'legacy' : 'modern', 'era');
}, 30);
if (!connected) {
  suite.bail('without a connection there is nothing to check');
  suite.finish();
}

await suite.check('tools/list', async () => {
  const { tools } = await client.listTools();
  assertEqual(tools.map(tool => [tool.name, tool.inputSchema.required]), [['echo', ['text']]], 'tools');
});

const call = args => client.callTool({ name: 'echo', arguments: args });

await suite.check('echo, many calls in flight', async () => {
  const results = await Promise.all(texts.map(text => call({ text })));
  assertEqual(results.map(result => result.content), texts.map(text => [{ type: 'text', text }]), 'content');
});

await suite.check('an argument of another type is a tool error', async () => {
  for (const args of [{}, { text: 7 }]) assert((await call(args)).isError, 'isError');
});

await suite.check('an unknown tool is -32602', async () => {
  const error = await client.callTool({ name: 'no such tool', arguments: {} }).catch(error => error);
  assertEqual(error.code, -32602, 'code');
});

await suite.check('the server ends with its input', async () => {
  const { exited } = peer;
  await client.close();
  const [code, signal] = await exited;
  assertEqual([code, signal], [0, null], 'exit');
});

suite.finish();
