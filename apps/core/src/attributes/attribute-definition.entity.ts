import type { SoftDeletable } from '@customer-platform/database';
import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { Declaration, DeclaredType } from '../vocabulary/attributes/declaration.js';

/** What an attribute of contacts is declared to be; `next` is what its values are being converted to. */
@Entity('attribute_definitions')
export class AttributeDefinition implements SoftDeletable {
  @PrimaryColumn('uuid') organizationId: string;
  @PrimaryColumn('uuid') id: string;
  @Column('text') key: string;
  @Column('text') label: string;
  @Column('text') type: DeclaredType;
  @Column('jsonb', { nullable: true }) enum: (string | number)[] | null;
  @Column('integer', { nullable: true }) maxLength: number | null;
  @Column('double precision', { nullable: true }) min: number | null;
  @Column('double precision', { nullable: true }) max: number | null;
  @Column('boolean') memberVisible: boolean;
  @Column('jsonb', { nullable: true }) next: Declaration | null;
  @Column('timestamptz') createdAt: Date;
  @Column('timestamptz') updatedAt: Date;
  @Column('timestamptz', { nullable: true }) deletedAt: Date | null;
}

/** The columns of a declaration. */
export type DeclarationColumns = Pick<AttributeDefinition, 'type' | 'enum' | 'maxLength' | 'min' | 'max'>;

/** A declaration as it is stored in the definition's row. */
export function columnsOf({ type, enum: known, max_length, min, max }: Declaration): DeclarationColumns {
  return { type, enum: known === null ? null : [...known], maxLength: max_length, min, max };
}

/** What a definition declares now. */
export function declarationOf({ type, enum: known, maxLength, min, max }: DeclarationColumns): Declaration {
  return { type, enum: known, max_length: maxLength, min, max };
}
