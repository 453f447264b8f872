import { ApiProperty } from '@nestjs/swagger';
import { IsString, Length } from 'class-validator';
import { IsUUID, MayBeAbsent } from '@customer-platform/http';

/** The query of `GET /v1/core/events/stream`: what must be so of an event that is told. */
export class LiveQueryDto {
  @ApiProperty({ description: 'Its name; of an identify, which has none, nothing is told then.' })
  @MayBeAbsent()
  @IsString()
  @Length(1, 200)
  event?: string;

  @MayBeAbsent()
  @IsString()
  @Length(1, 200)
  external_id?: string;

  @ApiProperty({ description: 'The contact; of one that was merged, its survivor.' })
  @MayBeAbsent()
  @IsUUID()
  contact_id?: string;
}

/** Some events, as they come. */
export const LIVE_EXAMPLE = `:

id: bXhsZjNrMGcuMDFhMjA3M2Q
event: recorded
data: {"id":"01a2073d-4af2-73b9-ae9e-a1a6dcbd5675","type":"track","event":"invoice_paid","external_id":"customer-1"}

id: bXhsZjNrMGguMDFhMjA3M2U
event: dead_lettered
data: {"event_id":"01a2073d-4af2-73b9-ae9e-a1a6dcbd5676","code":"internal_error"}

event: dropped
data: {"count":12}

`;
