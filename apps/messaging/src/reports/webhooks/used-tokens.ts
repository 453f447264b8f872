import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Database } from '@customer-platform/database';
import { Problem } from '@customer-platform/problem-json';
import type { WebhookCall } from '../../providers/webhook.js';
import { NOBODY } from './report-row.js';

/** Longer than a signed time is fresh, on both sides of now. */
const KEPT_MS = 900_000;

/** The first body stays; of two calls at once one waits for the other. */
const USE = `
  INSERT INTO webhook_tokens AS known (organization_id, provider, token_hash, body_hash, expires_at)
  VALUES ($1, $2, $3, $4, $5)
  ON CONFLICT (organization_id, provider, token_hash) DO UPDATE SET body_hash = known.body_hash
  RETURNING body_hash = $4 AS same`;

/**
 * The table `webhook_tokens`: tokens that a provider signed instead of a body, with the body each came with. A repeat of
 * the same call is one; another body by the same token is nobody's.
 */
@Injectable()
export class UsedTokens {
  constructor(private readonly database: Database) {}

  /** Notes that a token was used for this body. @throws Problem `invalid_signature` where it was for another */
  async demand(
    { organizationId, provider }: { readonly organizationId: string | null; readonly provider: string },
    token: string,
    { body, now }: Pick<WebhookCall, 'body' | 'now'>,
  ): Promise<void> {
    const hash = (bytes: Buffer | string): Buffer => createHash('sha256').update(bytes).digest();
    const expires = new Date(now.getTime() + KEPT_MS);
    const [row] = await this.database.acrossOrganizations((tx) =>
      tx.query<{ same: boolean }>(USE, [
        organizationId ?? NOBODY,
        provider,
        hash(token),
        hash(body),
        expires,
      ]),
    );
    if (row?.same !== true) throw new Problem('invalid_signature');
  }
}
