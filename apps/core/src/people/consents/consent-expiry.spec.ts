import { jest } from '@jest/globals';
import { Clock, newId } from '@customer-platform/database';
import { behindLock, eventually, kafkaProbe } from '@customer-platform/testing';
import { startCore, START_MS, type TestCore } from '../../core.fixture.js';
import { merge, undo } from '../merges/merge.fixture.js';
import { aConsentWorld, aContactRow, aGrant } from './consent.fixture.js';

const HOUR_MS = 3_600_000;
const GRANTED_ANEW = `
  INSERT INTO consent_events (organization_id, id, contact_id, purpose, channel, status, notice_version, method,
    legal_basis, occurred_at, controller, actor_type, actor_id, correlation_id, recorded_at)
  VALUES ($1, $2, $3, 'marketing', 'email', 'granted', '1', 'form', 'consent', $4, $1, 'service', 'other', $2, $4)`;

const WAITING = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;

let core: TestCore;
beforeAll(async () => {
  core = await startCore();
}, START_MS);
afterAll(() => core.close());

it('tells of no end of a grant that was given anew while its end waited for the contact', async () => {
  const probe = kafkaProbe(core.app);
  probe.collect('core');
  const { organizationId, contactId, caller, path } = await aConsentWorld(core);
  const say = async (overrides: Record<string, unknown>): Promise<void> =>
    expect(await caller.post(path, aGrant(overrides))).toMatchObject({ status: 201 });
  await say({ expires_at: new Date(Date.now() + HOUR_MS).toISOString() });
  const later = (): Date => new Date(Date.now() + 2 * HOUR_MS);
  const left = 'SELECT FROM consent_expirations WHERE organization_id = $1';
  const held = {
    sql: 'SELECT FROM contacts WHERE organization_id = $1 AND id = $2 FOR UPDATE',
    values: [organizationId, contactId],
  };
  const clock = jest.spyOn(core.app.app.get(Clock), 'now');
  try {
    await behindLock(
      core.database,
      held,
      async () => {
        clock.mockImplementation(later);
        await eventually(async () => expect(await core.database.query(left, [organizationId])).toEqual([]));
      },
      (holder) => holder.query(GRANTED_ANEW, [organizationId, newId(), contactId, later()]),
    );
  } finally {
    clock.mockRestore();
  }
  // Of the same contact, and so behind whatever was told before.
  await say({ purpose: 'loyalty' });
  await probe.expectEvents('core.consent.recorded.v1', organizationId, 2);
  expect(probe.events('core.consent.expired.v1', organizationId)).toEqual([]);
});

it('tells of the end of a grant whose contact parts from another while its end waits for that one', async () => {
  const probe = kafkaProbe(core.app);
  probe.collect('core');
  const { organizationId, contactId, caller, path } = await aConsentWorld(core);
  const survivorId = await aContactRow(core, organizationId);
  const expires_at = new Date(Date.now() + HOUR_MS).toISOString();
  expect(await caller.post(path, aGrant({ expires_at }))).toMatchObject({ status: 201 });
  const admin = core.app.as(organizationId, ['core.contacts.merge']);
  const done = await merge(admin, { id: survivorId }, { id: contactId });
  const clock = jest.spyOn(core.app.app.get(Clock), 'now');
  try {
    await behindLock(
      core.database,
      { sql: 'SELECT FROM contacts WHERE id = $1 FOR UPDATE', values: [survivorId] },
      () => undo(admin, done),
      async () => {
        clock.mockImplementation(() => new Date(Date.now() + 2 * HOUR_MS));
        await eventually(async () => expect(await core.database.query(WAITING)).toHaveLength(2));
      },
    );
    const [told] = await probe.expectEvents('core.consent.expired.v1', organizationId, 1);
    expect(told?.data.contact_id).toBe(contactId);
  } finally {
    clock.mockRestore();
  }
});
