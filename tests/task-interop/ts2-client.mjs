// Tasks with version 2 of the official TypeScript SDK, whose client gets them from `@modelcontextprotocol/ext-tasks`,
// against a server of ours: those of revision 2025-11-25 (`legacy`), and the extension (`modern`).
// Usage: node ts2-client.mjs legacy|modern stdio|http -- SERVER [ARG…]        (over HTTP, SERVER prints `listening on URL`)

import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Suite, assert, assertEqual, brief } from '../interop/harness.mjs';
import { listening, pause, recorded, require, takeArguments, textOf, until } from './peers.mjs';

const sdk = require('@modelcontextprotocol/client');
const { StdioClientTransport } = require('@modelcontextprotocol/client/stdio');
// It has no CommonJS build.
const modules = join(process.env.INTEROP_MODULES ?? process.cwd(), 'node_modules', '@modelcontextprotocol');
const { createTaskSessionFromClient, resultFromTaskOutcome } =
  await import(pathToFileURL(join(modules, 'ext-tasks', 'dist', 'client', 'index.js')));

const TASKS = 'io.modelcontextprotocol/tasks';
const INVALID_PARAMS = -32602;
const MODERN = '2026-07-28';

const usage = 'node ts2-client.mjs legacy|modern stdio|http -- SERVER [ARG…]';
const [era, kind, command] = takeArguments(usage, [['legacy', 'modern'], ['stdio', 'http']]);
const isModern = era === 'modern';
const suite = new Suite(`TypeScript SDK 2 client, ${era} tasks over ${kind}, against ${command.join(' ')}`);

const info = { name: 'ts2-task-client', version: '1.0.0' };
const capabilities = { elicitation: { form: {} }, ...(isModern && { extensions: { [TASKS]: {} } }) };
let action = 'accept';
const asked = []; // all questions
const onInputRequest = async request => {
  asked.push(request);
  if (action !== 'accept') return { action };
  const content = Object.entries(request.params.requestedSchema.properties ?? {}).map(([name]) => [name, 'Ada']);
  return { action, content: Object.fromEntries(content) };
};

/** The SDK's client refuses the results of tasks, so that ext-tasks has requests sent around it. */
function dispatcher(transport) {
  const open = new Map();
  let last = 0;
  const pass = transport.onmessage;
  transport.onmessage = (message, extra) => {
    const respond = open.get(message.id);
    if (respond === undefined) return pass(message, extra);
    open.delete(message.id);
    respond(message.error ? { kind: 'error', error: message.error } : { kind: 'result', result: message.result });
  };
  return (request, { signal } = {}) => new Promise((resolve, reject) => {
    const id = `task-${++last}`;
    open.set(id, resolve);
    signal?.addEventListener('abort', () => reject(signal.reason), { once: true });
    transport.send({ jsonrpc: '2.0', id, ...request }).catch(reject);
  });
}

let client;
let session;
if (!await suite.check('connect: the server has tasks', async () => {
  const transport = recorded(kind === 'http'
    ? new sdk.StreamableHTTPClientTransport(await listening(suite.transcript, command))
    : new StdioClientTransport({ command: command[0], args: command.slice(1), stderr: 'pipe' }), suite.transcript);
  const mode = isModern ? { pin: MODERN } : 'legacy';
  client = new sdk.Client(info, { capabilities, versionNegotiation: { mode } });
  await client.connect(transport);
  const dispatch = isModern && {
    rawDispatch: dispatcher(transport),
    v2RequestFraming: { protocolVersion: MODERN, clientInfo: info, clientCapabilities: capabilities },
  };
  session = createTaskSessionFromClient(client, { endpointId: 'fixture', onInputRequest, ...dispatch });
  return brief(session.capabilities);
}, 30)) {
  suite.bail('without a connection there is nothing to check');
  suite.finish();
}
const tools = Object.fromEntries((await client.listTools()).tools.map(tool => [tool.name, tool]));

/** Calls a tool, as a task. */
const start = (name, parameters = {}, task = { preference: 'prefer' }) => session.callTool(name, parameters, {
  task,
  declaration: { name, inputSchema: tools[name].inputSchema, taskSupport: tools[name].execution?.taskSupport },
});

/** Waits for a call's end; returns the task's states as well. */
async function settled(execution) {
  const states = [];
  const { outcome } = await execution.settle({ onEvent: event => void states.push(event.task?.status) });
  return { outcome, states: states.filter(Boolean) };
}

async function failed(promise, what) {
  const outcome = await promise.then(value => ({ value }), error => ({ error }));
  assert(outcome.error, `${what} was answered: ${brief(outcome.value)}`);
  return outcome.error;
}

await suite.check('create, poll, result', async () => {
  const from = suite.transcript.length;
  const execution = await start('slow_compute', { seconds: 1, label: 'pi' });
  assertEqual(execution.kind, 'task', 'kind');
  const { outcome } = await settled(execution);
  assertEqual(textOf(resultFromTaskOutcome(outcome)), 'computed pi', 'result');
  const polls = suite.transcript.messages('>', from).filter(message => message.method === 'tasks/get').length;
  assert(polls < 15, `${polls} polls in a second: the poll interval is not kept`);
  return `${polls} polls`;
});

