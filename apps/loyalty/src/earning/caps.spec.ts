import { randomUUID } from 'node:crypto';
import { type KafkaProbe, type TestApp, expectStatus, kafkaProbe } from '@customer-platform/testing';
import {
  type LoyaltyWorld,
  MARKERS,
  aLoyaltyWorld,
  aRecordedEvent,
  aRuleBody,
  startLoyalty,
} from '../loyalty.fixture.js';
import type { RuleDto } from '../rules/rule.dto.js';

let app: TestApp;
let probe: KafkaProbe;
let close: () => Promise<void>;
let world: LoyaltyWorld;
beforeAll(async () => {
  ({ app, close } = await startLoyalty());
  probe = kafkaProbe(app);
});
afterAll(() => close());
beforeEach(() => {
  world = aLoyaltyWorld(app, probe);
});

/** A rule that gives 6 points for anything, 10 at most within the period. */
const capped = (max_per_contact: object): Promise<RuleDto> =>
  world.rule({
    formula: { type: 'fixed', points: 6 },
    valid_from: '2020-01-01T00:00:00Z',
    max_per_contact: { points: 10, ...max_per_contact },
  });

/** What events at these instants earn one contact, in the order in which they arrive: those of a list come together. */
async function earnedAt(
  instants: readonly (readonly string[])[],
  contact_id: string = randomUUID(),
): Promise<number[]> {
  const points: number[] = [];
  for (const together of instants) {
    const events = together.map((occurred_at) => aRecordedEvent({ contact_id, occurred_at }));
    await world.record(...events);
    for (const { event_id: id } of events) {
      const rows = await world.transactions(`event_id=${id}`);
      points.push(rows.reduce((sum, row) => sum + row.points, 0));
    }
  }
  return points;
}

