import { execute, rowSecurity } from '@customer-platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/** `CAMPAIGN_LANE` as it is now; a migration does not follow what the code becomes. */
const LANE = 3;

const CHANNELS = `'email', 'sms', 'push', 'whatsapp', 'in_app'`;

const CAMPAIGNS = `CREATE TABLE campaigns (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  name text NOT NULL,
  channel text NOT NULL CHECK (channel IN (${CHANNELS})),
  template_id uuid NOT NULL,
  audience_type text NOT NULL CHECK (audience_type IN ('segment', 'list')),
  audience_id uuid NOT NULL,
  category text NOT NULL CHECK (category IN ('transactional', 'marketing')),
  topic text,
  data jsonb NOT NULL,
  repeatable boolean NOT NULL,
  paused boolean NOT NULL,
  state text NOT NULL CHECK (state IN ('draft', 'running', 'paused', 'completed', 'canceled')),
  -- The last one.
  run_id uuid,
  created_at timestamptz(3) NOT NULL,
  updated_at timestamptz(3) NOT NULL,
  deleted_at timestamptz(3),
  PRIMARY KEY (organization_id, id),
  CONSTRAINT campaigns_template FOREIGN KEY (organization_id, template_id) REFERENCES templates (organization_id, id)
)`;

const RUNS = `CREATE TABLE campaign_runs (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  campaign_id uuid NOT NULL,
  state text NOT NULL CHECK (state IN ('gathering', 'running', 'completed', 'canceled')),
  paused boolean NOT NULL,
  reason text,
  -- As the campaign was when the run began.
  channel text NOT NULL,
  template_id uuid NOT NULL,
  template_version integer NOT NULL,
  audience_type text NOT NULL,
  audience_id uuid NOT NULL,
  category text NOT NULL,
  topic text,
  data jsonb NOT NULL,
  correlation_id uuid NOT NULL,
  -- Up to whom the audience has been gathered, in the order of the module that knows it.
  after_at timestamptz(3),
  after_id uuid,
  -- Of the process that works on it, and when it is looked at next; null: nothing is left to be done.
  claim uuid,
  due_at timestamptz(3),
  worked_at timestamptz(3) NOT NULL DEFAULT '-infinity',
  told_at timestamptz(3) NOT NULL,
  started_at timestamptz(3) NOT NULL,
  finished_at timestamptz(3),
  PRIMARY KEY (organization_id, id)
) WITH (fillfactor = 50, autovacuum_vacuum_threshold = 500, autovacuum_vacuum_scale_factor = 0)`;

/** An erased person's row stays, without saying whose it was: the counts of the run stay true. */
const MEMBERS = `CREATE TABLE campaign_members (
  organization_id uuid NOT NULL,
  run_id uuid NOT NULL,
  id bigint GENERATED ALWAYS AS IDENTITY,
  contact_id uuid,
  state text NOT NULL CHECK (state IN ('pending', 'skipped', 'accepted')),
  reason text CHECK ((reason IS NOT NULL) = (state = 'skipped')),
  send_id uuid CHECK ((send_id IS NOT NULL) = (state = 'accepted')),
  address_key text,
  PRIMARY KEY (organization_id, run_id, id)
) WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.05)`;

const COUNTS = `CREATE TABLE campaign_counts (
  organization_id uuid NOT NULL,
  run_id uuid NOT NULL,
  -- 'audience', 'pending', 'skipped/<reason>', or the state of sends.
  kind text NOT NULL,
  count bigint NOT NULL,
  PRIMARY KEY (organization_id, run_id, kind)
) WITH (fillfactor = 50, autovacuum_vacuum_threshold = 500, autovacuum_vacuum_scale_factor = 0)`;

const CHANGES = `CREATE TABLE campaign_count_changes (
  organization_id uuid NOT NULL,
  run_id uuid NOT NULL,
  id bigint GENERATED ALWAYS AS IDENTITY,
  kind text NOT NULL,
  change bigint NOT NULL,
  PRIMARY KEY (organization_id, run_id, id)
) WITH (autovacuum_vacuum_threshold = 500, autovacuum_vacuum_scale_factor = 0)`;

/** Rows are only added, so that nobody who changes sends of a run waits for another who does. */
const counting = (name: string, rows: string): string => `
  CREATE FUNCTION ${name}() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    INSERT INTO campaign_count_changes (organization_id, run_id, kind, change)
    SELECT organization_id, run_id, kind, sum(change) FROM (${rows}) AS changed
     GROUP BY organization_id, run_id, kind HAVING sum(change) <> 0;
    RETURN NULL;
  END $$`;

const ofSends = (rows: string, change: 1 | -1): string => `
  SELECT organization_id, run_id, state AS kind, ${change} AS change FROM ${rows} WHERE run_id IS NOT NULL`;

