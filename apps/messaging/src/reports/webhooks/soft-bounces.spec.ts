import { randomUUID } from 'node:crypto';
import { jest } from '@jest/globals';
import { Database } from '@customer-platform/database';
import { explained, rowsRead } from '@customer-platform/testing';
import { Suppressions } from '../../people/suppressions/suppressions.service.js';
import { isMatched, NOBODY } from './report-row.js';
import { ReportsRepository } from './reports.repository.js';
import { aReport, type ReportBody } from './signed-calls.fixture.js';
import {
  aPush,
  sent,
  suppressed,
  SUPPRESSIONS,
  webhookWorld,
  type Shop,
  type WebhookWorld,
} from './webhook-world.fixture.js';

const DAY = 86_400_000;
const KEY = '(organization_id, provider, provider_message_id, event_key';

describe('soft bounces of one address', () => {
  let there: WebhookWorld;
  beforeAll(async () => {
    there = await webhookWorld();
  });
  beforeEach(() => there.answerAll());
  afterAll(() => there.close());

  const soft = (messageId: string, day: number): ReportBody =>
    aReport(messageId, 'bounced', {
      bounce_type: 'soft',
      provider_event_id: randomUUID(),
      occurred_at: new Date(Date.UTC(2026, 8, 1) + day * DAY).toISOString(),
    });
  const many = (messageId: string, count: number, apart: number): { events: ReportBody[] } => ({
    events: Array.from({ length: count }, (_, n) => soft(messageId, n * apart)),
  });

  /** As many stored ones as it says, a minute apart, beside one that the address has already. */
  async function store(shop: Shop, messageId: string, count: number): Promise<void> {
    await there.world.database.query(
      `INSERT INTO provider_reports ${KEY}, event, provider_event_id, bounce_type, address_key, occurred_at,
         received_at, applied_at)
       SELECT organization_id, provider, provider_message_id, 'stored ' || n, event, 'stored ' || n, bounce_type,
         address_key, occurred_at - n * interval '1 minute', received_at, applied_at
         FROM provider_reports, generate_series(1, $3::int) AS n
        WHERE organization_id = $1 AND provider_message_id = $2 AND event_key NOT LIKE 'other %'`,
      [shop.id, messageId, count],
    );
  }

  /** Twenty of each of a thousand other addresses: what PostgreSQL takes the one with thousands for, by its statistics. */
  async function storeOthers(shop: Shop, messageId: string): Promise<void> {
    await there.world.database.query(
      `INSERT INTO provider_reports ${KEY}, event, provider_event_id, bounce_type, address_key, occurred_at,
         received_at, applied_at)
       SELECT organization_id, provider, provider_message_id, 'other ' || n, event, 'other ' || n, bounce_type,
         'other ' || n % 1000, occurred_at - n * interval '1 minute', received_at, applied_at
         FROM provider_reports, generate_series(1, 20000) AS n
        WHERE organization_id = $1 AND provider_message_id = $2`,
      [shop.id, messageId],
    );
    await there.world.database.query('ANALYZE provider_reports');
  }

  it('reads ten before and nine after each new one, however many are kept', async () => {
    const shop = await there.shop();
    const { messageId } = await sent(shop.api, aPush());
    await there.report(shop, soft(messageId, 10));
    await storeOthers(shop, messageId);
    await store(shop, messageId, 3_000);
    const [key] = await there.world.database.query<{ organization_id: string; provider: string }>(
      'SELECT organization_id, provider FROM provider_reports WHERE organization_id = $1 LIMIT 1',
      [shop.id],
    );
    const asked = { organization_id: shop.id, provider: key?.provider ?? '', provider_message_id: messageId };
    const repository = there.world.app.app.get(ReportsRepository);
    const read = await there.world.app.app.get(Database).acrossOrganizations(async (tx) => {
      await tx.query('UPDATE provider_reports SET applied_at = NULL WHERE event_key = $1', ['stored 500']);
      const pending = await repository.pending(tx, [{ ...asked, event_key: 'stored 500' }], NOBODY);
      expect(pending).toHaveLength(1);
      const reads: number[] = [];
      const explaining = explained(tx, /LATERAL/, (plan) => reads.push(rowsRead(plan, 'provider_reports')));
      const worn = await repository.countSoft(explaining, pending.filter(isMatched), 10);
      expect(worn.size).toBe(1);
      return reads;
    });
    expect(read).toEqual([19]);
  });

  it('suppresses once for a call full of them, and counts on only once that is lifted', async () => {
    const shop = await there.shop();
    const token = randomUUID();
    const { messageId } = await sent(shop.api, aPush(token));
    const asked = jest.spyOn(there.world.app.app.get(Suppressions), 'add');
    const answers: number[] = [];
    for (let call = 0; call < 3; call += 1) {
      const { status } = await there.report(shop, many(messageId, 500, 0.001));
      answers.push(status);
    }
    expect(answers).toEqual([200, 200, 200]);
    expect(await suppressed(shop.api)).toMatchObject([{ address: token, reason: 'repeated_soft_bounce' }]);
    expect(asked).toHaveBeenCalledTimes(1);
    asked.mockRestore();
    expect((await shop.api.delete(`${SUPPRESSIONS}?channel=push&address=${token}`)).status).toBe(204);
    await there.report(shop, soft(messageId, 60));
    expect(await suppressed(shop.api)).toEqual([]);
    await there.report(shop, soft(messageId, 0.2));
    expect(await suppressed(shop.api)).toHaveLength(1);
  });
});
