import { Injectable } from '@nestjs/common';
import { ContactReferences } from '@customer-platform/contact-refs';
import {
  RemoteReferences,
  ResourceStores,
  type ResourceStore,
  type Transaction,
} from '@customer-platform/database';
import type { ListQuery, Page, RequestContext } from '@customer-platform/http';
import { Problem } from '@customer-platform/problem-json';
import type { CreateListDto, UpdateListDto } from './list.dto.js';
import { List, listEvent } from './list.entity.js';
import { ListMembersRepository } from './list-members.repository.js';

const MOST_LISTS = 1_000;

const HOLDING =
  'id IN (SELECT list_id FROM list_members WHERE organization_id = $1 AND shown AND contact_id =';

/** Static lists of contacts (crm.md §2); who is on them is `ListMembersService`'s. */
@Injectable()
export class ListsService {
  private readonly lists: ResourceStore<List>;

  constructor(
    private readonly contacts: ContactReferences,
    members: ListMembersRepository,
    remoteReferences: RemoteReferences,
    stores: ResourceStores,
  ) {
    this.lists = stores.of<List>({
      entity: List,
      module: 'crm',
      resource: 'lists',
      limit: MOST_LISTS,
      constraints: { unique: { lists_name: { field: 'name', pointer: '/name', value: 'lower(name)' } } },
      bookkeeping: ['memberCount'],
      event: listEvent,
      remoteReferences,
      // Memberships go with their list: they keep it from nothing.
      afterChange: async (tx, _context, { verb, row }) => {
        if (verb === 'purged') await members.removeAll(tx, row.id);
      },
    });
  }

  /** @throws Problem `dependency_unavailable` when core must be asked who a filter's contact is and is silent */
  async list(context: RequestContext, query: ListQuery): Promise<Page<List>> {
    const { filters, ...rest } = await this.contacts.resolveFilters(context.organizationId, query);
    const held = filters.filter(({ field }) => field === 'contact_id');
    const own = { ...rest, filters: filters.filter((filter) => !held.includes(filter)) };
    if (held.length === 0) return this.lists.page(context, own);
    const sql = held.map((_, index) => `${HOLDING} $${String(index + 2)}::uuid)`).join(' AND ');
    return this.lists.page(context, own, { sql, values: held.map(({ value }) => value) });
  }

  /** @throws Problem `duplicate_value`, `limit_reached` */
  create(context: RequestContext, { name, description = null }: CreateListDto): Promise<List> {
    return this.lists.create(context, { name, description, memberCount: 0 });
  }

  get(context: RequestContext, id: string): Promise<List> {
    return this.lists.get(context, id);
  }

  /** @throws Problem `resource_deleted`, `etag_mismatch`, `duplicate_value` */
  update(context: RequestContext, id: string, { name, description }: UpdateListDto): Promise<List> {
    return this.lists.update(context, id, { name, description });
  }

  softDelete(context: RequestContext, id: string): Promise<void> {
    return this.lists.softDelete(context, id);
  }

  /** @throws Problem `not_deleted`, `restore_conflict`, `limit_reached` */
  restore(context: RequestContext, id: string): Promise<List> {
    return this.lists.restore(context, id);
  }

  /** @throws Problem `resource_referenced` while messaging still needs it, `dependency_unavailable` */
  purge(context: RequestContext, id: string): Promise<void> {
    return this.lists.purge(context, id);
  }

  /** The list, locked until the transaction ends. @throws Problem `not_found`, `resource_deleted` */
  async lockActive(context: RequestContext, tx: Transaction, id: string): Promise<List> {
    const list = await this.lists.lock(tx, context, id);
    if (list.deletedAt) throw new Problem('resource_deleted');
    return list;
  }
}
