// The tools of a server as it sends them, without an SDK.

import { Peer, assert, atExit } from './harness.mjs';

/** Returns all tools of the server that `command` starts. */
export async function rawTools(transcript, command) {
  const peer = new Peer(transcript, command);
  const release = atExit(() => peer.kill());
  const hello = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'raw', version: '1' } };
  await peer.request(1, 'initialize', hello);
  peer.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
  const { result } = await peer.request(2, 'tools/list', {});
  assert(result.nextCursor === undefined, 'one page holds all tools: many hosts ignore the cursor');
  await peer.end(child => child.stdin.end());
  release();
  return result.tools;
}

/** Fails if `names` lacks a name of `tools`, or has another one. */
export function assertAll(names, tools, what) {
  const known = new Set(tools.map(tool => tool.name));
  const missing = [...known].filter(name => !names.includes(name));
  const extra = names.filter(name => !known.has(name));
  assert(missing.length === 0 && extra.length === 0, `${what}: missing ${missing}, unknown ${extra}`);
  assert(names.length >= 40, `${what}: only ${names.length} tools`);
  return `${names.length} tools`;
}