describe('a cap for each contact', () => {
  it.each([
    // The beginning of a period and the beginning of the next one.
    ['month', 'America/Santiago', '2026-02-01T03:00:00.000Z', '2026-03-01T03:00:00.000Z'],
    ['month', 'America/Santiago', '2026-04-01T03:00:00.000Z', '2026-05-01T04:00:00.000Z'],
    ['month', 'UTC', '2024-02-01T00:00:00.000Z', '2024-03-01T00:00:00.000Z'],
    ['year', 'Asia/Tokyo', '2023-12-31T15:00:00.000Z', '2024-12-31T15:00:00.000Z'],
    ['year', 'Pacific/Kiritimati', '2025-12-31T10:00:00.000Z', '2026-12-31T10:00:00.000Z'],
    ['year', 'America/Santiago', '2025-01-01T03:00:00.000Z', '2026-01-01T03:00:00.000Z'],
    ['day', 'Asia/Kathmandu', '2024-02-28T18:15:00.000Z', '2024-02-29T18:15:00.000Z'],
    // A day of 25 hours; one of 23 hours, which begins at one o'clock; the day after it; one whose midnight comes twice.
    ['day', 'America/Santiago', '2026-04-04T03:00:00.000Z', '2026-04-05T04:00:00.000Z'],
    ['day', 'America/Santiago', '2025-09-07T04:00:00.000Z', '2025-09-08T03:00:00.000Z'],
    ['day', 'America/Santiago', '2025-09-08T03:00:00.000Z', '2025-09-09T03:00:00.000Z'],
    ['day', 'America/Havana', '2025-11-02T04:00:00.000Z', '2025-11-03T05:00:00.000Z'],
  ])('of a %s in %s holds from its first instant until before the next one’s: %s', async (...given) => {
    const [period, timezone, first, next] = given;
    const justBefore = (instant: string): string => new Date(Date.parse(instant) - 1).toISOString();
    await capped({ period, timezone });
    const earned = await earnedAt([
      [first, justBefore(next)],
      [first, justBefore(first), next, justBefore(next)],
    ]);
    expect(earned).toEqual([6, 4, 0, 6, 6, 0]);
  });

  it('of a lifetime holds for ever, and once more for what is reversed', async () => {
    await capped({ period: 'lifetime' });
    const contact_id = randomUUID();
    const years = ['2020-01-01T00:00:00.000Z', '2023-06-01T00:00:00.000Z', '2025-06-01T00:00:00.000Z'];
    expect(await earnedAt([years], contact_id)).toEqual([6, 4, 0]);
    const rows = await world.transactions(`contact_id=${contact_id}`);
    const first = rows.find((row) => row.occurred_at === years[0]);
    await world.post({ kind: 'reverse', reverses_id: first?.id, reason: 'returned' });
    expect(await earnedAt([['2025-07-01T00:00:00.000Z']], contact_id)).toEqual([6]);
  });

  it('takes the organization’s time zone where it names none', async () => {
    const answer = await world.caller.post<RuleDto>(
      '/v1/loyalty/rules',
      aRuleBody({ max_per_contact: { points: 10, period: 'month' } }),
    );
    expectStatus(answer, 201);
    expect(answer.body.max_per_contact).toEqual({
      points: 10,
      period: 'month',
      timezone: 'America/Santiago',
    });
  });

  it('is cut alike for events that come together, each rule and each contact by itself', async () => {
    await capped({ period: 'month', timezone: 'UTC' });
    await capped({ period: 'day', timezone: 'UTC' });
    const people = [randomUUID(), randomUUID()];
    const days = ['2026-05-01', '2026-05-01', '2026-05-02', '2026-05-31', '2026-06-01'];
    await world.record(
      ...people.flatMap((contact_id) =>
        days.map((day) => aRecordedEvent({ contact_id, occurred_at: `${day}T12:00:00.000Z` })),
      ),
    );
    // By month 10 and 6; by day 10, 6, 6 and 6.
    for (const id of people) expect((await world.balance(id)).points).toBe(44 + MARKERS);
  });

  it('is not used up by an event that comes again, first or last', async () => {
    await capped({ period: 'month', timezone: 'UTC' });
    const contact_id = randomUUID();
    const [first, second] = ['01', '02'].map((day) =>
      aRecordedEvent({ contact_id, occurred_at: `2026-05-${day}T12:00:00.000Z` }),
    ) as [ReturnType<typeof aRecordedEvent>, ReturnType<typeof aRecordedEvent>];
    await world.record(first, first);
    await world.record(first, second, second);
    const rows = await world.transactions(`contact_id=${contact_id}&sort=occurred_at`);
    expect(rows.filter(({ event_id: id }) => [first, second].some((event) => event.event_id === id))).toEqual(
      [
        expect.objectContaining({ event_id: first.event_id, points: 6 }),
        expect.objectContaining({ event_id: second.event_id, points: 4 }),
      ],
    );
  });

  it('counts what a rule gave before its version changed', async () => {
    const rule = await capped({ period: 'month', timezone: 'UTC' });
    const contact_id = randomUUID();
    expect(await earnedAt([['2026-05-01T12:00:00.000Z']], contact_id)).toEqual([6]);
    const answer = await world.caller.patch<RuleDto>(`/v1/loyalty/rules/${rule.id}`, {
      max_per_contact: { points: 8, period: 'year' },
    });
    expectStatus(answer, 200);
    const received_at = new Date(Date.now() + 1_000).toISOString();
    const later = aRecordedEvent({ contact_id, occurred_at: '2026-11-01T12:00:00.000Z', received_at });
    await world.record(later);
    expect(await world.transactions(`event_id=${later.event_id}`)).toEqual([
      expect.objectContaining({ points: 2, rule_version: 2 }),
    ]);
  });

  it('is found by what counts where a rule has given a contact more often than is looked at first', async () => {
    await world.rule({
      formula: { type: 'fixed', points: 1 },
      valid_from: '2020-01-01T00:00:00Z',
      max_per_contact: { points: 150, period: 'month', timezone: 'UTC' },
    });
    const contact_id = randomUUID();
    const purchases = (count: number, occurred_at: string) =>
      Array.from({ length: count }, () => aRecordedEvent({ contact_id, occurred_at }));
    await world.record(...purchases(120, '2026-05-10T12:00:00.000Z'));
    await world.record(
      ...purchases(40, '2026-05-11T12:00:00.000Z'),
      ...purchases(5, '2026-06-01T00:00:00.000Z'),
    );
    expect((await world.balance(contact_id)).points).toBe(150 + 5 + 2 * MARKERS);
  });
});
