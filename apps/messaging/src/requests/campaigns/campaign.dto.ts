import { ApiProperty } from '@nestjs/swagger';
import {
  IsInstant,
  IsUUID,
  MayBeAbsent,
  MayBeNull,
  PatchOf,
  type ListDefinition,
} from '@customer-platform/http';
import { Type } from 'class-transformer';
import { IsBoolean, IsIn, IsInt, IsObject, IsString, Length, ValidateNested } from 'class-validator';
import { CHANNELS, type Channel } from '../../vocabulary/addresses/channel.js';
import { MadeByDto, toMadeByDto } from '../../vocabulary/makers/made-by.dto.js';
import { STANDINGS, type Standing } from '../../background/makers/maker-rights.js';
import type { Category } from '../../vocabulary/sends/send.js';
import {
  AUDIENCE_TYPES,
  CAMPAIGN_STATES,
  RUN_STATES,
  type CampaignAudience,
  type CampaignState,
  type RunCounts,
  type RunRow,
  type RunState,
} from './campaign.js';
import type { CampaignEntity } from './campaign.entity.js';
import type { Counted } from './runs/campaign-counts.js';

const CATEGORIES = ['transactional', 'marketing'] as const;

/** To whom a campaign goes. */
class CampaignAudienceDto implements CampaignAudience {
  @IsIn(AUDIENCE_TYPES)
  type: CampaignAudience['type'];

  @ApiProperty({ description: 'Of the segment or list.' })
  @IsUUID()
  id: string;
}

/** Body of `POST /v1/messaging/campaigns`. */
export class CreateCampaignDto {
  @ApiProperty({ description: 'Unique among active campaigns.', example: 'Spring sale' })
  @IsString()
  @Length(1, 120)
  name: string;

  @IsIn(CHANNELS)
  channel: Channel;

  @IsUUID()
  template_id: string;

  @ApiProperty({
    type: CampaignAudienceDto,
    description: 'Whoever aims at it, or runs it, must be able to read it.',
  })
  @IsObject()
  @ValidateNested()
  @Type(() => CampaignAudienceDto)
  audience: CampaignAudienceDto;

  @ApiProperty({ default: 'marketing' })
  @MayBeAbsent()
  @IsIn(CATEGORIES)
  category?: Category;

  @ApiProperty({ description: 'Key of a topic in channel-settings.' })
  @MayBeAbsent()
  @MayBeNull()
  @IsString()
  @Length(1, 40)
  topic?: string | null;

  @ApiProperty({ description: 'For the template, the same for all; at most 64 KiB.' })
  @MayBeAbsent()
  @IsObject()
  data?: Record<string, unknown>;

  @ApiProperty({ default: false, description: 'It may be run anew when it is completed.' })
  @MayBeAbsent()
  @IsBoolean()
  repeatable?: boolean;

  @ApiProperty({
    default: false,
    description: 'Nothing leaves. A campaign that is run while it is paused gathers its audience and waits.',
  })
  @MayBeAbsent()
  @IsBoolean()
  paused?: boolean;
}

/** Body of `PATCH /v1/messaging/campaigns/{id}`: JSON merge; an audience is given whole. */
export class UpdateCampaignDto extends PatchOf(CreateCampaignDto) {
  @ApiProperty({
    description:
      'True: the caller answers for the campaign from now on, and must be able to read what it carries.',
  })
  @MayBeAbsent()
  @IsBoolean()
  adopt?: boolean;
}

const COUNTS = {
  type: 'object',
  additionalProperties: { type: 'integer' },
  description: '`audience` is `pending`, `skipped` and the sends of each state together, at every instant.',
  example: { audience: 200, pending: 50, skipped: 2, sent: 148 },
} as const;

/** The last run of a campaign. */
class CampaignRunDto {
  @IsUUID()
  id: string;

  @IsIn(RUN_STATES)
  state: RunState;

  @ApiProperty({ description: 'Why it was canceled by the platform: `audience_deleted`.' })
  @MayBeNull()
  @IsString()
  reason: string | null;

  @ApiProperty(COUNTS)
  @IsObject()
  counts: RunCounts;

  @ApiProperty({
    type: 'object',
    additionalProperties: { type: 'integer' },
    description: 'How many of those who were skipped, by why.',
    example: { duplicate_address: 2 },
  })
  @IsObject()
  skipped_reasons: Record<string, number>;

