import { Injectable } from '@nestjs/common';
import {
  AuthorizationSource,
  RegistryUnavailable,
  UnknownCredential,
  type Acceptance,
  type ChangesPage,
  type ClientClaims,
  type KeyUse,
  type MakerClaims,
  type ResolvedCredential,
  type SessionClaims,
  type SigningKeySet,
  type TenantClaims,
} from '@customer-platform/authorization';
import { SigningKeys } from '@customer-platform/database';
import { moduleSettings } from '../vocabulary/organizations/organization-settings.js';
import { effectiveLimits } from '../vocabulary/organizations/effective-limits.js';
import { ACCESS_TOKENS, LONGEST_ACCESS_TOKEN_LIFE_S } from '../sessions/access-token.issuing.js';
import { READ_CHANGES, type ChangesRow } from './change.statement.js';
import { CONFIRM_ACCEPTANCES, NOTE_KEY_USES } from './confirm.statement.js';
import { permissionsAs } from './permissions-as.js';
import { withinScopes } from '../vocabulary/api-scopes.js';
import { restrictionOf } from '../vocabulary/restriction.js';
import { RegistryPool, type NamedStatement } from './registry.pool.js';
import {
  RESOLVE_API_KEY,
  RESOLVE_API_KEY_BY_ID,
  RESOLVE_CLIENT,
  RESOLVE_IMPERSONATION,
  RESOLVE_MAKING_CLIENT,
  RESOLVE_MAKING_KEY,
  RESOLVE_MEMBER,
  RESOLVE_ORGANIZATION,
  RESOLVE_SESSION,
  type ResolvedKeyRow,
} from './resolve.statement.js';

/** How one who has made something is found, whatever credential they had then. */
const MAKERS: Readonly<Record<MakerClaims['maker_type'], NamedStatement>> = {
  api_key: RESOLVE_MAKING_KEY,
  oauth_client: RESOLVE_MAKING_CLIENT,
  user: RESOLVE_MEMBER,
};

/**
 * The registry itself (identity.md §8): what a credential may do, which organizations' rights changed, which keys were
 * valid when, which were used. Identity's own authorization and the internal routes ask it alike.
 */
@Injectable()
export class DatabaseAuthorizationSource extends AuthorizationSource {
  constructor(
    private readonly pool: RegistryPool,
    private readonly keys: SigningKeys,
  ) {
    super();
  }

  override resolve(keyHash: string, timeoutMs: number): Promise<ResolvedCredential> {
    return this.resolveBy(RESOLVE_API_KEY, [fromHex(keyHash)], timeoutMs);
  }

  override resolveTenant(tenant: TenantClaims, timeoutMs: number): Promise<ResolvedCredential> {
    const { organization_id: organizationId, api_key_id: keyId } = tenant;
    return keyId === undefined
      ? this.resolveBy(RESOLVE_ORGANIZATION, [organizationId], timeoutMs)
      : this.resolveBy(RESOLVE_API_KEY_BY_ID, [organizationId, keyId], timeoutMs);
  }

  /**
   * What is no session may be an impersonation, which no session shares its id with: each is answered by one statement,
   * of one snapshot. Nobody pays for the second look but who comes as another.
   */
  override resolveSession(session: SessionClaims, timeoutMs: number): Promise<ResolvedCredential> {
    const { organization_id: organizationId, session_id: id, user_id: userId } = session;
    const values = [organizationId, id, userId];
    return within(timeoutMs, this.ofSession(values)).then(toAnswer);
  }

  override resolveClient(client: ClientClaims, timeoutMs: number): Promise<ResolvedCredential> {
    const { organization_id: organizationId, client_id: id, client_generation: generation } = client;
    return this.resolveBy(RESOLVE_CLIENT, [organizationId, id, generation], timeoutMs);
  }

  override resolveMaker(maker: MakerClaims, timeoutMs: number): Promise<ResolvedCredential> {
    const { organization_id: organizationId, maker_type: type, maker_id: id } = maker;
    return this.resolveBy(MAKERS[type], [organizationId, id], timeoutMs);
  }

  override async signingKeys(timeoutMs: number): Promise<SigningKeySet> {
    const keys = await within(timeoutMs, this.keys.shown(ACCESS_TOKENS, LONGEST_ACCESS_TOKEN_LIFE_S * 1_000));
    return { keys };
  }

