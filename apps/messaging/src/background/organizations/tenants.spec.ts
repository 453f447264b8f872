import { AuthorizationSource } from '@customer-platform/authorization';
import { Clock, newId } from '@customer-platform/database';
import { eventually } from '@customer-platform/testing';
import { messagingWorld, type MessagingWorld } from '../../messaging.fixture.js';
import { Tenants } from './tenants.js';

/** A clock that a test moves. */
class StoppedClock extends Clock {
  at = Date.parse('2026-11-22T12:00:00.000Z');

  override now(): Date {
    return new Date(this.at);
  }
}

describe('the tenant of an organization', () => {
  let world: MessagingWorld;
  beforeAll(async () => {
    world = await messagingWorld();
  }, 60_000);
  afterAll(() => world.close());

  const asking = (clock = new Clock()): Tenants =>
    new Tenants(world.app.app.get(AuthorizationSource, { strict: false }), clock);

  it('is its own until the registry has said which it is', async () => {
    const [child, tenant] = [newId(), newId()];
    world.app.registry.organization(child, { tenant });
    const tenants = asking();
    expect([tenants.of(child), tenants.whoseTurn(child)]).toEqual([child, undefined]);
    await eventually(() => expect(tenants.of(child)).toBe(tenant));
    expect(tenants.whoseTurn(child)).toBe(tenant);
  });

  it('is known from the first request on that is made for it, of whom the registry says nothing else', async () => {
    const { app } = world;
    const [child, tenant] = [newId(), newId()];
    const permissions = ['messaging.templates.create'] as const;
    const api = app.with(app.registry.key({ organizationId: child, permissions, tenant }));
    const body = {
      name: newId(),
      channel: 'sms',
      default_locale: 'en',
      locales: { en: { text: 'Hello' } },
    };
    expect((await api.post('/v1/messaging/templates', body)).status).toBe(201);
    expect(app.app.get(Tenants, { strict: false }).of(child)).toBe(tenant);
  });

  it('is known of all of many that were asked for at once', async () => {
    const tenant = newId();
    const children = Array.from({ length: 30 }, () => newId());
    for (const child of children) world.app.registry.organization(child, { tenant });
    const tenants = asking();
    for (const child of children) tenants.of(child);
    await eventually(() => {
      expect(new Set(children.map((child) => tenants.of(child)))).toEqual(new Set([tenant]));
    });
  });

  it('is asked for again a minute later where the registry did not know it', async () => {
    const [child, tenant] = [newId(), newId()];
    const clock = new StoppedClock();
    const tenants = asking(clock);
    expect(tenants.of(child)).toBe(child);
    world.app.registry.organization(child, { tenant });
    await eventually(() => {
      clock.at += 61_000;
      expect(tenants.of(child)).toBe(tenant);
    });
  });
});