  @ApiProperty({ description: 'Of the template, as it was published when the run began.' })
  @IsInt()
  template_version: number;

  @IsInstant()
  started_at: string;

  @MayBeNull()
  @IsInstant()
  finished_at: string | null;
}

/** A campaign as it is answered. */
export class CampaignDto {
  @IsUUID()
  id: string;

  @ApiProperty({ example: 'Spring sale' })
  @IsString()
  name: string;

  @IsIn(CHANNELS)
  channel: Channel;

  @IsUUID()
  template_id: string;

  @ApiProperty({ type: CampaignAudienceDto })
  audience: CampaignAudienceDto;

  @IsIn(CATEGORIES)
  category: Category;

  @MayBeNull()
  @IsString()
  topic: string | null;

  @IsObject()
  data: Record<string, unknown>;

  @IsBoolean()
  repeatable: boolean;

  @IsBoolean()
  paused: boolean;

  @IsIn(CAMPAIGN_STATES)
  state: CampaignState;

  @ApiProperty({ type: CampaignRunDto, nullable: true })
  last_run: CampaignRunDto | null;

  @ApiProperty({
    type: MadeByDto,
    description: 'Who last said what it tells and to whom, ran or adopted it.',
  })
  @MayBeNull()
  @ValidateNested()
  @Type(() => MadeByDto)
  maker: MadeByDto | null;

  @ApiProperty({
    description:
      '`not_permitted`: its maker cannot read any more what it carries, and what has not left waits until somebody who ' +
      'can adopts it. `unowned`: of before makers were noted, and by nobody’s rights. Null while that cannot be told.',
  })
  @MayBeNull()
  @IsIn(STANDINGS)
  standing: Standing | null;

  @IsInstant()
  created_at: string;

  @IsInstant()
  updated_at: string;

  @MayBeNull()
  @IsInstant()
  deleted_at: string | null;
}

/** Answer of `POST /v1/messaging/campaigns/{id}/run`. */
export class StartedRunDto {
  @IsUUID()
  run_id: string;
}

/** `GET /v1/messaging/campaigns` (messaging.md §9). */
export const CAMPAIGNS_LIST: ListDefinition = {
  resource: 'messaging.campaigns',
  filters: {
    id: { type: 'uuid', column: 'id' },
    name: { type: 'string', column: 'lower(name)', ops: ['eq', 'ne', 'in', 'prefix'] },
    channel: { type: 'enum', column: 'channel', values: CHANNELS },
    state: { type: 'enum', column: 'state', values: CAMPAIGN_STATES },
    created_at: { type: 'time', column: 'created_at' },
    updated_at: { type: 'time', column: 'updated_at' },
  },
  sorts: {
    created_at: { type: 'time', column: 'created_at' },
    updated_at: { type: 'time', column: 'updated_at' },
    name: { type: 'string', column: 'name', byLanguage: true },
  },
  defaultSort: '-created_at',
  includeDeleted: true,
};

/** A campaign with what is read beside its row. */
export interface ShownCampaign {
  readonly row: CampaignEntity;
  readonly run: { readonly row: RunRow; readonly counted: Counted } | undefined;
  readonly standing: Standing | null;
}

/** A campaign as it is answered. */
export function toCampaignDto({ row, run, standing }: ShownCampaign): CampaignDto {
  return {
    id: row.id,
    name: row.name,
    channel: row.channel,
    template_id: row.templateId,
    audience: { type: row.audienceType, id: row.audienceId },
    category: row.category,
    topic: row.topic,
    data: row.data,
    repeatable: row.repeatable,
    paused: row.paused,
    state: row.state,
    last_run: run ? toRunDto(run.row, run.counted) : null,
    maker: toMadeByDto(row),
    standing,
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
    deleted_at: row.deletedAt?.toISOString() ?? null,
  };
}

function toRunDto(run: RunRow, { counts, skipped }: Counted): CampaignRunDto {
  const rests = run.paused && (run.state === 'gathering' || run.state === 'running');
  return {
    id: run.id,
    state: rests ? 'paused' : run.state,
    reason: run.reason,
    counts,
    skipped_reasons: skipped,
    template_version: run.template_version,
    started_at: run.started_at.toISOString(),
    finished_at: run.finished_at?.toISOString() ?? null,
  };
}
