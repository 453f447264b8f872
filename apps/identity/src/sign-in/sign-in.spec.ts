import { axeFindings, eventually, expectStatus } from '@customer-platform/testing';
import type { TestOrganization } from '../identity-app.fixture.js';
import { aChallenge, Browser } from '../oauth/browser.fixture.js';
import { browserCookie } from '../pages/browser-binding.js';
import { codeOf, PASSWORD, SignInBench, type Visitor } from './sign-in-bench.fixture.js';

let bench: SignInBench;
let organization: TestOrganization;
let visitor: Visitor;

beforeAll(async () => {
  bench = await SignInBench.start();
}, 180_000);

afterAll(() => bench.end());

beforeEach(async () => {
  organization = await bench.identity.organization();
  visitor = await bench.browser();
});

afterEach(() => visitor.context.close());

async function post(action: string, fields: Record<string, string>, headers: Record<string, string>) {
  return fetch(bench.origin + action, {
    method: 'POST',
    redirect: 'manual',
    headers,
    body: new URLSearchParams(fields),
  });
}

describe('signing in by a browser without script', () => {
  it('email, password, and back at the application with a code', async () => {
    const client = await bench.client(organization);
    const { userId, email } = await bench.member(organization);
    const { url, verifier } = bench.request(client);
    await visitor.page.goto(url);
    await visitor.signIn(email);
    expect(await visitor.claims(client, verifier)).toMatchObject({
      sub: userId,
      org_id: organization.id,
      amr: ['pwd'],
    });
  });

  it('says the same of a wrong password and of nobody’s address, and lets in afterwards', async () => {
    const client = await bench.client(organization);
    const { email } = await bench.member(organization);
    const { url } = bench.request(client);
    const said: string[] = [];
    for (const address of ['nobody@example.com', email]) {
      await visitor.page.goto(url);
      await visitor.signIn(address, 'not the password');
      said.push((await visitor.page.locator('main').innerText()).replaceAll(address, ''));
    }
    expect(said[0]).toBe(said[1]);
    expect(await visitor.page.getByRole('alert').innerText()).toBe(
      'El correo o la contraseña no son correctos.',
    );
    await visitor.typeIn('Contraseña', PASSWORD, 'Iniciar sesión');
    expect((await visitor.back()).get('code')).not.toBeNull();
  });

  it('asks for the second factor, takes a code once, and a recovery code in its place', async () => {
    const client = await bench.client(organization);
    const { userId, email } = await bench.member(organization);
    const { usedCode, recoveryCodes } = await bench.factorFor(organization, userId);
    const { url, verifier } = bench.request(client);
    await visitor.page.goto(url);
    await visitor.signIn(email);
    await visitor.typeIn('Código de 6 dígitos', usedCode, 'Verificar');
    expect(await visitor.page.getByRole('alert').innerText()).toBe(
      'El código no es correcto o ya fue usado.',
    );
    await visitor.press('Usar un código de recuperación');
    await visitor.typeIn('Código de recuperación', recoveryCodes[0] ?? '', 'Verificar');
    expect((await visitor.claims(client, verifier))['amr']).toEqual(['mfa', 'pwd']);
  });

  it('sets a factor up where the organization’s policy asks for one, and shows recovery codes', async () => {
    const client = await bench.client(organization);
    const { email } = await bench.member(organization);
    const policy = { settings: { mfa_policy: 'required' } };
    expectStatus(
      await organization.admin.patch(`/v1/identity/organizations/${organization.id}`, policy),
      200,
    );
    const { url, verifier } = bench.request(client);
    await visitor.page.goto(url);
    await visitor.signIn(email);
    await visitor.typeIn('Código de 6 dígitos', '000000', 'Confirmar');
    await visitor.page.getByRole('alert').waitFor();
    const secret = (await visitor.page.locator('code').innerText()).replaceAll(' ', '');
    await visitor.typeIn('Código de 6 dígitos', codeOf(secret), 'Confirmar');
    expect(await visitor.page.locator('.codes li').count()).toBe(10);
    await visitor.press('Ya los guardé');
    expect((await visitor.claims(client, verifier))['amr']).toEqual(['mfa', 'otp', 'pwd']);
  });

  it('asks in which of several organizations, as text whatever they are called', async () => {
    const client = await bench.client(organization, { organizations: 'tree' });
    const { userId, email } = await bench.member(organization);
    const child = await organization.admin.post<{ id: string }>('/v1/identity/organizations', {
      name: '<script>document.title="taken"</script>',
      slug: `child-${userId.slice(0, 8)}`,
    });
    expectStatus(child, 201);
    await bench.identity.join(child.body.id, userId);
    const { url, verifier } = bench.request(client);
    await visitor.page.goto(url);
    await visitor.signIn(email);
    await visitor.press('<script>document.title="taken"</script>');
    await visitor.press('Permitir');
    expect((await visitor.claims(client, verifier))['org_id']).toBe(child.body.id);
  });

  it('asks whether a client that serves other organizations may know, and tells it of a refusal', async () => {
    const client = await bench.client(organization, { organizations: 'tree', name: 'Partner' });
    const { email } = await bench.member(organization);
    await visitor.page.goto(bench.request(client).url);
    await visitor.signIn(email);
    await visitor.page.getByRole('heading', { name: '¿Permitir Partner?' }).waitFor();
    const asked = await visitor.page.getByRole('listitem').allInnerTexts();
    expect(asked).toContain('ver tu correo electrónico');
    expect(asked[0]).toMatch(/^actuar como tú en .*, con todo lo que puedes hacer ahí$/);
    await visitor.press('No permitir');
    expect((await visitor.back()).get('error')).toBe('access_denied');
  });

  it('tells the application who cancels, and who is a member of nothing it serves', async () => {
    const client = await bench.client(organization);
    const { url } = bench.request(client);
    await visitor.page.goto(url);
    await visitor.press('Cancelar');
    expect((await visitor.back()).get('error')).toBe('access_denied');
    const other = await bench.member(await bench.identity.organization());
    await visitor.page.goto(bench.request(client).url);
    await visitor.signIn(other.email);
    expect((await visitor.back()).get('error')).toBe('access_denied');
  });
});

