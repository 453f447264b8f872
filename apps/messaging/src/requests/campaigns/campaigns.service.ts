import { Injectable } from '@nestjs/common';
import { Audit } from '@customer-platform/audit';
import {
  Clock,
  Database,
  ResourceStores,
  mergePatch,
  sameJson,
  type ReferenceSource,
  type ResourceChange,
  type ResourceStore,
  type Transaction,
} from '@customer-platform/database';
import type { ListQuery, Page, RequestContext } from '@customer-platform/http';
import { Problem } from '@customer-platform/problem-json';
import { GateWriter } from '../../people/gate-lock/gate-writer.js';
import { permissionsOfCampaign } from '../../vocabulary/makers/carried-permissions.js';
import { makerOf, type MadeRow } from '../../vocabulary/makers/maker.js';
import { MakerRights, type Carried } from '../../background/makers/maker-rights.js';
import { demandPermissions } from '../../vocabulary/makers/reading-permissions.js';
import { Tenants } from '../../background/organizations/tenants.js';
import { cancellationKey } from '../../vocabulary/sends/canceled-sends.js';
import type { TemplateHead } from '../../content/templates/template-versions.js';
import { Audiences, demandReadable, type KnownAudience } from './audiences.js';
import { CampaignContentCheck, type CampaignContent } from './campaign-content.js';
import type { CreateCampaignDto, UpdateCampaignDto, ShownCampaign } from './campaign.dto.js';
import { CampaignEntity } from './campaign.entity.js';
import { isUnderWay, type CampaignAudience } from './campaign.js';
import { CampaignCounts } from './runs/campaign-counts.js';
import { CampaignRuns } from './runs/campaign-runs.js';

const MOST_CAMPAIGNS = 5_000;

const countOn = (type: CampaignAudience['type']): string => `
  SELECT count(*)::int AS count FROM campaigns
   WHERE organization_id = $1 AND audience_id = $2 AND audience_type = '${type}'`;

const MADE = `
  UPDATE campaigns SET maker_type = $3, maker_id = $4, maker_since = $5 WHERE organization_id = $1 AND id = $2`;

/** What core and crm are told before they purge a segment or a list. */
export const CAMPAIGNS_ON_AUDIENCES: readonly ReferenceSource[] = [
  { to: 'core.segments', resource: 'campaigns', count: countOn('segment') },
  { to: 'crm.lists', resource: 'campaigns', count: countOn('list') },
];

/** Of what a run goes by: while one is under way none of it changes. */
const FROZEN = [
  'name',
  'channel',
  'templateId',
  'audienceType',
  'audienceId',
  'category',
  'topic',
  'data',
  'repeatable',
] as const;
const AUDIENCE = ['audienceType', 'audienceId'] as const;
/** What says what is carried, and to whom. */
const CARRIES = ['channel', 'templateId', 'audienceType', 'audienceId', 'data'] as const;
const CHECKED = ['channel', 'templateId', 'audienceType', 'audienceId', 'topic', 'data'] as const;

/** A campaign that a run could begin of now, by the version that it would pin. */
export interface RunnableCampaign {
  readonly campaign: CampaignEntity;
  readonly version: TemplateHead;
}

/** One message to everybody in a segment or on a list (messaging.md §9). */
@Injectable()
export class CampaignsService {
  private readonly campaigns: ResourceStore<CampaignEntity>;

