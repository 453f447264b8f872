import { Injectable } from '@nestjs/common';
import type { Transaction } from '@customer-platform/database';
import type { SealedSecret } from '../secrets/secret-box.js';
import type { ChannelDocument } from './channel-document.js';

/** Sealed secrets by channel and field. */
export type StoredSecrets = Readonly<Record<string, Readonly<Record<string, SealedSecret>>>>;

/** An organization's settings as they are stored; the document holds no secret. */
export interface StoredSettings {
  readonly organizationId: string;
  readonly document: ChannelDocument;
  readonly secrets: StoredSecrets;
  readonly version: number;
}

interface Row {
  organization_id: string;
  document: ChannelDocument;
  secrets: StoredSecrets;
  version: string;
}

const SELECT = 'SELECT organization_id, document, secrets, version FROM channel_settings';

/** The table `channel_settings`. */
@Injectable()
export class ChannelSettingsRepository {
  /** Of one organization; locked when a writer asks. */
  async find(tx: Transaction, lock = false): Promise<StoredSettings | undefined> {
    const [row] = await tx.prepared<Row>(`${SELECT} WHERE organization_id = $1 ${lock ? 'FOR UPDATE' : ''}`, [
      tx.organizationId,
    ]);
    return row ? toSettings(row) : undefined;
  }

  /** Of several organizations, in a worker's transaction. */
  async findAll(tx: Transaction, organizationIds: readonly string[]): Promise<StoredSettings[]> {
    const rows = await tx.prepared<Row>(`${SELECT} WHERE organization_id = ANY($1::uuid[])`, [
      organizationIds,
    ]);
    return rows.map(toSettings);
  }

  async save(tx: Transaction, settings: Omit<StoredSettings, 'version'>, now: Date): Promise<number> {
    const [row] = await tx.query<{ version: string }>(
      `INSERT INTO channel_settings (organization_id, document, secrets, version, updated_at)
       VALUES ($1, $2, $3, 1, $4)
       ON CONFLICT (organization_id) DO UPDATE SET document = excluded.document, secrets = excluded.secrets,
         version = channel_settings.version + 1, updated_at = excluded.updated_at
       RETURNING version`,
      [settings.organizationId, JSON.stringify(settings.document), JSON.stringify(settings.secrets), now],
    );
    return Number(row?.version);
  }
}

function toSettings(row: Row): StoredSettings {
  return {
    organizationId: row.organization_id,
    document: row.document,
    secrets: row.secrets,
    version: Number(row.version),
  };
}
