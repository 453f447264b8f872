import { ApiExtraModels, ApiProperty } from '@nestjs/swagger';

/** Answer to one accepted event. */
export class AcceptedEventDto {
  @ApiProperty({
    format: 'uuid',
    description: 'Derived from organization and idempotency key: a retry gets the same.',
  })
  event_id: string;
}

/** Verdict on an item that was taken. */
class AcceptedItemDto {
  @ApiProperty({ type: 'integer', description: 'Place of the item in `events`, from 0.' })
  index: number;

  @ApiProperty({ format: 'uuid' })
  event_id: string;
}

/** Verdict on an item that was refused. */
class RefusedItemDto {
  @ApiProperty({ type: 'integer', description: 'Place of the item in `events`, from 0.' })
  index: number;

  @ApiProperty({ description: 'Code of the problem.', example: 'validation_failed' })
  code: string;

  @ApiProperty({ description: 'JSON pointer, relative to the item.', example: '/occurred_at' })
  pointer: string;

  @ApiProperty({ example: '`occurred_at` is required.' })
  detail: string;

  @ApiProperty({ description: 'Whether the same item may pass later.' })
  retryable: boolean;
}

/** Answer to a batch of which at least one item was taken. */
@ApiExtraModels(AcceptedItemDto, RefusedItemDto)
export class BatchAnswerDto {
  @ApiProperty({ type: 'integer' })
  accepted: number;

  @ApiProperty({ type: 'integer' })
  rejected: number;

  @ApiProperty({
    type: 'array',
    items: {
      oneOf: [
        { $ref: '#/components/schemas/AcceptedItemDto' },
        { $ref: '#/components/schemas/RefusedItemDto' },
      ],
    },
    description: 'One verdict for each item, in the order of `events`.',
  })
  results: (AcceptedItemDto | RefusedItemDto)[];
}
