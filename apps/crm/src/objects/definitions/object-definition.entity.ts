import type { SoftDeletable } from '@customer-platform/database';
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
