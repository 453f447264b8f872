import { Injectable } from '@nestjs/common';
import { readConfig, serviceConfig } from '@customer-platform/config';
import {
  Database,
  newId,
  ResourceStores,
  type ResourceStore,
  type Transaction,
} from '@customer-platform/database';
import type { ListQuery, Page, RequestContext } from '@customer-platform/http';
import { Problem } from '@customer-platform/problem-json';
import { demandHeld } from '../vocabulary/escalation.js';
import { RoleGrants } from '../roles/role-grants.js';
import { SessionSweep } from '../sessions/session-sweep.js';
import { ClientReach } from './client-reach.js';
import { demandCoherent } from './client-rules.js';
import { hashClientSecret, newClientSecret } from '../vocabulary/client-secret.js';
import type { CreateOAuthClientDto, ShownClient, UpdateOAuthClientDto } from './oauth-client.dto.js';
import { OAuthClient, FIELDS, oauthClientEvent } from './oauth-client.entity.js';

const MOST_CLIENTS = 200;

const END_GENERATION = 'UPDATE oauth_clients SET generation = $3 WHERE organization_id = $1 AND id = $2';

/**
 * OAuth clients (identity.md §6). A secret is kept as a hash and shown once. What a client was given ends, within a
 * second, with its secret or with itself.
 */
@Injectable()
export class OAuthClientsService {
  private readonly clients: ResourceStore<OAuthClient>;
  private readonly local = readConfig(serviceConfig.pick({ PLATFORM_MODE: true })).PLATFORM_MODE === 'local';

  constructor(
    private readonly database: Database,
    private readonly grants: RoleGrants,
    private readonly reach: ClientReach,
    private readonly sessions: SessionSweep,
    stores: ResourceStores,
  ) {
    this.clients = stores.of<OAuthClient>({
      entity: OAuthClient,
      module: 'identity',
      resource: 'oauth_clients',
      limit: MOST_CLIENTS,
      bookkeeping: ['generation'],
      fieldNames: FIELDS,
      event: oauthClientEvent,
      afterChange: async (tx, _context, { verb, row }) => {
        // Whatever it was given is dead, also once it is restored.
        if (verb === 'deleted') await tx.query(END_GENERATION, [row.organizationId, row.id, newId()]);
        if (verb === 'deleted' || verb === 'purged') this.sessions.endSoon(tx);
      },
    });
  }

  list(context: RequestContext, query: ListQuery): Promise<Page<OAuthClient>> {
    return this.clients.page(context, query);
  }

  get(context: RequestContext, id: string): Promise<OAuthClient> {
    return this.clients.get(context, id);
  }

  /**
   * @throws Problem `validation_failed` for fields that do not fit each other, `reference_not_found`,
   *   `reference_deleted`, `role_kind_mismatch`, `privilege_escalation`, `limit_reached`
   */
  create(context: RequestContext, body: CreateOAuthClientDto): Promise<ShownClient> {
    const values = {
      name: body.name,
      type: body.type,
      grantTypes: body.grant_types ?? ['authorization_code', 'refresh_token'],
      redirectUris: body.redirect_uris ?? [],
      postLogoutRedirectUris: body.post_logout_redirect_uris ?? [],
      requirePkce: body.require_pkce ?? true,
      organizations: body.organizations ?? 'own',
      roleId: body.role_id ?? null,
      refreshGraceSeconds: body.refresh_grace_seconds ?? 0,
    } satisfies Partial<OAuthClient>;
    demandCoherent(values, this.local);
    const secret = values.type === 'confidential' ? newClientSecret() : undefined;
    const secretHash = secret === undefined ? null : hashClientSecret(secret);
    return this.database.inOrganization(context, async (tx) => {
      await this.demandRole(tx, context, values.roleId);
      await this.reach.demand(tx, context, values);
      const client = await this.clients.create(
        context,
        { ...values, secretHash, generation: newId() },
        { tx },
      );
      return shown(client, secret);
    });
  }

  /**
   * @throws Problem as `create`, `resource_deleted`, `etag_mismatch`, and `validation_failed` for the secret of a public
   *   client
   */
  update(context: RequestContext, id: string, body: UpdateOAuthClientDto): Promise<ShownClient> {
    const secret = body.rotate_secret ? newClientSecret() : undefined;
    return this.database.inOrganization(context, async (tx) => {
      const client = await this.clients.update(
        context,
        id,
        async (before) => {
          const changes = changesOf(body);
          const after = { ...before, ...changes };
          demandCoherent(after, this.local);
          if (secret !== undefined && before.type === 'public') throw noSecret();
          // A new secret is a new way to act with the role, and in the sessions of whoever signs in.
          if (secret !== undefined || after.roleId !== before.roleId)
            await this.demandRole(tx, context, after.roleId);
          await this.reach.demand(tx, context, after, before);
          if (secret === undefined) return changes;
          return { ...changes, secretHash: hashClientSecret(secret), generation: newId() };
        },
        { tx },
      );
      // Of people whom it does not serve any more, too.
      if (secret !== undefined || body.organizations === 'own') this.sessions.endSoon(tx);
      return shown(client, secret);
    });
  }

  /** Ends everything that it was given. */
  softDelete(context: RequestContext, id: string): Promise<void> {
    return this.clients.softDelete(context, id);
  }

  /** With its secret; what it was given stays ended. @throws Problem `privilege_escalation`, `not_deleted`, `limit_reached` */
  restore(context: RequestContext, id: string): Promise<OAuthClient> {
    const guard = async (tx: Transaction, client: OAuthClient) => {
      await this.demandRole(tx, context, client.roleId);
      await this.reach.demand(tx, context, client);
    };
    return this.clients.restore(context, id, { guard });
  }

  /** @throws Problem `not_soft_deleted` */
  purge(context: RequestContext, id: string): Promise<void> {
    return this.clients.purge(context, id);
  }

  /** A client with a role is a principal: nobody gives what they do not hold. */
  private async demandRole(tx: Transaction, context: RequestContext, id: string | null): Promise<void> {
    if (id === null) return;
    demandHeld(context, await this.grants.referenced(tx, { id, kind: 'machine', pointer: '/role_id' }));
  }
}

/** Absent stays as it is; null, where it is taken, clears. */
function changesOf(body: UpdateOAuthClientDto): Partial<OAuthClient> {
  const changes: Partial<OAuthClient> = {
    name: body.name,
    grantTypes: body.grant_types,
    redirectUris: body.redirect_uris,
    postLogoutRedirectUris: body.post_logout_redirect_uris,
    requirePkce: body.require_pkce,
    organizations: body.organizations,
    roleId: body.role_id,
    refreshGraceSeconds: body.refresh_grace_seconds,
  };
  return Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined));
}

function noSecret(): Problem {
  const detail = 'A public client has no secret.';
  return Problem.validation([{ pointer: '/rotate_secret', code: 'not_allowed', detail }]);
}

function shown(client: OAuthClient, secret: string | undefined): ShownClient {
  return secret === undefined ? { client } : { client, secret };
}
