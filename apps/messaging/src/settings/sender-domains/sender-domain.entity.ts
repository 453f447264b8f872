import type { SoftDeletable } from '@customer-platform/database';
import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { DkimPair } from './dkim-pairs.js';
import type { Findings } from './dns-records.js';

/** `pending` until it is proven, `failed` when it has not been for 72 h. */
export const DOMAIN_STATES = ['pending', 'verified', 'failed'] as const;

/** What a sender domain is known to be. */
export type DomainState = (typeof DOMAIN_STATES)[number];

@Entity('sender_domains')
export class SenderDomainEntity implements SoftDeletable {
  @PrimaryColumn('uuid') organizationId: string;
  @PrimaryColumn('uuid') id: string;
  @Column('text') domain: string;
  @Column('text') state: DomainState;
  @Column('jsonb') dkimKeys: DkimPair[];
  @Column('jsonb') findings: Findings;
  @Column('timestamptz', { nullable: true }) failingSince: Date | null;
  @Column('timestamptz', { nullable: true }) verifiedAt: Date | null;
  @Column('timestamptz', { nullable: true }) checkedAt: Date | null;
  @Column('timestamptz') nextCheckAt: Date;
  @Column('timestamptz') createdAt: Date;
  @Column('timestamptz') updatedAt: Date;
  @Column('timestamptz', { nullable: true }) deletedAt: Date | null;
}
