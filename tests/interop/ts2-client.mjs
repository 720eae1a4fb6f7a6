// Version 2 of the official TypeScript SDK's client, which speaks both eras, against a stdio server.
// Usage: node ts2-client.mjs MODE [ERA] -- SERVER [ARG…]
//   MODE   how the SDK finds the revision: `auto` probes and falls back, `legacy` uses the handshake, a revision requires it
//   ERA    the expected outcome, `modern` or `legacy`; by default the best that MODE allows

import { Suite, assert, assertEqual, brief } from './harness.mjs';
import { all, assertIncreasing, isResponse, textOf } from './ts-connection.mjs';
import { Connection2, failure, refusal, SdkErrorCode } from './ts2-connection.mjs';

const LEGACY = '2025-11-25';
const MODERN = '2026-07-28';
const TOOLS = ['echo', 'sleep', 'ask', 'flood', 'fail'];
const NOTE = 'note://one';
const PROTOCOL_VERSION = 'io.modelcontextprotocol/protocolVersion';
const CLIENT_CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities';
const SERVER_INFO = 'io.modelcontextprotocol/serverInfo';
const SUBSCRIPTION_ID = 'io.modelcontextprotocol/subscriptionId';

const dashes = process.argv.indexOf('--');
const [mode, era = mode === 'legacy' ? 'legacy' : 'modern'] = process.argv.slice(2, dashes);
const command = process.argv.slice(dashes + 1);
if (dashes < 3 || command.length === 0 || !['auto', 'legacy', MODERN].includes(mode) || !['legacy', 'modern'].includes(era)) {
  console.error('usage: node ts2-client.mjs auto|legacy|2026-07-28 [modern|legacy] -- SERVER [ARG…]');
  process.exit(2);
}
const negotiation = mode === MODERN ? { pin: MODERN } : mode;
const isModern = era === 'modern';
const capabilities = { elicitation: { form: {} } };

const suite = new Suite(`TypeScript SDK 2 client, ${mode}, against ${command.join(' ')}`);

// --- the era ----------------------------------------------------------------------------------------------------

const main = new Connection2(suite, command, capabilities, negotiation);
const { client } = main;

// Our answers: the user's value for each field of a form.
const user = { name: 'Ada', colour: 'green', animal: 'owl' };
const fill = ({ requestedSchema: { properties } }) =>
  ({ action: 'accept', content: Object.fromEntries(Object.keys(properties).map(field => [field, user[field]])) });
let elicit = fill;
client.setRequestHandler('elicitation/create', async ({ params }) => elicit(params));

const heard = [];
for (const method of ['notifications/message', 'notifications/tools/list_changed', 'notifications/resources/updated']) {
  client.setNotificationHandler(method, ({ params }) => void heard.push({ method, params }));
}

const connected = await suite.check(`connect: the era is ${era}`, async () => {
  await main.connect();
  assertEqual(client.getProtocolEra(), era, 'era');
  assertEqual(client.getNegotiatedProtocolVersion(), isModern ? MODERN : LEGACY, 'negotiated version');
  const { name, version } = client.getServerVersion() ?? {};
  assert(name && version, `serverInfo: ${brief(client.getServerVersion())}`);
  assert(client.getServerCapabilities().tools, `no tools capability: ${brief(client.getServerCapabilities())}`);
  // The SDK probes on a separate process, so this one sees no `server/discover`.
  const handshakes = main.sent(m => ['initialize', 'server/discover'].includes(m.method)).map(m => m.method);
  assertEqual(handshakes, isModern ? [] : ['initialize'], 'how the connection began');
  return `${name} ${version}, capabilities ${Object.keys(client.getServerCapabilities()).join(' ')}`;
}, 30);
if (!connected) {
  suite.bail('without a connection there is nothing to check');
  suite.finish();
}
const offered = client.getServerCapabilities();

/** A check on the main connection; when that no longer answers, the rest is pointless. */
async function check(name, body, seconds) {
  if (await suite.check(name, body, seconds)) return;
  await main.call('echo', { text: 'alive' }, { timeout: 2000 }).catch(error => suite.bail(`the connection is gone: ${error.message}`));
}

