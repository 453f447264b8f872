import { newId } from '@customer-platform/database';
import type { DomainEvent } from '@customer-platform/events';
import {
  anOrganization,
  type Answer,
  type Caller,
  contactChange,
  domainEvent,
  expectStatus,
} from '@customer-platform/testing';
import { ContactRefsConsumer } from '../contact-refs/contact-refs.consumer.js';
import type { TestCrm } from '../crm.fixture.js';
import type { AddedMembersDto, ListMemberDto } from './list-member.dto.js';
import type { ListDto } from './list.dto.js';

/** Where lists are. */
export const LISTS = '/v1/crm/lists';

const ACTIONS = ['create', 'read', 'update', 'delete', 'purge'] as const;

/** An organization with a caller who may do everything with lists, its contacts told of by core's events. */
export class ListWorld {
  readonly organizationId = anOrganization().id;
  readonly caller: Caller;
  private readonly consumer: ContactRefsConsumer;
  private lists = 0;
  private version = 1;

  constructor(private readonly crm: TestCrm) {
    this.caller = crm.app.as(
      this.organizationId,
      ACTIONS.map((action) => `crm.lists.${action}` as const),
    );
    this.consumer = crm.app.app.get(ContactRefsConsumer);
  }

  async list(body: object = {}): Promise<ListDto> {
    this.lists += 1;
    const given = { name: `List ${String(this.lists)}`, ...body };
    const answer = await this.caller.post<ListDto>(LISTS, given);
    expectStatus(answer, 201);
    return answer.body;
  }

  /** Contacts that core has told of. */
  async contacts(count: number): Promise<string[]> {
    const ids = Array.from({ length: count }, () => newId());
    await this.consumer.follow(
      ids.map((id) => domainEvent('core.contact.created.v1', this.organizationId, contactChange(id, 1))),
    );
    return ids;
  }

  add({ id }: { id: string }, contactIds: readonly unknown[], headers?: Record<string, string>) {
    const body = { contact_ids: contactIds };
    return this.caller.post<AddedMembersDto>(`${LISTS}/${id}/members`, body, headers);
  }

  async count({ id }: { id: string }): Promise<number> {
    return (await this.caller.get<ListDto>(`${LISTS}/${id}`)).body.member_count;
  }

  async members({ id }: { id: string }, query = '?sort=added_at'): Promise<ListMemberDto[]> {
    const answer: Answer<{ data: ListMemberDto[] }> = await this.caller.get(`${LISTS}/${id}/members${query}`);
    expectStatus(answer, 200);
    return answer.body.data;
  }

  async idsOn(list: { id: string }, query?: string): Promise<string[]> {
    return (await this.members(list, query)).map(({ contact_id: id }) => id);
  }

  async merge(survivor: string, merged: string, verb: 'merged' | 'unmerged' = 'merged'): Promise<void> {
    this.version += 1;
    const told: DomainEvent<'core.contact.merged.v1' | 'core.contact.unmerged.v1'> = domainEvent(
      `core.contact.${verb}.v1`,
      this.organizationId,
      {
        merge_id: newId(),
        survivor_id: survivor,
        merged_id: merged,
        survivor_version: this.version,
        merged_version: this.version,
      },
    );
    await this.consumer.follow([told]);
  }

  async end(id: string, verb: 'purged' | 'erased'): Promise<void> {
    this.version += 1;
    const end = { contact_id: id, version: this.version, changed_fields: [], contact: null };
    await this.consumer.follow([domainEvent(`core.contact.${verb}.v1`, this.organizationId, end)]);
  }

  /** What the rows say, against what the list says of itself. */
  async countedRows({ id }: { id: string }): Promise<{ shown: number; contacts: number }> {
    const [row] = await this.crm.database.query<{ shown: number; contacts: number }>(
      `SELECT count(*) FILTER (WHERE shown)::int AS shown, count(DISTINCT contact_id)::int AS contacts
         FROM list_members WHERE organization_id = $1 AND list_id = $2`,
      [this.organizationId, id],
    );
    return row ?? { shown: NaN, contacts: NaN };
  }
}
