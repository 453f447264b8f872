import type { CampaignDto, CampaignRunDto } from './campaign.dto.js';
import type { CampaignEntity } from './campaign.entity.js';
import type { RunState } from './campaign.js';
import type { Counted } from './runs/campaign-counts.js';

/** A row of `campaign_runs`, as far as it is shown. */
export interface RunRow {
  readonly id: string;
  readonly state: Exclude<RunState, 'paused'>;
  readonly paused: boolean;
  readonly reason: string | null;
  readonly template_version: number;
  readonly started_at: Date;
  readonly finished_at: Date | null;
}

/** A campaign with what is read beside its row. */
export interface ShownCampaign {
  readonly row: CampaignEntity;
  readonly run: { readonly row: RunRow; readonly counted: Counted } | undefined;
}

/** A campaign as it is answered. */
export function toCampaignDto({ row, run }: ShownCampaign): CampaignDto {
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
