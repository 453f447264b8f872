import type { SoftDeletable } from '@customer-platform/database';
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