describe('each page of a sign-in', () => {
  it('has nothing that axe finds, at 360 px', async () => {
    await visitor.context.close();
    visitor = await bench.browser({ javaScriptEnabled: true, viewport: { width: 360, height: 740 } });
    const client = await bench.client(organization);
    const { email } = await bench.member(organization);
    await visitor.page.goto(bench.request(client).url);
    expect(await axeFindings(visitor.page)).toEqual([]);
    await visitor.typeIn('Correo electrónico', email, 'Continuar');
    expect(await axeFindings(visitor.page)).toEqual([]);
  });
});

describe('a form of a sign-in', () => {
  it('is taken from its own page, in its own browser, alone', async () => {
    const client = await bench.client(organization);
    const { email } = await bench.member(organization);
    await visitor.page.goto(bench.request(client).url);
    const { action, token } = await visitor.form();
    const cookie = await visitor.cookieHeader();
    const fields = { step: 'email', email, token };
    const forged = [
      // Another site, by any of what browsers say.
      [fields, { cookie, 'sec-fetch-site': 'cross-site' }],
      [fields, { cookie, 'sec-fetch-site': 'same-site' }],
      [fields, { cookie, origin: 'https://evil.example' }],
      // Without the page's token, with another's, without the browser's cookie.
      [{ ...fields, token: '' }, { cookie }],
      [{ ...fields, token: token.split('').reverse().join('') }, { cookie }],
      [fields, {}],
    ] as const;
    for (const [sent, headers] of forged) {
      const answer = await post(action, { ...sent }, { ...headers });
      expect(answer.status).toBe(403);
      expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8');
    }
    // An attacker's own browser has its own token, which is of no use here.
    const attacker = await bench.browser();
    await attacker.page.goto(bench.request(client).url);
    const stolen = await attacker.form();
    expect((await post(action, { ...fields, token: stolen.token }, { cookie })).status).toBe(403);
    expect((await post(action, fields, { cookie: await attacker.cookieHeader() })).status).toBe(403);
    await attacker.context.close();
    expect((await post(action, fields, { cookie, 'sec-fetch-site': 'same-origin' })).status).toBe(200);
  });

  it('of another’s sign-in cannot be finished in this browser', async () => {
    const client = await bench.client(organization);
    await visitor.page.goto(bench.request(client).url);
    const attacker = await bench.browser();
    await attacker.page.goto(bench.request(client).url);
    await visitor.page.goto(bench.origin + (await attacker.form()).action);
    expect(await visitor.page.getByRole('heading').innerText()).toBe('Esta página ya no sirve');
    await attacker.context.close();
  });
});

