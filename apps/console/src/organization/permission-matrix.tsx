import type { ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { Checkbox } from '../ui/form.tsx';
import { chosenWith, COMMON_ACTIONS, matrixOf, type ModuleRows, type ResourceRow } from './matrix.ts';
import type { Permission } from './use-permissions.ts';

interface MatrixProps {
  permissions: readonly Permission[];
  chosen: ReadonlySet<string>;
  /** Left out where it is only to be read. */
  onChange?: ((chosen: ReadonlySet<string>) => void) | undefined;
}

/** What a role permits, as module × resource × action. */
export function PermissionMatrix({ permissions, chosen, onChange }: MatrixProps): ReactNode {
  return (
    <div className="flex flex-col gap-4">
      {matrixOf(permissions).map((rows) => (
        <ModuleTable key={rows.module} {...rows} chosen={chosen} onChange={onChange} />
      ))}
    </div>
  );
}

type ModuleProps = ModuleRows & Omit<MatrixProps, 'permissions'>;

function ModuleTable({ module, rows, chosen, onChange }: ModuleProps): ReactNode {
  const t = useTranslations('organization');
  const all = rows.flatMap(({ common, further }) => [...Object.values(common), ...further]);
  const names = all.flatMap((each) => each?.permission ?? []);
  const count = names.filter((name) => chosen.has(name)).length;
  const setAll = (on: boolean): void => onChange?.(chosenWith(chosen, names, on));
  return (
    <div
      role="region"
      aria-label={module}
      tabIndex={0}
      className="overflow-x-auto rounded-panel border border-line"
    >
      <table
        aria-label={module}
        className="w-full min-w-[46rem] table-fixed border-separate border-spacing-0 whitespace-nowrap"
      >
        <thead>
          <tr className="bg-ground text-xs text-soft">
            <th
              scope="col"
              className="sticky left-0 w-44 border-b border-line bg-ground px-3 py-2 font-medium"
            >
              <label className="flex items-center gap-2">
                {onChange !== undefined && (
                  <input
                    type="checkbox"
                    className="size-4 accent-accent"
                    checked={count === names.length}
                    ref={(box) => {
                      if (box !== null) box.indeterminate = count > 0 && count < names.length;
                    }}
                    onChange={(event) => setAll(event.target.checked)}
                  />
                )}
                <span className="font-semibold text-ink">{module}</span>
                <span className="whitespace-nowrap">{t('ofAll', { count, all: names.length })}</span>
              </label>
            </th>
            {COMMON_ACTIONS.map((action) => (
              <th
                key={action}
                scope="col"
                className="w-18 border-b border-line px-1 py-2 text-center font-medium"
              >
                {action}
              </th>
            ))}
            <th scope="col" className="border-b border-line px-3 py-2 font-medium">
              {t('furtherActions')}
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <Row key={row.resource} row={row} chosen={chosen} onChange={onChange} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

interface RowProps extends Omit<MatrixProps, 'permissions'> {
  row: ResourceRow;
}

function Row({ row: { resource, common, further }, chosen, onChange }: RowProps): ReactNode {
  const toggle = (name: string): void => onChange?.(chosenWith(chosen, [name], !chosen.has(name)));
  const box = ({ permission, description }: Permission) => ({
    checked: chosen.has(permission),
    disabled: onChange === undefined,
    title: `${permission}: ${description}`,
    onChange: () => toggle(permission),
  });
  return (
    <tr className="h-10">
      <th scope="row" className="sticky left-0 border-b border-line bg-canvas px-3 font-normal">
        {resource}
      </th>
      {COMMON_ACTIONS.map((action) => {
        const permission = common[action];
        return (
          <td key={action} className="border-b border-line px-3 text-center">
            {permission !== undefined && (
              <input
                type="checkbox"
                aria-label={permission.permission}
                className="size-4 align-middle accent-accent"
                {...box(permission)}
              />
            )}
          </td>
        );
      })}
      <td className="border-b border-line px-3">
        <span className="flex flex-wrap gap-x-4">
          {further.map((permission) => (
            <Checkbox
              key={permission.permission}
              label={permission.action}
              aria-label={permission.permission}
              {...box(permission)}
            />
          ))}
        </span>
      </td>
    </tr>
  );
}
