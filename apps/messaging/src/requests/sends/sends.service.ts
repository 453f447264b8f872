import { Injectable } from '@nestjs/common';
import {
  Database,
  pageOf,
  pageOfOwners,
  type OrganizationScope,
  type Transaction,
} from '@customer-platform/database';
import type { ListFilter, ListQuery, Page, RequestContext } from '@customer-platform/http';
import { Problem } from '@customer-platform/problem-json';
import { checkAddress } from '../../vocabulary/addresses/address.js';
import { AddressKeys } from '../../vocabulary/addresses/address-keys.provider.js';
import { CHANNELS } from '../../vocabulary/addresses/channel.js';
import { ContactsRepository } from '../../people/contacts/contacts.repository.js';
import type { SendDto, SendStepDto } from './send.dto.js';
import { SEND_COLUMNS, toSendDto, toStepDto, type SendRow, type StepRow } from './to-send-dto.js';

/** The columns that are shown, and one that is filtered by beside them. */
const SENDS = `SELECT ${SEND_COLUMNS}, address_key FROM sends WHERE organization_id = $1`;
const RUNS = `
  SELECT id FROM campaign_runs WHERE organization_id = $1 AND campaign_id = ANY($2::uuid[]) ORDER BY id DESC LIMIT $3`;
const MOST_RUNS = 100;
const sendsOf = (contactId: string): string => `${SENDS} AND contact_id = ${contactId}`;

/** Reads sends and their history; nothing here changes one. */
@Injectable()
export class SendsService {
  constructor(
    private readonly database: Database,
    private readonly contacts: ContactsRepository,
    private readonly keys: AddressKeys,
  ) {}

  /** Sends of a merged contact stand with its survivor's, whichever of the two is asked for. */
  list(context: OrganizationScope, query: ListQuery): Promise<Page<SendDto>> {
    return this.database.inOrganization(context, async (tx) => {
      const options = { parameters: [context.organizationId], map: toSendDto };
      const narrowed = query.filters.find(isOfContacts);
      const filters: ListFilter[] = [];
      for (const filter of query.filters)
        if (filter !== narrowed) filters.push(await this.widened(tx, filter));
      if (!narrowed) return pageOf<SendRow, SendDto>(tx, SENDS, { ...query, filters }, options);
      const contacts = await this.families(tx, narrowed);
      return pageOfOwners<SendRow, SendDto>(tx, sendsOf, contacts, { ...query, filters }, options);
    });
  }

  /** @throws Problem `not_found` */
  history(context: RequestContext, id: string, query: ListQuery): Promise<Page<SendStepDto>> {
    return this.database.inOrganization(context, async (tx) => {
      const found = await tx.query('SELECT 1 FROM sends WHERE organization_id = $1 AND id = $2', [
        context.organizationId,
        id,
      ]);
      if (found.length === 0) throw new Problem('not_found');
      const select = 'SELECT * FROM send_history WHERE organization_id = $1 AND send_id = $2';
      return pageOf<StepRow, SendStepDto>(tx, select, query, {
        parameters: [context.organizationId, id],
        map: toStepDto,
      });
    });
  }

  private async widened(tx: Transaction, filter: ListFilter): Promise<ListFilter> {
    if (filter.field === 'campaign_id') return oneOf(filter, await runsOf(tx, filter));
    if (isOfContacts(filter)) return oneOf(filter, await this.families(tx, filter));
    if (filter.field === 'address')
      return oneOf(
        filter,
        filter.values.flatMap((text) => this.keysOf(tx, String(text))),
      );
    return filter;
  }

  private async families(tx: Transaction, { values }: ListFilter): Promise<string[]> {
    const families = await Promise.all(values.map((id) => this.contacts.family(tx, String(id))));
    return families.flat();
  }

  /** A text can be an address of several channels; one that is none was sent to by nobody. */
  private keysOf(tx: Transaction, text: string): string[] {
    return CHANNELS.flatMap((channel) => {
      const address = checkAddress(channel, text);
      return address ? this.keys.of(tx.organizationId, address).own : [];
    });
  }
}

/** Sends are found by their run: of a campaign by its last ones. */
async function runsOf(tx: Transaction, { values }: ListFilter): Promise<string[]> {
  const rows = await tx.query<{ id: string }>(RUNS, [tx.organizationId, values, MOST_RUNS]);
  return rows.map(({ id }) => id);
}

function isOfContacts({ field, op }: ListFilter): boolean {
  return field === 'contact_id' && (op === 'eq' || op === 'in');
}

function oneOf(filter: ListFilter, values: readonly string[]): ListFilter {
  // A list must not be empty; no key and no id is the empty text or the nil UUID.
  const nothing = filter.field === 'address' ? '' : '00000000-0000-0000-0000-000000000000';
  const [value = nothing, ...others] = values;
  // Only equality lets an index give the rows in the order of the list.
  return { ...filter, op: others.length > 0 ? 'in' : 'eq', value, values: [value, ...others] };
}
