import { Readable } from 'node:stream';
import { Injectable, StreamableFile } from '@nestjs/common';
import { Audit } from '@customer-platform/audit';
import { Clock, Database } from '@customer-platform/database';
import { Answer, type RequestContext } from '@customer-platform/http';
import { Problem } from '@customer-platform/problem-json';
import type { SubjectRequestRow } from '../subject-request.row.js';
import { ArchivePieces } from './archive-pieces.js';
import { ArchiveSeal, type ArchiveName } from './archive-seal.js';

/** The media type of an archive. */
export const ARCHIVE_TYPE = 'application/zip';

const FIND = `
  SELECT request.state, request.result_sha256, request.result_bytes, request.result_expires_at,
         archive.organization_id, archive.subject_request_id, archive.pieces, archive.key_sealed
    FROM subject_requests AS request
    LEFT JOIN subject_archives AS archive
      ON archive.organization_id = request.organization_id AND archive.subject_request_id = request.id
         AND archive.step = 'ready' AND archive.expires_at > $3
   WHERE request.organization_id = $1 AND request.id = $2`;

type FoundRow = Pick<SubjectRequestRow, 'state' | 'result_sha256' | 'result_bytes' | 'result_expires_at'> & {
  readonly [Name in keyof ArchiveName]: string | null;
} & { readonly pieces: number | null; readonly key_sealed: string | null };

/** Hands archives over; each time is audited. */
@Injectable()
export class ArchiveDownload {
  constructor(
    private readonly database: Database,
    private readonly seal: ArchiveSeal,
    private readonly audit: Audit,
    private readonly clock: Clock,
  ) {}

  /**
   * The archive as a file, piece by piece, in which no transaction waits for the reader.
   * @throws Problem `not_found`, `invalid_state` while there is none, `result_expired`
   */
  async open(context: RequestContext, id: string): Promise<Answer> {
    return this.database.inOrganization(context, async (tx) => {
      const [row] = await tx.query<FoundRow>(FIND, [tx.organizationId, id, this.clock.now()]);
      if (!row) throw new Problem('not_found');
      if (row.result_sha256 === null) throw new Problem('invalid_state', { detail: noArchive(row.state) });
      const { pieces, key_sealed: sealed } = row;
      if (pieces === null || sealed === null) throw new Problem('result_expired');
      await this.audit.record(tx, context, {
        action: 'core.subject_requests.download',
        resource: { type: 'subject_requests', id },
      });
      const name = { organization_id: tx.organizationId, subject_request_id: id };
      const kept = new ArchivePieces(this.database, name, this.seal.keyOf(name, sealed));
      return new Answer(new StreamableFile(Readable.from(kept.file(pieces), { objectMode: false })), {
        'Cache-Control': 'no-store',
        'Content-Type': ARCHIVE_TYPE,
        'Content-Length': row.result_bytes ?? '',
        'Content-Disposition': `attachment; filename="subject-request-${id}.zip"`,
        Vary: 'Accept',
      });
    });
  }
}

function noArchive(state: SubjectRequestRow['state']): string {
  return `The request is ${state}: there is no archive of it.`;
}
