import type { SoftDeletable } from '@customer-platform/database';
import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A segment; `state`, `memberCount` and `evaluatedAt` are moved by the evaluation. */
@Entity('segments')
export class Segment implements SoftDeletable {
  @PrimaryColumn('uuid') organizationId: string;
  @PrimaryColumn('uuid') id: string;
  @Column('text') name: string;
  @Column('text', { nullable: true }) description: string | null;
  @Column('jsonb') rule: object;
  @Column('integer') ruleVersion: number;
  @Column('text') state: 'building' | 'ready';
  @Column('integer') memberCount: number;
  @Column('timestamptz', { nullable: true }) evaluatedAt: Date | null;
  @Column('timestamptz') createdAt: Date;
  @Column('timestamptz') updatedAt: Date;
  @Column('timestamptz', { nullable: true }) deletedAt: Date | null;
}
