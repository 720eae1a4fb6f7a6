// Our client against servers: the official TypeScript SDK's, our own, and some that misbehave as processes.
// Usage: node fixture-client.mjs SERVER-OF-OURS RUNTIME CLIENT [ARG…]

import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Suite, assert, assertEqual, atExit, brief, lines } from './harness.mjs';

const [ours, runtime, ...client] = process.argv.slice(2);
const SERVER = join(dirname(fileURLToPath(import.meta.url)), 'ts-server.mjs');
const FAILURE_MS_MAX = 5000;

const suite = new Suite(`${client.join(' ')} against servers`);
const directory = mkdtempSync(join(tmpdir(), 'interop-'));
atExit(() => rmSync(directory, { recursive: true, force: true }));
let records = 0;

/** Runs the client on a server command until both its output streams are closed. */
async function run(server) {
  const [command, ...args] = [...client, '--', ...server];
  suite.transcript.add('>', [command, ...args].join(' '));
  const start = performance.now();
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  const release = atExit(() => child.kill('SIGKILL'));
  const [out, err] = [[], []];
  lines(child.stdout, line => out.push(line) && suite.transcript.add('<', line));
  lines(child.stderr, line => err.push(line) && suite.transcript.add('!', line));
  const [code, signal] = await new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (...end) => resolve(end));
  });
  release();
  const ms = Math.round(performance.now() - start);
  suite.transcript.add('#', `exit code ${code}, signal ${signal} after ${ms} ms`);
  return { code, signal, ms, out, err };
}

function assertEchoed({ code, signal, out }) {
  assertEqual({ code, signal }, { code: 0, signal: null }, 'how the client ended');
  assertEqual(out.length, 1, 'lines on stdout');
  const result = JSON.parse(out[0]);
  assert(JSON.stringify(result.content) === '[{"type":"text","text":"x"}]', `not the echo of x: ${brief(out[0])}`);
}

function gone(pid) {
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return error.code === 'ESRCH';
  }
}

/** Runs the client on ts-server, checks the echo and that the server process is gone; returns the server's record. */
async function withServer(...flags) {
  const file = join(directory, `record-${records++}`);
  // The client passes few variables on.
  const modules = `INTEROP_MODULES=${process.env.INTEROP_MODULES}`;
  const outcome = await run(['env', modules, process.execPath, SERVER, file, ...flags]);
  const noted = readFileSync(file, 'utf8').trim().split('\n').map(line => JSON.parse(line));
  for (const entry of noted) suite.transcript.add('#', `server: ${JSON.stringify(entry)}`);
  const find = key => noted.find(entry => entry[key] !== undefined)?.[key];
  const pid = find('pid');
  const isGone = gone(pid);
  if (!isGone) process.kill(pid, 'SIGKILL');
  assertEchoed(outcome);
  assert(isGone, `the server ${pid} outlived the client`);
  return { ...outcome, noted, find, ends: noted.filter(entry => entry.end).map(entry => entry.end) };
}

async function failing(server) {
  const outcome = await run(server);
  assertEqual(outcome.signal, null, 'signal');
  assert(outcome.code > 0, `exit code ${outcome.code}`);
  assertEqual(outcome.out, [], 'stdout');
  assert(outcome.err.length > 0, 'nothing on stderr');
  assert(!outcome.err.some(line => line.includes('panicked at')), 'the client panicked');
  assert(outcome.ms < FAILURE_MS_MAX, `it took ${outcome.ms} ms`);
  return outcome;
}

await suite.check('against our own server', async () => {
  assertEchoed(await run([ours, '--runtime', runtime, 'stdio']));
});

await suite.check('against the SDK server, which then ends by itself', async () => {
  const { noted, find, ends } = await withServer();
  assert(find('initialized')?.name && find('initialized')?.version, 'no clientInfo');
  assertEqual(noted.filter(e => e.call), [{ call: 'echo', arguments: { text: 'x' } }], 'calls');
  assertEqual(noted.filter(e => e.error), [], 'errors of the SDK');
  assertEqual(ends, ['stdin'], 'what ended the server');
});

await suite.check('a server that prints other lines on stdout', async () => {
  const { noted } = await withServer('--chatter');
  assertEqual(noted.filter(e => e.error), [], 'errors of the SDK');
});

await suite.check('a server deaf to EOF gets SIGTERM', async () => {
  assertEqual((await withServer('--deaf')).ends, ['stdin', 'SIGTERM'], 'what the server noticed');
}, 20);

await suite.check('a server deaf to SIGTERM too is killed', async () => {
  assertEqual((await withServer('--stubborn')).ends, ['stdin', 'SIGTERM'], 'what the server noticed');
}, 20);

await suite.check('a command that does not exist is one line on stderr', async () => {
  const { err } = await failing([join(directory, 'no-such-server')]);
  assertEqual(err.length, 1, 'lines on stderr');
  assert(err[0].includes('no-such-server'), `the line does not name the command: ${err[0]}`);
  return err[0].replaceAll(directory, '…');
});

await suite.check('a server that exits immediately: its last output is shown', async () => {
  const { err } = await failing([process.execPath, '-e', 'console.error("boom: no config"); process.exitCode = 3']);
  assert(err.join('\n').includes('boom: no config'), `stderr: ${brief(err)}`);
  return err.join(' / ');
});

await suite.check('a server without tools is a failure, not a hang', async () => {
  // Answers every message with -32601.
  const refuse = `require('readline').createInterface({ input: process.stdin }).on('line', line => {
    const { id } = JSON.parse(line);
    if (id !== undefined) console.log(JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32601, message: 'not here' } }));
  })`;
  const { err } = await failing([process.execPath, '-e', refuse]);
  return err.join(' / ');
});

suite.finish();
