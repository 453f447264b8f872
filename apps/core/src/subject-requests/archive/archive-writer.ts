import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Audit, systemActor } from '@customer-platform/audit';
import { Clock, Database, type Transaction } from '@customer-platform/database';
import { Outbox } from '@customer-platform/event-bus';
import { REQUEST_COLUMNS, requestEvent, type SubjectRequestRow } from '../subject-request.row.js';
import { archiveFile } from './archive-file.js';
import { ArchivePieces } from './archive-pieces.js';
import { CLAIM_MS, ClaimLost, type ArchiveRow } from './archive-row.js';
import { ArchiveSeal } from './archive-seal.js';

/** core.md §10. */
const KEPT_MS = 30 * 86_400_000;

const STAY = `
  UPDATE subject_archives SET claimed_until = $4
   WHERE organization_id = $1 AND subject_request_id = $2 AND claim = $3 RETURNING 1`;

/** Of somebody who began to write it and did not come to its end. */
const DROP_FILE = `
  DELETE FROM subject_archive_pieces WHERE organization_id = $1 AND subject_request_id = $2 AND part = 'file'`;

const KEEP = `
  INSERT INTO subject_archive_pieces (organization_id, subject_request_id, part, seq, row_count, sealed)
  VALUES ($1, $2, 'file', $3, 0, $4)`;

const READY = `
  UPDATE subject_archives
     SET step = 'ready', pieces = $4, claim = NULL, claimed_until = $5, moved_at = $5, expires_at = $6,
         national_ids_of = $7
   WHERE organization_id = $1 AND subject_request_id = $2 AND claim = $3 RETURNING 1`;

const DROP_ROWS = `
  DELETE FROM subject_archive_pieces WHERE organization_id = $1 AND subject_request_id = $2 AND part = 'rows'`;

const COMPLETE = `
  UPDATE subject_requests
     SET state = 'completed', completed_at = $3, result_sha256 = $4, result_bytes = $5, result_expires_at = $6,
         updated_at = greatest($3, updated_at + interval '1 ms')
   WHERE organization_id = $1 AND id = $2 AND state = 'in_progress'
  RETURNING ${REQUEST_COLUMNS}`;

interface Written {
  readonly pieces: number;
  readonly sha256: string;
  readonly bytes: number;
  /** The contacts whose national id it holds in full. */
  readonly nationalIdsOf: readonly string[];
}

/** Writes the file of an archive whose rows are collected; it is there at its end alone, with the request completed. */
@Injectable()
export class ArchiveWriter {
  constructor(
    private readonly database: Database,
    private readonly seal: ArchiveSeal,
    private readonly audit: Audit,
    private readonly outbox: Outbox,
    private readonly clock: Clock,
  ) {}

  /** From its beginning, whoever had begun it. @throws ClaimLost */
  async write(archive: ArchiveRow, signal: AbortSignal): Promise<void> {
    const { organization_id: organizationId } = archive;
    const written = await this.writePieces(archive, signal);
    await this.database.inOrganization({ organizationId }, (tx) => this.finish(tx, archive, written));
  }

  private async writePieces(archive: ArchiveRow, signal: AbortSignal): Promise<Written> {
    const { organization_id: organizationId, subject_request_id: requestId } = archive;
    const key = this.seal.keyOf(archive, archive.key_sealed);
    const head = {
      locale: archive.locale,
      portable: archive.portable,
      requestId,
      madeAt: this.clock.now(),
    };
    await this.claimed(archive, (tx) => tx.query(DROP_FILE, [organizationId, requestId]));
    const hash = createHash('sha256');
    let [pieces, bytes] = [0, 0];
    const collected = new ArchivePieces(this.database, archive, key);
    const nationalIdsOf = await collected.nationalIdsOf();
    for await (const piece of archiveFile(head, collected)) {
      signal.throwIfAborted();
      const sealed = key.seal({ part: 'file', seq: pieces }, piece);
      const seq = pieces;
      await this.claimed(archive, (tx) => tx.query(KEEP, [organizationId, requestId, seq, sealed]));
      hash.update(piece);
      pieces += 1;
      bytes += piece.length;
    }
    return { pieces, bytes, sha256: hash.digest('hex'), nationalIdsOf };
  }

  private async claimed(archive: ArchiveRow, work: (tx: Transaction) => Promise<unknown>): Promise<void> {
    const { organization_id: organizationId, subject_request_id: requestId, claim } = archive;
    await this.database.inOrganization({ organizationId }, async (tx) => {
      const until = new Date(this.clock.now().getTime() + CLAIM_MS);
      const stays = await tx.query(STAY, [organizationId, requestId, claim, until]);
      if (stays.length === 0) throw new ClaimLost();
      await work(tx);
    });
  }

  private async finish(tx: Transaction, archive: ArchiveRow, written: Written): Promise<void> {
    const { organizationId } = tx;
    const { subject_request_id: requestId, claim, correlation_id: correlationId } = archive;
    const now = this.clock.now();
    const expiresAt = new Date(now.getTime() + KEPT_MS);
    const key = [organizationId, requestId];
    const ready = await tx.query(READY, [
      ...[...key, claim, written.pieces, now, expiresAt, written.nationalIdsOf],
    ]);
    if (ready.length === 0) throw new ClaimLost();
    await tx.query(DROP_ROWS, key);
    const [row] = await tx.query<SubjectRequestRow>(COMPLETE, [
      ...key,
      ...[now, written.sha256, written.bytes, expiresAt],
    ]);
    if (!row) throw new Error('A request whose archive is ready is not in progress');
    await this.outbox.append(tx, requestEvent(organizationId, row, 'completed'));
    await this.audit.record(tx, systemActor(organizationId, correlationId, 'subject-archive'), {
      action: 'core.subject_requests.create',
      resource: { type: 'subject_requests', id: requestId },
      changedFields: ['state', 'result'],
    });
  }
}
