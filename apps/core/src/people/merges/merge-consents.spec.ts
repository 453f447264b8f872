import { eventually, expectStatus, kafkaProbe, type Caller } from '@customer-platform/testing';
import { START_MS } from '../../core.fixture.js';
import { at, ContactWorld } from '../contacts/contact.fixture.js';
import { merge, undo } from './merge.fixture.js';

let world: ContactWorld;
beforeAll(async () => {
  world = await ContactWorld.start();
}, START_MS);
afterAll(() => world.close());

type Named = { id: string };

interface Said {
  status: string;
  channel?: string | null;
  daysAgo: number;
  /** Grants that have ended by now. */
  over?: boolean;
}

const DAY_MS = 86_400_000;
const daysAgo = (days: number): string => new Date(Date.now() - days * DAY_MS).toISOString();

async function say(caller: Caller, contact: Named, said: readonly Said[]): Promise<void> {
  for (const { status, channel = null, daysAgo: days, over } of said) {
    const granted = status === 'granted' ? { notice_version: '1', method: 'form' } : {};
    const ended = over ? { expires_at: daysAgo(days - 0.5) } : {};
    const body = { purpose: 'marketing', channel, status, occurred_at: daysAgo(days), ...granted, ...ended };
    expectStatus(await caller.post(at(contact, '/consents'), body), 201);
  }
}

/** `channel: status` of what holds of marketing. */
async function statesOf(caller: Caller, contact: Named): Promise<Record<string, string>> {
  const { body } = await caller.get<{ data: { channel: string | null; status: string }[] }>(
    at(contact, '/consents'),
  );
  return Object.fromEntries(body.data.map(({ channel, status }) => [channel ?? 'all', status]));
}

const GRANTED = (days: number, channel: string | null = null): Said => ({
  status: 'granted',
  channel,
  daysAgo: days,
});
const REFUSED = (status: 'denied' | 'withdrawn', days: number, channel: string | null = null): Said => ({
  status,
  channel,
  daysAgo: days,
});
const OVER: Said = { status: 'granted', daysAgo: 9, over: true };

