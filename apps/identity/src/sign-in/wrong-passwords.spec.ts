import { randomBytes } from 'node:crypto';
import { newId } from '@customer-platform/database';
import { expectStatus } from '@customer-platform/testing';
import { IdentityBench, type TestOrganization } from '../identity-app.fixture.js';
import { Browser, ISSUER, TestClient } from '../oauth/browser.fixture.js';
import { NEW_PASSWORD, Resets } from '../password-resets/password-resets.fixture.js';
import { PageVisitor, PASSWORD, People, type Person, type Shown } from './page-visitor.fixture.js';
import { PasswordSignIn } from './password-sign-in.js';

let bench: IdentityBench;
let resets: Resets;
let people: People;
let organization: TestOrganization;
let client: TestClient;
let person: Person;

beforeAll(async () => {
  bench = await IdentityBench.start();
  resets = new Resets(bench);
  people = new People(bench);
});
afterAll(() => bench.end());
beforeEach(async () => {
  organization = await bench.organization();
  client = await TestClient.register(bench, organization);
  person = await people.person(organization);
});

/** An address from nowhere near any other. */
const anAddress = (): string => `10.${[...randomBytes(3)].join('.')}`;

/** Somebody who does not know the password tries ten times, each time from elsewhere. */
async function tryTen(): Promise<void> {
  const signIn = bench.app.app.get(PasswordSignIn, { strict: false });
  const claim = { organizationId: organization.id, email: person.email, password: 'not that of anybody' };
  // What is forgiven no more is refused.
  for (let i = 0; i < 10; i += 1) await Promise.allSettled([signIn.check({ ...claim, ip: anAddress() })]);
}

/** What comes of signing in in a browser. */
async function shownIn(browser: Browser, password = PASSWORD): Promise<Shown> {
  const visitor = new PageVisitor(browser, ISSUER);
  const { shown } = await visitor.authorize(client, { prompt: 'login' });
  const asked = await visitor.send(shown, 'email', { email: person.email });
  return visitor.send(asked, 'password', { email: person.email, password });
}

/** Its status; 0 where the application is told. */
const statusIn = async (browser: Browser, password?: string): Promise<number> =>
  (await shownIn(browser, password)).status;

const elsewhere = (): Browser => new Browser(bench, { from: anAddress() });
const whose = () => ({ ...person, id: person.userId, organization });
const mailed = async () => {
  await resets.settled();
  return (await resets.row(whose()))?.generation ?? 0;
};

describe('ten wrong passwords of an address', () => {
  it('lock it from anywhere, and neither browser nor network in which its user has signed in', async () => {
    const home = anAddress();
    const [known, other] = [new Browser(bench, { from: home }), new Browser(bench, { from: home })];
    expect(await statusIn(known)).toBe(0);
    await tryTen();
    const locked = await shownIn(elsewhere());
    expect([locked.status, locked.links]).toEqual([429, ['/oauth/password-reset/request']]);
    expect(await statusIn(other)).toBe(0);
    const travelling = new Browser(bench, { from: anAddress() });
    travelling.become(known);
    expect(await statusIn(travelling)).toBe(0);
    // The cookie is good for the address of its user alone.
    const { email, userId } = person;
    person = await people.person(organization);
    await tryTen();
    expect(await statusIn(travelling)).toBe(429);
    expect({ email, userId }).not.toEqual(person);
  });

  it('lock a browser that was known before its user had a new password', async () => {
    const [known, renewed] = [elsewhere(), elsewhere()];
    expect([await statusIn(known), await statusIn(renewed)]).toEqual([0, 0]);
    expectStatus(await resets.ask(person.email), 202);
    await resets.settled();
    const { body } = await resets.link(whose());
    expectStatus(await resets.confirm(new URL(body.link).searchParams.get('token') ?? ''), 200);
    expect(await statusIn(renewed, NEW_PASSWORD)).toBe(0);
    await tryTen();
    // Neither is where it was: the network of a sign-in has tries of its own.
    const [one, other] = [elsewhere(), elsewhere()];
    one.become(known);
    other.become(renewed);
    expect([await statusIn(one, NEW_PASSWORD), await statusIn(other, NEW_PASSWORD)]).toEqual([429, 0]);
  });

  it('are told to its user by mail, once a day, with a link to a new password, which ends the lock', async () => {
    await tryTen();
    expect(await mailed()).toBe(1);
    const { body } = await resets.link(whose());
    expect(body.about).toBe('wrong_passwords');
    const token = new URL(body.link).searchParams.get('token') ?? '';
    expectStatus(await resets.confirm(token), 200);
    expect(await statusIn(elsewhere(), NEW_PASSWORD)).toBe(0);

    await tryTen();
    expect([await mailed(), await statusIn(elsewhere(), NEW_PASSWORD)]).toEqual([1, 429]);
    const later = `UPDATE users SET wrong_passwords_told_at = wrong_passwords_told_at - interval '1 day' WHERE id = $1`;
    await bench.database.query(later, [person.userId]);
    await bench.database.query('DELETE FROM password_attempts');
    await tryTen();
    expect(await mailed()).toBe(2);
    // Who asks is not told that others try.
    expectStatus(await resets.ask(person.email), 202);
    await resets.settled();
    expect((await resets.link(whose())).body.about).toBeUndefined();
  });

  it('end no link that was asked for, and are told to nobody who has no password', async () => {
    expectStatus(await resets.ask(person.email), 202);
    expect(await mailed()).toBe(1);
    const { body } = await resets.link(whose());
    await tryTen();
    await resets.settled();
    expect((await resets.link(whose())).body).toEqual(body);

    person = await people.person(organization);
    await bench.database.query('UPDATE users SET password_hash = NULL WHERE id = $1', [person.userId]);
    await tryTen();
    expect(await mailed()).toBe(0);
    person = { userId: newId(), email: `${newId()}@example.com` };
    await tryTen();
    expect(await mailed()).toBe(0);
  });
});
