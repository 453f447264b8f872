import type { Database } from '@customer-platform/database';
import { ClaimLost } from './archive-row.js';
import type { ArchiveKey, ArchiveName } from './archive-seal.js';
import { CONTACTS } from './subject-tables.js';

const RESOURCES = `
  SELECT module, resource, sum(row_count)::int AS rows, array_agg(seq ORDER BY seq) AS pieces
    FROM subject_archive_pieces
   WHERE organization_id = $1 AND subject_request_id = $2 AND part = 'rows'
   GROUP BY module, resource ORDER BY min(seq)`;

const PIECE = `
  SELECT sealed FROM subject_archive_pieces
   WHERE organization_id = $1 AND subject_request_id = $2 AND part = $3 AND seq = $4`;

/** A resource as it was collected: how many rows, in which pieces. */
export interface CollectedResource {
  readonly module: string;
  readonly resource: string;
  readonly rows: number;
  readonly pieces: readonly number[];
}

/** What is kept of an archive; of its pieces one at a time is in memory. */
export class ArchivePieces {
  constructor(
    private readonly database: Database,
    private readonly archive: ArchiveName,
    private readonly key: ArchiveKey,
  ) {}

  resources(): Promise<CollectedResource[]> {
    const { organization_id: organizationId, subject_request_id: requestId } = this.archive;
    return this.database.inOrganization({ organizationId }, (tx) =>
      tx.query<CollectedResource>(RESOURCES, [organizationId, requestId]),
    );
  }

  /** The rows of a resource as JSON texts. */
  async *rowsOf({ pieces }: CollectedResource): AsyncGenerator<string> {
    for (const seq of pieces) yield* (await this.open('rows', seq)).toString('utf8').split('\n');
  }

  /** The contacts whose national id stands in the rows in full. */
  async nationalIdsOf(): Promise<string[]> {
    const ids: string[] = [];
    for (const resource of await this.resources()) {
      if (resource.module !== 'core' || resource.resource !== CONTACTS) continue;
      for await (const text of this.rowsOf(resource)) {
        const { id, national_id: value } = JSON.parse(text) as { id: string; national_id: string | null };
        if (value !== null) ids.push(id);
      }
    }
    return ids;
  }

  /** The file, as far as it has pieces. */
  async *file(pieces: number): AsyncGenerator<Buffer> {
    for (let seq = 0; seq < pieces; seq += 1) yield await this.open('file', seq);
  }

  /** @throws ClaimLost where rows are gone: whoever dropped them has taken the archive from who writes its file */
  private async open(part: 'rows' | 'file', seq: number): Promise<Buffer> {
    const { organization_id: organizationId, subject_request_id: requestId } = this.archive;
    const [row] = await this.database.inOrganization({ organizationId }, (tx) =>
      tx.query<{ sealed: Buffer }>(PIECE, [organizationId, requestId, part, seq]),
    );
    if (!row) throw part === 'rows' ? new ClaimLost() : new Error('A piece of an archive is gone');
    return this.key.open({ part, seq }, row.sealed);
  }
}
