import { randomUUID } from 'node:crypto';
import { jest } from '@jest/globals';
import { eventually } from '@customer-platform/testing';
import { aSend, history, settled, type ShownSend } from '../src/messaging.fixture.js';
import { aReport, type ReportBody } from '../src/reports/webhooks/signed-calls.fixture.js';
import { CrashWorld, type Promised } from './crash.fixture.js';

const MAILS = 1_000;
const PUSHES = 120;
/** So many have left when both servers fall silent, and so many are in their hands when the process dies. */
const LEFT_BEFORE = { mails: 300, pushes: 20 };
const IN_HAND = { mails: 8, pushes: 8 };
/** A claim that nobody works on any more is free again after 30 s. */
const SETTLED = { within: 90_000 };

jest.setTimeout(240_000);

interface Row extends Pick<ShownSend, 'id' | 'state' | 'reason' | 'address' | 'provider_message_id'> {
  channel: string;
}

const messageIdOf = (raw: Buffer): string => /^message-id:\s*(\S+)/im.exec(raw.toString('latin1'))?.[1] ?? '';
const reportNow = (messageId: string, event: string, more: Partial<ReportBody> = {}): ReportBody =>
  aReport(messageId, event, { occurred_at: new Date().toISOString(), ...more });
const timesOf = (names: readonly string[]): number[] => [
  ...new Set([...Map.groupBy(names, (name) => name).values()].map(({ length }) => length)),
];

