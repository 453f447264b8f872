import { randomUUID } from 'node:crypto';
import {
  eventually,
  expectStatus,
  MODULES,
  searchEverything,
  START_WITHIN_MS,
  type Module,
  type PlatformUnderTest,
  type Tenant,
} from '@customer-platform/testing';
import { compactVerify, createLocalJWKSet, type JSONWebKeySet } from 'jose';
import { EVENT, introduce, prepareChain } from './chain.fixture.js';
import { sharedPlatform } from './shared-platform.fixture.js';

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
    platform = sharedPlatform();
    tenant = await platform.tenant();
    await prepareChain(tenant);
  }, START_WITHIN_MS);

  /** Where one of the texts stands, by module, and how many rows were looked at. */
  async function search(
    sought: readonly string[],
  ): Promise<{ rows: number; tables: number; found: string[] }> {
    const all = { rows: 0, tables: 0, found: [] as string[] };
    for (const module of MODULES) {
      const database = {
        query: <Row>(sql: string, values?: unknown[]): Promise<Row[]> =>
          platform.query<Row>(module, sql, values),
      };
      const { rows, tables, found } = await searchEverything(database, tenant.id, sought);
      all.rows += rows;
      all.tables += tables;
      all.found.push(...found.map((where) => `${module}.${where}`));
    }
    return all;
  }

  const countOf = async (module: Module, sql: string): Promise<string> =>
    (await platform.query<{ count: string }>(module, sql, [tenant.id]))[0]?.count ?? '';

  it('leaves the person nowhere, the ledger as it was, and receipts that anybody can verify', async () => {
    const mark = randomUUID().slice(-10);
    const externalId = `Ext-${mark}`;
    const email = `${externalId}@Example.com`;
    await introduce(tenant.ingestion, externalId, email);
    const properties = { amount: 12_990, currency: 'CLP', invoice_id: `F-${mark}`, said: `prop-${mark}` };
    const purchase = {
      event: EVENT,
      external_id: externalId,
      idempotency_key: randomUUID(),
      occurred_at: new Date().toISOString(),
      properties,
    };
    expectStatus(await tenant.ingestion.post('/v1/core/track', purchase), 202);
    const contactId = await eventually(async () => {
      const { body } = await tenant.admin.get<{ data: { id: string }[] }>(
        `/v1/core/contacts?external_id=${externalId}`,
      );
      const [contact] = body.data;
      if (!contact) throw new Error('the contact is not there yet');
      return contact.id;
    }, SETTLED);
    const note = { contact_id: contactId, body: `note-${mark}` };
    const key = { 'idempotency-key': randomUUID() };
    expectStatus(await tenant.admin.post('/v1/crm/notes', note, key), 201);
    const points = 'SELECT coalesce(sum(points), 0) AS count FROM lines WHERE organization_id = $1';
    await eventually(async () => expect(await countOf('loyalty', points)).toBe('12'), SETTLED);
    const mails = `SELECT count(*) FROM sends WHERE organization_id = $1`;
    await eventually(async () => expect(await countOf('messaging', mails)).toBe('1'), SETTLED);
    const before = await search([mark]);
    for (const module of ['core', 'crm', 'messaging'])
      expect(before.found.some((where) => where.startsWith(`${module}.`))).toBe(true);

    const asked = await tenant.admin.post<Request>('/v1/core/subject-requests', {
      type: 'erasure',
      identity: { type: 'email', value: email },
      verification: { method: 'clave_unica', reference: `reference-${mark}` },
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
    await eventually(async () => {
      const after = await search([mark]);
      expect(after.found).toEqual([]);
      expect(after.tables).toBe(before.tables);
    }, SETTLED);
    expect(await countOf('loyalty', points)).toBe('12');

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
  }, 180_000);
});
