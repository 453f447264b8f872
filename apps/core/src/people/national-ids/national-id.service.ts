import { Injectable } from '@nestjs/common';
import { Audit } from '@customer-platform/audit';
import { Database } from '@customer-platform/database';
import { log, type RequestContext } from '@customer-platform/http';
import { Problem } from '@customer-platform/problem-json';
import { NATIONAL_ID_CATALOG, type NationalIdType } from '../../vocabulary/national-ids/national-id-types.js';
import { ContactLookup } from '../contacts/contact-lookup.js';
import type { MergedAway } from '../contacts/contacts.service.js';
import type { NationalIdDto } from './national-id.dto.js';
import { NationalIdVault } from './national-id.vault.js';

const SEALED = `
  SELECT national_id_type AS type, national_id_sealed AS sealed FROM contacts
   WHERE organization_id = $1 AND id = $2 AND national_id_sealed IS NOT NULL`;

interface SealedRow {
  type: NationalIdType;
  sealed: string;
}

/** The one way to a national id in full (core.md §2): nobody sees it whose read is not on record. */
@Injectable()
export class NationalIdService {
  constructor(
    private readonly database: Database,
    private readonly lookup: ContactLookup,
    private readonly vault: NationalIdVault,
    private readonly audit: Audit,
  ) {}

  /**
   * The national id, once its audit row is committed.
   * @throws Problem `not_found`, also for a contact without one; `dependency_unavailable` when the row cannot be written
   */
  async read(context: RequestContext, id: string): Promise<NationalIdDto | MergedAway> {
    const found = await this.onRecord(context, id);
    if ('survivorId' in found) return found;
    const { type, sealed } = found;
    const value = this.vault.open(context.organizationId, type, sealed);
    return { type, country: NATIONAL_ID_CATALOG[type].country, value };
  }

  private onRecord(context: RequestContext, id: string): Promise<SealedRow | MergedAway> {
    return demandRecord(() =>
      this.database.inOrganization(context, async (tx) => {
        const contact = await this.lookup.read(tx, id);
        if ('survivorId' in contact) return contact;
        const [row] = await tx.query<SealedRow>(SEALED, [tx.organizationId, id]);
        if (!row) throw new Problem('not_found', { detail: 'The contact has no national id.' });
        await this.audit.record(tx, context, {
          action: 'core.contacts.read_national_id',
          resource: { type: 'contacts', id },
        });
        return row;
      }),
    );
  }
}

/**
 * Does what writes the audit row of a read, and answers nothing that is not on record.
 * @throws Problem what `work` refuses; `dependency_unavailable` for all else
 */
export async function demandRecord<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Problem) throw error;
    log.error({ err: error }, 'The read of a national id could not be recorded');
    const detail = 'The read cannot be recorded at the moment, so it is not answered.';
    throw new Problem('dependency_unavailable', { detail, cause: error });
  }
}
