import { Injectable } from '@nestjs/common';
import {
  afterLocks,
  Clock,
  Database,
  mergePatch,
  ResourceStores,
  sameJson,
  type ResourceChange,
  type ResourceStore,
  type Transaction,
} from '@customer-platform/database';
import type { ListQuery, Page, RequestContext } from '@customer-platform/http';
import { ChannelPlans } from '../../settings/channels/channel-plans.js';
import { cancellationKey } from '../../vocabulary/sends/canceled-sends.js';
import { GateWriter } from '../../people/gate-lock/gate-writer.js';
import { BackgroundJobs } from '../../background/jobs/background-jobs.js';
import { permissionsOfRule } from '../../vocabulary/makers/carried-permissions.js';
import { makerOf } from '../../vocabulary/makers/maker.js';
import { MakerRights } from '../../background/makers/maker-rights.js';
import { demandPermissions } from '../../vocabulary/makers/reading-permissions.js';
import { checkReferences, checkRule, type GivenRule } from './check-rule.js';
import type { CreateRuleDto, UpdateRuleDto } from './rule.dto.js';
import { holdRules } from './rule-cache.js';
import { RuleEntity } from './rule.entity.js';
import { carriedByRule, publishedTexts, type ShownRule } from './standing-of-rules.js';

const MOST_RULES = 500;

/** What says what is carried out, and to whom. */
const CARRIES = ['eventType', 'eventName', 'condition', 'channel', 'templateId', 'recipient'] as const;

/** Which event leads to which message (messaging.md §3). */
@Injectable()
export class RoutingService {
  private readonly rules: ResourceStore<RuleEntity>;

  constructor(
    stores: ResourceStores,
    private readonly database: Database,
    private readonly makers: MakerRights,
    private readonly clock: Clock,
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
      bookkeeping: ['makerSince', 'vouchedVersion'],
      fieldNames: { makerType: 'maker', makerId: 'maker' },
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

  async list(context: RequestContext, query: ListQuery): Promise<Page<ShownRule>> {
    const { data, page } = await this.rules.page(context, query);
    return { data: await this.shown(context, data), page };
  }

  async get(context: RequestContext, id: string): Promise<ShownRule> {
    return this.one(context, await this.rules.get(context, id));
  }

  /**
   * @throws Problem `privilege_escalation`, `validation_failed`, `reference_not_found`, `reference_deleted`,
   * `duplicate_value`, `limit_reached`
   */
  async create(context: RequestContext, dto: CreateRuleDto): Promise<ShownRule> {
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
    const checked = { ...given, ...checkRule(given), name: dto.name, enabled: dto.enabled ?? true };
    demandPermissions(context, permissionsOfRule(given.eventType));
    const row = await this.database.inOrganization(context, async (tx) => {
      // Who publishes it at this moment is waited for: the maker sees what is sent from then on.
      await checkReferences(tx, given, this.plans);
      const values = { ...checked, ...(await this.madeBy(context, tx, given.templateId)) };
      return this.rules.create(context, values, { tx });
    });
    return this.one(context, row);
  }

  /**
   * JSON merge. Who changes what a rule carries, or to whom, or adopts it must be able to read all of it, and is its maker
   * from then on.
   * @throws Problem as `create`, and `resource_deleted`, `etag_mismatch`
   */
  async update(context: RequestContext, id: string, dto: UpdateRuleDto): Promise<ShownRule> {
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
      checkRule(next, row.recipient);
      const carries = CARRIES.some((field) => !sameJson(row[field], next[field]));
      if (carries || dto.adopt === true) demandPermissions(context, permissionsOfRule(next.eventType));
      if (next.templateId !== row.templateId || next.channel !== row.channel || next.topic !== row.topic) {
        await checkReferences(tx, next, this.plans);
      }
      if (!carries && dto.adopt !== true) return patch;
      const made = await this.madeBy(context, tx, next.templateId);
      return { ...patch, ...(carries || !isMadeBy(row, made) ? made : {}) };
    };
    const row = await this.rules.update(context, id, change, { ifMatch: context.ifMatch });
    if (!row.enabled || dto.event_type !== undefined) await this.nothingLeaves(context, id);
    return this.one(context, row);
  }

  async softDelete(context: RequestContext, id: string): Promise<void> {
    await this.rules.softDelete(context, id);
    await this.nothingLeaves(context, id);
  }

  async restore(context: RequestContext, id: string): Promise<ShownRule> {
    return this.one(context, await this.rules.restore(context, id));
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
    if (isLive(before) && endsWhatWaits(before, row)) await this.jobs.add(tx, 'cancel_sends_of_rule', row.id);
  }

  /** Whoever answers for it from now on, and the text that they see: what is published later they have not seen. */
  private async madeBy(context: RequestContext, tx: Transaction, templateId: string): Promise<MadeRule> {
    const [texts, makerSince] = await afterLocks(this.clock, publishedTexts(tx, [templateId]));
    return { ...makerOf(context), makerSince, vouchedVersion: texts.get(templateId)?.version ?? null };
  }

  private async one(context: RequestContext, row: RuleEntity): Promise<ShownRule> {
    const [shown] = await this.shown(context, [row]);
    return shown ?? { row, standing: null };
  }

  private async shown(context: RequestContext, rows: readonly RuleEntity[]): Promise<ShownRule[]> {
    if (rows.length === 0) return [];
    const texts = await this.database.inOrganization(context, (tx) =>
      publishedTexts(
        tx,
        rows.map(({ templateId }) => templateId),
      ),
    );
    return Promise.all(
      rows.map(async (row) => {
        const standing = await this.makers.standing(carriedByRule(row, texts.get(row.templateId)));
        return { row, standing: standing === 'unknown' ? null : standing };
      }),
    );
  }

  /** Those on their way through the gate are waited for; who comes to it later finds the rule disabled. */
  private nothingLeaves(context: RequestContext, id: string): Promise<void> {
    return this.gate.write(context, [cancellationKey(id)], () => Promise.resolve());
  }
}

type MadeRule = Pick<RuleEntity, 'makerType' | 'makerId' | 'makerSince' | 'vouchedVersion'>;

/** Whether nothing would change by an adoption, asked for once more. */
function isMadeBy(row: RuleEntity, made: MadeRule): boolean {
  return (
    row.makerSince !== null &&
    row.makerType === made.makerType &&
    row.makerId === made.makerId &&
    row.vouchedVersion === made.vouchedVersion
  );
}

function isLive(rule: RuleEntity | undefined): boolean {
  return rule !== undefined && rule.enabled && rule.deletedAt === null;
}

/** Tells whether a change ends what waits: it carries events of the type that the rule had, and other rights are asked of the maker then. */
function endsWhatWaits(before: RuleEntity | undefined, row: RuleEntity): boolean {
  return !isLive(row) || before?.eventType !== row.eventType;
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
