import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A soft-deletable resource with nothing of a business about it. */
@Entity('widgets')
export class Widget {
  @PrimaryColumn('uuid') organizationId: string;
  @PrimaryColumn('uuid') id: string;
  @Column('text') name: string;
  @Column({ type: 'integer', nullable: true }) weight: number | null;
  @Column({ type: 'timestamptz', precision: 3 }) createdAt: Date;
  @Column({ type: 'timestamptz', precision: 3 }) updatedAt: Date;
  @Column({ type: 'timestamptz', precision: 3, nullable: true }) deletedAt: Date | null;
}