describe('the consents of merged contacts', () => {
  it.each<[name: string, survivor: Said[], merged: Said[], result: Record<string, string>]>([
    [
      'a later grant does not lift a withdrawal of the other',
      [REFUSED('withdrawn', 9)],
      [GRANTED(1)],
      { all: 'withdrawn' },
    ],
    ['nor one of its own that of the other', [GRANTED(1)], [REFUSED('withdrawn', 9)], { all: 'withdrawn' }],
    [
      'withdrawn is stricter than denied',
      [REFUSED('denied', 1)],
      [REFUSED('withdrawn', 9)],
      { all: 'withdrawn' },
    ],
    ['denied is stricter than expired', [OVER], [REFUSED('denied', 20)], { all: 'denied' }],
    ['expired is stricter than granted', [OVER], [GRANTED(1)], { all: 'expired' }],
    ['what only one has said holds', [], [GRANTED(3, 'email')], { email: 'granted' }],
    ['two grants are one', [GRANTED(1)], [GRANTED(2)], { all: 'granted' }],
    [
      'what is about all channels stands against the other’s channel',
      [GRANTED(1, 'email')],
      [REFUSED('withdrawn', 5)],
      { all: 'withdrawn', email: 'withdrawn' },
    ],
    [
      'and where both grant a channel, a refusal for all does not take it away',
      [REFUSED('withdrawn', 9), GRANTED(5, 'email')],
      [GRANTED(3)],
      { all: 'withdrawn', email: 'granted' },
    ],
  ])('%s', async (_name, ofSurvivor, ofMerged, result) => {
    const { caller } = world.anOrganization();
    const [survivor, merged] = [await world.created(caller), await world.created(caller)];
    await say(caller, survivor, ofSurvivor);
    await say(caller, merged, ofMerged);
    const before = [await statesOf(caller, survivor), await statesOf(caller, merged)];
    const done = await merge(caller, survivor, merged);
    expect(
      Object.fromEntries(done.consents.map(({ channel, result: status }) => [channel ?? 'all', status])),
    ).toEqual(result);
    expect(done.moved.consents).toBe(ofMerged.length);
    expect(await statesOf(caller, survivor)).toEqual(result);
    await undo(caller, done);
    expect([await statesOf(caller, survivor), await statesOf(caller, merged)]).toEqual(before);
  });

  it('are said by a merge only where the histories alone would be milder, with the proof of what they repeat', async () => {
    const { caller } = world.anOrganization();
    const [survivor, merged] = [await world.created(caller), await world.created(caller)];
    await say(caller, survivor, [REFUSED('withdrawn', 9)]);
    await say(caller, merged, [GRANTED(1), GRANTED(1, 'email')]);
    await merge(caller, survivor, merged);
    const { body } = await caller.get<{
      data: { method: string | null; status: string; contact_id: string }[];
    }>(at(survivor, '/consents?view=history'));
    const byMerge = body.data.filter(({ method }) => method === 'merge');
    expect(byMerge.map(({ status, contact_id: id }) => [status, id])).toEqual([['withdrawn', survivor.id]]);
    expect(body.data).toHaveLength(4);
  });

  it('withdrawals after the merge go to both, grants stay with the survivor', async () => {
    const { caller } = world.anOrganization();
    const [survivor, merged] = [await world.created(caller), await world.created(caller)];
    await say(caller, survivor, [GRANTED(9, 'email'), REFUSED('denied', 9, 'sms')]);
    await say(caller, merged, [GRANTED(9, 'email'), GRANTED(9, 'push')]);
    const done = await merge(caller, survivor, merged);
    await say(caller, survivor, [REFUSED('withdrawn', 0, 'email'), GRANTED(0, 'sms')]);
    await undo(caller, done);
    expect(await statesOf(caller, survivor)).toEqual({ email: 'withdrawn', sms: 'granted' });
    expect(await statesOf(caller, merged)).toEqual({ email: 'withdrawn', push: 'granted' });
  });

  it('withdrawals go to both though the clock of the merge went ahead', async () => {
    const { caller } = world.anOrganization();
    const [survivor, merged] = [await world.created(caller), await world.created(caller)];
    for (const one of [survivor, merged]) await say(caller, one, [GRANTED(9)]);
    const done = await merge(caller, survivor, merged);
    await world.query(`UPDATE contact_merges SET merged_at = merged_at + interval '5 s' WHERE id = $1`, [
      done.merge_id,
    ]);
    await say(caller, survivor, [REFUSED('withdrawn', 0)]);
    await undo(caller, done);
    expect([await statesOf(caller, survivor), await statesOf(caller, merged)]).toEqual([
      { all: 'withdrawn' },
      { all: 'withdrawn' },
    ]);
  });

  it('a withdrawal from one channel outlives the return of a grant for all', async () => {
    const { caller } = world.anOrganization();
    const [survivor, merged] = [await world.created(caller), await world.created(caller)];
    await say(caller, survivor, [REFUSED('withdrawn', 20), GRANTED(5)]);
    await say(caller, merged, [REFUSED('withdrawn', 9)]);
    const done = await merge(caller, survivor, merged);
    await say(caller, survivor, [REFUSED('withdrawn', 0, 'email')]);
    await undo(caller, done);
    expect(await statesOf(caller, survivor)).toEqual({ all: 'granted', email: 'withdrawn' });
  });

  it('an undo grants nothing again that was withdrawn meanwhile, with whatever date after the grant', async () => {
    const { caller } = world.anOrganization();
    const [survivor, merged] = [await world.created(caller), await world.created(caller)];
    await say(caller, survivor, [GRANTED(5), GRANTED(5, 'email')]);
    await say(caller, merged, [REFUSED('withdrawn', 9), GRANTED(1, 'email')]);
    const done = await merge(caller, survivor, merged);
    await say(caller, survivor, [REFUSED('withdrawn', 2)]);
    await undo(caller, done);
    expect(await statesOf(caller, survivor)).toEqual({ all: 'withdrawn', email: 'withdrawn' });
    expect(await statesOf(caller, merged)).toEqual({ all: 'withdrawn', email: 'granted' });
  });

  it('what is repeated does not stand against a refusal that is later than all that was said itself', async () => {
    const { caller } = world.anOrganization();
    const [survivor, merged] = [await world.created(caller), await world.created(caller)];
    await say(caller, survivor, [REFUSED('withdrawn', 9), GRANTED(5, 'email')]);
    await say(caller, merged, [GRANTED(3)]);
    const done = await merge(caller, survivor, merged);
    expect(await statesOf(caller, survivor)).toEqual({ all: 'withdrawn', email: 'granted' });
    await say(caller, survivor, [REFUSED('denied', 4, 'email')]);
    expect(await statesOf(caller, survivor)).toEqual({ all: 'withdrawn', email: 'granted' });
    await say(caller, survivor, [REFUSED('denied', 2, 'email')]);
    expect(await statesOf(caller, survivor)).toEqual({ all: 'withdrawn', email: 'denied' });
    await undo(caller, done);
    expect(await statesOf(caller, survivor)).toEqual({ all: 'withdrawn', email: 'denied' });
  });

  it('nor does what an undo repeats', async () => {
    const { caller } = world.anOrganization();
    const [survivor, merged] = [await world.created(caller), await world.created(caller)];
    await say(caller, survivor, [GRANTED(5)]);
    await say(caller, merged, [REFUSED('withdrawn', 1)]);
    await undo(caller, await merge(caller, survivor, merged));
    expect(await statesOf(caller, survivor)).toEqual({ all: 'granted' });
    await say(caller, survivor, [REFUSED('withdrawn', 3, 'sms'), REFUSED('withdrawn', 6)]);
    expect(await statesOf(caller, survivor)).toEqual({ all: 'granted', sms: 'withdrawn' });
    await say(caller, survivor, [REFUSED('withdrawn', 4)]);
    expect(await statesOf(caller, survivor)).toEqual({ all: 'withdrawn', sms: 'withdrawn' });
  });

  it('an undo after grants have ended leaves them ended', async () => {
    const { caller } = world.anOrganization();
    const [survivor, merged] = [await world.created(caller), await world.created(caller)];
    const soon = { expires_at: new Date(Date.now() + 3_000).toISOString() };
    const grant = { purpose: 'marketing', status: 'granted', notice_version: '1', method: 'form', ...soon };
    const body = { ...grant, channel: 'email', occurred_at: daysAgo(5) };
    expectStatus(await caller.post(at(survivor, '/consents'), body), 201);
    await say(caller, merged, [REFUSED('withdrawn', 9, 'email')]);
    const done = await merge(caller, survivor, merged);
    expect(await statesOf(caller, survivor)).toEqual({ email: 'withdrawn' });
    await eventually(() => expect(Date.now()).toBeGreaterThan(Date.parse(soon.expires_at)));
    await undo(caller, done);
    expect(await statesOf(caller, survivor)).toEqual({ email: 'expired' });
  });

  it('what a merge said that is undone since says nothing when an earlier one is undone', async () => {
    const { caller } = world.anOrganization();
    const [survivor, first, second] = [
      await world.created(caller),
      await world.created(caller),
      await world.created(caller),
    ];
    await say(caller, survivor, [GRANTED(5)]);
    await say(caller, first, [REFUSED('denied', 9)]);
    await say(caller, second, [REFUSED('withdrawn', 9)]);
    const earlier = await merge(caller, survivor, first);
    await undo(caller, await merge(caller, survivor, second));
    expect(await statesOf(caller, survivor)).toEqual({ all: 'denied' });
    await undo(caller, earlier);
    expect(await statesOf(caller, survivor)).toEqual({ all: 'granted' });
    expect(await statesOf(caller, first)).toEqual({ all: 'denied' });
    expect(await statesOf(caller, second)).toEqual({ all: 'withdrawn' });
  });

  it('are told to other modules as they become, of the survivor', async () => {
    const { id, caller } = world.anOrganization();
    const probe = kafkaProbe(world.core.app);
    probe.collect('core');
    const [survivor, merged] = [await world.created(caller), await world.created(caller)];
    await say(caller, survivor, [GRANTED(9, 'email')]);
    await say(caller, merged, [REFUSED('withdrawn', 5, 'email')]);
    const done = await merge(caller, survivor, merged);
    await undo(caller, done);
    const told = await probe.expectEvents('core.consent.recorded.v1', id, 4);
    const ofSurvivor = told.filter(({ data }) => data.contact_id === survivor.id);
    expect(ofSurvivor.map(({ data }) => [data.previous, data.status])).toEqual([
      [null, 'granted'],
      ['granted', 'withdrawn'],
      ['withdrawn', 'granted'],
    ]);
    const times = ofSurvivor.map(({ time }) => time);
    expect([...times].sort()).toEqual(times);
  });

  it('are told of who comes back, too, where a grant has ended meanwhile', async () => {
    const { id, caller } = world.anOrganization();
    const probe = kafkaProbe(world.core.app);
    probe.collect('core');
    const [survivor, merged] = [await world.created(caller), await world.created(caller)];
    const soon = { expires_at: new Date(Date.now() + 2_000).toISOString(), occurred_at: daysAgo(5) };
    const body = { purpose: 'marketing', status: 'granted', notice_version: '1', method: 'form', ...soon };
    expectStatus(await caller.post(at(merged, '/consents'), body), 201);
    const done = await merge(caller, survivor, merged);
    await probe.expectEvents('core.consent.expired.v1', id, 1);
    await undo(caller, done);
    expect(await statesOf(caller, merged)).toEqual({ all: 'expired' });
    await eventually(() => {
      const told = probe.events('core.consent.recorded.v1', id);
      expect(told.findLast(({ data }) => data.contact_id === merged.id)?.data.status).toBe('expired');
    });
  });

  it('are told of a survivor who never said anything as what neither permits nor forbids', async () => {
    const { id, caller } = world.anOrganization();
    const probe = kafkaProbe(world.core.app);
    probe.collect('core');
    const [survivor, merged] = [await world.created(caller), await world.created(caller)];
    await say(caller, merged, [REFUSED('withdrawn', 5, 'email'), GRANTED(5, 'sms')]);
    await undo(caller, await merge(caller, survivor, merged));
    expect(await statesOf(caller, survivor)).toEqual({});
    const told = await probe.expectEvents('core.consent.recorded.v1', id, 6);
    const ofSurvivor = told.filter(({ data }) => data.contact_id === survivor.id);
    expect(ofSurvivor.map(({ data }) => `${data.channel ?? ''} ${data.status}`).sort()).toEqual([
      ...['email expired', 'email withdrawn', 'sms expired', 'sms granted'],
    ]);
  });
});
