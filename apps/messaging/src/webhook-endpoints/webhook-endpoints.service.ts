import { Inject, Injectable } from '@nestjs/common';
import {
  Clock,
  Database,
  newId,
  ResourceStores,
  Whole,
  type ChangeEvent,
  type Patch,
  type ResourceChange,
  type ResourceStore,
  type Transaction,
} from '@customer-platform/database';
import type { ListQuery, Page, RequestContext } from '@customer-platform/http';
import { Problem } from '@customer-platform/problem-json';
import { makerOf } from '../vocabulary/makers/maker.js';
import { demandPermissions, permissionsToRead } from '../vocabulary/makers/reading-permissions.js';
import { MESSAGING_CONFIG, type MessagingConfig } from '../vocabulary/config/messaging.config.js';
import { SecretBox } from '../vocabulary/secrets/secret-box.js';
import type { DeliveryRow } from './deliveries/delivery-row.js';
import { holdEndpoints } from './deliveries/endpoint-locks.js';
import { BODY_KEPT_MS } from './deliveries/old-deliveries.js';
import { PausedDeliveries } from './deliveries/paused-deliveries.js';
import { recentDeliveries } from './deliveries/recent-deliveries.js';
import { ReplayedDeliveries } from './deliveries/replayed-deliveries.js';
import { disabledEvent } from './disabled-event.js';
import { checkEndpointUrl } from './endpoint-url.js';
import { newSecret, rotated, shownOnce, type FreshSecret } from './signing-secrets.js';
import type { CreateWebhookEndpointDto, UpdateWebhookEndpointDto } from './webhook-endpoint.dto.js';
import { isLive, WebhookEndpointEntity } from './webhook-endpoint.entity.js';

const MOST_ENDPOINTS = 50;

/** An endpoint with what is read beside its row; `secret` where it is new, and only then. */
export interface ShownEndpoint {
  readonly row: WebhookEndpointEntity;
  readonly deliveries: readonly DeliveryRow[];
  readonly secret?: string;
}

/** Whom the organization wants told of events by HTTP (messaging.md §8). */
@Injectable()
export class WebhookEndpointsService {
  private readonly endpoints: ResourceStore<WebhookEndpointEntity>;
  private readonly box: SecretBox;

  constructor(
    stores: ResourceStores,
    private readonly database: Database,
    private readonly paused: PausedDeliveries,
    private readonly replayed: ReplayedDeliveries,
    private readonly clock: Clock,
    @Inject(MESSAGING_CONFIG) private readonly config: MessagingConfig,
  ) {
    this.box = new SecretBox(config.keyring);
    this.endpoints = stores.of<WebhookEndpointEntity>({
      entity: WebhookEndpointEntity,
      module: 'messaging',
      resource: 'webhooks',
      limit: MOST_ENDPOINTS,
      constraints: { unique: { webhook_endpoints_name: { field: 'name', pointer: '/name' } } },
      bookkeeping: ['makerType', 'makerId', 'replaySince'],
      fieldNames: { secrets: 'secret', replayAskedAt: 'replay_since' },
      afterChange: (tx, _context, change) => this.afterChange(tx, change),
      event: eventOf,
    });
  }

  async list(context: RequestContext, query: ListQuery): Promise<Page<ShownEndpoint>> {
    const { data, page } = await this.endpoints.page(context, query);
    const deliveries = await this.deliveriesOf(context, data);
    return { data: data.map((row) => ({ row, deliveries: deliveries.get(row.id) ?? [] })), page };
  }

  async get(context: RequestContext, id: string): Promise<ShownEndpoint> {
    return this.shown(context, await this.endpoints.get(context, id));
  }

  /** @throws Problem `privilege_escalation`, `validation_failed`, `destination_not_allowed`, `duplicate_value`, `limit_reached` */
  async create(context: RequestContext, dto: CreateWebhookEndpointDto): Promise<ShownEndpoint> {
    demandPermissions(context, dto.events.flatMap(permissionsToRead));
    await checkEndpointUrl(dto.url, this.config);
    const id = newId();
    const place = { organizationId: context.organizationId, id };
    const { name, url, events, enabled = true, signing = 'v1' } = dto;
    const secret = newSecret(signing);
    const row = await this.endpoints.create(context, {
      id,
      name,
      url,
      events,
      enabled,
      signing,
      secrets: rotated(this.box, place, [], secret, this.clock.now()),
      disabledReason: enabled ? null : 'manual',
      ...makerOf(context),
    });
    return { row, deliveries: [], ...shownOnce(secret) };
  }

