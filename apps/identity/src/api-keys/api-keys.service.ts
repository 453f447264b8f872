import { Injectable } from '@nestjs/common';
import { Audit } from '@customer-platform/audit';
import { afterLocks, Clock, Database, pageOf, type Transaction } from '@customer-platform/database';
import type { ListQuery, Page, RequestContext } from '@customer-platform/http';
import { Problem } from '@customer-platform/problem-json';
import { demandHeld } from '../vocabulary/escalation.js';
import { RoleGrants } from '../roles/role-grants.js';
import type { ApiKeyDto, ApiKeyStatus, CreateApiKeyDto, IssuedApiKeyDto } from './api-key.dto.js';
import { ApiKeyIssuing, type ApiKeyFacts, type IssuedApiKey } from './api-key.issuing.js';

interface ApiKeyRow {
  id: string;
  name: string;
  role_id: string;
  prefix: string;
  status: ApiKeyStatus;
  expires_at: Date | null;
  last_used_at: Date | null;
  rotated_from_id: string | null;
  created_at: Date;
  updated_at: Date;
}

const SELECT = `
SELECT id, name, role_id, prefix, expires_at, last_used_at, rotated_from_id, created_at, updated_at,
       CASE WHEN revoked_at IS NOT NULL THEN 'revoked'
            WHEN expires_at <= now() THEN 'expired'
            WHEN rotated_at IS NOT NULL THEN 'expiring'
            ELSE 'active' END AS status
  FROM api_keys WHERE organization_id = $1`;

/** The former key ends after the overlap, or by its own end if that is earlier. */
const ROTATE = `
UPDATE api_keys SET rotated_at = $3, expires_at = least(expires_at, $4), updated_at = $3
 WHERE organization_id = $1 AND id = $2
RETURNING id, prefix, role_id, expires_at`;

/** Rotated ones too, for as long as they work. */
const COUNT_WORKING = `
SELECT count(*)::int AS count FROM api_keys
 WHERE organization_id = $1 AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > now())`;

/** An organization is issued no further key while so many work (identity.md §6). */
const MOST_WORKING = 200;

/** API keys: machines' credentials, each of a machine role of the organization (identity.md §6). */
@Injectable()
export class ApiKeysService {
  constructor(
    private readonly database: Database,
    private readonly grants: RoleGrants,
    private readonly issuing: ApiKeyIssuing,
    private readonly audit: Audit,
    private readonly clock: Clock,
  ) {}

  list(context: RequestContext, query: ListQuery): Promise<Page<ApiKeyDto>> {
    return this.database.inOrganization(context, (tx) =>
      pageOf<ApiKeyRow, ApiKeyDto>(tx, SELECT, query, {
        parameters: [context.organizationId],
        map: toApiKeyDto,
      }),
    );
  }

  /**
   * Issues a key of a role whose permissions the caller holds.
   * @throws Problem `reference_not_found`, `reference_deleted`, `role_kind_mismatch`, `privilege_escalation`,
   *   `limit_reached`
   */
  async create(context: RequestContext, wish: CreateApiKeyDto): Promise<IssuedApiKeyDto> {
    return this.database.inOrganization(context, async (tx) => {
      demandHeld(
        context,
        await this.grants.referenced(tx, { id: wish.role_id, kind: 'machine', pointer: '/role_id' }),
      );
      await this.enforceLimit(tx);
      const issued = await this.issuing.issue(tx, context, {
        name: wish.name,
        roleId: wish.role_id,
        expiresAt: wish.expires_at ? new Date(wish.expires_at) : null,
      });
      return this.shown(tx, issued);
    });
  }

