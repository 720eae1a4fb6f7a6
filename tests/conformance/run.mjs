// Runs the official suite for each runtime and reports the results: every scored scenario must pass without a
// warning, and so must the other scenarios named here.
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

const [cache, bin, ...asked] = process.argv.slice(2);
const runtimes = asked.length ? asked : ['blocking', 'tokio', 'smol'];
const suite = path.join(cache, 'node_modules/@modelcontextprotocol/conformance');
const out = fs.mkdtempSync(path.join(os.tmpdir(), 'mcp-conformance-'));

// Unscored scenarios that pass. Those of the tasks extension do not.
const UNSCORED = {
    '2025-11-25': ['json-schema-2020-12', 'server-session-lifecycle', 'server-sse-polling'],
    '2026-07-28': ['http-custom-header-server-validation', 'http-header-validation', 'json-schema-2020-12'],
};
// All scenarios except those about authorization.
const CLIENT = {
    '2025-11-25': ['initialize', 'tools_call', 'elicitation-sep1034-client-defaults', 'sse-retry',
        'json-schema-2020-12-preservation'],
    '2026-07-28': ['tools_call', 'request-metadata', 'sep-2322-client-request-state', 'http-standard-headers',
        'http-custom-headers', 'http-invalid-tool-headers', 'json-schema-ref-no-deref',
        'json-schema-2020-12-preservation'],
};
const failures = [];

function run(args, seconds, env = {}) {
    return new Promise(resolve => {
        const child = spawn(process.execPath, [path.join(suite, 'dist/index.js'), ...args],
            { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, ...env } });
        let text = '';
        child.stdout.on('data', data => { text += data; });
        child.stderr.on('data', data => { text += data; });
        const late = setTimeout(() => child.kill('SIGKILL'), seconds * 1000);
        child.on('close', code => { clearTimeout(late); resolve({ code, text }); });
    });
}

// Returns the checks of each scenario in a directory of results.
function results(directory) {
    const found = {};
    const walk = (at, name) => {
        for (const entry of fs.readdirSync(at, { withFileTypes: true })) {
            if (!entry.isDirectory()) continue;
            const whole = name ? `${name}/${entry.name}` : entry.name;
            const scenario = whole.match(/^(.*)-\d{4}-\d\d-\d\dT[\d-]+Z$/)?.[1].replace(/^server-/, '');
            const file = path.join(at, entry.name, 'checks.json');
            if (scenario && fs.existsSync(file)) found[scenario] = JSON.parse(fs.readFileSync(file));
            else walk(path.join(at, entry.name), whole);
        }
    };
    if (fs.existsSync(directory)) walk(directory, '');
    return found;
}

function scored(set) {
    const text = fs.readFileSync(path.join(suite, `requirements/${set}.yaml`), 'utf8');
    const lines = text.slice(text.search(/^server:/m)).split('\n').slice(1);
    const end = lines.findIndex(line => /^\S/.test(line));
    return lines.slice(0, end < 0 ? undefined : end).map(line => line.match(/^\s+- (\S+)/)?.[1]).filter(Boolean);
}

function judge(where, scenario, checks) {
    const bad = (checks ?? []).filter(check => check.status === 'FAILURE' || check.status === 'WARNING');
    for (const check of bad) {
        failures.push(`${where} ${scenario}: ${check.status} ${check.id}: ${check.errorMessage ?? check.description}`);
    }
    if (!checks?.some(check => check.status === 'SUCCESS')) failures.push(`${where} ${scenario}: nothing was checked`);
    return bad.length === 0;
}

async function serve(runtime) {
    const server = spawn(path.join(bin, 'fixture-server'), ['--runtime', runtime, 'http', '--port', '0'],
        { stdio: ['ignore', 'pipe', 'inherit'] });
    const url = await new Promise((resolve, reject) => {
        let text = '';
        server.stdout.on('data', data => {
            text += data;
            const found = text.match(/listening on (\S+)/);
            if (found) resolve(found[1]);
        });
        server.on('exit', code => reject(new Error(`fixture-server --runtime ${runtime} ended with ${code}`)));
    });
    return { server, url };
}

async function checkServer(runtime) {
    const { server, url } = await serve(runtime);
    for (const set of Object.keys(UNSCORED)) {
        const directory = path.join(out, `server-${runtime}-${set}`);
        await run(['server', '-o', directory, '--requirements', set, '--url', url, '--timeout', '30000'], 280);
        const found = results(directory);
        const names = [...scored(set), ...UNSCORED[set]];
        const passed = names.filter(name => judge(`server ${runtime} ${set}`, name, found[name])).length;
        console.log(`server ${runtime} ${set}: ${passed}/${names.length} scenarios`);
    }
    server.removeAllListeners('exit');
    const ended = new Promise(resolve => server.on('exit', resolve));
    server.kill('SIGTERM');
    await ended;
}

async function checkClient(runtime) {
    const command = `${path.join(bin, 'fixture-client')} --runtime ${runtime}`;
    for (const [set, names] of Object.entries(CLIENT)) {
        let passed = 0;
        for (const name of names) {
            const directory = path.join(out, `client-${runtime}-${set}`, name);
            const args = ['client', '-o', directory, '--scenario', name, '--spec-version', set, '--command', command];
            const { code, text } = await run([...args, '--timeout', '30000'], 60);
            const checks = Object.values(results(directory))[0];
            const where = `client ${runtime} ${set}`;
            let good = judge(where, name, checks);
            if (code !== 0) {
                failures.push(`${where} ${name}: the suite ended with ${code}: ${text.slice(-600)}`);
                good = false;
            }
            if (name === 'http-standard-headers' && checks?.some(check => check.status === 'SKIPPED')) {
                failures.push(`${where} ${name}: not every message was exercised`);
                good = false;
            }
            passed += good;
        }
        console.log(`client ${runtime} ${set}: ${passed}/${names.length} scenarios`);
    }
}

for (const runtime of runtimes) {
    await checkServer(runtime);
    await checkClient(runtime);
}
for (const failure of failures) console.error(`FAILED ${failure}`);
console.log(failures.length ? `conformance: ${failures.length} failures; results are in ${out}` : 'conformance: all pass');
process.exit(failures.length ? 1 : 0);
