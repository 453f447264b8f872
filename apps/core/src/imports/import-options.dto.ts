import { ApiProperty } from '@nestjs/swagger';
import { MayBeAbsent } from '@customer-platform/http';
import { FIELD_NAMES } from '../vocabulary/contacts/contact-field-table.js';
import { IsBoolean, IsIn, IsObject } from 'class-validator';

/** What a file can be. */
const FORMATS = ['csv', 'jsonl'] as const;

/** What can stand between the cells of a CSV file. */
const DELIMITERS = [',', ';', '\t', '|'] as const;

/** How the bytes of a file can be read as text. */
const ENCODINGS = ['utf-8', 'windows-1252'] as const;

/** By what a row finds the contact that is there already. */
export const MATCHES = ['external_id', 'email', 'phone'] as const;

/** What becomes of a row whose contact is there already. */
const ON_EXISTING = ['update', 'skip', 'fail'] as const;

/** The part `options` of an import, as JSON. */
export class ImportOptionsDto {
  @ApiProperty({ enum: FORMATS, default: 'csv' })
  @MayBeAbsent()
  @IsIn(FORMATS)
  format?: (typeof FORMATS)[number];

  @ApiProperty({ enum: DELIMITERS, default: ',', description: 'Of CSV.' })
  @MayBeAbsent()
  @IsIn(DELIMITERS)
  delimiter?: (typeof DELIMITERS)[number];

  @ApiProperty({ enum: ENCODINGS, default: 'utf-8' })
  @MayBeAbsent()
  @IsIn(ENCODINGS)
  encoding?: (typeof ENCODINGS)[number];

  @ApiProperty({
    type: 'object',
    additionalProperties: { type: ['string', 'null'] },
    description:
      'For each column the field that it fills, null to leave it out. Fields: ' +
      `${FIELD_NAMES.map((field) => `\`${field}\``).join(', ')}, \`national_id.<type>\`, ` +
      '`attributes.<key>`, `consents.<purpose>` and `consents.<purpose>.<channel>` (granted, denied or withdrawn), ' +
      '`consents.notice_version`, `consents.method`, `consents.occurred_at`.',
    example: { 'Customer no': 'external_id', 'E-mail': 'email', Plan: 'attributes.plan', Internal: null },
  })
  @IsObject()
  mapping: Record<string, string | null>;

  @ApiProperty({
    enum: MATCHES,
    description: 'The first of these that is mapped, unless given.',
  })
  @MayBeAbsent()
  @IsIn(MATCHES)
  match_by?: (typeof MATCHES)[number];

  @ApiProperty({ enum: ON_EXISTING, default: 'update' })
  @MayBeAbsent()
  @IsIn(ON_EXISTING)
  on_existing?: (typeof ON_EXISTING)[number];

  @ApiProperty({ default: false, description: 'Counts and checks, and writes nothing.' })
  @MayBeAbsent()
  @IsBoolean()
  dry_run?: boolean;
}
