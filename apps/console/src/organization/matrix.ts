import type { Permission } from './use-permissions.ts';

/** The actions that most resources have, each a column; all others stand in the last one. */
export const COMMON_ACTIONS = ['read', 'create', 'update', 'delete', 'purge'] as const;

export interface ResourceRow {
  resource: string;
  /** By action. */
  common: Partial<Record<string, Permission>>;
  further: readonly Permission[];
}

export interface ModuleRows {
  module: string;
  rows: readonly ResourceRow[];
}

/** Module × resource × action. */
export function matrixOf(permissions: readonly Permission[]): ModuleRows[] {
  const modules = Map.groupBy(permissions, ({ module }) => module);
  return [...modules].map(([module, inModule]) => {
    const resources = Map.groupBy(inModule, ({ resource }) => resource);
    const rows = [...resources].map(([resource, all]) => ({
      resource,
      common: Object.fromEntries(all.filter(isCommon).map((each) => [each.action, each])),
      further: all.filter((each) => !isCommon(each)),
    }));
    return { module, rows };
  });
}

function isCommon({ action }: Permission): boolean {
  return COMMON_ACTIONS.some((each) => each === action);
}

/** What a change of a role gives and takes. */
export function changesOf(
  before: ReadonlySet<string>,
  after: ReadonlySet<string>,
): { added: string[]; removed: string[] } {
  const added = [...after].filter((each) => !before.has(each)).sort();
  const removed = [...before].filter((each) => !after.has(each)).sort();
  return { added, removed };
}

/** With or without some of what can be chosen. */
export function chosenWith<Name extends string>(
  chosen: ReadonlySet<Name>,
  names: readonly Name[],
  on: boolean,
): ReadonlySet<Name> {
  const rest = [...chosen].filter((each) => !names.includes(each));
  return new Set(on ? [...rest, ...names] : rest);
}
