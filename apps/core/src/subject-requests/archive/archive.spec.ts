import { Clock, Database, newId, Retention } from '@customer-platform/database';
import type { Permission } from '@customer-platform/permissions';
import {
  DatabaseFault,
  expectProblem,
  expectStatus,
  unknownId,
  type Caller,
} from '@customer-platform/testing';
import { merge } from '../../people/merges/merge.fixture.js';
import { anIdentify, aTrack, START_MS } from '../../core.fixture.js';
import type { SubjectRequestDto } from '../subject-request.dto.js';
import { ErasureWorld, REQUESTS } from '../subject-request.fixture.js';
import { EXPIRED_ARCHIVES } from '../subject-requests.module.js';
import { archiveOf, ask, askedIn, recorded, rowsIn, ZIP } from './archive.fixture.js';

const HOSTILE = `</td><script>alert(1)</script>`;
const FORMULA = '=HYPERLINK("http://evil.example")';

let world: ErasureWorld;
beforeAll(async () => {
  world = await ErasureWorld.start();
}, START_MS);
afterAll(() => world.close());
afterEach(() => world.rows.clear());

const database = () => world.contacts.core.database;
const asked = (caller: Caller, body: Record<string, unknown>) => askedIn(world, caller, body);

describe('access', () => {
  it('hands over everything that every module holds, of merged contacts too, and nothing that runs', async () => {
    const { id: organizationId, caller } = world.contacts.anOrganization();
    const externalId = `ext-${newId()}`;
    const survivor = await world.contacts.created(caller, {
      external_id: externalId,
      first_name: HOSTILE,
      last_name: FORMULA,
      locale: 'en-US',
    });
    const national_id = { type: 'CL_RUT', value: '12345678-5' };
    const merged = await world.contacts.created(caller, { national_id });
    const stranger = await world.contacts.created(caller, { email: `other-${newId()}@example.com` });
    await merge(caller, survivor, merged);
    await recorded(caller, externalId, 2);
    const questions: unknown[] = [];
    world.rows.set('crm', (body) => {
      questions.push(body);
      const { after_place: after } = body as { after_place?: string[] };
      const next = after ? null : { resource: 'notes', contact_id: survivor.id, place: ['1'] };
      return { resource: 'notes', rows: [`{"body":"note ${after ? 2 : 1}","n":12345678901234567890}`], next };
    });

    const request = await asked(caller, { contact_id: survivor.id });
    const { files, headers } = await archiveOf(caller, request);
    expect(headers.get('content-disposition')).toBe(
      `attachment; filename="subject-request-${request.id}.zip"`,
    );
    expect(headers.get('cache-control')).toBe('no-store');
    expect(rowsIn(files, 'core/contacts')).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ id: survivor.id, first_name: HOSTILE, locale: 'en-US' }),
        expect.objectContaining({ id: merged.id, merged_into: survivor.id }),
      ]),
    );
    expect(files['core/contacts.json']).toContain('"national_id":"12345678-5"');
    expect(rowsIn(files, 'core/events')).toHaveLength(2);
    expect(rowsIn(files, 'core/merges')).toMatchObject([{ merged_id: merged.id }]);
    expect(rowsIn(files, 'core/subject_requests')).toMatchObject([{ id: request.id, type: 'access' }]);
    // Word for word, and each page once.
    expect(files['crm/notes.json']).toBe(
      '[\n{"body":"note 1","n":12345678901234567890},\n{"body":"note 2","n":12345678901234567890}\n]\n',
    );
    expect(files['core/contacts.csv']).toContain(`"'=HYPERLINK(""http://evil.example"")"`);
    expect(files['index.html']).toContain('<html lang="en">');
    expect(files['index.html']).not.toContain('<script');
    expect(JSON.stringify(files)).not.toContain(stranger.id);
    expect(questions).toMatchObject([
      { organization_id: organizationId, portable: false },
      { after_resource: 'notes', after_contact_id: survivor.id, after_place: ['1'] },
    ]);
    expect([...(questions[0] as { contact_ids: string[] }).contact_ids].sort()).toEqual(
      [survivor.id, merged.id].sort(),
    );
  }, 60_000);

  it('holds the dead letters that an erasure would close, of more than one piece, and nobody else’s', async () => {
    const { id: organizationId, caller } = world.contacts.anOrganization();
    const mark = newId();
    const email = `ana-${mark}@example.com`;
    const survivor = await world.contacts.created(caller, { external_id: `ana-${mark}` });
    const merged = await world.contacts.created(caller, { external_id: `was-${mark}`, email });
    await merge(caller, survivor, merged);
    const letter = (body: unknown, externalId: string | null = null) =>
      world.letter(organizationId, body, externalId);
    const theirs = [await letter(aTrack({ external_id: `was-${mark}` }), `was-${mark}`)];
    for (let n = 0; n < 210; n += 1) await letter(aTrack({ external_id: `other-${n}` }), `other-${n}`);
    theirs.push(
      await letter(anIdentify({ external_id: 'unknown', traits: { email: email.toUpperCase() } }), 'unknown'),
      await letter(`{"mail": "${email}", `),
    );
    const { files } = await archiveOf(caller, await asked(caller, { contact_id: survivor.id }));
    const given = rowsIn(files, 'core/dead_letters');
    expect(given.map(({ id }) => id)).toEqual(theirs);
    expect(Buffer.from(String(given[2]?.['payload_base64']), 'base64').toString()).toBe(
      `{"mail": "${email}", `,
    );
    const portable = await asked(caller, { type: 'portability', contact_id: survivor.id });
    expect(Object.keys((await archiveOf(caller, portable)).files)).not.toContain('core/dead_letters.json');
  }, 90_000);

  it('is sealed at rest, downloaded as often as one likes, and audited each time', async () => {
    const { id: organizationId, caller } = world.contacts.anOrganization();
    const mark = `Mark${newId()}`;
    const { id } = await world.contacts.created(caller, { first_name: mark });
    const request = await asked(caller, { contact_id: id, locale: 'es' });
    for (const { files } of [await archiveOf(caller, request), await archiveOf(caller, request)])
      expect(files['index.html']).toContain(mark);
    const pieces = await database().query<{ part: string; found: boolean }>(
      `SELECT part, position($2::bytea IN sealed) > 0 AS found FROM subject_archive_pieces WHERE organization_id = $1`,
      [organizationId, Buffer.from(mark)],
    );
    expect(pieces).toEqual([{ part: 'file', found: false }]);
    const downloads = await database().query(
      `SELECT resource_id FROM audit_entries WHERE organization_id = $1 AND action = 'core.subject_requests.download'`,
      [organizationId],
    );
    expect(downloads).toEqual([{ resource_id: request.id }, { resource_id: request.id }]);
    const { body } = await caller.get<SubjectRequestDto>(`${REQUESTS}/${request.id}`, {
      headers: { accept: '*/*' },
    });
    expect(body.result?.sha256).toHaveLength(64);
  }, 60_000);

  it('is not there before its end, for anybody else, or of an erasure', async () => {
    const { caller } = world.contacts.anOrganization();
    const { id } = await world.contacts.created(caller);
    const headers = { accept: ZIP };
    const waiting = await ask(caller, { type: 'portability', contact_id: id, verification: undefined });
    expectProblem(await caller.get(`${REQUESTS}/${waiting.id}`, { headers }), 409, 'invalid_state');
    const done = await asked(caller, { contact_id: id });
    const { caller: other } = world.contacts.anOrganization();
    for (const [who, path] of [
      [other, done.id],
      [caller, unknownId()],
    ] as const)
      expectProblem(await who.get(`${REQUESTS}/${path}`, { headers }), 404, 'not_found');
    const erasure = await world.erase(caller, { contact_id: id });
    expectProblem(await caller.get(`${REQUESTS}/${erasure.id}`, { headers }), 409, 'invalid_state');
  }, 60_000);

  it('expires, and is removed with its pieces', async () => {
    const { id: organizationId, caller } = world.contacts.anOrganization();
    const { id } = await world.contacts.created(caller);
    const request = await asked(caller, { contact_id: id });
    await database().query(
      `UPDATE subject_archives SET expires_at = now() - interval '1 s' WHERE subject_request_id = $1`,
      [request.id],
    );
    const headers = { accept: ZIP };
    expectProblem(await caller.get(`${REQUESTS}/${request.id}`, { headers }), 404, 'result_expired');
    await new Retention(
      world.contacts.core.app.app.get(Database, { strict: false }),
      new Clock(),
      EXPIRED_ARCHIVES,
    ).sweep();
    const left = await database().query('SELECT 1 FROM subject_archive_pieces WHERE organization_id = $1', [
      organizationId,
    ]);
    expect(left).toEqual([]);
    expectProblem(await caller.get(`${REQUESTS}/${request.id}`, { headers }), 404, 'result_expired');
    expect((await world.read(caller, request)).result?.sha256).toBe(request.result?.sha256);
  }, 60_000);
});