  constructor(
    stores: ResourceStores,
    private readonly database: Database,
    private readonly audiences: Audiences,
    private readonly content: CampaignContentCheck,
    private readonly runs: CampaignRuns,
    private readonly counts: CampaignCounts,
    private readonly gate: GateWriter,
    private readonly audit: Audit,
    private readonly tenants: Tenants,
    private readonly makers: MakerRights,
    private readonly clock: Clock,
  ) {
    this.campaigns = stores.of<CampaignEntity>({
      entity: CampaignEntity,
      module: 'messaging',
      resource: 'campaigns',
      largeRows: true,
      limit: MOST_CAMPAIGNS,
      constraints: { unique: { campaigns_name: { field: 'name', pointer: '/name' } } },
      bookkeeping: ['state', 'runId', 'makerSince'],
      fieldNames: { audienceType: 'audience', audienceId: 'audience', makerType: 'maker', makerId: 'maker' },
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

  async list(context: RequestContext, query: ListQuery): Promise<Page<ShownCampaign>> {
    const { data, page } = await this.campaigns.page(context, query);
    return { data: await this.shown(context, data), page };
  }

  async get(context: RequestContext, id: string): Promise<ShownCampaign> {
    return this.one(context, await this.campaigns.get(context, id));
  }

  /**
   * @throws Problem `permission_denied`, `privilege_escalation`, `validation_failed`, `reference_not_found`, `reference_deleted`,
   * `channel_not_configured`, `sender_domain_unverified`, `duplicate_value`, `limit_reached`, `dependency_unavailable`
   */
  async create(context: RequestContext, dto: CreateCampaignDto): Promise<ShownCampaign> {
    demandCarried(context, dto.audience.type);
    const values = {
      name: dto.name,
      channel: dto.channel,
      templateId: dto.template_id,
      audienceType: dto.audience.type,
      audienceId: dto.audience.id,
      category: dto.category ?? 'marketing',
      topic: dto.topic ?? null,
      data: dto.data ?? {},
      repeatable: dto.repeatable ?? false,
      paused: dto.paused ?? false,
      state: 'draft',
      runId: null,
      ...this.madeBy(context),
    } as const;
    const audience = await this.audienceOf(context, values);
    const guard = async (tx: Transaction): Promise<void> => {
      await this.content.version(tx, values, audience);
    };
    return this.one(context, await this.campaigns.create(context, values, { guard }));
  }

  /**
   * When it answers that a campaign rests, nothing of it leaves any more.
   * @throws Problem `invalid_state` while it is under way, for anything but `paused`; `resource_deleted`,
   * `etag_mismatch`, and as `create`
   */
  async update(context: RequestContext, id: string, dto: UpdateCampaignDto): Promise<ShownCampaign> {
    const seen = await this.campaigns.get(context, id);
    const wanted = patchOf(dto);
    const asked = changes(seen, wanted, CHECKED) ? merged(seen, wanted) : undefined;
    // Before core or crm is asked, which would tell of it; of what is written it is asked again.
    if (asked && changes(seen, wanted, AUDIENCE)) demandReadable(context, asked.audienceType);
    if (asked && changes(seen, wanted, CARRIES)) demandCarried(context, asked.audienceType);
    const audience = asked && (await this.audienceOf(context, asked));
    const row = await this.campaigns.update(
      context,
      id,
      async (before, tx) => {
        const next = merged(before, wanted);
        if (isUnderWay(before) && changes(before, wanted, FROZEN)) throw underWay();
        if (next.paused !== before.paused && ['completed', 'canceled'].includes(before.state)) throw ended();
        const carries = changes(before, wanted, CARRIES);
        if (carries || dto.adopt === true) demandCarried(context, next.audienceType);
        if (changes(before, wanted, CHECKED)) {
          // Changed by somebody else since its audience was asked for.
          if (!asked || !sameAudience(asked, next)) throw new Problem('etag_mismatch');
          await this.content.version(tx, next, audience);
        }
        const state = isUnderWay(before) ? (next.paused ? 'paused' : 'running') : before.state;
        const adopts = dto.adopt === true && !isMadeBy(before, makerOf(context));
        return { ...wanted, state, ...(carries || adopts ? this.madeBy(context) : {}) };
      },
      { ifMatch: context.ifMatch },
    );
    if (row.state === 'paused') await this.nothingLeaves(context, id);
    return this.one(context, row);
  }

  /** What has not left of it is called off. */
  async softDelete(context: RequestContext, id: string): Promise<void> {
    await this.campaigns.softDelete(context, id);
    await this.nothingLeaves(context, id);
  }

  async restore(context: RequestContext, id: string): Promise<ShownCampaign> {
    return this.one(context, await this.campaigns.restore(context, id));
  }

  /** @throws Problem `resource_referenced` while sends of it are unfinished */
  purge(context: RequestContext, id: string): Promise<void> {
    return this.campaigns.purge(context, id);
  }

  /**
   * Begins a run; where there is one already it is that one, unless the campaign is repeatable and completed.
   * @returns the run's id
   * @throws Problem `resource_deleted`, `invalid_state` while the members of the segment are not known yet, and as
   * `create`
   */
  async run(context: RequestContext, id: string): Promise<string> {
    const seen = await this.campaigns.get(context, id);
    demandCarried(context, seen.audienceType);
    this.tenants.learn(context.organization);
    const audience = mayBegin(seen) ? await this.audienceOf(context, seen) : undefined;
    return this.database.inOrganization(context, async (tx) => {
      const row = await this.campaigns.lock(tx, context, id);
      if (row.deletedAt) throw new Problem('resource_deleted');
      if (!mayBegin(row) && row.runId !== null) return row.runId;
      if (!sameAudience(seen, row)) throw new Problem('etag_mismatch');
      const version = await this.content.version(tx, row, audience);
      if (!audience?.ready) throw building();
      const { correlationId } = context;
      const runId = await this.runs.begin(tx, row, { templateVersion: version.version, correlationId });
      // Who runs it has seen the text that is pinned now, whoever wrote it.
      await tx.query(MADE, [tx.organizationId, id, ...Object.values(this.madeBy(context))]);
      await this.audit.record(tx, context, {
        action: 'messaging.campaigns.run',
        resource: { type: 'campaigns', id },
        changedFields: [],
      });
      return runId;
    });
  }

  /** Looks at a campaign as a run would. @throws Problem as `run`, but of what only its maker must be able to read */
  async runnable(context: RequestContext, id: string): Promise<RunnableCampaign> {
    const campaign = await this.campaigns.get(context, id);
    if (campaign.deletedAt) throw new Problem('resource_deleted');
    demandReadable(context, campaign.audienceType);
    const audience = await this.audienceOf(context, campaign);
    const version = await this.database.inOrganization(context, (tx) =>
      this.content.version(tx, campaign, audience),
    );
    if (!audience?.ready) throw building();
    return { campaign, version };
  }

  private async afterChange(
    tx: Transaction,
    { verb, before, row }: ResourceChange<CampaignEntity>,
  ): Promise<void> {
    if (row.runId === null) return;
    const run = { campaignId: row.id, runId: row.runId };
    if (verb === 'deleted') await this.runs.cancel(tx, run, 'campaign_canceled');
    if (verb === 'purged') await this.runs.forget(tx, row.id);
    if (verb === 'updated' && before && before.paused !== row.paused)
      await this.runs.rest(tx, run, row.paused);
  }

  private madeBy(context: RequestContext): Pick<CampaignEntity, 'makerType' | 'makerId' | 'makerSince'> {
    return { ...makerOf(context), makerSince: this.clock.now() };
  }

  private audienceOf(
    { organizationId }: RequestContext,
    { audienceType: type, audienceId: id }: Pick<CampaignContent, 'audienceType' | 'audienceId'>,
  ): Promise<KnownAudience | undefined> {
    return this.audiences.find(organizationId, { type, id });
  }

  /** Those on their way through the gate are waited for; who comes to it later finds that it rests or is called off. */
  private nothingLeaves(context: RequestContext, id: string): Promise<void> {
    return this.gate.write(context, [cancellationKey(id)], () => Promise.resolve());
  }

  private async one(context: RequestContext, row: CampaignEntity): Promise<ShownCampaign> {
    const [found] = await this.shown(context, [row]);
    return found ?? { row, run: undefined, standing: null };
  }

  private async shown(context: RequestContext, rows: readonly CampaignEntity[]): Promise<ShownCampaign[]> {
    const runs = await this.runsOf(context, rows);
    return Promise.all(
      rows.map(async (row) => {
        const standing = await this.makers.standing(carriedByCampaign(row));
        return { row, run: runs.get(row.id), standing: standing === 'unknown' ? null : standing };
      }),
    );
  }

  private async runsOf(
    context: RequestContext,
    rows: readonly CampaignEntity[],
  ): Promise<Map<string, ShownCampaign['run']>> {
    const runIds = rows.flatMap(({ runId }) => runId ?? []);
    if (runIds.length === 0) return new Map();
    return this.database.inOrganization(context, async (tx) => {
      const runs = await this.runs.shown(tx, runIds);
      const counts = await this.counts.of(tx, runIds);
      return new Map(
        rows.map((row) => {
          const [run, counted] = [runs.get(row.runId ?? ''), counts.get(row.runId ?? '')];
          return [row.id, run && counted ? { row: run, counted } : undefined];
        }),
      );
    });
  }
}

/** @throws Problem `permission_denied` for the audience, `privilege_escalation` for what is said of who is in it */
function demandCarried(context: RequestContext, type: CampaignAudience['type']): void {
  demandReadable(context, type);
  demandPermissions(context, permissionsOfCampaign(type));
}

function isMadeBy({ makerType, makerId, makerSince }: CampaignEntity, maker: MadeRow): boolean {
  return makerSince !== null && makerType === maker.makerType && makerId === maker.makerId;
}

function carriedByCampaign({
  organizationId,
  makerType,
  makerId,
  makerSince,
  audienceType,
}: CampaignEntity): Carried {
  const needed = permissionsOfCampaign(audienceType);
  return { organizationId, makerType, makerId, makerSince, needed, publisher: null };
}

function mayBegin({ runId, repeatable, state }: CampaignEntity): boolean {
  return runId === null || (repeatable && state === 'completed');
}

type Wanted = Partial<Pick<CampaignEntity, (typeof FROZEN)[number] | 'paused'>>;

/** What the body gives; what it leaves out is not there at all. */
function patchOf(dto: UpdateCampaignDto): Wanted {
  const given = {
    name: dto.name,
    channel: dto.channel,
    templateId: dto.template_id,
    audienceType: dto.audience?.type,
    audienceId: dto.audience?.id,
    category: dto.category,
    topic: dto.topic,
    data: dto.data,
    repeatable: dto.repeatable,
    paused: dto.paused,
  };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}

/** As the patch leaves it: `data` by its members, as JSON merge has it. */
function merged(row: CampaignEntity, wanted: Wanted): CampaignEntity {
  const data = mergePatch(row.data, wanted.data ?? {});
  return Object.assign(new CampaignEntity(), row, wanted, { data });
}

function changes(row: CampaignEntity, wanted: Wanted, fields: readonly (keyof Wanted)[]): boolean {
  const next = merged(row, wanted);
  return fields.some((field) => !sameJson(row[field], next[field]));
}

function sameAudience(
  one: Pick<CampaignContent, 'audienceType' | 'audienceId'>,
  other: Pick<CampaignContent, 'audienceType' | 'audienceId'>,
): boolean {
  return one.audienceType === other.audienceType && one.audienceId === other.audienceId;
}

function underWay(): Problem {
  return new Problem('invalid_state', {
    detail: 'While a campaign is under way only `paused` can be changed.',
  });
}

function ended(): Problem {
  return new Problem('invalid_state', { detail: 'The campaign has ended: it can neither rest nor go on.' });
}

function building(): Problem {
  return new Problem('invalid_state', {
    detail: 'The segment is still being built; its members are not known yet.',
  });
}
