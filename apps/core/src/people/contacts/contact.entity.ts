import type { SoftDeletable } from '@customer-platform/database';
import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { NationalIdType } from '../../vocabulary/national-ids/national-id-types.js';
import {
  CONTACT_FIELDS,
  FIELD_NAMES,
  FIELD_PROPERTIES,
  propertiesOf,
  type FieldColumns,
  type FieldProperty,
  type FieldTimes,
} from '../../vocabulary/contacts/contact-field-table.js';
import { classOf } from './field-class.js';

const DATES: ReadonlySet<FieldProperty> = new Set(
  propertiesOf(FIELD_NAMES.filter((field) => CONTACT_FIELDS[field].type === 'date')),
);
const Fields = classOf<FieldColumns>(FIELD_PROPERTIES, (property) => [
  Column(DATES.has(property) ? 'date' : 'text', { nullable: true }),
]);

/** A contact as its administration changes it; events change the same rows in bulk. */
@Entity('contacts')
export class Contact extends Fields implements SoftDeletable {
  @PrimaryColumn('uuid') organizationId: string;
  @PrimaryColumn('uuid') id: string;
  @Column('text', { nullable: true }) nationalIdType: NationalIdType | null;
  /** Keyed hash: tells equal values, and nothing else. */
  @Column('text', { nullable: true }) nationalIdIndex: string | null;
  @Column('text', { nullable: true }) nationalIdSealed: string | null;
  @Column('text', { nullable: true }) nationalIdMasked: string | null;
  @Column('jsonb') attributes: Record<string, unknown>;
  @Column('jsonb') fieldTimes: FieldTimes;
  @Column('integer') version: number;
  @Column('text') source: string;
  @Column('uuid', { nullable: true }) mergedInto: string | null;
  @Column('timestamptz') createdAt: Date;
  @Column('timestamptz') updatedAt: Date;
  @Column('timestamptz', { nullable: true }) deletedAt: Date | null;
  @Column('timestamptz', { nullable: true }) erasedAt: Date | null;
}
