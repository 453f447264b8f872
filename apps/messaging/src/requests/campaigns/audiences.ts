import { Injectable } from '@nestjs/common';
import { InternalCallRefused, InternalClient } from '@customer-platform/authorization';
import { isUuid } from '@customer-platform/database';
import { log, type RequestContext } from '@customer-platform/http';
import { Problem } from '@customer-platform/problem-json';
import { PERMISSION_OF_AUDIENCE } from '../../vocabulary/makers/carried-permissions.js';
import type { CampaignAudience } from './campaign.js';

/** What is asked for while somebody waits for the answer. */
const FIND_TIMEOUT_MS = 2_000;
const PAGE_TIMEOUT_MS = 15_000;
/** As many as core and crm give in one call. */
const MEMBERS_AT_ONCE = 5_000;

const MODULES = { segment: 'core', list: 'crm' } as const;

/** A segment or list, as far as a campaign needs to know it. */
export interface KnownAudience {
  readonly deleted: boolean;
  /** Whether its members are known. */
  readonly ready: boolean;
}

/** Up to whom an audience has been read. */
interface AudiencePosition {
  readonly at: string;
  readonly id: string;
}

/** Some members; `next` is undefined where these are the last. */
interface AudienceMembers {
  readonly contactIds: readonly string[];
  readonly next: AudiencePosition | undefined;
}

/** An answer of another module that cannot be read: a defect between the two. */
class UnreadableAnswer extends Error {}

/** Asks core for segments and crm for lists (contract.md §9). Never within a transaction. */
@Injectable()
export class Audiences {
  constructor(private readonly internal: InternalClient) {}

  /** @returns undefined where the organization has none of that id @throws Problem `dependency_unavailable` */
  async find(organizationId: string, { type, id }: CampaignAudience): Promise<KnownAudience | undefined> {
    const found = await this.ask(type, '', { organization_id: organizationId, id }, FIND_TIMEOUT_MS);
    if (found === undefined) return undefined;
    const { deleted, ready } = found;
    if (typeof deleted !== 'boolean' || typeof ready !== 'boolean') throw unreadable(type);
    return { deleted, ready };
  }

  /**
   * Some of those who were members at `until` and are still.
   * @returns undefined where it is gone @throws Problem `dependency_unavailable`
   */
  async members(
    organizationId: string,
    { type, id }: CampaignAudience,
    { until, after }: { readonly until: string; readonly after: AudiencePosition | undefined },
    timeoutMs = PAGE_TIMEOUT_MS,
  ): Promise<AudienceMembers | undefined> {
    const position = after ? { after_at: after.at, after_id: after.id } : {};
    const body = { organization_id: organizationId, id, until, limit: MEMBERS_AT_ONCE, ...position };
    const found = await this.ask(type, '/members', body, timeoutMs);
    if (found === undefined) return undefined;
    const { contact_ids: ids, next } = found;
    if (!Array.isArray(ids) || !ids.every(isId)) throw unreadable(type);
    return { contactIds: ids, next: next === null ? undefined : positionOf(type, next) };
  }

  private async ask(
    type: CampaignAudience['type'],
    path: string,
    body: object,
    timeoutMs: number,
  ): Promise<Record<string, unknown> | undefined> {
    const module = MODULES[type];
    try {
      const call = {
        method: 'POST',
        path: `/internal/audience${path}`,
        body,
        timeoutMs,
        lane: 'audience',
      } as const;
      const answer = await this.internal.callOptional<unknown>(module, call);
      if (answer === undefined) return undefined;
      if (typeof answer !== 'object' || answer === null) throw unreadable(type);
      return { ...answer };
    } catch (error) {
      if (error instanceof Problem) throw error;
      const status = error instanceof InternalCallRefused ? error.status : undefined;
      log.error({ err: error, status, module }, 'An audience could not be read');
      throw new Problem('dependency_unavailable', {
        detail: `The module ${module} does not answer; try again shortly.`,
        cause: error,
      });
    }
  }
}

/** @throws Problem `permission_denied` for whoever cannot see who is in the audience */
export function demandReadable(context: RequestContext, type: CampaignAudience['type']): void {
  const permission = PERMISSION_OF_AUDIENCE[type];
  if (context.can(permission)) return;
  throw new Problem('permission_denied', {
    detail: `Aiming a campaign at a ${type} needs the permission ${permission}.`,
    members: { permission },
  });
}

function positionOf(type: CampaignAudience['type'], value: unknown): AudiencePosition {
  const { at, id } = (value ?? {}) as Record<string, unknown>;
  if (typeof at !== 'string' || Number.isNaN(Date.parse(at)) || !isId(id)) throw unreadable(type);
  return { at, id };
}

function isId(value: unknown): value is string {
  return typeof value === 'string' && isUuid(value);
}

function unreadable(type: CampaignAudience['type']): UnreadableAnswer {
  return new UnreadableAnswer(`${MODULES[type]} answered what is no ${type}`);
}
