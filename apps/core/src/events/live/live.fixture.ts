import { jest } from '@jest/globals';
import { ApiCredentialStrategy } from '@customer-platform/authorization';
import { newId } from '@customer-platform/database';
import { Problem } from '@customer-platform/problem-json';
import { eventually, type TestApp, type TestDatabase } from '@customer-platform/testing';
import { Client } from 'pg';

/**
 * A process that stands still for most of a second cannot know who may listen, and ends its streams: their readers come
 * back. The readers of these tests do not; a busy machine is no outage to them.
 */
export function endOnlyByOutages({ app, registry }: TestApp): void {
  const credentials = app.get(ApiCredentialStrategy, { strict: false });
  const validate = credentials.validate.bind(credentials);
  jest.spyOn(credentials, 'validate').mockImplementation(async (...credential) => {
    for (;;) {
      try {
        return await validate(...credential);
      } catch (error) {
        const unknown = error instanceof Problem && error.code === 'authorization_unavailable';
        if (!unknown || registry.isDown) throw error;
      }
    }
  });
}

/** An event that is stored at the very end of a transaction, when events of later ones may have been told. */
export class LateEvent {
  private constructor(
    private readonly client: Client,
    private readonly organizationId: string,
  ) {}

  /** Begins the transaction in a millisecond of its own: of one instant the ids would say which event comes first. */
  static async begin(database: TestDatabase, organizationId: string): Promise<LateEvent> {
    const client = new Client({ connectionString: database.url });
    await client.connect();
    await client.query('BEGIN');
    await client.query(`SELECT set_config('app.organization_id', $1, true)`, [organizationId]);
    await eventually(async () => {
      const { rows } = await client.query(
        `SELECT clock_timestamp() > now() + interval '2 milliseconds' AS past`,
      );
      expect(rows).toEqual([{ past: true }]);
    });
    return new LateEvent(client, organizationId);
  }

  async commit(event: string): Promise<void> {
    await this.client.query(
      `INSERT INTO events (organization_id, id, type, event, external_id, contact_id, idempotency_key, occurred_at,
                           received_at, payload, source, fingerprint)
       VALUES ($1, gen_random_uuid(), 'track', $3, 'ana', gen_random_uuid(), $2, now(), now(), '{}', 'api',
               gen_random_uuid())`,
      [this.organizationId, newId(), event],
    );
    await this.client.query('COMMIT');
    await this.client.end();
  }
}
