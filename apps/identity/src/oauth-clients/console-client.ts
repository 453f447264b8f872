import { Injectable } from '@nestjs/common';
import { Audit, type AuditContext } from '@customer-platform/audit';
import { CONSOLE_CLIENT_ID, CONSOLE_PATHS } from '@customer-platform/config';
import { Clock, newId, type Transaction } from '@customer-platform/database';
import { Outbox } from '@customer-platform/event-bus';
import { faultOfUri } from './client-rules.js';

/** What its people's tokens are renewed with. */
const GRANTS = ['authorization_code', 'refresh_token'];

const HELD = `
SELECT redirect_uris, post_logout_redirect_uris, deleted_at,
       type = 'public' AND organizations = 'tree' AND require_pkce AND grant_types = $3::text[] AND role_id IS NULL AS is_whole
  FROM oauth_clients WHERE organization_id = $1 AND id = $2 FOR UPDATE`;

const INSERT = `
INSERT INTO oauth_clients
  (organization_id, id, name, type, grant_types, redirect_uris, post_logout_redirect_uris, require_pkce, organizations,
   refresh_grace_seconds, generation, created_at, updated_at)
VALUES ($1, $2, 'Console', 'public', $3, $4, $5, true, 'tree', 0, $6, $7, $7)`;

/** Its name and its grace are for the root's administrators to change. */
const UPDATE = `
UPDATE oauth_clients
   SET type = 'public', secret_hash = NULL, grant_types = $3, redirect_uris = $4, post_logout_redirect_uris = $5,
       require_pkce = true, organizations = 'tree', role_id = NULL, deleted_at = NULL,
       updated_at = greatest($6::timestamptz, updated_at + interval '1 ms')
 WHERE organization_id = $1 AND id = $2`;

interface HeldRow {
  redirect_uris: string[];
  post_logout_redirect_uris: string[];
  deleted_at: Date | null;
  is_whole: boolean;
}

/** The Console's client as it is now. */
export interface RegisteredConsole {
  readonly clientId: string;
  readonly redirectUris: readonly string[];
  readonly postLogoutRedirectUris: readonly string[];
  readonly changed: boolean;
}

/** Whether people can be sent back to a Console below that address. */
export function isConsoleUrl(url: string): boolean {
  return faultOfUri(url + CONSOLE_PATHS.callback, 'public') === undefined;
}

/**
 * The Console's client: the root's own, so that people of every organization are sent to it unasked (identity.md §6), and
 * only the root's administrators see it among clients or change it. Its id is the same everywhere.
 */
@Injectable()
export class ConsoleClient {
  constructor(
    private readonly audit: Audit,
    private readonly outbox: Outbox,
    private readonly clock: Clock,
  ) {}

  /** In the root organization, which `tx` is bound to. Two at once take turns. */
  async register(tx: Transaction, context: AuditContext, url: string): Promise<RegisteredConsole> {
    const { home, callback, silent } = CONSOLE_PATHS;
    const redirectUris = [callback, silent, home].map((path) => url + path);
    const postLogoutRedirectUris = [url + home];
    const registered = { clientId: CONSOLE_CLIENT_ID, redirectUris, postLogoutRedirectUris };
    await tx.query(`SELECT pg_advisory_xact_lock(hashtextextended('console-client', 0))`);
    const [held] = await tx.query<HeldRow>(HELD, [tx.organizationId, CONSOLE_CLIENT_ID, GRANTS]);
    const values = [tx.organizationId, CONSOLE_CLIENT_ID, GRANTS, redirectUris, postLogoutRedirectUris];
    if (!held) {
      await tx.query(INSERT, [...values, newId(), this.clock.now()]);
      await this.tell(tx, context, 'created', ['name', 'type', 'redirect_uris', 'post_logout_redirect_uris']);
      return { ...registered, changed: true };
    }
    const isSame =
      held.is_whole &&
      held.deleted_at === null &&
      isEqual(held.redirect_uris, redirectUris) &&
      isEqual(held.post_logout_redirect_uris, postLogoutRedirectUris);
    if (isSame) return { ...registered, changed: false };
    await tx.query(UPDATE, [...values, this.clock.now()]);
    const verb = held.deleted_at === null ? 'updated' : 'restored';
    await this.tell(tx, context, verb, ['redirect_uris', 'post_logout_redirect_uris']);
    return { ...registered, changed: true };
  }

  private async tell(
    tx: Transaction,
    context: AuditContext,
    verb: 'created' | 'updated' | 'restored',
    changed: string[],
  ): Promise<void> {
    const { organizationId } = tx;
    await this.audit.record(tx, context, {
      action: `identity.oauth_clients.${ACTIONS[verb]}`,
      resource: { type: 'oauth_clients', id: CONSOLE_CLIENT_ID },
      changedFields: changed,
    });
    await this.outbox.append(tx, {
      type: `identity.oauth_client.${verb}.v1`,
      organizationId,
      key: CONSOLE_CLIENT_ID,
      subject: `oauth-clients/${CONSOLE_CLIENT_ID}`,
      data: { organization_id: organizationId, id: CONSOLE_CLIENT_ID, changed },
      correlationId: context.correlationId,
    });
  }
}

const ACTIONS = { created: 'create', updated: 'update', restored: 'restore' } as const;

function isEqual(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((uri, at) => uri === other[at]);
}
