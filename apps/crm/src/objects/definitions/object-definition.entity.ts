import type { SoftDeletable, ResourceChange } from '@customer-platform/database';
import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { ObjectField } from '../../fields/field.js';
import type { FieldIndex } from './known-definition.js';

@Entity('object_definitions')
export class ObjectDefinition implements SoftDeletable {
  @PrimaryColumn('uuid') organizationId: string;
  @PrimaryColumn('uuid') id: string;
  @Column('text') slug: string;
  @Column('text') name: string;
  @Column('jsonb') fields: ObjectField[];
  @Column('jsonb') indexes: FieldIndex[];
  @Column('integer') nextNumber: number;
  /** Raised by all that records are written and listed by. */
  @Column('integer') revision: number;
  @Column('timestamptz') createdAt: Date;
  @Column('timestamptz') updatedAt: Date;
  @Column('timestamptz', { nullable: true }) deletedAt: Date | null;
}

/** The fields of a change, by property; what is kept to find records by is no news. */
const FIELDS: Readonly<Record<string, string>> = {
  slug: 'slug',
  name: 'name',
  fields: 'fields',
  deletedAt: 'deleted_at',
};

/** `crm.object_definition.*` (crm.md §6): what changed, by name. */
export function objectDefinitionEvent({ verb, row, changed }: ResourceChange<ObjectDefinition>) {
  return {
    type: `crm.object_definition.${verb}.v1`,
    key: row.id,
    subject: `object-definitions/${row.id}`,
    data: { id: row.id, slug: row.slug, changed: changed.flatMap((property) => FIELDS[property] ?? []) },
  };
}
