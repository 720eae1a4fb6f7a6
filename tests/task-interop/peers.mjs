// Starts a server of ours and connects a client of either version of the official TypeScript SDK to it.

import { spawn } from 'node:child_process';
import { assert, assertEqual, atExit, lines, require } from '../interop/harness.mjs';

const LISTENS_MS_MAX = 10000;

/** Reads `NAME… -- COMMAND…` from the command line; the last NAME is the transport. */
export function takeArguments(usage, names) {
  const dashes = process.argv.indexOf('--');
  const given = process.argv.slice(2, dashes);
  const command = process.argv.slice(dashes + 1);
  const isValid = dashes !== -1 && given.length === names.length && command.length > 0
    && given.every((name, index) => names[index].includes(name));
  if (!isValid) {
    console.error(`usage: ${usage}`);
    process.exit(2);
  }
  return [...given, command];
}

/** Starts an HTTP server that prints `listening on URL`, and returns the URL. */
export async function listening(transcript, [command, ...args]) {
  const server = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  atExit(() => server.kill('SIGKILL'));
  lines(server.stderr, line => transcript.add('!', line));
  const url = await Promise.race([
    new Promise(resolve => lines(server.stdout, line => resolve(line.match(/http:\/\/\S+/)?.[0]))),
    new Promise(resolve => setTimeout(resolve, LISTENS_MS_MAX)),
  ]);
  assert(url, 'the server did not say where it listens');
  return new URL(url);
}

/** Puts every message of a transport into the transcript. */
export function recorded(transport, transcript) {
  const send = transport.send.bind(transport);
  transport.send = (message, options) => {
    transcript.add('>', JSON.stringify(message), message);
    return send(message, options);
  };
  transport.onmessage = message => transcript.add('<', JSON.stringify(message), message);
  if (transport.stderr) lines(transport.stderr, line => transcript.add('!', line));
  atExit(() => transport._process?.kill('SIGKILL')); // private, but the only way to the process
  return transport;
}

export const textOf = result => result.content?.[0]?.text;

/** Returns the error of a promise that must fail with this code of JSON-RPC. */
export async function refused(promise, code, what) {
  const outcome = await promise.then(value => ({ value }), error => ({ error }));
  assert(outcome.error, `${what} was answered: ${JSON.stringify(outcome.value)}`);
  assertEqual(outcome.error.code, code, `${what}: code of "${outcome.error.message}"`);
  return outcome.error;
}

/** Waits until `condition` holds; each check has its own time limit. */
export async function until(condition) {
  for (let value; ; await pause(10)) if ((value = await condition())) return value;
}

export const pause = ms => new Promise(resolve => setTimeout(resolve, ms));

export { require };
