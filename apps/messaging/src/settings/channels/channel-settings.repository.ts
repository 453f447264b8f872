import { Injectable } from '@nestjs/common';
import type { Transaction } from '@customer-platform/database';
import { PERMISSIONS_OF_CHANNELS } from '../../vocabulary/makers/carried-permissions.js';
import type { MadeRow, MakerType } from '../../vocabulary/makers/maker.js';
import type { Carried } from '../../background/makers/maker-rights.js';
import type { SealedSecret } from '../../vocabulary/secrets/secret-box.js';
import type { ChannelDocument } from './channel-document.js';

/** Sealed secrets by channel and field. */
export type StoredSecrets = Readonly<Record<string, Readonly<Record<string, SealedSecret>>>>;

/** An organization's settings as they are stored; the document holds no secret. */
export interface StoredSettings extends MadeRow {
  readonly organizationId: string;
  readonly document: ChannelDocument;
  readonly secrets: StoredSecrets;
  readonly version: number;
  /** Null with a maker: found for settings that were there before makers were noted. */
  readonly makerSince: Date | null;
}

interface Row {
  organization_id: string;
  document: ChannelDocument;
  secrets: StoredSecrets;
  version: string;
  maker_type: MakerType | null;
  maker_id: string | null;
  maker_since: Date | null;
}

const SELECT =
  'SELECT organization_id, document, secrets, version, maker_type, maker_id, maker_since FROM channel_settings';

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
    // Until no process of the release before runs, triggers write makers for those that do not.
    await tx.query(`SELECT set_config('app.notes_makers', 'on', true)`);
    const [row] = await tx.query<{ version: string }>(
      `INSERT INTO channel_settings (organization_id, document, secrets, version, updated_at, maker_type, maker_id, maker_since)
       VALUES ($1, $2, $3, 1, $4, $5, $6, $7)
       ON CONFLICT (organization_id) DO UPDATE SET document = excluded.document, secrets = excluded.secrets,
         version = channel_settings.version + 1, updated_at = excluded.updated_at,
         maker_type = excluded.maker_type, maker_id = excluded.maker_id, maker_since = excluded.maker_since
       RETURNING version`,
      [
        settings.organizationId,
        JSON.stringify(settings.document),
        JSON.stringify(settings.secrets),
        now,
        settings.makerType,
        settings.makerId,
        settings.makerSince,
      ],
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
    makerType: row.maker_type,
    makerId: row.maker_id,
    makerSince: row.maker_since,
  };
}

/** Channels as what carries messages out. */
export function carriedByChannels({
  organizationId,
  makerType,
  makerId,
  makerSince,
}: StoredSettings): Carried {
  const needed = PERMISSIONS_OF_CHANNELS;
  return { organizationId, makerType, makerId, makerSince, needed, publisher: null };
}
