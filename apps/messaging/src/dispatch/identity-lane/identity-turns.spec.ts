import { randomUUID } from 'node:crypto';
import { newId } from '@customer-platform/database';
import { eventually } from '@customer-platform/testing';
import { messagingWorld, type MessagingWorld } from '../../messaging.fixture.js';
import { Tenants } from '../../background/organizations/tenants.js';

const SETTLED = { within: 30_000 };
const CHILDREN = 200;
/** The number in hand at once. */
const BATCH = 32;

let world: MessagingWorld;
let platformId: string;
beforeAll(async () => {
  world = await messagingWorld();
  platformId = world.organization().id;
});
afterAll(() => world.close());

/** An invitation of an organization, as identity tells of it. */
function anInvitation(organizationId: string) {
  const [id, address] = [newId(), `${randomUUID()}@example.com`];
  const link = `https://console.example/#token=${randomUUID()}`;
  const said = { address, link, organization_name: 'Tienda', platform_organization_id: platformId };
  world.app.registry.link(`invitation/${id}`, said);
  const expires_at = new Date(Date.now() + 3_600_000).toISOString();
  const data = { organization_id: organizationId, id, locale: 'en', generation: 1, expires_at };
  return { address, event: { type: 'identity.invitation.created.v1' as const, organizationId, data } };
}

it('a tenant that invites by two hundred organizations it has founded has the turns of one', async () => {
  const tenant = newId();
  const children = Array.from({ length: CHILDREN }, () => newId());
  for (const id of children) world.app.registry.organization(id, { tenant });
  const tenants = world.app.app.get(Tenants, { strict: false });
  await eventually(
    () => expect(new Set(children.map((id) => tenants.of(id)))).toEqual(new Set([tenant])),
    SETTLED,
  );

  let answer: () => void = () => undefined;
  world.mail.answersAfter = new Promise<void>((resolve) => (answer = resolve));
  const flood = children.map(anInvitation);
  await world.probe.publish(...flood.map(({ event }) => event));
  const theirs = new Set(flood.map(({ address }) => address));
  await eventually(() => {
    expect(world.mail.begun.some(({ to }) => theirs.has(to))).toBe(true);
  }, SETTLED);
  // Its ids are after all of theirs: whoever goes from organization to organization comes to it last.
  const one = anInvitation(world.organization().id);
  await world.probe.publish(one.event);
  await eventually(async () => {
    const waiting = await world.database.query('SELECT 1 FROM sends WHERE organization_id = $1', [
      one.event.organizationId,
    ]);
    expect(waiting).toHaveLength(1);
  }, SETTLED);
  answer();
  world.mail.answersAfter = Promise.resolve();
  await eventually(() => expect(world.mail.to(one.address)).toHaveLength(1), SETTLED);
  const before = world.mail.begun.slice(
    0,
    world.mail.begun.findIndex(({ to }) => to === one.address),
  );
  // Those in hand when it came, and as many again at most.
  expect(before.filter(({ to }) => theirs.has(to)).length).toBeLessThanOrEqual(2 * BATCH);
  await eventually(() => {
    expect(flood.every(({ address }) => world.mail.to(address).length === 1)).toBe(true);
  }, SETTLED);
}, 90_000);
