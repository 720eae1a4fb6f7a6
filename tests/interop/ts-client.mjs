// The official TypeScript SDK's client against a stdio server of ours.
// Usage: node ts-client.mjs SERVER [ARG…]

import { Suite, assert, assertEqual, brief } from './harness.mjs';
import { Connection, all, assertIncreasing, isResponse, rejection, textOf, types } from './ts-connection.mjs';

const command = process.argv.slice(2);
const LATEST = '2025-11-25';

const TOOLS = ['echo', 'sleep', 'panic', 'ask', 'flood', 'fail'];
const CONFORMANCE_TOOLS = [
  'test_simple_text', 'test_image_content', 'test_audio_content', 'test_embedded_resource', 'test_multiple_content_types',
  'test_error_handling', 'test_tool_with_progress', 'test_tool_with_logging', 'test_sampling', 'test_elicitation',
  'test_elicitation_sep1034_defaults', 'test_elicitation_sep1330_enums', 'json_schema_2020_12_tool',
];

const suite = new Suite(`TypeScript SDK client against ${command.join(' ')}`);

// --- the handshake ----------------------------------------------------------------------------------------------

const main = new Connection(suite, command, { sampling: {}, elicitation: { form: {} } });
const { client } = main;

// Our answers to requests; each check sets its own.
let elicit = async () => ({ action: 'cancel' });
let sample = async () => ({ role: 'assistant', model: 'none', content: { type: 'text', text: '' } });
client.setRequestHandler(types.ElicitRequestSchema, (request, extra) => elicit(request.params, extra));
client.setRequestHandler(types.CreateMessageRequestSchema, (request, extra) => sample(request.params, extra));
const logged = [];
client.setNotificationHandler(types.LoggingMessageNotificationSchema, notification => void logged.push(notification.params));

const connected = await suite.check('initialize', async () => {
  await main.connect();
  const { name, version } = client.getServerVersion() ?? {};
  assert(name && version, `serverInfo: ${brief(client.getServerVersion())}`);
  const [answer] = main.received(m => m.result?.protocolVersion !== undefined);
  assertEqual(answer.result.protocolVersion, LATEST, 'negotiated version');
  const capabilities = client.getServerCapabilities();
  assert(capabilities.tools, `no tools capability: ${brief(capabilities)}`);
  assert(capabilities.logging, `no logging capability: ${brief(capabilities)}`);
  return `${name} ${version}, capabilities ${Object.keys(capabilities).join(' ')}`;
});
if (!connected) {
  suite.bail('without a connection there is nothing to check');
  suite.finish();
}
const capabilities = client.getServerCapabilities();

/** A check on the main connection; when that no longer answers a ping, the rest is pointless. */
async function check(name, body, seconds) {
  if (await suite.check(name, body, seconds)) return;
  await client.ping({ timeout: 2000 }).catch(error => suite.bail(`the connection is gone: ${error.message}`));
}

await check('ping', async () => assertEqual(await client.ping(), {}, 'result'));

let tools = [];
await check('tools/list, all pages', async () => {
  const { found, pages } = await all(params => client.listTools(params), 'tools');
  tools = found;
  const names = tools.map(t => t.name);
  assertEqual(new Set(names).size, names.length, 'number of distinct names');
  const missing = [...TOOLS, ...CONFORMANCE_TOOLS].filter(name => !names.includes(name));
  assertEqual(missing, [], 'missing tools');
  for (const tool of tools) {
    assert(tool.description, `${tool.name} has no description`);
    assertEqual(tool.inputSchema.type, 'object', `inputSchema.type of ${tool.name}`);
  }
  return `${tools.length} tools on ${pages} page(s)`;
});

await check('tools/list with a bad cursor is -32602', async () => {
  const error = await rejection(client.listTools({ cursor: 'no such cursor' }), 'the bad cursor');
  assertEqual(error.code, -32602, 'error code');
});

// --- tools ------------------------------------------------------------------------------------------------------

await check('echo', async () => {
  const result = await main.call('echo', { text: 'x' });
  assertEqual(result.content, [{ type: 'text', text: 'x' }], 'content');
  assert(!result.isError, 'isError is set');
});

