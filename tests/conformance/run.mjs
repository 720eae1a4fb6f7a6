// Runs the official suite for each runtime and reports the results: every scenario for clients, every scored
// scenario for servers, and the other ones named here must pass without a warning.
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

const [cache, bin, ...asked] = process.argv.slice(2);
const runtimes = asked.length ? asked : ['blocking', 'tokio', 'smol'];
const suite = path.join(cache, 'node_modules/@modelcontextprotocol/conformance');
const out = fs.mkdtempSync(path.join(os.tmpdir(), 'mcp-conformance-'));

// Unscored scenarios, all of which pass.
const UNSCORED = {
    '2025-11-25': ['json-schema-2020-12', 'server-session-lifecycle', 'server-sse-polling'],
    '2026-07-28': [
        'http-custom-header-server-validation', 'http-header-validation', 'json-schema-2020-12',
        'tasks-capability-negotiation', 'tasks-dispatch-and-envelope', 'tasks-lifecycle', 'tasks-mrtr-composition',
        'tasks-mrtr-input', 'tasks-request-headers', 'tasks-request-state-removal', 'tasks-required-task-error',
        'tasks-status-notifications', 'tasks-wire-fields',
    ],
};
// Scenarios whose check the suite itself skips, for every server: they cannot fail yet.
const SKIPPED_BY_SUITE = ['tasks-status-notifications'];
// Scenarios that belong to no set of requirements.
const SERVER_EXTRA = {
    '2025-11-25': [],
    '2026-07-28': ['sep-2640-skills-directory', 'sep-2640-skills-enumeration', 'sep-2640-skills-manifest'],
};
const CLIENT_EXTRA = {
    '2025-03-26': ['auth/2025-03-26-oauth-metadata-backcompat', 'auth/2025-03-26-oauth-endpoint-fallback'],
    '2025-11-25': [],
    '2026-07-28': [
        'sep-2640-client-no-prefetch', 'sep-2640-client-verify-digest', 'sep-2640-client-verify-frontmatter',
        'sep-2640-client-verify-size',
    ],
};
// How many scenarios about authorization run concurrently. The others measure time, and run one by one.
const PARALLEL = 3;
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

function requirements(set) {
    const file = path.join(suite, `requirements/${set}.yaml`);
    return fs.existsSync(file) ? fs.readFileSync(file, 'utf8') : '';
}

function scored(set, leg) {
    const text = requirements(set);
    const start = text.search(new RegExp(`^${leg}:`, 'm'));
    if (start < 0) return [];
    const lines = text.slice(start).split('\n').slice(1);
    const end = lines.findIndex(line => /^\S/.test(line));
    return lines.slice(0, end < 0 ? undefined : end).map(line => line.match(/^\s+- (\S+)/)?.[1]).filter(Boolean);
}

// Returns the scenarios of clients that are run and not scored.
function unscoredOfClients(set) {
    const found = requirements(set).matchAll(/- scenario: (\S+)\s+leg: client/g);
    return [...found].map(match => match[1]);
}

function judge(where, scenario, checks) {
    const bad = (checks ?? []).filter(check => check.status === 'FAILURE' || check.status === 'WARNING');
    for (const check of bad) {
        failures.push(`${where} ${scenario}: ${check.status} ${check.id}: ${check.errorMessage ?? check.description}`);
    }
    const isSkipped = SKIPPED_BY_SUITE.includes(scenario)
        && checks?.length > 0 && checks.every(check => check.status === 'SKIPPED');
    const isChecked = isSkipped || (checks?.some(check => check.status === 'SUCCESS') ?? false);
    if (!isChecked) failures.push(`${where} ${scenario}: nothing was checked`);
    return isChecked && bad.length === 0;
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
        for (const name of SERVER_EXTRA[set]) {
            const args = ['server', '-o', directory, '--force', '--scenario', name, '--spec-version', set];
            await run([...args, '--url', url, '--timeout', '30000'], 60);
        }
        const found = results(directory);
        const names = [...scored(set, 'server'), ...UNSCORED[set], ...SERVER_EXTRA[set]];
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
    for (const set of Object.keys(CLIENT_EXTRA)) {
        const names = [...scored(set, 'client'), ...unscoredOfClients(set), ...CLIENT_EXTRA[set]];
        let passed = 0;
        const play = async name => {
            const directory = path.join(out, `client-${runtime}-${set}`, name.replace('/', '-'));
            // Extensions belong to no revision: the suite skips them unless forced.
            const args = ['client', '-o', directory, '--force', '--scenario', name, '--spec-version', set,
                '--command', command];
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
        };
        const waiting = names.filter(name => name.startsWith('auth/'));
        const playAll = async () => { while (waiting.length) await play(waiting.shift()); };
        await Promise.all(Array.from({ length: PARALLEL }, playAll));
        for (const name of names.filter(name => !name.startsWith('auth/'))) await play(name);
        console.log(`client ${runtime} ${set}: ${passed}/${names.length} scenarios`);
    }
}

const leg = process.env.CONFORMANCE_LEG ?? 'both';
for (const runtime of runtimes) {
    if (leg !== 'client') await checkServer(runtime);
    if (leg !== 'server') await checkClient(runtime);
}
for (const failure of failures) console.error(`FAILED ${failure}`);
console.log(failures.length ? `conformance: ${failures.length} failures; results are in ${out}` : 'conformance: all pass');
process.exit(failures.length ? 1 : 0);
