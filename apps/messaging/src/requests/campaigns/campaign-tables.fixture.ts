import { COUNTED, NOBODY, type TenantTables } from '@customer-platform/testing';

/** Lists what becomes of the columns of the tables of campaigns, as a part of the module's list. */
export const CAMPAIGN_TABLES: TenantTables = {
  campaign_count_changes: {
    technical: {
      'requests/campaigns/runs/campaign-counts.ts: figures on their way': 'run_id id kind change',
    },
    organization: 'goes with campaigns',
    archive: NOBODY,
    removed: 'by requests/campaigns/runs/campaign-counts.ts',
  },
  campaign_counts: {
    kept: { 'requests/campaigns/runs/campaign-counts.ts: figures of a run': 'run_id kind count' },
    organization: 'goes with campaigns',
    archive: NOBODY,
    removed: 'by requests/campaigns/runs/forgotten-runs.ts',
  },
  campaign_members: {
    erased: 'contact_id',
    kept: {
      'requests/campaigns/runs/campaign-members.repository.ts: that somebody was in the audience, and what came of it; the key is a keyed hash':
        'state reason address_key tries',
    },
    technical: {
      'requests/campaigns/runs/campaign-members.repository.ts: places of the run':
        'run_id id send_id look_at',
    },
    organization: 'goes with campaigns',
    archive: {
      as: 'campaign_members',
      withheld: {
        'whose row it is, which the question says': 'contact_id',
        'a keyed hash': 'address_key',
        'the work of the run': 'id tries look_at',
      },
    },
    removed: 'by requests/campaigns/runs/forgotten-runs.ts',
  },
  campaign_runs: {
    kept: {
      'requests/campaigns/runs/campaign-runs.ts: a run as it was started':
        'state paused reason channel template_id template_version audience_type audience_id category topic data',
    },
    technical: {
      'requests/campaigns/runs/campaign-runs.ts: how far the run has come':
        'id campaign_id correlation_id claim due_at told_at started_at finished_at',
      'requests/campaigns/runs/audience-snapshot.ts: how far the run has come': 'after_at after_id',
      'requests/campaigns/runs/run-worker.ts: how far the run has come': 'worked_at',
    },
    organization: 'goes with campaigns',
    archive: NOBODY,
    removed: 'by requests/campaigns/runs/forgotten-runs.ts',
  },
  campaigns: {
    kept: {
      'requests/campaigns/campaign.dto.ts: what staff wrote':
        'name channel template_id audience_type audience_id category topic data repeatable paused state',
      'requests/campaigns/campaign.entity.ts: who answers for it': 'maker_type maker_id maker_since',
    },
    technical: {
      'requests/campaigns/campaign.dto.ts: the row, its version and its times':
        'id run_id created_at updated_at deleted_at',
    },
    organization: COUNTED,
    archive: NOBODY,
    removed: 'stays: until staff purges it',
  },
};
