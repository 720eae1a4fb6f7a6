// Drives our server through logins at an authorization server of another project. See README.md beside this file.
// Usage: run.mjs BIN RUNTIME…
import { spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const [bin, ...runtimes] = process.argv.slice(2);
const here = path.dirname(fileURLToPath(import.meta.url));
const REDIRECT = 'http://127.0.0.1:8765/callback';
let passed = 0;

function check(is, what, found) {
    if (!is) throw new Error(`${what}: ${JSON.stringify(found)}`);
    passed += 1;
}

// Starts a program and waits for the line that matches; it ends with this process.
function start(program, args, pattern) {
    const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'inherit'] });
    return new Promise((resolve, reject) => {
        let text = '';
        child.on('error', reject);
        child.on('exit', code => reject(new Error(`${program} ended with ${code}`)));
        child.stdout.on('data', data => {
            text += data;
            const found = pattern.exec(text);
            if (found) resolve({ child, found: found[1] });
        });
    });
}

const fetched = (url, options = {}) => fetch(url, { redirect: 'manual', signal: AbortSignal.timeout(10_000), ...options });
const base64url = bytes => Buffer.from(bytes).toString('base64url');
const post = (url, form, headers = {}) => fetched(url, { method: 'POST', headers, body: new URLSearchParams(form) });

function challengeOf(response) {
    const header = response.headers.get('www-authenticate') ?? '';
    const params = Object.fromEntries([...header.matchAll(/(\w+)="([^"]*)"/g)].map(found => [found[1], found[2]]));
    return { scheme: header.split(' ')[0], ...params };
}

// A browser: keeps cookies and follows redirects until one leads to the client.
class Browser {
    #cookies = new Map();

    async open(url, form) {
        for (let hops = 0; hops < 12; hops += 1) {
            const cookie = [...this.#cookies].map(pair => pair.join('=')).join('; ');
            const response = await (form ? post(url, form, { cookie }) : fetched(url, { headers: { cookie } }));
            form = undefined;
            for (const set of response.headers.getSetCookie()) {
                const [name, value] = set.split(';')[0].split('=');
                if (value) this.#cookies.set(name, value); else this.#cookies.delete(name);
            }
            const location = response.headers.get('location');
            if (!location) return { url, text: await response.text(), status: response.status };
            url = new URL(location, url).href;
            if (url.startsWith(REDIRECT)) return { landing: new URL(url).searchParams };
        }
        throw new Error('too many redirects');
    }
}

// A client that speaks OAuth without our code.
class Client {
    constructor(issuer, metadata, resource) {
        Object.assign(this, { issuer, metadata, resource, browser: new Browser() });
    }

    async register() {
        const body = JSON.stringify({
            application_type: 'native', client_name: 'script', grant_types: ['authorization_code', 'refresh_token'],
            redirect_uris: ['http://127.0.0.1/callback'], response_types: ['code'], token_endpoint_auth_method: 'none',
        });
        const headers = { 'content-type': 'application/json' };
        const response = await fetched(this.metadata.registration_endpoint, { method: 'POST', headers, body });
        const registered = await response.json();
        check(response.status === 201 && registered.client_id, 'registration', registered);
        this.id = registered.client_id;
    }

    // Sends the user through login and consent, or lets them decline.
    async authorize(scope, { declines = false, resource = this.resource } = {}) {
        const [verifier, state] = [base64url(randomBytes(32)), base64url(randomBytes(16))];
        const url = new URL(this.metadata.authorization_endpoint);
        url.search = new URLSearchParams({
            client_id: this.id, code_challenge: base64url(createHash('sha256').update(verifier).digest()),
            code_challenge_method: 'S256', prompt: 'consent', redirect_uri: REDIRECT, resource,
            response_type: 'code', scope, state,
        });
        let page = await this.browser.open(url.href);
        for (let forms = 0; !page.landing && forms < 4; forms += 1) {
            const action = /action="([^"]+)"/.exec(page.text)?.[1];
            check(action, 'a form', page.text);
            const prompt = /name="prompt" value="(\w+)"/.exec(page.text)?.[1];
            page = declines
                ? await this.browser.open(new URL(`${new URL(action, page.url).pathname}/abort`, page.url).href)
                : await this.browser.open(new URL(action, page.url).href, { prompt, login: 'ada', password: 'any' });
        }
        const { landing } = page;
        check(landing?.get('state') === state, 'the state', page);
        check(landing.get('iss') === this.issuer, 'the issuer of the response', `${landing}`);
        if (declines) return landing;
        return this.token({ grant_type: 'authorization_code', code: landing.get('code'), code_verifier: verifier, redirect_uri: REDIRECT, resource });
    }

    async token(form) {
        const response = await post(this.metadata.token_endpoint, { client_id: this.id, ...form });
        return { status: response.status, ...await response.json() };
    }

    refresh(refresh_token) {
        return this.token({ grant_type: 'refresh_token', refresh_token, resource: this.resource });
    }
}

