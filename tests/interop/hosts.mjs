// Hosts' own conversions of a list of tools into the declarations of a model's API, without a model: no tool is dropped.
//
// Usage: node hosts.mjs SERVER [ARG…]

import { pathToFileURL } from 'node:url';
import { Suite, assert, atExit, require } from './harness.mjs';
import { assertAll, rawTools } from './raw-list.mjs';

const [program, ...args] = process.argv.slice(2);
const suite = new Suite(`hosts convert the tools of ${[program, ...args].join(' ')}`);

/** The packages' own modules: some have no CommonJS form. */
const load = name => import(pathToFileURL(require.resolve(name)));

let tools;
await suite.check('the list, without a host', async () => {
  tools = await rawTools(suite.transcript, [program, ...args]);
});

/** Checks that each declaration has the arguments of its tool. */
function assertDeclared(declared, what) {
  for (const { name, schema } of declared) {
    const expected = Object.keys(tools.find(tool => tool.name === name)?.inputSchema.properties ?? {});
    const properties = Object.keys(schema?.properties ?? {});
    const missing = expected.filter(field => !properties.includes(field));
    assert(missing.length === 0, `${what}: ${name} lost ${missing}: ${JSON.stringify(schema)}`);
  }
  return assertAll(declared.map(({ name }) => name), tools, what);
}

const hosts = {
  async '@ai-sdk/mcp'() {
    const { createMCPClient } = await load('@ai-sdk/mcp');
    const { Experimental_StdioMCPTransport: Stdio } = await load('@ai-sdk/mcp/mcp-stdio');
    const client = await createMCPClient({ transport: new Stdio({ command: program, args }) });
    const converted = await client.tools();
    const declared = [];
    for (const [name, tool] of Object.entries(converted)) {
      declared.push({ name, schema: await tool.inputSchema.jsonSchema });
    }
    const result = await converted.awkward_optional.execute({}, { toolCallId: '1', messages: [] });
    assert(result.isError !== true, JSON.stringify(result));
    await client.close();
    return declared;
  },

  async '@google/genai'() {
    const { mcpToTool } = await load('@google/genai');
    const client = await sdkClient();
    const { functionDeclarations } = await mcpToTool(client).tool();
    await client.close();
    return functionDeclarations.map(({ name, parametersJsonSchema, parameters }) => ({ name, schema: parametersJsonSchema ?? parameters }));
  },

  '@openai/agents': () => openai(false),
  '@openai/agents (strict)': () => openai(true),

  async '@langchain/mcp-adapters'() {
    const { loadMcpTools } = await load('@langchain/mcp-adapters');
    const client = await sdkClient();
    const converted = await loadMcpTools('fixture', client, { throwOnLoadError: true });
    await client.close();
    return converted.map(({ name, schema }) => ({ name, schema }));
  },
};

async function sdkClient() {
  const { Client } = require('@modelcontextprotocol/sdk/client/index.js');
  const { StdioClientTransport } = require('@modelcontextprotocol/sdk/client/stdio.js');
  const transport = new StdioClientTransport({ command: program, args });
  const client = new Client({ name: 'host', version: '1.0.0' });
  await client.connect(transport);
  atExit(() => transport._process?.kill('SIGKILL'));
  return client;
}

async function openai(strict) {
  const { MCPServerStdio, getAllMcpTools } = await load('@openai/agents');
  const server = new MCPServerStdio({ command: program, args });
  await server.connect();
  const converted = await getAllMcpTools({ mcpServers: [server], convertSchemasToStrict: strict });
  await server.close();
  return converted.map(({ name, parameters }) => ({ name, schema: parameters }));
}

for (const [name, convert] of Object.entries(hosts)) {
  await suite.check(`${name}: every tool is converted`, async () => assertDeclared(await convert(), name), 30);
}
suite.finish();
