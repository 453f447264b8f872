import { randomUUID } from 'node:crypto';
import { Clock } from '@customer-platform/database';
import { eventually, InternalPeer } from '@customer-platform/testing';
import { aContact, messagingWorld, type MessagingWorld } from '../../messaging.fixture.js';
import { Recipients } from './recipients.js';

const SENDS = 30;

interface Question {
  readonly organization_id: string;
  readonly external_id?: string;
  readonly ids?: readonly string[];
}

/** The organizations for which core takes questions and says nothing. */
const hung = new Set<string>();
const asked = new Map<string, number>();
const contacts = new Map<string, ReturnType<typeof aContact>>();
/** Whom core says to be merged, and of whom it says what nobody can read. */
const mergedInto = new Map<string, string>();
const unreadable = new Set<string>();
let core: InternalPeer;
let world: MessagingWorld;
let now = new Date();

function noting<T>(answer: (question: Question) => T): (body: unknown) => T | Promise<never> {
  return (body) => {
    const question = body as Question;
    const { organization_id: id } = question;
    asked.set(id, (asked.get(id) ?? 0) + 1);
    return hung.has(id) ? new Promise<never>(() => undefined) : answer(question);
  };
}

beforeAll(async () => {
  core = await InternalPeer.start({
    'POST /internal/contacts/address': noting(({ external_id: externalId = '' }) => {
      const contact = contacts.get(externalId);
      return contact && { contact_id: contact.id, address: contact.email };
    }),
    'POST /internal/contacts/lookup': noting(({ organization_id, ids = [] }) => ({
      data: [...contacts.values()]
        .filter(({ id }) => ids.includes(id))
        .map((contact) => {
          const common = { organization_id, id: contact.id, version: 1 };
          const survivor = mergedInto.get(contact.id);
          if (unreadable.has(contact.id)) return { ...common, state: 'odd' };
          if (survivor) return { ...common, state: 'merged', merged_into: survivor, contact: null };
          return { ...common, state: 'active', contact };
        }),
    })),
  });
  world = await messagingWorld({ consume: false, env: { CORE_INTERNAL_URL: core.url } });
  world.app.app.get(Clock).now = () => now;
});
afterAll(async () => {
  await world.close();
  await core.close();
});

const to = (organizationId: string, recipient: { external_id: string } | { contact_id: string }) => ({
  id: randomUUID(),
  organizationId,
  contactId: null,
  recipient,
  channel: 'email' as const,
});

describe('recipients whom messaging does not know', () => {
  it('delay nobody else’s sends while core does not answer for their organization', async () => {
    const recipients = world.app.app.get(Recipients, { strict: false });
    const one = world.organization().id;
    const other = world.organization().id;
    const contact = aContact();
    contacts.set(contact.external_id, contact);
    const known = to(other, { external_id: contact.external_id });
    // A busy machine may be as slow as one that hangs.
    const later = () => (now = new Date(now.getTime() + 60_000));
    await eventually(async () => {
      later();
      const found = await recipients.resolve([known]);
      expect(found.get(known.id)).toMatchObject({ kind: 'found', address: contact.email });
    });

    hung.add(one);
    const theirs = Array.from({ length: SENDS }, () => to(one, { external_id: randomUUID() }));
    const byId = Array.from({ length: SENDS }, () => to(one, { contact_id: randomUUID() }));
    const kinds = async (): Promise<string[]> => {
      const found = await recipients.resolve([...theirs, ...byId, known]);
      expect(found.get(known.id)).toMatchObject({ kind: 'found', address: contact.email });
      return [...new Set([...theirs, ...byId].map(({ id }) => found.get(id)?.kind ?? ''))];
    };
    expect(await kinds()).toEqual(['silent']);
    expect(await kinds()).toEqual(['silent']);
    // One question at most was waited for, and the batch after it waited for none.
    expect(asked.get(one) ?? 0).toBeLessThanOrEqual(1);
    later();
    expect(await kinds()).toEqual(['silent']);
    expect(asked.get(one) ?? 0).toBeLessThanOrEqual(2);

    hung.delete(one);
    await eventually(async () => {
      later();
      expect(await kinds()).toEqual(['nobody']);
    });
  }, 60_000);

  it('are known by every writing of their external id, once they are known', async () => {
    const recipients = world.app.app.get(Recipients, { strict: false });
    const { id } = world.organization();
    const contact = { ...aContact(), external_id: `Pe\u00f1a-${randomUUID()}` };
    contacts.set(contact.external_id, contact);
    const writings = [
      contact.external_id,
      contact.external_id.normalize('NFD'),
      `${contact.external_id}\u200b`,
    ];
    for (const external_id of writings) {
      const send = to(id, { external_id });
      await eventually(async () => {
        now = new Date(now.getTime() + 60_000);
        const found = await recipients.resolve([send]);
        expect(found.get(send.id)).toMatchObject({ kind: 'found', address: contact.email });
      });
    }
  }, 60_000);

  it('wait for a survivor of whom core says what cannot be read, whenever they are led to it', async () => {
    const recipients = world.app.app.get(Recipients, { strict: false });
    const { id } = world.organization();
    const [survivor, one, other] = [aContact(), aContact(), aContact()];
    for (const contact of [survivor, one, other]) contacts.set(contact.external_id, contact);
    for (const contact of [one, other]) mergedInto.set(contact.id, survivor.id);
    unreadable.add(survivor.id);
    const [known, late] = [to(id, { contact_id: one.id }), to(id, { contact_id: other.id })];
    const kinds = async (...sends: ReturnType<typeof to>[]): Promise<(string | undefined)[]> => {
      now = new Date(now.getTime() + 60_000);
      const found = await recipients.resolve(sends);
      return sends.map((send) => found.get(send.id)?.kind);
    };
    await eventually(async () => {
      await kinds(known);
      const rows = await world.database.query('SELECT FROM contacts WHERE organization_id = $1', [id]);
      expect(rows).toHaveLength(1);
    });
    // The one asks for the survivor in the turn in which the other learns of it.
    expect(await kinds(known, late)).toEqual(['silent', 'silent']);
    unreadable.clear();
    await eventually(async () => expect(await kinds(known, late)).toEqual(['found', 'found']));
  }, 60_000);
});
