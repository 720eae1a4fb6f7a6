// Tasks of revision 2025-11-25: the client of version 1 of the official TypeScript SDK against a server of ours.
// Usage: node ts-client.mjs stdio|http -- SERVER [ARG…]        (over HTTP, SERVER prints `listening on URL`)

import { Suite, assert, assertEqual, brief } from '../interop/harness.mjs';
import { listening, pause, recorded, refused, require, takeArguments, textOf, until } from './peers.mjs';

const { Client } = require('@modelcontextprotocol/sdk/client/index.js');
const { StdioClientTransport } = require('@modelcontextprotocol/sdk/client/stdio.js');
const { StreamableHTTPClientTransport } = require('@modelcontextprotocol/sdk/client/streamableHttp.js');
const types = require('@modelcontextprotocol/sdk/types.js');

const INVALID_PARAMS = -32602;
const METHOD_NOT_FOUND = -32601;
const INTERNAL_ERROR = -32603;
const RELATED = 'io.modelcontextprotocol/related-task';

const [kind, command] = takeArguments('node ts-client.mjs stdio|http -- SERVER [ARG…]', [['stdio', 'http']]);
const suite = new Suite(`TypeScript SDK 1 client, tasks over ${kind}, against ${command.join(' ')}`);

let answer = 'accept'; // or `decline`; with `hesitate`, the user never answers
const withdrawn = []; // the questions that were withdrawn
const asked = []; // the params of all elicitations
const heard = []; // the params of all status notifications

let url;
async function connected(options) {
  const transport = kind === 'http'
    ? new StreamableHTTPClientTransport(url, options)
    : new StdioClientTransport({ command: command[0], args: command.slice(1), stderr: 'pipe' });
  const client = new Client({ name: 'ts-task-client', version: '1.0.0' }, { capabilities: { elicitation: { form: {} } } });
  client.onerror = error => suite.transcript.add('#', `SDK error: ${error.message}`);
  client.setRequestHandler(types.ElicitRequestSchema, async ({ params }, { signal }) => {
    asked.push(params);
    if (answer === 'hesitate') {
      await new Promise(resolve => signal.addEventListener('abort', resolve, { once: true }));
      withdrawn.push(params);
    }
    if (answer !== 'accept') return { action: 'decline' };
    const { properties } = params.requestedSchema;
    const content = Object.entries(properties).map(([name, { type }]) => [name, type === 'boolean' ? true : 'Ada']);
    return { action: 'accept', content: Object.fromEntries(content) };
  });
  client.setNotificationHandler(types.TaskStatusNotificationSchema, ({ params }) => void heard.push(params));
  await client.connect(recorded(transport, suite.transcript));
  return client;
}

let client;
if (!await suite.check('connect: the server declares tasks', async () => {
  if (kind === 'http') url = await listening(suite.transcript, command);
  client = await connected();
  const { tasks } = client.getServerCapabilities();
  assertEqual(tasks, { list: {}, cancel: {}, requests: { tools: { call: {} } } }, 'capabilities.tasks');
}, 30)) {
  suite.bail('without a connection there is nothing to check');
  suite.finish();
}
const { tasks } = client.experimental;

/** Calls a tool as a task, through the SDK's stream; returns all that came. */
async function streamed(name, parameters = {}, options = {}) {
  const messages = [];
  const options_ = { task: {}, timeout: 20000, ...options };
  for await (const message of tasks.callToolStream({ name, arguments: parameters }, undefined, options_)) messages.push(message);
  assertEqual(messages[0]?.type, 'taskCreated', 'the first message');
  return { messages, last: messages.at(-1), id: messages[0].task.taskId, created: messages[0].task };
}

/** Creates a task and does not wait for it. */
async function created(name, parameters = {}, task = {}) {
  const params = { name, arguments: parameters, task };
  return (await client.request({ method: 'tools/call', params }, types.CreateTaskResultSchema)).task;
}

/** Waits for a status, with plain polls. */
const status = (id, wanted) => until(async () => {
  const task = await tasks.getTask(id);
  return task.status === wanted ? task : pause(50);
});

const result = id => tasks.getTaskResult(id, types.CallToolResultSchema, { timeout: 20000 });

