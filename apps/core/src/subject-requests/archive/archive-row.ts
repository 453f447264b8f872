import type { SubjectPlace } from '@customer-platform/database';
import type { ArchiveName } from './archive-seal.js';
import type { Source } from './archive-sources.js';
import type { ArchiveLocale } from './texts.js';

/** An archive as it is worked on. */
export interface ArchiveRow extends ArchiveName {
  readonly contact_ids: string[];
  readonly portable: boolean;
  readonly locale: ArchiveLocale;
  readonly correlation_id: string;
  readonly step: 'gather' | 'write';
  readonly module: Source;
  readonly after: SubjectPlace | null;
  readonly pieces: number;
  readonly key_sealed: string;
  readonly claim: string;
}

/** Longer than a module is waited for. Who is killed is followed by another after it. */
export const CLAIM_MS = 60_000;

/** That somebody else has the archive by now, or that it is gone. */
export class ClaimLost extends Error {
  override readonly name = 'ClaimLost';
}
