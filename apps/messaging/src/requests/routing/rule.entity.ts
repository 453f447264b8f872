import type { SoftDeletable } from '@customer-platform/database';
import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { Channel } from '../../vocabulary/addresses/channel.js';
import type { Category } from '../../vocabulary/sends/send.js';
import type { MakerType } from '../../vocabulary/makers/maker.js';
import type { Condition } from './condition.js';
import type { RoutableEvent } from '../../vocabulary/events/routed-event.js';
import type { RuleContent, RuleRecipient } from './rule.js';

@Entity('event_routing')
export class RuleEntity implements SoftDeletable, RuleContent {
  @PrimaryColumn('uuid') organizationId: string;
  @PrimaryColumn('uuid') id: string;
  @Column('text') name: string;
  @Column('boolean') enabled: boolean;
  @Column('text') eventType: RoutableEvent;
  @Column('text', { nullable: true }) eventName: string | null;
  @Column('jsonb', { nullable: true }) condition: Condition | null;
  @Column('text') channel: Channel;
  @Column('uuid') templateId: string;
  @Column('jsonb') recipient: RuleRecipient;
  @Column('text') category: Category;
  @Column('text', { nullable: true }) topic: string | null;
  @Column('integer') delaySeconds: number;
  @Column('text', { nullable: true }) makerType: MakerType | null;
  @Column('uuid', { nullable: true }) makerId: string | null;
  /** Null with a maker: found for a rule that was there before makers were noted. */
  @Column('timestamptz', { nullable: true }) makerSince: Date | null;
  /** Of its template, what its maker saw published. */
  @Column('integer', { nullable: true }) vouchedVersion: number | null;
  @Column('timestamptz') createdAt: Date;
  @Column('timestamptz') updatedAt: Date;
  @Column('timestamptz', { nullable: true }) deletedAt: Date | null;
}
