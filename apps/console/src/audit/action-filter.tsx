import type { ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { FilterSelect } from '../ui/filters.tsx';
import { useActionName, useThingName } from './action-name.tsx';
import { ACTION_GROUPS } from './actions.ts';

interface ChosenProps {
  value: string | undefined;
  onChange: (value: string | undefined) => void;
}

/** Things that rows name beside those that actions do. */
const FURTHER = ['identities', 'webhook_deliveries'];

/** Chooses an act by its words; one in the address that is not known here stays as it is. */
export function ActionFilter({ value, onChange }: ChosenProps): ReactNode {
  const t = useTranslations('audit');
  const ui = useTranslations('ui');
  const named = useActionName();
  const thingName = useThingName();
  const known = value === undefined || ACTION_GROUPS.some(({ actions }) => actions.includes(value));
  const groups = ACTION_GROUPS.map(({ thing, actions }) => ({ name: thingName(thing), actions }));
  return (
    <label className="flex max-w-full items-center gap-2">
      <span className="shrink-0 text-xs text-soft">{t('filter.action')}</span>
      <select
        className="field w-auto! max-w-72 min-w-0"
        data-main-filter=""
        value={value ?? ''}
        onChange={({ target }) => onChange(target.value === '' ? undefined : target.value)}
      >
        <option value="">{ui('all')}</option>
        {!known && <option value={value}>{value}</option>}
        {groups
          .toSorted((one, other) => one.name.localeCompare(other.name))
          .map(({ name, actions }) => (
            <optgroup key={name} label={name}>
              {actions.map((action) => (
                <option key={action} value={action}>
                  {named(action)}
                </option>
              ))}
            </optgroup>
          ))}
      </select>
    </label>
  );
}

/** The kind of thing that something was done to. */
export function ThingFilter({ value, onChange }: ChosenProps): ReactNode {
  const t = useTranslations('audit');
  const thingName = useThingName();
  const things: readonly string[] = [...ACTION_GROUPS.map(({ thing }) => thing), ...FURTHER];
  const offered = value === undefined || things.includes(value) ? things : [...things, value];
  return (
    <FilterSelect
      label={t('filter.resource_type')}
      value={value}
      onChange={onChange}
      options={offered
        .map((each) => ({ value: each, label: thingName(each) }))
        .toSorted((one, other) => one.label.localeCompare(other.label))}
    />
  );
}
