import type { SoftDeletable } from '@customer-platform/database';
import { Column, Entity, PrimaryColumn, type ValueTransformer } from 'typeorm';
import type { Condition, ContactCap, Formula, RuleContent } from './rule.js';

/** `bigint` columns whose values stay below 2^53. */
const wholeNumber: ValueTransformer = {
  to: (value: number | null) => value,
  from: (value: string | null) => (value === null ? null : Number(value)),
};

@Entity('rules')
export class Rule implements SoftDeletable, RuleContent {
  @PrimaryColumn('uuid') organizationId: string;
  @PrimaryColumn('uuid') id: string;
  @Column('text') name: string;
  @Column('text') event: string;
  @Column('jsonb') conditions: Condition[];
  @Column('jsonb') formula: Formula;
  @Column('bigint', { nullable: true, transformer: wholeNumber }) maxPerEvent: number | null;
  @Column('jsonb', { nullable: true }) maxPerContact: ContactCap | null;
  @Column('timestamptz') validFrom: Date;
  @Column('timestamptz', { nullable: true }) validTo: Date | null;
  @Column('integer', { nullable: true }) expiresAfterDays: number | null;
  @Column('boolean') enabled: boolean;
  @Column('integer') version: number;
  @Column('timestamptz') createdAt: Date;
  @Column('timestamptz') updatedAt: Date;
  @Column('timestamptz', { nullable: true }) deletedAt: Date | null;
}
