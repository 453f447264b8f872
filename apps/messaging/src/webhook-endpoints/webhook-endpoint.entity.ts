import type { SoftDeletable } from '@customer-platform/database';
import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { MakerType } from '../vocabulary/makers/maker.js';
import type { Signing, SigningSecret } from './signing-secrets.js';

/** Why an endpoint gets nothing: its owner's wish, its own 410, or five days without a success. */
export type DisabledReason = 'manual' | 'gone' | 'failing';

@Entity('webhook_endpoints')
export class WebhookEndpointEntity implements SoftDeletable {
  @PrimaryColumn('uuid') organizationId: string;
  @PrimaryColumn('uuid') id: string;
  @Column('text') name: string;
  @Column('text') url: string;
  @Column('text', { array: true }) events: string[];
  @Column('boolean') enabled: boolean;
  @Column('text') signing: Signing;
  @Column('jsonb') secrets: SigningSecret[];
  /** Who last said what it is told and where: what they cannot read any more is not delivered. */
  @Column('text', { nullable: true }) makerType: MakerType | null;
  @Column('uuid', { nullable: true }) makerId: string | null;
  @Column('text', { nullable: true }) disabledReason: DisabledReason | null;
  /** From when on what failed or was missed is told again, and when that was last asked for. */
  @Column('timestamptz', { nullable: true }) replaySince: Date | null;
  @Column('timestamptz', { nullable: true }) replayAskedAt: Date | null;
  @Column('timestamptz') createdAt: Date;
  @Column('timestamptz') updatedAt: Date;
  @Column('timestamptz', { nullable: true }) deletedAt: Date | null;
}

/** Whether anything is delivered to it. */
export function isLive(row: Pick<WebhookEndpointEntity, 'enabled' | 'deletedAt'> | undefined): boolean {
  return row !== undefined && row.enabled && row.deletedAt === null;
}