describe('a browser', () => {
  it('is known by another secret once somebody has signed in with it', async () => {
    const client = await bench.client(organization, { organizations: 'tree' });
    const { userId, email } = await bench.member(organization);
    await bench.factorFor(organization, userId);
    await visitor.page.goto(bench.request(client).url);
    const { action, token } = await visitor.form();
    const before = await visitor.cookieHeader();
    await visitor.signIn(email);
    await visitor.page.getByLabel('Código de 6 dígitos').waitFor();
    const [fixed] = (await visitor.context.cookies()).filter(({ name }) =>
      name.startsWith(browserCookie('')),
    );
    expect(fixed).toMatchObject({ httpOnly: true, sameSite: 'Lax', path: '/' });
    expect(before).not.toContain(fixed?.value);
    // Who knew the secret of before sees the first page, not the step that the password has led to.
    const answer = await post(action, { step: 'continue', token }, { cookie: before });
    expect(await answer.text()).toContain('name="email"');
  });

  it('is let in by nothing that was begun before the user was suspended', async () => {
    const client = await bench.client(organization, { organizations: 'tree' });
    const { userId, email } = await bench.member(organization);
    // Another who can manage it.
    await bench.identity.signedIn(organization);
    await bench.factorFor(organization, userId);
    await visitor.page.goto(bench.request(client).url);
    await visitor.signIn(email);
    await visitor.page.getByLabel('Código de 6 dígitos').waitFor();
    await eventually(async () =>
      expectStatus(
        await organization.admin.patch(`/v1/identity/users/${userId}`, { status: 'suspended' }),
        200,
      ),
    );
    await visitor.typeIn('Código de 6 dígitos', '123456', 'Verificar');
    await visitor.page.getByLabel('Correo electrónico').waitFor();
  });
});

describe('a session in the browser', () => {
  it('spares nobody but its own user the second factor', async () => {
    const victim = await bench.member(organization);
    await bench.factorFor(organization, victim.userId);
    // Somebody who has signed in otherwise than by a password, and is asked where.
    const other = await bench.identity.organization();
    const somebody = await bench.member(organization);
    await bench.identity.join(other.id, somebody.userId);
    const client = await bench.client(organization, { organizations: 'tree' });
    const browser = new Browser(bench.identity, { issuer: bench.origin });
    const signedIn = { userId: somebody.userId, amr: ['fed'], authenticatedAt: new Date() };
    const first = await bench.client(other);
    await browser.authorize(first.request(aChallenge().challenge, { redirect_uri: bench.callback }), () => ({
      signedIn,
    }));
    const child = await organization.admin.post<{ id: string }>('/v1/identity/organizations', {
      name: 'Child',
      slug: `child-of-${organization.id.slice(-8)}`,
    });
    await bench.identity.join(child.body.id, somebody.userId);
    const { url } = bench.request(client);
    const begun = await browser.get(url.slice(bench.origin.length));
    const path = begun.headers.get('location') ?? '';
    const shown = await (await browser.get(path)).text();
    expect(shown).toContain('value="organization"');
    const token = /name="token" value="([^"]+)"/.exec(shown)?.[1] ?? '';
    const answer = await browser.submit(path, {
      step: 'password',
      token,
      email: victim.email,
      password: PASSWORD,
    });
    const next = await answer.text();
    expect(next).toContain('autocomplete="one-time-code"');
    expect(next).not.toContain('value="organization"');
  });
});