await check('echo keeps every character', async () => {
  const text = 'line\nbreak\r\n tab\t nul\u0000 quote" back\\slash é 世界 😀 \u2028\u2029\u0085 \u007f';
  assertEqual(textOf(await main.call('echo', { text })), text, 'text');
});

await check('echo of 256 KiB', async () => {
  const text = '0123456789abcdé\n'.repeat(16 * 1024);
  assert(textOf(await main.call('echo', { text })) === text, 'the text came back changed');
});

await check('50 concurrent echo calls, each with its own result', async () => {
  const texts = Array.from({ length: 50 }, (_, i) => `number ${i}`);
  const results = await Promise.all(texts.map(text => main.call('echo', { text })));
  assertEqual(results.map(textOf), texts, 'texts');
});

await check('echo without its argument is an error', async () => {
  const outcome = await main.call('echo', {}).then(result => {
    assertEqual(result.isError, true, 'isError');
    return 'isError';
  }, error => {
    assertEqual(error.code, -32602, 'error code');
    return '-32602';
  });
  await main.alive();
  return outcome;
});

await check('an unknown tool is -32602', async () => {
  const error = await rejection(main.call('no_such_tool', {}), 'the unknown tool');
  assertEqual(error.code, -32602, 'error code');
});

await check('an unknown method is -32601', async () => {
  const error = await rejection(client.request({ method: 'of/no-revision', params: {} }, types.ResultSchema), 'the unknown method');
  assertEqual(error.code, -32601, 'error code');
});

await check('fail is a result with isError', async () => {
  const result = await main.call('fail', {});
  assertEqual(result.isError, true, 'isError');
  assert(textOf(result), `no text: ${brief(result)}`);
});

await check('panic is -32603, the server lives on', async () => {
  const error = await rejection(main.call('panic', {}), 'the panic');
  assertEqual(error.code, -32603, 'error code');
  assert(!/panicked|\.rs:\d+/.test(error.message), `the payload is on the wire: ${error.message}`);
  await main.alive();
});

// --- progress and cancellation ----------------------------------------------------------------------------------

await check('sleep reports progress before its result', async () => {
  const seen = [];
  const { from, id, token, result } = main.traced('sleep', { ms: 250, steps: 5 }, { onprogress: p => seen.push(p.progress) });
  await result;
  const wire = main.progress(token, from);
  assert(wire.length >= 5, `only ${wire.length} notifications of 5`);
  assertIncreasing(wire.map(p => p.progress), 'progress');
  for (const p of wire) assert(p.total === undefined || p.progress <= p.total, `progress beyond its total: ${brief(p)}`);
  const entries = suite.transcript.messages('<', from);
  const last = entries.findLastIndex(m => m.method === 'notifications/progress');
  assert(last < entries.findIndex(m => isResponse(m) && m.id === id), 'progress after the result');
  // A notification that arrives in the same read as the response is lost in the SDK (it runs the handlers of
  // notifications a microtask later, those of responses immediately), hence the count is taken from the wire.
  assert(seen.length >= 1, 'onprogress was never called');
  assertIncreasing(seen, 'onprogress');
  return `${wire.length} notifications, ${seen.length} seen by onprogress`;
});

await check('sleep without a progress token reports none', async () => {
  const { from, result } = main.traced('sleep', { ms: 50, steps: 3 });
  await result;
  assertEqual(main.received(m => m.method === 'notifications/progress', from).length, 0, 'notifications');
});

await check('cancelling sleep: the next call works, no answer to the cancelled one', async () => {
  const abort = new AbortController();
  let began;
  const first = new Promise(resolve => (began = resolve));
  const { from, id, token, result } = main.traced('sleep', { ms: 300, steps: 6 }, { signal: abort.signal, onprogress: began });
  await first;
  main.cancelled.add(id);
  abort.abort('enough');
  await rejection(result, 'the cancelled call');
  assertEqual(main.sent(m => m.method === 'notifications/cancelled', from).map(m => m.params.requestId), [id], 'cancelled on the wire');
  await main.alive();
  const settled = suite.transcript.length; // the server has read the cancellation by now
  // A later sleep that lasts longer than the rest of the cancelled one.
  await main.call('sleep', { ms: 2000, steps: 1 });
  assertEqual(main.received(m => isResponse(m) && m.id === id).length, 0, 'answers to the cancelled call');
  assertEqual(main.progress(token, settled).length, 0, 'progress after the cancellation');
});

