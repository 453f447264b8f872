import { newId } from '@customer-platform/database';
import { PERMISSIONS, type Permission } from '@customer-platform/permissions';
import {
  startTestApp,
  testDatabase,
  type Caller,
  type TestApp,
  type TestDatabase,
  eventually,
} from '@customer-platform/testing';
import { coreApp } from './core.app.js';
import { CORE_MIGRATIONS } from './migrations/core.migrations.js';

/** Every permission of core. */
export const CORE_PERMISSIONS = PERMISSIONS.filter((permission) => permission.startsWith('core.'));

/** Core as its own process would be, on a database and topics of its own. */
export interface TestCore {
  readonly app: TestApp;
  readonly database: TestDatabase;
  /** A client of a fresh organization with these permissions, all of core unless told. */
  anOrganization(
    permissions?: readonly Permission[],
    settings?: Record<string, unknown>,
  ): { id: string; caller: Caller };
  close(): Promise<void>;
}

/** Starts core for a spec file. `whileStarting` sees the environment that the app is started with. */
export async function startCore(
  env: Record<string, string> = {},
  whileStarting: () => void = () => undefined,
): Promise<TestCore> {
  const database = await testDatabase('core', CORE_MIGRATIONS);
  const boot = coreApp();
  const connect: typeof boot.connect = async (app) => {
    whileStarting();
    await boot.connect?.(app);
  };
  const app = await startTestApp({ ...boot, connect, database, env });
  return {
    app,
    database,
    anOrganization: (permissions = CORE_PERMISSIONS, settings) => {
      const id = newId();
      return { id, caller: app.as(id, permissions, settings) };
    },
    close: async () => {
      await app.close();
      await database.drop();
    },
  };
}

/** A track body that is right; every call has another idempotency key. */
export function aTrack(overrides: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    event: 'invoice_paid',
    external_id: `person-${newId()}`,
    idempotency_key: newId(),
    occurred_at: '2026-01-15T12:00:00.000Z',
    properties: { amount: 12_990, currency: 'CLP', invoice_id: 'INV-1' },
    ...overrides,
  };
}

/** An identify body that is right. */
export function anIdentify(overrides: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    external_id: `person-${newId()}`,
    idempotency_key: newId(),
    occurred_at: '2026-01-15T12:00:00.000Z',
    traits: { first_name: 'Ana' },
    ...overrides,
  };
}

/** How long a spec's `beforeAll` may take when it waits for {@link processing}. */
export const START_MS = 120_000;

/** Resolves when the worker processes: joining its group takes seconds, which are no part of any test. */
export async function processing(core: TestCore): Promise<void> {
  const { id, caller } = core.anOrganization();
  await accepted(caller, aTrack());
  await eventually(
    async () => {
      const rows = await core.database.query('SELECT 1 FROM events WHERE organization_id = $1', [id]);
      if (rows.length === 0) throw new Error('the first event is not stored yet');
    },
    { within: START_MS - 30_000 },
  );
}

/**
 * Sends an event until it is accepted, as a client should: a 503 is waited out as its `Retry-After` asks, and not by
 * all at the same moment. A machine with more to do than it can is too late with a 202 now and then.
 */
export async function accepted(
  caller: Caller,
  body: Record<string, unknown>,
  path = '/v1/core/track',
): Promise<{ event_id: string }> {
  const send = async (): Promise<{ event_id: string }> => {
    const answer = await caller.post<{ event_id: string }>(path, body);
    if (answer.status !== 202) throw new Error(`${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  return eventually(send, { within: 60_000, every: 1_000 + Math.random() * 1_000 });
}
