import { ApiProperty } from '@nestjs/swagger';
import { IsInstant, MayBeAbsent } from '@customer-platform/http';
import type { Kind } from './transaction.dto.js';

/** The query of `GET /v1/loyalty/summary`. */
export class LedgerSummaryQueryDto {
  /** The instant from which rows are counted, by their creation; by default a day before `to`. */
  @MayBeAbsent()
  @IsInstant()
  from?: string;

  /** The end, not included; by default now. At most seven days after `from`. */
  @MayBeAbsent()
  @IsInstant()
  to?: string;
}

/** The sum of the rows of one kind. */
class KindSummaryDto {
  @ApiProperty({ type: 'integer', minimum: 0, description: 'How many rows.' })
  count: number;

  @ApiProperty({ type: 'integer', description: 'Sum of their points, as they are signed in the ledger.' })
  points: number;
}

/** The sums of each kind. */
class KindSummariesDto implements Record<Kind, KindSummaryDto> {
  @ApiProperty({ type: KindSummaryDto }) earn: KindSummaryDto;
  @ApiProperty({ type: KindSummaryDto }) adjust: KindSummaryDto;
  @ApiProperty({ type: KindSummaryDto }) spend: KindSummaryDto;
  @ApiProperty({ type: KindSummaryDto }) expire: KindSummaryDto;
  @ApiProperty({ type: KindSummaryDto }) reverse: KindSummaryDto;
}

/** The rows that were added to the ledger in some time, summed by kind (loyalty.md §3). */
export class LedgerSummaryDto {
  @ApiProperty({ format: 'date-time' }) from: string;
  @ApiProperty({ format: 'date-time' }) to: string;
  @ApiProperty({ type: KindSummariesDto }) kinds: KindSummariesDto;
}