await check('echo sent while a sleep runs', async () => {
  const order = [];
  const sleep = main.call('sleep', { ms: 300, steps: 1 }).then(() => order.push('sleep'));
  await Promise.all([sleep, main.alive().then(() => order.push('echo'))]);
  return `answered in the order ${order.join(', ')}`; // the order is unspecified
});

// --- questions --------------------------------------------------------------------------------------------------

await check('ask, accepted', async () => {
  let asked;
  elicit = async params => {
    asked = params;
    return { action: 'accept', content: { name: 'Ada' } };
  };
  const result = await main.call('ask', {});
  assertEqual(asked?.requestedSchema?.properties?.name?.type, 'string', 'type of the field `name`');
  assert(asked.message, 'no message');
  assert(JSON.stringify(result.content).includes('hello Ada'), `content: ${brief(result)}`);
});

for (const [how, answer] of [
  ['declined', async () => ({ action: 'decline' })],
  ['cancelled by the user', async () => ({ action: 'cancel' })],
  ['answered with an error', async () => Promise.reject(new types.McpError(-32603, 'no user here'))],
  ['accepted without content', async () => ({ action: 'accept' })],
  ['accepted with a wrong type', async () => ({ action: 'accept', content: { name: 7 } })],
]) {
  await check(`ask, ${how}: the connection survives`, async () => {
    elicit = answer;
    const outcome = await main.call('ask', {}).then(r => `${r.isError ? 'isError ' : ''}${brief(textOf(r))}`, e => e.message);
    assert(!outcome.includes('hello Ada'), `an old answer: ${outcome}`);
    await main.alive();
    return outcome;
  });
}

await check('ask, cancelled while the question is open', async () => {
  const abort = new AbortController();
  let answer;
  const open = new Promise(resolve => {
    elicit = () => {
      resolve();
      return new Promise(late => (answer = late));
    };
  });
  const { id, result } = main.traced('ask', {}, { signal: abort.signal });
  await open;
  main.cancelled.add(id);
  abort.abort('enough');
  await rejection(result, 'the cancelled call');
  await main.alive('before the late answer');
  answer({ action: 'accept', content: { name: 'too late' } });
  await main.alive('after the late answer');
  assertEqual(main.received(m => isResponse(m) && m.id === id).length, 0, 'answers to the cancelled call');
});

await check('10 concurrent asks, each with its own answer', async () => {
  let n = 0;
  elicit = async () => ({ action: 'accept', content: { name: `Ada${n++}` } });
  const results = await Promise.all(Array.from({ length: 10 }, () => main.call('ask', {})));
  const names = results.map(result => /hello (Ada\d)/.exec(JSON.stringify(result.content))?.[1]);
  assertEqual([...names].sort(), Array.from({ length: 10 }, (_, i) => `Ada${i}`), 'names');
});

await check('test_sampling', async () => {
  let asked;
  sample = async params => {
    asked = params;
    return { role: 'assistant', model: 'a-model', stopReason: 'endTurn', content: { type: 'text', text: 'sampled text' } };
  };
  const result = await main.call('test_sampling', { prompt: 'what now?' });
  const [message] = asked.messages;
  assertEqual([message.role, message.content], ['user', { type: 'text', text: 'what now?' }], 'the message asked');
  assertEqual(asked.maxTokens, 100, 'maxTokens');
  assertEqual(textOf(result), 'LLM response: sampled text', 'text');
});

await check('test_sampling, refused: the connection survives', async () => {
  sample = async () => Promise.reject(new types.McpError(-1, 'User rejected sampling request'));
  const outcome = await main.call('test_sampling', { prompt: 'no' }).then(r => `${r.isError ? 'isError ' : ''}${brief(textOf(r))}`, e => e.message);
  await main.alive();
  return outcome;
});

await check('test_elicitation', async () => {
  let asked;
  elicit = async params => {
    asked = params;
    return { action: 'accept', content: { username: 'ada', email: 'ada@example.com' } };
  };
  const result = await main.call('test_elicitation', { message: 'who are you?' });
  assertEqual(asked.message, 'who are you?', 'message');
  assertEqual([...(asked.requestedSchema.required ?? [])].sort(), ['email', 'username'], 'required');
  for (const part of ['accept', 'ada@example.com']) assert(textOf(result).includes(part), `no ${part} in ${brief(result)}`);
});

