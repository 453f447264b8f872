import type { Mode } from '../taxonomy.js';

/** A taxonomy that an organization has installed, as it is read for enforcing it. */
export interface Installation {
  readonly organizationId: string;
  readonly slug: string;
  readonly version: string;
  readonly mode: Mode;
  /** Modes of single events. */
  readonly overrides: Readonly<Record<string, Mode>>;
}

/** The columns of an {@link Installation}. */
export const INSTALLATION_COLUMNS = `
  organization_id AS "organizationId", slug, version, mode, overrides`;
