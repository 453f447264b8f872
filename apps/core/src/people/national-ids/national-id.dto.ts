import { ApiProperty } from '@nestjs/swagger';
import { Type } from 'class-transformer';
import { IsObject, ValidateNested } from 'class-validator';
import { NationalIdInputDto } from '../contacts/contact.dto.js';
import { NATIONAL_ID_TYPES, type NationalIdType } from '../../vocabulary/national-ids/national-id-types.js';

/** A national id in full, as the audited read answers it. */
export class NationalIdDto {
  @ApiProperty({ enum: NATIONAL_ID_TYPES }) type: NationalIdType;
  @ApiProperty({ type: String, nullable: true, description: 'Of issue; null where any country issues it.' })
  country: string | null;
  @ApiProperty({ example: '12345678-5' }) value: string;
}

/** The national id by which a contact is looked up. It stands in a body, as URLs are logged. */
export class LookUpContactDto {
  @ApiProperty({ type: NationalIdInputDto })
  @IsObject()
  @ValidateNested()
  @Type(() => NationalIdInputDto)
  national_id: NationalIdInputDto;
}

/** The contact whose national id it is. */
export class FoundContactDto {
  @ApiProperty({
    type: String,
    format: 'uuid',
    nullable: true,
    description: 'Null: no active contact has it.',
  })
  contact_id: string | null;
}