  /**
   * JSON merge; with `rotate_secret` a new secret, shown in this answer, and with another `signing`, too. Who changes what it is told, or where, or adopts it must be
   * able to read all of it, and is its maker from then on: another address is another reader.
   * @throws Problem as `create`, and `resource_deleted`, `etag_mismatch`, `invalid_state` for `replay_since` of one that is off
   */
  async update(context: RequestContext, id: string, dto: UpdateWebhookEndpointDto): Promise<ShownEndpoint> {
    if (dto.url !== undefined) {
      // Whose endpoint it is comes first: nobody learns of addresses by another's id.
      await this.endpoints.get(context, id);
      await checkEndpointUrl(dto.url, this.config);
    }
    const since = dto.replay_since === undefined ? undefined : this.replayStart(dto.replay_since);
    let fresh: FreshSecret | undefined;
    const row = await this.endpoints.update(
      context,
      id,
      (before) => {
        const { enabled = before.enabled, signing = before.signing } = dto;
        if (since && !enabled) throw new Problem('invalid_state', { detail: 'The endpoint is disabled.' });
        fresh = dto.rotate_secret === true || signing !== before.signing ? newSecret(signing) : undefined;
        return { ...this.patchOf(context, before, dto, fresh), ...since };
      },
      { ifMatch: context.ifMatch },
    );
    return { ...(await this.shown(context, row)), ...(fresh ? shownOnce(fresh) : {}) };
  }

  softDelete(context: RequestContext, id: string): Promise<void> {
    return this.endpoints.softDelete(context, id);
  }

  async restore(context: RequestContext, id: string): Promise<ShownEndpoint> {
    return this.shown(context, await this.endpoints.restore(context, id));
  }

  /** What has become of its events goes with it. */
  purge(context: RequestContext, id: string): Promise<void> {
    return this.endpoints.purge(context, id);
  }

  private patchOf(
    context: RequestContext,
    before: WebhookEndpointEntity,
    dto: UpdateWebhookEndpointDto,
    secret: FreshSecret | undefined,
  ): Patch<WebhookEndpointEntity> {
    const { name, url, events, enabled, signing } = dto;
    const told = new Set(events ?? before.events);
    const changes = url !== undefined && url !== before.url;
    const subscribes = events !== undefined && !isSame(told, before.events);
    const answers = changes || subscribes || dto.adopt === true;
    if (answers) demandPermissions(context, [...told].flatMap(permissionsToRead));
    const turned = enabled !== undefined && enabled !== before.enabled;
    return {
      name,
      url,
      events,
      enabled,
      signing,
      ...(answers ? makerOf(context) : {}),
      ...(turned ? { disabledReason: enabled ? null : ('manual' as const) } : {}),
      ...(secret === undefined
        ? {}
        : { secrets: new Whole(rotated(this.box, before, before.secrets, secret, this.clock.now())) }),
    };
  }

  private async afterChange(
    tx: Transaction,
    { verb, before, row, changed }: ResourceChange<WebhookEndpointEntity>,
  ): Promise<void> {
    if (verb === 'created') return;
    await holdEndpoints(tx);
    if (verb === 'purged') await this.paused.forget(tx, row.id);
    else if (isLive(before) && !isLive(row)) await this.paused.pause(tx, row.id);
    else if (!isLive(before) && isLive(row)) await this.paused.resume(tx, row.id);
    if (changed.includes('replayAskedAt')) await this.replayed.replay(tx, row.id);
  }

  /** @throws Problem `validation_failed` */
  private replayStart(text: string): Pick<WebhookEndpointEntity, 'replaySince' | 'replayAskedAt'> {
    const [since, now] = [new Date(text), this.clock.now()];
    const age = now.getTime() - since.getTime();
    if (age >= 0 && age <= BODY_KEPT_MS) return { replaySince: since, replayAskedAt: now };
    const detail = 'Expected an instant of the last 7 days.';
    throw Problem.validation([{ pointer: '/replay_since', code: 'out_of_range', detail }]);
  }

  private async shown(context: RequestContext, row: WebhookEndpointEntity): Promise<ShownEndpoint> {
    const deliveries = await this.deliveriesOf(context, [row]);
    return { row, deliveries: deliveries.get(row.id) ?? [] };
  }

  private async deliveriesOf(
    context: RequestContext,
    rows: readonly WebhookEndpointEntity[],
  ): Promise<Map<string, DeliveryRow[]>> {
    if (rows.length === 0) return new Map();
    return this.database.inOrganization(context, (tx) =>
      recentDeliveries(
        tx,
        rows.map(({ id }) => id),
      ),
    );
  }
}

/** Whether these are the subscriptions there were, in whatever order. */
function isSame(told: ReadonlySet<string>, before: readonly string[]): boolean {
  return told.size === before.length && before.every((event) => told.has(event));
}

/** Its owner's own switching off is told like the platform's. */
function eventOf({ before, row, verb }: ResourceChange<WebhookEndpointEntity>): ChangeEvent | undefined {
  return verb === 'updated' && before?.enabled === true && !row.enabled
    ? disabledEvent(row.id, 'manual')
    : undefined;
}
