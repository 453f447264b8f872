import { Injectable } from '@nestjs/common';
import { Audit, type AuditContext } from '@customer-platform/audit';
import { afterLocks, Clock, Database, newId, pageOf, type Transaction } from '@customer-platform/database';
import { Outbox } from '@customer-platform/event-bus';
import {
  readMailDomain,
  type ListFilter,
  type ListQuery,
  type Page,
  type RequestContext,
} from '@customer-platform/http';
import { Problem } from '@customer-platform/problem-json';
import { checkAddress } from '../../vocabulary/addresses/address.js';
import type { KeysOfAddress } from '../../vocabulary/addresses/address-keys.js';
import { AddressKeys } from '../../vocabulary/addresses/address-keys.provider.js';
import { CHANNELS, type Channel } from '../../vocabulary/addresses/channel.js';
import { PushTokensRepository } from '../contacts/push-tokens.repository.js';
import { GateWriter } from '../gate-lock/gate-writer.js';
import type {
  ListedSuppression,
  NewSuppression,
  SuppressionRow,
  SuppressionScope,
} from '../../vocabulary/suppressions/suppression.js';
import {
  LIFTED_SUPPRESSIONS,
  STANDING_SUPPRESSIONS,
  SuppressionsRepository,
} from './suppressions.repository.js';

/** An address or domain of somebody who is or is to be suppressed. */
interface Target {
  readonly scope: SuppressionScope;
  readonly address: string;
  readonly keys: KeysOfAddress;
}

/**
 * Suppressions (messaging.md §6): the last gate before dispatch. What is added here stops every category of its
 * channel before the caller has its answer; only a DELETE, audited with its actor, lifts it.
 */
@Injectable()
export class Suppressions {
  constructor(
    private readonly database: Database,
    private readonly gate: GateWriter,
    private readonly repository: SuppressionsRepository,
    private readonly tokens: PushTokensRepository,
    private readonly keys: AddressKeys,
    private readonly audit: Audit,
    private readonly outbox: Outbox,
    private readonly clock: Clock,
  ) {}

  /** Those that stand, or with `lifted=true` those that were lifted. */
  list(context: RequestContext, query: ListQuery): Promise<Page<ListedSuppression>> {
    const filters = query.filters.map((filter) => this.byKey(context.organizationId, filter));
    const select = query.parameters['lifted'] === true ? LIFTED_SUPPRESSIONS : STANDING_SUPPRESSIONS;
    return this.database.inOrganization(context, (tx) =>
      pageOf<ListedSuppression>(tx, select, { ...query, filters }, { parameters: [context.organizationId] }),
    );
  }

  /**
   * Suppresses an address or a domain. When this returns, no hand-off to it begins any more. A repeat gives the first
   * row as it was.
   * @throws Problem `invalid_address`
   */
  async add(
    context: AuditContext,
    given: NewSuppression,
  ): Promise<{ row: SuppressionRow; created: boolean }> {
    const target = this.target(context.organizationId, given.channel, given.address, given.scope);
    if (!target) throw invalid(given.channel, given.scope);
    return this.gate.write(context, target.keys.own, async (tx) => {
      if (given.reason === 'invalid_token') await this.tokens.setDead(tx, given.address);
      const known = await this.repository.find(tx, given.channel, target.keys.own);
      if (known) return { row: known, created: false };
      const row = this.rowOf(context, given, target);
      await this.repository.insert(tx, row);
      await this.record(tx, context, row, 'created');
      return { row, created: true };
    });
  }

  /** Lifts one. @throws Problem `not_found` */
  async lift(context: RequestContext, id: string): Promise<void> {
    await this.database.inOrganization(context, (tx) => this.remove(tx, context, [id]));
  }

  /** Lifts the one of this address or domain. @throws Problem `invalid_address`, `not_found` */
  async liftByAddress(context: RequestContext, channel: Channel, address: string): Promise<void> {
    const scope = channel === 'email' && !address.includes('@') ? 'domain' : 'address';
    const target = this.target(context.organizationId, channel, address, scope);
    if (!target) throw invalid(channel, scope, 'address');
    await this.database.inOrganization(context, async (tx) => {
      const found = await this.repository.find(tx, channel, target.keys.own);
      await this.remove(tx, context, found ? [found.id] : []);
    });
  }

  private async remove(tx: Transaction, context: RequestContext, ids: readonly string[]): Promise<void> {
    const [locked, now] = await afterLocks(this.clock, this.repository.lock(tx, ids));
    const [row] = await this.repository.lift(tx, locked, context.actor, now);
    if (!row) throw new Problem('not_found');
    if (row.reason === 'invalid_token' && row.address !== null) await this.tokens.setAlive(tx, row.address);
    await this.record(tx, context, row, 'lifted');
  }

  /** Who did it, without the address. */
  private async record(
    tx: Transaction,
    context: AuditContext,
    row: SuppressionRow,
    verb: 'created' | 'lifted',
  ): Promise<void> {
    const { actor } = context;
    await this.audit.record(tx, context, {
      action: `messaging.suppressions.${verb === 'created' ? 'create' : 'delete'}`,
      resource: { type: 'suppressions', id: row.id },
      changedFields: verb === 'created' ? ['channel', 'address', 'scope', 'reason'] : [],
    });
    await this.outbox.append(tx, {
      type: `messaging.suppression.${verb}.v1`,
      organizationId: context.organizationId,
      key: row.id,
      subject: `suppressions/${row.id}`,
      correlationId: context.correlationId,
      data: {
        suppression_id: row.id,
        channel: row.channel,
        reason: row.reason,
        actor: { type: actor.type, id: actor.id },
      },
    });
  }

  private rowOf(context: AuditContext, given: NewSuppression, target: Target): SuppressionRow {
    const now = this.clock.now();
    return {
      id: newId(),
      channel: given.channel,
      scope: target.scope,
      key: target.keys.current,
      address: target.address,
      reason: given.reason,
      note: given.note,
      created_by: { type: context.actor.type, id: context.actor.id },
      created_at: now,
      updated_at: now,
    };
  }

  private target(
    organizationId: string,
    channel: Channel,
    text: string,
    scope: SuppressionScope,
  ): Target | undefined {
    if (scope === 'domain') {
      const domain = channel === 'email' ? readMailDomain(text) : undefined;
      return domain === undefined
        ? undefined
        : { scope, address: domain, keys: this.keys.ofDomain(organizationId, domain) };
    }
    const address = checkAddress(channel, text);
    return address && { scope, address: address.canonical, keys: this.keys.of(organizationId, address) };
  }

  /** Any spelling finds the row: what is compared are keys. */
  private byKey(organizationId: string, filter: ListFilter): ListFilter {
    if (filter.field !== 'address') return filter;
    const found = filter.values.flatMap((text) =>
      CHANNELS.flatMap((channel) =>
        (['address', 'domain'] as const).flatMap(
          (scope) => this.target(organizationId, channel, String(text), scope)?.keys.own ?? [],
        ),
      ),
    );
    const [value = ''] = found;
    return { ...filter, op: 'in', value, values: found.length > 0 ? found : [''] };
  }
}

function invalid(channel: Channel, scope: SuppressionScope, parameter?: string): Problem {
  const expected = scope === 'domain' ? 'a mail domain' : `one bare address of the channel ${channel}`;
  const place = parameter === undefined ? { pointer: '/address' } : { parameter };
  return Problem.validation([{ ...place, code: 'invalid_address', detail: `Expected ${expected}.` }]);
}
