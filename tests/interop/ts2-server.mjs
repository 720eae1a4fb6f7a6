// A stdio server on the official TypeScript SDK, version 2, which speaks both eras. Its tools echo, ask, sleep, fail and
// flood are those of our fixture server, so that ts2-client.mjs can test both.
// Usage: node ts2-server.mjs [dual|modern|legacy]        (default: dual)

import { require } from './harness.mjs';

const sdk = require('@modelcontextprotocol/server');
const { StdioServerTransport, serveStdio } = require('@modelcontextprotocol/server/stdio');
const { acceptedContent, createRequestStateCodec, fromJsonSchema, inputRequired } = sdk;

const NOTE = 'note://one';

const mode = process.argv[2] ?? 'dual';
const complain = error => console.error(`ts2-server: ${error.message.replaceAll(/\s+/g, ' ').slice(0, 200)}`);

// State that the client returns changed is refused.
const carried = createRequestStateCodec({ key: crypto.getRandomValues(new Uint8Array(32)) });

const object = (properties = {}, required = Object.keys(properties)) => ({ type: 'object', properties, required });
const text = value => ({ content: [{ type: 'text', text: value }] });
const form = (message, ...fields) => inputRequired.elicit({
  message,
  requestedSchema: object(Object.fromEntries(fields.map(field => [field, { type: 'string' }]))),
});

/** Resolves after `ms`, sooner when the request is cancelled. */
const pause = (ms, signal) => new Promise(resolve => {
  const timer = setTimeout(resolve, ms);
  signal.addEventListener('abort', () => {
    clearTimeout(timer);
    resolve();
  }, { once: true });
});

function build() {
  const server = new sdk.McpServer({ name: 'ts2-server', version: '1.0.0' }, {
    capabilities: { tools: { listChanged: true }, resources: { subscribe: true, listChanged: true }, prompts: {}, logging: {} },
    instructions: 'Be kind.',
    cacheHints: { 'tools/list': { ttlMs: 1000, cacheScope: 'public' } },
    requestState: { verify: carried.verify },
  });
  server.server.onerror = complain;
  const add = (name, description, properties, required, body) =>
    server.registerTool(name, { description, inputSchema: fromJsonSchema(object(properties, required)) }, body);

  add('echo', 'Returns its text', { text: { type: 'string' } }, undefined, ({ text: said }) => text(said));

  add('ask', 'Asks for a name and says hello', {}, [], (_, { mcpReq }) => {
    const answer = mcpReq.inputResponses?.name;
    if (answer === undefined) return inputRequired({ inputRequests: { name: form('Who are you?', 'name') } });
    if (answer.action !== 'accept') return { ...text(`the user said ${answer.action}`), isError: true };
    return text(`hello ${acceptedContent(mcpReq.inputResponses, 'name').name}`);
  });

  add('ask_twice', 'Asks for a name, then two things together', {}, [], async (_, ctx) => {
    const { inputResponses: answers } = ctx.mcpReq;
    const known = ctx.mcpReq.requestState();
    if (known === undefined) {
      return inputRequired({ inputRequests: { name: form('Who are you?', 'name') }, requestState: await carried.mint({ round: 1 }) });
    }
    if (known.round === 1) {
      const { name } = acceptedContent(answers, 'name');
      return inputRequired({
        inputRequests: { colour: form('Which colour?', 'colour'), animal: form('Which animal?', 'animal') },
        requestState: await carried.mint({ round: 2, name }),
      });
    }
    const [{ colour }, { animal }] = [acceptedContent(answers, 'colour'), acceptedContent(answers, 'animal')];
    return text(`hello ${known.name}, here is your ${colour} ${animal}`);
  });

  add('again', 'Asks for nothing, only to be called again', {}, [], async (_, ctx) =>
    ctx.mcpReq.requestState() === undefined ? inputRequired({ requestState: await carried.mint({}) }) : text('welcome back'));

  const steps = { ms: { type: 'integer' }, steps: { type: 'integer', default: 1 } };
  add('sleep', 'Sleeps in steps and tells of each', steps, ['ms'], async ({ ms, steps: count = 1 }, { mcpReq }) => {
    for (let step = 1; step <= count; step++) {
      await pause(ms / count, mcpReq.signal);
      if (mcpReq.signal.aborted) break;
      const { progressToken } = mcpReq._meta ?? {};
      const params = { progressToken, progress: step, total: count, message: `step ${step}` };
      if (progressToken !== undefined) await mcpReq.notify({ method: 'notifications/progress', params });
    }
    return text(`slept ${ms} ms`);
  });

  add('fail', 'Fails', {}, [], () => ({ ...text('this tool always fails'), isError: true }));

  add('flood', 'Logs many messages', { n: { type: 'integer' } }, undefined, async ({ n }, { mcpReq }) => {
    for (let number = 1; number <= n; number++) await mcpReq.log('info', `flood ${number}`);
    return text(`logged ${n} messages`);
  });

  // Changes: `touch` updates the note and makes `touched` come or go.
  let version = 1;
  const subscribed = new Set();
  const touched = add('touched', 'Was not always here', {}, [], () => text('touched'));
  touched.disable();
  add('touch', 'Changes the note and the list of tools', {}, [], async () => {
    version += 1;
    touched.update({ enabled: !touched.enabled });
    // The SDK notifies modern clients by subscription.
    const isModern = server.server.getNegotiatedProtocolVersion() >= '2026-07-28';
    if (isModern || subscribed.has(NOTE)) await server.server.sendResourceUpdated({ uri: NOTE });
    return text(`version ${version}`);
  });
  server.registerResource('note', NOTE, { mimeType: 'text/plain', description: 'A note' }, uri => ({
    contents: [{ uri: uri.href, mimeType: 'text/plain', text: `version ${version}` }],
  }));
  server.server.setRequestHandler('resources/subscribe', ({ params }) => (subscribed.add(params.uri), {}));
  server.server.setRequestHandler('resources/unsubscribe', ({ params }) => (subscribed.delete(params.uri), {}));

  const argsSchema = fromJsonSchema(object({ name: { type: 'string', description: 'Whom' } }));
  server.registerPrompt('greet', { description: 'A greeting', argsSchema }, ({ name }) => ({
    messages: [{ role: 'user', content: { type: 'text', text: `Say hello to ${name}.` } }],
  }));
  return server;
}

/** This SDK serves with one object per connection, which chooses its era by the first request that shows one. */
const serve = {
  dual: () => serveStdio(build, { onerror: complain }),
  modern: () => serveStdio(build, { legacy: 'reject', onerror: complain }),
  legacy: async () => {
    const server = build();
    await server.connect(new StdioServerTransport());
    return server;
  },
};

if (serve[mode] === undefined) {
  console.error(`ts2-server: no mode ${mode}`);
  process.exit(2);
}
const handle = await serve[mode]();
// The graceful end, which notifies subscribers.
process.on('SIGTERM', () => handle.close().finally(() => process.exit(0)));
