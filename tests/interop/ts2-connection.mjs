// A client of version 2 of the official TypeScript SDK, with everything it sends and receives in a transcript.

import { setImmediate as turn } from 'node:timers/promises';
import { require } from './harness.mjs';
import { Connection, rejection } from './ts-connection.mjs';

const { Client, ProtocolError, SdkError, SdkErrorCode } = require('@modelcontextprotocol/client');
const { StdioClientTransport } = require('@modelcontextprotocol/client/stdio');
export { SdkErrorCode };

const CALL_MS_MAX = 20000; // the checks have a shorter limit
const LOG_LEVEL = 'io.modelcontextprotocol/logLevel';

/** The SDK probes in a separate process only with its own transport class. */
class ProbesInPlace extends StdioClientTransport {}

export class Connection2 extends Connection {
  /** `mode` is how the SDK finds the revision; `inPlace` makes it probe on the connection, which the transcript includes. */
  constructor(suite, command, capabilities, mode, { inPlace = false } = {}) {
    const options = { versionNegotiation: { mode } };
    super(suite, command, capabilities, { Client, StdioClientTransport: inPlace ? ProbesInPlace : StdioClientTransport, options });
  }

  /** All subscriptions so far, by the ids of their requests. */
  listens = new Set();

  get isModern() {
    return this.client.getProtocolEra() === 'modern';
  }

  call(name, parameters, { meta, ...options } = {}) {
    const params = { name, arguments: parameters, ...(meta && { _meta: meta }) };
    return this.client.callTool(params, { timeout: CALL_MS_MAX, ...options });
  }

  /** A sent call, with its id and its position in the transcript. */
  async traced(name, parameters, options) {
    const from = this.suite.transcript.length;
    const result = this.call(name, parameters, options);
    result.catch(() => {}); // reported where it is awaited
    const isIt = m => m.method === 'tools/call' && m.params.name === name;
    while (this.sent(isIt, from).length === 0) await turn();
    const [request] = this.sent(isIt, from);
    return { from, id: request.id, token: request.params._meta?.progressToken, result };
  }

  /** Requests log messages during a call: modern requests carry a level, a legacy session has set it before. */
  async logging(level) {
    if (this.isModern) return { meta: { [LOG_LEVEL]: level } };
    await this.client.setLoggingLevel(level);
    return {};
  }
}

/** Returns the server's error. */
export const refusal = (promise, what) => rejection(promise, what, ProtocolError);

/** Returns the SDK's own error. */
export const failure = (promise, what) => rejection(promise, what, SdkError);
