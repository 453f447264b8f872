import { type SoftDeletable, sameJson, type ResourceChange } from '@customer-platform/database';
import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { KnownDefinition } from '../definitions/known-definition.js';

@Entity('object_records')
export class ObjectRecord implements SoftDeletable {
  @PrimaryColumn('uuid') organizationId: string;
  @PrimaryColumn('uuid') id: string;
  @Column('uuid') definitionId: string;
  @Column('jsonb') values: Record<string, unknown>;
  @Column('timestamptz') createdAt: Date;
  @Column('timestamptz') updatedAt: Date;
  @Column('timestamptz', { nullable: true }) deletedAt: Date | null;
}

/** `crm.object.*` (crm.md §6): the fields that changed, as `values.plate`; never values. */
export function objectRecordEvent(
  { slug }: KnownDefinition,
  { verb, before, row, changed }: ResourceChange<ObjectRecord>,
) {
  const names = changed.flatMap((property) =>
    property === 'values' ? changedValues(before, row) : property === 'deletedAt' ? ['deleted_at'] : [],
  );
  return {
    type: `crm.object.${verb}.v1`,
    key: row.id,
    subject: `objects/${slug}/${row.id}`,
    data: { id: row.id, slug, changed: names },
  };
}

function changedValues(before: ObjectRecord | undefined, row: ObjectRecord): string[] {
  const keys = new Set([...Object.keys(before?.values ?? {}), ...Object.keys(row.values)]);
  return [...keys]
    .filter((key) => !sameJson(before?.values[key], row.values[key]))
    .sort()
    .map((key) => `values.${key}`);
}
