import type { ConsentStatus } from '../../vocabulary/consents/consent.js';
import type { ComparedField } from './merge-fields.js';

/** What holds for a purpose and channel before a merge, of each, and after it. */
export interface ComparedConsent {
  readonly purpose: string;
  readonly channel: string | null;
  readonly survivor: ConsentStatus | null;
  readonly merged: ConsentStatus | null;
  readonly result: ConsentStatus;
}

/** What a merge moves. */
export interface MovedCounts {
  readonly identities: number;
  readonly events: number;
  readonly consents: number;
}

/** What stands in the way of a merge. */
export interface MergeBlocker {
  readonly code: string;
  readonly field: string | null;
}

/** What a merge comes to, as its call answers and an undo shows again. */
export interface MergeOutcome {
  readonly fields: readonly ComparedField[];
  readonly consents: readonly ComparedConsent[];
  readonly moved: MovedCounts;
  readonly blockers: readonly MergeBlocker[];
}
