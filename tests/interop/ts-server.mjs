// A stdio server on the official TypeScript SDK, for our client to talk to.
// Usage: node ts-server.mjs RECORD [--chatter] [--deaf] [--stubborn]
//   RECORD      a file that gets one line of JSON for each notable event, and at the exit
//   --chatter   prints lines that are not JSON on stdout, as some servers do
//   --deaf      does not exit when stdin ends
//   --stubborn  does not exit on SIGTERM either

import { appendFileSync } from 'node:fs';
import { require } from './harness.mjs';

const { Server } = require('@modelcontextprotocol/sdk/server/index.js');
const { StdioServerTransport } = require('@modelcontextprotocol/sdk/server/stdio.js');
const types = require('@modelcontextprotocol/sdk/types.js');

const [record, ...flags] = process.argv.slice(2);
const has = flag => flags.includes(flag);
const write = entry => appendFileSync(record, `${JSON.stringify(entry)}\n`);

write({ pid: process.pid });
process.stdin.on('end', () => write({ end: 'stdin' }));
process.on('SIGTERM', () => {
  write({ end: 'SIGTERM' });
  if (!has('--stubborn')) process.exit(0);
});
if (has('--deaf') || has('--stubborn')) setInterval(() => {}, 60_000);

const server = new Server({ name: 'ts-server', version: '1.0.0' }, { capabilities: { tools: {} } });
server.oninitialized = () => write({ initialized: server.getClientVersion() });
server.onerror = error => write({ error: error.message });

// Two pages, so that a client which reads only the first misses `echo`.
const inputSchema = { type: 'object', properties: { text: { type: 'string' } } };
const pages = { first: ['nothing'], second: ['echo'] };
server.setRequestHandler(types.ListToolsRequestSchema, ({ params }) => {
  const page = params?.cursor ?? 'first';
  const tools = pages[page].map(name => ({ name, description: `the tool ${name}`, inputSchema }));
  return page === 'first' ? { tools, nextCursor: 'second' } : { tools };
});

server.setRequestHandler(types.CallToolRequestSchema, ({ params }) => {
  write({ call: params.name, arguments: params.arguments });
  if (has('--chatter')) console.log('calling a tool now');
  return { content: [{ type: 'text', text: params.arguments.text }] };
});

if (has('--chatter')) console.log('ts-server is starting…\n\n[info] ready');
console.error('ts-server: this is only a log line');
await server.connect(new StdioServerTransport());
