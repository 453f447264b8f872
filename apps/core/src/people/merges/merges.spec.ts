import { newId } from '@customer-platform/database';
import { PERMISSIONS } from '@customer-platform/permissions';
import { expectProblem, expectStatus, kafkaProbe } from '@customer-platform/testing';
import { START_MS } from '../../core.fixture.js';
import { at, ContactWorld } from '../contacts/contact.fixture.js';
import { merge, MERGE, profileOf, read, tryMerge, tryUndo, undo } from './merge.fixture.js';

let world: ContactWorld;
beforeAll(async () => {
  world = await ContactWorld.start();
}, START_MS);
afterAll(() => world.close());

const RUT = { type: 'CL_RUT', value: '12345678-5' };
const OTHER_RUT = { type: 'CL_RUT', value: '11111111-1' };

describe('POST /v1/core/contacts/merge', () => {
  it('keeps the survivor’s values, fills its gaps from the other, and lets `keep` override', async () => {
    const { caller } = world.anOrganization();
    const survivor = await world.created(caller, {
      external_id: 'a',
      first_name: 'Ana',
      last_name: null,
      email: 'a@example.com',
      attributes: { plan: 'gold', points: 1 },
    });
    const merged = await world.created(caller, {
      external_id: 'b',
      first_name: 'Anita',
      last_name: 'Rojas',
      email: 'b@example.com',
      birth_date: '1990-05-17',
      national_id: RUT,
      attributes: { plan: 'basic', since: 2020 },
    });
    const done = await merge(caller, survivor, merged, {
      keep: { email: 'merged', 'attributes.plan': 'merged' },
    });
    expect(done).toMatchObject({
      dry_run: false,
      status: 'merged',
      survivor_id: survivor.id,
      merged_id: merged.id,
      blockers: [],
      moved: { identities: 2, events: 0, consents: 0 },
    });
    expect(done.fields).toEqual([
      { field: 'external_id', survivor: 'a', merged: 'b', kept: 'survivor' },
      { field: 'email', survivor: 'a@example.com', merged: 'b@example.com', kept: 'merged' },
      { field: 'first_name', survivor: 'Ana', merged: 'Anita', kept: 'survivor' },
      { field: 'last_name', survivor: null, merged: 'Rojas', kept: 'merged' },
      { field: 'birth_date', survivor: null, merged: '1990-05-17', kept: 'merged' },
      {
        field: 'national_id',
        survivor: null,
        merged: { type: 'CL_RUT', masked: '***5678-5' },
        kept: 'merged',
      },
      { field: 'attributes.plan', survivor: 'gold', merged: 'basic', kept: 'merged' },
      { field: 'attributes.points', survivor: 1, merged: null, kept: 'survivor' },
      { field: 'attributes.since', survivor: null, merged: 2020, kept: 'merged' },
    ]);
    expect(done.contact).toMatchObject({
      id: survivor.id,
      external_id: 'a',
      email: 'b@example.com',
      first_name: 'Ana',
      last_name: 'Rojas',
      birth_date: '1990-05-17',
      national_id: { type: 'CL_RUT', masked: '***5678-5' },
      version: 2,
    });
    expect(done.contact.attributes).toEqual({ plan: 'basic', points: 1, since: 2020 });
    expect(await read(caller, survivor)).toEqual(done.contact);
    expect(await world.identitiesOf(survivor)).toEqual([
      'email:a@example.com',
      'email:b@example.com',
      'external_id:a',
      'external_id:b',
    ]);
    expect(await world.identitiesOf(merged)).toEqual([]);
  });

  it('shows by a dry run what it would come to, writes nothing, and its tag guards the real one', async () => {
    const { id, caller } = world.anOrganization();
    const [survivor, merged] = [
      await world.created(caller),
      await world.created(caller, { last_name: 'Rojas' }),
    ];
    const tried = await tryMerge(caller, survivor, merged, { dry_run: true });
    expectStatus(tried, 200);
    expect(tried.body).toMatchObject({ merge_id: null, dry_run: true, status: 'merged', blockers: [] });
    expect(tried.body.contact).toMatchObject({ id: survivor.id, last_name: 'Rojas' });
    expect(await read(caller, survivor)).toEqual(survivor);
    expect(await world.query('SELECT 1 FROM contact_merges WHERE organization_id = $1', [id])).toEqual([]);
    const guard = { 'If-Match': tried.headers.get('etag') ?? '' };
    await caller.patch(at(merged), { last_name: 'Soto' });
    expectProblem(await tryMerge(caller, survivor, merged, {}, guard), 412, 'etag_mismatch');
    const again = await tryMerge(caller, survivor, merged, { dry_run: true });
    const tag = { 'If-Match': again.headers.get('etag') ?? '' };
    const otherwise = await tryMerge(caller, survivor, merged, { keep: { last_name: 'survivor' } }, tag);
    expectProblem(otherwise, 412, 'etag_mismatch');
    const real = await tryMerge(caller, survivor, merged, {}, tag);
    expectStatus(real, 200);
    expect(real.body.fields).toEqual(again.body.fields);
  });

  it('is blocked by differing national ids unless `keep` says which stays', async () => {
    const { caller } = world.anOrganization();
    const survivor = await world.created(caller, { national_id: RUT });
    const merged = await world.created(caller, { national_id: OTHER_RUT });
    const blockers = [{ code: 'national_id_conflict', field: 'national_id' }];
    const tried = await tryMerge(caller, survivor, merged, { dry_run: true });
    expect(tried.body.blockers).toEqual(blockers);
    const problem = expectProblem(await tryMerge(caller, survivor, merged), 409, 'merge_blocked');
    expect(problem['blockers']).toEqual(blockers);
    const done = await merge(caller, survivor, merged, { keep: { national_id: 'merged' } });
    expect(done.contact.national_id).toEqual({ type: 'CL_RUT', masked: '***1111-1' });
    await undo(caller, done);
    expect((await read(caller, survivor)).national_id?.masked).toBe('***5678-5');
    expect((await read(caller, merged)).national_id?.masked).toBe('***1111-1');
  });

  it('is blocked by more identities of a type than one contact may have, and by too many attributes', async () => {
    const { caller } = world.anOrganization();
    const [survivor, merged] = [await world.created(caller), await world.created(caller)];
    for (const [contact, count] of [
      [survivor, 3],
      [merged, 3],
    ] as const) {
      for (let n = 0; n < count; n += 1) {
        const body = { type: 'custom.card', value: `${contact.id}-${String(n)}` };
        expectStatus(await caller.post(at(contact, '/identities'), body), 201);
      }
      const attributes = Object.fromEntries(
        Array.from({ length: 101 }, (_, n) => [`${contact.id}${String(n)}`, n]),
      );
      expectStatus(await caller.patch(at(contact), { attributes }), 200);
    }
    const problem = expectProblem(await tryMerge(caller, survivor, merged), 409, 'merge_blocked');
    expect(problem['blockers']).toEqual([
      { code: 'limit_reached', field: 'attributes' },
      { code: 'limit_reached', field: 'identities.custom.card' },
    ]);
  });

  it('is blocked beyond 100 merges, those of the merged contact counted', async () => {
    const { id, caller } = world.anOrganization();
    const [survivor, merged] = [await world.created(caller), await world.created(caller)];
    const insert = `INSERT INTO contacts (organization_id, id, source, merged_into)
      SELECT $1, gen_random_uuid(), 'api', $2 FROM generate_series(1, $3)`;
    await world.query(insert, [id, survivor.id, 60]);
    await world.query(insert, [id, merged.id, 40]);
    const problem = expectProblem(await tryMerge(caller, survivor, merged), 409, 'merge_blocked');
    expect(problem['blockers']).toEqual([{ code: 'merge_limit_reached', field: null }]);
  });

  it.each([
    ['/merged_id', 'required', { survivor_id: newId() }],
    ['/survivor_id', 'required', { merged_id: newId() }],
    ['/survivor_id', 'invalid_format', { survivor_id: 'x', merged_id: newId() }],
    ['/keep/mail', 'unknown_field', { survivor_id: newId(), merged_id: newId(), keep: { mail: 'merged' } }],
    ['/keep/email', 'invalid_enum', { survivor_id: newId(), merged_id: newId(), keep: { email: 'both' } }],
    ['/keep', 'not_allowed', { undo_merge_id: newId(), keep: {} }],
    ['/survivor_id', 'not_allowed', { undo_merge_id: newId(), survivor_id: newId() }],
    ['/reason', 'too_short', { survivor_id: newId(), merged_id: newId(), reason: '' }],
    ['/dry_run', 'wrong_type', { survivor_id: newId(), merged_id: newId(), dry_run: 'yes' }],
    ['/note', 'unknown_field', { survivor_id: newId(), merged_id: newId(), note: 'x' }],
  ])('400 with a pointer to %s: %s', async (pointer, code, body) => {
    const problem = expectProblem(
      await world.anOrganization().caller.post(MERGE, body),
      400,
      'validation_failed',
    );
    expect(problem.errors).toContainEqual(expect.objectContaining({ pointer, code }));
  });

  it('400 for a contact with itself', async () => {
    const id = newId();
    const answer = await tryMerge(world.anOrganization().caller, { id }, { id: id.toUpperCase() });
    expectProblem(answer, 400, 'validation_failed');
  });

  it('422 for unknown, foreign and soft-deleted contacts, and for an unknown merge', async () => {
    const { caller } = world.anOrganization();
    const [contact, deleted] = [await world.created(caller), await world.created(caller)];
    await caller.delete(at(deleted));
    const foreign = await world.created(world.anOrganization().caller);
    for (const other of [{ id: newId() }, foreign]) {
      const problem = expectProblem(await tryMerge(caller, contact, other), 422, 'reference_not_found');
      expect(problem.errors).toEqual([expect.objectContaining({ pointer: '/merged_id' })]);
      expectProblem(await tryMerge(caller, other, contact), 422, 'reference_not_found');
    }
    expectProblem(await tryMerge(caller, contact, deleted), 422, 'reference_deleted');
    expectProblem(await tryUndo(caller, { merge_id: newId() }), 422, 'reference_not_found');
    const elsewhere = world.anOrganization().caller;
    const done = await merge(elsewhere, await world.created(elsewhere), await world.created(elsewhere));
    expectProblem(await tryUndo(caller, done), 422, 'reference_not_found');
  });

  it('needs core.contacts.merge and nothing else', async () => {
    const { id, caller } = world.anOrganization();
    const [survivor, merged] = [await world.created(caller), await world.created(caller)];
    const others = PERMISSIONS.filter((permission) => permission !== 'core.contacts.merge');
    expectProblem(await tryMerge(world.core.app.as(id, others), survivor, merged), 403, 'permission_denied');
    await merge(world.core.app.as(id, ['core.contacts.merge']), survivor, merged);
  });
});

