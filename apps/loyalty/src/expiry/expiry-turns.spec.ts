import { randomUUID } from 'node:crypto';
import { jest } from '@jest/globals';
import { Tenants } from '@customer-platform/authorization';
import { Clock, Database, newId } from '@customer-platform/database';
import { eventually, kafkaProbe } from '@customer-platform/testing';
import { aLoyaltyWorld, startLoyalty } from '../loyalty.fixture.js';
import { ExpirySweep } from './expiry.sweep.js';
import { LotExpiry } from './lot-expiry.service.js';

const CHILDREN = 12;

let loyalty: Awaited<ReturnType<typeof startLoyalty>>;
beforeAll(async () => {
  loyalty = await startLoyalty();
});
afterAll(() => loyalty.close());

it('the sweep ends lots of tenants in turn, however many organizations one of them has', async () => {
  const { app, database, contacts } = loyalty;
  const tenant = newId();
  const ids: string[] = [];
  for (let each = 0; each <= CHILDREN; each += 1) {
    const world = aLoyaltyWorld(app, kafkaProbe(app));
    const contact = randomUUID();
    contacts.push({ id: contact, state: 'active', merged_into: null, version: 1 });
    const body = { kind: 'adjust', contact_id: contact, points: 7, reason: 'x' };
    await world.post({ ...body, expires_at: '2090-01-01T00:00:00.000Z' });
    ids.push(world.organizationId);
  }
  const neighbour = ids.at(-1) ?? '';
  const children = ids.slice(0, CHILDREN);
  for (const id of children) app.registry.organization(id, { tenant });
  const tenants = app.app.get(Tenants, { strict: false });
  await eventually(() => {
    expect(new Set(children.map((id) => tenants.of(id)))).toEqual(new Set([tenant]));
  });
  const expiry = app.app.get(LotExpiry);
  const ended = jest.spyOn(expiry, 'expireDue');
  // Another clock than the sweep's that runs by itself.
  const later = Object.assign(new Clock(), { now: () => new Date('2091-01-01') });
  await new ExpirySweep(app.app.get(Database), expiry, later, tenants).sweep();
  const order = ended.mock.calls.map(([tx]) => tx.organizationId).filter((id) => ids.includes(id));
  ended.mockRestore();
  expect(new Set(order)).toEqual(new Set(ids));
  expect(order.indexOf(neighbour)).toBeLessThanOrEqual(1);
  const left = await database.query(
    'SELECT FROM lot_balances WHERE remaining > 0 AND organization_id = ANY($1::uuid[])',
    [ids],
  );
  expect(left).toHaveLength(0);
});
