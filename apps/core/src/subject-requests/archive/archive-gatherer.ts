import { Injectable } from '@nestjs/common';
import { Clock, Database, type SubjectPage, type Transaction } from '@customer-platform/database';
import { ClaimLost, type ArchiveRow } from './archive-row.js';
import { ArchiveSeal } from './archive-seal.js';
import { ArchiveSources, SOURCES } from './archive-sources.js';

const ADVANCE = `
  UPDATE subject_archives
     SET step = $4, module = $5, after = $6, pieces = $7, claim = NULL, claimed_until = $8, moved_at = $8
   WHERE organization_id = $1 AND subject_request_id = $2 AND claim = $3 RETURNING 1`;

const KEEP = `
  INSERT INTO subject_archive_pieces (organization_id, subject_request_id, part, seq, module, resource, row_count, sealed)
  VALUES ($1, $2, 'rows', $3, $4, $5, $6, $7)`;

/** Gathers what the modules hold of a person, a page at a time. */
@Injectable()
export class ArchiveGatherer {
  constructor(
    private readonly database: Database,
    private readonly sources: ArchiveSources,
    private readonly seal: ArchiveSeal,
    private readonly clock: Clock,
  ) {}

  /**
   * The next page, and how far it came, are one transaction; no connection waits for the module.
   * @throws ClaimLost; Problem `dependency_unavailable` while the module is silent
   */
  async takePage(archive: ArchiveRow): Promise<void> {
    const { organization_id: organizationId, contact_ids: contactIds, portable, after } = archive;
    const question = { organizationId, contactIds, portable, ...(after !== null && { after }) };
    const page = await this.sources.page(archive.module, question);
    await this.database.inOrganization({ organizationId }, (tx) => this.keep(tx, archive, page));
  }

  private async keep(tx: Transaction, archive: ArchiveRow, page: SubjectPage): Promise<void> {
    const { subject_request_id: requestId, pieces, module } = archive;
    const isKept = page.resource !== null && page.rows.length > 0;
    const next = page.next === null ? SOURCES[SOURCES.indexOf(module) + 1] : module;
    const advanced = await tx.query(ADVANCE, [
      ...[
        tx.organizationId,
        requestId,
        archive.claim,
        next === undefined ? 'write' : 'gather',
        next ?? module,
      ],
      ...[
        page.next === null ? null : JSON.stringify(page.next),
        isKept ? pieces + 1 : pieces,
        this.clock.now(),
      ],
    ]);
    if (advanced.length === 0) throw new ClaimLost();
    if (!isKept) return;
    const key = this.seal.keyOf(archive, archive.key_sealed);
    const sealed = key.seal({ part: 'rows', seq: pieces }, Buffer.from(page.rows.join('\n')));
    await tx.query(KEEP, [
      ...[tx.organizationId, requestId, pieces, module, page.resource, page.rows.length, sealed],
    ]);
  }
}
