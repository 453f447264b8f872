import type { SoftDeletable, ResourceChange } from '@customer-platform/database';
import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { StoredSettings } from '../vocabulary/organizations/organization-settings.js';

/** States of an organization (identity.md §2). */
export const ORGANIZATION_STATUSES = ['active', 'suspended'] as const;

/** An organization: its `organizationId` is its own id, its `path` leads to it from the root. */
@Entity('organizations')
export class Organization implements SoftDeletable {
  @PrimaryColumn('uuid') organizationId: string;
  @Column('uuid') id: string;
  @Column('uuid', { nullable: true }) parentId: string | null;
  @Column('uuid', { array: true }) path: string[];
  @Column('text') name: string;
  @Column('text') slug: string;
  @Column('text') status: (typeof ORGANIZATION_STATUSES)[number];
  @Column('text') locale: string;
  @Column('text') timezone: string;
  @Column('jsonb') settings: StoredSettings;
  @Column('timestamptz', { nullable: true }) suspendedAt: Date | null;
  @Column('timestamptz', { nullable: true }) reactivatedAt: Date | null;
  @Column('timestamptz') createdAt: Date;
  @Column('timestamptz') updatedAt: Date;
  @Column('timestamptz', { nullable: true }) deletedAt: Date | null;
}

const FIELDS: Readonly<Record<string, string>> = {
  name: 'name',
  slug: 'slug',
  status: 'status',
  locale: 'locale',
  timezone: 'timezone',
  settings: 'settings',
  deletedAt: 'deleted_at',
};

/** `identity.organization.*` (identity.md §9). The event is the changed organization's own, whoever changed it. */
export function organizationEvent({ verb, row, changed }: ResourceChange<Organization>) {
  const turned = row.status === 'suspended' ? 'suspended' : 'reactivated';
  return {
    type: `identity.organization.${changed.includes('status') ? turned : verb}.v1`,
    organizationId: row.id,
    key: row.id,
    subject: `organizations/${row.id}`,
    data: {
      organization_id: row.id,
      id: row.id,
      slug: row.slug,
      changed: changed.flatMap((property) => FIELDS[property] ?? []),
    },
  };
}