describe('a download', () => {
  const NATIONAL_ID = 'core.contacts.read_national_id';
  const READ: readonly Permission[] = ['core.subject_requests.read', 'core.contacts.read'];
  const auditOf = (organizationId: string): Promise<object[]> =>
    database().query(
      `SELECT action, resource_id AS id, outcome FROM audit_entries
        WHERE organization_id = $1 AND action IN ('core.subject_requests.download', $2) ORDER BY occurred_at, id`,
      [organizationId, NATIONAL_ID],
    );

  it('needs the right to read the person, and their national id where it holds one in full; both are on record', async () => {
    const { id: organizationId, caller } = world.contacts.anOrganization();
    const as = (permissions: readonly Permission[]) =>
      world.contacts.core.app.as(organizationId, [...permissions]);
    const national_id = { type: 'CL_RUT', value: '12345678-5' };
    const holder = await world.contacts.created(caller, { national_id });
    const plain = await world.contacts.created(caller, { email: `plain-${newId()}@example.com` });
    const ofHolder = await asked(caller, { type: 'portability', contact_id: holder.id });
    const ofPlain = await asked(caller, { contact_id: plain.id });
    const headers = { accept: ZIP };
    const refused = async (who: Caller, { id }: SubjectRequestDto, permission: string) =>
      expect(
        expectProblem(await who.get(`${REQUESTS}/${id}`, { headers }), 403, 'permission_denied'),
      ).toMatchObject({ permission });

    await refused(as(['core.subject_requests.read']), ofPlain, 'core.contacts.read');
    await refused(as(READ), ofHolder, NATIONAL_ID);
    expect(await auditOf(organizationId)).toEqual([
      { action: NATIONAL_ID, id: holder.id, outcome: 'denied' },
    ]);
    await archiveOf(as(READ), ofPlain);
    const { files } = await archiveOf(as([...READ, NATIONAL_ID]), ofHolder);
    expect(files['core/contacts.json']).toContain('12345678-5');
    expect((await auditOf(organizationId)).slice(1)).toEqual(
      expect.arrayContaining([
        { action: 'core.subject_requests.download', id: ofPlain.id, outcome: 'success' },
        { action: 'core.subject_requests.download', id: ofHolder.id, outcome: 'success' },
        { action: NATIONAL_ID, id: holder.id, outcome: 'success' },
      ]),
    );
    expect(await auditOf(organizationId)).toHaveLength(4);
    // As the release before wrote it: nobody knows what it holds.
    await database().query(
      'UPDATE subject_archives SET national_ids_of = NULL WHERE subject_request_id = $1',
      [ofPlain.id],
    );
    await refused(as(READ), ofPlain, NATIONAL_ID);
  }, 60_000);
});