await suite.check('tools/list: tools say how they support tasks', async () => {
  const support = Object.fromEntries((await client.listTools()).tools.map(tool => [tool.name, tool.execution?.taskSupport]));
  assertEqual([support.slow_compute, support.failing_job], ['optional', 'required'], 'taskSupport');
  assert(support.echo === undefined || support.echo === 'forbidden', `echo: ${support.echo}`);
});

await suite.check('create, poll, result', async () => {
  const { messages, last, id, created } = await streamed('slow_compute', { seconds: 1, label: 'pi' });
  assertEqual([created.status, created.pollInterval], ['working', 100], 'created');
  const statuses = messages.filter(message => message.type === 'taskStatus').map(({ task }) => task.status);
  assertEqual([statuses[0], statuses.at(-1)], ['working', 'completed'], 'statuses');
  assert(statuses.length < 15, `${statuses.length} polls in a second: the poll interval is not kept`);
  assertEqual(textOf(last.result), 'computed pi', 'result');
  assertEqual(last.result._meta[RELATED], { taskId: id }, 'related task');
  assertEqual(textOf(await result(id)), 'computed pi', 'result, read again');
  return `${statuses.length} polls`;
});

await suite.check('tasks/result waits for the end', async () => {
  const { taskId } = await created('slow_compute', { seconds: 1, label: 'e' });
  assertEqual(textOf(await result(taskId)), 'computed e', 'result');
});

await suite.check('status messages of a task', async () => {
  const { taskId } = await created('sleep', { ms: 300, steps: 3 });
  await result(taskId);
  const messages = heard.filter(task => task.taskId === taskId).map(task => task.statusMessage);
  assert(messages.includes('step 1'), `messages: ${brief(messages)}`);
});

await suite.check('a task asks its user', async () => {
  asked.length = 0;
  const { messages, last, id } = await streamed('confirm_delete', { filename: 'a.txt' });
  assertEqual(textOf(last.result), 'deleted', 'result');
  // Over HTTP, the question may be answered before the first poll.
  const statuses = [...messages.map(({ task }) => task), ...heard].filter(task => task?.taskId === id).map(task => task.status);
  assert(statuses.includes('input_required'), `the task never required input: ${statuses}`);
  assertEqual(asked.map(params => params._meta?.[RELATED]), [{ taskId: id }], 'related tasks of the questions');
});

await suite.check('a task asks two things together', async () => {
  asked.length = 0;
  assertEqual(textOf((await streamed('multi_input')).last.result), '2 answers', 'result');
  assertEqual(asked.length, 2, 'questions');
});

await suite.check('the user declines', async () => {
  answer = 'decline';
  const { taskId } = await created('confirm_delete', { filename: 'b.txt' });
  const declined = await result(taskId).finally(() => answer = 'accept');
  assert(declined.isError || textOf(declined) === 'kept', brief(declined));
});

await suite.check('a task whose tool fails has failed, with its result', async () => {
  const { last, id } = await streamed('failing_job');
  assertEqual(last.type, 'error', 'the end of the stream');
  assertEqual((await tasks.getTask(id)).status, 'failed', 'status');
  const failed = await result(id);
  assertEqual([failed.isError, textOf(failed)], [true, 'the job failed'], 'result');
});

await suite.check('a task whose request fails has that error', async () => {
  const { taskId } = await created('protocol_error_job');
  await status(taskId, 'failed');
  const error = await refused(result(taskId), INTERNAL_ERROR, 'tasks/result');
  assert(error.message.includes('the job is broken'), error.message);
});

await suite.check('a task is cancelled', async () => {
  const { taskId } = await created('slow_compute', { seconds: 60 });
  const waiting = result(taskId);
  waiting.catch(() => {});
  assertEqual((await tasks.cancelTask(taskId)).status, 'cancelled', 'the response');
  assertEqual((await tasks.getTask(taskId)).status, 'cancelled', 'status');
  await waiting.then(value => assert(value.isError, `tasks/result: ${brief(value)}`), () => {});
  await refused(tasks.cancelTask(taskId), INVALID_PARAMS, 'a second tasks/cancel');
});

