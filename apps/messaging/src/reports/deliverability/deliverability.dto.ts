import { ApiProperty } from '@nestjs/swagger';
import { IsIn, Matches } from 'class-validator';
import { MayBeAbsent } from '@customer-platform/http';
import { SEND_STATES, type SendState } from '../../vocabulary/sends/send-state.js';
import { DIMENSIONS } from './counted.js';

const DATE = /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])$/;
const MESSAGE = { message: '$property must be a date such as 2026-11-21' };

/** How long the periods are. */
const GRANULARITIES = ['hour', 'day', 'total'] as const;
/** One of them. */
export type Granularity = (typeof GRANULARITIES)[number];

/** The query of `GET /v1/messaging/deliverability`. */
export class DeliverabilityQueryDto {
  /** First UTC date on which sends were created, included; by default 30 days with the last (7 by the hour and domain or campaign). */
  @MayBeAbsent()
  @Matches(DATE, MESSAGE)
  from?: string;

  /** Last UTC date, included; by default today. At most 92 days, 7 by the hour and domain or campaign. */
  @MayBeAbsent()
  @Matches(DATE, MESSAGE)
  to?: string;

  @MayBeAbsent()
  @IsIn(GRANULARITIES)
  granularity?: Granularity;

  @MayBeAbsent()
  @IsIn(DIMENSIONS)
  group_by?: (typeof DIMENSIONS)[number];
}

const count = (description: string) => ApiProperty({ type: 'integer', minimum: 0, description });
const rate = (description: string) =>
  ApiProperty({ type: 'number', nullable: true, minimum: 0, maximum: 1, description });

/** Shares of what was handed over; null where nothing was. */
class DeliverabilityRatesDto {
  @rate('received / handed_over')
  delivered: number | null;

  @rate('counts.bounced / handed_over')
  bounced: number | null;

  @rate('counts.complained / handed_over')
  complained: number | null;

  @rate('counts.opened / handed_over')
  opened: number | null;

  @rate('counts.clicked / handed_over')
  clicked: number | null;
}

/** What became of some sends. */
export class DeliverabilityFiguresDto {
  @count('Sends that were created.')
  sends: number;

  @count(
    'Those that have reached `sent`, `unknown`, `delivered`, `opened`, `clicked`, `bounced` or `complained`.',
  )
  handed_over: number;

  @count('Those that have reached `delivered`, `opened`, `clicked` or `complained`.')
  received: number;

  @ApiProperty({
    type: 'object',
    description:
      'Of each state, how many have ever been in it or were reported to be; each send once in a state.',
    properties: Object.fromEntries(SEND_STATES.map((state) => [state, { type: 'integer', minimum: 0 }])),
    required: [...SEND_STATES],
    additionalProperties: false,
  })
  counts: Record<SendState, number>;

  @ApiProperty({ type: DeliverabilityRatesDto })
  rates: DeliverabilityRatesDto;
}

/** What became of the sends that were created in one period; of one group where the answer is grouped. */
export class DeliverabilityPeriodDto extends DeliverabilityFiguresDto {
  @ApiProperty({ format: 'date-time', description: 'Included.' })
  period_start: string;

  @ApiProperty({ format: 'date-time', description: 'Excluded.' })
  period_end: string;

  @ApiProperty({
    type: String,
    nullable: true,
    description:
      'The channel, domain or id of the campaign; null where the sends have none, and in an answer without `group_by`; `*` for all that are not named.',
  })
  group: string | null;
}

/** Answer of `GET /v1/messaging/deliverability`. */
export class DeliverabilityDto {
  @ApiProperty({ format: 'date' })
  from: string;

  @ApiProperty({ format: 'date' })
  to: string;

  @ApiProperty({ enum: GRANULARITIES })
  granularity: Granularity;

  @ApiProperty({ enum: DIMENSIONS, nullable: true })
  group_by: (typeof DIMENSIONS)[number] | null;

  @ApiProperty({
    type: [DeliverabilityPeriodDto],
    description:
      'By period, then the group with most sends first. With `group_by` only periods and groups with a send.',
  })
  data: DeliverabilityPeriodDto[];

  @ApiProperty({ type: DeliverabilityFiguresDto })
  totals: DeliverabilityFiguresDto;
}
