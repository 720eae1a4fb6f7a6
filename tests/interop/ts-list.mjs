// The clients of both versions of the official TypeScript SDK list a server whose schemas are awkward: nothing is missing.
//
// Usage: node ts-list.mjs SERVER [ARG…]

import { isDeepStrictEqual } from 'node:util';

import { Suite, assert, assertEqual } from './harness.mjs';
import { assertAll, rawTools } from './raw-list.mjs';
import { Connection } from './ts-connection.mjs';
import { Connection2 } from './ts2-connection.mjs';

const command = process.argv.slice(2);
const suite = new Suite(`TypeScript SDK clients list the tools of ${command.join(' ')}`);
let tools;
await suite.check('the list, without an SDK', async () => {
  tools = await rawTools(suite.transcript, command);
});

const clients = {
  '1.x': () => new Connection(suite, command, {}),
  ...Object.fromEntries(['auto', 'legacy'].map(mode => [`2.x (${mode})`, () => new Connection2(suite, command, {}, mode)])),
  '2.x (2026-07-28)': () => new Connection2(suite, command, {}, { pin: '2026-07-28' }),
};
for (const [version, connect] of Object.entries(clients)) {
  await suite.check(`${version}: all tools are listed and unchanged`, async () => {
    const connection = connect();
    await connection.connect();
    const { tools: listed, nextCursor } = await connection.client.listTools();
    assertEqual(nextCursor, undefined, 'nextCursor');
    for (const tool of listed) {
      const raw = tools.find(({ name }) => name === tool.name);
      const isSame = isDeepStrictEqual(tool.inputSchema, raw.inputSchema);
      assert(isSame, `${tool.name}: inputSchema ${JSON.stringify(tool.inputSchema)}`);
    }
    // Reads and checks structured content by the output schema.
    const { structuredContent } = await connection.call('awkward_optional', {});
    assertEqual(structuredContent, { value: null }, 'a result with `null`');
    assert((await connection.call('awkward_any', { value: [1] })).isError !== true, 'any value');
    const remark = assertAll(listed.map(tool => tool.name), tools, version);
    await connection.client.close();
    return remark;
  });
}
suite.finish();