describe('kill -9 of messaging in the middle of a thousand sends', () => {
  let world: CrashWorld;
  let promised: Promised[];
  let rows: Map<string, Row>;
  /** Addresses and tokens that a server had in hand, unanswered, when the process died. */
  const inHand = { mails: [] as string[], pushes: [] as string[] };
  /** Reported of before messaging itself knew that these were in doubt. */
  let reportedEarly: string;

  beforeAll(async () => {
    world = await CrashWorld.start();

    const addresses = Array.from({ length: MAILS }, () => `${randomUUID()}@example.com`);
    const tokens = Array.from({ length: PUSHES }, () => randomUUID());
    const push = (some: readonly string[]): Promise<Promised[]> =>
      world.sendAll(some, (address) =>
        aSend({ channel: 'push', recipient: { address }, content: { title: 'x', body: 'y' } }),
      );
    const mails = world.sendAll(addresses, (address) => aSend({ recipient: { address } }));
    const answered = await push(tokens.slice(0, LEFT_BEFORE.pushes));
    await eventually(() => {
      expect(world.mail.mails.length).toBeGreaterThanOrEqual(LEFT_BEFORE.mails);
      expect(world.provider.requests).toHaveLength(LEFT_BEFORE.pushes);
    }, SETTLED);
    world.keepAnswersBack();
    const before = { mails: world.mail.mails.length, pushes: world.provider.requests.length };
    const pushes = push(tokens.slice(LEFT_BEFORE.pushes));
    await eventually(() => {
      expect(world.mail.mails.length).toBeGreaterThanOrEqual(before.mails + IN_HAND.mails);
      expect(world.provider.requests.length).toBeGreaterThanOrEqual(before.pushes + IN_HAND.pushes);
    }, SETTLED);

    await world.process.crash();
    inHand.mails = world.mail.mails.slice(before.mails).map(({ to }) => to);
    inHand.pushes = world.provider.requests
      .slice(before.pushes)
      .map(({ headers }) => String(headers['webhook-id']));
    world.answer();
    await world.process.restart();
    reportedEarly = inHand.pushes[0] ?? '';
    expect(await world.report(reportNow(reportedEarly, 'delivered'))).toBe(200);

    promised = [...(await mails), ...answered, ...(await pushes)];
    await eventually(async () => {
      const [open] = await world.database.query<{ count: number }>(
        'SELECT count(*)::int AS count FROM sends WHERE due_at IS NOT NULL',
      );
      expect(open).toEqual({ count: 0 });
    }, SETTLED);

    const found = await world.database.query<Row>(
      'SELECT id, channel, state, reason, address, provider_message_id FROM sends',
    );
    rows = new Map(found.map((row) => [row.id, row]));
  });
  afterAll(() => world.close());

  const found = (id: string): Row => {
    const row = rows.get(id);
    if (!row) throw new Error(`the send ${id} is lost`);
    return row;
  };
  const inDoubt = (channel: string): Row[] =>
    [...rows.values()].filter((row) => row.channel === channel && row.reason === 'outcome_unknown');
  const steps = async (id: string): Promise<string[]> =>
    (await history(world.api, id)).map(({ state }) => state);

  it('loses none: what was answered 202 is there once and has come to its end', () => {
    expect(promised).toHaveLength(MAILS + PUSHES);
    expect(new Set(promised.map(({ id }) => id)).size).toBe(MAILS + PUSHES);
    expect(rows.size).toBe(MAILS + PUSHES);
    for (const { id, address } of promised) expect(found(id).address).toBe(address);
    const states = new Set([...rows.values()].map(({ state }) => state));
    expect([...states].filter((state) => !['sent', 'unknown', 'delivered'].includes(state))).toEqual([]);
  });

  it('delivers none twice: no content of a Message-ID, nor a push, is begun a second time', () => {
    expect(timesOf(world.mail.begun.map(({ to }) => to))).toEqual([1]);
    expect(timesOf(world.mail.mails.map(({ raw }) => messageIdOf(raw)))).toEqual([1]);
    expect(timesOf(world.provider.requests.map(({ headers }) => String(headers['webhook-id'])))).toEqual([1]);
    const arrived = new Set(world.mail.mails.map(({ raw }) => messageIdOf(raw)));
    const sent = [...rows.values()].filter((row) => row.channel === 'email' && row.state === 'sent');
    expect(sent.length).toBeGreaterThan(LEFT_BEFORE.mails);
    expect(sent.filter((row) => !arrived.has(row.provider_message_id ?? ''))).toEqual([]);
    expect(arrived.size + inDoubt('email').length).toBeGreaterThanOrEqual(MAILS);
  });

  it('knows what was in a server’s hands as in doubt, and stays with that', async () => {
    const doubtful = new Set(inDoubt('email').map(({ address }) => address));
    expect(inHand.mails.length).toBeGreaterThanOrEqual(IN_HAND.mails);
    expect(inHand.mails.filter((address) => !doubtful.has(address))).toEqual([]);
    const [one] = inDoubt('email');
    expect(await steps(one?.id ?? '')).toEqual(['accepted', 'rendering', 'gated', 'dispatching', 'unknown']);
    for (const { state } of inDoubt('push')) expect(state).toBe('unknown');
  });

  it('lets the provider’s report settle it, whether it comes before the doubt or after', async () => {
    const { api } = world;
    expect(await settled(api, reportedEarly, 'delivered')).toMatchObject({ reason: null, attempts: 1 });
    const late = inDoubt('push').filter(({ id }) => id !== reportedEarly);
    const [first, second, third] = late.map(({ id }) => id);
    const cases = [
      [first, 'delivered', {}],
      [second, 'opened', {}],
      [third, 'bounced', { bounce_type: 'hard' }],
    ] as const;
    for (const [id = '', event, more] of cases) {
      expect(await world.report(reportNow(id, event, more))).toBe(200);
      await settled(api, id, event);
      expect((await steps(id)).slice(-3)).toEqual(['dispatching', 'unknown', event]);
    }
    const early = (await history(api, reportedEarly)).map(({ state }) => state).sort();
    expect(early).toEqual(['accepted', 'delivered', 'dispatching', 'gated', 'rendering', 'unknown']);
    const { body } = await api.get<{ data: { address: string; reason: string }[] }>(
      '/v1/messaging/suppressions?channel=push',
    );
    expect(body.data).toMatchObject([{ address: found(third ?? '').address, reason: 'invalid_token' }]);
  });

  it('lets a report name a message by either id: the provider’s own, or ours', async () => {
    const sent = [...rows.values()].filter((row) => row.channel === 'push' && row.state === 'sent');
    const [one, two] = sent;
    expect(one?.provider_message_id).not.toBe(one?.id);
    expect(await world.report(reportNow(one?.provider_message_id ?? '', 'delivered'))).toBe(200);
    expect(await world.report(reportNow(two?.id ?? '', 'clicked'))).toBe(200);
    await settled(world.api, one?.id ?? '', 'delivered');
    await settled(world.api, two?.id ?? '', 'clicked');
  });
});
