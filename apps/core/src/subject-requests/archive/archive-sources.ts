import { Injectable } from '@nestjs/common';
import { InternalClient } from '@customer-platform/authorization';
import {
  Database,
  SubjectRows,
  type SubjectPage,
  type SubjectPlace,
  type SubjectQuestion,
} from '@customer-platform/database';
import { NationalIdVault } from '../../people/national-ids/national-id.vault.js';
import { ArchivedLetters } from './archived-letters.js';
import { CONTACTS, SUBJECT_TABLES } from './subject-tables.js';

/** The modules that hold something of a person, in the order of the archive. Identity knows staff and no contact. */
export const SOURCES = ['core', 'crm', 'loyalty', 'messaging'] as const;

/** One of {@link SOURCES}. */
export type Source = (typeof SOURCES)[number];

/** A page of 4 MiB, of a module that is busy. */
const TIMEOUT_MS = 20_000;
/** Its own connections: whoever waits for one of a saga holds up nobody's request. */
const LANE = 'subject-rows';

/** What the modules hold of a person, page by page. */
@Injectable()
export class ArchiveSources {
  private readonly own: SubjectRows;
  private readonly letters: ArchivedLetters;

  constructor(
    database: Database,
    private readonly vault: NationalIdVault,
    private readonly internal: InternalClient,
  ) {
    this.own = new SubjectRows(database, SUBJECT_TABLES);
    this.letters = new ArchivedLetters(database);
  }

  /** @throws Problem `dependency_unavailable` while the module is silent */
  async page(source: Source, question: SubjectQuestion): Promise<SubjectPage> {
    if (source !== 'core') return this.internal.call<SubjectPage>(source, callOf(question));
    if (this.letters.isAt(question)) return this.letters.page(question);
    const page = await this.own.page(question);
    const next = page.next ?? (question.portable ? null : this.letters.startOf(question));
    if (page.resource !== CONTACTS) return { ...page, next };
    return { ...page, next, rows: page.rows.map((row) => this.opened(question.organizationId, row)) };
  }

  /** To the person their national id is no secret. */
  private opened(organizationId: string, row: string): string {
    const { national_id_type: type, national_id_sealed: sealed, ...rest } = JSON.parse(row) as ContactRow;
    const value = type !== null && sealed !== null ? this.vault.open(organizationId, type, sealed) : null;
    return JSON.stringify({ ...rest, national_id_type: type, national_id: value });
  }
}

interface ContactRow {
  national_id_type: Parameters<NationalIdVault['open']>[1] | null;
  national_id_sealed: string | null;
}

function callOf({ organizationId, contactIds, portable, after }: SubjectQuestion) {
  return {
    method: 'POST' as const,
    path: '/internal/subject-rows',
    timeoutMs: TIMEOUT_MS,
    lane: LANE,
    body: {
      organization_id: organizationId,
      contact_ids: contactIds,
      portable,
      ...(after && placeIn(after)),
    },
  };
}

function placeIn({ resource, contact_id: contact, place }: SubjectPlace) {
  return { after_resource: resource, after_contact_id: contact, after_place: place };
}
