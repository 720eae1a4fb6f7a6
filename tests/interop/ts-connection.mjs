// A client of the official TypeScript SDK with everything it sends and receives in a transcript.

import { once } from 'node:events';
import { assert, assertEqual, atExit, brief, lines, require } from './harness.mjs';

const { Client } = require('@modelcontextprotocol/sdk/client/index.js');
const { StdioClientTransport } = require('@modelcontextprotocol/sdk/client/stdio.js');
export const types = require('@modelcontextprotocol/sdk/types.js');

const CALL_MS_MAX = 20000; // the checks have a shorter limit
const CLOSE_MS_MAX = 500;
/** How long the SDK waits for the exit before it sends SIGTERM. */
const SDK_PATIENCE_MS = 2000;

export class Connection {
  errors = [];
  cancelled = new Set();

  /** `sdk` makes the transport and the client; without it, version 1 of the SDK does. */
  constructor(suite, [command, ...args], capabilities, sdk = { Client, StdioClientTransport }) {
    this.suite = suite;
    this.from = suite.transcript.length;
    this.transport = new sdk.StdioClientTransport({ command, args, stderr: 'pipe' });
    const send = this.transport.send.bind(this.transport);
    this.transport.send = message => {
      suite.transcript.add('>', JSON.stringify(message), message);
      return send(message);
    };
    this.transport.onmessage = message => suite.transcript.add('<', JSON.stringify(message), message);
    lines(this.transport.stderr, line => suite.transcript.add('!', line));
    atExit(() => (this.child ?? this.transport._process)?.kill('SIGKILL'));
    this.client = new sdk.Client({ name: 'ts-client', version: '1.0.0' }, { capabilities, ...sdk.options });
    this.client.onerror = error => {
      suite.transcript.add('#', `SDK error: ${error.message}`);
      this.errors.push(error.message);
    };
  }

  async connect() {
    await this.client.connect(this.transport);
    this.child = this.transport._process; // private, but the only way to its exit code
    this.exited = once(this.child, 'exit');
  }

  sent(wanted, from = this.from) {
    return this.suite.transcript.messages('>', from).filter(wanted);
  }

  received(wanted, from = this.from) {
    return this.suite.transcript.messages('<', from).filter(wanted);
  }

  call(name, parameters, options) {
    return this.client.callTool({ name, arguments: parameters }, undefined, { timeout: CALL_MS_MAX, ...options });
  }

  /** Makes a call; returns its id and its position in the transcript as well. */
  traced(name, parameters, options) {
    const from = this.suite.transcript.length;
    const result = this.call(name, parameters, options);
    result.catch(() => {}); // reported where it is awaited
    // The SDK writes synchronously, before it returns.
    const [request] = this.sent(m => m.method === 'tools/call', from);
    return { from, id: request.id, token: request.params._meta?.progressToken, result };
  }

  progress(token, from) {
    return this.received(m => m.method === 'notifications/progress' && m.params.progressToken === token, from).map(m => m.params);
  }

  async alive(text = 'still here') {
    assertEqual(textOf(await this.call('echo', { text })), text, 'echo afterwards');
  }

  /** Closes the connection; a server that still answers a call may use up the SDK's patience. */
  async close({ isBusy = false } = {}) {
    const start = performance.now();
    await this.client.close();
    const [code, signal] = await this.exited;
    const ms = Math.round(performance.now() - start);
    assertEqual({ code, signal }, { code: 0, signal: null }, 'how the server ended');
    assert(ms < CLOSE_MS_MAX + (isBusy ? SDK_PATIENCE_MS : 0), `close took ${ms} ms`);
    return `exit after ${ms} ms`;
  }
}

export const textOf = result => result.content?.[0]?.text;
export const isResponse = m => m.method === undefined;

export async function rejection(promise, what, kind = types.McpError) {
  try {
    const value = await promise;
    assert(false, `${what} was answered: ${brief(value)}`);
  } catch (error) {
    if (!(error instanceof kind)) throw error;
    return error;
  }
}

/** Reads a bounded number of pages of a list. */
export async function all(list, key) {
  const found = [];
  let cursor;
  let pages = 0;
  do {
    const page = await list(cursor === undefined ? undefined : { cursor });
    found.push(...page[key]);
    cursor = page.nextCursor;
    pages += 1;
    assert(pages <= 50, `more than 50 pages of ${key}`);
  } while (cursor !== undefined);
  return { found, pages };
}

export function assertIncreasing(values, what) {
  for (let i = 1; i < values.length; i++) assert(values[i] > values[i - 1], `${what}: ${brief(values)} does not increase`);
}
