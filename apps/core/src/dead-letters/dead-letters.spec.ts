import { RecordProducer } from '@customer-platform/event-bus';
import { newId } from '@customer-platform/database';
import {
  DatabaseFault,
  eventually,
  kafkaProbe,
  proofBy,
  type Caller,
  type Fault,
  type KafkaProbe,
} from '@customer-platform/testing';
import { accepted, aTrack, startCore, type TestCore, processing, START_MS } from '../core.fixture.js';
import { encodeFrame, encodeRecord } from '../vocabulary/events/event-frame.js';
import { INGESTION_TOPIC } from '../ingestion/ingestion-queue.js';

interface Letter extends Record<string, unknown> {
  id: string;
  event_id: string;
  state: string;
}

interface Usage {
  totals: { events: Record<string, number> };
}

/** What makes an event fail at the store: Postgres refuses its row. */
const POISON: Fault = { table: 'events', on: 'INSERT', when: `NEW.event = 'poison'` };

describe('dead letters', () => {
  let core: TestCore;
  let probe: KafkaProbe;
  let poison: DatabaseFault;
  beforeAll(async () => {
    core = await startCore();
    await processing(core);
    probe = kafkaProbe(core.app);
    probe.collect('core');
    poison = await DatabaseFault.in(core.database, POISON);
  }, START_MS);
  afterAll(() => core.close());

  const letters = async (caller: Caller, query = '') =>
    (await caller.get<{ data: Letter[] }>(`/v1/core/dead-letters${query}`)).body.data;

  const letter = (caller: Caller, query = '') =>
    eventually(async () => {
      const [first] = await letters(caller, query);
      if (!first) throw new Error('no letter has come');
      return first;
    });

  const usage = async (caller: Caller) => (await caller.get<Usage>('/v1/core/usage')).body.totals.events;

  const settled = (caller: Caller, counts: Record<string, number>) =>
    eventually(async () => expect(await usage(caller)).toMatchObject({ ...counts, pending: 0 }));

  const poisonedBatch = async () => {
    const { id, caller } = core.anOrganization();
    const poison = aTrack({ event: 'poison', external_id: 'ana', properties: { a: [1, { b: 'é' }] } });
    const events = [aTrack({ external_id: 'ana' }), poison, aTrack({ external_id: 'ana' }), aTrack()];
    expect((await caller.post('/v1/core/batch', { events })).status).toBe(202);
    return { id, caller, poison };
  };

  it('keep a poison event byte by byte and hold back nobody', async () => {
    const { id, caller, poison } = await poisonedBatch();
    await settled(caller, { accepted: 4, stored: 3, dead_lettered: 1 });
    const kept = await letter(caller);
    expect(kept).toMatchObject({
      stage: 'store',
      code: 'internal_error',
      attempts: 3,
      payload: JSON.stringify(poison),
      external_id: 'ana',
      state: 'pending',
      closed_reason: null,
      correlation_id: kept.event_id,
    });
    expect(JSON.stringify(kept)).not.toContain('RAISE');
    const [told] = await probe.expectEvents('core.event.dead_lettered.v1', id, 1);
    expect(told).toMatchObject({
      correlationid: kept.event_id,
      data: { event_id: kept.event_id, stage: 'store' },
    });
    await accepted(caller, poison);
    await settled(caller, { accepted: 5, stored: 3, dead_lettered: 1, duplicates: 1 });
  });

  it('take no event that a full disk kept from being stored: it waits, and is stored when there is room', async () => {
    const { caller } = core.anOrganization();
    const fullDisk = await DatabaseFault.in(core.database, {
      table: 'events',
      on: 'INSERT',
      when: `NEW.event = 'too_much'`,
      code: '53100',
    });
    try {
      await accepted(caller, aTrack({ event: 'too_much' }));
      await eventually(async () => expect(await fullDisk.tries()).toBeGreaterThan(4));
      expect(await letters(caller)).toEqual([]);
    } finally {
      await fullDisk.mend();
    }
    await settled(caller, { accepted: 1, stored: 1, dead_lettered: 0 });
  });

  it.each([
    // As if another transaction had always just stored it.
    ['loses every race', { instead: 'RETURN NULL;' }],
    ['always runs out of time', { code: '57014' }],
    ['always runs out of memory', { code: '53200' }],
  ])('take an event that %s, and its partition goes on', async (_, effect) => {
    const { id, caller } = core.anOrganization();
    const fault = await DatabaseFault.in(core.database, {
      table: 'events',
      on: 'INSERT',
      when: `NEW.event = 'never' AND NEW.organization_id = '${id}'`,
      ...effect,
    });
    try {
      const events = [{}, { event: 'never' }, {}].map((each) => aTrack({ external_id: 'ana', ...each }));
      expect((await caller.post('/v1/core/batch', { events })).status).toBe(202);
      await eventually(
        async () =>
          expect(await letters(caller)).toMatchObject([{ code: 'internal_error', state: 'pending' }]),
        { within: 30_000 },
      );
      await settled(caller, { accepted: 3, stored: 2, dead_lettered: 1 });
    } finally {
      await fault.mend();
    }
  });

  it('hold nothing of an event whose values are refused there too; it may be sent again', async () => {
    const { id, caller } = core.anOrganization();
    const refused = aTrack({ external_id: 'ana', event: 'poison' });
    const noValues = await DatabaseFault.in(core.database, {
      table: 'dead_letters',
      on: 'INSERT',
      when: `NEW.organization_id = '${id}' AND NEW.payload IS NOT NULL`,
      code: '23514',
    });
    try {
      const events = [aTrack({ external_id: 'ana' }), refused, aTrack({ external_id: 'ana' })];
      expect((await caller.post('/v1/core/batch', { events })).status).toBe(202);
      await settled(caller, { accepted: 3, stored: 2, dead_lettered: 1 });
      const blank = { code: 'not_keepable', closed_reason: 'not_keepable', attempts: 3 };
      expect(await letters(caller)).toMatchObject([
        { ...blank, state: 'closed', payload: null, external_id: null },
      ]);
      await accepted(caller, refused);
      await settled(caller, { accepted: 4, stored: 2, dead_lettered: 1, duplicates: 1 });
    } finally {
      await noValues.mend();
    }
    await poison.mend();
    try {
      await accepted(caller, refused);
      await settled(caller, { accepted: 5, stored: 3, dead_lettered: 1, duplicates: 1 });
      const set = await core.database.query(
        `SELECT 1 FROM unreadable_records WHERE topic LIKE '%core.ingestion'`,
      );
      expect(set).toEqual([]);
    } finally {
      poison = await DatabaseFault.in(core.database, POISON);
    }
  });

  it.each([
    ['is no fault of an event', '42501', [{}, { event: 'poison' }], { stored: 1, dead_lettered: 1 }],
    ['is so of all', '23514', [{ event: 'poison' }, { event: 'poison' }], { stored: 0, dead_lettered: 2 }],
  ] as const)('wait where what refuses them %s: no event is passed over', async (_, code, sent, counts) => {
    const { id, caller } = core.anOrganization();
    const noLetters = await DatabaseFault.in(core.database, {
      table: 'dead_letters',
      on: 'INSERT',
      when: `NEW.organization_id = '${id}'${code === '23514' ? ' AND NEW.payload IS NOT NULL' : ''}`,
      code,
    });
    try {
      const events = sent.map((each) => aTrack({ external_id: 'ana', ...each }));
      expect((await caller.post('/v1/core/batch', { events })).status).toBe(202);
      await eventually(async () => expect(await noLetters.tries()).toBeGreaterThan(3), { within: 30_000 });
      expect(await usage(caller)).toMatchObject({ stored: 0, dead_lettered: 0 });
    } finally {
      await noLetters.mend();
    }
    await settled(caller, { accepted: 2, ...counts });
    for (const { payload } of await letters(caller)) expect(payload).toContain('poison');
  });

  it('run again, once, when the cause is gone', async () => {
    const { id, caller } = await poisonedBatch();
    const kept = await letter(caller);
    const path = `/v1/core/dead-letters/${kept.id}/replay`;
    expect(await caller.post(path)).toMatchObject({ status: 202, body: { id: kept.id, state: 'replaying' } });
    await eventually(async () =>
      expect(await letters(caller)).toMatchObject([{ state: 'pending', attempts: 4 }]),
    );
    await poison.mend();
    try {
      const answers = await Promise.all([1, 2, 3].map(() => caller.post(path)));
      for (const answer of answers)
        expect(answer).toMatchObject({ status: 202, body: { event_id: kept.event_id } });
      await eventually(async () => expect(await letters(caller)).toMatchObject([{ state: 'replayed' }]));
      expect(await caller.post(path)).toMatchObject({ status: 202, body: { state: 'replayed' } });
      await settled(caller, { accepted: 4, stored: 4, dead_lettered: 0 });
      const events = await caller.get<{ data: object[] }>(`/v1/core/events?correlation_id=${kept.event_id}`);
      expect(events.body.data).toMatchObject([{ id: kept.event_id, event: 'poison', external_id: 'ana' }]);
      await probe.expectEvents('core.event.recorded.v1', id, 4);
      expect(await probe.expectEvents('core.dead_letter.replayed.v1', id, 1)).toMatchObject([
        { data: { event_id: kept.event_id, stage: 'store' } },
      ]);
    } finally {
      poison = await DatabaseFault.in(core.database, POISON);
    }
  });

  it('run again though another event came under the key meanwhile: the first one stands', async () => {
    const { id, caller } = core.anOrganization();
    const first = aTrack({ event: 'poison', external_id: 'ana', idempotency_key: 'INV-1' });
    await accepted(caller, first);
    const kept = await letter(caller);
    await accepted(caller, { ...first, event: 'another' });
    const conflict = await letter(caller, '?code=idempotency_key_conflict');
    expect(conflict).toMatchObject({ state: 'closed', event_id: kept.event_id });
    await poison.mend();
    try {
      expect((await caller.post(`/v1/core/dead-letters/${kept.id}/replay`)).status).toBe(202);
      await eventually(async () =>
        expect(await letters(caller, '?code=internal_error')).toMatchObject([{ state: 'replayed' }]),
      );
      // Whoever repeats either is told what became of it.
      await accepted(caller, first);
      await accepted(caller, { ...first, event: 'another' });
      await settled(caller, { accepted: 4, stored: 1, dead_lettered: 1, duplicates: 2 });
    } finally {
      poison = await DatabaseFault.in(core.database, POISON);
    }
    expect(await core.database.query('SELECT event FROM events WHERE organization_id = $1', [id])).toEqual([
      { event: 'poison' },
    ]);
  });

  it('answer 404 to another organization, and 403 without the permission', async () => {
    const { id, caller } = await poisonedBatch();
    const kept = await letter(caller);
    const path = `/v1/core/dead-letters/${kept.id}/replay`;
    const foreign = await core.anOrganization().caller.post(path);
    const nobodys = await core.anOrganization().caller.post(`/v1/core/dead-letters/${newId()}/replay`);
    expect([foreign.status, nobodys.status]).toEqual([404, 404]);
    expect(foreign.body).toMatchObject({ code: 'not_found' });
    expect(await core.anOrganization().caller.get('/v1/core/dead-letters')).toMatchObject({
      body: { data: [] },
    });
    const reader = core.app.as(id, ['core.jobs.read']);
    expect(await reader.post(path)).toMatchObject({ status: 403, body: { code: 'permission_denied' } });
    expect((await core.app.as(id, ['core.jobs.replay']).get('/v1/core/dead-letters')).status).toBe(403);
    expect(await caller.post('/v1/core/dead-letters/x/replay')).toMatchObject({
      body: { code: 'invalid_id' },
    });
  });

  it('filter by what they are', async () => {
    const { caller } = await poisonedBatch();
    const kept = await letter(caller);
    for (const query of [
      'state=pending',
      'code=internal_error',
      'stage=store',
      `event_id=${kept.event_id}`,
    ]) {
      expect(await letters(caller, `?${query}`)).toHaveLength(1);
    }
    for (const query of [
      'state=closed',
      'code[ne]=internal_error',
      `correlation_id=${newId()}`,
      'external_id=x',
    ]) {
      expect(await letters(caller, `?${query}`)).toHaveLength(0);
    }
    expect(await caller.get('/v1/core/dead-letters?colour=red')).toMatchObject({
      body: { code: 'unknown_parameter' },
    });
  });

  it('hold the events that loyalty could not evaluate, and let loyalty run them again', async () => {
    const { id, caller } = core.anOrganization();
    const { event_id: eventId } = await accepted(caller, aTrack({ external_id: 'ana' }));
    const [recorded] = await probe.expectEvents('core.event.recorded.v1', id, 1);
    const fail = () =>
      probe.publish({
        type: 'loyalty.evaluation.failed.v1',
        organizationId: id,
        data: {
          event_id: eventId,
          contact_id: recorded?.data.contact_id ?? '',
          code: 'rule_failed',
          attempts: 3,
        },
      });
    await fail();
    const kept = await letter(caller, '?stage=loyalty');
    expect(kept).toMatchObject({
      code: 'rule_failed',
      attempts: 3,
      state: 'pending',
      contact_id: recorded?.data.contact_id,
      external_id: 'ana',
    });
    await caller.post(`/v1/core/dead-letters/${kept.id}/replay`);
    const [replayed] = await probe.expectEvents('core.dead_letter.replayed.v1', id, 1);
    expect(replayed?.data).toEqual({ event_id: eventId, stage: 'loyalty', recorded: recorded?.data });
    await eventually(async () => expect(await letters(caller)).toMatchObject([{ state: 'replayed' }]));
    await fail();
    await eventually(async () =>
      expect(await letters(caller)).toMatchObject([{ state: 'pending', attempts: 6 }]),
    );
    await settled(caller, { accepted: 1, stored: 1, dead_lettered: 0 });
  });

  it('are closed where loyalty fails at an event that has been removed since', async () => {
    const { id, caller } = core.anOrganization();
    const { event_id: eventId } = await accepted(caller, aTrack({ external_id: 'ana' }));
    const [recorded] = await probe.expectEvents('core.event.recorded.v1', id, 1);
    const data = {
      event_id: eventId,
      contact_id: recorded?.data.contact_id ?? '',
      code: 'rule_failed',
      attempts: 3,
    };
    const fail = () => probe.publish({ type: 'loyalty.evaluation.failed.v1', organizationId: id, data });
    await fail();
    const kept = await letter(caller, '?stage=loyalty');
    await caller.post(`/v1/core/dead-letters/${kept.id}/replay`);
    await eventually(async () => expect(await letters(caller)).toMatchObject([{ state: 'replayed' }]));
    await core.database.query('DELETE FROM events WHERE organization_id = $1', [id]);
    await fail();
    await eventually(async () =>
      expect(await letters(caller)).toMatchObject([
        { state: 'closed', closed_reason: 'event_removed', code: 'rule_failed', attempts: 6 },
      ]),
    );
  });

  it('take what a revoked key sent during an outage of the registry, while the rest is stored', async () => {
    const { registry } = core.app;
    const id = newId();
    const permissions = ['core.events.write', 'core.jobs.read', 'core.usage.read'] as const;
    const good = core.app.as(id, permissions);
    const key = registry.key({ organizationId: id, permissions });
    const bad = core.app.with(key);
    await accepted(good, aTrack());
    await accepted(bad, aTrack());
    registry.outage(true);
    try {
      await eventually(async () => expect((await good.get('/v1/core/usage')).status).toBe(503));
      registry.revoke(key);
      await accepted(bad, aTrack({ external_id: 'mallory' }));
      await accepted(good, aTrack({ external_id: 'ana' }));
    } finally {
      registry.outage(false);
    }
    await settled(good, { accepted: 4, stored: 3, dead_lettered: 1 });
    expect(await letters(good)).toMatchObject([
      {
        code: 'credential_revoked',
        state: 'closed',
        closed_reason: 'credential_revoked',
        external_id: 'mallory',
      },
    ]);
  });

  it('are not made of records that are none; those are set aside', async () => {
    const producer = core.app.app.get(RecordProducer, { strict: false });
    await producer.sendToPartition(INGESTION_TOPIC, 0, 'not a record');
    const event = { organizationId: newId(), kind: 'track', receivedAt: 0, body: Buffer.of() } as const;
    const nobodys = encodeRecord([encodeFrame({ ...event, eventId: 'none'.padEnd(36) })]);
    await producer.sendToPartition(INGESTION_TOPIC, 0, nobodys);
    const { caller, id } = core.anOrganization();
    // Good to read, and queued by somebody else.
    const foreign = encodeRecord([encodeFrame({ ...event, organizationId: id, eventId: newId() })]);
    const record = { topic: INGESTION_TOPIC, key: 'k', value: foreign };
    await producer.send(INGESTION_TOPIC, { ...record, headers: proofBy('loyalty', record) });
    await Promise.all(Array.from({ length: 20 }, () => accepted(caller, aTrack())));
    await settled(caller, { accepted: 20, stored: 20 });
    const values = await eventually(async () => {
      const rows = await core.database.query<{ value: Buffer }>('SELECT value FROM unreadable_records');
      expect(rows).toHaveLength(3);
      return rows.map(({ value }) => value.toString());
    });
    expect(values.sort()).toEqual([nobodys.toString(), foreign.toString(), 'not a record'].sort());
  });
});
