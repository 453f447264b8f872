import { randomUUID } from 'node:crypto';
import { newId } from '@customer-platform/database';
import { eventually, type Caller } from '@customer-platform/testing';
import {
  messagingWorld,
  settled,
  shown,
  type MessagingWorld,
  type ShownSend,
} from '../../messaging.fixture.js';

interface Inviting {
  readonly id: string;
  readonly api: Caller;
}

const SETTLED = { within: 20_000 };
const OF_ADDRESS = 12;
const OF_ADDRESS_BY_TENANT = 4;
const OF_TENANT = 1_000;
const OF_ACCOUNT = 20;
const AGE = `UPDATE identity_mails SET counted_at = counted_at - interval '24 hours' WHERE tenant_id = $1`;
const WAKE = `UPDATE sends SET due_at = now() WHERE id = $1 AND state = 'held'`;

let world: MessagingWorld;
let platform: Inviting;
beforeAll(async () => {
  world = await messagingWorld();
  platform = world.organization();
});
afterAll(() => world.close());

/** Told as identity tells of it, of an organization below `tenantId`. @returns the send it becomes */
async function mailed(
  kind: 'invitation' | 'password_reset' | 'account',
  { id: organizationId, api }: Inviting,
  address: string,
  tenantId = organizationId,
): Promise<string> {
  const [id, correlationId] = [newId(), newId()];
  const link = `https://console.example/#token=${randomUUID()}`;
  const place = { platform_organization_id: platform.id, tenant_id: tenantId };
  world.app.registry.link(`${kind}/${id}`, { address, link, organization_name: 'Tienda', ...place });
  const about = { organization_id: organizationId, id };
  const ofUser = { organizationId, correlationId, data: { ...about, user_id: id } };
  await world.probe.publish(
    kind === 'invitation'
      ? {
          type: 'identity.invitation.created.v1',
          organizationId,
          correlationId,
          data: { ...about, locale: 'en', generation: 1, expires_at: inAWeek() },
        }
      : {
          type: kind === 'account' ? 'identity.password.changed.v1' : 'identity.password.reset_requested.v1',
          ...ofUser,
        },
  );
  return eventually(async () => {
    const path = `/v1/messaging/sends?correlation_id=${correlationId}`;
    const [found] = (await api.get<{ data: ShownSend[] }>(path)).body.data;
    if (!found) throw new Error('There is no send yet');
    return found.id;
  }, SETTLED);
}

async function sentAt(api: Caller, id: string): Promise<void> {
  await settled(api, id, 'sent');
}

function inAWeek(): string {
  return new Date(Date.now() + 7 * 86_400_000).toISOString();
}

it('no tenant mails a mailbox more invitations in a day than its share, and the others still reach it', async () => {
  const mailbox = randomUUID();
  const [attacker, child] = [world.organization(), world.organization()];
  const asked: [Inviting, string, string?][] = [
    [attacker, `${mailbox}@example.com`],
    [attacker, `${mailbox}@EXAMPLE.com`],
    [attacker, `${mailbox}+1@example.com`],
    [child, `${mailbox}+2@example.com`, attacker.id],
  ];
  for (const [inviting, ...to] of asked)
    await sentAt(inviting.api, await mailed('invitation', inviting, ...to));
  expect(asked).toHaveLength(OF_ADDRESS_BY_TENANT);

  const held = await mailed('invitation', attacker, `${mailbox}@example.com`);
  const second = await mailed('invitation', child, `${mailbox}+3@example.com`, attacker.id);
  expect((await settled(attacker.api, held, 'held')).reason).toBe('rate_limited');
  await settled(child.api, second, 'held');
  // Nobody blocks another's.
  const other = world.organization();
  await sentAt(other.api, await mailed('invitation', other, `${mailbox}@example.com`));
  // Another kind has places of its own.
  await sentAt(attacker.api, await mailed('password_reset', attacker, `${mailbox}@example.com`));
  // Other mailboxes are not concerned.
  await sentAt(attacker.api, await mailed('invitation', attacker, `${randomUUID()}@example.com`));

  await world.database.query(AGE, [attacker.id]);
  await world.database.query(WAKE, [held]);
  await sentAt(attacker.api, held);
  expect((await shown(child.api, second)).state).toBe('held');
});

