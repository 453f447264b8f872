import { Injectable } from '@nestjs/common';
import { Audit } from '@customer-platform/audit';
import {
  ContactReferences,
  ContactRefs,
  ContactRowsRegistry,
  REFUSALS,
  type ContactReference,
  type RefusedReference,
} from '@customer-platform/contact-refs';
import {
  Clock,
  Database,
  isUuid,
  pageOf,
  type ReferenceSource,
  type Transaction,
} from '@customer-platform/database';
import { Outbox } from '@customer-platform/event-bus';
import type { ListQuery, Page, RequestContext } from '@customer-platform/http';
import { Problem, type FieldError } from '@customer-platform/problem-json';
import { membersEvent } from './list.entity.js';
import type { AddedMembersDto, ListMemberDto } from './list-member.dto.js';
import { LIST_MEMBER_ROWS } from './list-member-rows.js';
import { ListMembersRepository } from './list-members.repository.js';
import { ListsService } from './lists.service.js';

const MOST_MEMBERS = 100_000;

/** What core is told before it purges a contact. */
export const LIST_MEMBERS_ON_CONTACTS: ReferenceSource = {
  to: 'core.contacts',
  resource: 'list-members',
  count: `SELECT count(*)::int AS count FROM list_members
           WHERE organization_id = $1 AND contact_id = $2 AND shown`,
};

const SELECT = `
  SELECT contact_id, added_at, added_by_type, added_by_id FROM list_members
   WHERE organization_id = $1 AND list_id = $2 AND shown`;

interface MemberRow {
  contact_id: string;
  added_at: Date;
  added_by_type: string;
  added_by_id: string;
}

/** Who is on a list (crm.md §2). */
@Injectable()
export class ListMembersService {
  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
    private readonly lists: ListsService,
    private readonly members: ListMembersRepository,
    private readonly references: ContactReferences,
    private readonly contacts: ContactRefs,
    private readonly audit: Audit,
    private readonly outbox: Outbox,
    contactRows: ContactRowsRegistry,
  ) {
    contactRows.add(LIST_MEMBER_ROWS);
  }

  /** Of a soft-deleted list too. @throws Problem `not_found`, `dependency_unavailable` */
  async list(context: RequestContext, listId: string, query: ListQuery): Promise<Page<ListMemberDto>> {
    await this.lists.get(context, listId);
    const resolved = await this.references.resolveFilters(context.organizationId, query);
    return this.database.inOrganization(context, (tx) =>
      pageOf<MemberRow, ListMemberDto>(tx, SELECT, resolved, {
        parameters: [context.organizationId, listId],
        map: toListMemberDto,
      }),
    );
  }

  /**
   * Adds those that can be added, though others cannot.
   * @throws Problem `validation_failed` for a malformed id; `reference_not_found`, `reference_deleted` when none can be
   * added; `list_full`, `resource_deleted`, `not_found`, `dependency_unavailable`: nothing is added then
   */
  async add(context: RequestContext, listId: string, given: readonly unknown[]): Promise<AddedMembersDto> {
    const ids = readIds(given);
    await this.lists.get(context, listId);
    return this.references.referAll(context.organizationId, ids, async (tx, references) => {
      const { memberCount } = await this.lists.lockActive(context, tx, listId);
      const rejected = references.flatMap((each, index) =>
        'code' in each ? [{ index, contact_id: ids[index] ?? '', code: published(each.code) }] : [],
      );
      if (rejected.length === ids.length) throw allRejected(references);
      const found = [...new Set(references.flatMap((each) => ('code' in each ? [] : [each.contactId])))];
      const by = { byType: context.principal.type, byId: context.principal.id };
      const added = await this.members.add(tx, listId, found, { at: this.clock.now(), ...by });
      if (added.size > 0 && memberCount + added.size > MOST_MEMBERS) throw full();
      await this.settle(tx, context, 'added', listId, [...added]);
      return { added: added.size, unchanged: ids.length - rejected.length - added.size, rejected };
    });
  }

  /**
   * Removes contacts, on the list or not; core is not asked, for who is on a list is known here.
   * @throws Problem `validation_failed`, `resource_deleted`, `not_found`
   */
  async remove(context: RequestContext, listId: string, given: readonly unknown[]): Promise<void> {
    const ids = readIds(given).map((id) => id.toLowerCase());
    await this.database.inOrganization(context, async (tx) => {
      await this.lists.lockActive(context, tx, listId);
      // Under the list's lock, which a merge that moves its members holds: they are followed to where they are.
      const ends = await this.contacts.ends(tx, ids);
      const holders = [...new Set([...ends.values()].map(({ id }) => id))];
      const removed = await this.members.remove(tx, listId, holders);
      await this.settle(tx, context, 'removed', listId, removed);
    });
  }

  /** What every change of members brings with it: the count, an audit row, an event. */
  private async settle(
    tx: Transaction,
    context: RequestContext,
    verb: 'added' | 'removed',
    listId: string,
    contactIds: readonly string[],
  ): Promise<void> {
    if (contactIds.length === 0) return;
    await this.members.recount(tx, listId, verb === 'added' ? contactIds.length : -contactIds.length);
    await this.audit.record(tx, context, {
      action: 'crm.lists.update',
      resource: { type: 'lists', id: listId },
      changedFields: ['members'],
    });
    await this.outbox.append(tx, membersEvent(verb, context, listId, contactIds));
  }
}

/** @throws Problem `validation_failed` naming every id that is none */
function readIds(given: readonly unknown[]): string[] {
  const errors = given.flatMap((id, index): FieldError[] => {
    if (typeof id === 'string' && isUuid(id.toLowerCase())) return [];
    const code = typeof id === 'string' ? 'invalid_format' : 'wrong_type';
    return [{ pointer: `/contact_ids/${String(index)}`, code, detail: 'It must be a UUID.' }];
  });
  if (errors.length > 0) throw Problem.validation(errors);
  return given as string[];
}

/** Callers were promised two codes; what core answers of a contact that cannot be read is not there for them. */
function published(code: RefusedReference): 'reference_not_found' | 'reference_deleted' {
  return code === 'reference_deleted' ? code : 'reference_not_found';
}

function allRejected(references: readonly ContactReference[]): Problem {
  const errors = references.flatMap((each, index): FieldError[] =>
    'code' in each
      ? [{ pointer: `/contact_ids/${String(index)}`, code: each.code, detail: REFUSALS[each.code] }]
      : [],
  );
  const [first] = references;
  const alike = references.every(
    (each) => 'code' in each && first && 'code' in first && each.code === first.code,
  );
  const detail = 'None of these contacts can be added; see `errors`.';
  return new Problem(alike && first && 'code' in first ? first.code : 'reference_not_found', {
    detail,
    errors,
  });
}

function full(): Problem {
  const limit = MOST_MEMBERS;
  return new Problem('list_full', {
    detail: `A list holds at most ${String(limit)} contacts.`,
    members: { limit },
  });
}

function toListMemberDto(row: MemberRow): ListMemberDto {
  return {
    contact_id: row.contact_id,
    added_at: row.added_at.toISOString(),
    added_by: { type: row.added_by_type, id: row.added_by_id },
  };
}