describe('a merge that stands', () => {
  it('a repeat answers the same merge; into another contact it is 409 with the survivor', async () => {
    const { caller } = world.anOrganization();
    const [survivor, merged, third] = [
      await world.created(caller),
      await world.created(caller),
      await world.created(caller),
    ];
    const done = await merge(caller, survivor, merged);
    expect(await merge(caller, survivor, merged)).toEqual(done);
    for (const answer of [
      await tryMerge(caller, third, merged),
      await tryMerge(caller, merged, third),
      await tryMerge(caller, merged, survivor),
    ]) {
      expect(expectProblem(answer, 409, 'already_merged')['survivor_id']).toBe(survivor.id);
    }
  });

  it('leads from the old id to the survivor, over several merges, and lets nothing be written to it', async () => {
    const { caller } = world.anOrganization();
    const [first, second, last] = [
      await world.created(caller, { national_id: RUT }),
      await world.created(caller),
      await world.created(caller),
    ];
    await merge(caller, second, first);
    await merge(caller, last, second);
    for (const suffix of ['', '/identities', '/national-id', '/consents']) {
      const { status, headers } = await caller.get(at(first, suffix));
      expect([status, headers.get('location')]).toEqual([307, at(last, suffix)]);
      expect(headers.get('cache-control')).toBe('no-store');
    }
    for (const answer of [
      await caller.patch(at(first), { first_name: 'x' }),
      await caller.delete(at(first)),
      await caller.post(at(first, '/identities'), { type: 'device_id', value: 'x' }),
      await caller.post(at(first, '/consents'), { purpose: 'marketing', status: 'denied' }),
    ]) {
      expect(expectProblem(answer, 409, 'contact_merged')['survivor_id']).toBe(last.id);
    }
    const read307 = await caller.get<{ value: string }>(at(last, '/national-id'));
    expect(read307.body.value).toBe(RUT.value);
  });

  it('dead letters of both are found under either id', async () => {
    const { id, caller } = world.anOrganization();
    const [survivor, merged] = [await world.created(caller), await world.created(caller)];
    for (const contact of [survivor, merged]) {
      await world.query(
        `INSERT INTO dead_letters (organization_id, id, event_id, type, stage, code, detail, attempts, contact_id, state,
           fingerprint, received_at, first_failed_at, last_failed_at)
         VALUES ($1, $2, $2, 'track', 'loyalty', 'x', 'x', 1, $3, 'pending', $2, now(), now(), now())`,
        [id, newId(), contact.id],
      );
    }
    await merge(caller, survivor, merged);
    for (const contact of [survivor, merged]) {
      const { body } = await caller.get<{ data: object[] }>(`/v1/core/dead-letters?contact_id=${contact.id}`);
      expect(body.data).toHaveLength(2);
    }
  });

  it('crossing merges at once: one wins, and the other learns of its survivor', async () => {
    const { caller } = world.anOrganization();
    for (let round = 0; round < 8; round += 1) {
      const [one, other] = [await world.created(caller), await world.created(caller)];
      const answers = await Promise.all([tryMerge(caller, one, other), tryMerge(caller, other, one)]);
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
      const won = answers.find(({ status }) => status === 200);
      const lost = answers.find(({ status }) => status === 409);
      const problem = expectProblem(lost ?? answers[0], 409, 'already_merged');
      expect(problem['survivor_id']).toBe(won?.body.survivor_id);
    }
  });

  it('ten merges of one ring at once never close it', async () => {
    const { id, caller } = world.anOrganization();
    const ring = await Promise.all(Array.from({ length: 5 }, () => world.created(caller)));
    const next = (n: number) => ring[(n + 1) % ring.length] ?? ring[0];
    const answers = await Promise.all(
      ring.flatMap((contact, n) => {
        const other = next(n);
        return other ? [tryMerge(caller, contact, other), tryMerge(caller, other, contact)] : [];
      }),
    );
    expect(answers.map(({ status }) => status).filter((status) => status !== 200 && status !== 409)).toEqual(
      [],
    );
    const standing = await world.query(
      'SELECT id FROM contacts WHERE organization_id = $1 AND merged_into IS NULL',
      [id],
    );
    expect(standing.length).toBeGreaterThanOrEqual(1);
    for (const contact of ring) expect([200, 307]).toContain((await caller.get(at(contact))).status);
    const merges = await world.query('SELECT 1 FROM contact_merges WHERE organization_id = $1', [id]);
    expect(merges).toHaveLength(ring.length - standing.length);
  });

  it('is told under whatever UUID the caller chose for its correlation id', async () => {
    const { id, caller } = world.anOrganization();
    const probe = kafkaProbe(world.core.app);
    probe.collect('core');
    const [survivor, merged] = [await world.created(caller), await world.created(caller)];
    const chosen = '01234567-89AB-CDEF-0123-456789ABCDEF';
    const { status, headers } = await tryMerge(caller, survivor, merged, {}, { 'X-Correlation-Id': chosen });
    expect([status, headers.get('x-correlation-id')]).toEqual([200, chosen.toLowerCase()]);
    const [told] = await probe.expectEvents('core.contact.merged.v1', id, 1);
    expect(told?.correlationid).toBe(chosen.toLowerCase());
  });

  it('is told to other modules in versions that grow, audited with its reason, and counted', async () => {
    const { id, caller } = world.anOrganization();
    const probe = kafkaProbe(world.core.app);
    probe.collect('core');
    const survivor = await world.created(caller, { last_name: null });
    const merged = await world.created(caller, { last_name: 'Rojas', national_id: RUT });
    const done = await merge(caller, survivor, merged, { reason: 'Same person.' });
    await undo(caller, done);
    const [unmerged] = await probe.expectEvents('core.contact.unmerged.v1', id, 1);
    const [told] = probe.events('core.contact.merged.v1', id);
    const both = { merge_id: done.merge_id, survivor_id: survivor.id, merged_id: merged.id };
    expect(told?.data).toEqual({ ...both, survivor_version: 2, merged_version: 2 });
    expect(unmerged?.data).toEqual({ ...both, survivor_version: 3, merged_version: 3 });
    const updates = await probe.expectEvents('core.contact.updated.v1', id, 3);
    expect(
      updates.map(({ data }) => [data.contact_id, data.version, data.changed_fields, data.contact.last_name]),
    ).toEqual(
      expect.arrayContaining([
        [survivor.id, 2, ['last_name', 'national_id'], 'Rojas'],
        [survivor.id, 3, ['last_name', 'national_id'], null],
        [merged.id, 4, [], 'Rojas'],
      ]),
    );
    expect(JSON.stringify(updates)).not.toContain('5678');
    const audit = await world.query(
      `SELECT action, resource_id, reason FROM audit_entries
        WHERE organization_id = $1 AND action LIKE 'core.contacts.%merge' ORDER BY occurred_at, id`,
      [id],
    );
    expect(audit).toEqual([
      { action: 'core.contacts.merge', resource_id: survivor.id, reason: 'Same person.' },
      { action: 'core.contacts.merge', resource_id: merged.id, reason: 'Same person.' },
      { action: 'core.contacts.unmerge', resource_id: survivor.id, reason: null },
      { action: 'core.contacts.unmerge', resource_id: merged.id, reason: null },
    ]);
    await merge(caller, survivor, merged);
    const day = new Date().toISOString().slice(0, 10);
    const usage = await caller.get<{ totals: { contacts: object } }>(`/v1/core/usage?from=${day}&to=${day}`);
    expect(usage.body.totals.contacts).toMatchObject({ created: 2, merged: 1, active: 1 });
  });

  it('keeps the survivor from being purged', async () => {
    const { caller } = world.anOrganization();
    const [survivor, merged] = [await world.created(caller), await world.created(caller)];
    const done = await merge(caller, survivor, merged);
    await caller.delete(at(survivor));
    const problem = expectProblem(await caller.delete(at(survivor, '/purge')), 409, 'resource_referenced');
    expect(problem['references']).toEqual([{ module: 'core', resource: 'contacts', count: 1 }]);
    await undo(caller, done);
    expectStatus(await caller.delete(at(survivor, '/purge')), 204);
    expect(profileOf(await read(caller, merged))).toEqual(profileOf(merged));
  });
});
