import type { SoftDeletable, ResourceChange } from '@customer-platform/database';
import { Column, Entity, PrimaryColumn } from 'typeorm';

/** States of a connection (identity.md §6). */
export const SSO_STATUSES = ['draft', 'active', 'inactive'] as const;

/** A provider at which an organization's people sign in. */
@Entity('sso_connections')
export class SsoConnection implements SoftDeletable {
  @PrimaryColumn('uuid') organizationId: string;
  @PrimaryColumn('uuid') id: string;
  @Column('text') name: string;
  @Column('text') protocol: 'oidc';
  /** As discovery gives it, character by character. */
  @Column('text') issuer: string;
  @Column('text') clientId: string;
  /** Sealed. */
  @Column('text') clientSecret: string;
  @Column('text', { array: true }) domains: string[];
  @Column('boolean') enforced: boolean;
  /** Since when it is, while active; it stays when that ends. */
  @Column('timestamptz', { nullable: true }) enforcedAt: Date | null;
  @Column('boolean') jit: boolean;
  @Column('uuid', { array: true }) jitRoleIds: string[];
  @Column('text') status: (typeof SSO_STATUSES)[number];
  @Column('timestamptz') createdAt: Date;
  @Column('timestamptz') updatedAt: Date;
  @Column('timestamptz', { nullable: true }) deletedAt: Date | null;
}

/** The fields of a change, by property. */
const FIELDS: Readonly<Record<string, string>> = {
  name: 'name',
  protocol: 'protocol',
  issuer: 'issuer',
  clientId: 'client_id',
  clientSecret: 'client_secret',
  domains: 'domains',
  domainProofs: 'domain_proofs',
  enforced: 'enforced',
  jit: 'jit',
  jitRoleIds: 'jit_role_ids',
  status: 'status',
  deletedAt: 'deleted_at',
};

/** `identity.sso_connection.*` (identity.md §9). */
export function ssoConnectionEvent({ verb, row, changed }: ResourceChange<SsoConnection>) {
  return {
    type: `identity.sso_connection.${verb}.v1` as const,
    key: row.id,
    subject: `sso-connections/${row.id}`,
    data: {
      organization_id: row.organizationId,
      id: row.id,
      changed: changed.flatMap((property) => FIELDS[property] ?? []),
    },
  };
}
