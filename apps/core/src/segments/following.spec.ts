import { newId } from '@customer-platform/database';
import { PERMISSIONS } from '@customer-platform/permissions';
import { expectStatus, type Caller } from '@customer-platform/testing';
import { SEGMENTS, SegmentWorld } from './segment.fixture.js';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const CONTACTS = '/v1/core/contacts';

let world: SegmentWorld;
let id: string;
let caller: Caller;
beforeAll(async () => {
  world = await SegmentWorld.start();
}, 60_000);
beforeEach(() => {
  ({ id, caller } = world.anOrganization());
  world.stopClock('2026-06-15T12:00:00.000Z');
});
afterEach(() => world.stopClock());
afterAll(() => world.close());

const paid = (rest: object = {}) => ({ event: 'invoice_paid', ...rest });
const plan = (value: string) => ({ attribute: 'attributes.plan', op: 'eq', value });
const granted = { consent: { purpose: 'marketing', channel: 'email' }, status: 'granted' };

async function contact(body: object): Promise<{ id: string; path: string }> {
  const answer = await caller.post<{ id: string }>(CONTACTS, body);
  expectStatus(answer, 201);
  await world.evaluate();
  return { id: answer.body.id, path: `${CONTACTS}/${answer.body.id}` };
}

describe('events', () => {
  it('move the contact for the cause `event`, chained by the correlation id', async () => {
    const segment = await world.segment(caller, paid({ count: { op: 'gte', value: 2 } }));
    await world.happen(id, { externalId: 'ana', at: world.now(-MINUTE) });
    expect(await world.inside(caller, segment)).toEqual([]);
    await world.happen(id, { externalId: 'ana', at: world.now() });
    expect(await world.members(caller, segment)).toMatchObject([
      { external_id: 'ana', cause: 'event', entered_at: world.now(), left_at: null, left_cause: null },
    ]);
    expect(await world.read(caller, segment.id)).toMatchObject({
      member_count: 1,
      evaluated_at: world.now(),
    });
    const [event] = await world.core.database.query<{ id: string }>(
      'SELECT id FROM events WHERE organization_id = $1 ORDER BY occurred_at DESC LIMIT 1',
      [id],
    );
    const [told] = await world.envelopes(id);
    expect(told).toMatchObject({
      correlationid: event?.id,
      causationid: event?.id,
      type: 'core.segment.entered.v1',
    });
    expect(told?.data).toMatchObject({ segment_id: segment.id, cause: 'event', at: world.now() });
  });

  it('of several in one transaction the last one that mattered is the cause', async () => {
    const segment = await world.segment(
      caller,
      paid({ where: [{ property: 'amount', op: 'gte', value: 100 }] }),
    );
    await world.happen(
      id,
      { externalId: 'ana', at: world.now(), properties: { amount: 100 }, key: 'matters' },
      { externalId: 'ana', at: world.now(), properties: { amount: 99 } },
      { externalId: 'ana', at: world.now(), event: 'other' },
    );
    expect(await world.inside(caller, segment)).toEqual(['ana']);
    const [event] = await world.core.database.query<{ id: string }>(
      `SELECT id FROM events WHERE organization_id = $1 AND idempotency_key = 'matters'`,
      [id],
    );
    expect((await world.envelopes(id))[0]?.correlationid).toBe(event?.id);
  });

  it('that match nothing leave nothing to evaluate', async () => {
    await world.segment(caller, paid({ where: [{ property: 'amount', op: 'gte', value: 100 }] }));
    await world.store(id, [
      { externalId: 'ana', at: world.now(), properties: { amount: 1 } },
      { externalId: 'ana', at: world.now(), event: 'page_viewed' },
      { externalId: 'ana', at: world.now(), traits: { first_name: 'Ana' } },
    ]);
    expect(await world.count('segment_changes', id)).toBe(0);
  });

  it('an organization without segments notes nothing at all', async () => {
    await world.store(id, [{ externalId: 'ana', at: world.now(), traits: { plan: 'pro' } }]);
    expect(await world.count('segment_changes', id)).toBe(0);
    expect(await world.count('segment_revisions', id)).toBe(0);
  });

  it('a late one counts in the window in which it happened, a repeat not at all', async () => {
    const segment = await world.segment(caller, paid({ count: { op: 'gte', value: 2 }, within: 'P1D' }));
    const first = { externalId: 'ana', at: world.now(-1), key: 'first' };
    await world.happen(id, first, first);
    await world.happen(id, { externalId: 'ana', at: world.now(-DAY) });
    expect(await world.inside(caller, segment)).toEqual([]);
    await world.happen(id, { externalId: 'ana', at: world.now(1 - DAY) });
    expect(await world.inside(caller, segment)).toEqual(['ana']);
  });

  it('one that lies ahead counts from its time on', async () => {
    const segment = await world.segment(caller, paid());
    await world.happen(id, { externalId: 'ana', at: world.now(MINUTE) });
    expect(await world.inside(caller, segment)).toEqual([]);
    world.pass(MINUTE - 1);
    await world.evaluate();
    expect(await world.inside(caller, segment)).toEqual([]);
    world.pass(1);
    await world.evaluate();
    expect(await world.members(caller, segment)).toMatchObject([{ external_id: 'ana', cause: 'time' }]);
  });

  it('a new contact is in what asks for nothing it lacks', async () => {
    const none = await world.segment(caller, paid({ count: { op: 'eq', value: 0 } }));
    const planless = await world.segment(caller, {
      attribute: 'attributes.plan',
      op: 'exists',
      value: false,
    });
    const tracked = await world.segment(caller, { attribute: 'source', op: 'eq', value: 'track' });
    await world.happen(id, { externalId: 'ana', at: world.now(), event: 'page_viewed' });
    for (const segment of [none, planless, tracked])
      expect(await world.inside(caller, segment)).toEqual(['ana']);
    await world.happen(id, { externalId: 'ana', at: world.now() });
    expect(await world.inside(caller, none)).toEqual([]);
  });
});

