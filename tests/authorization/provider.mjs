// An authorization server of another project on a free port of this machine. Usage: provider.mjs FORMAT
// FORMAT is that of access tokens: `jwt` (RFC 9068) or `opaque`. Prints its issuer, and ends with its input, in which
// the line `expire` ends all opaque access tokens, and `revoke` all grants.
import { generateKeyPairSync } from 'node:crypto';
import http from 'node:http';
import path from 'node:path';
import readline from 'node:readline';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const [format] = process.argv.slice(2);
const modules = createRequire(path.join(process.env.AUTHORIZATION_MODULES, 'package.json'));
const { Provider } = await import(pathToFileURL(modules.resolve('oidc-provider')));

const key = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'jwk' });
const server = http.createServer().listen(0, '127.0.0.1');
await new Promise(resolve => { server.on('listening', resolve); });
const issuer = `http://127.0.0.1:${server.address().port}`;

const provider = new Provider(issuer, {
    clientDefaults: { id_token_signed_response_alg: 'ES256' },
    // The MCP server, which asks about tokens. Id and secret have characters that forms encode.
    clients: [{
        client_id: 'notes:server', client_secret: 'a long secret', grant_types: [], redirect_uris: [],
        response_types: [], token_endpoint_auth_method: 'client_secret_basic',
    }],
    cookies: { keys: ['only for tests'] },
    features: {
        devInteractions: { enabled: true },
        introspection: { enabled: true },
        registration: { enabled: true },
        resourceIndicators: {
            enabled: true,
            getResourceServerInfo: (_, resource) => ({
                accessTokenFormat: format, accessTokenTTL: 300, audience: resource,
                jwt: { sign: { alg: 'ES256' } }, scope: 'notes:read notes:write',
            }),
            useGrantedResource: () => true,
        },
        revocation: { enabled: true },
    },
    issueRefreshToken: (_, client) => client.grantTypeAllowed('refresh_token'),
    findAccount: (_, sub) => ({ accountId: sub, claims: () => ({ sub }) }),
    jwks: { keys: [{ ...key, alg: 'ES256', kid: 'first', use: 'sig' }] },
    pkce: { required: () => true },
    rotateRefreshToken: true,
    scopes: ['openid', 'offline_access'],
});
server.on('request', provider.callback());
const [tokens, grants] = [new Set(), new Set()];
provider.on('access_token.saved', token => { tokens.add(token); grants.add(token.grantId); });
async function expire() {
    for (const token of tokens) await token.destroy();
    tokens.clear();
    console.log('expired');
}
async function revoke() {
    for (const model of ['AccessToken', 'RefreshToken']) {
        for (const grant of grants) await provider[model].revokeByGrantId(grant);
    }
    grants.clear();
    console.log('revoked');
}
console.log(`issuer ${issuer}`);
readline.createInterface({ input: process.stdin })
    .on('line', line => (line === 'expire' ? expire() : revoke())).on('close', () => process.exit(0));