  /**
   * Replaces a key: a new one of the same name, role and length of life; the former works for `expiresIn` seconds yet,
   * and the one before that no more. However many keys there are, so that a key can always be replaced.
   * @throws Problem `not_found`, `invalid_state` for a key that is not active, `reference_deleted` if
   *   its role is deleted, `privilege_escalation`
   */
  async rotate(context: RequestContext, id: string, expiresIn: number): Promise<IssuedApiKeyDto> {
    return this.database.inOrganization(context, async (tx) => {
      const [former, now] = await afterLocks(this.clock, this.lock(tx, id));
      const state = hasEnded(former, now) ? 'expired' : former.status;
      if (state !== 'active') {
        throw new Problem('invalid_state', {
          detail: `Only an active key can be rotated; this one is ${state}.`,
          members: { state },
        });
      }
      demandHeld(context, await this.grants.referenced(tx, { id: former.role_id, kind: 'machine' }));
      const issued = await this.issuing.issue(tx, context, {
        name: former.name,
        roleId: former.role_id,
        expiresAt: renewed(former, now),
        createdAt: now,
        rotatedFromId: id,
      });
      // Of one line two work, so that replacing them makes them no more than two each.
      if (former.rotated_from_id !== null) await this.issuing.revoke(tx, context, former.rotated_from_id);
      await this.endFormer(tx, context, id, now, new Date(now.getTime() + expiresIn * 1_000), issued);
      return this.shown(tx, issued);
    });
  }

  /** Ends a key at once, everywhere within a second. What has ended already stays as it is. */
  async revoke(context: RequestContext, id: string): Promise<void> {
    await this.database.inOrganization(context, async (tx) => {
      await this.lock(tx, id);
      await this.issuing.revoke(tx, context, id);
    });
  }

  private async endFormer(
    tx: Transaction,
    context: RequestContext,
    id: string,
    now: Date,
    end: Date,
    successor: IssuedApiKey,
  ): Promise<void> {
    const [former] = await tx.query<ApiKeyFacts>(ROTATE, [tx.organizationId, id, now, end]);
    if (!former) throw new Problem('not_found');
    await this.audit.record(tx, context, {
      action: 'identity.api_keys.rotate',
      resource: { type: 'api_keys', id },
      changedFields: [successor.id],
    });
    await this.issuing.publish(tx, context, 'rotated', former);
  }

  /** Creations take turns, so that two do not both find room for the last one. */
  private async enforceLimit(tx: Transaction): Promise<void> {
    await tx.query(`SELECT pg_advisory_xact_lock(hashtextextended($1, 0))`, [
      `limit:api_keys:${tx.organizationId}`,
    ]);
    const [row] = await tx.query<{ count: number }>(COUNT_WORKING, [tx.organizationId]);
    if ((row?.count ?? 0) < MOST_WORKING) return;
    throw new Problem('limit_reached', {
      detail: `At most ${String(MOST_WORKING)} API keys can work, those that were rotated and have not ended yet among them.`,
      members: { limit: MOST_WORKING },
    });
  }

  private async lock(tx: Transaction, id: string): Promise<ApiKeyRow> {
    const [row] = await tx.query<ApiKeyRow>(`${SELECT} AND id = $2 FOR UPDATE`, [tx.organizationId, id]);
    if (!row) throw new Problem('not_found');
    return row;
  }

  private async shown(tx: Transaction, { id, key }: IssuedApiKey): Promise<IssuedApiKeyDto> {
    return { ...toApiKeyDto(await this.lock(tx, id)), key };
  }
}

/** Its state as it was read is that of the beginning of the transaction, before it was waited for. */
function hasEnded({ status, expires_at: end }: ApiKeyRow, now: Date): boolean {
  return status !== 'revoked' && end !== null && end <= now;
}

/** The new key lives as long as the former was given to live. */
function renewed(former: ApiKeyRow, now: Date): Date | null {
  if (former.expires_at === null) return null;
  return new Date(now.getTime() + former.expires_at.getTime() - former.created_at.getTime());
}

function toApiKeyDto(row: ApiKeyRow): ApiKeyDto {
  return {
    id: row.id,
    name: row.name,
    role_id: row.role_id,
    prefix: row.prefix,
    status: row.status,
    expires_at: row.expires_at?.toISOString() ?? null,
    last_used_at: row.last_used_at?.toISOString() ?? null,
    rotated_from_id: row.rotated_from_id,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  };
}
