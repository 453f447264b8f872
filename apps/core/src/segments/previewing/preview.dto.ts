import { ApiProperty } from '@nestjs/swagger';
import { IsObject } from 'class-validator';
import { RULE_SCHEMA } from '../rule.schema.js';

const EXAMPLE = {
  all: [
    { attribute: 'attributes.plan', op: 'eq', value: 'pro' },
    { event: 'invoice_paid', count: { op: 'gte', value: 3 }, within: 'P30D' },
  ],
};

/** What `POST /v1/core/segments/preview` takes. */
export class PreviewRuleDto {
  @ApiProperty({ ...RULE_SCHEMA, example: EXAMPLE })
  @IsObject()
  rule: object;
}

/** A contact that a rule holds of. */
class PreviewedContactDto {
  @ApiProperty({ format: 'uuid' }) contact_id: string;
  @ApiProperty({ nullable: true, type: 'string', example: 'customer-1' }) external_id: string | null;
}

/** How many contacts a rule holds of. */
export class RulePreviewDto {
  @ApiProperty({ type: 'integer', minimum: 0, example: 1_284 }) count: number;

  @ApiProperty({
    description:
      'Whether all contacts that can match were looked at. If not, `count` is estimated from as many, picked at random, ' +
      'as could be looked at in time.',
  })
  exact: boolean;

  @ApiProperty({
    type: [PreviewedContactDto],
    maxItems: 10,
    description: 'Some of them; none for callers without `core.contacts.read`.',
  })
  sample: PreviewedContactDto[];
}
