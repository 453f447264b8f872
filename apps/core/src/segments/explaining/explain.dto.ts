import { ApiProperty } from '@nestjs/swagger';
import { IsUUID } from '@customer-platform/http';
import type { ExplainedRule } from './explain-rule.js';

/** The query of `GET /v1/core/segments/{id}/explain`. */
export class ExplainQueryDto {
  /** The contact; of one that was merged, its survivor. */
  @IsUUID()
  contact_id: string;
}

const EXAMPLE = {
  all: [
    { attribute: 'attributes.plan', op: 'eq', value: 'pro', result: true, actual: { value: 'pro' } },
    {
      event: 'invoice_paid',
      count: { op: 'gte', value: 3 },
      within: 'P30D',
      result: false,
      actual: { count: 2, exact: true, after: '2026-10-24T12:00:00.000Z', until: '2026-11-23T12:00:00.000Z' },
    },
  ],
  result: false,
};

/** Why a contact is in a segment, or is not. */
export class ExplanationDto {
  @ApiProperty({
    description:
      'Whether it is in the segment. Rules follow what happens within seconds, and hold of active contacts.',
  })
  member: boolean;

  @ApiProperty({
    type: 'object',
    additionalProperties: true,
    example: EXAMPLE,
    description:
      'The rule, each node with its `result` now, and each leaf with what it was compared with as `actual`: `value` of ' +
      'an attribute, or of a consent its state, and `count` of events with the window, `after` excluded and `until` ' +
      'included. Of a contact the newest 1,000 events are counted: where there may be more in the window, `exact` is ' +
      'false and `count` what was found; of a segment that is `building` these are the newest of the name, and `result` ' +
      'is what they say. `actual` is null for callers without `core.contacts.read`, ' +
      '`core.consents.read` or `core.events.read`.',
  })
  rule: ExplainedRule;
}