// Calls a tool in the modern era.
function call(resource, name, token) {
    const meta = {
        'io.modelcontextprotocol/clientCapabilities': {},
        'io.modelcontextprotocol/clientInfo': { name: 'script', version: '1' },
        'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    };
    const headers = {
        accept: 'application/json, text/event-stream', 'content-type': 'application/json',
        'mcp-method': 'tools/call', 'mcp-name': name, 'mcp-protocol-version': '2026-07-28',
        ...token && { authorization: `Bearer ${token}` },
    };
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: {}, _meta: meta } });
    return fetched(resource, { method: 'POST', headers, body });
}

async function refused(response, status, error, scope) {
    const challenge = challengeOf(response);
    check(response.status === status && challenge.scheme === 'Bearer', `status ${status}`, [response.status, challenge]);
    check(challenge.error === error && challenge.scope === scope, `${error} for ${scope}`, challenge);
    await response.text();
    return challenge;
}

async function flow(resource, issuer, format) {
    // Discovery, as a client does it.
    const challenge = await refused(await call(resource, 'today'), 401, undefined, undefined);
    const prm = await (await fetched(challenge.resource_metadata)).json();
    check(prm.resource === resource && prm.authorization_servers[0] === issuer, 'the metadata', prm);
    const metadata = await (await fetched(`${issuer}/.well-known/oauth-authorization-server`)).json();
    check(metadata.issuer === issuer && metadata.code_challenge_methods_supported.includes('S256'), 'PKCE', metadata);
    const client = new Client(issuer, metadata, resource);
    await client.register();

    // Login, and a call.
    const first = await client.authorize(`${prm.scopes_supported.join(' ')} offline_access`);
    check(first.access_token && first.refresh_token, 'tokens', first);
    if (format === 'jwt') {
        const header = JSON.parse(Buffer.from(first.access_token.split('.')[0], 'base64url'));
        check(header.typ === 'at+jwt' && header.alg === 'ES256', 'an access token by RFC 9068', header);
    }
    const answer = await call(resource, 'today', first.access_token);
    const text = await answer.text();
    check(answer.status === 200 && text.includes('ada: buy milk'), 'a call', text);

    // Step-up: the challenge names all scopes of the operation.
    const stepUp = await refused(await call(resource, 'reset', first.access_token), 403, 'insufficient_scope', 'notes:read notes:write');
    const second = await client.authorize(`${stepUp.scope} offline_access`);
    const done = await call(resource, 'reset', second.access_token);
    check(done.status === 200 && (await done.text()).includes('done'), 'a call after step-up', done.status);

    // Tokens that are not for this server, or not genuine.
    const foreign = await client.authorize('notes:read', { resource: 'http://127.0.0.1:1/other' });
    check(foreign.access_token, 'a token for another server', foreign);
    await refused(await call(resource, 'today', foreign.access_token), 401, 'invalid_token', undefined);
    const at = first.access_token.length - 8;
    const forged = `${first.access_token.slice(0, at)}${first.access_token[at] === 'A' ? 'B' : 'A'}${first.access_token.slice(at + 1)}`;
    await refused(await call(resource, 'today', forged), 401, 'invalid_token', undefined);
    await refused(await call(resource, 'today', second.refresh_token), 401, 'invalid_token', undefined);

    // Refresh with rotation; a token that is used again ends the grant.
    const third = await client.refresh(second.refresh_token);
    check(third.status === 200 && third.refresh_token !== second.refresh_token, 'rotation', third);
    check((await call(resource, 'reset', third.access_token)).status === 200, 'a call after the refresh', third);
    const reused = await client.refresh(second.refresh_token);
    check(reused.status === 400 && reused.error === 'invalid_grant', 'reuse', reused);
    const ended = await client.refresh(third.refresh_token);
    check(ended.error === 'invalid_grant', 'the grant after reuse', ended);
    if (format === 'opaque') {
        await refused(await call(resource, 'reset', third.access_token), 401, 'invalid_token', undefined);
    }

    // Logout: what is revoked is refused immediately by a server that asks; and the user may decline.
    const last = await client.authorize('notes:read offline_access');
    check((await call(resource, 'today', last.access_token)).status === 200, 'a call before logout', last);
    for (const token of [last.refresh_token, ...format === 'opaque' ? [last.access_token] : []]) {
        check((await post(metadata.revocation_endpoint, { client_id: client.id, token })).status === 200, 'revocation');
    }
    check((await client.refresh(last.refresh_token)).error === 'invalid_grant', 'refresh after logout');
    if (format === 'opaque') {
        await refused(await call(resource, 'today', last.access_token), 401, 'invalid_token', undefined);
    }
    const declined = await client.authorize('notes:write', { declines: true });
    check(declined.get('error') === 'access_denied' && !declined.get('code'), 'a declined request', `${declined}`);
}

