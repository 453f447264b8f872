import { ApiProperty } from '@nestjs/swagger';
import { NATIONAL_ID_TYPES, type NationalIdType } from '../../vocabulary/national-ids/national-id-types.js';

/** A national id in full, as the audited read answers it. */
export class NationalIdDto {
  @ApiProperty({ enum: NATIONAL_ID_TYPES }) type: NationalIdType;
  @ApiProperty({ type: String, nullable: true, description: 'Of issue; null where any country issues it.' })
  country: string | null;
  @ApiProperty({ example: '12345678-5' }) value: string;
}
