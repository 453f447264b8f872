import { Caller, eventually, expectProblem, expectStatus } from '@customer-platform/testing';
import { decodeJwt } from 'jose';
import type { TestOrganization } from '../identity-app.fixture.js';
import { PASSWORD, SignInBench, type Visitor } from './sign-in-bench.fixture.js';
import { OtherProviders } from '../sso-connections/other-provider-process.fixture.js';
import { SsoBench, type TestConnection } from '../sso-connections/sso-bench.fixture.js';

const CONNECTIONS = '/v1/identity/sso-connections';
const ANYTHING = '/v1/identity/permissions?limit=1';
const PROVIDER = {
  name: 'other',
  algorithm: 'RS256',
  thin: false,
  people: { ana: {}, owner: {}, suspended: {}, stranger: {}, foreign: { email: 'ana@gmail.example' } },
} as const;

let pages: SignInBench;
let bench: SsoBench;
let others: OtherProviders;
let organization: TestOrganization;
let visitor: Visitor;

beforeAll(async () => {
  others = await OtherProviders.start([PROVIDER]);
  bench = await SsoBench.start(async (variables) => {
    pages = await SignInBench.start(variables);
    return pages.identity;
  });
}, 180_000);

afterAll(async () => {
  await pages.end();
  await bench.dns.close();
  await others.end();
});

beforeEach(async () => {
  organization = await bench.identity.organization();
  visitor = await pages.browser();
});

afterEach(() => visitor.context.close());

/** An active connection whose provider knows it. */
async function connect(fields: object = {}, providers = others): Promise<TestConnection> {
  const connection = await bench.connection(providers.issuer('other'), fields, organization);
  await bench.set(connection, await providers.register(connection, 'other'));
  return connection;
}

/** Somebody at home in the organization, and a member of it. */
async function member(email: string, role = 'admin'): Promise<string> {
  const userId = await bench.person(organization.id, email);
  await bench.identity.member(organization, userId, role);
  return userId;
}

/** Goes to the provider, and comes back with whatever it says. */
async function goAndComeBack(email: string): Promise<void> {
  await visitor.typeIn('Correo electrónico', email, 'Continuar');
  await visitor.press('Continuar con SSO');
}

async function statusOf(token: string): Promise<number> {
  return (await new Caller(bench.identity.app.url, token, () => true).get(ANYTHING)).status;
}

describe('signing in by a provider of the organization', () => {
  it('leads there and back, asks for an organization, and ends with tokens of the connection', async () => {
    const connection = await connect();
    const email = `ana@${connection.domain}`;
    const userId = await member(email);
    const child = await organization.admin.post<{ id: string }>('/v1/identity/organizations', {
      name: 'Sucursal',
      slug: `child-${userId.slice(0, 8)}`,
      settings: { sso_organizations: [organization.id] },
    });
    expectStatus(child, 201);
    await bench.identity.join(child.body.id, userId);
    const client = await pages.client(organization, { organizations: 'tree' });
    const { url, verifier } = pages.request(client);
    const visited: string[] = [];
    visitor.page.on('framenavigated', (frame) => visited.push(frame.url()));
    await visitor.page.goto(url);
    await goAndComeBack(email);
    await visitor.press((await organizationName(organization.id)) ?? '');
    await visitor.press('Permitir');
    const tokens = await visitor.tokens(client, verifier);
    const claims = decodeJwt(tokens.access_token);
    expect(claims).toMatchObject({ sub: userId, org_id: organization.id, amr: ['fed'] });
    expect(visited.some((each) => each.startsWith(connection.redirectUri))).toBe(true);
    const [session] = await bench.identity.database.query<{ connection_id: string }>(
      'SELECT connection_id FROM sessions WHERE id = $1',
      [claims['sid']],
    );
    expect(session?.connection_id).toBe(connection.id);
    await eventually(async () => expect(await statusOf(tokens.access_token)).toBe(200));

    await bench.set(connection, { status: 'inactive' });
    await eventually(async () => expect(await statusOf(tokens.access_token)).toBe(401));
    expect((await client.refresh(tokens.refresh_token)).body.error).toBe('invalid_grant');
    await visitor.page.goto(pages.request(client).url);
    await visitor.page.getByLabel('Correo electrónico').waitFor();
  });

  it('makes a user and member of who comes for the first time, and goes on without a page afterwards', async () => {
    const connection = await connect({ jit: true });
    const client = await pages.client(organization);
    const first = pages.request(client);
    await visitor.page.goto(first.url);
    await goAndComeBack(`ana@${connection.domain}`);
    const { sub } = await visitor.claims(client, first.verifier);
    expect(await bench.user(String(sub))).toMatchObject({
      email: `ana@${connection.domain}`,
      member_of: [organization.id],
    });
    const other = await pages.client(organization);
    const second = pages.request(other, { prompt: 'none' });
    await visitor.page.goto(second.url);
    const claims = await visitor.claims(other, second.verifier);
    expect([claims['sub'], claims['amr']]).toEqual([sub, ['fed']]);
  });

  const refusals: [string, string, string][] = [
    ['the provider refuses', 'nobody', 'No se aceptó el inicio de sesión de tu organización.'],
    ['nobody has the address and none is made', 'stranger', 'Aquí no hay una cuenta que puedas usar.'],
    ['the user is suspended', 'suspended', 'Aquí no hay una cuenta que puedas usar.'],
    ['the address is of another domain', 'foreign', 'Tu organización no confirma un correo suyo'],
  ];
  it.each(refusals)('says so on a page where %s, from which one can begin anew', async (_, local, said) => {
    const connection = await connect();
    await member(`ana@${connection.domain}`);
    const suspended = await member(`suspended@${connection.domain}`);
    await bench.identity.signedIn(organization); // one administrator stays
    const change = { status: 'suspended' };
    expectStatus(await organization.admin.patch(`/v1/identity/users/${suspended}`, change), 200);
    const client = await pages.client(organization);
    const { url, verifier } = pages.request(client);
    await visitor.page.goto(url);
    await goAndComeBack(`${local}@${connection.domain}`);
    await visitor.page.getByRole('heading', { name: 'No funcionó' }).waitFor();
    const text = await visitor.page.locator('main').innerText();
    expect(text).toContain(said);
    expect(text).toMatch(/Referencia: [\w-]{36}/);
    // The provider would go on with who has signed in there.
    await visitor.context.clearCookies({ domain: '127.0.0.1' });
    await visitor.page.getByRole('link', { name: 'Empezar de nuevo' }).click();
    await goAndComeBack(`ana@${connection.domain}`);
    expect(await visitor.claims(client, verifier)).toMatchObject({ amr: ['fed'] });
  });

  it('is not offered once the connection is off, and cannot be switched on without the proof of its domain', async () => {
    const connection = await connect();
    const email = `ana@${connection.domain}`;
    const { userId } = await pages.member(organization);
    await bench.identity.database.query('UPDATE users SET email = $2 WHERE id = $1', [userId, email]);
    const client = await pages.client(organization);
    const { url, verifier } = pages.request(client);
    await visitor.page.goto(url);
    await visitor.typeIn('Correo electrónico', email, 'Continuar');
    // The page is there while it is switched off.
    await bench.set(connection, { status: 'inactive' });
    bench.dns.withdraw({ name: `_customer-platform.${connection.domain}` });
    const path = `${CONNECTIONS}/${connection.id}`;
    expectProblem(await organization.admin.patch(path, { status: 'active' }), 409, 'domain_unverified');
    await visitor.press('Continuar con SSO');
    await visitor.signIn(email);
    expect(await visitor.claims(client, verifier)).toMatchObject({ sub: userId, amr: ['pwd'] });
  });
});