await suite.check('a task that asks is cancelled, and its question is withdrawn', async () => {
  asked.length = 0;
  answer = 'hesitate';
  const { taskId } = await created('confirm_delete', { filename: 'c.txt' });
  await status(taskId, 'input_required');
  result(taskId).catch(() => {});
  await until(() => asked.length === 1);
  assertEqual((await tasks.cancelTask(taskId)).status, 'cancelled', 'the response');
  await until(() => withdrawn.length === 1);
  answer = 'accept';
});

await suite.check('tasks/list', async () => {
  const ids = [];
  for (let i = 0; i < 30; i++) ids.push((await created('slow_compute', { seconds: 0 })).taskId);
  const listed = [];
  for (let cursor, pages = 0; pages === 0 || cursor; pages++) {
    const page = await tasks.listTasks(cursor);
    listed.push(...page.tasks.map(task => task.taskId));
    cursor = page.nextCursor;
    assert(pages < 20, 'the list has no end');
  }
  assertEqual(ids.filter(id => !listed.includes(id)), [], 'tasks that are not listed');
  assertEqual(new Set(listed).size, listed.length, 'different tasks');
  return `${listed.length} tasks`;
});

await suite.check('status notifications', async () => {
  const { id } = await streamed('confirm_delete', { filename: 'd.txt' });
  const statuses = () => heard.filter(task => task.taskId === id).map(task => task.status);
  await until(() => statuses().includes('completed'));
  assert(statuses().includes('input_required'), `statuses: ${statuses()}`);
  return `${heard.length} in all`;
});

await suite.check('a task is forgotten after its time', async () => {
  const { taskId, ttl } = await created('slow_compute', { seconds: 0 }, { ttl: 2000 });
  assertEqual(ttl, 2000, 'ttl');
  assertEqual(textOf(await result(taskId)), 'computed ', 'result, in time');
  const error = await until(() => tasks.getTask(taskId).then(() => pause(100), error => error));
  assertEqual(error.code, INVALID_PARAMS, 'code');
});

await suite.check('an unknown id is refused', async () => {
  await refused(tasks.getTask('no-such-task'), INVALID_PARAMS, 'tasks/get');
  await refused(result('no-such-task'), INVALID_PARAMS, 'tasks/result');
  await refused(tasks.cancelTask('no-such-task'), INVALID_PARAMS, 'tasks/cancel');
});

await suite.check('an invalid cursor is refused', () => refused(tasks.listTasks('no-such-cursor'), INVALID_PARAMS, 'tasks/list'));

await suite.check('taskSupport is enforced', async () => {
  const plain = client.request({ method: 'tools/call', params: { name: 'failing_job', arguments: {} } }, types.CallToolResultSchema);
  await refused(plain, METHOD_NOT_FOUND, 'a plain call of a tool that requires a task');
  await refused(created('echo', { text: 'x' }), METHOD_NOT_FOUND, 'a task of a tool that forbids it');
  const call = await client.callTool({ name: 'slow_compute', arguments: { seconds: 0, label: 'plain' } });
  assertEqual(textOf(call), 'computed plain', 'a plain call of a tool that supports tasks');
});

if (kind === 'http') {
  await suite.check('tasks of another session are unknown', async () => {
    const { taskId } = await created('slow_compute', { seconds: 0 });
    const other = await connected();
    await refused(other.experimental.tasks.getTask(taskId), INVALID_PARAMS, 'tasks/get');
    assertEqual((await other.experimental.tasks.listTasks()).tasks, [], 'tasks of the other session');
    await other.close();
  });

  // Such a stream is optional for clients.
  await suite.check('a client without a stream for unsolicited messages is asked', async () => {
    const fetchNoStream = (input, init) => init?.method === 'GET' ? new Response(null, { status: 405 }) : fetch(input, init);
    const other = await connected({ fetch: fetchNoStream });
    const params = { name: 'confirm_delete', arguments: { filename: 'e.txt' }, task: {} };
    const { task } = await other.request({ method: 'tools/call', params }, types.CreateTaskResultSchema);
    const answered = await other.experimental.tasks.getTaskResult(task.taskId, types.CallToolResultSchema);
    assertEqual(textOf(answered), 'deleted', 'result');
    await other.close();
  });
}

await suite.check('the end', () => client.close());

suite.finish();