/** Waits for a notification after the first `from` received. */
async function hear(from, method) {
  for (;;) {
    const found = heard.slice(from).find(entry => entry.method === method);
    if (found) return found.params;
    await new Promise(resolve => setTimeout(resolve, 10));
  }
}

if (isModern) {
  await check('server/discover: versions, capabilities, cache hints', async () => {
    const from = suite.transcript.length;
    await client.discover();
    const [{ result }] = main.received(isResponse, from);
    assert(result.supportedVersions.includes(MODERN), `supportedVersions: ${brief(result.supportedVersions)}`);
    assertEqual(Object.keys(result.capabilities).sort(), Object.keys(offered).sort(), 'capabilities');
    assertEqual(result.resultType, 'complete', 'resultType');
    assert(Number.isSafeInteger(result.ttlMs) && result.ttlMs >= 0, `ttlMs: ${result.ttlMs}`);
    assert(['public', 'private'].includes(result.cacheScope), `cacheScope: ${result.cacheScope}`);
    return `supportedVersions ${result.supportedVersions.join(' ')}`;
  });
} else await check('ping', async () => assertEqual(await client.ping(), {}, 'result'));

let tools = [];
await check('tools/list, all pages', async () => {
  ({ tools } = await client.listTools());
  const names = tools.map(tool => tool.name);
  assertEqual(TOOLS.filter(name => !names.includes(name)), [], 'missing tools');
  return `${tools.length} tools`;
});
const has = name => tools.some(tool => tool.name === name);

await check('tools/list, page by page, is the same again', async () => {
  const from = suite.transcript.length;
  const { found, pages } = await all(params => client.request({ method: 'tools/list', params }), 'tools');
  assertEqual(found, tools, 'tools');
  const scopes = new Set(main.received(isResponse, from).map(m => m.result.cacheScope));
  assertEqual(scopes.size, 1, 'number of different cacheScopes');
  return `${pages} page(s)`;
});

await check('tools/list with a bad cursor is -32602', async () => {
  if (main.received(m => m.result?.nextCursor !== undefined).length === 0) return 'skipped, there is one page only';
  assertEqual((await refusal(client.listTools({ cursor: 'no such cursor' }), 'the bad cursor')).code, -32602, 'error code');
});

// --- tools ------------------------------------------------------------------------------------------------------

await check('echo', async () => {
  const result = await main.call('echo', { text: 'x' });
  assertEqual(result.content, [{ type: 'text', text: 'x' }], 'content');
  assert(!result.isError, 'isError is set');
});

await check('10 concurrent echo calls, each with its own result', async () => {
  const texts = Array.from({ length: 10 }, (_, i) => `number ${i}`);
  const results = await Promise.all(texts.map(text => main.call('echo', { text })));
  assertEqual(results.map(textOf), texts, 'texts');
});

await check('fail is a result with isError', async () => {
  const result = await main.call('fail', {});
  assertEqual(result.isError, true, 'isError');
  assert(textOf(result), `no text: ${brief(result)}`);
});

await check('an unknown tool is -32602', async () => {
  assertEqual((await refusal(main.call('no_such_tool', {}), 'the unknown tool')).code, -32602, 'error code');
});

await check('an unknown method is -32601', async () => {
  const anything = { '~standard': { version: 1, vendor: 'interop', validate: value => ({ value }) } };
  const error = await refusal(client.request({ method: 'of/no-revision', params: {} }, anything), 'the unknown method');
  assertEqual(error.code, -32601, 'error code');
});

// --- progress, cancellation, logging ----------------------------------------------------------------------------

await check('sleep reports progress before its result', async () => {
  const { from, id, token, result } = await main.traced('sleep', { ms: 250, steps: 5 }, { onprogress: () => {} });
  await result;
  const wire = main.progress(token, from);
  assertEqual(wire.length, 5, 'notifications');
  assertIncreasing(wire.map(p => p.progress), 'progress');
  const entries = suite.transcript.messages('<', from);
  const last = entries.findLastIndex(m => m.method === 'notifications/progress');
  assert(last < entries.findIndex(m => isResponse(m) && m.id === id), 'progress after the result');
});

