import { CONSOLE_CLIENT_ID } from '@customer-platform/config';
import {
  Caller,
  expectProblem,
  expectStatus,
  testDatabase,
  type TestDatabase,
} from '@customer-platform/testing';
import { decodeJwt } from 'jose';
import { IdentityBench } from '../identity-app.fixture.js';
import { migrations } from '../migrations/index.js';
import { aChallenge, Browser, ISSUER, signsIn } from '../oauth/browser.fixture.js';
import { anOperator, ROOT, type OperatorBench } from '../operator/operator.fixture.js';

const URL_OF = 'https://console.example';
const PATH = `/v1/identity/oauth-clients/${CONSOLE_CLIENT_ID}`;

describe('the client of the Console', () => {
  let database: TestDatabase;
  let bench: OperatorBench;
  beforeEach(async () => {
    database = await testDatabase('identity', migrations);
    bench = await anOperator(database);
  });
  afterEach(async () => {
    await bench.close();
    await database.drop();
  });

  const clients = () => database.query(`SELECT *, xmin::text AS version FROM oauth_clients`);
  const verbs = async () => {
    const rows = await database.query<{ action: string }>(
      `SELECT action FROM audit_entries WHERE resource_type = 'oauth_clients' ORDER BY id`,
    );
    return rows.map(({ action }) => action.split('.').at(-1));
  };

  it('is made with the root, a public one of its own for all organizations, and audited', async () => {
    const root = await bench.operator.bootstrap(ROOT, URL_OF);
    expect(await clients()).toMatchObject([
      {
        id: CONSOLE_CLIENT_ID,
        organization_id: root.organization.id,
        name: 'Console',
        type: 'public',
        organizations: 'tree',
        require_pkce: true,
        redirect_uris: [`${URL_OF}/console/callback`, `${URL_OF}/console/silent.html`, `${URL_OF}/console/`],
        post_logout_redirect_uris: [`${URL_OF}/console/`],
        secret_hash: null,
        role_id: null,
        deleted_at: null,
      },
    ]);
    expect(await verbs()).toEqual(['create']);
  });

  it('is made once by ten commands at once, for a root of before too, and then nothing is changed', async () => {
    await bench.operator.bootstrap(ROOT);
    expect(await clients()).toEqual([]);
    const all = await Promise.all(Array.from({ length: 10 }, () => bench.operator.registerConsole(URL_OF)));
    expect(all.filter(({ changed }) => changed)).toHaveLength(1);
    const made = await clients();
    expect(made).toHaveLength(1);
    await bench.operator.registerConsole(URL_OF);
    expect(await clients()).toEqual(made);
    expect(await verbs()).toEqual(['create']);
  });

  it('goes with its address, keeps the name that it was given, and comes back when it was deleted', async () => {
    await bench.operator.bootstrap(ROOT, URL_OF);
    await database.query(`UPDATE oauth_clients SET name = 'Back office', deleted_at = now()`);
    const moved = await bench.operator.registerConsole('https://other.example');
    expect(moved.changed).toBe(true);
    expect(await clients()).toMatchObject([
      {
        name: 'Back office',
        deleted_at: null,
        redirect_uris: moved.redirectUris,
        post_logout_redirect_uris: ['https://other.example/console/'],
      },
    ]);
    expect(await verbs()).toEqual(['create', 'restore']);
  });

  it('waits for a root', async () => {
    await expect(bench.operator.registerConsole(URL_OF)).rejects.toThrow('organizations bootstrap');
  });
});

describe('whoever uses the Console', () => {
  let bench: IdentityBench;
  beforeAll(async () => {
    bench = await IdentityBench.start();
    await bench.operator.registerConsole(URL_OF);
  });
  afterAll(() => bench.end());

  it('is sent to it from any organization, asked nothing, with tokens that are renewed', async () => {
    const organization = await bench.organization();
    const { userId } = await bench.signedIn(organization, 'analyst');
    const { verifier, challenge } = aChallenge();
    const prompts: string[] = [];
    const redirect_uri = `${URL_OF}/console/callback`;
    const back = await new Browser(bench).authorize(
      {
        client_id: CONSOLE_CLIENT_ID,
        response_type: 'code',
        redirect_uri,
        scope: 'openid profile email offline_access organization',
        code_challenge: challenge,
        code_challenge_method: 'S256',
      },
      (interaction) => {
        prompts.push(interaction.prompt);
        return signsIn(userId)(interaction);
      },
    );
    expect([prompts, back.origin + back.pathname, back.searchParams.get('iss')]).toEqual([
      ['login'],
      redirect_uri,
      ISSUER,
    ]);
    const exchange = async (form: Record<string, string>) => {
      const body = new URLSearchParams({ client_id: CONSOLE_CLIENT_ID, ...form });
      const answer = await fetch(`${bench.app.url}/oauth/token`, { method: 'POST', body });
      expect(answer.status).toBe(200);
      return (await answer.json()) as { access_token: string; refresh_token: string };
    };
    const code = back.searchParams.get('code') ?? '';
    const tokens = await exchange({
      grant_type: 'authorization_code',
      code,
      redirect_uri,
      code_verifier: verifier,
    });
    expect(decodeJwt(tokens.access_token)['org_id']).toBe(organization.id);
    const renewed = await exchange({ grant_type: 'refresh_token', refresh_token: tokens.refresh_token });
    const caller = new Caller(bench.app.url, renewed.access_token, () => true);
    expectStatus(await caller.get('/v1/identity/mfa'), 200);
  });

  it('cannot see or change its client with all that an owner of a tenant may do', async () => {
    const { admin } = await bench.organization();
    expectProblem(await admin.get(PATH), 404, 'not_found');
    const evil = { redirect_uris: ['https://evil.example/'] };
    expectProblem(await admin.patch(PATH, evil), 404, 'not_found');
    expectProblem(await admin.delete(PATH), 404, 'not_found');
  });
});
