import { ApiProperty } from '@nestjs/swagger';
import { IsInstant, IsUUID, MayBeAbsent } from '@customer-platform/http';
import { IsIn, IsInt, IsString, Length, Max, Min } from 'class-validator';

/** What a caller can post; earnings and expiries are the service's own. */
const POSTING_KINDS = ['adjust', 'spend', 'reverse'] as const;
type PostingKind = (typeof POSTING_KINDS)[number];

/** The largest number of points in one posting. */
const MOST_POINTS = 1_000_000_000;

/** Body of `POST /v1/loyalty/transactions` (loyalty.md §3). */
export class CreateTransactionDto {
  @IsIn(POSTING_KINDS)
  kind: PostingKind;

  @ApiProperty({
    example: '019a6f0e-2b1c-7c3d-9e4f-5a6b7c8d9e0f',
    description: 'Required, but not for `reverse`. A merged contact stands for its survivor.',
  })
  @MayBeAbsent()
  @IsUUID()
  contact_id?: string;

  @ApiProperty({ example: 100, description: 'Required, but not for `reverse`; not 0, for `spend` above 0.' })
  @MayBeAbsent()
  @IsInt()
  @Min(-MOST_POINTS)
  @Max(MOST_POINTS)
  points?: number;

  @ApiProperty({ description: 'Required for `reverse`, and for it only.' })
  @MayBeAbsent()
  @IsUUID()
  reverses_id?: string;

  @ApiProperty({ example: 'Goodwill', description: 'Required for `adjust` and `reverse`.' })
  @MayBeAbsent()
  @IsString()
  @Length(1, 500)
  reason?: string;

  @ApiProperty({ description: 'The caller’s own.' })
  @MayBeAbsent()
  @IsString()
  @Length(0, 100)
  reference?: string;

  @ApiProperty({ description: 'In the future; only on a positive `adjust`.' })
  @MayBeAbsent()
  @IsInstant()
  expires_at?: string;
}