await check('sleep without a progress token reports none', async () => {
  const { from, result } = await main.traced('sleep', { ms: 50, steps: 3 });
  await result;
  assertEqual(main.received(m => m.method === 'notifications/progress', from).length, 0, 'notifications');
});

await check('cancelling sleep: the next call works, no answer to the cancelled one', async () => {
  const abort = new AbortController();
  let began;
  const first = new Promise(resolve => (began = resolve));
  const sleep = { ms: 300, steps: 6 };
  const { from, id, token, result } = await main.traced('sleep', sleep, { signal: abort.signal, onprogress: began });
  await first;
  main.cancelled.add(id);
  abort.abort('enough');
  await failure(result, 'the cancelled call');
  assertEqual(main.sent(m => m.method === 'notifications/cancelled', from).map(m => m.params.requestId), [id], 'cancelled on the wire');
  await main.alive();
  const settled = suite.transcript.length; // the server has read the cancellation by now
  // A later sleep that lasts longer than the rest of the cancelled one.
  await main.call('sleep', { ms: 1000, steps: 1 });
  assertEqual(main.received(m => isResponse(m) && m.id === id).length, 0, 'answers to the cancelled call');
  assertEqual(main.progress(token, settled).length, 0, 'progress after the cancellation');
});

await check('flood logs when messages were asked for', async () => {
  const from = suite.transcript.length;
  const options = await main.logging('info');
  await main.call('flood', { n: 5 }, options);
  const messages = main.received(m => m.method === 'notifications/message', from).map(m => [m.params.level, m.params.data]);
  assertEqual(messages, Array.from({ length: 5 }, (_, i) => ['info', `flood ${i + 1}`]), 'messages');
});

await check('flood logs nothing below the level that was asked for', async () => {
  const from = suite.transcript.length;
  const options = await main.logging('warning');
  await main.call('flood', { n: 5 }, options);
  assertEqual(main.received(m => m.method === 'notifications/message', from).length, 0, 'messages');
});

if (isModern) {
  await check('flood logs nothing when nobody asked', async () => {
    const from = suite.transcript.length;
    await main.call('flood', { n: 5 });
    assertEqual(main.received(m => m.method === 'notifications/message', from).length, 0, 'messages');
  });
}

// --- questions --------------------------------------------------------------------------------------------------

await check('ask, accepted', async () => {
  let asked;
  elicit = params => fill(asked = params);
  const { from, id, result } = await main.traced('ask', {});
  assertEqual(textOf(await result), 'hello Ada', 'text');
  assertEqual(asked?.requestedSchema?.properties?.name?.type, 'string', 'type of the field `name`');
  assert(asked.message, 'no message');
  if (!isModern) return;
  const { result: first } = main.received(m => isResponse(m) && m.id === id, from)[0];
  assertEqual(first.resultType, 'input_required', 'resultType of the first answer');
  assert(first.ttlMs === undefined && first.cacheScope === undefined, 'the first answer has cache hints');
  const retry = main.sent(m => m.method === 'tools/call', from)[1];
  assert(retry.id !== id, 'the retry has the id of the first request');
  return `asked under the key ${Object.keys(first.inputRequests)}, requestState ${first.requestState === undefined ? 'absent' : 'carried'}`;
});

for (const [how, answer] of [
  ['declined', () => ({ action: 'decline' })],
  ['cancelled by the user', () => ({ action: 'cancel' })],
]) {
  await check(`ask, ${how}: the connection survives`, async () => {
    elicit = answer;
    const outcome = await main.call('ask', {}).then(r => `${r.isError ? 'isError ' : ''}${brief(textOf(r))}`, e => e.message);
    assert(!outcome.includes('hello Ada'), `an old answer: ${outcome}`);
    await main.alive();
    return outcome;
  });
}

