import type { SoftDeletable, ResourceChange } from '@customer-platform/database';
import { Column, Entity, PrimaryColumn } from 'typeorm';

/** What a client can ask tokens by. */
export const GRANT_TYPES = ['authorization_code', 'refresh_token', 'client_credentials'] as const;

/** One of them. */
export type GrantType = (typeof GRANT_TYPES)[number];

/** Whether a client can keep a secret. */
export const CLIENT_TYPES = ['confidential', 'public'] as const;

/** Whose people a client serves: its own organization's, or also those of all organizations below. */
export const SERVED = ['own', 'tree'] as const;

/** An OAuth client. Its id is its `client_id`. */
@Entity('oauth_clients')
export class OAuthClient implements SoftDeletable {
  @PrimaryColumn('uuid') organizationId: string;
  @PrimaryColumn('uuid') id: string;
  @Column('text') name: string;
  @Column('text') type: (typeof CLIENT_TYPES)[number];
  @Column('text', { array: true }) grantTypes: GrantType[];
  @Column('text', { array: true }) redirectUris: string[];
  @Column('text', { array: true }) postLogoutRedirectUris: string[];
  @Column('boolean') requirePkce: boolean;
  @Column('text') organizations: (typeof SERVED)[number];
  @Column('uuid', { nullable: true }) roleId: string | null;
  @Column('smallint') refreshGraceSeconds: number;
  /** SHA-256, lower-case hex; null of a public client. */
  @Column('text', { nullable: true }) secretHash: string | null;
  /** Changes with whatever ends all that the client was given. */
  @Column('uuid') generation: string;
  @Column('timestamptz') createdAt: Date;
  @Column('timestamptz') updatedAt: Date;
  @Column('timestamptz', { nullable: true }) deletedAt: Date | null;
}

/** The fields of a change, by property. */
export const FIELDS: Readonly<Record<string, string>> = {
  name: 'name',
  type: 'type',
  grantTypes: 'grant_types',
  redirectUris: 'redirect_uris',
  postLogoutRedirectUris: 'post_logout_redirect_uris',
  requirePkce: 'require_pkce',
  organizations: 'organizations',
  roleId: 'role_id',
  refreshGraceSeconds: 'refresh_grace_seconds',
  secretHash: 'client_secret',
  deletedAt: 'deleted_at',
};

/** `identity.oauth_client.*` (identity.md §9). */
export function oauthClientEvent({ verb, row, changed }: ResourceChange<OAuthClient>) {
  return {
    type: `identity.oauth_client.${verb}.v1`,
    key: row.id,
    subject: `oauth-clients/${row.id}`,
    data: {
      organization_id: row.organizationId,
      id: row.id,
      changed: changed.flatMap((property) => FIELDS[property] ?? []),
    },
  };
}
