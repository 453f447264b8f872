import { execute } from '@customer-platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';
import { forgetMakers, forgotMaker, noteMakers } from './noted-makers.js';

/**
 * As `otherWays` has it: whether a channel that leaves the platform has another account or another secret. Fingerprints
 * stay when secrets are sealed by another key.
 */
const CHANNELS_GO_ELSEWHERE = `
  CREATE FUNCTION channels_go_elsewhere(old_document jsonb, old_secrets jsonb, new_document jsonb, new_secrets jsonb)
  RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
    WITH ways AS (
      SELECT side, channel, setting ->> 'provider' AS provider,
             jsonb_strip_nulls(setting) - '{enabled,from,reply_to,max_per_second,consent_mode}'::text[] AS account,
             (SELECT jsonb_object_agg(field, secret -> 'fingerprint')
                FROM jsonb_each(secrets -> channel) AS s (field, secret)) AS prints
        FROM (VALUES ('old', old_document, old_secrets), ('new', new_document, new_secrets))
               AS given (side, document, secrets),
             jsonb_each(document -> 'channels') AS c (channel, setting)
    )
    SELECT EXISTS (
      SELECT FROM ways n WHERE n.side = 'new' AND n.provider IS DISTINCT FROM 'inbox' AND NOT EXISTS (
        SELECT FROM ways o WHERE o.side = 'old' AND o.channel = n.channel AND o.account = n.account
           AND o.prints IS NOT DISTINCT FROM n.prints))
  $$`;

/** Channel settings as far as their makers are concerned: one for the document. */
export const MADE_CHANNELS = {
  table: 'channel_settings',
  resource: 'channels',
  key: 'organization_id',
  changed: 'channels_go_elsewhere(OLD.document, OLD.secrets, NEW.document, NEW.secrets)',
  fields: ['channels'],
  // The release before names `channels` at every change.
  noted: `version = 1 AND channels_go_elsewhere('{}', '{}', document, secrets) OR ${forgotMaker('channel_settings')}`,
  made: 'update',
  // Of what changes in `channels` the release before says no more; whoever writes makers decides by themselves.
  unless: 'app.notes_makers',
} as const;

/** Messages leave by the rights of whoever last said by which accounts (messaging.md §2). */
export class NoteMakersOfChannels1768421000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await execute(runner, [CHANNELS_GO_ELSEWHERE]);
    await noteMakers(runner, MADE_CHANNELS);
  }

  async down(runner: QueryRunner): Promise<void> {
    await forgetMakers(runner, MADE_CHANNELS);
    await execute(runner, ['DROP FUNCTION channels_go_elsewhere(jsonb, jsonb, jsonb, jsonb)']);
  }
}
