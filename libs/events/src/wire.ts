import { z } from 'zod';

/**
 * A row's id (version 7), an ingested event's (version 8) or a caller's correlation id, which may be a UUID of no version
 * that there is. All that PostgreSQL's type takes in this form is read, so that nothing stored goes unheard.
 */
export const id = z.guid();

/** An instant in UTC with milliseconds, as the whole contract writes it. */
export const instant = z.iso.datetime({ precision: 3 });

/** Names of the fields a change touched; never their values. */
export const changed = z.array(z.string());

/** How many rows of each kind something concerned. */
export const counts = z.record(z.string(), z.int().min(0));

/** Free-form JSON of a caller. */
export const jsonObject = z.record(z.string(), z.unknown());

/** A module's confirmation that an erasure is done there, with its signature (a JWS in compact form). */
export const erasureCompleted = z.object({ subject_request_id: id, counts, receipt: z.string() });
