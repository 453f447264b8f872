import { Injectable } from '@nestjs/common';
import { Audit } from '@customer-platform/audit';
import { Clock, Database, type Transaction } from '@customer-platform/database';
import { Answer, type RequestContext } from '@customer-platform/http';
import type { Permission } from '@customer-platform/permissions';
import { Problem } from '@customer-platform/problem-json';
import { Downloads } from '../../downloads/downloads.js';
import type { SubjectRequestRow } from '../subject-request.row.js';
import { ArchivePieces } from './archive-pieces.js';
import { ArchiveSeal, type ArchiveName } from './archive-seal.js';

/** The media type of an archive. */
export const ARCHIVE_TYPE = 'application/zip';

const FIND = `
  SELECT request.state, request.result_sha256, request.result_bytes, request.result_expires_at,
         archive.organization_id, archive.subject_request_id, archive.pieces, archive.key_sealed,
         coalesce(archive.national_ids_of, archive.contact_ids) AS national_ids_of
    FROM subject_requests AS request
    LEFT JOIN subject_archives AS archive
      ON archive.organization_id = request.organization_id AND archive.subject_request_id = request.id
         AND archive.step = 'ready' AND archive.expires_at > $3
   WHERE request.organization_id = $1 AND request.id = $2`;

type FoundRow = Pick<SubjectRequestRow, 'state' | 'result_sha256' | 'result_bytes' | 'result_expires_at'> & {
  readonly [Name in keyof ArchiveName]: string | null;
} & {
  readonly pieces: number | null;
  readonly key_sealed: string | null;
  readonly national_ids_of: string[] | null;
};

const READ: Permission = 'core.subject_requests.read';
/** What stands in an archive is what these show. */
const PERSON: Permission = 'core.contacts.read';
const NATIONAL_ID: Permission = 'core.contacts.read_national_id';

/** Hands archives over; each time is audited. */
@Injectable()
export class ArchiveDownload {
  constructor(
    private readonly database: Database,
    private readonly seal: ArchiveSeal,
    private readonly audit: Audit,
    private readonly downloads: Downloads,
    private readonly clock: Clock,
  ) {}

  /**
   * The archive as a file, piece by piece, in which no transaction waits for the reader, for as long as the caller may
   * have it. Each national id that it holds in full is read by that, and is on record as such; so is the refusal.
   * @throws Problem `permission_denied`, `not_found`, `invalid_state` while there is none, `result_expired`
   */
  async open(context: RequestContext, id: string): Promise<Answer> {
    if (!context.can(PERSON)) throw denied(PERSON, 'an archive holds all that is known of a person');
    const answer = await this.database.inOrganization(context, async (tx) => {
      const [row] = await tx.query<FoundRow>(FIND, [tx.organizationId, id, this.clock.now()]);
      if (!row) throw new Problem('not_found');
      if (row.result_sha256 === null) throw new Problem('invalid_state', { detail: noArchive(row.state) });
      const { pieces, key_sealed: sealed } = row;
      if (pieces === null || sealed === null) throw new Problem('result_expired');
      const isAllowed = await this.recordNationalIds(tx, context, row.national_ids_of ?? []);
      if (!isAllowed) return undefined;
      await this.audit.record(tx, context, {
        action: 'core.subject_requests.download',
        resource: { type: 'subject_requests', id },
      });
      const name = { organization_id: tx.organizationId, subject_request_id: id };
      const kept = new ArchivePieces(this.database, name, this.seal.keyOf(name, sealed));
      const needed: Permission[] = [READ, PERSON];
      if (row.national_ids_of?.length !== 0) needed.push(NATIONAL_ID);
      return new Answer(this.downloads.file(context, { needed, pieces: kept.file(pieces) }), {
        'Cache-Control': 'no-store',
        'Content-Type': ARCHIVE_TYPE,
        'Content-Length': row.result_bytes ?? '',
        'Content-Disposition': `attachment; filename="subject-request-${id}.zip"`,
        Vary: 'Accept',
      });
    });
    if (answer === undefined) throw denied(NATIONAL_ID, 'this archive holds a national id in full');
    return answer;
  }

  /** Whether these national ids may be read. */
  private async recordNationalIds(
    tx: Transaction,
    context: RequestContext,
    contactIds: readonly string[],
  ): Promise<boolean> {
    const isAllowed = contactIds.length === 0 || context.can(NATIONAL_ID);
    for (const id of contactIds)
      await this.audit.record(tx, context, {
        action: NATIONAL_ID,
        resource: { type: 'contacts', id },
        outcome: isAllowed ? 'success' : 'denied',
      });
    return isAllowed;
  }
}

function denied(permission: Permission, why: string): Problem {
  return new Problem('permission_denied', {
    detail: `The credential lacks the permission \`${permission}\`, and ${why}.`,
    members: { permission },
  });
}

function noArchive(state: SubjectRequestRow['state']): string {
  return `The request is ${state}: there is no archive of it.`;
}
