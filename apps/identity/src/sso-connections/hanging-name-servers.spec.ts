import { eventually, expectProblem, expectStatus, type Answer } from '@customer-platform/testing';
import { HostileProvider } from './hostile-provider.fixture.js';
import { aBrowser, SsoBench } from './sso-bench.fixture.js';
import type { SsoConnectionDto } from './sso-connection.dto.js';
import { aDomain, anSsoConnection } from './sso-connection.fixture.js';

const CONNECTIONS = '/v1/identity/sso-connections';
/** Places of one connection, and of an organization. */
const PLACES = { ofConnection: 16, ofOrganization: 18 };

describe('name servers that hang', () => {
  let bench: SsoBench;
  let provider: HostileProvider;

  beforeAll(async () => {
    provider = await HostileProvider.start();
    bench = await SsoBench.start();
  });
  afterAll(async () => {
    await bench.end();
    await provider.close();
  });

  it('hold no more changes of an organization than it has places; whoever signs in has others', async () => {
    const active = await bench.connection(provider.issuer);
    const { admin } = active.organization;
    const drafts: string[] = [];
    for (let made = 0; made < 2; made += 1) {
      const body = anSsoConnection({ issuer: provider.issuer, domains: [aDomain()] });
      const answer = await admin.post<SsoConnectionDto>(CONNECTIONS, body);
      expectStatus(answer, 201);
      drafts.push(answer.body.id);
    }
    const answered: Answer<unknown>[] = [];
    const change = (id = '') =>
      admin.patch(`${CONNECTIONS}/${id}`, { status: 'active' }).then((answer) => answered.push(answer));
    const letGo = bench.dns.hold();
    const changes = Array.from({ length: PLACES.ofConnection + 2 }, () => change(drafts[0]));
    await eventually(() => expect(answered).toHaveLength(2));
    changes.push(...Array.from({ length: 5 }, () => change(drafts[1])));
    await eventually(() => expect(answered).toHaveLength(2 + 3));
    for (const answer of answered) expectProblem(answer, 429, 'rate_limited');
    expect((await bench.begin(active, aBrowser())).origin).toBe(provider.issuer);
    letGo();
    await Promise.all(changes);
    expect(answered).toHaveLength(PLACES.ofConnection + 2 + 5);
    for (const answer of answered.slice(5)) expectProblem(answer, 409, 'domain_unverified');
  });
});
