import { newId } from '@customer-platform/database';
import { IdentityBench, type TestOrganization } from '../identity-app.fixture.js';
import { NEW_PASSWORD, Resets, type Person } from '../password-resets/password-resets.fixture.js';
import { browserCookie } from './browser-binding.js';
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

/** A page as a browser has it: with the cookie it came with, and the token of its form. */
async function open(path: string, language = 'en') {
  const response = await fetch(bench.app.url + path, { headers: { 'accept-language': language } });
  const text = await response.text();
  const cookie = (response.headers.getSetCookie()[0] ?? '').split(';')[0] ?? '';
  return { response, text, cookie, token: /name="token" value="([^"]+)"/.exec(text)?.[1] ?? '' };
}

async function submit(path: string, fields: Record<string, string>, headers: Record<string, string>) {
  const body = new URLSearchParams(fields);
  const response = await fetch(bench.app.url + path, { method: 'POST', headers, body });
  return { status: response.status, text: await response.text() };
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
      const { cookie, token } = await open(REQUEST, 'es-CL');
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
    await open(path);
    const { cookie, token, text } = await open(path);
    const resetToken = /name="reset_token" value="([^"]+)"/.exec(text)?.[1] ?? '';
    const fields = { token, reset_token: resetToken, password: NEW_PASSWORD, repeat: NEW_PASSWORD };
    for (const wrong of [
      { ...fields, repeat: `${NEW_PASSWORD}.` },
      { ...fields, password: 'short', repeat: 'short' },
      { ...fields, password: 'qwerty123456789', repeat: 'qwerty123456789' },
    ])
      expect((await submit(CONFIRM, wrong, { cookie })).status).toBe(422);
    expect((await submit(CONFIRM, fields, { cookie })).status).toBe(200);
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
    const { cookie, token } = await open(`${CONFIRM}?token=%22%3E%3Cscript%3E`);
    const fields = { token, reset_token: 'pwr_x', password: NEW_PASSWORD, repeat: NEW_PASSWORD };
    const answer = await submit(CONFIRM, fields, { cookie });
    expect(answer.status).toBe(401);
    expect(answer.text).toContain(REQUEST);
  });

  it('shows a token as text, whatever it holds', async () => {
    const { text } = await open(`${CONFIRM}?token=%22%3E%3Cscript%3E`);
    expect(text).not.toContain('<script');
  });
});

describe('a form of a reset', () => {
  it('is taken from its own page, in its own browser, alone', async () => {
    const { cookie, token } = await open(REQUEST);
    const other = await open(CONFIRM);
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