await check('test_elicitation_sep1034_defaults', async () => {
  let asked;
  elicit = async params => {
    asked = params;
    return { action: 'accept', content: { name: 'n', age: 1, score: 0.5, status: 'pending', verified: false } };
  };
  assert(!(await main.call('test_elicitation_sep1034_defaults', {})).isError, 'isError is set');
  const p = asked.requestedSchema.properties;
  assertEqual(['name', 'age', 'score', 'status', 'verified'].map(key => [p[key]?.type, p[key]?.default]),
    [['string', 'John Doe'], ['integer', 30], ['number', 95.5], ['string', 'active'], ['boolean', true]], 'types and defaults');
  assertEqual(p.status.enum, ['active', 'inactive', 'pending'], 'enum of status');
});

await check('test_elicitation_sep1330_enums', async () => {
  let asked;
  elicit = async params => {
    asked = params;
    return { action: 'cancel' };
  };
  await main.call('test_elicitation_sep1330_enums', {});
  const p = asked.requestedSchema.properties;
  const titled = options => options?.every(o => o.const !== undefined && o.title !== undefined);
  assert(p.untitledSingle.enum && !p.untitledSingle.oneOf && !p.untitledSingle.enumNames, `untitledSingle: ${brief(p.untitledSingle)}`);
  assert(titled(p.titledSingle.oneOf) && !p.titledSingle.enum, `titledSingle: ${brief(p.titledSingle)}`);
  assertEqual(p.legacyEnum.enumNames?.length, p.legacyEnum.enum?.length, 'names of legacyEnum');
  assert(p.untitledMulti.items.enum && !p.untitledMulti.items.anyOf, `untitledMulti: ${brief(p.untitledMulti)}`);
  assert(titled(p.titledMulti.items.anyOf) && !p.titledMulti.items.enum, `titledMulti: ${brief(p.titledMulti)}`);
});

// --- logging ----------------------------------------------------------------------------------------------------

await check('flood at level info: 200 messages, in order, before the result', async () => {
  await client.setLoggingLevel('info');
  logged.length = 0;
  const { from, id, result } = main.traced('flood', { n: 200 });
  await result;
  assertEqual(logged.length, 200, 'messages handled');
  assertEqual([...new Set(logged.map(m => m.level))], ['info'], 'levels');
  const numbers = logged.map(m => Number(/(\d+)\D*$/.exec(JSON.stringify(m.data))?.[1]));
  const gap = numbers.findIndex((n, i) => i > 0 && n !== numbers[i - 1] + 1);
  assert(gap === -1, `message ${gap} breaks the order: ${brief(logged.slice(Math.max(gap - 2, 0), gap + 2))}`);
  const entries = suite.transcript.messages('<', from);
  const last = entries.findLastIndex(m => m.method === 'notifications/message');
  assert(last < entries.findIndex(m => isResponse(m) && m.id === id), 'a message after the result');
});

await check('flood at level error: none', async () => {
  await client.setLoggingLevel('error');
  const { from, result } = main.traced('flood', { n: 200 });
  await result;
  await client.ping();
  assertEqual(main.received(m => m.method === 'notifications/message', from).length, 0, 'messages');
});

await check('a wrong level is -32602', async () => {
  const error = await rejection(client.request({ method: 'logging/setLevel', params: { level: 'loud' } }, types.ResultSchema), 'the wrong level');
  assertEqual(error.code, -32602, 'error code');
});

await check('test_tool_with_logging', async () => {
  await client.setLoggingLevel('debug');
  logged.length = 0;
  assert(textOf(await main.call('test_tool_with_logging', {})), 'no text');
  assertEqual(logged.map(m => m.level), ['info', 'info', 'info'], 'levels');
});

// --- content ----------------------------------------------------------------------------------------------------

await check('test_simple_text, called without arguments', async () => {
  const result = await client.callTool({ name: 'test_simple_text' });
  assertEqual(result.content, [{ type: 'text', text: 'This is a simple text response for testing.' }], 'content');
});

