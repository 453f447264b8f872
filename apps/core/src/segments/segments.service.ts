import { Injectable } from '@nestjs/common';
import {
  Database,
  pageOf,
  RemoteReferences,
  ResourceStores,
  sameJson,
  Whole,
  type Patch,
  type ResourceStore,
  type Transaction,
} from '@customer-platform/database';
import type { ListQuery, Page, RequestContext } from '@customer-platform/http';
import { ContactLookup } from '../people/contacts/contact-lookup.js';
import { beginRegistration, register } from './building/rule-registry.js';
import type { ExplanationDto } from './explaining/explain.dto.js';
import { SegmentExplainer } from './explaining/segment-explainer.js';
import type { Cause } from '../following/segment-follower.js';
import { SegmentSignal } from '../following/segment.signal.js';
import { PreviewSlots } from '../previews/preview-slots.js';
import { parseNewRule } from '../vocabulary/rules/parse-rule.js';
import { demandReadable } from '../vocabulary/rules/read-permissions.js';
import type { CreateSegmentDto, SegmentMemberDto, UpdateSegmentDto } from './segment.dto.js';
import { Segment } from './segment.entity.js';

const MOST_SEGMENTS = 500;

const MEMBERS = `
  SELECT member.id, member.contact_id, contact.external_id, member.entered_at, member.cause, member.left_at,
         member.left_cause
    FROM segment_members AS member
    LEFT JOIN contacts AS contact ON contact.organization_id = $1 AND contact.id = member.contact_id
   WHERE member.organization_id = $1 AND member.segment_id = $2`;

const CURRENT = `${MEMBERS} AND member.left_at IS NULL`;
const LEFT = `${MEMBERS} AND member.left_at IS NOT NULL`;

interface MemberRow {
  contact_id: string;
  external_id: string | null;
  entered_at: Date;
  cause: Cause;
  left_at: Date | null;
  left_cause: Cause | null;
}

/** Segments (core.md §7): rules by which contacts are grouped, and who is and was in them. */
@Injectable()
export class SegmentsService {
  private readonly segments: ResourceStore<Segment>;

  constructor(
    private readonly database: Database,
    private readonly lookup: ContactLookup,
    private readonly explainer: SegmentExplainer,
    private readonly slots: PreviewSlots,
    signal: SegmentSignal,
    remoteReferences: RemoteReferences,
    stores: ResourceStores,
  ) {
    this.segments = stores.of<Segment>({
      entity: Segment,
      module: 'core',
      resource: 'segments',
      largeRows: true,
      limit: MOST_SEGMENTS,
      constraints: { unique: { segments_name: { field: 'name', pointer: '/name', value: 'lower(name)' } } },
      bookkeeping: ['state', 'memberCount', 'evaluatedAt'],
      remoteReferences,
      afterChange: async (tx, context, change) => {
        await register(tx, change, context.correlationId);
        tx.afterCommit(() => signal.raise());
      },
    });
  }

  list(context: RequestContext, query: ListQuery): Promise<Page<Segment>> {
    return this.segments.page(context, query);
  }

  /**
   * Who is in it tells what its rule looks at, so that whoever writes one must be able to read that.
   * @throws Problem `invalid_segment_rule`, `permission_denied`, `duplicate_value`, `limit_reached`
   */
  create(context: RequestContext, { name, description, rule }: CreateSegmentDto): Promise<Segment> {
    demandReadable(context, parseNewRule(rule));
    const values: Partial<Segment> = {
      name,
      description: description ?? null,
      rule,
      ruleVersion: 1,
      state: 'building',
      memberCount: 0,
      evaluatedAt: null,
    };
    return this.registering(context, (tx) => this.segments.create(context, values, { tx }));
  }

  get(context: RequestContext, id: string): Promise<Segment> {
    return this.segments.get(context, id);
  }

  /** Another rule makes another version, and is applied to all contacts. @throws Problem as `create` */
  update(context: RequestContext, id: string, body: UpdateSegmentDto): Promise<Segment> {
    if (body.rule === undefined)
      return this.segments.update(context, id, (segment) => patchOf(segment, body));
    const rule = parseNewRule(body.rule);
    const patch = (segment: Segment): Patch<Segment> => {
      if (!sameJson(segment.rule, body.rule)) demandReadable(context, rule);
      return patchOf(segment, body);
    };
    return this.registering(context, (tx) => this.segments.update(context, id, patch, { tx }));
  }

  softDelete(context: RequestContext, id: string): Promise<void> {
    return this.registering(context, (tx) => this.segments.softDelete(context, id, { tx }));
  }

  /** Its rule is applied to all contacts again: nobody followed them meanwhile. */
  restore(context: RequestContext, id: string): Promise<Segment> {
    return this.registering(context, (tx) => this.segments.restore(context, id, { tx }));
  }

  /** @throws Problem `resource_referenced` while a campaign is aimed at it, `dependency_unavailable` */
  purge(context: RequestContext, id: string): Promise<void> {
    return this.segments.purge(context, id);
  }

  /** One page of those who are, or with `status=left` were, in a segment. @throws Problem `not_found` */
  members(context: RequestContext, id: string, query: ListQuery): Promise<Page<SegmentMemberDto>> {
    return this.database.inOrganization(context, async (tx) => {
      await this.segments.get(context, id, 'any', tx);
      const resolved = await this.lookup.resolveFilters(tx, context.organizationId, query);
      const select = query.parameters['status'] === 'left' ? LEFT : CURRENT;
      return pageOf<MemberRow, SegmentMemberDto>(tx, select, resolved, {
        parameters: [context.organizationId, id],
        map: toMemberDto,
      });
    });
  }

  /**
   * Why a contact is in a segment, or is not.
   * @throws Problem `not_found` for either, `rate_limited`, `dependency_unavailable`
   */
  explain(context: RequestContext, id: string, contactId: string): Promise<ExplanationDto> {
    return this.slots.hold(context, () =>
      this.database.inOrganization(context, async (tx) => {
        const segment = await this.segments.get(context, id, 'live', tx);
        return this.explainer.explain(tx, context, segment, contactId);
      }),
    );
  }

  private registering<T>(context: RequestContext, work: (tx: Transaction) => Promise<T>): Promise<T> {
    return this.database.inOrganization(context, async (tx) => {
      await beginRegistration(tx);
      return work(tx);
    });
  }
}

function patchOf(segment: Segment, { name, description, rule }: UpdateSegmentDto): Patch<Segment> {
  const patch: Patch<Segment> = { name, description };
  if (rule === undefined || sameJson(rule, segment.rule)) return patch;
  // Merged with the stored rule it would be a rule that nobody wrote.
  return { ...patch, rule: new Whole(rule), ruleVersion: segment.ruleVersion + 1 };
}

function toMemberDto({
  contact_id,
  external_id,
  entered_at,
  cause,
  left_at,
  left_cause,
}: MemberRow): SegmentMemberDto {
  return {
    contact_id,
    external_id,
    entered_at: entered_at.toISOString(),
    cause,
    left_at: left_at?.toISOString() ?? null,
    left_cause,
  };
}
