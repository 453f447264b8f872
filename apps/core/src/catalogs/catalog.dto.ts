import { ApiProperty } from '@nestjs/swagger';
import type { CatalogEntry } from './catalog.js';

/** A name in the languages of the catalogs. */
class CatalogNameDto {
  @ApiProperty()
  es: string;

  @ApiProperty()
  en: string;
}

/** What every catalog says of an entry. */
class CatalogEntryDto implements CatalogEntry {
  @ApiProperty()
  code: string;

  @ApiProperty({ type: CatalogNameDto })
  name: CatalogNameDto;

  @ApiProperty({
    type: String,
    format: 'date',
    nullable: true,
    description: 'First day; null: before records began.',
  })
  valid_from: string | null;

  @ApiProperty({ type: String, format: 'date', nullable: true, description: 'Last day; null: in force.' })
  valid_to: string | null;
}

/** A currency of ISO 4217. */
export class CurrencyDto extends CatalogEntryDto {
  @ApiProperty({ type: String, nullable: true, example: '152' })
  numeric_code: string | null;

  @ApiProperty({
    type: Number,
    nullable: true,
    description: 'Decimals of the minor unit; null where ISO 4217 knows none (metals, units of account).',
  })
  exponent: number | null;

  @ApiProperty({ enum: ['currency', 'fund', 'metal', 'unit', 'special'] })
  kind: 'currency' | 'fund' | 'metal' | 'unit' | 'special';

  @ApiProperty({ type: [String], description: 'Countries in which it is in use today: ISO 3166-1 alpha-2.' })
  countries: string[];
}

/** A country of ISO 3166-1; its code is alpha-2. */
export class CountryDto extends CatalogEntryDto {
  @ApiProperty({ example: 'CHL' })
  alpha3: string;

  @ApiProperty({ example: '152' })
  numeric_code: string;

  @ApiProperty({ type: [String], example: ['+56'] })
  calling_codes: string[];

  @ApiProperty({ type: [String], description: 'Currencies in use today: ISO 4217.' })
  currencies: string[];
}

/** A kind of national id. */
export class NationalIdTypeDto extends CatalogEntryDto {
  @ApiProperty({ type: String, nullable: true, description: 'ISO 3166-1 alpha-2; null: any country.' })
  country: string | null;

  @ApiProperty({ enum: ['person', 'company', 'any'] })
  subject: 'person' | 'company' | 'any';

  @ApiProperty({ enum: ['checksum', 'format'], description: 'How far a value is checked.' })
  check: 'checksum' | 'format';

  @ApiProperty({ description: 'Regular expression of the value as it is stored.' })
  pattern: string;
}

/** A way by which a message reaches a person. */
export class NotificationChannelDto extends CatalogEntryDto {
  @ApiProperty({ enum: ['email', 'phone', 'push_token', 'contact'] })
  address_kind: 'email' | 'phone' | 'push_token' | 'contact';
}
