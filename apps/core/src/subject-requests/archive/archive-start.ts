import { Injectable } from '@nestjs/common';
import { Clock, type Transaction } from '@customer-platform/database';
import { tenantOf, type RequestContext } from '@customer-platform/http';
import { ContactLookup } from '../../people/contacts/contact-lookup.js';
import type { SubjectRequestRow } from '../subject-request.row.js';
import { ArchiveSeal } from './archive-seal.js';
import { SOURCES } from './archive-sources.js';
import { ArchiveSignal } from './archive.signal.js';
import { ARCHIVE_LOCALES, type ArchiveLocale } from './texts.js';

const INSERT = `
  INSERT INTO subject_archives (organization_id, subject_request_id, contact_ids, portable, locale, correlation_id, step,
                                module, pieces, key_sealed, claimed_until, moved_at, created_at, tenant_id)
  VALUES ($1, $2, $3, $4, $5, $6, 'gather', $7, 0, $8, $9, $9, $9, $10)`;

const LOCALE = 'SELECT locale FROM contacts WHERE organization_id = $1 AND id = $2';

/** Begins the archive of a request for access or portability whose person has proved who they are. */
@Injectable()
export class ArchiveStart {
  constructor(
    private readonly lookup: ContactLookup,
    private readonly seal: ArchiveSeal,
    private readonly signal: ArchiveSignal,
    private readonly clock: Clock,
  ) {}

  /** In the transaction of the change that verifies the request: the rest is left to the runner. */
  async begin(tx: Transaction, context: RequestContext, request: SubjectRequestRow): Promise<void> {
    const { id, type, correlation_id: correlationId } = request;
    const contactId = await this.lookup.survivorOf(tx, request.contact_id);
    // Whoever was merged before whom they were merged into: a module that has not heard of the merge yet moves their rows
    // that way while it is asked, and none is passed by.
    const family = (await this.lookup.familyOf(tx, contactId)).reverse();
    const archive = { organization_id: tx.organizationId, subject_request_id: id };
    await tx.query(INSERT, [
      ...[tx.organizationId, id, family.length === 0 ? [contactId] : family, type === 'portability'],
      ...[request.locale ?? (await localeOf(tx, contactId)), correlationId, SOURCES[0]],
      ...[this.seal.newKey(archive), this.clock.now(), tenantOf(context)],
    ]);
    tx.afterCommit(() => this.signal.raise());
  }
}

/** The person's own, as far as there are texts in it. */
async function localeOf(tx: Transaction, contactId: string): Promise<ArchiveLocale> {
  const [contact] = await tx.query<{ locale: string | null }>(LOCALE, [tx.organizationId, contactId]);
  const language = contact?.locale?.split(/[-_]/)[0]?.toLowerCase();
  return ARCHIVE_LOCALES.find((locale) => locale === language) ?? ARCHIVE_LOCALES[0];
}
