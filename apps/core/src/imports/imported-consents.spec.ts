import { expectStatus, type Caller } from '@customer-platform/testing';
import type { ContactDto } from '../people/contacts/contact.dto.js';
import { merge, undo } from '../people/merges/merge.fixture.js';
import { startCore, START_MS, type TestCore } from '../core.fixture.js';
import { aFolder, imported, lines } from './import.fixture.js';

const MAPPING = { id: 'external_id', all: 'consents.marketing', at: 'consents.occurred_at' };

let core: TestCore;
let folder: Awaited<ReturnType<typeof aFolder>>;
beforeAll(async () => {
  folder = await aFolder();
  core = await startCore({ IMPORT_DIRECTORY: folder.path });
}, START_MS);
afterAll(async () => {
  await core.close();
  await folder.remove();
});

const daysAgo = (days: number): string => new Date(Date.now() - days * 86_400_000).toISOString();

/** Imports a file that says something of one contact, and tells what became of it. */
async function said(
  caller: Caller,
  status: string,
  at = '',
): Promise<{ updated: number; unchanged: number }> {
  const { rows } = await imported(caller, lines('id,all,at', `i-1,${status},${at}`), { mapping: MAPPING });
  return { updated: rows.updated, unchanged: rows.unchanged };
}

async function consentsOf(caller: Caller): Promise<string> {
  const found = await caller.get<{ data: { id: string }[] }>('/v1/core/contacts?external_id=i-1');
  return `/v1/core/contacts/${found.body.data[0]?.id ?? ''}/consents`;
}

async function grant(caller: Caller, more: object): Promise<void> {
  const form = { purpose: 'marketing', status: 'granted', notice_version: 'v1', method: 'form' };
  expectStatus(await caller.post(await consentsOf(caller), { ...form, ...more }), 201);
}

async function statesOf(caller: Caller): Promise<[string | null, string][]> {
  const { body } = await caller.get<{ data: { channel: string | null; status: string }[] }>(
    await consentsOf(caller),
  );
  return body.data.map(({ channel, status }): [string | null, string] => [channel, status]).sort();
}

describe('an undated refusal in a file, of a contact that was merged', () => {
  it.each([
    ['itself', 'i-1', 'i-2'],
    ['by the id of the other', 'i-2', 'i-2'],
    ['itself, having refused before', 'i-1', 'i-1'],
  ])('is said now, of both: %s', async (_, named, refusedBefore) => {
    const { caller } = core.anOrganization();
    const file = (id: string, status: string) =>
      imported(caller, lines('id,all,at', `${id},${status},`), { mapping: MAPPING });
    const held = async (id: string): Promise<ContactDto> => {
      const found = await caller.get<{ data: ContactDto[] }>(`/v1/core/contacts?external_id=${id}`);
      const [contact] = found.body.data;
      if (!contact) throw new Error('the contact is there');
      return contact;
    };
    for (const id of ['i-1', 'i-2'])
      expectStatus(await caller.post('/v1/core/contacts', { external_id: id }), 201);
    const [survivor, merged] = [await held('i-1'), await held('i-2')];
    await file(refusedBefore, 'withdrawn');
    const granted = refusedBefore === 'i-1' ? merged : survivor;
    const form = { purpose: 'marketing', status: 'granted', notice_version: 'v1', method: 'form' };
    expectStatus(await caller.post(`/v1/core/contacts/${granted.id}/consents`, form), 201);
    const done = await merge(caller, survivor, merged);
    expect((await file(named, 'withdrawn')).rows).toMatchObject({ updated: 1, unchanged: 0 });
    expect((await file(named, 'withdrawn')).rows).toMatchObject({ updated: 0, unchanged: 1 });
    await undo(caller, done);
    for (const { id } of [survivor, merged]) {
      const { body } = await caller.get<{ data: { status: string }[] }>(`/v1/core/contacts/${id}/consents`);
      expect(body.data.map(({ status }) => status)).toEqual(['withdrawn']);
    }
  });
});

describe('a refusal of all channels in a file', () => {
  it('is news where one was granted since, and none the next night', async () => {
    const { caller } = core.anOrganization();
    await said(caller, 'denied');
    await grant(caller, { channel: 'email' });
    expect(await said(caller, 'denied')).toEqual({ updated: 1, unchanged: 0 });
    expect(await statesOf(caller)).toEqual([
      [null, 'denied'],
      ['email', 'denied'],
    ]);
    expect(await said(caller, 'denied')).toEqual({ updated: 0, unchanged: 1 });
  });

  it('is news where it has a later date: a grant of the time between, which comes late, does not lift it', async () => {
    const { caller } = core.anOrganization();
    await said(caller, 'withdrawn', daysAgo(9));
    const late = daysAgo(1);
    expect(await said(caller, 'withdrawn', late)).toEqual({ updated: 1, unchanged: 0 });
    expect(await said(caller, 'withdrawn', late)).toEqual({ updated: 0, unchanged: 1 });
    await grant(caller, { occurred_at: daysAgo(2) });
    expect(await statesOf(caller)).toEqual([[null, 'withdrawn']]);
  });
});
