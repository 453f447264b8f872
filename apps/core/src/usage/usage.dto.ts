import { ApiProperty } from '@nestjs/swagger';
import { IsIn, Matches } from 'class-validator';
import { MayBeAbsent } from '@customer-platform/http';

const DATE = /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])$/;

/** How long the periods of usage are. */
const GRANULARITIES = ['day', 'month'] as const;

/** The query of `GET /v1/core/usage`. */
export class UsageQueryDto {
  /** First UTC date, included. */
  @MayBeAbsent()
  @Matches(DATE, { message: '$property must be a date such as 2026-11-21' })
  from?: string;

  /** Last UTC date, included. */
  @MayBeAbsent()
  @Matches(DATE, { message: '$property must be a date such as 2026-11-21' })
  to?: string;

  @MayBeAbsent()
  @IsIn(GRANULARITIES)
  granularity?: (typeof GRANULARITIES)[number];
}

const count = (description: string) => ApiProperty({ type: 'integer', description });

/** Events of a period, by the UTC day on which they were accepted. */
export class EventUsageDto {
  @count('Answered 202. Always stored + duplicates + dead_lettered + pending.')
  accepted: number;

  @count('Stored, those among them that an erasure deleted later included.')
  stored: number;

  @count('Repeats of an event that was there already.')
  duplicates: number;

  @count('Failed before they were stored, and neither replayed since.')
  dead_lettered: number;

  @count('Accepted and not processed yet.')
  pending: number;

  @count('Deleted by an erasure; within stored.')
  erased: number;

  @count('Answered 4xx after authentication; outside accepted.')
  refused: number;
}

/** Contacts of a period. */
export class ContactUsageDto {
  @count('Neither deleted nor merged nor erased, at the end of the period.')
  active: number;

  @count('Made within the period.')
  created: number;

  @count('Merged into another within the period.')
  merged: number;

  @count('Erased within the period.')
  erased: number;
}

/** Usage of one period. */
export class UsagePeriodDto {
  @ApiProperty({ format: 'date', description: 'First UTC date of the period, included.' })
  period_start: string;

  @ApiProperty({ format: 'date', description: 'Last UTC date of the period, included.' })
  period_end: string;

  @ApiProperty({ type: EventUsageDto })
  events: EventUsageDto;

  @ApiProperty({ type: ContactUsageDto })
  contacts: ContactUsageDto;
}

/** Sums over all periods; of active contacts the number at the end. */
class UsageTotalsDto {
  @ApiProperty({ type: EventUsageDto })
  events: EventUsageDto;

  @ApiProperty({ type: ContactUsageDto })
  contacts: ContactUsageDto;
}

/** Answer of `GET /v1/core/usage`. */
export class UsageDto {
  @ApiProperty({ type: [UsagePeriodDto] })
  data: UsagePeriodDto[];

  @ApiProperty({ type: UsageTotalsDto })
  totals: UsageTotalsDto;
}
