import type { ModuleName } from '@customer-platform/authorization';

/** Rows of this module that point to a resource of another one. */
export interface ReferenceSource {
  /** The resource they point to, as in its permissions: `core.contacts`. */
  to: string;
  /** As the caller of a purge is told: `notes`. */
  resource: string;
  /** SQL that answers `count` for the organization `$1` and the referenced id `$2`; soft-deleted rows count too. */
  count: string;
}

/** What a module says of references across modules. */
export interface ReferencesModuleOptions {
  module: ModuleName;
  /** What points from here to elsewhere. Whoever writes such a row asks `ReferenceHolds.held` first. */
  references?: readonly ReferenceSource[];
  /** Modules that may point to resources of this one: asked before a purge. */
  ask?: readonly ModuleName[];
}

/** The injection token of the options. */
export const REFERENCES_OPTIONS = Symbol('REFERENCES_OPTIONS');
