import { randomUUID } from 'node:crypto';
import { connectEventBus } from '@customer-platform/event-bus';
import type { EventData } from '@customer-platform/events';
import { type TestApp, type TestDatabase, startTestApp, testDatabase } from '@customer-platform/testing';
import { LoyaltyModule } from './loyalty.module.js';
import { migrations } from './migrations/index.js';

/** The module as its own process would run it, on a database of its own. */
export async function startLoyalty(): Promise<{
  app: TestApp;
  database: TestDatabase;
  close(): Promise<void>;
}> {
  const database = await testDatabase('loyalty', migrations);
  const app = await startTestApp({
    module: 'loyalty',
    root: LoyaltyModule,
    database,
    connect: connectEventBus,
  });
  return {
    app,
    database,
    close: async () => {
      await app.close();
      await database.drop();
    },
  };
}

/** A purchase that a rule can earn points for; override one thing. */
export function aRecordedEvent(
  overrides: Partial<EventData<'core.event.recorded.v1'>> = {},
): EventData<'core.event.recorded.v1'> {
  return {
    event_id: randomUUID(),
    contact_id: randomUUID(),
    external_id: 'customer-1',
    event: 'purchase_completed',
    occurred_at: new Date().toISOString(),
    received_at: new Date().toISOString(),
    properties: { amount: 12_990, currency: 'CLP', invoice_id: 'F-1' },
    ...overrides,
  };
}

/** A body for `POST /v1/loyalty/rules`; override one thing. */
export function aRuleBody(overrides: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    name: `Rule ${randomUUID()}`,
    event: 'purchase_completed',
    formula: { type: 'per_amount', currency: 'CLP', per: 1_000, points: 1 },
    ...overrides,
  };
}