describe('many requests', () => {
  it('have one open for a person and a type, of two at once too', async () => {
    const { caller } = world.contacts.anOrganization();
    const survivor = await world.contacts.created(caller);
    const merged = await world.contacts.created(caller);
    await merge(caller, survivor, merged);
    const open = (type: string, contactId = survivor.id) =>
      caller.post<SubjectRequestDto>(REQUESTS, { type, contact_id: contactId });
    const answers = await Promise.all([open('access'), open('access', merged.id), open('access')]);
    expect(answers.map(({ status }) => status).sort()).toEqual([202, 409, 409]);
    const first = answers.find(({ status }) => status === 202);
    const again = expectProblem(await open('access', merged.id), 409, 'invalid_state');
    expect(again).toMatchObject({ conflicting_id: first?.body.id });
    expectStatus(await open('portability'), 202);
    expectStatus(
      await caller.patch(`${REQUESTS}/${first?.body.id ?? ''}`, { rejection: { ground: 'repeated' } }),
      200,
    );
    expectStatus(await open('access'), 202);
  }, 60_000);

  it('of one organization hold up no other’s: organizations take turns', async () => {
    const [many, one] = [world.contacts.anOrganization(), world.contacts.anOrganization()];
    const held = await DatabaseFault.in(database(), {
      table: 'subject_archives',
      on: 'UPDATE',
      when: `NEW.organization_id IN ('${many.id}', '${one.id}') AND NEW.claim IS NOT NULL`,
      // Nobody comes to it, and no pass fails, after which the next would wait ever longer.
      instead: 'RETURN NULL;',
    });
    // A page may be asked for twice, and archives of earlier requests ask too.
    const taken = new Map<string, string>();
    world.rows.set('crm', (body) => {
      const { organization_id: id, contact_ids } = body as { organization_id: string; contact_ids: string[] };
      if (id === many.id || id === one.id) taken.set(contact_ids.join(), id);
      return undefined;
    });
    const requests: (readonly [Caller, SubjectRequestDto])[] = [];
    for (const { caller } of [many, many, many, one]) {
      const { id } = await world.contacts.created(caller);
      requests.push([caller, await ask(caller, { contact_id: id })]);
    }
    await held.mend();
    for (const [caller, request] of requests) await world.inState(caller, request, 'completed');
    const order = [...taken.values()];
    expect(order).toHaveLength(4);
    expect(order.slice(0, 2).sort()).toEqual([many.id, one.id].sort());
  }, 120_000);
});

describe('portability', () => {
  it('hands over what the person gave alone', async () => {
    const { caller } = world.contacts.anOrganization();
    const externalId = `ext-${newId()}`;
    const { id } = await world.contacts.created(caller, { external_id: externalId });
    await recorded(caller, externalId, 1);
    const questions: unknown[] = [];
    world.rows.set('messaging', (body) => void questions.push(body));
    const { files } = await archiveOf(caller, await asked(caller, { type: 'portability', contact_id: id }));
    expect(questions).toMatchObject([{ portable: true }]);
    const names = ['contacts', 'identities', 'events'].flatMap((each) => [
      `core/${each}.csv`,
      `core/${each}.json`,
    ]);
    expect(Object.keys(files).sort()).toEqual([...names, 'index.html'].sort());
  }, 60_000);
});