const blocks = {
  test_image_content: ['image'],
  test_audio_content: ['audio'],
  test_embedded_resource: ['resource'],
  test_multiple_content_types: ['text', 'image', 'resource'],
};
for (const [name, expected] of Object.entries(blocks)) {
  await check(name, async () => {
    const { content } = await main.call(name, {});
    assertEqual(content.map(block => block.type), expected, 'block types');
    for (const block of content) {
      if (block.type === 'image') assertEqual(block.mimeType, 'image/png', 'mimeType');
      if (block.type === 'audio') assertEqual(block.mimeType, 'audio/wav', 'mimeType');
      if (block.data !== undefined) assert(Buffer.from(block.data, 'base64').length > 0, 'no data');
      if (block.type === 'resource') assert(block.resource.text && block.resource.uri.startsWith('test://'), `resource: ${brief(block)}`);
    }
  });
}

await check('test_error_handling', async () => {
  const result = await main.call('test_error_handling', {});
  assertEqual(result.isError, true, 'isError');
  assertEqual(textOf(result), 'This tool intentionally returns an error for testing', 'text');
});

await check('test_tool_with_progress', async () => {
  const { from, token, result } = main.traced('test_tool_with_progress', {}, { onprogress: () => {} });
  await result;
  assertEqual(main.progress(token, from).map(p => [p.progress, p.total]), [[0, 100], [50, 100], [100, 100]], 'progress');
});

await check('json_schema_2020_12_tool keeps its schema', async () => {
  // From the wire: the SDK's types might drop unknown members.
  const listed = main.received(m => m.result?.tools).flatMap(m => m.result.tools);
  const schema = listed.find(t => t.name === 'json_schema_2020_12_tool')?.inputSchema;
  assertEqual(schema?.$schema, 'https://json-schema.org/draft/2020-12/schema', '$schema');
  assertEqual(schema.$defs?.address?.$anchor, 'addressDef', '$anchor');
  assertEqual(schema.properties?.address, { $ref: '#/$defs/address' }, '$ref');
  for (const key of ['allOf', 'if', 'then', 'else']) assert(schema[key], `no ${key}`);
  assertEqual(schema.additionalProperties, false, 'additionalProperties');
});

// --- other declared features ------------------------------------------------------------------------------------

if (capabilities.resources) {
  let resources = [];
  await check('resources/list, all pages', async () => {
    const { found, pages } = await all(params => client.listResources(params), 'resources');
    resources = found;
    for (const uri of ['test://static-text', 'test://static-binary']) assert(found.some(r => r.uri === uri), `no ${uri}`);
    return `${found.length} resources on ${pages} page(s)`;
  });
  await check('resources/read of every listed resource', async () => {
    for (const { uri } of resources) {
      const { contents } = await client.readResource({ uri });
      assert(contents.length > 0, `${uri} is empty`);
    }
  });
  await check('resources/read: text and blob', async () => {
    const [text] = (await client.readResource({ uri: 'test://static-text' })).contents;
    assert(text.text && text.mimeType === 'text/plain', `text: ${brief(text)}`);
    const [blob] = (await client.readResource({ uri: 'test://static-binary' })).contents;
    assertEqual(Buffer.from(blob.blob, 'base64').subarray(1, 4).toString(), 'PNG', 'signature of the blob');
  });
  await check('resources/templates/list, and a read through a template', async () => {
    const { found } = await all(params => client.listResourceTemplates(params), 'resourceTemplates');
    assert(found.some(t => t.uriTemplate === 'test://template/{id}/data'), `templates: ${brief(found)}`);
    const { contents } = await client.readResource({ uri: 'test://template/123/data' });
    assert(JSON.stringify(contents).includes('123'), `contents: ${brief(contents)}`);
  });
  await check('an unknown resource is -32002', async () => {
    const error = await rejection(client.readResource({ uri: 'test://nonexistent' }), 'the unknown resource');
    assertEqual(error.code, -32002, 'error code');
  });
  if (capabilities.resources.subscribe) {
    await check('resources/subscribe and unsubscribe', async () => {
      const uri = 'test://watched-resource';
      assertEqual(await client.subscribeResource({ uri }), {}, 'subscribe');
      assertEqual(await client.unsubscribeResource({ uri }), {}, 'unsubscribe');
    });
  }
} else suite.note('resources: not advertised, not exercised');