describe('an enforced domain', () => {
  it('takes no password, save of an owner with a second factor, also while the provider is away', async () => {
    const brief = await OtherProviders.start([PROVIDER]);
    const client = await pages.client(organization);
    const [ana, owner] = await Promise.all([pages.member(organization), pages.member(organization)]);
    const { recoveryCodes } = await pages.factorFor(organization, owner.userId);
    const connection = await connect({ enforced: true }, brief);
    for (const [local, { userId }] of [
      ['ana', ana],
      ['owner', owner],
    ] as const)
      await bench.identity.database.query('UPDATE users SET email = $2 WHERE id = $1', [
        userId,
        `${local}@${connection.domain}`,
      ]);
    await brief.end();
    // Its documents are looked up anew.
    await bench.set(connection, { name: 'Away' });

    const { url, verifier } = pages.request(client);
    await visitor.page.goto(url);
    await goAndComeBack(`ana@${connection.domain}`);
    const away = await visitor.page.locator('main').innerText();
    expect(away).toContain('El inicio de sesión de tu organización no responde.');
    await visitor.page.getByRole('link', { name: 'Empezar de nuevo' }).click();

    await visitor.typeIn('Correo electrónico', `ana@${connection.domain}`, 'Continuar');
    await visitor.press('Soy propietario o voy a otra organización: usar mi contraseña');
    await visitor.typeIn('Contraseña', PASSWORD, 'Iniciar sesión');
    expect(await visitor.page.getByRole('alert').innerText()).toContain('SSO');

    await visitor.page.goto(url);
    await visitor.typeIn('Correo electrónico', `owner@${connection.domain}`, 'Continuar');
    await visitor.press('Soy propietario o voy a otra organización: usar mi contraseña');
    await visitor.typeIn('Contraseña', PASSWORD, 'Iniciar sesión');
    await visitor.press('Usar un código de recuperación');
    await visitor.typeIn('Código de recuperación', recoveryCodes[0] ?? '', 'Verificar');
    expect(await visitor.claims(client, verifier)).toMatchObject({ sub: owner.userId, amr: ['mfa', 'pwd'] });
  });
});

async function organizationName(id: string): Promise<string | undefined> {
  const [row] = await bench.identity.database.query<{ name: string }>(
    'SELECT name FROM organizations WHERE organization_id = $1',
    [id],
  );
  return row?.name;
}
