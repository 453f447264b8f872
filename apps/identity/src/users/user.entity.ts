import type { SoftDeletable, ResourceChange } from '@customer-platform/database';
import { Column, Entity, PrimaryColumn } from 'typeorm';

/** States of a user (identity.md §3). */
export const USER_STATUSES = ['invited', 'active', 'suspended'] as const;

/** A person. `organizationId` is the home. The password is no property: nothing that reads users reads it. */
@Entity('users')
export class User implements SoftDeletable {
  @PrimaryColumn('uuid') organizationId: string;
  @PrimaryColumn('uuid') id: string;
  @Column('text') email: string;
  @Column('text') name: string;
  @Column('text', { nullable: true }) locale: string | null;
  @Column('text', { nullable: true }) timezone: string | null;
  @Column('text') status: (typeof USER_STATUSES)[number];
  @Column('boolean') emailVerified: boolean;
  @Column('timestamptz', { nullable: true }) lastSignInAt: Date | null;
  @Column('timestamptz') createdAt: Date;
  @Column('timestamptz') updatedAt: Date;
  @Column('timestamptz', { nullable: true }) deletedAt: Date | null;
}

const FIELDS: Readonly<Record<string, string>> = {
  email: 'email',
  name: 'name',
  locale: 'locale',
  timezone: 'timezone',
  status: 'status',
  deletedAt: 'deleted_at',
};

/** `identity.user.*` (identity.md §9): never the address or the name. */
export function userEvent({ verb, row, changed }: ResourceChange<User>) {
  const turned = row.status === 'suspended' ? 'suspended' : 'reactivated';
  return {
    type: `identity.user.${changed.includes('status') && verb === 'updated' ? turned : verb}.v1`,
    key: row.id,
    subject: `users/${row.id}`,
    data: {
      organization_id: row.organizationId,
      id: row.id,
      changed: changed.flatMap((property) => FIELDS[property] ?? []),
    },
  };
}
