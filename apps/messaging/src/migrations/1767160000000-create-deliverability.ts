import { execute, rowSecurity, settingsReadOnce } from '@customer-platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/** In the order of their bits; a migration does not follow what the code becomes. */
const STATES = [
  'accepted',
  'rendering',
  'gated',
  'dispatching',
  'held',
  'sent',
  'unknown',
  'delivered',
  'opened',
  'clicked',
  'bounced',
  'complained',
  'suppressed',
  'opted_out',
  'capped',
  'failed',
  'canceled',
];

/** Constant where there was nothing before: no row is written. */
const COLUMNS = `ALTER TABLE sends
  -- The states it has been in or a provider has reported of it, a bit each; 0 where nobody has counted it yet.
  ADD COLUMN reached integer NOT NULL DEFAULT 0,
  ADD COLUMN sender_domain text,
  ADD COLUMN recipient_domain text`;

const BIT = `CREATE FUNCTION send_state_bit(state text) RETURNS integer LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE state ${STATES.map((state, bit) => `WHEN '${state}' THEN ${String(1 << bit)}`).join(' ')} ELSE 0 END
$$`;

/**
 * What a send has reached only grows. One that was there before this was counted is counted with its next step, by all
 * the steps that it has taken. The address goes with the person; its domain stays.
 */
const NOTE_REACH = `CREATE FUNCTION note_reach_of_send() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.reached := NEW.reached | send_state_bit(NEW.state);
  IF TG_OP = 'UPDATE' THEN
    NEW.reached := NEW.reached | OLD.reached;
    IF OLD.reached = 0 THEN
      NEW.reached := NEW.reached | coalesce((SELECT bit_or(send_state_bit(step.state)) FROM send_history AS step
        WHERE step.organization_id = NEW.organization_id AND step.send_id = NEW.id), 0);
    END IF;
  END IF;
  IF NEW.channel = 'email' AND NEW.address IS NOT NULL THEN
    NEW.recipient_domain := split_part(NEW.address, '@', 2);
  END IF;
  RETURN NEW;
END $$`;

/**
 * What has changed of what sends have reached, until it is added to the counts: rows that nobody waits for, for none is
 * ever written twice.
 */
const CHANGES = `CREATE TABLE deliverability_changes (
  organization_id uuid NOT NULL,
  -- In which the sends were created.
  hour timestamptz(3) NOT NULL,
  id bigint GENERATED ALWAYS AS IDENTITY,
  channel text NOT NULL,
  sender_domain text,
  recipient_domain text,
  campaign_id uuid,
  -- What so many sends had reached before and after; 0 for a send that is not there, or no longer with these domains.
  reached_before integer NOT NULL,
  reached_after integer NOT NULL,
  sends integer NOT NULL,
  PRIMARY KEY (organization_id, hour, id)
) WITH (autovacuum_vacuum_scale_factor = 0.02)`;

const GROUPS = 'channel, sender_domain, recipient_domain, campaign_id';
const groupsOf = (row: string): string =>
  `${row}.channel, ${row}.sender_domain, ${row}.recipient_domain, CASE WHEN ${row}.source = 'campaign' THEN ${row}.source_id END`;
const domainsOf = (row: string): string => `(${row}.sender_domain, ${row}.recipient_domain)`;
const HOUR = (row: string): string => `date_trunc('hour', ${row}.created_at, 'UTC')`;
const INTO = `INSERT INTO deliverability_changes
    (organization_id, hour, ${GROUPS}, reached_before, reached_after, sends)`;

/** Identity's mail is the platform's, and says nothing of how the organization's arrives. */
const ADDED = `CREATE FUNCTION add_to_deliverability() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  ${INTO}
  SELECT now_is.organization_id, ${HOUR('now_is')}, ${groupsOf('now_is')}, 0, now_is.reached, count(*)
    FROM after_it AS now_is WHERE now_is.source <> 'identity'
   GROUP BY 1, 2, 3, 4, 5, 6, now_is.reached;
  RETURN NULL;
END $$`;