describe('windows', () => {
  it('end without traffic: the contact leaves for the cause `time`', async () => {
    const segment = await world.segment(caller, paid({ within: 'PT1H' }));
    await world.happen(id, { externalId: 'ana', at: world.now() });
    world.pass(60 * MINUTE - 1);
    await world.evaluate();
    expect(await world.inside(caller, segment)).toEqual(['ana']);
    world.pass(1);
    await world.evaluate();
    expect(await world.inside(caller, segment)).toEqual([]);
    expect(await world.members(caller, segment, '?status=left')).toMatchObject([
      { external_id: 'ana', cause: 'event', left_at: world.now(), left_cause: 'time' },
    ]);
    expect(await world.read(caller, segment.id)).toMatchObject({ member_count: 0 });
    expect(await world.count('segment_dues', id)).toBe(0);
  });

  it('move on with every event, and another segment’s keeps its own time', async () => {
    const hour = await world.segment(caller, paid({ within: 'PT1H' }));
    const day = await world.segment(caller, { not: { event: 'login', within: 'P1D' } });
    await world.happen(id, { externalId: 'ana', at: world.now(), event: 'login' });
    for (let halfHours = 0; halfHours < 4; halfHours += 1) {
      await world.happen(id, { externalId: 'ana', at: world.now() });
      world.pass(30 * MINUTE);
      await world.evaluate();
      expect(await world.inside(caller, hour)).toEqual(['ana']);
    }
    world.pass(30 * MINUTE);
    await world.evaluate();
    expect(await world.inside(caller, hour)).toEqual([]);
    world.pass(DAY - 150 * MINUTE);
    await world.evaluate();
    expect(await world.inside(caller, day)).toEqual(['ana']);
    expect((await world.told(id)).map((text) => text.replace(/ [0-9a-f-]{36}/, ''))).toEqual([
      'entered event',
      'left time',
      'entered time',
    ]);
  });

  it('within_last on an attribute, and the end of a consent', async () => {
    const recent = await world.segment(caller, {
      attribute: 'attributes.paid_at',
      op: 'within_last',
      value: 'P1D',
    });
    const allowed = await world.segment(caller, granted);
    const ana = await contact({ external_id: 'ana', attributes: { paid_at: world.now() } });
    const answer = await caller.post(`${ana.path}/consents`, {
      purpose: 'marketing',
      channel: 'email',
      status: 'granted',
      notice_version: '1',
      method: 'web_form',
      expires_at: world.now(DAY),
    });
    expectStatus(answer, 201);
    await world.evaluate();
    expect(await world.members(caller, recent)).toMatchObject([{ external_id: 'ana', cause: 'attribute' }]);
    expect(await world.members(caller, allowed)).toMatchObject([{ external_id: 'ana', cause: 'consent' }]);
    world.pass(DAY);
    await world.evaluate();
    for (const segment of [recent, allowed]) {
      expect(await world.inside(caller, segment)).toEqual([]);
      expect(await world.members(caller, segment, '?status=left')).toMatchObject([{ left_cause: 'time' }]);
    }
  });
});

