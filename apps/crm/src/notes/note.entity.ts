import type { SoftDeletable } from '@customer-platform/database';
import { Column, Entity, PrimaryColumn } from 'typeorm';

@Entity('notes')
export class Note implements SoftDeletable {
  @PrimaryColumn('uuid') organizationId: string;
  @PrimaryColumn('uuid') id: string;
  @Column('uuid') contactId: string;
  @Column('uuid') originContactId: string;
  @Column('text') body: string;
  @Column('boolean') pinned: boolean;
  @Column('text') authorType: string;
  @Column('text') authorId: string;
  @Column('timestamptz') createdAt: Date;
  @Column('timestamptz') updatedAt: Date;
  @Column('timestamptz', { nullable: true }) deletedAt: Date | null;
}