await check('10 concurrent asks, each with its own answer', async () => {
  let n = 0;
  elicit = () => ({ action: 'accept', content: { name: `Ada${n++}` } });
  const names = (await Promise.all(Array.from({ length: 10 }, () => main.call('ask', {})))).map(textOf);
  assertEqual([...names].sort(), Array.from({ length: 10 }, (_, i) => `hello Ada${i}`), 'names');
});

elicit = fill;
if (has('ask_twice')) {
  await check('ask_twice: two rounds, the second with two questions', async () => {
    assertEqual(textOf(await main.call('ask_twice', {})), 'hello Ada, here is your green owl', 'text');
  });
} else suite.note('ask_twice: not there, not exercised');
if (has('again')) {
  await check('again: a round without a question', async () => assertEqual(textOf(await main.call('again', {})), 'welcome back', 'text'));
} else suite.note('again: not there, not exercised');

// --- changes ----------------------------------------------------------------------------------------------------

const listen = { toolsListChanged: true, promptsListChanged: true, resourceSubscriptions: [NOTE] };

if (isModern) {
  await check('subscriptions/listen is acknowledged with what the server has, and ends', async () => {
    const from = suite.transcript.length;
    const subscription = await client.listen(listen);
    const honoured = {
      ...(offered.tools.listChanged && { toolsListChanged: true }),
      ...(offered.prompts?.listChanged && { promptsListChanged: true }),
      ...(offered.resources?.subscribe && { resourceSubscriptions: [NOTE] }),
    };
    assertEqual(subscription.honoredFilter, honoured, 'honoured');
    const [{ id }] = main.sent(m => m.method === 'subscriptions/listen', from);
    main.listens.add(id);
    const tagged = main.received(m => m.params?._meta?.[SUBSCRIPTION_ID] !== undefined, from);
    assertEqual(tagged.map(m => [m.method, m.params._meta[SUBSCRIPTION_ID]]), [['notifications/subscriptions/acknowledged', id]], 'tagged');
    await subscription.close();
    await main.alive();
    return `honoured ${brief(honoured)}`;
  });
  await check('subscriptions/listen to nothing is acknowledged', async () => {
    const from = suite.transcript.length;
    const subscription = await client.listen({});
    main.listens.add(main.sent(m => m.method === 'subscriptions/listen', from)[0].id);
    assertEqual(subscription.honoredFilter, {}, 'honoured');
    await subscription.close();
    await main.alive();
  });
}

if (has('touch')) {
  await check('touch: subscribers receive changes', async () => {
    const from = suite.transcript.length;
    const before = heard.length;
    let subscription;
    if (isModern) {
      subscription = await client.listen(listen);
      main.listens.add(main.sent(m => m.method === 'subscriptions/listen', from)[0].id);
    } else await client.subscribeResource({ uri: NOTE });
    await main.call('touch', {});
    assertEqual((await hear(before, 'notifications/resources/updated')).uri, NOTE, 'uri');
    await hear(before, 'notifications/tools/list_changed');
    const { tools: now } = await client.listTools(undefined, { cacheMode: 'refresh' });
    assert(now.some(tool => tool.name === 'touched'), 'the new tool is not listed');
    if (isModern) await subscription.close();
    else await client.unsubscribeResource({ uri: NOTE });
    await main.alive();
    const settled = heard.length;
    await main.call('touch', {});
    await main.alive();
    const updates = heard.slice(settled).filter(entry => isModern || entry.method === 'notifications/resources/updated');
    assertEqual(updates, [], 'changes that nobody listens to');
  });
} else suite.note('touch: not there, not exercised');

// --- other declared features --------------------------------------------------------------------------------------

if (offered.resources) {
  await check('resources: every one that is listed can be read', async () => {
    const { resources } = await client.listResources();
    for (const { uri } of resources) assert((await client.readResource({ uri })).contents.length > 0, `${uri} is empty`);
    return `${resources.length} resources`;
  });
  await check('resources/read of none is refused', async () => {
    return `${(await refusal(client.readResource({ uri: 'no-such://resource' }), 'the unknown resource')).code}`;
  });
} else suite.note('resources: not advertised, not exercised');