describe('changes of contacts', () => {
  it('by identify and by the API move for the cause `attribute`', async () => {
    const pro = await world.segment(caller, plan('pro'));
    await world.happen(id, { externalId: 'ana', at: world.now(), traits: { plan: 'pro' } });
    expect(await world.members(caller, pro)).toMatchObject([{ external_id: 'ana', cause: 'attribute' }]);
    const [member] = await world.members(caller, pro);
    const path = `${CONTACTS}/${member?.contact_id ?? ''}`;
    world.stopClock();
    expectStatus(await caller.patch(path, { attributes: { plan: 'free' } }), 200);
    await world.evaluate();
    expect(await world.members(caller, pro, '?status=left')).toMatchObject([{ left_cause: 'attribute' }]);
  });

  it('an attribute within an attribute is followed by what holds it', async () => {
    const segment = await world.segment(caller, {
      attribute: 'attributes.car.colour',
      op: 'eq',
      value: 'red',
    });
    const ana = await contact({ external_id: 'ana', attributes: { car: { colour: 'red' } } });
    expect(await world.inside(caller, segment)).toEqual(['ana']);
    expectStatus(await caller.patch(ana.path, { attributes: { car: { colour: 'blue' } } }), 200);
    await world.evaluate();
    expect(await world.inside(caller, segment)).toEqual([]);
  });

  it('a soft-deleted contact is in no segment, and what it did meanwhile counts once it is restored', async () => {
    const everybody = await world.segment(caller, { attribute: 'external_id', op: 'exists', value: true });
    const payers = await world.segment(caller, paid());
    const ana = await contact({ external_id: 'ana' });
    expectStatus(await caller.delete(ana.path), 204);
    await world.happen(id, { externalId: 'ana', at: world.now() });
    for (const segment of [everybody, payers]) expect(await world.inside(caller, segment)).toEqual([]);
    expectStatus(await caller.post(`${ana.path}/restore`), 200);
    await world.evaluate();
    for (const segment of [everybody, payers])
      expect(await world.members(caller, segment)).toMatchObject([{ external_id: 'ana', cause: 'restore' }]);
  });

  it('of a silent cause and another one at once the silent one is told', async () => {
    const payers = await world.segment(caller, paid());
    const ana = await contact({ external_id: 'ana' });
    expectStatus(await caller.delete(ana.path), 204);
    expectStatus(await caller.post(`${ana.path}/restore`), 200);
    await world.happen(id, { externalId: 'ana', at: world.now() });
    expect(await world.members(caller, payers)).toMatchObject([{ cause: 'restore' }]);
  });

  it('consents are judged over all channels and their strictest word', async () => {
    const allowed = await world.segment(caller, granted);
    const ana = await contact({ external_id: 'ana' });
    const say = async (status: string, channel: string | null) => {
      const grant = status === 'granted' ? { notice_version: '1', method: 'form' } : {};
      const occurred_at = world.now(-MINUTE);
      const body = { purpose: 'marketing', channel, status, occurred_at, ...grant };
      expectStatus(await caller.post(`${ana.path}/consents`, body), 201);
      await world.evaluate();
      return world.inside(caller, allowed);
    };
    expect(await say('granted', null)).toEqual(['ana']);
    expect(await say('withdrawn', 'sms')).toEqual(['ana']);
    expect(await say('withdrawn', null)).toEqual([]);
    expect(await say('granted', 'email')).toEqual([]);
    world.pass(1);
    expect(await say('granted', 'email')).toEqual(['ana']);
  });

  it('a purged contact leaves nothing behind', async () => {
    await world.segment(caller, { attribute: 'external_id', op: 'exists', value: true });
    const ana = await contact({ external_id: 'ana' });
    expect(await world.count('segment_members', id)).toBe(1);
    await world.core.database.query('DELETE FROM contact_activity WHERE contact_id = $1', [ana.id]);
    await world.core.database.query('DELETE FROM identities WHERE contact_id = $1', [ana.id]);
    await world.core.database.query('DELETE FROM contacts WHERE id = $1', [ana.id]);
    await world.changed(id, ana.id);
    expect(await world.count('segment_members', id)).toBe(0);
  });

  it('of merged contacts the survivor has both histories, and each its own again once they are parted', async () => {
    const two = await world.segment(caller, paid({ count: { op: 'gte', value: 2 } }));
    await world.happen(id, { externalId: 'ana', at: world.now() }, { externalId: 'eva', at: world.now() });
    const ids = await world.core.database.query<{ id: string }>(
      'SELECT id FROM contacts WHERE organization_id = $1 ORDER BY external_id',
      [id],
    );
    const [ana, eva] = ids.map((row) => row.id);
    const merge = (into: string | null) =>
      world.core.database.query('UPDATE contacts SET merged_into = $2 WHERE id = $1', [eva, into]);
    await merge(ana ?? null);
    await world.changed(id, ana ?? '', 'merge');
    await world.changed(id, eva ?? '', 'merge');
    expect(await world.members(caller, two)).toMatchObject([{ external_id: 'ana', cause: 'merge' }]);
    await merge(null);
    await world.changed(id, ana ?? '', 'merge');
    await world.changed(id, eva ?? '', 'merge');
    expect(await world.inside(caller, two)).toEqual([]);
  });
});

