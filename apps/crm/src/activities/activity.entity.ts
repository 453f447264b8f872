import type { SoftDeletable } from '@customer-platform/database';
import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { FieldValues } from '../fields/field.js';

/** States of an activity (crm.md §2). */
export const ACTIVITY_STATUSES = ['open', 'completed', 'cancelled'] as const;

/** The state of an activity. */
export type ActivityStatus = (typeof ACTIVITY_STATUSES)[number];

@Entity('activities')
export class Activity implements SoftDeletable {
  @PrimaryColumn('uuid') organizationId: string;
  @PrimaryColumn('uuid') id: string;
  @Column('uuid') contactId: string;
  @Column('uuid') originContactId: string;
  @Column('uuid') typeId: string;
  @Column('text') subject: string;
  @Column('text', { nullable: true }) description: string | null;
  @Column('timestamptz', { nullable: true }) dueAt: Date | null;
  @Column('uuid', { nullable: true }) assigneeId: string | null;
  @Column('text') status: ActivityStatus;
  @Column('text', { nullable: true }) outcome: string | null;
  @Column('jsonb') values: FieldValues;
  @Column('timestamptz', { nullable: true }) completedAt: Date | null;
  @Column('text') authorType: string;
  @Column('text') authorId: string;
  @Column('timestamptz') createdAt: Date;
  @Column('timestamptz') updatedAt: Date;
  @Column('timestamptz', { nullable: true }) deletedAt: Date | null;
}