if (offered.prompts) {
  await check('prompts: every one that is listed can be had', async () => {
    const { prompts } = await client.listPrompts();
    for (const { name, arguments: wanted = [] } of prompts) {
      const values = Object.fromEntries(wanted.map(({ name: argument }) => [argument, user[argument] ?? 'test']));
      const { messages } = await client.getPrompt({ name, arguments: values });
      assert(messages.length > 0, `${name} has no messages`);
    }
    return `${prompts.length} prompts`;
  });
} else suite.note('prompts: not advertised, not exercised');

// --- the end ----------------------------------------------------------------------------------------------------

await check('every request got one answer, the cancelled ones none', async () => {
  for (const { id, method } of main.sent(m => m.method !== undefined && m.id !== undefined)) {
    if (main.listens.has(id)) continue; // ended by us: a response is allowed
    const answers = main.received(m => isResponse(m) && m.id === id).length;
    assertEqual(answers, main.cancelled.has(id) ? 0 : 1, `answers to ${method} ${id}`);
  }
});

if (isModern) {
  await check('the server asked nothing by itself, and every result says what and whose it is', async () => {
    assertEqual(main.received(m => m.method !== undefined && m.id !== undefined).map(m => m.method), [], 'requests of the server');
    for (const { id, result } of main.received(m => m.result !== undefined)) {
      assert(['complete', 'input_required'].includes(result.resultType), `resultType of the answer to ${id}: ${result.resultType}`);
      assertEqual(result._meta?.[SERVER_INFO], client.getServerVersion(), `serverInfo of the answer to ${id}`);
    }
  });
} else {
  await check('no result has anything modern', async () => {
    for (const { id, result } of main.received(m => m.result !== undefined)) {
      for (const key of ['resultType', 'ttlMs', 'cacheScope']) assert(result[key] === undefined, `the answer to ${id} has ${key}`);
    }
  });
}

await check('the SDK had nothing to complain about', async () => {
  // Progress that crosses a cancellation or arrives together with the response.
  const complaints = main.errors.filter(text => !text.includes('progress notification for an unknown token'));
  assertEqual(complaints, [], 'errors');
});

await suite.check('close ends the server', () => main.close());

if (mode !== 'legacy') {
  await suite.check('the probe can be the first frame of the connection itself', async () => {
    const plain = new Connection2(suite, command, capabilities, negotiation, { inPlace: true });
    await plain.connect();
    assertEqual(plain.client.getProtocolEra(), era, 'era');
    const [first, second] = plain.sent(() => true);
    assertEqual(first.method, 'server/discover', 'first frame');
    assertEqual(first.params._meta[PROTOCOL_VERSION], MODERN, 'its revision');
    assertEqual(first.params._meta[CLIENT_CAPABILITIES], capabilities, 'its capabilities');
    assertEqual(second?.method, isModern ? undefined : 'initialize', 'second frame');
    await plain.alive();
    return plain.close();
  }, 30);
}

await suite.check('a client without capabilities is never asked', async () => {
  const plain = new Connection2(suite, command, {}, negotiation);
  await plain.connect();
  const outcome = await plain.call('ask', {}).then(r => {
    assertEqual(r.isError, true, 'isError');
    return brief(textOf(r));
  }, e => {
    if (isModern) assertEqual(e.code, -32021, 'error code');
    return e.message;
  });
  await plain.alive();
  const asked = plain.received(m => (m.method !== undefined && m.id !== undefined) || m.result?.resultType === 'input_required');
  assertEqual(asked, [], 'questions of the server');
  await plain.close();
  return outcome;
}, 30);

await suite.check('close while a call is running ends the server', async () => {
  const plain = new Connection2(suite, command, {}, negotiation);
  await plain.connect();
  let began;
  const first = new Promise(resolve => (began = resolve));
  const { result } = await plain.traced('sleep', { ms: 3000, steps: 60 }, { onprogress: began });
  await first;
  const [remark, error] = await Promise.all([plain.close({ isBusy: true }), failure(result, 'the open call')]);
  assertEqual(error.code, SdkErrorCode.ConnectionClosed, 'error code');
  return remark;
}, 30);

suite.finish();
