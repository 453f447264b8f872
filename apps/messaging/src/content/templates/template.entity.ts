import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { Channel } from '../../vocabulary/addresses/channel.js';
import type {
  LocaleParts,
  TemplateKind,
  TemplateVariable,
} from '../../vocabulary/templates/template-content.js';

/** A template with its newest content; what is sent stands in its versions. */
@Entity('templates')
export class TemplateEntity {
  @PrimaryColumn('uuid')
  organizationId: string;

  @PrimaryColumn('uuid')
  id: string;

  @Column('text')
  name: string;

  @Column('text')
  channel: Channel;

  @Column('text')
  kind: TemplateKind;

  /** The name of the layout around it. */
  @Column('text', { nullable: true })
  layout: string | null;

  @Column('text')
  defaultLocale: string;

  @Column('jsonb')
  locales: Record<string, LocaleParts>;

  @Column('jsonb')
  variables: Record<string, TemplateVariable>;

  @Column('boolean')
  strict: boolean;

  @Column('integer')
  version: number;

  @Column('integer', { nullable: true })
  publishedVersion: number | null;

  @Column({ type: 'timestamptz', precision: 3 })
  createdAt: Date;

  @Column({ type: 'timestamptz', precision: 3 })
  updatedAt: Date;

  @Column({ type: 'timestamptz', precision: 3, nullable: true })
  deletedAt: Date | null;
}
