import { createHash } from 'node:crypto';
import { expectStatus } from '@customer-platform/testing';
import { decodeJwt } from 'jose';
import { IdentityBench, type TestOrganization } from '../identity-app.fixture.js';
import { Invitations } from '../invitations/invitation.fixture.js';
import { Browser, ISSUER, TestClient } from '../oauth/browser.fixture.js';
import { codeOf, PageVisitor, People, type Person } from './page-visitor.fixture.js';

let bench: IdentityBench;
let guests: Invitations;
let people: People;
let client: TestClient;
let organization: TestOrganization;
let home: TestOrganization;
let person: Person;
let visitor: PageVisitor;
beforeAll(async () => {
  bench = await IdentityBench.start();
  guests = new Invitations(bench);
  people = new People(bench);
  client = await TestClient.ofRoot(bench);
});
afterAll(() => bench.end());
/** Somebody with an account, who is a member of nothing. */
beforeEach(async () => {
  organization = await bench.organization();
  home = await bench.organization();
  person = await people.person(home, { isMember: false });
  visitor = new PageVisitor(new Browser(bench), ISSUER);
});

const invite = async (email = person.email) => {
  const invitation = await guests.invite(organization, { email });
  const token = await guests.token(organization, invitation);
  return { invitation, token, proof: proofOf(token) };
};
const proofOf = (token: string): string =>
  `${token.slice(4, 52)}.${createHash('sha256').update(token).digest('base64url')}`;
const statusOf = async ({ id }: { id: string }): Promise<string | undefined> =>
  (await bench.database.query<{ status: string }>('SELECT status FROM invitations WHERE id = $1', [id]))[0]
    ?.status;

describe('who has an account and is a member of nothing', () => {
  it('joins by signing in for it, with the factor, and is signed in there', async () => {
    await bench.member(home, person.userId, 'analyst');
    const { secret } = await people.factorFor(home, person);
    expectStatus(await home.admin.delete(`/v1/identity/memberships?user_id=${person.userId}`), 204);
    const { invitation, proof } = await invite();
    const { verifier, shown } = await visitor.authorize(client, { invitation: proof });
    const atFactor = await visitor.signIn(shown, person);
    expect((await visitor.send(atFactor, 'factor', { code: '000000' }, { stay: true })).status).toBe(422);
    const offered = await visitor.send(atFactor, 'factor', { code: codeOf(secret) });
    expect(offered.title).toBe('Accept the invitation?');
    expect(await statusOf(invitation)).toBe('pending');
    const another = new PageVisitor(visitor.browser.copy(), ISSUER);
    const [back] = await Promise.all([visitor.send(offered, 'join'), another.send(offered, 'join')]);
    const answer = await client.redeem(back.url.searchParams.get('code') ?? '', verifier);
    expect(decodeJwt(answer.body.access_token)).toMatchObject({
      org_id: organization.id,
      sub: person.userId,
    });
    expect(await statusOf(invitation)).toBe('accepted');
  });

  it('is told what to do where the invitation is another’s or over, and by no form joins', async () => {
    const { invitation, proof } = await invite(guests.address());
    const { shown } = await visitor.authorize(client, { invitation: proof });
    const refused = await visitor.signIn(shown, person);
    expect([refused.status, refused.html.includes('was sent to another address')]).toEqual([403, true]);
    const form = refused.form('cancel');
    const forced = await visitor.browser.submit(form?.action ?? '', { ...form?.fields, step: 'join' });
    expect(forced.status).toBe(403);
    expect(await statusOf(invitation)).toBe('pending');
    expect((await visitor.send(refused, 'start')).form('email')).toBeDefined();
  });

  it('joins by no proof of another token, nor without one', async () => {
    const { invitation, proof, token } = await invite();
    const [names = '', digest = ''] = proof.split('.');
    for (const wrong of [`${names}.${'A'.repeat(43)}`, names, `.${digest}`, token.slice(0, 95)]) {
      const fresh = new PageVisitor(new Browser(bench), ISSUER);
      const { shown } = await fresh.authorize(client, { invitation: wrong });
      expect((await fresh.signIn(shown, person)).status).toBe(403);
    }
    const { shown } = await visitor.authorize(client);
    expect((await visitor.signIn(shown, person)).url.searchParams.get('error')).toBe('access_denied');
    expect(await statusOf(invitation)).toBe('pending');
  });

  it('is asked also where the browser knows who it is', async () => {
    await bench.join(organization.id, person.userId);
    const first = await visitor.authorize(client);
    expect((await visitor.signIn(first.shown, person)).url.searchParams.get('code')).not.toBeNull();
    organization = await bench.organization();
    const { proof } = await invite();
    const { verifier, shown } = await visitor.authorize(client, { invitation: proof });
    const back = await visitor.send(shown, 'join');
    const { body } = await client.redeem(back.url.searchParams.get('code') ?? '', verifier);
    expect(decodeJwt(body.access_token)['org_id']).toBe(organization.id);
  });
});