describe('GET /v1/core/segments/{id}/members', () => {
  it('shows current members by default, newest first, and filters', async () => {
    const segment = await world.segment(caller, paid({ within: 'PT1H' }));
    for (const externalId of ['ana', 'bea', 'eva']) {
      await world.happen(id, { externalId, at: world.now() });
      world.pass(MINUTE);
    }
    const all = await world.members(caller, segment);
    expect(all.map((member) => member.external_id)).toEqual(['eva', 'bea', 'ana']);
    expect(Object.keys(all[0] ?? {}).sort()).toEqual(
      ['cause', 'contact_id', 'entered_at', 'external_id', 'left_at', 'left_cause'].sort(),
    );
    const query = (text: string) => world.members(caller, segment, `?${text}`);
    expect((await query(`contact_id=${all[1]?.contact_id ?? ''}`)).map((one) => one.external_id)).toEqual([
      'bea',
    ]);
    const since = encodeURIComponent(all[1]?.entered_at ?? '');
    expect((await query(`entered_at[gt]=${since}`)).map((one) => one.external_id)).toEqual(['eva']);
    expect((await query('sort=entered_at&limit=1')).map((one) => one.external_id)).toEqual(['ana']);
    expect(await query('status=left')).toEqual([]);
    world.pass(57 * MINUTE);
    await world.evaluate();
    expect((await query('status=left')).map((one) => one.external_id)).toEqual(['ana']);
    await world.happen(id, { externalId: 'ana', at: world.now() });
    expect((await query('status=current')).map((one) => one.external_id)).toEqual(['ana', 'eva', 'bea']);
    expect((await query('status=left')).map((one) => one.external_id)).toEqual(['ana']);
  });

  it('asks for the permission to read, and shows another organization nothing', async () => {
    const segment = await world.segment(caller, paid());
    const path = `${SEGMENTS}/${segment.id}/members`;
    const only = world.core.app.as(id, ['core.segments.read']);
    expectStatus(await only.get(path), 200);
    const without = world.core.app.as(
      id,
      PERMISSIONS.filter((permission) => permission !== 'core.segments.read'),
    );
    expectStatus(await without.get(path), 403);
    const nobodys = await only.get<{ code: string }>(`${SEGMENTS}/${newId()}/members`);
    const foreign = await world.anOrganization().caller.get<{ code: string }>(path);
    expect([nobodys.status, nobodys.body.code]).toEqual([404, 'not_found']);
    expect([foreign.status, foreign.body.code]).toEqual([404, 'not_found']);
    expectStatus(await only.get(`${path}?status=former`), 400);
    expectStatus(await only.get(`${SEGMENTS}/nobody/members`), 400);
    expectStatus(await world.core.app.with().get(path), 401);
  });
});
