// A client of version 2 of the official TypeScript SDK, with everything it sends and receives in a transcript.

import { setImmediate as turn } from 'node:timers/promises';
import { require } from './harness.mjs';
import { Connection, rejection } from './ts-connection.mjs';

const { Client, ProtocolError, SdkError, SdkErrorCode } = require('@modelcontextprotocol/client');
const { StdioClientTransport } = require('@modelcontextprotocol/client/stdio');
export { SdkErrorCode };

const CALL_MS_MAX = 20000; // the checks have a limit of their own, which comes first
const LOG_LEVEL = 'io.modelcontextprotocol/logLevel';

/** A probe on a process of its own is what the SDK does with its own class, and with no other. */
class ProbesInPlace extends StdioClientTransport {}

export class Connection2 extends Connection {
  /** `mode` is how the SDK finds the revision; `inPlace` has it probe on the connection, where the transcript sees it. */
  constructor(suite, command, capabilities, mode, { inPlace = false } = {}) {
    const options = { versionNegotiation: { mode } };
    super(suite, command, capabilities, { Client, StdioClientTransport: inPlace ? ProbesInPlace : StdioClientTransport, options });
  }

  /** The subscriptions there have been, by the ids of their requests. */
  listens = new Set();

  get isModern() {
    return this.client.getProtocolEra() === 'modern';
  }

  call(name, parameters, { meta, ...options } = {}) {
    const params = { name, arguments: parameters, ...(meta && { _meta: meta }) };
    return this.client.callTool(params, { timeout: CALL_MS_MAX, ...options });
  }

  /** A call that has been sent, and how it looks on the wire: its id and the position it starts at. */
  async traced(name, parameters, options) {
    const from = this.suite.transcript.length;
    const result = this.call(name, parameters, options);
    result.catch(() => {}); // whoever awaits it sees it
    const isIt = m => m.method === 'tools/call' && m.params.name === name;
    while (this.sent(isIt, from).length === 0) await turn();
    const [request] = this.sent(isIt, from);
    return { from, id: request.id, token: request.params._meta?.progressToken, result };
  }

  /** What has the server log during a call: in a modern one the request says so, in a legacy one it was said before. */
  async logging(level) {
    if (this.isModern) return { meta: { [LOG_LEVEL]: level } };
    await this.client.setLoggingLevel(level);
    return {};
  }
}

/** How the server refused. */
export const refusal = (promise, what) => rejection(promise, what, ProtocolError);

/** How the SDK itself gave up. */
export const failure = (promise, what) => rejection(promise, what, SdkError);
