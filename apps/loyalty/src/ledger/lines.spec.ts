import { randomUUID } from 'node:crypto';
import {
  type KafkaProbe,
  type TestApp,
  expectProblem,
  expectStatus,
  kafkaProbe,
} from '@customer-platform/testing';
import { type LookedUpContact, type LoyaltyWorld, aLoyaltyWorld, startLoyalty } from '../loyalty.fixture.js';
import type { TransactionDto } from './transaction.dto.js';

const PATH = '/v1/loyalty/transactions';
const LOTS = 110;

let app: TestApp;
let contacts: LookedUpContact[];
let probe: KafkaProbe;
let close: () => Promise<void>;
let world: LoyaltyWorld;
beforeAll(async () => {
  ({ app, contacts, close } = await startLoyalty());
  probe = kafkaProbe(app);
});
afterAll(() => close());
beforeEach(() => {
  world = aLoyaltyWorld(app, probe);
});

interface LinesPage {
  data: { lot_id: string; points: number }[];
  page: { next_cursor: string | null };
}

describe('GET /v1/loyalty/transactions/{id}/lines', () => {
  it('lists what a debit took from more lots than its answer shows', async () => {
    const contact_id = randomUUID();
    contacts.push({ id: contact_id, state: 'active', merged_into: null, version: 1 });
    const lots = await Promise.all(
      Array.from({ length: LOTS }, () => world.post({ kind: 'adjust', contact_id, points: 2, reason: 'x' })),
    );
    const debit = await world.post({ kind: 'spend', contact_id, points: 2 * LOTS - 1 });
    expect(debit).toMatchObject({ points: 1 - 2 * LOTS, line_count: LOTS });
    expect(debit.lines).toHaveLength(100);
    const lines: LinesPage['data'] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const query: string = cursor === '' ? '' : `&cursor=${cursor}`;
      const answer = await world.caller.get<LinesPage>(`${PATH}/${debit.id}/lines?limit=60${query}`);
      expectStatus(answer, 200);
      lines.push(...answer.body.data);
      cursor = answer.body.page.next_cursor;
    }
    expect(lines.slice(0, 100)).toEqual(debit.lines);
    expect(lines.map(({ lot_id: id }) => id)).toEqual(lots.map(({ id }) => id).sort());
    expect(lines.reduce((sum, { points }) => sum + points, 0)).toBe(debit.points);
    const reversal = await world.post({ kind: 'reverse', reverses_id: debit.id, reason: 'x' });
    expect(reversal.line_count).toBe(LOTS);
  });

  it('404 for a transaction that is nowhere, or another organization’s', async () => {
    const contact_id = randomUUID();
    contacts.push({ id: contact_id, state: 'active', merged_into: null, version: 1 });
    const { id }: TransactionDto = await world.post({ kind: 'adjust', contact_id, points: 2, reason: 'x' });
    const stranger = aLoyaltyWorld(app, probe);
    expectProblem(await stranger.caller.get(`${PATH}/${id}/lines`), 404, 'not_found');
    expectProblem(await world.caller.get(`${PATH}/${randomUUID()}/lines`), 404, 'not_found');
  });
});
