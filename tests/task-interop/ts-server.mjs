// A stdio server on version 1 of the official TypeScript SDK, with tasks of revision 2025-11-25. Its tools are those of
// our fixture server.

import { require } from '../interop/harness.mjs';
import { pause } from './peers.mjs';

const { McpServer } = require('@modelcontextprotocol/sdk/server/mcp.js');
const { StdioServerTransport } = require('@modelcontextprotocol/sdk/server/stdio.js');
const { InMemoryTaskStore, InMemoryTaskMessageQueue } = require('@modelcontextprotocol/sdk/experimental/tasks');
const { ElicitResultSchema } = require('@modelcontextprotocol/sdk/types.js');
const { z } = require('zod');

const text = value => ({ content: [{ type: 'text', text: value }] });

const server = new McpServer({ name: 'ts-task-server', version: '1.0.0' }, {
  capabilities: { tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } } },
  taskStore: new InMemoryTaskStore(),
  taskMessageQueue: new InMemoryTaskMessageQueue(),
});

/** Adds a tool whose calls are tasks; `work` returns the final status and the result. */
function add(name, taskSupport, fields, work) {
  const getTask = (args, { taskId, taskStore }) => taskStore.getTask(taskId);
  const getTaskResult = (args, { taskId, taskStore }) => taskStore.getTaskResult(taskId);
  const createTask = async (args, extra) => {
    const task = await extra.taskStore.createTask({ ttl: extra.taskRequestedTtl, pollInterval: 100 });
    work(args, { ...extra, task }).then(
      ([status, result]) => extra.taskStore.storeTaskResult(task.taskId, status, result),
    ).catch(error => console.error(`ts-server: ${name}: ${error.message}`)); // such as: it was cancelled
    return { task };
  };
  const config = { description: name, inputSchema: fields, execution: { taskSupport } };
  server.experimental.tasks.registerToolTask(name, config, { createTask, getTask, getTaskResult });
}

add('slow_compute', 'optional', { seconds: z.number(), label: z.string() }, async ({ seconds, label }) => {
  await pause(1000 * seconds);
  return ['completed', text(`computed ${label}`)];
});

add('confirm_delete', 'optional', { filename: z.string() }, async ({ filename }, { task, sendRequest }) => {
  const requestedSchema = { type: 'object', properties: { confirm: { type: 'boolean' } }, required: ['confirm'] };
  const params = { mode: 'form', message: `Delete ${filename}?`, requestedSchema };
  const { action, content } = await sendRequest({ method: 'elicitation/create', params }, ElicitResultSchema, { relatedTask: task });
  return ['completed', text(action === 'accept' && content.confirm ? 'deleted' : 'kept')];
});

add('failing_job', 'required', {}, async () => {
  await pause(200);
  return ['failed', { ...text('the job failed'), isError: true }];
});

// The store of this SDK has no place for the error of a request.
add('protocol_error_job', 'required', {}, async () => ['failed', { ...text('the job is broken'), isError: true }]);

await server.connect(new StdioServerTransport());
