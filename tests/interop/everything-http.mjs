// Starts the official `server-everything` on a free port and has a command check it:
// node everything-http.mjs streamableHttp|sse CMD ARG…
// The command gets the server's URL as its last argument; its exit code is ours.

import { spawn } from 'node:child_process';
import { createServer, connect } from 'node:net';
import { dirname, join } from 'node:path';
import { atExit, require } from './harness.mjs';

const LISTENS_MS_MAX = 20000;

const [transport, command, ...args] = process.argv.slice(2);
if (!command || !['streamableHttp', 'sse'].includes(transport)) {
  console.error('usage: node everything-http.mjs streamableHttp|sse CMD ARG…');
  process.exit(2);
}

const index = join(dirname(require.resolve('@modelcontextprotocol/server-everything/package.json')), 'dist', 'index.js');
let server;
atExit(() => server?.kill('SIGKILL'));

const freePort = () => new Promise(resolve => {
  const listener = createServer().listen(0, '127.0.0.1', () => {
    const { port } = listener.address();
    listener.close(() => resolve(port));
  });
});
const isThere = port => new Promise(resolve => {
  const socket = connect(port, '127.0.0.1', () => resolve(true));
  socket.on('error', () => resolve(false));
  socket.on('connect', () => socket.destroy());
});

// The server does not report its port, so a port that was free a moment ago is passed to it. If another program has
// taken that port by then, the server ends, and another port is tried.
const start = performance.now();
let port;
do {
  if (performance.now() - start > LISTENS_MS_MAX) {
    console.error('server-everything does not listen');
    process.exit(1);
  }
  if (!server || server.exitCode !== null) {
    port = await freePort();
    server = spawn(process.execPath, [index, transport], { env: { ...process.env, PORT: port }, stdio: 'ignore' });
  }
  await new Promise(resolve => setTimeout(resolve, 50));
} while (!await isThere(port));

const check = spawn(command, [...args, `http://127.0.0.1:${port}/${transport === 'sse' ? 'sse' : 'mcp'}`], { stdio: 'inherit' });
atExit(() => check.kill('SIGKILL'));
check.on('exit', code => process.exit(code ?? 1));