await suite.check('a task asks its user', async () => {
  asked.length = 0;
  const { outcome } = await settled(await start('confirm_delete', { filename: 'a.txt' }));
  assertEqual(textOf(resultFromTaskOutcome(outcome)), 'deleted', 'result');
  assertEqual(asked.length, 1, 'questions');
});

await suite.check('a task asks two things together', async () => {
  asked.length = 0;
  const { outcome } = await settled(await start('multi_input'));
  assertEqual(textOf(resultFromTaskOutcome(outcome)), '2 answers', 'result');
  assertEqual(asked.length, 2, 'questions');
});

await suite.check('a question before the task', async () => {
  asked.length = 0;
  const { outcome } = await settled(await start('test_tool_with_task'));
  assertEqual(textOf(resultFromTaskOutcome(outcome)), 'Hello, Ada!', 'result');
});

await suite.check('the user declines', async () => {
  action = 'decline';
  const { outcome } = await settled(await start('confirm_delete', { filename: 'b.txt' })).finally(() => action = 'accept');
  assert(outcome.status !== 'completed' || outcome.result.isError || textOf(outcome.result) === 'kept', brief(outcome));
  return outcome.status;
});

await suite.check('status messages of a task', async () => {
  const execution = await start('sleep', { ms: 600, steps: 3 });
  const messages = [];
  await execution.settle({ onEvent: ({ task }) => void messages.push(task?.statusMessage) });
  assert(messages.some(message => /^step \d/.test(message)), `messages: ${brief(messages)}`);
});

await suite.check('a tool that fails', async () => {
  const { outcome } = await settled(await start('failing_job'));
  // The extension completes such a task; in 2025-11-25 it fails, and has a result nevertheless.
  assert(brief(outcome).includes('the job failed') || outcome.status === 'failed', brief(outcome));
  if (isModern) assertEqual([outcome.status, outcome.result.isError], ['completed', true], 'outcome');
  return outcome.status;
});

await suite.check('a request that fails', async () => {
  const { outcome } = await settled(await start('protocol_error_job'));
  assertEqual(outcome.status, 'failed', 'status');
  assert(outcome.error.message.includes('the job is broken'), outcome.error.message);
});

await suite.check('a task is cancelled', async () => {
  const execution = await start('slow_compute', { seconds: 60 });
  const { taskId } = execution.handle;
  await execution.cancel();
  const { outcome } = await settled(execution);
  assertEqual(outcome.status, 'cancelled', 'outcome');
  assertEqual((await session.task(taskId).snapshot()).status, 'cancelled', 'status');
});

await suite.check('a task is kept by its id, and resumed', async () => {
  const execution = await start('slow_compute', { seconds: 1, label: 'later' });
  const reference = execution.serializeReference();
  await execution.detach();
  // The reference is free soon after.
  const resumed = await until(() => session.resumeTask(reference).catch(() => pause(50)));
  const { outcome } = await settled(resumed);
  assertEqual(textOf(resultFromTaskOutcome(outcome)), 'computed later', 'result');
});

if (!isModern) {
  await suite.check('tasks/list', async () => {
    const ids = [];
    for (let i = 0; i < 20; i++) {
      const execution = await start('slow_compute', { seconds: 0 });
      ids.push(execution.handle.taskId);
      await execution.settle();
    }
    const listed = [];
    for (let cursor, pages = 0; pages === 0 || cursor; pages++) {
      const page = await session.listTasks(cursor);
      listed.push(...page.tasks.map(task => task.taskId));
      cursor = page.nextCursor;
      assert(pages < 20, 'the list has no end');
    }
    assertEqual(ids.filter(id => !listed.includes(id)), [], 'tasks that are not listed');
    return `${listed.length} tasks`;
  });

  await suite.check('a task is forgotten after its time', async () => {
    const execution = await start('slow_compute', { seconds: 0 }, { preference: 'require', retentionMs: 2000 });
    const { taskId } = execution.handle;
    await execution.settle();
    assertEqual((await session.task(taskId).snapshot()).retentionMs, 2000, 'ttl');
    await until(() => session.task(taskId).snapshot().then(() => pause(100), () => true));
  });
}

await suite.check('an unknown id is refused', async () => {
  const error = await failed(session.task('no-such-task').snapshot(), 'tasks/get');
  assertEqual(error.code, INVALID_PARAMS, `code of "${error.message}"`);
  const other = await failed(session.task('no-such-task').cancel(), 'tasks/cancel');
  assertEqual(other.code, INVALID_PARAMS, `code of "${other.message}"`);
});

await suite.check('a tool without tasks responds immediately', async () => {
  const execution = await session.callTool('echo', { text: 'plain' });
  assertEqual(execution.kind, 'immediate', 'kind');
  assertEqual(textOf(resultFromTaskOutcome((await settled(execution)).outcome)), 'plain', 'result');
});

await suite.check('the end', async () => {
  await session.close();
  await client.close();
});

suite.finish();