if (capabilities.prompts) {
  const has = (result, text) => assert(JSON.stringify(result.messages).includes(text), `no ${text} in ${brief(result.messages)}`);
  await check('prompts/list, all pages', async () => {
    const { found, pages } = await all(params => client.listPrompts(params), 'prompts');
    for (const prompt of found) assert(prompt.description, `${prompt.name} has no description`);
    const names = ['test_simple_prompt', 'test_prompt_with_arguments', 'test_prompt_with_embedded_resource', 'test_prompt_with_image'];
    assertEqual(names.filter(name => !found.some(p => p.name === name)), [], 'missing prompts');
    return `${found.length} prompts on ${pages} page(s)`;
  });
  await check('prompts/get', async () => {
    assert((await client.getPrompt({ name: 'test_simple_prompt' })).messages.length > 0, 'no messages');
    const filled = await client.getPrompt({ name: 'test_prompt_with_arguments', arguments: { arg1: 'first-value', arg2: 'second-value' } });
    has(filled, 'first-value');
    has(filled, 'second-value');
    const resource = await client.getPrompt({ name: 'test_prompt_with_embedded_resource', arguments: { resourceUri: 'test://static-text' } });
    assert(resource.messages.some(m => m.content.type === 'resource'), `no resource: ${brief(resource)}`);
    const image = await client.getPrompt({ name: 'test_prompt_with_image' });
    assert(image.messages.some(m => m.content.type === 'image' && m.content.data && m.content.mimeType), `no image: ${brief(image)}`);
  });
  await check('an unknown prompt is -32602', async () => {
    const error = await rejection(client.getPrompt({ name: 'no_such_prompt' }), 'the unknown prompt');
    assertEqual(error.code, -32602, 'error code');
  });
} else suite.note('prompts: not advertised, not exercised');

if (capabilities.completions) {
  await check('completion/complete', async () => {
    const ref = { type: 'ref/prompt', name: 'test_prompt_with_arguments' };
    const { completion } = await client.complete({ ref, argument: { name: 'arg1', value: 'test' } });
    assert(Array.isArray(completion.values), `completion: ${brief(completion)}`);
    return `${completion.values.length} values`;
  });
} else suite.note('completions: not advertised, not exercised');

// --- the end ----------------------------------------------------------------------------------------------------

await check('every request got one answer, the cancelled ones none', async () => {
  for (const { id, method } of main.sent(m => m.method !== undefined && m.id !== undefined)) {
    const answers = main.received(m => isResponse(m) && m.id === id).length;
    assertEqual(answers, main.cancelled.has(id) ? 0 : 1, `answers to ${method} ${id}`);
  }
  const asked = main.received(m => m.method !== undefined && m.id !== undefined).map(m => m.id);
  assertEqual(new Set(asked).size, asked.length, 'distinct ids among the requests of the server');
});

await check('the SDK had nothing to complain about', async () => {
  // Progress that crosses a cancellation or arrives together with the response: see above.
  const complaints = main.errors.filter(text => !text.includes('progress notification for an unknown token'));
  assertEqual(complaints, [], 'errors');
});

await suite.check('close ends the server', () => main.close());

await suite.check('a client without capabilities is never asked', async () => {
  const plain = new Connection(suite, command, {});
  await plain.connect();
  const outcome = await plain.call('ask', {}).then(r => {
    assertEqual(r.isError, true, 'isError');
    return brief(textOf(r));
  }, e => e.message);
  await plain.alive();
  const asked = plain.received(m => m.method !== undefined && m.id !== undefined);
  assertEqual(asked.map(m => m.method), [], 'requests of the server');
  await plain.close();
  return outcome;
});

await suite.check('close while a call is running ends the server', async () => {
  const plain = new Connection(suite, command, {});
  await plain.connect();
  let began;
  const first = new Promise(resolve => (began = resolve));
  const { result } = plain.traced('sleep', { ms: 3000, steps: 60 }, { onprogress: began });
  await first;
  const [remark, error] = await Promise.all([plain.close({ isBusy: true }), rejection(result, 'the open call')]);
  assertEqual(error.code, types.ErrorCode.ConnectionClosed, 'error code');
  return remark;
});

suite.finish();