it('a mailbox is one, however its domain is written', async () => {
  const [mailbox, inviting] = [randomUUID(), world.organization()];
  for (const domain of ['xn--bcher-kva.example', 'XN--BCHER-KVA.example', 'bücher.example', 'BÜCHER.example'])
    await sentAt(inviting.api, await mailed('invitation', inviting, `${mailbox}@${domain}`));
  const held = await mailed('invitation', inviting, `${mailbox}+1@bücher.example`);
  expect((await settled(inviting.api, held, 'held')).reason).toBe('rate_limited');
});

it('no mailbox gets more invitations in a day than it has places, however many tenants invite', async () => {
  const address = `${randomUUID()}@example.com`;
  const tenants = Array.from({ length: OF_ADDRESS / OF_ADDRESS_BY_TENANT }, () => world.organization());
  for (const tenant of tenants)
    for (let sent = 0; sent < OF_ADDRESS_BY_TENANT; sent++)
      await sentAt(tenant.api, await mailed('invitation', tenant, address));
  const late = world.organization();
  const held = await mailed('invitation', late, address);
  expect((await settled(late.api, held, 'held')).reason).toBe('rate_limited');
});

it('a tenant mails so many invitations in a day, with all organizations below it, and no other tenant is kept from any', async () => {
  const [tenant, child, other] = [world.organization(), world.organization(), world.organization()];
  await world.database.query(
    `INSERT INTO identity_mails (organization_id, send_id, kind, address_key, tenant_id, counted_at)
     SELECT $1, gen_random_uuid(), 'invitation', 'key-' || number, $2, now() FROM generate_series(1, $3) AS number`,
    [platform.id, tenant.id, OF_TENANT - 1],
  );
  const address = () => `${randomUUID()}@example.com`;
  await sentAt(child.api, await mailed('invitation', child, address(), tenant.id));
  for (const inviting of [tenant, child]) {
    const id = await mailed('invitation', inviting, address(), tenant.id);
    expect((await settled(inviting.api, id, 'held')).reason).toBe('rate_limited');
  }
  await sentAt(other.api, await mailed('invitation', other, address()));
  await sentAt(tenant.api, await mailed('password_reset', tenant, address()));
});

it('a mail that is tried again has the place that it had', async () => {
  const inviting = world.organization();
  const address = `${randomUUID()}@example.com`;
  world.mail.treat = (to) => (to === address ? { code: 451, text: 'later', after: 'rcpt' } : undefined);
  const id = await mailed('invitation', inviting, address);
  await eventually(async () => expect((await shown(inviting.api, id)).attempts).toBe(1), SETTLED);
  world.mail.treat = () => undefined;
  // The failed try says last when the next one is due.
  await eventually(async () => {
    await world.database.query(
      `UPDATE sends SET due_at = now() WHERE id = $1 AND due_at > now() AND state <> 'dispatching'`,
      [id],
    );
    expect((await shown(inviting.api, id)).state).toBe('sent');
  }, SETTLED);
  const rows = await world.database.query('SELECT 1 FROM identity_mails WHERE tenant_id = $1', [inviting.id]);
  expect(rows).toHaveLength(1);
});

it('no mailbox gets more mails about its account in a day than it has places, and a colleague’s take none of them', async () => {
  const [one, colleague] = [`${randomUUID()}@example.com`, `${randomUUID()}@example.com`];
  const home = world.organization();
  for (let sent = 0; sent < OF_ACCOUNT; sent++) await sentAt(home.api, await mailed('account', home, one));
  expect((await settled(home.api, await mailed('account', home, one), 'held')).reason).toBe('rate_limited');
  await sentAt(home.api, await mailed('account', home, colleague));
  // Invitations and a new password have places of their own.
  await sentAt(home.api, await mailed('invitation', home, one));
  await sentAt(home.api, await mailed('password_reset', home, one));
});
