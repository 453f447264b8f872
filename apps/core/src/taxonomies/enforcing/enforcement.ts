import { MAX_ERRORS } from '@customer-platform/problem-json';
import type { Violation } from '../schemas/violations.js';
import type { TaxonomyCatalog } from '../taxonomy-catalog.js';
import type { Mode } from '../taxonomy.js';
import type { Installation } from './installation.js';

const NONE: readonly Violation[] = [];

/** What the taxonomies of an organization demand of its events. */
export class Enforcement {
  constructor(
    private readonly catalog: TaxonomyCatalog,
    private readonly installations: readonly Installation[],
  ) {}

  /**
   * What the event breaks of the schemas that are enforced at least so. Each taxonomy that lists its name judges it by
   * its own mode, so that two which list the same name are both held; whoever lists it not lets it pass.
   */
  violations(event: string, properties: unknown, least: Exclude<Mode, 'off'>): readonly Violation[] {
    let found = NONE;
    for (const installation of this.installations) {
      const mode = modeOf(installation, event);
      if (mode === 'off' || (least === 'strict' && mode !== 'strict')) continue;
      const broken = this.catalog.schemaOf(installation, event)?.violations(properties) ?? NONE;
      if (broken.length > 0) found = found.length === 0 ? broken : together(found, broken);
    }
    return found;
  }
}

/** The mode of one event of an installed taxonomy. */
export function modeOf({ mode, overrides }: Pick<Installation, 'mode' | 'overrides'>, event: string): Mode {
  return Object.hasOwn(overrides, event) ? (overrides[event] ?? mode) : mode;
}

function together(one: readonly Violation[], other: readonly Violation[]): readonly Violation[] {
  const known = new Set(one.map(({ pointer }) => pointer));
  return [...one, ...other.filter(({ pointer }) => !known.has(pointer))].slice(0, MAX_ERRORS);
}
