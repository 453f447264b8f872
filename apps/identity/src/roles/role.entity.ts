import type { SoftDeletable, ResourceChange } from '@customer-platform/database';
import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { RoleKind } from './built-in-roles.js';

/** A role; what it permits stands in `role_permissions`, or in `built_in_permissions` for a built-in one. */
@Entity('roles')
export class Role implements SoftDeletable {
  @PrimaryColumn('uuid') organizationId: string;
  @PrimaryColumn('uuid') id: string;
  @Column('text') name: string;
  @Column('text', { nullable: true }) description: string | null;
  @Column('text') kind: RoleKind;
  /** Names a built-in role. */
  @Column('text', { nullable: true }) key: string | null;
  @Column('timestamptz') createdAt: Date;
  @Column('timestamptz') updatedAt: Date;
  @Column('timestamptz', { nullable: true }) deletedAt: Date | null;
}

/** The fields of a change, by property. */
const FIELDS: Readonly<Record<string, string>> = {
  name: 'name',
  description: 'description',
  kind: 'kind',
  permissions: 'permissions',
  deletedAt: 'deleted_at',
};

/** `identity.role.*` (identity.md §9). */
export function roleEvent({ verb, row, changed }: ResourceChange<Role>) {
  return {
    type: `identity.role.${verb}.v1`,
    key: row.id,
    subject: `roles/${row.id}`,
    data: {
      organization_id: row.organizationId,
      id: row.id,
      changed: changed.flatMap((property) => FIELDS[property] ?? []),
    },
  };
}
