import {
  eventually,
  expectStatus,
  START_WITHIN_MS,
  type Module,
  type PlatformUnderTest,
  type Tenant,
} from '@customer-platform/testing';
import { journeyPlatform } from './journey.fixture.js';
import { compactVerify, createLocalJWKSet, type JSONWebKeySet } from 'jose';
import { introduce, prepareChain } from './chain.fixture.js';
import { ErasablePerson } from './erasable-person.fixture.js';
import { searchPlatform, type Found } from './search-platform.fixture.js';

interface Request {
  id: string;
  state: string;
  receipts: { module: string; state: string; signature: string | null }[];
}

const SETTLED = { within: 60_000 };

describe('an erasure, carried out by all modules', () => {
  let platform: PlatformUnderTest;
  let tenant: Tenant;

  beforeAll(async () => {
    platform = await journeyPlatform();
    tenant = await platform.tenant();
    await prepareChain(tenant);
    const hook = { name: 'Nobody', url: 'http://127.0.0.1:9/', events: ['core.*', 'crm.*', 'messaging.*'] };
    expectStatus(await tenant.admin.post('/v1/messaging/webhook-endpoints', hook), 201);
    const rule = { attribute: 'email', op: 'exists', value: true };
    expectStatus(await tenant.admin.post('/v1/core/segments', { name: 'With an address', rule }), 201);
  }, START_WITHIN_MS);

  const countOf = async (module: Module, sql: string): Promise<string> =>
    (await platform.query<{ count: string }>(module, sql, [tenant.id]))[0]?.count ?? '';

  const search = (person: ErasablePerson): Promise<Found> =>
    searchPlatform(platform, person.sought, [platform.importFolder]);

  it('leaves the person nowhere, the ledger as it was, and receipts that anybody can verify', async () => {
    const person = new ErasablePerson(tenant);
    // Somebody else, whose own stays.
    await introduce(tenant.ingestion, 'somebody-else', 'somebody-else@example.com');
    await person.leave();
    const points = 'SELECT coalesce(sum(points), 0) AS count FROM lines WHERE organization_id = $1';
    await eventually(async () => expect(await countOf('loyalty', points)).toBe('12'), SETTLED);
    const before = await search(person);
    const seen = new Set([...before.found, ...before.residue].map((each) => each.split(':')[0]));
    const expected = Object.keys(person.sought);
    expect(expected.filter((what) => !seen.has(what))).toEqual([]);
    for (const module of ['core', 'crm', 'messaging'])
      expect(before.found.some((where) => where.includes(`: ${module}.`))).toBe(true);

    const asked = await tenant.admin.post<Request>('/v1/core/subject-requests', {
      type: 'erasure',
      identity: { type: 'email', value: person.email },
      verification: { method: 'clave_unica', reference: person.sought.reference },
      note: person.sought.request,
    });
    expectStatus(asked, 202);
    const request = await eventually(async () => {
      const { body } = await tenant.admin.get<Request>(`/v1/core/subject-requests/${asked.body.id}`);
      expect(body.receipts.map(({ module, state }) => `${module} ${state}`)).toEqual([
        'core verified',
        'crm verified',
        'loyalty verified',
        'messaging verified',
      ]);
      return body;
    }, SETTLED);
    expect(request.state).toBe('completed');
    const after = await eventually(async () => {
      const now = await search(person);
      expect(now.found).toEqual([]);
      return now;
    }, SETTLED);
    expect(after.looked.tables).toBe(before.looked.tables);
    const { databases, tables, rows, logs, files, topics, records } = after.looked;
    process.stdout.write(
      `An erased person, of whom ${String(expected.length)} things were said, was found 0 times in ` +
        `${String(databases)} databases, ${String(tables)} tables, ${String(rows)} rows, ${String(logs)} logs, ` +
        `${String(files)} files; in ${String(topics)} topics (${String(records)} records) ` +
        `${String(after.residue.length)} times, in those of 7 days alone; before ${String(before.found.length)} times outside of these.\n`,
    );
    expect(await countOf('loyalty', points)).toBe('12');
    for (const path of [
      `contacts?q=${person.sought.email}`,
      `events?external_id=${person.externalId}`,
      'dead-letters',
    ])
      expect(JSON.stringify((await tenant.admin.get(`/v1/core/${path}`)).body).toLowerCase()).not.toContain(
        person.sought.externalId,
      );

    const jwks = await platform.as().get<JSONWebKeySet>('/.well-known/jwks.json');
    const keys = createLocalJWKSet(jwks.body);
    for (const { module, signature } of request.receipts) {
      const { payload } = await compactVerify(signature ?? '', keys);
      expect(JSON.parse(Buffer.from(payload).toString('utf8'))).toMatchObject({
        module,
        organization_id: tenant.id,
        subject_request_id: request.id,
      });
    }
  }, 240_000);
});