/** A send whose domains were not known before, or are others now, moves with all that it has reached. */
const CHANGED = `CREATE FUNCTION change_deliverability() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  ${INTO}
  SELECT part.organization_id, part.hour, part.channel, part.sender_domain, part.recipient_domain, part.campaign_id,
         part.reached_before, part.reached_after, count(*)
    FROM before_it AS was
    JOIN after_it AS now_is ON now_is.organization_id = was.organization_id AND now_is.id = was.id
   CROSS JOIN LATERAL (
     SELECT was.organization_id, ${HOUR('was')}, ${groupsOf('was')}, was.reached, 0
      WHERE was.reached <> 0 AND ${domainsOf('was')} IS DISTINCT FROM ${domainsOf('now_is')}
     UNION ALL
     SELECT now_is.organization_id, ${HOUR('now_is')}, ${groupsOf('now_is')},
            CASE WHEN ${domainsOf('was')} IS DISTINCT FROM ${domainsOf('now_is')} THEN 0 ELSE was.reached END, now_is.reached
   ) AS part (organization_id, hour, ${GROUPS}, reached_before, reached_after)
   WHERE now_is.source <> 'identity'
     AND (was.reached <> now_is.reached OR was.reached <> 0 AND ${domainsOf('was')} IS DISTINCT FROM ${domainsOf('now_is')})
   GROUP BY 1, 2, 3, 4, 5, 6, 7, 8;
  RETURN NULL;
END $$`;

/** By triggers: whoever writes a send's state, of this release or of the one before, it is counted with it. */
const TRIGGERS = [
  `CREATE TRIGGER send_reach BEFORE INSERT OR UPDATE OF state, reached, address ON sends
     FOR EACH ROW EXECUTE FUNCTION note_reach_of_send()`,
  `CREATE TRIGGER send_added_to_deliverability AFTER INSERT ON sends REFERENCING NEW TABLE AS after_it
     FOR EACH STATEMENT EXECUTE FUNCTION add_to_deliverability()`,
  `CREATE TRIGGER send_changes_deliverability AFTER UPDATE ON sends
     REFERENCING OLD TABLE AS before_it NEW TABLE AS after_it
     FOR EACH STATEMENT EXECUTE FUNCTION change_deliverability()`,
];

const COUNTS = `CREATE TABLE deliverability_counts (
  organization_id uuid NOT NULL,
  granularity text NOT NULL CHECK (granularity IN ('hour', 'day')),
  dimension text NOT NULL CHECK (dimension IN ('channel', 'sender_domain', 'recipient_domain', 'campaign')),
  -- Of the period in which the sends were created, in UTC.
  starts_at timestamptz(3) NOT NULL,
  -- Empty where a send has none; * for what has no row of its own.
  value text COLLATE "C" NOT NULL,
  sends bigint NOT NULL,
  handed_over bigint NOT NULL,
  received bigint NOT NULL,
  ${STATES.map((state) => `${state} bigint NOT NULL`).join(',\n  ')},
  PRIMARY KEY (organization_id, granularity, dimension, starts_at, value)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05)`;

/** What became of sends, counted by when they were created. */
export class CreateDeliverability1767160000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await execute(runner, [
      COLUMNS,
      CHANGES,
      ...rowSecurity('deliverability_changes', { worker: true }),
      COUNTS,
      ...rowSecurity('deliverability_counts', { worker: true }),
      ...settingsReadOnce('deliverability_changes', { worker: true }),
      ...settingsReadOnce('deliverability_counts', { worker: true }),
      BIT,
      NOTE_REACH,
      ADDED,
      CHANGED,
      ...TRIGGERS,
    ]);
  }

  async down(runner: QueryRunner): Promise<void> {
    await execute(runner, [
      'DROP TRIGGER send_changes_deliverability ON sends',
      'DROP TRIGGER send_added_to_deliverability ON sends',
      'DROP TRIGGER send_reach ON sends',
      'DROP FUNCTION change_deliverability(), add_to_deliverability(), note_reach_of_send(), send_state_bit(text)',
      'DROP TABLE deliverability_counts, deliverability_changes',
      'ALTER TABLE sends DROP COLUMN reached, DROP COLUMN sender_domain, DROP COLUMN recipient_domain',
    ]);
  }
}
