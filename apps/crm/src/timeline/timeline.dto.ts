import { ApiProperty } from '@nestjs/swagger';

/** One thing that happened to a contact. */
export class TimelineItemDto {
  @ApiProperty({ format: 'uuid' }) id: string;
  @ApiProperty({ enum: ['core', 'loyalty', 'messaging'], description: 'The module that holds it.' })
  source: string;
  @ApiProperty({ enum: ['event', 'consent', 'transaction', 'send'] }) type: string;
  @ApiProperty({ format: 'date-time' }) occurred_at: string;
  @ApiProperty({
    format: 'uuid',
    nullable: true,
    type: 'string',
    description: 'Chains what one cause led to.',
  })
  correlation_id: string | null;
  @ApiProperty({ maxLength: 200, description: 'For people; untranslated.', example: 'purchase_completed' })
  title: string;
  @ApiProperty({
    type: 'object',
    additionalProperties: true,
    description: 'The item as its module answers it.',
  })
  data: Readonly<Record<string, unknown>>;
}

/** Where a page of the timeline ends. */
export class TimelinePageDto {
  @ApiProperty({ type: 'integer' }) limit: number;
  @ApiProperty({ nullable: true, type: 'string', description: 'Null on the last page.' }) next_cursor:
    string | null;
}

/** What a source has removed, its time being over. */
export class TimelineGapDto {
  @ApiProperty({ enum: ['core', 'loyalty', 'messaging'] }) source: string;
  @ApiProperty({ enum: ['event', 'consent', 'transaction', 'send'] }) type: string;
  @ApiProperty({ enum: ['retention'] }) reason: 'retention';
  @ApiProperty({
    format: 'date-time',
    description: 'Of what happened at it or before it some is gone; nothing after it.',
  })
  until: string;
}

/** A page of a contact's timeline: time descending, then source ascending, then id descending. */
export class TimelineDto {
  @ApiProperty({ type: [TimelineItemDto] }) data: TimelineItemDto[];
  @ApiProperty({ type: TimelinePageDto }) page: TimelinePageDto;
  @ApiProperty({
    enum: ['core', 'loyalty', 'messaging'],
    isArray: true,
    description:
      'Modules that did not answer. The same request completes the page later, a later page brings what was missed.',
  })
  unreachable: string[];

  @ApiProperty({
    type: [TimelineGapDto],
    description: 'What is missing for good, on the page on which the items of a source and type end.',
  })
  gaps: TimelineGapDto[];
}