const ofMembers = (rows: string, change: 1 | -1): string => `
  SELECT organization_id, run_id, CASE state WHEN 'skipped' THEN 'skipped/' || reason ELSE state END AS kind,
         ${change} AS change FROM ${rows} WHERE state <> 'accepted'
  UNION ALL
  SELECT organization_id, run_id, 'audience', ${change} FROM ${rows}`;

const TRIGGERS = [
  counting('count_new_sends', ofSends('added', 1)),
  counting('count_changed_sends', `${ofSends('after', 1)} UNION ALL ${ofSends('before', -1)}`),
  counting('count_new_members', ofMembers('added', 1)),
  counting('count_changed_members', `${ofMembers('after', 1)} UNION ALL ${ofMembers('before', -1)}`),
  `CREATE TRIGGER sends_counted_new AFTER INSERT ON sends REFERENCING NEW TABLE AS added
     FOR EACH STATEMENT EXECUTE FUNCTION count_new_sends()`,
  `CREATE TRIGGER sends_counted_changed AFTER UPDATE ON sends REFERENCING OLD TABLE AS before NEW TABLE AS after
     FOR EACH STATEMENT EXECUTE FUNCTION count_changed_sends()`,
  `CREATE TRIGGER campaign_members_counted_new AFTER INSERT ON campaign_members REFERENCING NEW TABLE AS added
     FOR EACH STATEMENT EXECUTE FUNCTION count_new_members()`,
  `CREATE TRIGGER campaign_members_counted_changed AFTER UPDATE ON campaign_members
     REFERENCING OLD TABLE AS before NEW TABLE AS after
     FOR EACH STATEMENT EXECUTE FUNCTION count_changed_members()`,
];

/** While processes of the release before still run, a dispatcher of theirs must not take up what knows a pause. */
const LANE_GUARD = [
  `CREATE FUNCTION leave_to_campaign_lane() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'`,
  `CREATE TRIGGER sends_campaign_lane BEFORE UPDATE OF claim ON sends FOR EACH ROW
     WHEN (NEW.lane = ${LANE} AND NEW.claim IS NOT NULL AND NEW.claim IS DISTINCT FROM OLD.claim
       AND current_setting('messaging.lane', true) IS DISTINCT FROM 'campaign')
     EXECUTE FUNCTION leave_to_campaign_lane()`,
];

const WORKER = { worker: true };

/** Campaigns, their runs, to whom these go, and how far they have come (messaging.md §9). */
export class CreateCampaigns1767161900000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await execute(runner, [
      CAMPAIGNS,
      'CREATE UNIQUE INDEX campaigns_name ON campaigns (organization_id, name) WHERE deleted_at IS NULL',
      'CREATE INDEX campaigns_by_time ON campaigns (organization_id, created_at, id)',
      'CREATE INDEX campaigns_by_template ON campaigns (organization_id, template_id)',
      'CREATE INDEX campaigns_by_audience ON campaigns (organization_id, audience_id)',
      ...rowSecurity('campaigns', WORKER),
      RUNS,
      'CREATE INDEX campaign_runs_by_campaign ON campaign_runs (organization_id, campaign_id, id)',
      'CREATE INDEX campaign_runs_due ON campaign_runs (due_at) WHERE due_at IS NOT NULL',
      ...rowSecurity('campaign_runs', WORKER),
      MEMBERS,
      // A contact once in a run; and by whom an erasure seeks.
      'CREATE UNIQUE INDEX campaign_members_contact ON campaign_members (organization_id, contact_id, run_id)',
      `CREATE UNIQUE INDEX campaign_members_address ON campaign_members (organization_id, run_id, address_key)
         WHERE address_key IS NOT NULL`,
      `CREATE INDEX campaign_members_pending ON campaign_members (organization_id, run_id, id)
         WHERE state = 'pending'`,
      ...rowSecurity('campaign_members', WORKER),
      COUNTS,
      ...rowSecurity('campaign_counts', WORKER),
      CHANGES,
      ...rowSecurity('campaign_count_changes', WORKER),
      ...TRIGGERS,
      ...LANE_GUARD,
    ]);
  }

  async down(runner: QueryRunner): Promise<void> {
    await execute(runner, [
      // The release before knows none of it: what waits is called off rather than sent without what it says.
      `SET LOCAL app.worker = 'on'`,
      `UPDATE sends SET state = 'canceled', reason = 'campaign_canceled', due_at = NULL, claim = NULL
        WHERE lane = ${LANE} AND due_at IS NOT NULL`,
      `UPDATE sends SET lane = CASE category WHEN 'marketing' THEN 1 ELSE 0 END WHERE lane = ${LANE}`,
      'DROP TRIGGER sends_campaign_lane ON sends',
      'DROP TRIGGER sends_counted_changed ON sends',
      'DROP TRIGGER sends_counted_new ON sends',
      'DROP TABLE campaign_count_changes, campaign_counts, campaign_members, campaign_runs, campaigns',
      `DROP FUNCTION leave_to_campaign_lane(), count_new_sends(), count_changed_sends(), count_new_members(),
         count_changed_members()`,
    ]);
  }
}
