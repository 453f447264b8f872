import { newId } from '@customer-platform/database';
import type { ErasureRequested } from '@customer-platform/erasure';
import type { DomainEvent } from '@customer-platform/events';
import {
  anOrganization,
  type Caller,
  contactChange,
  domainEvent,
  expectStatus,
} from '@customer-platform/testing';
import type { TestCrm } from '../crm.fixture.js';
import { ContactRefsConsumer } from './contact-refs.consumer.js';

/** The path of notes. */
export const NOTES = '/v1/crm/notes';
const LISTS = '/v1/crm/lists';

type Completed = DomainEvent<'crm.erasure.completed.v1'>;

/** An organization with contacts, notes, and requests to erase. */
export class ErasureWorld {
  readonly organizationId = anOrganization().id;
  readonly caller: Caller;
  private readonly consumer: ContactRefsConsumer;

  constructor(private readonly crm: TestCrm) {
    this.consumer = crm.app.app.get(ContactRefsConsumer);
    this.caller = crm.app.as(this.organizationId, [
      'crm.notes.create',
      'crm.notes.read',
      'crm.notes.delete',
      'crm.lists.create',
      'crm.lists.read',
      'crm.lists.update',
    ]);
  }

  async contact(): Promise<string> {
    const id = newId();
    await this.consumer.follow([
      domainEvent('core.contact.created.v1', this.organizationId, contactChange(id, 1)),
    ]);
    return id;
  }

  async note(contactId: string): Promise<string> {
    const answer = await this.caller.post<{ id: string }>(NOTES, { contact_id: contactId, body: 'A note' });
    expectStatus(answer, 201);
    return answer.body.id;
  }

  request(contactId: string, contactIds?: string[]): ErasureRequested {
    return domainEvent('core.erasure.requested.v1', this.organizationId, {
      subject_request_id: newId(),
      contact_id: contactId,
      ...(contactIds && { contact_ids: contactIds }),
    });
  }

  /** Core's news of a merge or of its undoing, heard now. */
  hears(verb: 'merged' | 'unmerged', survivor: string, merged: string, version: number): Promise<void> {
    const versions = { survivor_version: version, merged_version: version };
    const data = { merge_id: newId(), survivor_id: survivor, merged_id: merged, ...versions };
    return this.consumer.follow([domainEvent(`core.contact.${verb}.v1`, this.organizationId, data)]);
  }

  /** Parks an event as its consumer would have, had it failed. */
  async parks(type: string, key: string, payload: object): Promise<void> {
    await this.crm.database.query(
      `INSERT INTO parked_events (organization_id, id, consumer, topic, key, event_id, event_type, payload, error,
                                  attempts)
       VALUES ($1, gen_random_uuid(), 'c', 't', $2, gen_random_uuid(), $3, $4, 'E', 1)`,
      [this.organizationId, key, type, JSON.stringify(payload)],
    );
  }

  /** The keys of what is parked. */
  async parked(): Promise<string[]> {
    const rows = await this.crm.database.query<{ key: string }>(
      'SELECT key FROM parked_events WHERE organization_id = $1',
      [this.organizationId],
    );
    return rows.map(({ key }) => key);
  }

  /** A list that holds these contacts, added one after the other. */
  async list(contactIds: readonly string[]): Promise<string> {
    const answer = await this.caller.post<{ id: string }>(LISTS, { name: newId() });
    expectStatus(answer, 201);
    for (const id of contactIds)
      expectStatus(await this.caller.post(`${LISTS}/${answer.body.id}/members`, { contact_ids: [id] }), 200);
    return answer.body.id;
  }

  /** Whom a list counts, and whom it shows. */
  async members(list: string): Promise<{ count: number; ids: string[] }> {
    const [{ body: own }, { body: members }] = [
      await this.caller.get<{ member_count: number }>(`${LISTS}/${list}`),
      await this.caller.get<{ data: { contact_id: string }[] }>(`${LISTS}/${list}/members`),
    ];
    return { count: own.member_count, ids: members.data.map(({ contact_id: id }) => id) };
  }

  async notes(): Promise<number> {
    const [row] = await this.crm.database.query<{ count: number }>(
      'SELECT count(*)::int AS count FROM notes WHERE organization_id = $1',
      [this.organizationId],
    );
    return row?.count ?? NaN;
  }

  /** What was told of a request, oldest first. */
  async told({ data }: ErasureRequested): Promise<Completed[]> {
    const rows = await this.crm.database.query<{ messages: [string, string][] }>(
      'SELECT messages FROM outbox WHERE organization_id = $1 ORDER BY id',
      [this.organizationId],
    );
    return rows
      .flatMap(({ messages }) => messages.map(([, value]) => JSON.parse(value) as Completed))
      .filter(({ type }) => type === 'crm.erasure.completed.v1')
      .filter((each) => each.data.subject_request_id === data.subject_request_id);
  }
}
