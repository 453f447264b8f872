import { ApiProperty } from '@nestjs/swagger';
import { ArrayMaxSize, IsArray, IsIn, IsString, MaxLength, MinLength } from 'class-validator';
import { IsUUID, MayBeAbsent } from '@customer-platform/http';

/** The channels a contact can be reached by (core.md §1). */
const CHANNELS = ['email', 'sms', 'push', 'whatsapp', 'in_app'] as const;

/** Body of `POST /internal/contacts/lookup`. */
export class ContactLookupDto {
  @IsUUID()
  organization_id: string;

  @IsArray()
  @ArrayMaxSize(1_000)
  @IsUUID({ each: true })
  @ApiProperty({ type: [String] })
  ids: string[];
}

/** Body of `POST /internal/contacts/address`: one of `contact_id` and `external_id`. */
export class ContactAddressDto {
  @IsUUID()
  organization_id: string;

  @MayBeAbsent()
  @IsUUID()
  contact_id?: string;

  @MayBeAbsent()
  @IsString()
  @MinLength(1)
  @MaxLength(200)
  external_id?: string;

  @IsIn(CHANNELS)
  channel: (typeof CHANNELS)[number];
}
