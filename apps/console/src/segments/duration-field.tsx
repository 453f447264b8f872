import type { ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { Field } from '../ui/form.tsx';
import { inOneUnit, UNITS, written, type Unit } from './duration.ts';

interface DurationFieldProps {
  label: string;
  /** ISO 8601. */
  value: string;
  error: string | undefined;
  onChange: (value: string) => void;
}

/** A length of time as a number and a unit; one of several units as it is written. */
export function DurationField({ label, value, error, onChange }: DurationFieldProps): ReactNode {
  const t = useTranslations('segments');
  const said = inOneUnit(value);
  return (
    <Field label={label} error={error}>
      {(tie) =>
        said === undefined ? (
          <input
            className="field font-mono"
            autoComplete="off"
            value={value}
            onChange={({ target }) => onChange(target.value)}
            {...tie}
          />
        ) : (
          <span className="flex gap-1">
            <input
              className="field"
              autoComplete="off"
              inputMode="numeric"
              value={said.amount}
              onChange={({ target }) => onChange(written(target.value.replaceAll(/\D/g, ''), said.unit))}
              {...tie}
            />
            <select
              aria-label={t('unit')}
              className="field w-auto!"
              value={said.unit}
              onChange={({ target }) => onChange(written(said.amount, target.value as Unit))}
            >
              {UNITS.map((unit) => (
                <option key={unit} value={unit}>
                  {t(`units.${unit}`)}
                </option>
              ))}
            </select>
          </span>
        )
      }
    </Field>
  );
}
