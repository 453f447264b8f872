import { Injectable } from '@nestjs/common';
import {
  mergePatch,
  ResourceStores,
  type ResourceChange,
  type ResourceStore,
  type Transaction,
} from '@customer-platform/database';
import type { ListQuery, Page, RequestContext } from '@customer-platform/http';
import { ChannelPlans } from '../channels/channel-plans.js';
import { calledOffKey } from '../sends/called-off.js';
import { GateWriter } from '../gate-lock/gate-writer.js';
import { BackgroundJobs } from '../jobs/background-jobs.js';
import { checkReferences, checkRule, type GivenRule } from './check-rule.js';
import type { CreateRuleDto, UpdateRuleDto } from './rule.dto.js';
import { holdRules } from './rule-cache.js';
import { RuleEntity } from './rule.entity.js';

const MOST_RULES = 500;

/** Which event leads to which message (messaging.md §3). */
@Injectable()
export class RoutingService {
  private readonly rules: ResourceStore<RuleEntity>;

  constructor(
    stores: ResourceStores,
    private readonly plans: ChannelPlans,
    private readonly jobs: BackgroundJobs,
    private readonly gate: GateWriter,
  ) {
    this.rules = stores.of<RuleEntity>({
      entity: RuleEntity,
      module: 'messaging',
      resource: 'routing',
      largeRows: true,
      limit: MOST_RULES,
      constraints: { unique: { event_routing_name: { field: 'name', pointer: '/name' } } },
      afterChange: (tx, _context, change) => this.afterChange(tx, change),
      referencedBy: [
        {
          table: '(SELECT * FROM sends WHERE due_at IS NOT NULL) AS unfinished',
          column: 'source_id',
          resource: 'sends',
        },
      ],
    });
  }

  list(context: RequestContext, query: ListQuery): Promise<Page<RuleEntity>> {
    return this.rules.page(context, query);
  }

  get(context: RequestContext, id: string): Promise<RuleEntity> {
    return this.rules.get(context, id);
  }

  /** @throws Problem `validation_failed`, `reference_not_found`, `reference_deleted`, `duplicate_value`, `limit_reached` */
  async create(context: RequestContext, dto: CreateRuleDto): Promise<RuleEntity> {
    const given: GivenRule = {
      eventType: dto.event_type,
      eventName: dto.event_name ?? null,
      condition: dto.condition ?? null,
      channel: dto.channel,
      templateId: dto.template_id,
      recipient: dto.recipient ?? { from: 'contact' },
      category: dto.category ?? 'transactional',
      topic: dto.topic ?? null,
      delaySeconds: dto.delay_seconds ?? 0,
    };
    const values = { ...given, ...checkRule(given), name: dto.name, enabled: dto.enabled ?? true };
    return this.rules.create(context, values, { guard: (tx) => checkReferences(tx, given, this.plans) });
  }

  /** JSON merge. @throws Problem as `create`, and `resource_deleted`, `etag_mismatch` */
  async update(context: RequestContext, id: string, dto: UpdateRuleDto): Promise<RuleEntity> {
    const change = async (row: RuleEntity, tx: Transaction) => {
      const patch = patchOf(dto);
      const merged = mergePatch(contentOf(row), patch) as GivenRule;
      const next = {
        ...merged,
        eventName: merged.eventName ?? null,
        condition: merged.condition ?? null,
        topic: merged.topic ?? null,
      };
      // A list inside a condition is replaced as a whole, as JSON merge has it.
      checkRule(next);
      if (next.templateId !== row.templateId || next.channel !== row.channel || next.topic !== row.topic) {
        await checkReferences(tx, next, this.plans);
      }
      return patch;
    };
    const row = await this.rules.update(context, id, change, { ifMatch: context.ifMatch });
    if (!row.enabled) await this.nothingLeaves(context, id);
    return row;
  }

  async softDelete(context: RequestContext, id: string): Promise<void> {
    await this.rules.softDelete(context, id);
    await this.nothingLeaves(context, id);
  }

  restore(context: RequestContext, id: string): Promise<RuleEntity> {
    return this.rules.restore(context, id);
  }

  purge(context: RequestContext, id: string): Promise<void> {
    return this.rules.purge(context, id);
  }

  /**
   * Consumers read rules under a lock that they share: a change waits for those that are writing sends by the old rules,
   * so that what is then called off is all that they wrote.
   */
  private async afterChange(tx: Transaction, { before, row }: ResourceChange<RuleEntity>): Promise<void> {
    await holdRules(tx);
    await tx.query(
      `INSERT INTO organizations (organization_id, routing_version) VALUES ($1, 1)
       ON CONFLICT (organization_id) DO UPDATE SET routing_version = organizations.routing_version + 1`,
      [tx.organizationId],
    );
    if (isLive(before) && !isLive(row)) await this.jobs.add(tx, 'cancel_sends_of_rule', row.id);
  }

  /** Those on their way through the gate are waited for; who comes to it later finds the rule disabled. */
  private nothingLeaves(context: RequestContext, id: string): Promise<void> {
    return this.gate.write(context, [calledOffKey(id)], () => Promise.resolve());
  }
}

function isLive(rule: RuleEntity | undefined): boolean {
  return rule !== undefined && rule.enabled && rule.deletedAt === null;
}

function contentOf({
  eventType,
  eventName,
  condition,
  channel,
  templateId,
  recipient,
  category,
  topic,
  delaySeconds,
}: RuleEntity): GivenRule {
  return { eventType, eventName, condition, channel, templateId, recipient, category, topic, delaySeconds };
}

function patchOf(dto: UpdateRuleDto) {
  return {
    name: dto.name,
    enabled: dto.enabled,
    eventType: dto.event_type,
    eventName: dto.event_name,
    condition: dto.condition as RuleEntity['condition'] | undefined,
    channel: dto.channel,
    templateId: dto.template_id,
    recipient: dto.recipient as RuleEntity['recipient'] | undefined,
    category: dto.category,
    topic: dto.topic,
    delaySeconds: dto.delay_seconds,
  };
}