  override async changes(cursor: string | undefined, timeoutMs: number): Promise<ChangesPage> {
    const [incarnation, since] = parseCursor(cursor);
    const [row] = await within(timeoutMs, this.pool.select<ChangesRow>(READ_CHANGES, [since ?? null]));
    if (!row) throw new RegistryUnavailable('The change feed has no row');
    const reset = cursor !== undefined && (row.ahead === true || row.incarnation !== incarnation);
    return { cursor: `${row.incarnation}~${row.cursor}`, reset, changes: reset ? [] : row.changes };
  }

  override async confirm(acceptances: readonly Acceptance[]): Promise<boolean[]> {
    const rows = await this.pool.select<{ valid: boolean }>(CONFIRM_ACCEPTANCES, [
      acceptances.map(({ key_hash: hash }) => fromHex(hash)),
      acceptances.map(({ accepted_at: at }) => at),
      acceptances.map(({ permission }) => permission ?? null),
    ]);
    return rows.map(({ valid }) => valid);
  }

  override async reportUsage(uses: readonly KeyUse[]): Promise<void> {
    await this.pool.select(NOTE_KEY_USES, [
      uses.map(({ organization_id: organizationId }) => organizationId),
      uses.map(({ key_id: id }) => id),
      uses.map(({ last_used_at: at }) => at),
    ]);
  }

  private async resolveBy(
    statement: NamedStatement,
    values: readonly unknown[],
    timeoutMs: number,
  ): Promise<ResolvedCredential> {
    const [row] = await within(timeoutMs, this.pool.select<ResolvedKeyRow>(statement, values));
    return toAnswer(row);
  }

  private async ofSession(values: readonly unknown[]): Promise<ResolvedKeyRow | undefined> {
    const [session] = await this.pool.select<ResolvedKeyRow>(RESOLVE_SESSION, values);
    if (session) return session;
    const [impersonation] = await this.pool.select<ResolvedKeyRow>(RESOLVE_IMPERSONATION, values);
    return impersonation;
  }
}

function toAnswer(row: ResolvedKeyRow | undefined): ResolvedCredential {
  if (!row) throw new UnknownCredential('unknown');
  if (row.expired) throw new UnknownCredential('expired');
  return toResolvedCredential(row);
}

function toResolvedCredential(row: ResolvedKeyRow): ResolvedCredential {
  const type = typeOf(row);
  const { limits, chain } = effectiveLimits(row.settings, row.ancestors);
  const tenant = tenantOf(row);
  return {
    principal: { type, id: row.id },
    actor: {
      type,
      id: row.id,
      ...(row.impersonator_id === undefined ? {} : { impersonator_id: row.impersonator_id }),
    },
    organization: {
      id: row.organization_id,
      status: row.status,
      settings: { ...moduleSettings(row.settings, limits), locale: row.locale, timezone: row.timezone },
      ...(tenant === undefined ? {} : { tenant_id: tenant }),
      ...(chain.length === 0 ? {} : { ancestors: chain }),
    },
    permissions: withinScopes(
      row.impersonator_permissions === undefined
        ? row.permissions
        : permissionsAs(row.permissions, row.impersonator_permissions),
      row.api_scopes ?? null,
    ),
    restriction: restrictionOf(row),
    ...(row.session_id === undefined ? {} : { session_id: row.session_id }),
    epoch: Number(row.epoch),
    expires_in_ms: row.expires_in_ms,
  };
}

/** Of those above the root is the first; whoever has none above is the root. */
function tenantOf({ organization_id: id, ancestors }: ResolvedKeyRow): string | undefined {
  if (ancestors === null) return undefined;
  return ancestors[1]?.id ?? id;
}

function typeOf(row: ResolvedKeyRow): ResolvedCredential['principal']['type'] {
  const { id, organization_id, session_id, is_user, is_client } = row;
  if (session_id !== undefined || is_user) return 'user';
  if (is_client) return 'oauth_client';
  return id === organization_id ? 'organization' : 'api_key';
}

/** What does not come in time is silence; the answer that comes late is nobody's any more. */
async function within<T>(timeoutMs: number, answer: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new RegistryUnavailable('The registry is too slow')), timeoutMs);
  });
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
  }
}

function fromHex(hash: string): Buffer {
  return Buffer.from(hash, 'hex');
}

function parseCursor(cursor: string | undefined): [incarnation?: string, since?: string] {
  const parts = /^([\d.]{1,30})~(\d{1,20})$/.exec(cursor ?? '');
  return parts ? [parts[1], parts[2]] : [];
}