// A program whose lines are awaited one after the other.
class Program {
    #lines = [];
    #waiting;

    constructor(program, args) {
        this.child = spawn(program, args, { stdio: ['pipe', 'pipe', 'inherit'] });
        let text = '';
        this.child.stdout.on('data', data => {
            const lines = (text + data).split('\n');
            text = lines.pop();
            this.#lines.push(...lines.filter(line => !line.startsWith('oidc-provider ')));
            this.#waiting?.();
        });
        this.ended = new Promise(resolve => { this.child.on('exit', resolve); });
        this.ended.then(code => { this.#lines.push(`ended with ${code}`); this.#waiting?.(); });
    }

    write(line) { this.child.stdin.write(`${line}\n`); }

    async line() {
        let late;
        const lateness = new Promise((_, reject) => { late = setTimeout(reject, 20_000, new Error('no further line')); });
        while (!this.#lines.length) {
            await Promise.race([lateness, new Promise(resolve => { this.#waiting = resolve; })]);
        }
        clearTimeout(late);
        return this.#lines.shift();
    }
}

// Opens what the client asks its user to open, and lets the user log in, consent or decline.
async function visit(browser, url, declines) {
    let page = await browser.open(url);
    for (let forms = 0; page.text?.includes('<form') && forms < 4; forms += 1) {
        const action = new URL(/action="([^"]+)"/.exec(page.text)[1], page.url);
        const prompt = /name="prompt" value="(\w+)"/.exec(page.text)?.[1];
        page = declines ? await browser.open(`${action.href}/abort`) : await browser.open(action.href, { prompt, login: 'ada', password: 'any' });
    }
    check(page.status < 500, 'the page of the client', page);
}

// As before, with our client, which receives only the URL of the server.
async function ourClient(resource, runtime, provider, format) {
    const browser = new Browser();
    const args = ['--runtime', runtime, resource];
    const client = new Program(path.join(bin, 'authorized-client'), args);
    const login = async declines => {
        const line = await client.line();
        check(line.startsWith('login '), 'a login', line);
        const url = new URL(line.slice(6));
        check(url.searchParams.get('resource') === resource && url.searchParams.get('code_challenge_method') === 'S256', 'the request', url);
        await visit(declines ? new Browser() : browser, url.href, declines);
        return url.searchParams.get('scope').split(' ');
    };
    const expect = async expected => {
        const line = await client.line();
        check(line.startsWith(expected), expected, line);
    };
    check((await login()).includes('notes:read'), 'the scopes of the metadata');
    await expect('connected');
    client.write('today');
    await expect('result ada: buy milk');

    // Step-up: the call waits for the user.
    client.write('reset');
    const scopes = await login();
    check(scopes.includes('notes:read') && scopes.includes('notes:write'), 'the union of scopes', scopes);
    await expect('result done');

    // The access token is gone: the client renews it without the user, twice because refresh tokens rotate.
    if (format === 'opaque') {
        for (const tool of ['reset', 'today']) {
            provider.write('expire');
            const expired = await provider.line();
            check(expired === 'expired', 'expiry', expired);
            client.write(tool);
            await expect('result ');
        }
        // The grant is gone: only the user can help, and declines.
        provider.write('revoke');
        const revoked = await provider.line();
        check(revoked === 'revoked', 'revocation', revoked);
        client.write('today');
        await login(true);
        await expect('error ');
    }
    client.child.stdin.end();
    check(await client.ended === 0, 'the end of the client');
    // A new client, whose user declines.
    const declined = new Program(path.join(bin, 'authorized-client'), args);
    const line = await declined.line();
    check(line.startsWith('login '), 'a login', line);
    // The client may end before its page is read.
    await visit(new Browser(), line.slice(6), true).catch(error => check(error.message === 'fetch failed', 'the page', error.stack));
    const why = await declined.line();
    check(why.startsWith('error ') && why.includes('access_denied'), 'a declined login', why);
    await declined.ended;
}

let failed = false;
for (const format of ['jwt', 'opaque']) {
    const provider = new Program(process.execPath, [path.join(here, 'provider.mjs'), format]);
    const issuer = (await provider.line()).replace('issuer ', '');
    for (const runtime of runtimes) {
        const args = ['--runtime', runtime, issuer, format];
        const server = await start(path.join(bin, 'protected-server'), args, /listening on (\S+)\n/);
        passed = 0;
        try {
            await flow(server.found, issuer, format);
            await ourClient(server.found, runtime, provider, format);
            console.log(`ok ${runtime}, ${format} tokens: ${passed} checks`);
        } catch (error) {
            failed = true;
            console.log(`not ok ${runtime}, ${format} tokens, after ${passed} checks: ${error.stack}`);
        }
        server.child.removeAllListeners('exit').kill();
    }
    provider.child.stdin.end();
}
process.exit(failed ? 1 : 0);
