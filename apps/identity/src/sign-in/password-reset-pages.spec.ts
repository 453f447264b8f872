import { newId } from '@customer-platform/database';
import { IdentityBench, type TestOrganization } from '../identity-app.fixture.js';
import { NEW_PASSWORD, Resets, type Person } from '../password-resets/password-resets.fixture.js';
import { browserCookie } from '../pages/browser-binding.js';
import { PasswordSignIn } from './password-sign-in.js';

const REQUEST = '/oauth/password-reset/request';
const CONFIRM = '/oauth/password-reset';

let bench: IdentityBench;
let organization: TestOrganization;
let resets: Resets;

beforeAll(async () => {
  bench = await IdentityBench.start();
  organization = await bench.organization();
  resets = new Resets(bench);
}, 60_000);

afterAll(() => bench.end());

const pairOf = (line = ''): string => line.split(';', 1)[0] ?? '';

/** A page as a browser has it: with the cookies it came with, and the token of its form. */
async function open(path: string, { language = 'en', knows = '' } = {}) {
  const headers = { 'accept-language': language, cookie: knows };
  const response = await fetch(bench.app.url + path, { headers });
  const text = await response.text();
  const cookie = [knows, ...response.headers.getSetCookie().map(pairOf)].filter(Boolean).join('; ');
  return { response, text, cookie, token: /name="token" value="([^"]+)"/.exec(text)?.[1] ?? '' };
}

async function submit(path: string, fields: Record<string, string>, headers: Record<string, string>) {
  const body = new URLSearchParams(fields);
  const response = await fetch(bench.app.url + path, { method: 'POST', headers, body });
  return { status: response.status, text: await response.text(), cookies: response.headers.getSetCookie() };
}

/** Follows a link, whose token is in no address afterwards. @returns the cookie that holds it */
async function moved(path: string): Promise<string> {
  const response = await fetch(bench.app.url + path, { redirect: 'manual' });
  expect([response.status, response.headers.get('location')]).toEqual([303, CONFIRM]);
  expect(Object.fromEntries(response.headers)).toMatchObject({
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
  });
  const [line] = response.headers.getSetCookie();
  expect(line).toMatch(/^password-reset=[\w-]+; Path=\/; HttpOnly; SameSite=Lax; Max-Age=3600$/);
  return pairOf(line);
}

/** Asks by the page, and reads the link from the mail. */
async function linkFor(person: Person): Promise<string> {
  const { cookie, token } = await open(REQUEST);
  expect((await submit(REQUEST, { token, email: person.email }, { cookie })).status).toBe(200);
  await resets.settled();
  return new URL((await resets.link(person)).body.link).search;
}

describe('the page that asks whose password to reset', () => {
  it('says the same whether anybody has the address, in the browser’s language', async () => {
    const { email } = await resets.person(organization);
    const said: string[] = [];
    for (const address of [email, `${newId()}@example.com`]) {
      const { cookie, token } = await open(REQUEST, { language: 'es-CL' });
      const headers = { cookie, 'accept-language': 'es-CL' };
      const answer = await submit(REQUEST, { token, email: address }, headers);
      expect(answer.status).toBe(200);
      said.push(answer.text);
    }
    expect(said[0]).toBe(said[1]);
    expect(said[0]).toContain('Revisa tu correo');
  });

  it('is sent with a cookie of this very host, and asks again for what is no address', async () => {
    const { response, cookie, token } = await open(REQUEST);
    const [line] = response.headers.getSetCookie();
    expect(line).toMatch(new RegExp(`^${browserCookie()}=[\\w-]{43}; Path=/; HttpOnly; SameSite=Lax$`));
    const answer = await submit(REQUEST, { token, email: '<b>@' }, { cookie });
    expect(answer.status).toBe(422);
    expect(answer.text).not.toContain('<b>@');
  });
});

describe('the page of the link', () => {
  it('sets the password, once; looking at it uses nothing up', async () => {
    const person = await resets.person(organization);
    const path = CONFIRM + (await linkFor(person));
    await moved(path);
    const { cookie, token, text } = await open(CONFIRM, { knows: await moved(path) });
    const resetToken = /name="reset_token" value="([^"]+)"/.exec(text)?.[1] ?? '';
    const fields = { token, reset_token: resetToken, password: NEW_PASSWORD, repeat: NEW_PASSWORD };
    for (const wrong of [
      { ...fields, repeat: `${NEW_PASSWORD}.` },
      { ...fields, password: 'short', repeat: 'short' },
      { ...fields, password: 'qwerty123456789', repeat: 'qwerty123456789' },
    ])
      expect((await submit(CONFIRM, wrong, { cookie })).status).toBe(422);
    const done = await submit(CONFIRM, fields, { cookie });
    expect([done.status, done.cookies.filter((line) => line.endsWith('Max-Age=0'))]).toEqual([
      200,
      [expect.stringContaining('password-reset=;')],
    ]);
    expect((await submit(CONFIRM, fields, { cookie })).status).toBe(401);
    const claim = {
      organizationId: organization.id,
      email: person.email,
      password: NEW_PASSWORD,
      ip: undefined,
    };
    const signedIn = await bench.app.app.get(PasswordSignIn, { strict: false }).check(claim);
    expect(signedIn?.userId).toBe(person.id);
  });

  it('says that a link is dead which is none', async () => {
    for (const none of [`${CONFIRM}?token=%22%3E%3Cscript%3E`, `${CONFIRM}?token=`, CONFIRM]) {
      const { response, text } = await open(none);
      expect([response.status, text.includes(REQUEST), text.includes('<script')]).toEqual([401, true, false]);
    }
    const { cookie, token } = await open(CONFIRM, { knows: await moved(`${CONFIRM}?token=pwr_x`) });
    const fields = { token, reset_token: 'pwr_x', password: NEW_PASSWORD, repeat: NEW_PASSWORD };
    const answer = await submit(CONFIRM, fields, { cookie });
    expect(answer.status).toBe(401);
    expect(answer.text).toContain(REQUEST);
  });
});

describe('a form of a reset', () => {
  it('is taken from its own page, in its own browser, alone', async () => {
    const { cookie, token } = await open(REQUEST);
    const other = await open(CONFIRM, { knows: await moved(`${CONFIRM}?token=pwr_x`) });
    const email = 'ana@example.com';
    const forged: [Record<string, string>, Record<string, string>][] = [
      [
        { token, email },
        { cookie, 'sec-fetch-site': 'cross-site' },
      ],
      [
        { token, email },
        { cookie, 'sec-fetch-site': 'same-site' },
      ],
      [
        { token, email },
        { cookie, origin: 'https://evil.example' },
      ],
      [{ token, email }, {}],
      [{ token, email }, { cookie: other.cookie }],
      [{ token: other.token, email }, { cookie: other.cookie }],
      [{ email }, { cookie }],
    ];
    for (const [fields, headers] of forged) {
      const answer = await submit(REQUEST, fields, headers);
      expect(answer.status).toBe(403);
      expect(answer.text).toContain('<html lang="en">');
    }
    const own = { cookie, 'sec-fetch-site': 'same-origin', origin: 'null' };
    expect((await submit(REQUEST, { token, email }, own)).status).toBe(200);
  });

  it('that is too large is refused by a page', async () => {
    const { cookie, token } = await open(REQUEST);
    const answer = await submit(REQUEST, { token, email: 'a'.repeat(20_000) }, { cookie });
    expect(answer.status).toBe(413);
    expect(answer.text).toContain('<html lang="en">');
  });
});