describe('a browser in which somebody has signed in', () => {
  it('goes on to another application without a page', async () => {
    const { userId, email } = await bench.member(organization);
    const first = await bench.client(organization);
    await visitor.page.goto(bench.request(first).url);
    await visitor.signIn(email);
    await visitor.back();
    const second = await bench.client(organization);
    const { url, verifier } = bench.request(second, { prompt: 'none' });
    await visitor.page.goto(url);
    expect(await visitor.claims(second, verifier)).toMatchObject({ sub: userId, client_id: second.id });
  });

  it('is asked to set a factor up where another organization’s policy demands it', async () => {
    const strict = await bench.identity.organization();
    const policy = { settings: { mfa_policy: 'required' } };
    expectStatus(await strict.admin.patch(`/v1/identity/organizations/${strict.id}`, policy), 200);
    const { userId, email } = await bench.member(organization);
    await bench.identity.join(strict.id, userId);
    await visitor.page.goto(bench.request(await bench.client(organization)).url);
    await visitor.signIn(email);
    await visitor.back();
    const client = await bench.client(strict);
    const silent = bench.request(client, { prompt: 'none' });
    await visitor.page.goto(silent.url);
    expect((await visitor.back()).get('error')).toBe('interaction_required');
    const { url, verifier } = bench.request(client);
    await visitor.page.goto(url);
    const secret = (await visitor.page.locator('code').innerText()).replaceAll(' ', '');
    await visitor.typeIn('Código de 6 dígitos', codeOf(secret), 'Confirmar');
    await visitor.press('Ya los guardé');
    expect(await visitor.claims(client, verifier)).toMatchObject({
      org_id: strict.id,
      amr: ['mfa', 'otp', 'pwd'],
    });
  });

  it.each([true, false])('takes another user’s place, with script %s', async (javaScriptEnabled) => {
    await visitor.context.close();
    visitor = await bench.browser({ javaScriptEnabled });
    const client = await bench.client(organization);
    const before = await bench.member(organization);
    const after = await bench.member(organization);
    const former = bench.request(client);
    await visitor.page.goto(former.url);
    await visitor.signIn(before.email);
    const { refresh_token: refresh } = await visitor.tokens(client, former.verifier);
    const { url, verifier } = bench.request(client, { prompt: 'login' });
    await visitor.page.goto(url);
    await visitor.signIn(after.email);
    if (!javaScriptEnabled) await visitor.press('Continue');
    expect((await visitor.claims(client, verifier))['sub']).toBe(after.userId);
    expect((await client.refresh(refresh)).body.error).toBe('invalid_grant');
  });

  it('signs out by a page, and signs in again by its form', async () => {
    const client = await bench.client(organization);
    const { email } = await bench.member(organization);
    const { url, verifier } = bench.request(client);
    await visitor.page.goto(url);
    await visitor.signIn(email);
    const tokens = await visitor.tokens(client, verifier);
    await visitor.page.goto(`${bench.origin}/oauth/logout?id_token_hint=${tokens.id_token}`);
    await visitor.press('Cerrar sesión');
    await visitor.page.getByRole('heading', { name: 'Cerraste tu sesión' }).waitFor();
    expect((await client.refresh(tokens.refresh_token)).body.error).toBe('invalid_grant');
    await visitor.page.goto(bench.request(client).url);
    await visitor.page.getByLabel('Correo electrónico').waitFor();
  });
});

describe('the way out', () => {
  it('leads to what the client registered, whatever the request says', async () => {
    const client = await bench.client(organization);
    const { challenge } = aChallenge();
    for (const uri of [
      'https://evil.example/',
      `${bench.callback}.evil.example`,
      '//evil.example',
      'javascript:alert(1)',
    ]) {
      const parameters = client.request(challenge, { redirect_uri: uri });
      const answer = await fetch(
        `${bench.origin}/oauth/authorize?${new URLSearchParams(parameters).toString()}`,
        {
          redirect: 'manual',
        },
      );
      expect([answer.status, answer.headers.get('location')]).toEqual([400, null]);
    }
  });
});
