import type { SoftDeletable } from '@customer-platform/database';
import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { Channel } from '../../vocabulary/addresses/channel.js';
import type { MakerType } from '../../vocabulary/makers/maker.js';
import type { Category } from '../../vocabulary/sends/send.js';
import type { CampaignAudience, CampaignState } from './campaign.js';

/** A campaign; `state` and `runId` are moved by its runs. */
@Entity('campaigns')
export class CampaignEntity implements SoftDeletable {
  @PrimaryColumn('uuid') organizationId: string;
  @PrimaryColumn('uuid') id: string;
  @Column('text') name: string;
  @Column('text') channel: Channel;
  @Column('uuid') templateId: string;
  @Column('text') audienceType: CampaignAudience['type'];
  @Column('uuid') audienceId: string;
  @Column('text') category: Category;
  @Column('text', { nullable: true }) topic: string | null;
  @Column('jsonb') data: Record<string, unknown>;
  @Column('boolean') repeatable: boolean;
  @Column('boolean') paused: boolean;
  @Column('text') state: CampaignState;
  @Column('uuid', { nullable: true }) runId: string | null;
  @Column('text', { nullable: true }) makerType: MakerType | null;
  @Column('uuid', { nullable: true }) makerId: string | null;
  /** Null with a maker: found for a campaign that was there before makers were noted. */
  @Column('timestamptz', { nullable: true }) makerSince: Date | null;
  @Column('timestamptz') createdAt: Date;
  @Column('timestamptz') updatedAt: Date;
  @Column('timestamptz', { nullable: true }) deletedAt: Date | null;
}
