import type { SoftDeletable, ResourceChange } from '@customer-platform/database';
import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { Field } from '../fields/field.js';
import type { Outcome } from './outcome.js';

@Entity('activity_types')
export class ActivityType implements SoftDeletable {
  @PrimaryColumn('uuid') organizationId: string;
  @PrimaryColumn('uuid') id: string;
  @Column('text') key: string;
  @Column('text') name: string;
  @Column('jsonb') outcomes: Outcome[];
  @Column('boolean') outcomeRequired: boolean;
  @Column('jsonb') fields: Field[];
  @Column('timestamptz') createdAt: Date;
  @Column('timestamptz') updatedAt: Date;
  @Column('timestamptz', { nullable: true }) deletedAt: Date | null;
}

/** The fields that are named otherwise than their properties. */
const FIELDS: Readonly<Record<string, string>> = {
  outcomeRequired: 'outcome_required',
  deletedAt: 'deleted_at',
};

/** `crm.activity_type.*` (crm.md §6): what changed, by name. */
export function activityTypeEvent({ verb, row, changed }: ResourceChange<ActivityType>) {
  return {
    type: `crm.activity_type.${verb}.v1`,
    key: row.id,
    subject: `activity-types/${row.id}`,
    data: { id: row.id, changed: changed.map((property) => FIELDS[property] ?? property) },
  };
}
