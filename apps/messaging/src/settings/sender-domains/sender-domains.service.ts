import { Inject, Injectable } from '@nestjs/common';
import {
  Clock,
  Database,
  newId,
  ResourceStores,
  Whole,
  type ResourceStore,
  type Transaction,
} from '@customer-platform/database';
import type { ListQuery, Page, RequestContext } from '@customer-platform/http';
import { domainOf, parseSender } from '../../vocabulary/senders/sender.js';
import { MESSAGING_CONFIG, type MessagingConfig } from '../../vocabulary/config/messaging.config.js';
import { SecretBox } from '../../vocabulary/secrets/secret-box.js';
import { DkimKeyMaker } from './dkim-key-maker.js';
import { pairOf, waitingPair, type DkimPair } from './dkim-pairs.js';
import { senderDomain } from './domain-name.js';
import type { CreateSenderDomainDto, UpdateSenderDomainDto } from './sender-domain.dto.js';
import { SenderDomainEntity } from './sender-domain.entity.js';

const MOST_DOMAINS = 100;
/** Nobody publishes records sooner; whoever has asks for the check. */
const FIRST_CHECK_MS = 3_600_000;

/** What was deleted may be another's by now: it is to be proven anew. */
const BEGIN_ANEW = `
  UPDATE sender_domains SET state = 'pending', failing_since = NULL, next_check_at = $3
   WHERE organization_id = $1 AND id = $2`;

const SENDER = `
  SELECT document #>> '{channels,email,from}' AS sender FROM channel_settings WHERE organization_id = $1`;

/** From which domains the organization sends (messaging.md §10). */
@Injectable()
export class SenderDomainsService {
  private readonly domains: ResourceStore<SenderDomainEntity>;
  private readonly box: SecretBox;

  constructor(
    stores: ResourceStores,
    private readonly database: Database,
    private readonly clock: Clock,
    private readonly keys: DkimKeyMaker,
    @Inject(MESSAGING_CONFIG) config: MessagingConfig,
  ) {
    this.box = new SecretBox(config.keyring);
    this.domains = stores.of<SenderDomainEntity>({
      entity: SenderDomainEntity,
      module: 'messaging',
      resource: 'domains',
      limit: MOST_DOMAINS,
      constraints: { unique: { sender_domains_domain: { field: 'domain', pointer: '/domain' } } },
      bookkeeping: ['findings', 'nextCheckAt', 'state'],
      fieldNames: { dkimKeys: 'rotate_dkim' },
    });
  }

  list(context: RequestContext, query: ListQuery): Promise<Page<SenderDomainEntity>> {
    return this.domains.page(context, query);
  }

  get(context: RequestContext, id: string): Promise<SenderDomainEntity> {
    return this.domains.get(context, id);
  }

  /** @throws Problem `validation_failed`, `duplicate_value`, `limit_reached`, `rate_limited` */
  async create(context: RequestContext, dto: CreateSenderDomainDto): Promise<SenderDomainEntity> {
    const domain = senderDomain(dto.domain);
    const id = newId();
    const now = this.clock.now();
    return this.domains.create(context, {
      id,
      domain,
      state: 'pending',
      dkimKeys: [await this.newPair(context, id, 'signing')],
      findings: {},
      nextCheckAt: new Date(now.getTime() + FIRST_CHECK_MS),
    });
  }

  /**
   * With `rotate_dkim` a pair of keys that waits for its records; while one waits, it is that one.
   * @throws Problem `resource_deleted`, `etag_mismatch`, `rate_limited`
   */
  async update(
    context: RequestContext,
    id: string,
    { rotate_dkim: rotates }: UpdateSenderDomainDto,
  ): Promise<SenderDomainEntity> {
    // Making keys takes long: never under the row's lock, and not where none is wanted.
    const wanted = rotates === true && !waitingPair((await this.domains.get(context, id)).dkimKeys);
    const pair = wanted ? await this.newPair(context, id, 'waiting') : undefined;
    return this.domains.update(
      context,
      id,
      (row) =>
        pair === undefined || waitingPair(row.dkimKeys)
          ? {}
          : { dkimKeys: new Whole([pair, ...row.dkimKeys]) },
      { ifMatch: context.ifMatch },
    );
  }

  /** Nothing leaves from it any more. */
  softDelete(context: RequestContext, id: string): Promise<void> {
    return this.domains.softDelete(context, id);
  }

  async restore(context: RequestContext, id: string): Promise<SenderDomainEntity> {
    return this.database.inOrganization(context, async (tx) => {
      await this.domains.restore(context, id, { tx });
      await tx.query(BEGIN_ANEW, [context.organizationId, id, this.clock.now()]);
      return this.domains.get(context, id, 'any', tx);
    });
  }

  /** @throws Problem `resource_referenced` while the channel of mail sends from it */
  async purge(context: RequestContext, id: string): Promise<void> {
    let sending = 0;
    await this.domains.purge(context, id, {
      guard: async (tx, row) => {
        sending = await channelsSending(tx, row.domain);
      },
      references: () => [{ module: 'messaging', resource: 'channel-settings', count: sending }],
    });
  }

  private async newPair(context: RequestContext, id: string, use: 'waiting' | 'signing'): Promise<DkimPair> {
    const { organizationId } = context;
    const fresh = await this.keys.make(context);
    return pairOf(fresh, use, { organizationId, id }, { box: this.box, now: this.clock.now() });
  }
}

async function channelsSending(tx: Transaction, domain: string): Promise<number> {
  const [row] = await tx.query<{ sender: string | null }>(SENDER, [tx.organizationId]);
  const sender = parseSender(row?.sender ?? '');
  return sender && domainOf(sender) === domain ? 1 : 0;
}
